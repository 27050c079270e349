//! The record of a selection, and the policy file with the claims that follow from it.

use super::ladder::Selection;
use super::trials::{DONE, REPLICATIONS, Trial, measured};
use super::{Analysed, Basis, Unkept};
use crate::analysis::Cost;
use crate::synthesis::claims;
use crate::synthesis::log::{Candidate, Choice, Interval, Steadiness};
use crate::synthesis::proof::evidence;
use synth_multiresource::artifact::{
    Artifact, Claim, Evidence, Family, HoldsFor, Method, Objective, Quantity, Simulation, Subject,
};
use synth_multiresource::simulator::{Estimate, Run, Threshold, TypeResult, paired_ratio};
use synth_multiresource::workload::{Fleet, JobType, Workload};

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Interval {
            mean: estimate.mean,
            half_width: estimate.half_width,
        }
    }
}

impl Selection<'_> {
    /// Returns the record of the selection; the policy selected comes first.
    pub fn record(&self, basis: &Basis, decided: bool) -> Choice {
        let all = 0..self.candidates.len();
        let mut candidates: Vec<Candidate> = all.map(|n| self.recorded(basis, n)).collect();
        let first = candidates[0].value;
        // By the values that are shown: ratios may be of shorter runs than the order was found by.
        let value = |c: &Candidate| {
            let of_first = first.map_or(1.0, |value| value.mean);
            let least = c.at_least.map(|times| times * of_first);
            let value = c.value.map(|value| value.mean).or(least);
            value.unwrap_or(f64::INFINITY)
        };
        candidates[1..].sort_by(|a, b| value(a).total_cmp(&value(b)));
        let choice = self.trials.choice;
        Choice {
            objective: self.trials.objective,
            promises: choice.promises.clone(),
            seed: choice.seed,
            replications: REPLICATIONS,
            budget: choice.budget,
            events: self.trials.events,
            decided,
            candidates,
        }
    }

    /// Returns the record of a candidate.
    fn recorded(&self, basis: &Basis, n: usize) -> Candidate {
        let (own, objective) = (&self.candidates[n], self.trials.objective);
        let outcome = if n == 0 && !basis.has_settled() {
            Steadiness::Unsettled
        } else {
            own.outcome(self.trials.workload, self.is_far(0, n))
        };
        let steady = outcome == Steadiness::Steady;
        let run = own.measured().filter(|_| steady);
        let least = least(objective, self.trials.workload);
        let value = |run: &Trial| Some(reaching(run.value?, least));
        let of_first = self.candidates[0].measured().and_then(value);
        let is_bound = !self.trials.choice.promises.is_empty();
        let at_least = self.at_least(0, n).filter(|_| steady);
        let compared = self.settled(n, 0).filter(|_| steady);
        let ratio = |objective| {
            let is_known = n > 0 && at_least.is_none();
            let (own, first) = compared.filter(|_| is_known)?;
            own.ratio(objective, first)
        };
        Candidate {
            name: own.name().into(),
            knobs: own.policy.knobs_in_words(self.trials.workload),
            tried: own.tried,
            outcome,
            value: match of_first.zip(ratio(objective)) {
                Some((first, ratio)) => Some(product(&first, &ratio)),
                None if at_least.is_some() => None,
                None => run.and_then(value).map(Into::into),
            },
            at_least,
            waits: match (n, ratio(objective)) {
                (1.., None) => Vec::new(),
                _ => self.waits(n),
            },
            ratio: ratio(objective).map(Into::into),
            other_ratio: ratio(objective.other()).map(Into::into),
            slowdown_ratio: compared
                .and_then(|(own, _)| own.slowdowns())
                .map(|[least, most]| most / least),
            kept: run.filter(|_| is_bound).map(|run| run.verdict.keeps_all()),
        }
    }

    /// Returns the mean wait of each type under a candidate; empty if that of one of them is not known.
    fn waits(&self, n: usize) -> Vec<Interval> {
        let of_first = self.candidates[0].measured();
        let types = of_first
            .iter()
            .flat_map(|first| first.run.types.iter().enumerate());
        let compared = self.settled(n, 0).filter(|_| n > 0);
        let each = types.map(|(i, of_first)| {
            let ratio = compared.and_then(|(own, first)| {
                let [a, b] = [own, first].map(|own| &*own.run.types[i].waiting_replications);
                paired_ratio(a, b)
            });
            match (ratio, compared) {
                (Some(ratio), _) => Some(product(&of_first.mean_waiting?, &ratio)),
                (None, Some((own, _))) => own.run.types[i].mean_waiting.map(Into::into),
                (None, None) => of_first.mean_waiting.map(Into::into),
            }
        });
        each.collect::<Option<_>>().unwrap_or_default()
    }

    /// Returns how the policy selected breaks the promises; `None` if it was seen to keep them.
    pub fn unkept(&self) -> Option<Unkept> {
        if self.trials.choice.promises.is_empty() {
            return None;
        }
        let selected = &self.candidates[0];
        let trial = selected.measured();
        let why = match trial {
            Some(trial) if trial.verdict.keeps_all() => return None,
            Some(trial) => self.nearest(selected.name(), &trial.run),
            None => "no run was long enough to tell whether --slo is kept: nothing is written. Give more --budget, or more --time".into(),
        };
        Some(Unkept {
            why,
            policy: selected.name(),
            surely: trial.is_some_and(|trial| trial.verdict.surely_breaks),
            run: trial.map(|trial| trial.run.clone()),
        })
    }

    /// Describes how far the nearest policy is from the promises.
    fn nearest(&self, policy: &str, run: &Run) -> String {
        let unit = self.trials.workload.time_unit();
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        let lines = self.trials.seen(run).map(|(promise, seen)| {
            let kept = match seen.and_then(|w| Some((percent(1.0 - w.rough?), w.above))) {
                Some((_, Some(above))) => {
                    let (kept, error) = (percent(1.0 - above.mean), percent(above.half_width));
                    format!("{kept} ± {error} % of them do")
                }
                Some((rough, None)) => format!("{rough} % of them do, in short runs"),
                None => "runs were too short to tell".into(),
            };
            format!("{}: {kept}", promise.words(unit))
        });
        let lines: Vec<String> = lines.collect();
        format!(
            "no policy was found that keeps --slo; the nearest, {policy}:\n  {}\nNothing is written. Relax the target, reduce the load, add resources (--size finds how many), or raise --budget (now {:.0e})",
            lines.join("\n  "),
            self.trials.budget
        )
    }
}

/// Returns the least that the objective can be, since jobs are there while they run; 0 where that says nothing.
fn least(objective: Objective, workload: &Workload) -> f64 {
    let numbers = workload.types().iter().map(JobType::offered_load).collect();
    match objective {
        Objective::Mean | Objective::Weighted => Cost { numbers }.value(workload, objective),
        Objective::P99 => 0.0,
    }
}

/// Lets the interval reach what every rule has. Where arrivals and sizes are constant nothing varies from batch to batch, and
/// a window that ends in the midst of a period falls below it all the same; and so do a few jobs of sizes that vary much.
fn reaching(found: Estimate, least: f64) -> Estimate {
    Estimate {
        half_width: found.half_width.max(least - found.mean),
        ..found
    }
}

/// As many times as much as the first: runs of other lengths, on other arrivals and sizes, may
/// contradict the ratio of runs of the same.
fn product(first: &Estimate, ratio: &Estimate) -> Interval {
    let (own, of_ratio) = (ratio.mean * first.half_width, first.mean * ratio.half_width);
    Interval {
        mean: ratio.mean * first.mean,
        half_width: own.hypot(of_ratio),
    }
}

/// Returns the policy file with the program's proof of the load, the proof for its slots or its guard, and the results of a
/// run, if these are to be claimed.
pub(super) fn artifact(
    fleet: &Fleet,
    analysed: &Analysed,
    policy: &Family,
    run: Option<(&Run, Objective)>,
) -> Artifact {
    let slots = analysed.slots();
    let evidence = Evidence {
        simulation: run.map(|(run, _)| Simulation {
            seed: run.seed,
            replications: run.replications.len() as u32,
            events: run.events,
        }),
        ..evidence(analysed.solution(), false)
    };
    let (workload, mut own) = (fleet.envelope(), Vec::new());
    // With gangs it is a bound: whether a policy attains it is not known.
    if evidence.proven && fleet.gangs().next().is_none() {
        own.push(claims::load(workload, evidence.load));
    }
    let simulated = run.map(|(run, objective)| simulated(run, objective, workload));
    match (policy, slots) {
        (Family::Partition(_), Some(slots)) => {
            let numbers = slots.numbers.iter();
            own.extend(
                numbers.flat_map(|numbers| claims::of_numbers(workload, Method::ExactQbd, numbers)),
            );
        }
        (Family::Guarded(policy), _) => {
            own.extend(match (policy.guard.msr(), slots) {
                (Some(guard), _) => claims::of_guard(workload, guard),
                (None, slots) => {
                    claims::under_guard(workload, slots.map_or(&[][..], |slots| &slots.loads))
                }
            });
            own.extend(simulated.into_iter().flatten());
        }
        _ => own.extend(simulated.into_iter().flatten()),
    }
    Artifact::new(fleet.record(), policy.clone(), own, evidence)
}

/// The percentiles of waiting times.
const WAITS: [Quantity; 3] = [
    Quantity::WaitingP50,
    Quantity::WaitingP95,
    Quantity::WaitingP99,
];

/// Returns what a run measured, as claims.
fn simulated(run: &Run, objective: Objective, workload: &Workload) -> Vec<Claim> {
    let claimed = |quantity: Quantity, job_type: Option<&str>, own: Estimate| Claim {
        half_width: Some(own.half_width),
        ..Claim::new(
            quantity,
            Subject::of_type(job_type),
            (own.mean, workload.time_unit()),
            Method::Simulated,
            HoldsFor::default(),
        )
    };
    let claim = |quantity, job_type: Option<&str>, own: Option<Estimate>, least: f64| {
        let own = reaching(own?, least);
        // What is too rare to be measured is not claimed.
        (own.mean > 0.0 && own.half_width < own.mean).then(|| claimed(quantity, job_type, own))
    };
    // The record of the choice follows from responses as they were measured, and nothing from numbers. Where arrivals and
    // sizes are constant all that is unsure is what the ends of a replication cut off, a job or so.
    let number = |job_type: Option<&str>, own: Option<Estimate>, least: f64, cut: f64| {
        let claim = claim(Quantity::MeanNumber, job_type, own, least)?;
        Some(Claim {
            value: claim.value.max(least),
            half_width: claim.half_width.map(|own| own.max(cut)),
            ..claim
        })
    };
    let cut = |of: &TypeResult| {
        let at_ends = of.mean_number.map_or(0.0, |number| number.mean.min(1.0));
        at_ends * run.replications.len() as f64 / of.completions.max(1) as f64
    };
    let of_all = |quantity, of| {
        let least = least(of, workload);
        claim(quantity, None, measured(of, run).0, least)
    };
    let present = least(Objective::Mean, workload) * workload.total_arrival_rate();
    let ends = run.types.iter().map(cut).sum();
    let mut claims = vec![
        of_all(Quantity::MeanResponse, Objective::Mean),
        of_all(Quantity::WeightedResponse, Objective::Weighted),
        number(None, run.mean_number, present, ends),
    ];
    if objective == Objective::P99 {
        claims.push(of_all(Quantity::ResponseP99, Objective::P99));
    }
    for watched in &run.watched {
        let (quantity, time) = match watched.watch.threshold {
            Threshold::Waiting(time) => (Quantity::WaitingAbove, time),
            Threshold::Response(time) => (Quantity::ResponseAbove, time),
            Threshold::Number(_) => continue,
        };
        let own = &run.types[watched.watch.job_type];
        claims.push(watched.known(own).map(|above| Claim {
            half_width: Some(above.half_width),
            longer_than: Some(time),
            ..claimed(quantity, Some(&own.name), above)
        }));
    }
    let types = run.types.iter().zip(workload.types());
    for (own, kind) in types.filter(|(own, _)| own.completions >= DONE) {
        let (name, response, least) = (Some(kind.name()), own.mean_response, kind.mean_size());
        claims.push(claim(Quantity::MeanResponse, name, response, least));
        claims.push(number(name, own.mean_number, kind.offered_load(), cut(own)));
        let [responses, waits] = own.spread;
        // What is too rare to be measured is not claimed; that jobs hardly ever wait is.
        let is_known = |own: &Estimate| own.half_width < own.mean || own.half_width == 0.0;
        let percentiles = WAITS.into_iter().zip(waits);
        for (quantity, own) in percentiles.chain([(Quantity::ResponseP95, responses[1])]) {
            let known = own.filter(is_known);
            claims.push(known.map(|own| claimed(quantity, name, own)));
        }
    }
    claims.into_iter().flatten().collect()
}
