//! The claims: what they are about, how they were derived, and their values.

use std::collections::HashMap;

use super::OneServer;
use super::queues::Queues;
use super::round::Round;
use crate::artifact::{ArrivalLaw, Findings, Known, Quantity as _, SizeLaw, is_close};
use crate::multiresource::artifact::{Claim, Conditions, HoldsFor, Method, MsrPolicy, Quantity};
use crate::multiresource::workload::JobType;

/// Relative difference allowed between a claim and its second derivation.
const AGREEMENT: f64 = 1e-7;

/// Checks all claims; their values only where a round could be derived.
pub(super) fn check(server: &OneServer<'_>, round: Option<&Round>, findings: &mut Findings) {
    // What is wrong already is not worth solving queues for.
    let sound = round.filter(|_| findings.is_empty());
    let queues = sound.and_then(|round| Queues::new(server, round));
    let types: Vec<&str> = server.workload.types().iter().map(|t| t.name()).collect();
    let known = Known {
        servers: server.shapes,
        types: &types,
        ..Known::default()
    };
    let mut before = HashMap::new();
    for (n, claim) in &server.claims {
        let path = format!("claims[{n}]");
        if let Some(first) = before.insert((claim.quantity, claim.subject()), n) {
            findings.add(path, format!("claims again what claims[{first}] claims"));
            continue;
        }
        if claim.has_subject(&path, &known, findings) {
            let name = claim.job_type.as_deref();
            let subject = types.iter().position(|kind| name == Some(kind));
            let checked = Checked {
                server,
                claim,
                path,
            };
            checked.labels(findings);
            checked.value(subject, round, queues.as_ref(), findings);
        }
    }
}

/// Says that the routes are too many to be followed, if a claim depends on them.
pub(super) fn underived(server: &OneServer<'_>, policy: &MsrPolicy, findings: &mut Findings) {
    let mut claims = server.claims.iter();
    if let Some((n, _)) = claims.find(|(_, c)| c.method != Method::ExactProgram) {
        let message = format!(
            "{}: more stages than can be followed, and claims[{n}] depends on them; expected a route with fewer",
            policy.route
        );
        findings.add("policy.route", message);
    }
}

/// One claim with all that it may be compared with.
struct Checked<'a> {
    server: &'a OneServer<'a>,
    claim: &'a Claim,
    path: String,
}

impl Checked<'_> {
    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// Unit, method and conditions.
    fn labels(&self, findings: &mut Findings) {
        let claim = self.claim;
        let unit = claim.quantity.unit(self.server.workload.time_unit());
        if claim.unit != unit {
            findings.add(
                self.field("unit"),
                format!("`{}`, expected `{unit}`", claim.unit),
            );
        }
        if let Some(half_width) = claim.half_width {
            let message = format!("{half_width}, expected none: it is not simulated");
            findings.add(self.field("half_width"), message);
        }
        let method = self.method();
        if claim.method != method {
            findings.add(
                self.field("method"),
                format!("{:?}, expected {method:?}", claim.method),
            );
        } else if method == Method::ExactProgram && !self.server.certificate.proven {
            findings.add(
                self.field("method"),
                "exact, expected no such claim: the certificate is not proven",
            );
        }
        let conditions = self.conditions();
        if claim.holds_for != conditions {
            let message = format!("{}, expected {}", told(&claim.holds_for), told(&conditions));
            findings.add(self.field("holds_for"), message);
        }
    }

    /// The types that the claim is about: the one named, or all.
    fn about(&self) -> impl Iterator<Item = &JobType> {
        let name = self.claim.job_type.as_deref();
        let types = self.server.workload.types().iter();
        types.filter(move |kind| name.is_none_or(|name| name == kind.name()))
    }

    /// Whether the routes wait for completions.
    fn drains(&self) -> bool {
        !self.server.rule.preempts()
    }

    fn method(&self) -> Method {
        match self.claim.quantity {
            Quantity::Load if self.claim.job_type.is_none() => Method::ExactProgram,
            Quantity::MeanNumber | Quantity::MeanResponse
                if self.claim.method == Method::ApproximationQueueLength =>
            {
                Method::ApproximationQueueLength
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
        }
    }

    /// The program's load holds for every policy; the rest for the chain that is analysed. It
    /// looks at sizes only where its routes wait for completions, and the queues always do.
    fn conditions(&self) -> HoldsFor {
        let exponential = Some(SizeLaw::Exponential);
        let (sizes, arrivals) = match self.method() {
            Method::ExactProgram => return HoldsFor::default(),
            Method::ExactQbd => (Some(self.law_followed()), Some(ArrivalLaw::Poisson)),
            Method::BoundRelativeCompletions => (exponential, Some(ArrivalLaw::Poisson)),
            Method::ExactStationaryLaw | Method::ExactRenewalReward => {
                (exponential.filter(|_| self.drains()), None)
            }
            Method::ApproximationQueueLength | Method::Simulated => (None, None),
        };
        HoldsFor {
            sizes,
            arrivals,
            own: Conditions::analysed(),
        }
    }

    /// The law of sizes with which queues are solved. Where the chain waits for completions, it takes
    /// all sizes as exponential; where it does not, queues follow the stages of sizes, if they have
    /// any.
    fn law_followed(&self) -> SizeLaw {
        let staged = |kind: &JobType| {
            let size = kind.size();
            !size.is_exponential() && size.phases().is_some()
        };
        match !self.drains() && self.about().any(staged) {
            true => SizeLaw::PhaseType,
            false => SizeLaw::Exponential,
        }
    }

    fn value(
        &self,
        subject: Option<usize>,
        round: Option<&Round>,
        queues: Option<&Queues<'_>>,
        findings: &mut Findings,
    ) {
        let path = self.field("value");
        let found = self.claim.value;
        if !found.is_finite() {
            findings.add(path, format!("{found}, expected a finite number"));
            return;
        }
        if self.claim.at.is_some() != (self.claim.quantity == Quantity::NumberAbove) {
            let expected = "a number of jobs with `number_above`, and with no other quantity";
            findings.add(
                self.field("at"),
                format!("{:?}, expected {expected}", self.claim.at),
            );
            return;
        }
        let Some(round) = round else { return };
        if self.claim.quantity == Quantity::LargestStableSwitchingRate {
            self.largest_rate(round, findings);
            return;
        }
        if queues.is_none() && self.is_of_queues() {
            return;
        }
        let Some(expected) = self.expected(subject, round, queues) else {
            let message = "cannot be derived anew: its chain is too large, or has no such number";
            findings.add(path, format!("{found} {message}"));
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
            findings.add(path, format!("{found}, expected {told}"));
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
        self.claim.quantity.row().measure.percentile()
    }

    /// Next to a load of 1 rounding of the rates alone moves what depends on the queue.
    fn agreement(&self, round: &Round) -> f64 {
        let loads = round.loads(self.server.workload);
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
        let rate = |i: usize| self.server.workload.types()[i].arrival_rate();
        let mean = |i: usize| match claim.method {
            Method::ApproximationQueueLength => Some(queues?.bound(i, Quantity::MeanNumber)),
            _ => queues?.mean_number(i),
        };
        let all = || match claim.method {
            Method::ApproximationQueueLength => {
                (0..self.server.workload.types().len()).map(mean).sum()
            }
            _ => queues?.total(),
        };
        match (claim.quantity, subject) {
            (Quantity::MeanSchedule, Some(i)) => Some(round.mean_schedule()[i]),
            (Quantity::Load, Some(i)) => Some(round.loads(self.server.workload)[i]),
            // Compared with the mix itself elsewhere: see `certificate::load`.
            (Quantity::Load, None) => Some(self.server.certificate.load),
            (Quantity::WorkingTime, _) => Some(round.working_time()),
            (Quantity::SwitchingFrequency, _) => Some(round.switching_frequency()),
            (Quantity::MeanNumber, Some(i)) => mean(i),
            (Quantity::MeanNumber, None) => all(),
            (Quantity::MeanResponse, Some(i)) => Some(mean(i)? / rate(i)),
            (Quantity::MeanResponse, None) => {
                Some(all()? / self.server.workload.total_arrival_rate())
            }
            (Quantity::WeightedResponse, _) => queues?.weighted_response(),
            (Quantity::MeanNumberAtLeast | Quantity::MeanNumberAtMost, Some(i)) => {
                Some(queues?.bound(i, claim.quantity))
            }
            (Quantity::NumberAbove, Some(i)) => queues?.above(i, claim.at?),
            (Quantity::ResponseP50 | Quantity::ResponseP95 | Quantity::ResponseP99, Some(i)) => {
                queues?.within(i, claim.value)
            }
            (Quantity::LargestStableSwitchingRate, _)
            | (
                Quantity::MeanSchedule
                | Quantity::MeanNumberAtLeast
                | Quantity::MeanNumberAtMost
                | Quantity::NumberAbove
                | Quantity::ResponseP50
                | Quantity::ResponseP95
                | Quantity::ResponseP99,
                None,
            ) => None,
        }
    }

    /// Compared as periods, since a route that costs nearly nothing has a rate of nearly
    /// infinity, whose digits say nothing.
    fn largest_rate(&self, round: &Round, findings: &mut Findings) {
        /// Rounding errors of one operation that may have added up.
        const OPERATIONS: f64 = 1e3;
        let found = self.claim.value;
        let (period, error) = round.least_stable_period(self.server.workload);
        let allowed = AGREEMENT * period + OPERATIONS * error;
        if !(found > 0.0 && (1.0 / found - period).abs() <= allowed) {
            let expected = match 1.0 / period {
                f64::INFINITY => "none: every rate is stable".into(),
                rate => rate.to_string(),
            };
            findings.add(self.field("value"), format!("{found}, expected {expected}"));
        }
    }
}

/// Conditions as they stand in the server.
fn told(conditions: &HoldsFor) -> String {
    serde_json::to_string(conditions).unwrap_or_default()
}
