//! What is known of a policy, each number with its method and the conditions it holds under.

use rayon::prelude::*;

use super::{Options, PHASE_LIMIT, SynthesisError, queue_assumptions};
use crate::artifact::{ArrivalLaw, SizeLaw, Subject};
use crate::ctmc::{MEMORY, Survival};
use crate::multiresource::analysis::{AnalysisError, Cost, TypeLaw, TypeQueue, least_work};
use crate::multiresource::artifact::{
    Claim, Conditions, HoldsFor, Method, MsrPolicy, PERCENTILES, Preemption, Quantity,
};
use crate::multiresource::modulation::Modulation;
use crate::multiresource::program::Solution;
use crate::multiresource::workload::Workload;

/// Work that goes into the laws of all types at effort 1, roughly in nanoseconds.
pub(super) const LAWS: f64 = 1e10;

/// The part of it that goes into those of some types, where all are out of reach.
const SOME: f64 = 0.1;

/// Operations that go into the percentiles of one type at effort 1; of many types into those of all as much as into
/// those of so many.
const SURVIVAL: f64 = 5e8;
const MANY: f64 = 10.0;

/// A number of jobs is claimed that is exceeded at most this fraction of the time.
const RARE: f64 = 0.01;

/// How numbers were derived, and what they hold for.
struct Derivation {
    method: Method,
    holds_for: HoldsFor,
}

impl Derivation {
    /// Returns the claim of a number so derived, of a type or of all.
    fn claim(
        &self,
        workload: &Workload,
        quantity: Quantity,
        job_type: Option<usize>,
        value: f64,
    ) -> Claim {
        let subject = Subject::of_type(job_type.map(|i| workload.types()[i].name()));
        let value = (value, workload.time_unit());
        Claim::new(
            quantity,
            subject,
            value,
            self.method,
            self.holds_for.clone(),
        )
    }
}

/// Returns all claims; and of each type whose exact mean is out of reach, why.
pub(super) fn claims(
    workload: &Workload,
    options: &Options,
    policy: &MsrPolicy,
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

/// Returns the claim of a load that the program has proved.
pub(super) fn load(workload: &Workload, load: f64) -> Claim {
    let program = Derivation {
        method: Method::ExactProgram,
        holds_for: HoldsFor::default(),
    };
    program.claim(workload, Quantity::Load, None, load)
}

/// Returns what the mean numbers of jobs of the types say of a partition, in which each is a queue of its own.
pub(super) fn of_slots(workload: &Workload, numbers: &[f64]) -> Vec<Claim> {
    let law = Derivation {
        method: Method::ExactQbd,
        holds_for: memoryless(),
    };
    let types = workload.types().iter().zip(numbers).enumerate();
    let each = types.map(|(i, (kind, number))| (Some(i), kind.arrival_rate(), *number));
    let all = (None, workload.total_arrival_rate(), numbers.iter().sum());
    let both = |(of, rate, number): (Option<usize>, f64, f64)| {
        let response = number / rate;
        [
            law.claim(workload, Quantity::MeanNumber, of, number),
            law.claim(workload, Quantity::MeanResponse, of, response),
        ]
    };
    each.chain([all]).flat_map(both).collect()
}

/// Returns what makes a rule under a guard stable, whatever the rule: the loads while the guard is in charge.
pub(super) fn under_guard(workload: &Workload, loads: &[f64]) -> Vec<Claim> {
    let proof = Derivation {
        method: Method::ProofByGuard,
        holds_for: memoryless(),
    };
    let claim =
        |(i, load): (usize, &f64)| proof.claim(workload, Quantity::LoadUnderGuard, Some(i), *load);
    loads.iter().enumerate().map(claim).collect()
}

/// Returns the same of a guard with a loop.
pub(super) fn of_guard(workload: &Workload, guard: &MsrPolicy) -> Vec<Claim> {
    let modulation = Modulation::new(workload, guard, PHASE_LIMIT);
    let loads = modulation.map_or(Vec::new(), |modulation| modulation.loads(workload));
    under_guard(workload, &loads)
}

fn memoryless() -> HoldsFor {
    HoldsFor {
        sizes: Some(SizeLaw::Exponential),
        arrivals: Some(ArrivalLaw::Poisson),
        own: Conditions::default(),
    }
}

struct Claims<'a> {
    workload: &'a Workload,
    options: &'a Options,
    policy: &'a MsrPolicy,
    modulation: &'a Modulation,
    all: Vec<Claim>,
}

impl Claims<'_> {
    fn push(&mut self, own: &Derivation, quantity: Quantity, of: Option<usize>, value: f64) {
        self.all.push(own.claim(self.workload, quantity, of, value));
    }

    /// Adds what the modulating chain and its law say. It waits for completions without preemption, and
    /// never for arrivals: empty slots keep their clocks.
    fn chain(&mut self) {
        let drains = self.policy.preemption == Preemption::None;
        let of_method = |method| Derivation {
            method,
            holds_for: HoldsFor {
                sizes: drains.then_some(SizeLaw::Exponential),
                arrivals: None,
                own: Conditions::analysed(),
            },
        };
        let law = &of_method(Method::ExactStationaryLaw);
        let modulation = self.modulation;
        self.push(law, Quantity::WorkingTime, None, modulation.working_time());
        let frequency = modulation.switching_frequency();
        self.push(law, Quantity::SwitchingFrequency, None, frequency);
        let largest = modulation.largest_stable_rate(self.workload);
        if largest.is_finite() {
            let round = &of_method(Method::ExactRenewalReward);
            self.push(round, Quantity::LargestStableSwitchingRate, None, largest);
        }
        for (i, load) in modulation.loads(self.workload).into_iter().enumerate() {
            let slots = modulation.mean_schedule()[i];
            self.push(law, Quantity::MeanSchedule, Some(i), slots);
            self.push(law, Quantity::Load, Some(i), load);
        }
    }

    fn type_queue(&self, i: usize) -> TypeQueue<'_> {
        TypeQueue::new(self.workload, self.modulation, self.policy.preemption, i)
    }

    /// Adds means, rare numbers and percentiles of each type, or bounds where these are out of reach; and
    /// what follows for all types. Returns what was out of reach.
    fn queues(&mut self) -> Result<Vec<AnalysisError>, SynthesisError> {
        let (mut out_of_reach, mut numbers) = (Vec::new(), Vec::new());
        for (i, queue) in self.exact_queues().into_iter().enumerate() {
            match queue {
                Ok((number, claims)) => {
                    numbers.push(Some(number));
                    self.all.extend(claims);
                }
                Err(error @ AnalysisError::Unstable { .. }) => return Err(error.into()),
                Err(error) => {
                    numbers.push(self.bounds(i));
                    out_of_reach.push(error);
                }
            }
        }
        let numbers: Option<Vec<f64>> = numbers.into_iter().collect();
        if let Some(numbers) = numbers {
            self.totals(&Cost { numbers }, out_of_reach.is_empty());
        }
        Ok(out_of_reach)
    }

    /// Returns the work that each type may take: any, if that of all types is within the effort; else for
    /// those that are cheapest.
    fn budgets(&self) -> Vec<f64> {
        let all = self.options.work(LAWS);
        let types = self.workload.types().len();
        // To tell their work would take as long.
        if least_work(self.workload, self.modulation) > SOME * all {
            return vec![0.0; types];
        }
        let works: Vec<f64> = (0..types).map(|i| self.type_queue(i).work()).collect();
        let mut order: Vec<usize> = (0..works.len()).collect();
        order.sort_by(|a, b| works[*a].total_cmp(&works[*b]));
        let is_enough = works.iter().sum::<f64>() <= all;
        let mut left = if is_enough { all } else { SOME * all };
        let mut budgets = vec![0.0; works.len()];
        for i in order {
            left -= works[i];
            if left >= 0.0 {
                budgets[i] = f64::INFINITY;
            }
        }
        budgets
    }

    /// Analyses the types, as many side by side as memory suffices for.
    fn exact_queues(&self) -> Vec<Result<(f64, Vec<Claim>), AnalysisError>> {
        let budgets: Vec<(usize, f64)> = self.budgets().into_iter().enumerate().collect();
        let tried = budgets.iter().filter(|(_, budget)| *budget > 0.0);
        let numbers = tried.map(|(i, _)| self.type_queue(*i).numbers());
        let most = numbers.fold(1.0, f64::max);
        let groups = budgets.chunks((MEMORY / most).max(1.0) as usize);
        let of_group = |group: &[(usize, f64)]| -> Vec<_> {
            let queues = group.par_iter();
            let exact = queues.map(|(i, budget)| self.exact_queue(*i, *budget));
            exact.collect()
        };
        groups.flat_map(of_group).collect()
    }

    /// Returns the mean number of type i, and that and what else its queue says as claims.
    fn exact_queue(&self, i: usize, budget: f64) -> Result<(f64, Vec<Claim>), AnalysisError> {
        let kind = &self.workload.types()[i];
        let exact = &self.of_queues(Method::ExactQbd, Some(i));
        let queue = self.type_queue(i);
        let law = queue.law(budget)?;
        let number = match &law {
            Some(law) => law.mean_number(),
            None => queue.mean_number(budget)?,
        };
        let response = number / kind.arrival_rate();
        let claim = |quantity, value| exact.claim(self.workload, quantity, Some(i), value);
        let mut claims = vec![
            claim(Quantity::MeanNumber, number),
            claim(Quantity::MeanResponse, response),
        ];
        if let Some(law) = law {
            claims.extend(self.distribution(&queue, law, &claim));
        }
        Ok((number, claims))
    }

    /// Adds what the mean numbers of the types say of all jobs; an approximation where one of them is.
    fn totals(&mut self, cost: &Cost, exact: bool) {
        let response = cost.mean_response(self.workload);
        if !exact {
            let guess = &self.of_queues(Method::ApproximationQueueLength, None);
            return self.push(guess, Quantity::MeanResponse, None, response);
        }
        let (own, number) = (
            &self.of_queues(Method::ExactQbd, None),
            cost.numbers.iter().sum(),
        );
        let weighted = cost.weighted_response(self.workload);
        self.push(own, Quantity::MeanNumber, None, number);
        self.push(own, Quantity::MeanResponse, None, response);
        self.push(own, Quantity::WeightedResponse, None, weighted);
    }

    /// Returns a number that is rarely exceeded, and percentiles of the response time.
    fn distribution(
        &self,
        queue: &TypeQueue<'_>,
        law: TypeLaw,
        claim: &dyn Fn(Quantity, f64) -> Claim,
    ) -> Vec<Claim> {
        let mut claims = Vec::new();
        if let Some((at, above)) = law.rarely_above(RARE) {
            claims.push(Claim {
                at: Some(at),
                ..claim(Quantity::NumberAbove, above)
            });
        }
        let share = (MANY / self.workload.types().len() as f64).min(1.0);
        let budget = self.options.work(share * SURVIVAL);
        let survival: Option<Survival> = queue.survival(law, budget);
        let quantities = [
            Quantity::ResponseP50,
            Quantity::ResponseP95,
            Quantity::ResponseP99,
        ];
        for (quantity, p) in quantities.into_iter().zip(PERCENTILES) {
            let time = survival.as_ref().map(|s| s.percentile(p));
            claims.extend(time.map(|time| claim(quantity, time)));
        }
        claims
    }

    /// Adds theorem 8 and section 6.4 for type i; returns the approximation. They are for exponential sizes, and
    /// preemption lets other laws in: `None` for these.
    fn bounds(&mut self, i: usize) -> Option<f64> {
        let kind = &self.workload.types()[i];
        if self.policy.preemption != Preemption::None && !kind.holding().is_exponential() {
            return None;
        }
        let bounds = self.type_queue(i).bounds();
        let guess = &self.of_queues(Method::ApproximationQueueLength, Some(i));
        let bound = &self.of_queues(Method::BoundRelativeCompletions, Some(i));
        // Those that serve are there, too.
        let least = bounds.lower.max(kind.offered_load());
        self.push(guess, Quantity::MeanNumber, Some(i), bounds.approximation);
        self.push(bound, Quantity::MeanNumberAtLeast, Some(i), least);
        self.push(bound, Quantity::MeanNumberAtMost, Some(i), bounds.upper);
        Some(bounds.approximation)
    }

    /// Returns how the queue of a type, or those of all, are analysed; an approximation holds whatever the laws are.
    fn of_queues(&self, method: Method, job_type: Option<usize>) -> Derivation {
        let all = self.workload.types();
        let types = job_type.map_or(all, |i| &all[i..=i]);
        let holds_for = if method == Method::ApproximationQueueLength {
            HoldsFor {
                own: Conditions::analysed(),
                ..HoldsFor::default()
            }
        } else {
            queue_assumptions(self.policy.preemption, types)
        };
        Derivation { method, holds_for }
    }
}
