//! The claims of a policy: numbers with their method and conditions.

use rayon::prelude::*;

use super::{SynthesisError, SynthesisOptions};
use crate::analysis::{AnalysisError, TypeQueue, least_work, mean_response, weighted_response};
use crate::modulation::Modulation;
use crate::program::Solution;
use synth_core::artifact::{ArrivalAssumption, SizeAssumption, Subject};
use synth_multiresource::artifact::{
    Claim, Conditions, HoldsFor, Method, MsrConfig, PERCENTILES, Preemption, Quantity,
};
use synth_multiresource::workload::{JobType, Workload};
use synth_queues::ctmc::MEMORY_LIMIT;

/// The work for the distributions of all types at an effort of 1, roughly in nanoseconds.
pub(super) const DISTRIBUTIONS: f64 = 1e10;

/// The fraction of this work for some of the types, if all types need too much.
const SOME: f64 = 0.1;

/// The operations for the percentiles of a type at an effort of 1, for at most `MANY` types.
const SURVIVAL: f64 = 5e8;
const MANY: f64 = 10.0;

/// The maximum fraction of time in which the claimed number of jobs is exceeded.
const RARE: f64 = 0.01;

type Derivation = (Method, HoldsFor);

pub(super) fn claim(
    workload: &Workload,
    (method, holds_for): &Derivation,
    quantity: Quantity,
    job_type: Option<usize>,
    value: f64,
) -> Claim {
    let subject = Subject::of_type(job_type.map(|i| workload.types()[i].name()));
    let value = (value, workload.time_unit());
    Claim::new(quantity, subject, value, *method, holds_for.clone())
}

/// Returns all claims, and why the exact means of some types are out of reach.
pub(super) fn claims(
    workload: &Workload,
    options: &SynthesisOptions,
    policy: &MsrConfig,
    modulation: &Modulation,
    solution: &Solution,
) -> Result<(Vec<Claim>, Vec<AnalysisError>), SynthesisError> {
    let mut claims = Claims {
        workload,
        options,
        policy,
        modulation,
        all: Vec::new(),
    };
    if solution.certificate.proven() {
        claims.all.push(load(workload, solution.certificate.load));
    }
    claims.chain();
    let out_of_reach = claims.queues()?;
    Ok((claims.all, out_of_reach))
}

pub(super) fn load(workload: &Workload, load: f64) -> Claim {
    let program = &(Method::ExactProgram, HoldsFor::default());
    claim(workload, program, Quantity::Load, None, load)
}

/// Returns the claims from mean numbers (K), for Poisson arrivals and exponential sizes.
pub(super) fn of_numbers(workload: &Workload, method: Method, numbers: &[f64]) -> Vec<Claim> {
    let exact = &memoryless(method);
    let types = workload.types().iter().zip(numbers).enumerate();
    let each = types.map(|(i, (kind, number))| (Some(i), kind.arrival_rate(), *number));
    let all = (None, workload.total_arrival_rate(), numbers.iter().sum());
    let both = |(of, rate, number): (Option<usize>, f64, f64)| {
        [
            claim(workload, exact, Quantity::MeanNumber, of, number),
            claim(workload, exact, Quantity::MeanResponse, of, number / rate),
        ]
    };
    each.chain([all]).flat_map(both).collect()
}

/// Returns the load of each type under a guard. The guarded rule is stable because of these loads.
pub(super) fn under_guard(workload: &Workload, loads: &[f64]) -> Vec<Claim> {
    let proof = &memoryless(Method::ProofByGuard);
    let own =
        |(i, load): (usize, &f64)| claim(workload, proof, Quantity::LoadUnderGuard, Some(i), *load);
    loads.iter().enumerate().map(own).collect()
}

fn memoryless(method: Method) -> Derivation {
    let holds_for = HoldsFor {
        sizes: Some(SizeAssumption::Exponential),
        arrivals: Some(ArrivalAssumption::Poisson),
        own: Conditions::default(),
    };
    (method, holds_for)
}

struct Claims<'a> {
    workload: &'a Workload,
    options: &'a SynthesisOptions,
    policy: &'a MsrConfig,
    modulation: &'a Modulation,
    all: Vec<Claim>,
}

impl Claims<'_> {
    fn push(&mut self, own: &Derivation, quantity: Quantity, of: Option<usize>, value: f64) {
        self.all
            .push(claim(self.workload, own, quantity, of, value));
    }

    /// Adds the claims of the modulating chain. Without preemption, it waits for completions, but
    /// never for arrivals, because empty slots keep their clocks.
    fn chain(&mut self) {
        let drains = self.policy.preemption == Preemption::None;
        let holds_for = HoldsFor {
            sizes: drains.then_some(SizeAssumption::Exponential),
            arrivals: None,
            own: Conditions::analysed(),
        };
        let of_method = |method| (method, holds_for.clone());
        let stationary = &of_method(Method::ExactStationaryLaw);
        let modulation = self.modulation;
        let (working, frequency) = (modulation.working_time, modulation.switching_frequency());
        self.push(stationary, Quantity::WorkingTime, None, working);
        self.push(stationary, Quantity::SwitchingFrequency, None, frequency);
        let largest = modulation.largest_stable_rate(self.workload);
        if largest.is_finite() {
            let round = &of_method(Method::ExactRenewalReward);
            self.push(round, Quantity::LargestStableSwitchingRate, None, largest);
        }
        for (i, load) in modulation.loads(self.workload).into_iter().enumerate() {
            let slots = modulation.mean_schedule[i];
            self.push(stationary, Quantity::MeanSchedule, Some(i), slots);
            self.push(stationary, Quantity::Load, Some(i), load);
        }
    }

    fn type_queue(&self, i: usize) -> TypeQueue<'_> {
        TypeQueue::new(self.workload, self.modulation, self.policy.preemption, i)
    }

    /// Adds exact results or bounds of each type, and totals; returns what was out of reach.
    fn queues(&mut self) -> Result<Vec<AnalysisError>, SynthesisError> {
        let (mut out_of_reach, mut numbers) = (Vec::new(), Vec::new());
        for (i, queue) in self.exact_queues().into_iter().enumerate() {
            numbers.push(match queue {
                Ok((number, claims)) => {
                    self.all.extend(claims);
                    if self.options.bounds {
                        self.bounds(i, false);
                    }
                    Some(number)
                }
                Err(error @ AnalysisError::Unstable(_)) => return Err(error.into()),
                Err(error) => {
                    out_of_reach.push(error);
                    self.bounds(i, true)
                }
            });
        }
        if let Some(numbers) = numbers.into_iter().collect::<Option<Vec<f64>>>() {
            self.totals(&numbers, out_of_reach.is_empty());
        }
        Ok(out_of_reach)
    }

    /// Returns the budget of each type. If the effort is too low, only the cheapest types have one.
    fn budgets(&self) -> Vec<f64> {
        let all = self.options.work(DISTRIBUTIONS);
        let types = self.workload.types().len();
        // Even an estimate of the work would take too long.
        if least_work(self.workload, self.modulation) > SOME * all {
            return vec![0.0; types];
        }
        let work = |i: usize| (i, self.type_queue(i).work());
        let mut works: Vec<(usize, f64)> = (0..types).map(work).collect();
        let is_enough = works.iter().map(|(_, work)| work).sum::<f64>() <= all;
        works.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut left = if is_enough { all } else { SOME * all };
        let mut budgets = vec![0.0; types];
        for (i, work) in works {
            left -= work;
            if left >= 0.0 {
                budgets[i] = f64::INFINITY;
            }
        }
        budgets
    }

    /// Analyses types in parallel, as far as memory allows.
    fn exact_queues(&self) -> Vec<Result<(f64, Vec<Claim>), AnalysisError>> {
        let budgets: Vec<(usize, f64)> = self.budgets().into_iter().enumerate().collect();
        let tried = budgets.iter().filter(|(_, budget)| *budget > 0.0);
        let numbers = tried.map(|(i, _)| self.type_queue(*i).numbers());
        let most = numbers.fold(1.0, f64::max);
        let mut exact = Vec::new();
        for group in budgets.chunks((MEMORY_LIMIT / most).max(1.0) as usize) {
            let queues = group.par_iter();
            exact.par_extend(queues.map(|(i, budget)| self.exact_queue(*i, *budget)));
        }
        exact
    }

    fn exact_queue(&self, i: usize, budget: f64) -> Result<(f64, Vec<Claim>), AnalysisError> {
        let exact = &self.of_queues(Method::ExactQbd, Some(i));
        let claim = |quantity, value| claim(self.workload, exact, quantity, Some(i), value);
        let queue = self.type_queue(i);
        let numbers = queue.distribution(budget)?;
        let number = numbers.mean_number();
        let response = number / self.workload.types()[i].arrival_rate();
        let mut claims = vec![
            claim(Quantity::MeanNumber, number),
            claim(Quantity::MeanResponse, response),
        ];
        claims.extend(numbers.rarely_above(RARE).map(|(at, above)| Claim {
            at: Some(at),
            ..claim(Quantity::NumberAbove, above)
        }));
        let share = (MANY / self.workload.types().len() as f64).min(1.0);
        if let Some(survival) = queue.survival(numbers, self.options.work(share * SURVIVAL)) {
            let [p50, p95, p99] = PERCENTILES.map(|p| survival.percentile(p));
            claims.extend([
                claim(Quantity::ResponseP50, p50),
                claim(Quantity::ResponseP95, p95),
                claim(Quantity::ResponseP99, p99),
            ]);
        }
        Ok((number, claims))
    }

    /// Adds the claims for all jobs, or an approximation if one of the numbers is only that.
    fn totals(&mut self, numbers: &[f64], exact: bool) {
        let response = mean_response(numbers, self.workload);
        if !exact {
            let guess = &self.of_queues(Method::ApproximationQueueLength, None);
            return self.push(guess, Quantity::MeanResponse, None, response);
        }
        let own = &self.of_queues(Method::ExactQbd, None);
        self.push(own, Quantity::MeanNumber, None, numbers.iter().sum());
        self.push(own, Quantity::MeanResponse, None, response);
        let weighted = weighted_response(numbers, self.workload);
        self.push(own, Quantity::WeightedResponse, None, weighted);
    }

    /// Adds the bounds of theorem 8 and, as a `guess`, the approximation of section 6.4, which is
    /// returned. With preemption, they are only for exponential sizes, and otherwise `None`.
    fn bounds(&mut self, i: usize, guess: bool) -> Option<f64> {
        let kind = &self.workload.types()[i];
        if self.policy.preemption != Preemption::None && !kind.holding_time().is_exponential() {
            return None;
        }
        let bounds = self.type_queue(i).bounds();
        if guess {
            let own = &self.of_queues(Method::ApproximationQueueLength, Some(i));
            self.push(own, Quantity::MeanNumber, Some(i), bounds.approximation);
        }
        let bound = &self.of_queues(Method::BoundRelativeCompletions, Some(i));
        // The jobs in service are in the system, too.
        let least = bounds.lower.max(kind.offered_load());
        self.push(bound, Quantity::MeanNumberAtLeast, Some(i), least);
        self.push(bound, Quantity::MeanNumberAtMost, Some(i), bounds.upper);
        Some(bounds.approximation)
    }

    /// Returns the method and the conditions. An approximation has none on the distributions.
    /// Otherwise, the arrivals are Poisson and the sizes exponential or, with preemption, of phase
    /// type. Without preemption, the service of a type depends on the completions of the other
    /// types.
    fn of_queues(&self, method: Method, job_type: Option<usize>) -> Derivation {
        let all = self.workload.types();
        let staged = |kind: &JobType| {
            let size = kind.holding_time();
            !size.is_exponential() && size.phases().is_some()
        };
        let types = job_type.map_or(all, |i| &all[i..=i]);
        let is_followed = self.policy.preemption != Preemption::None;
        let sizes = match is_followed && types.iter().any(staged) {
            true => SizeAssumption::PhaseType,
            false => SizeAssumption::Exponential,
        };
        let is_exact = method != Method::ApproximationQueueLength;
        let holds_for = HoldsFor {
            sizes: is_exact.then_some(sizes),
            arrivals: is_exact.then_some(ArrivalAssumption::Poisson),
            own: Conditions::analysed(),
        };
        (method, holds_for)
    }
}
