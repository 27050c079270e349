//! The search for the best policy of each family, the best of which are tuned on a grid.

use itertools::Itertools;

use super::ladder::{Candidate, Ladder, Selection};
use super::trials::{FEW, Trial, Trials};
use crate::synthesis::RELEVANT_DIFFERENCE;
use synth_multiresource::artifact::Family;
use synth_multiresource::policy::TuningContext;
use synth_multiresource::simulator::{Estimate, Failure};

const SEARCH: f64 = 0.4;

/// A run is only completed if its first part, which is 1 divided by this, is promising.
const QUARTER: u64 = 4;

/// The maximum number of events of the first runs, because a deadline may end the search early.
const FIRST: u64 = 100_000;

/// The fraction of a relevant difference below which a gain along a parameter counts as none.
const WORTHWHILE: f64 = 0.2;

/// The fraction of the remaining work for each family that is tuned.
const SHARES: [f64; 3] = [0.5, 0.6, 1.0];

/// A candidate is only tuned if its relative cost is at most this.
const NEAR: f64 = 1.3;

/// The runs are shortened if the work for a family is less than this number of full runs.
const STEPS: f64 = 12.0;

/// The fraction of the work of the search to find the candidates that are tuned.
const STARTING: f64 = 0.5;

impl Selection<'_> {
    /// Replaces the candidates by the best of each family, without their runs, the best first.
    pub(super) fn search(&mut self, context: &TuningContext<'_>) -> Result<(), Failure> {
        self.trials.begin(1, SEARCH);
        let share = SEARCH * self.trials.budget;
        let mut seen: Vec<Family> = self.candidates.iter().map(|c| c.policy.clone()).collect();
        let each: f64 = seen.iter().map(|start| self.trials.work(start)).sum();
        let ladder = Ladder {
            // All first runs together need at most half of this work.
            first: ((STARTING * share / 2.0 / each.max(1.0)) as u64).clamp(1, FIRST),
            replications: FEW,
            until: STARTING * share,
        };
        self.climb(ladder, "trying", Selection::promising)?;
        self.rank();
        let best = self.candidates.first().and_then(Candidate::longest);
        let most = best.map_or(f64::NAN, |run| NEAR * run.rough_cost);
        let is_near = |run: &Trial| run.rough_cost.is_finite() && run.rough_cost <= most;
        let mut turned: Vec<&str> = Vec::new();
        for part in SHARES {
            let Some(candidate) = self.candidates.iter_mut().find(|c| {
                let has_knobs = c.policy.axes(context) > 0 && !turned.contains(&c.name());
                has_knobs && c.longest().is_some_and(is_near)
            }) else {
                break;
            };
            turned.push(candidate.name());
            self.trials.report(format!("tuning {}", candidate.name()));
            let work = part * (share - self.trials.spent).max(0.0);
            let of_event = self.trials.work(&candidate.policy);
            let length = ladder.length(candidate.runs.len() - 1);
            let walk = Walk {
                length: length.min((work / STEPS / of_event) as u64),
                until: self.trials.spent + work,
                trials: &mut self.trials,
                context,
                seen: &mut seen,
            };
            if let Some(policy) = walk.tune(&candidate.policy)? {
                candidate.policy = policy;
            }
        }
        let all = std::mem::take(&mut self.candidates).into_iter();
        let first_of_each = all.unique_by(Candidate::name).map(|candidate| {
            let mut own = Candidate::new(candidate.policy);
            own.tried = seen.iter().filter(|p| p.called() == own.name()).count();
            own
        });
        self.candidates = first_of_each.collect();
        Ok(())
    }
}

struct Walk<'a, 'w> {
    trials: &'a mut Trials<'w>,
    context: &'a TuningContext<'a>,
    length: u64,
    until: f64,
    seen: &'a mut Vec<Family>,
}

struct Place {
    policy: Family,
    first: Trial,
    cost: f64,
}

impl Walk<'_, '_> {
    /// Tunes one parameter after the other; `None` if no work is left for it.
    fn tune(mut self, start: &Family) -> Result<Option<Family>, Failure> {
        if !self.affords(start) {
            return Ok(None);
        }
        let Some(mut best) = self.evaluate(start.clone(), None)? else {
            return Ok(None);
        };
        let axes = start.axes(self.context);
        let (mut axis, mut idle) = (0, 0);
        while idle < axes && self.affords(start) {
            let before = best.cost;
            for up in [true, false] {
                self.along(axis, up, &mut best)?;
                if best.cost < before {
                    break;
                }
            }
            let is_worthwhile = best.cost < before * (1.0 - WORTHWHILE * RELEVANT_DIFFERENCE);
            idle = if is_worthwhile { 0 } else { idle + 1 };
            axis = (axis + 1) % axes;
        }
        Ok(Some(best.policy))
    }

    fn along(&mut self, axis: usize, up: bool, best: &mut Place) -> Result<(), Failure> {
        while let Some(policy) = best.policy.stepped(axis, up, self.context) {
            if self.seen.contains(&policy) || !self.affords(&policy) {
                break;
            }
            self.seen.push(policy.clone());
            match self.evaluate(policy, Some(&best.first))? {
                Some(place) if place.cost < best.cost => *best = place,
                _ => break,
            }
        }
        Ok(())
    }

    /// Runs a policy. Returns `None` if it is certainly worse than another run or was stopped.
    fn evaluate(&mut self, policy: Family, than: Option<&Trial>) -> Result<Option<Place>, Failure> {
        let objective = self.trials.objective;
        let is_worse = |own: &Trial, than: &Trial| {
            let is_more = |r: Estimate| r.mean - r.half_width > 1.0 && own.cost > than.cost;
            own.runs_away() || own.ratio(objective, than).is_some_and(is_more)
        };
        let mut underway = None;
        let mut run = |events| self.trials.run(&mut underway, &policy, events, FEW);
        let first = run(self.length / QUARTER)?;
        let Some(first) = first.filter(|own| than.is_none_or(|than| !is_worse(own, than))) else {
            return Ok(None);
        };
        let cost = run(self.length)?.map(|run| run.rough_cost);
        Ok(cost.map(|cost| Place {
            policy,
            first,
            cost,
        }))
    }

    fn affords(&mut self, policy: &Family) -> bool {
        let work = self.trials.work(policy) * self.length as f64;
        self.length > 0 && self.trials.spent + work <= self.until && !self.trials.is_over()
    }
}
