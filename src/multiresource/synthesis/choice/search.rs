//! The search for the best of each family: all that may be good run side by side, ever longer, and
//! fall out; then the knobs of the best are turned.

use super::Stage;
use super::course::Course;
use crate::multiresource::artifact::Family;
use crate::multiresource::policy::{self, KnobRange};
use crate::multiresource::simulator::{Failure, Health, Run};

/// A run of a quarter of the length decides whether a step is run to its end.
const FIRST: u64 = 4;

/// The first runs take this part of the budget, or so many events where that is more.
const PARTS: u64 = 2000;
const SHORTEST: u64 = 100_000;

/// A mean with this relative half-width or more is too vague to tune by. (The differences of policies
/// are known several times better.)
const VAGUE: f64 = 0.06;

/// What costs so many times as much as the best of a round does not run in the next; of rounds after the
/// last of these the last holds.
const SLACK: [f64; 5] = [4.0, 2.5, 1.8, 1.4, 1.25];

/// No more than so many run in a round.
const FIELD: [usize; 6] = [64, 16, 10, 7, 5, 4];

/// The part of what is good enough that all steps along one knob have to gain to be worth another round over
/// the knobs.
const WORTHWHILE: f64 = 0.2;

/// Families of which the knobs are turned, with their parts of what is left for that.
const SHARES: [f64; 3] = [0.5, 0.6, 1.0];

/// Only those that cost no more than so many times as much as the best.
const NEAR: f64 = 1.3;

/// The part of the events for tuning that may go into finding where to begin.
const STARTING: f64 = 0.5;

/// A policy that was tried, in its longest run.
#[derive(Clone)]
pub(super) struct Trial {
    pub policy: Family,
    run: Run,
    /// Its events.
    length: u64,
    cost: f64,
}

/// The best that was found of a family, and how many were tried.
pub(super) struct Tuned {
    pub policy: Family,
    pub tried: usize,
}

/// The best of each family, the best of all first, within a `share` of the events.
pub(super) fn tune(
    course: &mut Course<'_>,
    knobs: &KnobRange<'_>,
    starts: Vec<Family>,
    share: u64,
    mut progress: impl FnMut(Stage),
) -> Result<Vec<Tuned>, Failure> {
    let begun = course.spent;
    let mut search = KnobSearch {
        course,
        end: begun + (STARTING * share as f64) as u64,
        begun,
        share,
        length: 0,
        seen: Vec::new(),
        turned: Vec::new(),
    };
    let mut field = search.race(starts, &mut progress)?;
    let best = field[0].cost;
    for part in SHARES {
        let left = (begun + share).saturating_sub(search.course.spent);
        search.end = search.course.spent + (part * left as f64) as u64;
        let near = |t: &Trial| t.cost <= NEAR * best && t.cost.is_finite();
        let axes = |t: &Trial| policy::axes(&t.policy, knobs) > 0;
        let is_new = |t: &Trial| !search.turned.contains(&t.policy.called());
        let next = field.iter().position(|t| axes(t) && near(t) && is_new(t));
        let Some(n) = next else { break };
        let start = field[n].clone();
        progress(search.stage(format!("tuning {}", start.policy.called())));
        field[n] = search.walk(start, knobs)?;
    }
    field.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    Ok(search.best_of_each(field))
}

struct KnobSearch<'a, 'w> {
    course: &'a mut Course<'w>,
    /// Events at which this stage is over.
    end: u64,
    begun: u64,
    share: u64,
    /// Events of a run.
    length: u64,
    /// What was tried.
    seen: Vec<Family>,
    /// The families of which knobs were turned.
    turned: Vec<&'static str>,
}

impl KnobSearch<'_, '_> {
    fn stage(&self, what: String) -> Stage {
        let spent = (self.course.spent - self.begun) as f64 / self.share as f64;
        Stage {
            what,
            spent: spent.min(1.0) * self.share as f64 / self.course.budget as f64,
        }
    }

    /// Whether each of these can run for so many events.
    fn affords<'p>(&mut self, policies: impl IntoIterator<Item = &'p Family>, events: u64) -> bool {
        let policies = policies.into_iter();
        let charges: u64 = policies.map(|policy| self.course.charge(policy)).sum();
        let ends = self.course.interrupted() || self.course.is_late();
        self.course.spent + charges * events <= self.end && !ends
    }

    fn trial(&mut self, policy: Family, length: u64) -> Result<Trial, Failure> {
        let contender = policy.clone().into();
        let run = self.course.short_run(&contender, length)?;
        let cost = self.course.rough_cost(&run);
        Ok(Trial {
            policy,
            run,
            length,
            cost,
        })
    }

    /// Successive halving: all run, the best of them longer, until the best has a mean to tune by. What
    /// fell out comes back where those that were better turn out to be worse in longer runs. The best first.
    fn race(
        &mut self,
        starts: Vec<Family>,
        progress: &mut impl FnMut(Stage),
    ) -> Result<Vec<Trial>, Failure> {
        // At most half of what there is for a first look at all.
        let charges: u64 = starts.iter().map(|start| self.course.charge(start)).sum();
        let most = (self.end - self.begun) / (2 * charges.max(1));
        self.length = (self.course.budget / PARTS).max(SHORTEST).min(most);
        let mut field = Vec::new();
        for start in starts {
            if self.seen.contains(&start) {
                continue;
            }
            progress(self.stage(format!("trying {}", start.called())));
            self.seen.push(start.clone());
            field.push(self.trial(start, self.length)?);
        }
        let mut round = 0;
        loop {
            field.sort_by(|a: &Trial, b| a.cost.total_cmp(&b.cost));
            let most = last(&SLACK, round) * field[0].cost;
            let ahead = field.iter_mut().take(last(&FIELD, round));
            let is_shorter = |t: &&mut Trial| t.cost <= most && t.length < self.length;
            let mut shorter: Vec<&mut Trial> = ahead.filter(is_shorter).collect();
            if shorter.is_empty() {
                let longer = 2 * self.length;
                if self.tells(&field[0]) || !self.affords([&field[0].policy], longer) {
                    return Ok(field);
                }
                (self.length, round) = (longer, round + 1);
                continue;
            }
            let policies = shorter.iter().map(|trial| &trial.policy);
            if !self.affords(policies, self.length) {
                return Ok(field);
            }
            for trial in &mut shorter {
                progress(self.stage(format!("trying {}", trial.policy.called())));
                **trial = self.trial(trial.policy.clone(), self.length)?;
            }
        }
    }

    /// Whether a run says enough to turn knobs by.
    fn tells(&self, trial: &Trial) -> bool {
        match trial.run.health {
            Health::Unstable => true,
            Health::Unsettled => false,
            Health::Settled => {
                let value = self.course.value(&trial.run);
                value.is_some_and(|v| v.relative() < VAGUE) && self.course.all_done(&trial.run)
            }
        }
    }

    /// Turns one knob after the other, as long as it helps.
    fn walk(&mut self, start: Trial, knobs: &KnobRange<'_>) -> Result<Trial, Failure> {
        let mut best = start;
        self.turned.push(best.policy.called());
        let mut first = self.trial(best.policy.clone(), self.length / FIRST)?.run;
        let (mut axis, mut idle) = (0, 0);
        let axes = policy::axes(&best.policy, knobs);
        while idle < axes && self.affords([&best.policy], self.length) {
            let before = best.cost;
            for up in [true, false] {
                self.along(knobs, axis, up, &mut first, &mut best)?;
                if best.cost < before {
                    break;
                }
            }
            idle = match best.cost < before * (1.0 - WORTHWHILE * self.course.close) {
                true => 0,
                false => idle + 1,
            };
            axis = (axis + 1) % axes;
        }
        Ok(best)
    }

    /// Steps along one knob in one direction, as long as they help.
    fn along(
        &mut self,
        knobs: &KnobRange<'_>,
        axis: usize,
        up: bool,
        first: &mut Run,
        best: &mut Trial,
    ) -> Result<(), Failure> {
        while let Some(policy) = policy::stepped(&best.policy, axis, up, knobs) {
            if self.seen.contains(&policy) || !self.affords([&policy], self.length) {
                break;
            }
            self.seen.push(policy.clone());
            let short = self.trial(policy.clone(), self.length / FIRST)?.run;
            if self.course.surely_worse(&short, first) {
                break;
            }
            let trial = self.trial(policy, self.length)?;
            if trial.cost >= best.cost {
                break;
            }
            (*first, *best) = (short, trial);
        }
        Ok(())
    }

    fn best_of_each(&self, field: Vec<Trial>) -> Vec<Tuned> {
        let mut each: Vec<Tuned> = Vec::new();
        for trial in field {
            let name = trial.policy.called();
            if each.iter().any(|tuned| tuned.policy.called() == name) {
                continue;
            }
            each.push(Tuned {
                tried: self.seen.iter().filter(|p| p.called() == name).count(),
                policy: trial.policy,
            });
        }
        each
    }
}

/// The n-th, or the last.
fn last<T: Copy>(values: &[T], n: usize) -> T {
    values[n.min(values.len() - 1)]
}
