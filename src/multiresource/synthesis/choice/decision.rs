//! From candidates to a decision: search, comparison on fresh arrivals and sizes, and a run of its own for the best.

use super::evaluator::{self, DONE, Evaluator, REPLICATIONS};
use super::ladder::{self, Candidate, Comparison, Ladder};
use super::{Basis, ChoiceError, Chosen, Families, record, search};
use crate::multiresource::artifact::{Artifact, Family};
use crate::multiresource::policy::KnobRange;
use crate::multiresource::simulator::Run;
use crate::multiresource::synthesis::left;

/// Part of the budget, and of the time, that goes into the search; and up to the end of the comparison. The rest is for
/// the claims.
const SEARCH: f64 = 0.4;
const COMPARISON: f64 = 0.75;

/// Up to here what has not settled, and looks better than all that have, runs on.
const LONGER: f64 = 0.9;

/// The first runs of the comparison take this part of its work, all together, and have so many events at most.
const FIRST: (f64, f64) = (1.0 / 32.0, 200_000.0);

/// The relative precision wanted of the claims, and the events of their run, at least.
const PRECISION: f64 = 0.01;
const SHORTEST: f64 = 1e6;

/// The longest mean size is no more than so many replications, where these tell anything.
const LASTING: f64 = 4.0;

/// Searches from `starts`, compares on fresh arrivals and sizes, and measures the best. The `rivals`, rules that people run
/// now, are compared at least. `artifact` makes the artifact of a policy, with the run that its claims come from.
pub(super) fn decide(
    evaluator: &mut Evaluator<'_>,
    starts: Vec<Family>,
    rivals: Vec<Family>,
    knobs: &KnobRange<'_>,
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
            let work = SEARCH * evaluator.left();
            search::search(evaluator, knobs, starts, work)?
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
    evaluator.seed = choice.seed;
    evaluator.end = until(COMPARISON);
    compare(evaluator, &mut candidates)?;
    evaluator.end = choice.end;
    let mut is_decided = false;
    let (n, basis) = match taken(evaluator, &mut candidates)? {
        Some((n, basis)) => {
            let comparison = Comparison::new(evaluator, &candidates);
            let mut others = (0..candidates.len()).filter(|other| *other != n);
            is_decided = others.all(|other| comparison.is_decided(n, other));
            (n, basis)
        }
        None => unsettled(evaluator, &mut candidates)?,
    };
    let first = candidates.remove(n);
    if basis.has_settled() {
        ladder::ranked(evaluator, &mut candidates);
    }
    candidates.insert(0, first);
    if let Some(why) = record::broken(evaluator, &candidates[0]) {
        return Err(ChoiceError::Broken(why));
    }
    let (run, unclaimed) = description(&candidates[0], &basis, evaluator);
    let claimed = run.filter(|_| unclaimed.is_none());
    let record = record::choice(evaluator, &candidates, &basis, is_decided);
    Ok(Chosen {
        run: run.cloned(),
        is_cut: evaluator.is_cut,
        choice: Some(record),
        unclaimed,
        ..Chosen::new(artifact(&candidates[0].policy, claimed)?, basis)
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
        Basis::Unseen => "no run was long enough to say anything",
        Basis::Analysis | Basis::Given => return (None, None),
    };
    (None, Some(why.into()))
}

/// Runs candidates on fresh arrivals and sizes until it is known which is best, or the work is done. Where none has settled
/// by then, the one that costs least runs on alone.
fn compare<'w>(
    evaluator: &mut Evaluator<'w>,
    candidates: &mut Vec<Candidate<'w>>,
) -> Result<(), ChoiceError> {
    let until = evaluator.budget * COMPARISON;
    let all: f64 = candidates.iter().map(|c| evaluator.work(&c.policy)).sum();
    let ladder = Ladder {
        first: (FIRST.0 * (until - evaluator.spent) / all).clamp(1.0, FIRST.1) as u64,
        replications: REPLICATIONS,
        until,
    };
    ladder.climb(evaluator, candidates, "comparing", |c| c.open())?;
    let longer = Ladder {
        until: evaluator.budget * LONGER,
        ..ladder
    };
    longer.climb(evaluator, candidates, "comparing", |c| c.may_be_better())?;
    ladder::ranked(evaluator, candidates);
    let least = candidates.iter().position(|c| c.is_eligible).unwrap_or(0);
    let alone = |Comparison {
                     evaluator,
                     candidates,
                 }: &Comparison<'_, 'w>| {
        let none = candidates.iter().all(|c| !c.is_settled(evaluator));
        Vec::from_iter((none && !candidates[least].runs_away()).then_some(least))
    };
    let ladder = Ladder {
        until: evaluator.budget,
        ..ladder
    };
    Ok(ladder.climb(evaluator, candidates, "comparing", alone)?)
}

/// The best, once a run of its own has not refuted it; `None` where none has settled.
fn taken<'w>(
    evaluator: &mut Evaluator<'w>,
    candidates: &mut [Candidate<'w>],
) -> Result<Option<(usize, Basis)>, ChoiceError> {
    loop {
        let comparison = Comparison::new(evaluator, candidates);
        let Some(best) = comparison.best() else {
            return Ok(None);
        };
        let (n, basis) = match comparison.fairest(best) {
            Some((n, slowed)) => (n, Basis::Fairest(candidates[best].name(), 1.0 - slowed)),
            None => (best, Basis::Settled),
        };
        evaluator.report(format!("measuring {}", candidates[n].name()));
        measure(evaluator, &mut candidates[n])?;
        if !candidates[n].is_refuted() {
            return Ok(Some((n, basis)));
        }
    }
}

/// The part of what is left that one run for claims may take: it may be refuted, and another one taken.
const OWN_RUN: f64 = 0.7;

/// Runs a candidate under guard, on arrivals and sizes of its own, for as long as its claims need by what was seen.
fn measure(
    evaluator: &mut Evaluator<'_>,
    candidate: &mut Candidate<'_>,
) -> Result<(), ChoiceError> {
    let Some(run) = candidate.longest() else {
        return Ok(());
    };
    let value = evaluator.value(run).map_or(1.0, |value| value.relative());
    let rarest = evaluator.fewest_done(run).map_or(DONE, |t| t.completions);
    let precise = (value / PRECISION).powi(2);
    let seen = 1.5 * DONE as f64 / rarest.max(1) as f64;
    let wanted = (run.events as f64 * precise.max(seen)).max(SHORTEST);
    let number = run.mean_number.map_or(0.0, |number| number.mean);
    if let Some(guarded) = evaluator.guarded(&candidate.policy, number) {
        candidate.policy = guarded;
    }
    let affordable = OWN_RUN * evaluator.left() / evaluator.work(&candidate.policy);
    evaluator.seed = evaluator.seed.wrapping_add(2);
    let events = wanted.min(affordable) as u64;
    candidate.own = evaluator.run(&mut None, &candidate.policy, events, REPLICATIONS)?;
    evaluator.seed = evaluator.seed.wrapping_sub(2);
    Ok(())
}

/// Where none has settled: the policy whose jobs stayed least as far as its longest run tells, under guard. Replications
/// that are much shorter than the longest mean size tell nothing: all policies look alike there.
fn unsettled<'w>(
    evaluator: &Evaluator<'w>,
    candidates: &mut Vec<Candidate<'w>>,
) -> Result<(usize, Basis), ChoiceError> {
    ladder::ranked(evaluator, candidates);
    let sizes = evaluator.workload.types().iter().map(|t| t.mean_size());
    let longest = sizes.fold(0.0, f64::max);
    let tells = |run: &Run| {
        let lasts = LASTING * run.simulated_time > longest * run.replications.len() as f64;
        lasts && evaluator.rough_cost(run).is_finite()
    };
    let proved = |c: &Candidate<'_>| c.policy.spec().is_proved_stable(evaluator.workload);
    let runs_away = |c: &Candidate<'_>| !proved(c) && c.runs_away();
    let find = |what: &dyn Fn(&Candidate<'_>) -> bool| {
        let is = |c: &Candidate<'_>| c.is_eligible && what(c);
        candidates.iter().position(is)
    };
    let unseen = || find(&proved).or_else(|| find(&|c| !runs_away(c)));
    let (n, basis) = match find(&|c| c.longest().is_some_and(tells)) {
        Some(n) => (n, Basis::StaysLeast),
        None => match unseen() {
            Some(n) => (n, Basis::Unseen),
            None => (find(&|_| true).unwrap_or(0), Basis::Guarded),
        },
    };
    let first = &mut candidates[n];
    let number = first.longest().map_or(0.0, evaluator::rough_number);
    match evaluator.guarded(&first.policy, number) {
        Some(guarded) => first.policy = guarded,
        None if basis == Basis::Guarded => {
            let names: Vec<&str> = candidates.iter().map(Candidate::name).collect();
            return Err(ChoiceError::Broken(format!(
                "all policies of these families were seen to run away ({}), and nothing is proved that could take over: take --family auto, add resources or take fewer jobs",
                names.join(", ")
            )));
        }
        None => {}
    }
    Ok((n, basis))
}
