//! What is known of a policy, each number with its method and the conditions it holds under.

use super::{Options, SynthesisError, all_exponential, queue_assumptions};
use crate::artifact::{SizeLaw, Subject};
use crate::ctmc::Survival;
use crate::multiresource::analysis::{AnalysisError, TypeLaw, TypeQueue};
use crate::multiresource::artifact::{
    Claim, Conditions, HoldsFor, Method, MsrPolicy, PERCENTILES, Preemption, Quantity,
};
use crate::multiresource::modulation::Modulation;
use crate::multiresource::program::Solution;
use crate::multiresource::workload::{JobType, Workload};

/// Work that goes into the laws of all types at effort 1, roughly in nanoseconds.
const LAWS: f64 = 1e10;

/// Operations that go into the percentiles of one type at effort 1.
const SURVIVAL: f64 = 5e8;

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
        let load = solution.certificate.load;
        let method = Method::ExactProgram;
        claims.push(Quantity::Load, None, load, method, &HoldsFor::default());
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
            let holds_for = &self.assumptions(std::slice::from_ref(kind));
            let law = queue.law(each)?;
            let number = match &law {
                Some(law) => law.mean_number,
                None => queue.mean_number(each)?,
            };
            let response = number / kind.arrival_rate();
            (total, weighted) = (total + number, weighted + share * response);
            for (quantity, value) in [
                (Quantity::MeanNumber, number),
                (Quantity::MeanResponse, response),
            ] {
                claims.push(self.claim(quantity, Some(i), value, Method::ExactQbd, holds_for));
            }
            if let Some(law) = &law {
                claims.extend(self.distribution(i, &queue, law, holds_for));
            }
        }
        let response = total / self.workload.total_arrival_rate();
        let holds_for = &self.assumptions(self.workload.types());
        for (quantity, value) in [
            (Quantity::MeanNumber, total),
            (Quantity::MeanResponse, response),
            (Quantity::WeightedResponse, weighted),
        ] {
            claims.push(self.claim(quantity, None, value, Method::ExactQbd, holds_for));
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
        let budget = self.options.effort * SURVIVAL;
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

    /// Theorem 8 and section 6.4, where nothing better is within reach.
    fn bounds(&mut self) {
        let staged = self.policy.preemption != Preemption::None && !all_exponential(self.workload);
        if staged {
            // The bounds are for exponential sizes, and preemption lets other laws in.
            return;
        }
        let mut total = 0.0;
        let approximate = &HoldsFor {
            own: Conditions::analysed(),
            ..HoldsFor::default()
        };
        let approximation = Method::ApproximationQueueLength;
        for (i, kind) in self.workload.types().iter().enumerate() {
            let bounds = self.type_queue(i).bounds();
            let bounded = &self.assumptions(std::slice::from_ref(kind));
            total += bounds.approximation;
            // Those that serve are there, too.
            let least = bounds.lower.max(kind.offered_load());
            let bound = Method::BoundRelativeCompletions;
            let (mean, at_least, at_most) = (
                Quantity::MeanNumber,
                Quantity::MeanNumberAtLeast,
                Quantity::MeanNumberAtMost,
            );
            self.push(
                mean,
                Some(i),
                bounds.approximation,
                approximation,
                approximate,
            );
            self.push(at_least, Some(i), least, bound, bounded);
            self.push(at_most, Some(i), bounds.upper, bound, bounded);
        }
        let response = total / self.workload.total_arrival_rate();
        self.push(
            Quantity::MeanResponse,
            None,
            response,
            approximation,
            approximate,
        );
    }

    /// What is assumed where the queues of these types are analysed.
    fn assumptions(&self, types: &[JobType]) -> HoldsFor {
        queue_assumptions(self.policy.preemption, types)
    }
}
