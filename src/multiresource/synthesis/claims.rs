//! What is known of a policy, each number with its method and the conditions it holds under.

use super::{Options, SynthesisError, all_exponential, exact_method, queue_method};
use crate::ctmc::Survival;
use crate::multiresource::analysis::{AnalysisError, TypeLaw, TypeQueue};
use crate::multiresource::artifact::{
    Backfill, Claim, Conditions, EmptySlots, Method, MsrPolicy, Preemption, Quantity, SizeLaw,
};
use crate::multiresource::modulation::Modulation;
use crate::multiresource::program::Solution;
use crate::multiresource::workload::{JobType, Workload};

/// Work that goes into the laws of all types at effort 1, roughly in nanoseconds.
const LAWS: f64 = 1e10;

/// Operations that go into the percentiles of one type at effort 1.
const PERCENTILES: f64 = 5e8;

/// A number of jobs is claimed that is exceeded at most this fraction of the time.
const RARE: f64 = 0.01;

/// All claims; and where the exact means are out of reach, why.
pub(super) fn claims(
    workload: &Workload,
    options: &Options,
    policy: &MsrPolicy,
    modulation: &Modulation,
    solution: &Solution,
) -> Result<(Vec<Claim>, Option<AnalysisError>), SynthesisError> {
    let mut claims = Claims {
        workload,
        options,
        policy,
        modulation,
        all: Vec::new(),
    };
    if solution.certificate.proven() {
        claims.all.push(Claim {
            holds_for: Conditions::default(),
            ..claims.of_policy(
                Quantity::Load,
                solution.certificate.load,
                Method::ExactProgram,
            )
        });
    }
    claims.chain();
    let out_of_reach = match claims.exact_queues() {
        Ok(()) => None,
        Err(error @ AnalysisError::Unstable { .. }) => return Err(error.into()),
        Err(error) => {
            claims.bounds();
            Some(error)
        }
    };
    Ok((claims.all, out_of_reach))
}

struct Claims<'a> {
    workload: &'a Workload,
    options: &'a Options,
    policy: &'a MsrPolicy,
    modulation: &'a Modulation,
    all: Vec<Claim>,
}

impl Claims<'_> {
    /// The method of what follows from the modulating chain alone, which waits for completions
    /// without preemption, and for arrivals never: empty slots keep their clocks.
    fn of_chain(&self, method: Method) -> Method {
        let drains = self.policy.preemption == Preemption::None;
        match drains && !all_exponential(self.workload) {
            true => Method::ApproximationExponentialSizes,
            false => method,
        }
    }

    /// The method of what follows from the queue of a type.
    fn of_queue(&self, kind: &JobType, method: Method) -> Method {
        let types = std::slice::from_ref(kind);
        match queue_method(self.workload, self.policy.preemption, types) {
            Method::ExactQbd => method,
            approximate => approximate,
        }
    }

    fn of_policy(&self, quantity: Quantity, value: f64, method: Method) -> Claim {
        // Only where routes are made of completions does the chain depend on sizes.
        let drains = self.policy.preemption == Preemption::None;
        let exponential = drains && method.is_exact();
        Claim {
            quantity,
            job_type: None,
            at: None,
            value,
            half_width: None,
            unit: quantity.unit(self.workload.time_unit()),
            method,
            holds_for: Conditions {
                empty_slots: Some(EmptySlots::Phantom),
                backfill: Some(Backfill::None),
                sizes: exponential.then_some(SizeLaw::Exponential),
                routing: None,
            },
        }
    }

    fn of_type(&self, i: usize, quantity: Quantity, value: f64, method: Method) -> Claim {
        Claim {
            job_type: Some(self.workload.types()[i].name().into()),
            ..self.of_policy(quantity, value, method)
        }
    }

    fn push(&mut self, quantity: Quantity, value: f64, method: Method) {
        let claim = self.of_policy(quantity, value, method);
        self.all.push(claim);
    }

    /// What the modulating chain and its law say.
    fn chain(&mut self) {
        let law = self.of_chain(Method::ExactStationaryLaw);
        self.push(Quantity::WorkingTime, self.modulation.working_time(), law);
        let frequency = self.modulation.switching_frequency();
        self.push(Quantity::SwitchingFrequency, frequency, law);
        let largest = self.modulation.largest_stable_rate(self.workload);
        if largest.is_finite() {
            let method = self.of_chain(Method::ExactRenewalReward);
            self.push(Quantity::LargestStableSwitchingRate, largest, method);
        }
        let loads = self.modulation.loads(self.workload);
        for (i, load) in loads.into_iter().enumerate() {
            let slots = self.modulation.mean_schedule()[i];
            let claim = self.of_type(i, Quantity::MeanSchedule, slots, law);
            self.all.push(claim);
            let claim = self.of_type(i, Quantity::Load, load, law);
            self.all.push(claim);
        }
    }

    /// What depends on the queue holds for the law of sizes that was analysed.
    fn for_sizes(&self, claim: Claim, exponential: bool) -> Claim {
        let law = match exponential {
            true => SizeLaw::Exponential,
            false => SizeLaw::PhaseType,
        };
        // An approximation is one whatever the law.
        let known = claim.method.is_exact() || claim.method == Method::BoundRelativeCompletions;
        Claim {
            holds_for: Conditions {
                sizes: known.then_some(law),
                ..claim.holds_for
            },
            ..claim
        }
    }

    fn type_queue(&self, i: usize) -> TypeQueue<'_> {
        TypeQueue::new(self.workload, self.modulation, self.policy.preemption, i)
    }

    /// Means, rare numbers and percentiles of all types; none where one type is out of reach.
    fn exact_queues(&mut self) -> Result<(), AnalysisError> {
        let types = self.workload.types().len();
        let budget = self.options.effort * LAWS;
        let work: f64 = (0..types).map(|i| self.type_queue(i).work()).sum();
        let each = if work <= budget { f64::INFINITY } else { 0.0 };
        let mut claims = Vec::new();
        let mut total = 0.0;
        let mut weighted = 0.0;
        let shares = self.workload.load_shares();
        for (i, share) in shares.iter().enumerate() {
            let queue = self.type_queue(i);
            let kind = &self.workload.types()[i];
            let method = self.of_queue(kind, Method::ExactQbd);
            let law = queue.law(each)?;
            let number = match &law {
                Some(law) => law.mean_number,
                None => queue.mean_number(each)?,
            };
            let response = number / kind.arrival_rate();
            (total, weighted) = (total + number, weighted + share * response);
            let mut of_type = vec![
                self.of_type(i, Quantity::MeanNumber, number, method),
                self.of_type(i, Quantity::MeanResponse, response, method),
            ];
            if let Some(law) = &law {
                of_type.extend(self.distribution(i, &queue, law, method));
            }
            let exponential = kind.size().is_exponential();
            claims.extend(of_type.into_iter().map(|c| self.for_sizes(c, exponential)));
        }
        let response = total / self.workload.total_arrival_rate();
        let method = exact_method(self.workload, self.policy.preemption);
        for (quantity, value) in [
            (Quantity::MeanNumber, total),
            (Quantity::MeanResponse, response),
            (Quantity::WeightedResponse, weighted),
        ] {
            let claim = self.of_policy(quantity, value, method);
            claims.push(self.for_sizes(claim, all_exponential(self.workload)));
        }
        self.all.extend(claims);
        Ok(())
    }

    /// A number that is rarely exceeded, and percentiles of the response time.
    fn distribution(
        &self,
        i: usize,
        queue: &TypeQueue<'_>,
        law: &TypeLaw,
        method: Method,
    ) -> Vec<Claim> {
        let mut claims = Vec::new();
        if let Some((at, above)) = law.rarely_above(RARE) {
            claims.push(Claim {
                at: Some(at),
                ..self.of_type(i, Quantity::NumberAbove, above, method)
            });
        }
        let budget = self.options.effort * PERCENTILES;
        let survival: Option<Survival> = queue.survival(law, budget);
        for (quantity, p) in [
            (Quantity::ResponseP50, 0.5),
            (Quantity::ResponseP95, 0.95),
            (Quantity::ResponseP99, 0.99),
        ] {
            let time = survival.as_ref().map(|s| s.percentile(p));
            claims.extend(time.map(|time| self.of_type(i, quantity, time, method)));
        }
        claims
    }

    /// Theorem 8 and section 6.4, where nothing better is within reach.
    fn bounds(&mut self) {
        let staged = self.policy.preemption != Preemption::None && !all_exponential(self.workload);
        if staged {
            // The bounds are for exponential sizes, and preemption lets other laws in.
            return;
        }
        let mut total = 0.0;
        for (i, kind) in self.workload.types().iter().enumerate() {
            let bounds = self.type_queue(i).bounds();
            let mean = Method::ApproximationQueueLength;
            let bound = self.of_queue(kind, Method::BoundRelativeCompletions);
            total += bounds.approximation;
            for (quantity, value, method) in [
                (Quantity::MeanNumber, bounds.approximation, mean),
                // Those that serve are there, too.
                (
                    Quantity::MeanNumberAtLeast,
                    bounds.lower.max(kind.offered_load()),
                    bound,
                ),
                (Quantity::MeanNumberAtMost, bounds.upper, bound),
            ] {
                let claim = self.for_sizes(self.of_type(i, quantity, value, method), true);
                self.all.push(claim);
            }
        }
        let response = total / self.workload.total_arrival_rate();
        let claim = self.of_policy(
            Quantity::MeanResponse,
            response,
            Method::ApproximationQueueLength,
        );
        let claim = self.for_sizes(claim, true);
        self.all.push(claim);
    }
}
