//! From candidates to a decision: search, comparison on fresh arrivals and sizes, and a run of its own for the best.

use super::chosen::{Basis, ChoiceError, Chosen, Families};
use super::evaluator::{self, DONE, Evaluator, REPLICATIONS};
use super::ladder::{Candidate, Comparison, Ladder};
use super::{record, search};
use crate::synthesis::{BUDGET, left};
use synth_multiresource::artifact::{Artifact, Family, retract};
use synth_multiresource::policy::TuningContext;
use synth_multiresource::simulator::Run;

/// Part of the budget, and of the time, that goes into the search; and up to the end of the comparison. The rest is for
/// the claims.
const SEARCH: f64 = 0.4;
const COMPARISON: f64 = 0.75;

/// Work beyond the budget that only runs which decide promises may use: so many budgets, and no more than this part of the
/// default one. Otherwise a larger budget, of which the search uses more, could leave a promise undecided that a smaller one
/// decided.
const DECIDING: (f64, f64) = (3.0, 0.25);

/// Up to here what has not settled, and looks better than all that have, runs on.
const LONGER: f64 = 0.9;

/// The first runs of the comparison take this part of its work, all together, and have so many events at most.
const FIRST: (f64, f64) = (1.0 / 32.0, 200_000.0);

/// The relative precision required of the claims, over all jobs and of each type that is not rare, and the events of their
/// run, at least. A budget above the default is spent on a higher precision.
const PRECISION: f64 = 0.01;
const OF_TYPE: f64 = 0.1;
const SHORTEST: f64 = 1e6;

/// The longest mean size is no more than so many replications, where these tell anything.
const LASTING: f64 = 4.0;

/// Searches from `starts`, compares on fresh arrivals and sizes, and measures the best. The `rivals`, rules that people run
/// now, are compared at least. `artifact` makes the artifact of a policy, with the run that its claims come from.
pub(super) fn decide(
    evaluator: &mut Evaluator<'_>,
    starts: Vec<Family>,
    rivals: Vec<Family>,
    context: &TuningContext<'_>,
    artifact: impl FnOnce(&Family, Option<&Run>) -> Result<Artifact, ChoiceError>,
) -> Result<Chosen, ChoiceError> {
    let choice = evaluator.choice;
    let time = left(choice.end);
    let until = |part: f64| choice.end.map(|end| end - time.mul_f64(1.0 - part));
    let mut candidates = match &choice.families {
        Families::Fixed(policy) => vec![Candidate::new((**policy).clone(), 1)],
        _ => {
            evaluator.seed = choice.seed.wrapping_add(1);
            evaluator.end = until(SEARCH);
            let until = SEARCH * evaluator.budget;
            search::search(evaluator, context, starts, until)?
        }
    };
    for rule in rivals {
        if candidates.iter().all(|c| c.name() != rule.called()) {
            candidates.push(Candidate {
                is_eligible: false,
                ..Candidate::new(rule, 1)
            });
        }
    }
    let mut comparison = Comparison {
        evaluator,
        candidates,
    };
    comparison.evaluator.seed = choice.seed;
    comparison.evaluator.end = until(COMPARISON);
    comparison.run()?;
    comparison.evaluator.end = choice.end;
    if !choice.promises.is_empty() {
        let evaluator = &mut comparison.evaluator;
        evaluator.limit += (DECIDING.0 * evaluator.budget).min(DECIDING.1 * BUDGET as f64);
    }
    let mut is_decided = false;
    let (n, basis) = match comparison.taken()? {
        Some((n, basis)) => {
            let mut others = (0..comparison.candidates.len()).filter(|other| *other != n);
            is_decided = others.all(|other| comparison.is_decided(n, other));
            (n, basis)
        }
        None => comparison.unsettled()?,
    };
    let first = comparison.candidates.remove(n);
    if basis.has_settled() {
        comparison.rank();
    }
    comparison.candidates.insert(0, first);
    let (evaluator, taken) = (&*comparison.evaluator, &comparison.candidates[0]);
    if let Some(unkept) = record::unkept(evaluator, taken) {
        return Err(ChoiceError::Unkept(Box::new(unkept)));
    }
    let (run, unclaimed) = description(taken, &basis, evaluator);
    let claimed = run.filter(|_| unclaimed.is_none());
    let mut artifact = artifact(&taken.policy, claimed)?;
    let retracted = retract(&mut artifact);
    Ok(Chosen {
        retracted,
        run: run.cloned(),
        is_cut: evaluator.is_cut,
        choice: Some(record::choice(&comparison, &basis, is_decided)),
        unclaimed,
        ..Chosen::new(artifact, basis)
    })
}

/// Returns the run by which the policy taken is described, and why nothing that was simulated is claimed of it.
fn description<'a>(
    taken: &'a Candidate<'_>,
    basis: &Basis,
    evaluator: &Evaluator<'_>,
) -> (Option<&'a Run>, Option<String>) {
    let why = match basis {
        Basis::Settled | Basis::Fairest(..) if taken.own.is_none() => {
            let why = "there was no time for a run of its own";
            return (taken.longest(), Some(why.into()));
        }
        Basis::Settled | Basis::Fairest(..) => {
            let short = taken.unclaimed(evaluator);
            let why = short.map(|why| format!("its own run was too short ({why})"));
            return (taken.measured(evaluator), why);
        }
        Basis::StaysLeast | Basis::Guarded => "no policy was seen to settle",
        Basis::RunsAway => "it was seen to run away",
        Basis::Unseen => "no run was long enough to say anything",
        Basis::Analysis | Basis::Given => return (None, None),
    };
    (None, Some(why.into()))
}

/// The part of what is left that one run for claims may take: it may be refuted, and another one taken.
const OWN_RUN: f64 = 0.7;

impl Comparison<'_, '_> {
    /// Runs candidates on fresh arrivals and sizes until it is known which is best, or the work is done. Where none has
    /// settled by then, the one that costs least runs on alone.
    fn run(&mut self) -> Result<(), ChoiceError> {
        let until = self.evaluator.budget * COMPARISON;
        let work = |c: &Candidate<'_>| self.evaluator.work(&c.policy);
        let all: f64 = self.candidates.iter().map(work).sum();
        let ladder = Ladder {
            first: (FIRST.0 * (until - self.evaluator.spent) / all).clamp(1.0, FIRST.1) as u64,
            replications: REPLICATIONS,
            until,
        };
        self.climb(ladder, "comparing", Comparison::open)?;
        let until = self.evaluator.budget * LONGER;
        self.climb(
            Ladder { until, ..ladder },
            "comparing",
            Comparison::may_be_better,
        )?;
        self.rank();
        let least = self.first(|_| true).unwrap_or(0);
        let alone = |own: &Self| {
            let none = own.candidates.iter().all(|c| !c.is_settled(own.evaluator));
            Vec::from_iter((none && !own.candidates[least].runs_away()).then_some(least))
        };
        let until = self.evaluator.budget;
        Ok(self.climb(Ladder { until, ..ladder }, "comparing", alone)?)
    }

    /// Returns the best by a run of its own, once that has neither refuted it nor shown that another may keep the promises
    /// better; `None` where none has settled.
    fn taken(&mut self) -> Result<Option<(usize, Basis)>, ChoiceError> {
        loop {
            let Some(best) = self.best(|_| true) else {
                return Ok(None);
            };
            // Another run that is too short would decide by chance, unless all that were measured break a promise.
            let has_own = |c: &Candidate<'_>| c.own.is_some();
            let is_last =
                OWN_RUN * self.evaluator.left() < SHORTEST && self.candidates.iter().any(has_own);
            let decides = |n: &usize| self.place(*n) <= 1.0 || self.place(best) > 1.0;
            let last = self.best(has_own).filter(|_| is_last).filter(decides);
            let best = last.unwrap_or(best);
            let fairest = self.fairest(best).filter(|_| last.is_none());
            let (n, basis) = match fairest {
                Some((n, slowed)) => {
                    let name = self.candidates[best].name();
                    (n, Basis::Fairest(name, 1.0 - slowed))
                }
                None => (best, Basis::Settled),
            };
            let is_known = has_own(&self.candidates[n]) || is_last;
            if !is_known {
                self.measure(n)?;
            }
            // Without a run even then, it was cut short.
            if is_known || !has_own(&self.candidates[n]) {
                return Ok(Some((n, basis)));
            }
        }
    }

    /// Runs a candidate under guard, on arrivals and sizes of its own, for as long as its claims need by what was seen; and
    /// then twice as long each time, until two lengths in a row tell that the promises are kept, or that they are not.
    fn measure(&mut self, n: usize) -> Result<(), ChoiceError> {
        let (evaluator, candidate) = (&mut *self.evaluator, &mut self.candidates[n]);
        evaluator.report(format!("measuring {}", candidate.name()));
        let Some(run) = candidate.longest() else {
            return Ok(());
        };
        let value = evaluator.value(run).map_or(1.0, |value| value.relative());
        let rarest = evaluator.fewest_done(run).map_or(DONE, |t| t.completions);
        let of_types = evaluator.common(run).filter_map(|t| t.mean_response);
        let worst = of_types.map(|own| own.relative() / OF_TYPE);
        let worst = worst.fold(value / PRECISION, f64::max);
        let precise = worst.powi(2) * (evaluator.budget / BUDGET as f64).max(1.0);
        let seen = 1.5 * DONE as f64 / rarest.max(1) as f64;
        let needed = (run.events as f64 * precise.max(seen)).max(SHORTEST);
        let number = run.mean_number.map_or(0.0, |number| number.mean);
        if let Some(guarded) = evaluator.guarded(&candidate.policy, number) {
            candidate.policy = guarded;
        }
        let work = evaluator.work(&candidate.policy);
        let affordable = OWN_RUN * evaluator.left() / work;
        let planned = OWN_RUN * (evaluator.budget - evaluator.spent).max(SHORTEST) / work;
        evaluator.seed = evaluator.seed.wrapping_add(2);
        let (mut underway, mut events) = (None, needed.min(planned).min(affordable));
        let mut told = evaluator.choice.promises.is_empty();
        while let Some(run) = evaluator.run(
            &mut underway,
            &candidate.policy,
            events as u64,
            REPLICATIONS,
        )? {
            let tells = evaluator.surely_keeps(&run) || evaluator.surely_breaks(&run);
            candidate.own = Some(run);
            if events >= affordable || tells && told {
                break;
            }
            (told, events) = (tells, (2.0 * events).min(affordable));
        }
        evaluator.seed = evaluator.seed.wrapping_sub(2);
        Ok(())
    }

    /// Returns, where none has settled, the policy whose jobs stayed least as far as its longest run tells, under guard.
    /// Replications that are much shorter than the longest mean size tell nothing: all policies look alike there.
    fn unsettled(&mut self) -> Result<(usize, Basis), ChoiceError> {
        self.rank();
        let evaluator = &*self.evaluator;
        let sizes = evaluator.workload.types().iter().map(|t| t.mean_size());
        let longest = sizes.fold(0.0, f64::max);
        let tells = |run: &Run| {
            let lasts = LASTING * run.simulated_time > longest * run.replications.len() as f64;
            lasts && evaluator.rough_cost(run).is_finite()
        };
        let proved = |c: &Candidate<'_>| c.policy.is_proved_stable(evaluator.workload);
        let (n, basis) = if let Some(n) = self.first(|c| c.longest().is_some_and(tells)) {
            (n, Basis::StaysLeast)
        } else if let Some(n) = self.first(proved) {
            (n, Basis::Unseen)
        } else if let Some(n) = self.first(|c| !c.runs_away()) {
            (n, Basis::Unseen)
        } else {
            (self.first(|_| true).unwrap_or(0), Basis::Guarded)
        };
        if evaluator.choice.families.are_fixed() && self.candidates[n].runs_away() {
            return Ok((n, Basis::RunsAway));
        }
        let longest = self.candidates[n].longest();
        let number = longest.map_or(0.0, evaluator::rough_number);
        match evaluator.guarded(&self.candidates[n].policy, number) {
            Some(guarded) => self.candidates[n].policy = guarded,
            None if basis == Basis::Guarded => {
                let names: Vec<&str> = self.candidates.iter().map(Candidate::name).collect();
                return Err(ChoiceError::Broken(format!(
                    "all policies of these families were seen to run away ({}), and nothing is proved that could take over: take --family auto, add resources or take fewer jobs",
                    names.join(", ")
                )));
            }
            None => {}
        }
        Ok((n, basis))
    }
}
