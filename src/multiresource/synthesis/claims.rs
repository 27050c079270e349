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
use crate::multiresource::workload::{JobType, Workload};

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

/// All claims; and of each type whose exact mean is out of reach, why.
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
        let load = solution.certificate.load;
        let method = Method::ExactProgram;
        claims.push(Quantity::Load, None, load, method, &HoldsFor::default());
    }
    claims.chain();
    let out_of_reach = claims.queues()?;
    Ok((claims.all, out_of_reach))
}

/// What makes a rule under this guard stable, whatever the rule: the loads while the guard is in charge.
pub(super) fn of_guard(workload: &Workload, guard: &MsrPolicy) -> Vec<Claim> {
    let modulation = Modulation::new(workload, guard, PHASE_LIMIT);
    let loads = modulation.map_or(Vec::new(), |modulation| modulation.loads(workload));
    let holds_for = HoldsFor {
        sizes: Some(SizeLaw::Exponential),
        arrivals: Some(ArrivalLaw::Poisson),
        own: Conditions::default(),
    };
    let claim = |(kind, load): (&JobType, f64)| {
        let subject = Subject::of_type(Some(kind.name()));
        let value = (load, workload.time_unit());
        let quantity = Quantity::LoadUnderGuard;
        Claim::new(
            quantity,
            subject,
            value,
            Method::ProofByGuard,
            holds_for.clone(),
        )
    };
    workload.types().iter().zip(loads).map(claim).collect()
}

struct Claims<'a> {
    workload: &'a Workload,
    options: &'a Options,
    policy: &'a MsrPolicy,
    modulation: &'a Modulation,
    all: Vec<Claim>,
}

impl Claims<'_> {
    fn claim(
        &self,
        quantity: Quantity,
        job_type: Option<usize>,
        value: f64,
        method: Method,
        holds_for: &HoldsFor,
    ) -> Claim {
        let name = job_type.map(|i| self.workload.types()[i].name());
        let value = (value, self.workload.time_unit());
        let subject = Subject::of_type(name);
        Claim::new(quantity, subject, value, method, holds_for.clone())
    }

    fn push(
        &mut self,
        quantity: Quantity,
        job_type: Option<usize>,
        value: f64,
        method: Method,
        holds_for: &HoldsFor,
    ) {
        let claim = self.claim(quantity, job_type, value, method, holds_for);
        self.all.push(claim);
    }

    /// What the modulating chain and its law say. It waits for completions without preemption, and
    /// never for arrivals: empty slots keep their clocks.
    fn chain(&mut self) {
        let drains = self.policy.preemption == Preemption::None;
        let holds_for = &HoldsFor {
            sizes: drains.then_some(SizeLaw::Exponential),
            arrivals: None,
            own: Conditions::analysed(),
        };
        let law = Method::ExactStationaryLaw;
        let working = self.modulation.working_time();
        self.push(Quantity::WorkingTime, None, working, law, holds_for);
        let frequency = self.modulation.switching_frequency();
        self.push(
            Quantity::SwitchingFrequency,
            None,
            frequency,
            law,
            holds_for,
        );
        let largest = self.modulation.largest_stable_rate(self.workload);
        if largest.is_finite() {
            let (quantity, method) = (
                Quantity::LargestStableSwitchingRate,
                Method::ExactRenewalReward,
            );
            self.push(quantity, None, largest, method, holds_for);
        }
        let loads = self.modulation.loads(self.workload);
        for (i, load) in loads.into_iter().enumerate() {
            let slots = self.modulation.mean_schedule()[i];
            self.push(Quantity::MeanSchedule, Some(i), slots, law, holds_for);
            self.push(Quantity::Load, Some(i), load, law, holds_for);
        }
    }

    fn type_queue(&self, i: usize) -> TypeQueue<'_> {
        TypeQueue::new(self.workload, self.modulation, self.policy.preemption, i)
    }

    /// Means, rare numbers and percentiles of each type, or bounds where these are out of reach; and
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

    /// The work that each type may take: any, if that of all types is within the effort; else for
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
        let mut left = match works.iter().sum::<f64>() <= all {
            true => all,
            false => SOME * all,
        };
        let mut budgets = vec![0.0; works.len()];
        for i in order {
            left -= works[i];
            if left >= 0.0 {
                budgets[i] = f64::INFINITY;
            }
        }
        budgets
    }

    /// By type, as many side by side as memory suffices for.
    fn exact_queues(&self) -> Vec<Result<(f64, Vec<Claim>), AnalysisError>> {
        let budgets: Vec<(usize, f64)> = self.budgets().into_iter().enumerate().collect();
        let tried = budgets.iter().filter(|(_, budget)| *budget > 0.0);
        let numbers = tried.map(|(i, _)| self.type_queue(*i).numbers());
        let most = numbers.fold(1.0, f64::max);
        let groups = budgets.chunks((MEMORY / most).max(1.0) as usize);
        let of_group = |group: &[(usize, f64)]| -> Vec<_> {
            let queues = group.par_iter();
            queues
                .map(|(i, budget)| self.exact_queue(*i, *budget))
                .collect()
        };
        groups.flat_map(of_group).collect()
    }

    /// The mean number of type i, and that and what else its queue says as claims.
    fn exact_queue(&self, i: usize, budget: f64) -> Result<(f64, Vec<Claim>), AnalysisError> {
        let kind = &self.workload.types()[i];
        let holds_for = &self.assumptions(std::slice::from_ref(kind));
        let queue = self.type_queue(i);
        let law = queue.law(budget)?;
        let number = match &law {
            Some(law) => law.mean_number(),
            None => queue.mean_number(budget)?,
        };
        let values = [
            (Quantity::MeanNumber, number),
            (Quantity::MeanResponse, number / kind.arrival_rate()),
        ];
        let exact = Method::ExactQbd;
        let mut claims = values
            .map(|(q, v)| self.claim(q, Some(i), v, exact, holds_for))
            .to_vec();
        if let Some(law) = law {
            claims.extend(self.distribution(i, &queue, law, holds_for));
        }
        Ok((number, claims))
    }

    /// What the mean numbers of the types say of all jobs; an approximation where one of them is.
    fn totals(&mut self, cost: &Cost, exact: bool) {
        let response = cost.mean_response(self.workload);
        if !exact {
            let approximate = &self.approximate();
            let method = Method::ApproximationQueueLength;
            self.push(Quantity::MeanResponse, None, response, method, approximate);
            return;
        }
        let holds_for = &self.assumptions(self.workload.types());
        for (quantity, value) in [
            (Quantity::MeanNumber, cost.numbers.iter().sum()),
            (Quantity::MeanResponse, response),
            (
                Quantity::WeightedResponse,
                cost.weighted_response(self.workload),
            ),
        ] {
            self.push(quantity, None, value, Method::ExactQbd, holds_for);
        }
    }

    /// A number that is rarely exceeded, and percentiles of the response time.
    fn distribution(
        &self,
        i: usize,
        queue: &TypeQueue<'_>,
        law: TypeLaw,
        holds_for: &HoldsFor,
    ) -> Vec<Claim> {
        let claim =
            |quantity, value| self.claim(quantity, Some(i), value, Method::ExactQbd, holds_for);
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

    /// Theorem 8 and section 6.4 for type i; the approximation. They are for exponential sizes, and
    /// preemption lets other laws in: `None` for these.
    fn bounds(&mut self, i: usize) -> Option<f64> {
        let kind = &self.workload.types()[i];
        if self.policy.preemption != Preemption::None && !kind.holding().is_exponential() {
            return None;
        }
        let bounds = self.type_queue(i).bounds();
        let bounded = &self.assumptions(std::slice::from_ref(kind));
        // Those that serve are there, too.
        let least = bounds.lower.max(kind.offered_load());
        let (approximation, bound) = (
            Method::ApproximationQueueLength,
            Method::BoundRelativeCompletions,
        );
        let (mean, at_least, at_most) = (
            Quantity::MeanNumber,
            Quantity::MeanNumberAtLeast,
            Quantity::MeanNumberAtMost,
        );
        let approximate = &self.approximate();
        let middle = bounds.approximation;
        self.push(mean, Some(i), middle, approximation, approximate);
        self.push(at_least, Some(i), least, bound, bounded);
        self.push(at_most, Some(i), bounds.upper, bound, bounded);
        Some(middle)
    }

    /// What an approximation holds for.
    fn approximate(&self) -> HoldsFor {
        HoldsFor {
            own: Conditions::analysed(),
            ..HoldsFor::default()
        }
    }

    /// What is assumed where the queues of these types are analysed.
    fn assumptions(&self, types: &[JobType]) -> HoldsFor {
        queue_assumptions(self.policy.preemption, types)
    }
}
