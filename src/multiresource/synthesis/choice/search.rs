//! The coordinate search over a family's knobs.

use super::course::Course;
use crate::multiresource::artifact::Family;
use crate::multiresource::policy::{self, KnobRange};
use crate::multiresource::simulator::{Failure, Health, Run};

/// A run of a quarter of the length decides whether a step is run to its end.
const FIRST: u64 = 4;

/// A mean with this relative half-width or more is too vague to tune by. (The differences of policies
/// are known several times better.)
const VAGUE: f64 = 0.03;

/// A relative gain of all steps along one knob that is worth another round over the knobs.
const WORTHWHILE: f64 = 0.002;

/// Runs that must be left for the steps.
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

/// Starts from the best of some policies and turns one knob at a time, in steps as long as they help,
/// within a `share` of the events. A run takes `length` events, more where it shows no steady state.
pub(super) fn tune(
    course: &mut Course<'_>,
    knobs: &KnobRange<'_>,
    starts: Vec<Family>,
    share: u64,
    mut length: u64,
) -> Result<Tuned, Failure> {
    let end = (course.spent + share).min(course.budget);
    let mut search = KnobSearch {
        course,
        end,
        seen: Vec::new(),
    };
    let mut best = search.first(&starts, &mut length)?;
    let (mut axis, mut idle) = (0, 0);
    let axes = policy::axes(&best.policy, knobs);
    // Where the best start is unstable, so are its neighbours.
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

struct KnobSearch<'a, 'w> {
    course: &'a mut Course<'w>,
    /// Events at which it is over.
    end: u64,
    seen: Vec<Family>,
}

impl KnobSearch<'_, '_> {
    fn affords(&self, length: u64) -> bool {
        self.course.spent + length <= self.end && !self.course.interrupted()
    }

    fn trial(&mut self, policy: Family, length: u64) -> Result<Trial, Failure> {
        let contender = policy.clone().into();
        let mut run = |events| self.course.run(&contender, events, 0.0);
        let runs = [run(length / FIRST)?, run(length)?];
        self.seen.push(policy.clone());
        let cost = self.course.rough_cost(&runs[1]);
        Ok(Trial { policy, runs, cost })
    }

    /// The best of the first policies; runs are doubled in length while their means are too vague.
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
        knobs: &KnobRange<'_>,
        axis: usize,
        up: bool,
        length: u64,
        best: &mut Trial,
    ) -> Result<(), Failure> {
        while let Some(policy) = policy::stepped(&best.policy, axis, up, knobs) {
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
            let cost = self.course.rough_cost(&whole);
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
