//! The claims: what they are about, how they were derived, and their values.

use std::collections::HashMap;

use super::queues::Queues;
use super::round::Round;
use super::{Report, is_close};
use crate::multiresource::artifact::{
    Artifact, Backfill, Claim, Conditions, EmptySlots, Method, MsrPolicy, Quantity, SizeLaw,
};
use crate::multiresource::workload::{JobType, Workload};

/// Relative difference allowed between a claim and its second derivation.
const AGREEMENT: f64 = 1e-7;

/// Checks all claims; their values only where a round could be derived.
pub(super) fn check(
    artifact: &Artifact,
    workload: &Workload,
    round: Option<&Round>,
    report: &mut Report,
) {
    // What is wrong already is not worth solving queues for.
    let sound = round.filter(|_| report.findings.is_empty());
    let queues = sound.and_then(|round| Queues::new(artifact, workload, round));
    let mut known = HashMap::new();
    for (n, claim) in artifact.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        if let Some(first) = known.insert((claim.quantity, claim.job_type.as_deref()), n) {
            report.add(path, format!("claims again what claims[{first}] claims"));
            continue;
        }
        let checked = Checked {
            artifact,
            workload,
            claim,
            path,
        };
        if let Some(subject) = checked.subject(report) {
            checked.labels(report);
            checked.value(subject, round, queues.as_ref(), report);
        }
    }
}

/// Says that the routes are too many to be followed, if a claim depends on them.
pub(super) fn underived(artifact: &Artifact, policy: &MsrPolicy, report: &mut Report) {
    if let Some(n) = artifact
        .claims
        .iter()
        .position(|c| c.method != Method::ExactProgram)
    {
        let message = format!(
            "{}: more stages than can be followed, and claims[{n}] depends on them; expected a route with fewer",
            policy.route
        );
        report.add("policy.route", message);
    }
}

/// One claim with all that it may be compared with.
struct Checked<'a> {
    artifact: &'a Artifact,
    workload: &'a Workload,
    claim: &'a Claim,
    path: String,
}

impl Checked<'_> {
    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// The type that the claim is about, if its quantity is one of types; `None` with a
    /// finding where that is wrong.
    fn subject(&self, report: &mut Report) -> Option<Option<usize>> {
        let path = self.field("type");
        let quantity = self.claim.quantity;
        let of_types = matches!(
            quantity,
            Quantity::MeanSchedule
                | Quantity::MeanNumberAtLeast
                | Quantity::MeanNumberAtMost
                | Quantity::NumberAbove
                | Quantity::ResponseP50
                | Quantity::ResponseP95
                | Quantity::ResponseP99
        );
        let of_both = matches!(
            quantity,
            Quantity::Load | Quantity::MeanNumber | Quantity::MeanResponse
        );
        match self.claim.job_type.as_deref() {
            None if of_types => {
                report.add(path, "absent, expected the name of a job type");
                None
            }
            Some(name) if of_types || of_both => {
                let index = self
                    .workload
                    .types()
                    .iter()
                    .position(|kind| kind.name() == name);
                if index.is_none() {
                    report.add(path, format!("`{name}`, expected the name of a job type"));
                }
                index.map(Some)
            }
            Some(name) => {
                report.add(
                    path,
                    format!("`{name}`, expected none: the quantity is one of the whole policy"),
                );
                None
            }
            None => Some(None),
        }
    }

    /// Unit, method and conditions.
    fn labels(&self, report: &mut Report) {
        let claim = self.claim;
        let unit = self.unit();
        if claim.unit != unit {
            report.add(
                self.field("unit"),
                format!("`{}`, expected `{unit}`", claim.unit),
            );
        }
        if let Some(half_width) = claim.half_width {
            let message = format!("{half_width}, expected none: it is not simulated");
            report.add(self.field("half_width"), message);
        }
        let method = self.method();
        if claim.method != method {
            report.add(
                self.field("method"),
                format!("{:?}, expected {method:?}", claim.method),
            );
        } else if method == Method::ExactProgram && !self.artifact.certificate.proven {
            report.add(
                self.field("method"),
                "exact, expected no such claim: the certificate is not proven",
            );
        }
        let conditions = self.conditions();
        if claim.holds_for != conditions {
            let message = format!("{}, expected {}", told(&claim.holds_for), told(&conditions));
            report.add(self.field("holds_for"), message);
        }
    }

    fn unit(&self) -> String {
        self.claim.quantity.unit(self.workload.time_unit())
    }

    /// Whether all types, or the one that the claim is about, have exponential sizes.
    fn is_exponential(&self) -> bool {
        self.about().all(|kind| kind.size().is_exponential())
    }

    /// The types that the claim is about: the one named, or all.
    fn about(&self) -> impl Iterator<Item = &JobType> {
        let name = self.claim.job_type.as_deref();
        let types = self.workload.types().iter();
        types.filter(move |kind| name.is_none_or(|name| name == kind.name()))
    }

    /// Whether the sizes of the types that the claim is about are not what was analysed. Where the
    /// chain waits for completions, it takes all sizes as exponential; where it does not, queues
    /// follow the stages of sizes, if they have any.
    fn sizes_are_replaced(&self) -> bool {
        match self.drains() {
            true => self.chain_is_replaced(),
            false => self.about().any(|kind| kind.size().phases().is_none()),
        }
    }

    /// Without preemption the chain is analysed as if sizes were exponential.
    fn chain_is_replaced(&self) -> bool {
        let mut types = self.workload.types().iter();
        self.drains() && types.any(|kind| !kind.size().is_exponential())
    }

    fn drains(&self) -> bool {
        !self.artifact.policy.preempts()
    }

    fn method(&self) -> Method {
        let method = match self.claim.quantity {
            Quantity::Load if self.claim.job_type.is_none() => return Method::ExactProgram,
            Quantity::MeanNumber | Quantity::MeanResponse
                if self.claim.method == Method::ApproximationQueueLength =>
            {
                return Method::ApproximationQueueLength;
            }
            Quantity::LargestStableSwitchingRate => Method::ExactRenewalReward,
            Quantity::Load
            | Quantity::MeanSchedule
            | Quantity::WorkingTime
            | Quantity::SwitchingFrequency => Method::ExactStationaryLaw,
            Quantity::MeanNumberAtLeast | Quantity::MeanNumberAtMost => {
                Method::BoundRelativeCompletions
            }
            Quantity::MeanNumber
            | Quantity::NumberAbove
            | Quantity::MeanResponse
            | Quantity::WeightedResponse
            | Quantity::ResponseP50
            | Quantity::ResponseP95
            | Quantity::ResponseP99 => Method::ExactQbd,
        };
        let of_queue = matches!(method, Method::ExactQbd | Method::BoundRelativeCompletions);
        match of_queue {
            true => self.of_queue(method),
            false if self.chain_is_replaced() => Method::ApproximationExponentialSizes,
            false => method,
        }
    }

    /// Of a queue: exact, or a bound, for the sizes and the arrivals that were analysed.
    fn of_queue(&self, method: Method) -> Method {
        let poisson = self.about().all(JobType::is_poisson);
        match (self.sizes_are_replaced(), poisson) {
            (false, true) => method,
            (true, true) => Method::ApproximationExponentialSizes,
            (false, false) => Method::ApproximationPoissonArrivals,
            (true, false) => Method::ApproximationMemoryless,
        }
    }

    /// The program's load holds for every policy; the rest for the chain that is analysed. It
    /// looks at sizes only where its routes wait for completions, and the queues always do.
    fn conditions(&self) -> Conditions {
        let sizes = match self.method() {
            Method::ExactProgram => return Conditions::default(),
            Method::ExactQbd | Method::BoundRelativeCompletions => match self.is_exponential() {
                true => Some(SizeLaw::Exponential),
                false => Some(SizeLaw::PhaseType),
            },
            method => (self.drains() && method.is_exact()).then_some(SizeLaw::Exponential),
        };
        Conditions {
            empty_slots: Some(EmptySlots::Phantom),
            backfill: Some(Backfill::None),
            sizes,
            routing: None,
        }
    }

    fn value(
        &self,
        subject: Option<usize>,
        round: Option<&Round>,
        queues: Option<&Queues<'_>>,
        report: &mut Report,
    ) {
        let path = self.field("value");
        let found = self.claim.value;
        if !found.is_finite() {
            report.add(path, format!("{found}, expected a finite number"));
            return;
        }
        if self.claim.at.is_some() != (self.claim.quantity == Quantity::NumberAbove) {
            let expected = "a number of jobs with `number_above`, and with no other quantity";
            report.add(
                self.field("at"),
                format!("{:?}, expected {expected}", self.claim.at),
            );
            return;
        }
        let Some(round) = round else { return };
        if self.claim.quantity == Quantity::LargestStableSwitchingRate {
            self.largest_rate(round, report);
            return;
        }
        if queues.is_none() && self.is_of_queues() {
            return;
        }
        let Some(expected) = self.expected(subject, round, queues) else {
            let message = "cannot be derived anew: its chain is too large, or has no such number";
            report.add(path, format!("{found} {message}"));
            return;
        };
        let (found, expected) = match self.percentile() {
            // What is compared is the fraction of jobs beyond.
            Some(p) => (1.0 - p, 1.0 - expected),
            None => (found, expected),
        };
        let slack = self.agreement(round) + self.slow_mode(subject, queues);
        if !is_close(found, expected, slack) {
            let found = self.claim.value;
            let told = match self.percentile() {
                Some(p) => format!(
                    "the time within which {p} of the jobs leave, not {}",
                    1.0 - expected
                ),
                None => expected.to_string(),
            };
            report.add(path, format!("{found}, expected {told}"));
        }
    }

    /// Whether a second derivation takes the type's queue, not only the modulating chain.
    fn is_of_queues(&self) -> bool {
        !matches!(
            self.claim.quantity,
            Quantity::Load
                | Quantity::MeanSchedule
                | Quantity::WorkingTime
                | Quantity::SwitchingFrequency
        )
    }

    fn percentile(&self) -> Option<f64> {
        match self.claim.quantity {
            Quantity::ResponseP50 => Some(0.5),
            Quantity::ResponseP95 => Some(0.95),
            Quantity::ResponseP99 => Some(0.99),
            _ => None,
        }
    }

    /// Next to a load of 1 rounding of the rates alone moves what depends on the queue.
    fn agreement(&self, round: &Round) -> f64 {
        let loads = round.loads(self.workload);
        let least_spare = loads
            .into_iter()
            .fold(1.0, |spare, load| f64::min(spare, 1.0 - load));
        AGREEMENT + 200.0 * f64::EPSILON / least_spare
    }

    /// Far out the slowest mode of the queue decides, and rounding grows with the square of the levels
    /// over which it relaxes.
    fn slow_mode(&self, subject: Option<usize>, queues: Option<&Queues<'_>>) -> f64 {
        let far = self.percentile().is_some() || self.claim.quantity == Quantity::NumberAbove;
        let levels = subject.filter(|_| far).zip(queues);
        levels.map_or(0.0, |(i, queues)| 1e-14 * queues.levels(i).powi(2))
    }

    /// The value that this claim should have.
    fn expected(
        &self,
        subject: Option<usize>,
        round: &Round,
        queues: Option<&Queues<'_>>,
    ) -> Option<f64> {
        let claim = self.claim;
        let rate = |i: usize| self.workload.types()[i].arrival_rate();
        let mean = |i: usize| match claim.method {
            Method::ApproximationQueueLength => Some(queues?.bound(i, Quantity::MeanNumber)),
            _ => queues?.mean_number(i),
        };
        let all = || match claim.method {
            Method::ApproximationQueueLength => (0..self.workload.types().len()).map(mean).sum(),
            _ => queues?.total(),
        };
        match (claim.quantity, subject) {
            (Quantity::MeanSchedule, Some(i)) => Some(round.mean_schedule()[i]),
            (Quantity::Load, Some(i)) => Some(round.loads(self.workload)[i]),
            // Compared with the mix itself elsewhere: see `certificate::load`.
            (Quantity::Load, None) => Some(self.artifact.certificate.load),
            (Quantity::WorkingTime, _) => Some(round.working_time()),
            (Quantity::SwitchingFrequency, _) => Some(round.switching_frequency()),
            (Quantity::MeanNumber, Some(i)) => mean(i),
            (Quantity::MeanNumber, None) => all(),
            (Quantity::MeanResponse, Some(i)) => Some(mean(i)? / rate(i)),
            (Quantity::MeanResponse, None) => Some(all()? / self.workload.total_arrival_rate()),
            (Quantity::WeightedResponse, _) => queues?.weighted_response(),
            (Quantity::MeanNumberAtLeast | Quantity::MeanNumberAtMost, Some(i)) => {
                Some(queues?.bound(i, claim.quantity))
            }
            (Quantity::NumberAbove, Some(i)) => queues?.above(i, claim.at?),
            (Quantity::ResponseP50 | Quantity::ResponseP95 | Quantity::ResponseP99, Some(i)) => {
                queues?.within(i, claim.value)
            }
            _ => None,
        }
    }

    /// Compared as periods, since a route that costs nearly nothing has a rate of nearly
    /// infinity, whose digits say nothing.
    fn largest_rate(&self, round: &Round, report: &mut Report) {
        /// Rounding errors of one operation that may have added up.
        const OPERATIONS: f64 = 1e3;
        let found = self.claim.value;
        let (period, error) = round.least_stable_period(self.workload);
        let allowed = AGREEMENT * period + OPERATIONS * error;
        if !(found > 0.0 && (1.0 / found - period).abs() <= allowed) {
            let expected = match 1.0 / period {
                f64::INFINITY => "none: every rate is stable".into(),
                rate => rate.to_string(),
            };
            report.add(self.field("value"), format!("{found}, expected {expected}"));
        }
    }
}

/// Conditions as they stand in the artifact.
fn told(conditions: &Conditions) -> String {
    serde_json::to_string(conditions).unwrap_or_default()
}
