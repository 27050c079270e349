//! The search for the best of each family: all that may be good climb the ladder, then the knobs of the best are
//! turned, one at a time over grids, in steps up or down as long as the cost falls.

use super::evaluator::{Evaluator, FEW};
use super::ladder::{CLOSE, Candidate, Comparison, Ladder};
use synth_multiresource::artifact::Family;
use synth_multiresource::policy::TuningContext;
use synth_multiresource::simulator::{Failure, Run};

/// The first quarter of a run decides whether a step is run to its end.
const QUARTER: u64 = 4;

/// Events of the first runs, at most: however much may be done, a time limit or an interrupt may end it early.
const FIRST: u64 = 100_000;

/// The part of what is good enough that all steps along one knob have to gain to be worth another round over
/// the knobs.
const WORTHWHILE: f64 = 0.2;

/// Families of which the knobs are turned, with their parts of what is left for that.
const SHARES: [f64; 3] = [0.5, 0.6, 1.0];

/// Only those that cost no more than so many times as much as the best.
const NEAR: f64 = 1.3;

/// Runs of full length that are to be had for a family, at least: else they are shorter.
const STEPS: f64 = 12.0;

/// The part of the work of the search that may go into finding where to begin.
const STARTING: f64 = 0.5;

/// The best of each family, the best of all first, within a `share` of the work.
pub(super) fn search<'w>(
    evaluator: &mut Evaluator<'w>,
    context: &TuningContext<'_>,
    starts: Vec<Family>,
    share: f64,
) -> Result<Vec<Candidate<'w>>, Failure> {
    let begun = evaluator.spent;
    let mut seen: Vec<Family> = Vec::new();
    for start in starts {
        seen.extend((!seen.contains(&start)).then_some(start));
    }
    let candidates = seen.iter().map(|p| Candidate::new(p.clone(), 1));
    let each: f64 = seen.iter().map(|start| evaluator.work(start)).sum();
    let ladder = Ladder {
        // All first runs together take no more than half of the work.
        first: ((STARTING * share / 2.0 / each.max(1.0)) as u64).clamp(1, FIRST),
        replications: FEW,
        until: begun + STARTING * share,
    };
    let mut comparison = Comparison {
        candidates: candidates.collect(),
        evaluator,
    };
    comparison.climb(ladder, "trying", Comparison::promising)?;
    comparison.rank();
    let Comparison {
        evaluator,
        candidates: mut field,
    } = comparison;
    let mut turned: Vec<&str> = Vec::new();
    let longest = field.first().and_then(Candidate::longest);
    let best = longest.map(|run| evaluator.rough_cost(run));
    for part in SHARES {
        let is_near = |run: &Run| {
            let cost = evaluator.rough_cost(run);
            cost.is_finite() && best.is_some_and(|best| cost <= NEAR * best)
        };
        let Some(n) = field.iter().position(|c: &Candidate<'_>| {
            let is_near = c.longest().is_some_and(is_near);
            c.policy.axes(context) > 0 && is_near && !turned.contains(&c.name())
        }) else {
            break;
        };
        turned.push(field[n].name());
        evaluator.report(format!("tuning {}", field[n].name()));
        let work = part * (begun + share - evaluator.spent).max(0.0);
        let (work_of_event, rung) = (evaluator.work(&field[n].policy), field[n].runs.len() - 1);
        let walk = Walk {
            length: ladder
                .length(rung)
                .min((work / STEPS / work_of_event) as u64),
            until: evaluator.spent + work,
            context,
            seen: &mut seen,
        };
        if let Some(policy) = walk.turn(evaluator, &field[n].policy)? {
            field[n].policy = policy;
        }
    }
    Ok(best_of_each(field, &seen))
}

/// A walk over the knobs of one policy.
struct Walk<'a, 'k> {
    /// Events of a run.
    length: u64,
    /// The work that may have been done in the end.
    until: f64,
    context: &'a TuningContext<'k>,
    /// What was tried.
    seen: &'a mut Vec<Family>,
}

/// Where a walk is: the best policy so far, with the first part of its run, and its cost.
struct Place {
    policy: Family,
    first: Run,
    cost: f64,
}

impl Walk<'_, '_> {
    /// Turns one knob after the other, as long as it helps; `None` where there is no work left for it.
    fn turn(
        mut self,
        evaluator: &mut Evaluator<'_>,
        start: &Family,
    ) -> Result<Option<Family>, Failure> {
        if !self.affords(evaluator, start) {
            return Ok(None);
        }
        let Some(mut best) = self.evaluate(evaluator, start.clone(), None)? else {
            return Ok(None);
        };
        let axes = start.axes(self.context);
        let (mut axis, mut idle) = (0, 0);
        while idle < axes && self.affords(evaluator, start) {
            let before = best.cost;
            for up in [true, false] {
                self.along(evaluator, (axis, up), &mut best)?;
                if best.cost < before {
                    break;
                }
            }
            let is_worthwhile = best.cost < before * (1.0 - WORTHWHILE * CLOSE);
            idle = if is_worthwhile { 0 } else { idle + 1 };
            axis = (axis + 1) % axes;
        }
        Ok(Some(best.policy))
    }

    /// Steps along one knob in one direction, as long as they help.
    fn along(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        (axis, up): (usize, bool),
        best: &mut Place,
    ) -> Result<(), Failure> {
        while let Some(policy) = best.policy.stepped(axis, up, self.context) {
            if self.seen.contains(&policy) || !self.affords(evaluator, &policy) {
                break;
            }
            self.seen.push(policy.clone());
            match self.evaluate(evaluator, policy, Some(&best.first))? {
                Some(place) if place.cost < best.cost => *best = place,
                _ => break,
            }
        }
        Ok(())
    }

    /// Runs a policy; `None` where it is surely worse than the first part of another run, or was cut short.
    fn evaluate(
        &self,
        evaluator: &mut Evaluator<'_>,
        policy: Family,
        than: Option<&Run>,
    ) -> Result<Option<Place>, Failure> {
        let mut underway = None;
        let first = evaluator.run(&mut underway, &policy, self.length / QUARTER, FEW)?;
        let is_worse = |run: &Run| than.is_some_and(|than| evaluator.surely_worse(run, than));
        let Some(first) = first.filter(|run| !is_worse(run)) else {
            return Ok(None);
        };
        let run = evaluator.run(&mut underway, &policy, self.length, FEW)?;
        Ok(run.map(|run| Place {
            policy,
            first,
            cost: evaluator.rough_cost(&run),
        }))
    }

    /// Whether there is work left for one more policy.
    fn affords(&self, evaluator: &mut Evaluator<'_>, policy: &Family) -> bool {
        let work = evaluator.work(policy) * self.length as f64;
        self.length > 0 && evaluator.spent + work <= self.until && !evaluator.is_over()
    }
}

/// The first of each name, not run yet, with how many of that were tried.
fn best_of_each<'w>(field: Vec<Candidate<'w>>, seen: &[Family]) -> Vec<Candidate<'w>> {
    let mut each: Vec<Candidate<'w>> = Vec::new();
    for candidate in field {
        let name = candidate.name();
        if each.iter().all(|other| other.name() != name) {
            let tried = seen.iter().filter(|p| p.called() == name).count();
            each.push(Candidate::new(candidate.policy, tried));
        }
    }
    each
}
