//! The coordinate search over a family's knobs.

use super::course::Course;
use super::knobs::Knobs;
use crate::multiresource::artifact::Family;
use crate::multiresource::simulator::{Failure, Health, Run};

/// A run of a quarter of the length decides whether a step is run to its end.
const FIRST: u64 = 4;

/// Relative half-width of a mean that is too wide to tune by. (The differences of policies are known
/// several times better.)
const VAGUE: f64 = 0.03;

/// A relative gain of all steps along one knob that is worth another round over the knobs.
const WORTHWHILE: f64 = 0.002;

/// Runs that are to be left for the steps.
const FEWEST: u64 = 10;

/// A policy that was tried.
pub(super) struct Trial {
    pub policy: Family,
    /// A quarter of it, and the whole run.
    runs: [Run; 2],
    cost: f64,
}

/// The best that was found, and how many were tried.
pub(super) struct Tuned {
    pub policy: Family,
    pub tried: usize,
}

/// From the best of some policies on, one knob at a time, in steps as long as they help; within so
/// many events, of which each run takes `length` at first, and longer ones where it shows no steady
/// state.
pub(super) fn tune(
    course: &mut Course<'_>,
    knobs: &Knobs<'_>,
    starts: Vec<Family>,
    share: u64,
    mut length: u64,
) -> Result<Tuned, Failure> {
    let end = (course.spent + share).min(course.budget);
    let mut search = Search {
        course,
        end,
        seen: Vec::new(),
    };
    let mut best = search.first(&starts, &mut length)?;
    let (mut axis, mut idle) = (0, 0);
    let axes = knobs.axes(&best.policy);
    // What is unstable on these grids' starts is so a step away.
    let hopeless = best.runs[1].health == Health::Unstable;
    while !hopeless && idle < axes && search.affords(length) {
        let before = best.cost;
        for up in [true, false] {
            search.walk(knobs, axis, up, length, &mut best)?;
            if best.cost < before {
                break;
            }
        }
        idle = match best.cost < before * (1.0 - WORTHWHILE) {
            true => 0,
            false => idle + 1,
        };
        axis = (axis + 1) % axes;
    }
    Ok(Tuned {
        policy: best.policy,
        tried: search.seen.len(),
    })
}

struct Search<'a, 'w> {
    course: &'a mut Course<'w>,
    /// Events at which it is over.
    end: u64,
    seen: Vec<Family>,
}

impl Search<'_, '_> {
    fn affords(&self, length: u64) -> bool {
        self.course.spent + length <= self.end && !self.course.interrupted()
    }

    fn trial(&mut self, policy: Family, length: u64) -> Result<Trial, Failure> {
        let contender = policy.clone().into();
        let mut run = |events| self.course.run(&contender, events, 0.0);
        let runs = [run(length / FIRST)?, run(length)?];
        self.seen.push(policy.clone());
        let cost = self.course.cost(&runs[1]);
        Ok(Trial { policy, runs, cost })
    }

    /// The best of the first policies; in runs twice as long, as long as these tell little.
    fn first(&mut self, starts: &[Family], length: &mut u64) -> Result<Trial, Failure> {
        loop {
            let mut best: Option<Trial> = None;
            self.seen.clear();
            for start in starts {
                let trial = self.trial(start.clone(), *length)?;
                if best.as_ref().is_none_or(|b| trial.cost < b.cost) {
                    best = Some(trial);
                }
            }
            let longer = 2 * *length;
            let tells = |t: &Trial| match t.runs[1].health {
                Health::Unstable => true,
                Health::Unsettled => false,
                Health::Settled => {
                    let value = self.course.value(&t.runs[1]);
                    value.is_some_and(|v| v.relative() < VAGUE)
                }
            };
            match best {
                Some(best) if tells(&best) || !self.affords(FEWEST * longer) => return Ok(best),
                _ => *length = longer,
            }
        }
    }

    /// Steps along one knob in one direction, as long as they help.
    fn walk(
        &mut self,
        knobs: &Knobs<'_>,
        axis: usize,
        up: bool,
        length: u64,
        best: &mut Trial,
    ) -> Result<(), Failure> {
        while let Some(policy) = knobs.step(&best.policy, axis, up) {
            if self.seen.contains(&policy) || !self.affords(length) {
                break;
            }
            let contender = policy.clone().into();
            self.seen.push(policy.clone());
            let first = self.course.run(&contender, length / FIRST, 0.0)?;
            if self.course.surely_worse(&first, &best.runs[0]) {
                break;
            }
            let whole = self.course.run(&contender, length, 0.0)?;
            let cost = self.course.cost(&whole);
            if cost >= best.cost {
                break;
            }
            *best = Trial {
                policy,
                runs: [first, whole],
                cost,
            };
        }
        Ok(())
    }
}
