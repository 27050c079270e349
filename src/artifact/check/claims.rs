//! The claims: what they are about, how they were derived, and their values.

use std::collections::HashMap;

use super::round::Round;
use super::{Report, is_close};
use crate::artifact::{
    Artifact, Backfill, Claim, Conditions, EmptySlots, Method, Preemption, Quantity, SizeLaw,
};
use crate::workload::Workload;

/// Relative difference allowed between a claim and its second derivation.
const AGREEMENT: f64 = 1e-7;

/// Checks all claims; their values only where a round could be derived.
pub(super) fn check(
    artifact: &Artifact,
    workload: &Workload,
    round: Option<&Round>,
    report: &mut Report,
) {
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
            checked.value(subject, round, report);
        }
    }
}

/// Says that the routes are too many to be followed, if a claim depends on them.
pub(super) fn underived(artifact: &Artifact, report: &mut Report) {
    if let Some(n) = artifact
        .claims
        .iter()
        .position(|c| c.method != Method::ExactProgram)
    {
        let message = format!(
            "{}: more stages than can be followed, and claims[{n}] depends on them; expected a route with fewer",
            artifact.policy.route
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
        match (quantity, self.claim.job_type.as_deref()) {
            (Quantity::MeanSchedule, None) => {
                report.add(path, "absent, expected the name of a job type");
                None
            }
            (Quantity::MeanSchedule | Quantity::Load, Some(name)) => {
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
            (_, Some(name)) => {
                report.add(
                    path,
                    format!("`{name}`, expected none: the quantity is one of the whole policy"),
                );
                None
            }
            (_, None) => Some(None),
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
        match self.claim.quantity {
            Quantity::Load | Quantity::WorkingTime => "1".into(),
            Quantity::MeanSchedule => "jobs".into(),
            Quantity::SwitchingFrequency | Quantity::LargestStableSwitchingRate => {
                format!("1/{}", self.workload.time_unit())
            }
        }
    }

    fn method(&self) -> Method {
        match self.claim.quantity {
            Quantity::Load if self.claim.job_type.is_none() => Method::ExactProgram,
            Quantity::LargestStableSwitchingRate => Method::ExactRenewalReward,
            Quantity::Load
            | Quantity::MeanSchedule
            | Quantity::WorkingTime
            | Quantity::SwitchingFrequency => Method::ExactStationaryLaw,
        }
    }

    /// The program's load holds for every policy; the rest for the chain that is analysed,
    /// which looks at sizes only where its routes wait for completions.
    fn conditions(&self) -> Conditions {
        if self.method() == Method::ExactProgram {
            return Conditions::default();
        }
        let drains = self.artifact.policy.preemption == Preemption::None;
        Conditions {
            empty_slots: Some(EmptySlots::Phantom),
            backfill: Some(Backfill::None),
            sizes: drains.then_some(SizeLaw::Exponential),
        }
    }

    fn value(&self, subject: Option<usize>, round: Option<&Round>, report: &mut Report) {
        let path = self.field("value");
        let found = self.claim.value;
        if !found.is_finite() {
            report.add(path, format!("{found}, expected a finite number"));
            return;
        }
        let Some(round) = round else { return };
        if self.claim.quantity == Quantity::LargestStableSwitchingRate {
            self.largest_rate(round, report);
            return;
        }
        let expected = self.expected(subject, round);
        if !is_close(found, expected, AGREEMENT) {
            report.add(path, format!("{found}, expected {expected}"));
        }
    }

    fn expected(&self, subject: Option<usize>, round: &Round) -> f64 {
        match (self.claim.quantity, subject) {
            (Quantity::MeanSchedule, Some(i)) => round.mean_schedule()[i],
            (Quantity::Load, Some(i)) => round.loads(self.workload)[i],
            // Compared with the mix itself elsewhere: see `certificate::load`.
            (Quantity::Load, None) => self.artifact.certificate.load,
            (Quantity::WorkingTime, _) => round.working_time(),
            (Quantity::SwitchingFrequency, _) => round.switching_frequency(),
            (Quantity::MeanSchedule | Quantity::LargestStableSwitchingRate, _) => f64::NAN,
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
