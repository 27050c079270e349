//! The claims: what they are about, how they were derived, and their values.

use std::collections::HashMap;

use super::Document;
use super::queues::Queues;
use super::round::Round;
use super::solved::Asked;
use crate::artifact::{
    ArrivalLaw, Findings, Grounds, Known, Quantity as _, SizeLaw, is_close, written,
};
use crate::multiresource::artifact::{Claim, Conditions, HoldsFor, Method, MsrPolicy, Quantity};
use crate::multiresource::workload::JobType;

/// Relative difference allowed between a claim and its second derivation: of what follows from the
/// chain, and of what follows from the queues on it.
pub(super) const CHAIN: f64 = 1e-9;
const QUEUES: f64 = 1e-7;

pub(super) const PROGRAM: Grounds = Grounds::Derived("the mixes and the prices of the evidence");
const RENEWAL: Grounds = Grounds::Derived("one round of the loop, as a renewal cycle");
const FORMULA: Grounds = Grounds::Derived("the MSR paper's formulas, on a chain made anew");
const SOLVED: Grounds = Grounds::Derived("the queue on a chain made anew, solved another way");
const BOUNDED: Grounds =
    Grounds::Judged("the MSR paper's bounds: the queue is too large to be solved again");
const SUMMED: Grounds =
    Grounds::Judged("the mean numbers claimed: a queue is too large to be solved again");
const TOO_LARGE: Grounds = Grounds::Trusted("the queue is too large to be solved again");

/// What is claimed of the queue of each of these types beside its mean.
fn asked(document: &Document<'_>, types: &[&str]) -> Vec<Asked> {
    let mut asked = vec![Asked::default(); types.len()];
    for claim in document.claims {
        let name = claim.job_type.as_deref();
        let Some(i) = types.iter().position(|kind| name == Some(kind)) else {
            continue;
        };
        asked[i].numbers.extend(claim.at);
        let is_time = claim.quantity.row().measure.percentile().is_some();
        let time = (is_time && (1e-30..1e30).contains(&claim.value)).then_some(claim.value);
        asked[i].times.extend(time);
    }
    asked
}

/// Checks all claims; their values only where a round could be derived.
pub(super) fn check(document: &Document<'_>, round: Option<&Round>, findings: &mut Findings) {
    // What is wrong already is not worth solving queues for.
    let sound = round.filter(|_| findings.is_empty());
    let types: Vec<&str> = document.workload.types().iter().map(|t| t.name()).collect();
    let queues = sound.and_then(|round| {
        let asked = asked(document, &types);
        Queues::new(
            (document.rule, round),
            document.workload,
            asked,
            document.budget,
        )
    });
    let known = Known {
        types: &types,
        ..Known::default()
    };
    let mut before = HashMap::new();
    for (n, claim) in document.claims.iter().enumerate() {
        let path = format!("claims[{n}]");
        if let Some(first) = before.insert((claim.quantity, claim.subject(), claim.time()), n) {
            findings.add(path, format!("claims again what claims[{first}] claims"));
            continue;
        }
        if claim.has_subject(&path, &known, findings) {
            let name = claim.job_type.as_deref();
            let subject = types.iter().position(|kind| name == Some(kind));
            let checked = Checked {
                document,
                claim,
                path,
            };
            checked.labels(findings);
            checked.value(subject, round, queues.as_ref(), findings);
        }
    }
}

/// Says that the routes are too many to be followed, if a claim depends on them.
pub(super) fn underived(document: &Document<'_>, policy: &MsrPolicy, findings: &mut Findings) {
    let mut claims = document.claims.iter().enumerate();
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
    document: &'a Document<'a>,
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
        let unit = claim.quantity.unit(self.document.workload.time_unit());
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
            let message = format!("{}, expected {}", written(&claim.method), written(&method));
            findings.add(self.field("method"), message);
        } else if method == Method::ExactProgram && !self.document.evidence.proven {
            findings.add(
                self.field("method"),
                "exact, expected no such claim: the load is not proven",
            );
        }
        let conditions = self.conditions();
        if claim.holds_for != conditions {
            let (found, expected) = (written(&claim.holds_for), written(&conditions));
            let message = format!("{found}, expected {expected}");
            findings.add(self.field("holds_for"), message);
        }
    }

    /// The types that the claim is about: the one named, or all.
    fn about(&self) -> impl Iterator<Item = &JobType> {
        let name = self.claim.job_type.as_deref();
        let types = self.document.workload.types().iter();
        types.filter(move |kind| name.is_none_or(|name| name == kind.name()))
    }

    /// Whether the routes wait for completions.
    fn drains(&self) -> bool {
        !self.document.rule.preempts()
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
            Quantity::LoadUnderGuard => Method::ProofByGuard,
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
            | Quantity::ResponseP99
            | Quantity::WaitingAbove
            | Quantity::ResponseAbove => Method::ExactQbd,
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
            Method::ApproximationQueueLength | Method::ProofByGuard | Method::Simulated => {
                (None, None)
            }
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
            let size = kind.holding();
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
            let found = self.claim.at.map_or("absent".into(), |at| at.to_string());
            return findings.add(self.field("at"), format!("{found}, expected {expected}"));
        }
        if let Some(time) = self.claim.longer_than {
            let message = format!("{time}, expected none: nothing of the kind is exact");
            return findings.add(self.field("longer_than"), message);
        }
        let Some(round) = round else { return };
        if self.claim.quantity == Quantity::LargestStableSwitchingRate {
            self.largest_rate(round, findings);
            return;
        }
        if self.is_of_queues() {
            match queues {
                Some(queues) if !self.affords(subject, queues) => {
                    return self.too_large(subject, queues, findings);
                }
                Some(_) => {}
                None => return,
            }
        }
        let Some(expected) = self.expected(subject, round, queues) else {
            let is_time = self.percentile().is_some();
            let late = |i| is_time && queues.is_some_and(|queues| queues.is_late(i));
            let late = subject.is_some_and(late);
            return match late {
                true => findings.stands(&self.path, TOO_LARGE),
                false => {
                    let message = "cannot be derived anew: it has no such number";
                    findings.add(path, format!("{found} {message}"));
                }
            };
        };
        let (found, expected) = match self.percentile() {
            // What is compared is the fraction of jobs beyond.
            Some(p) => (1.0 - p, 1.0 - expected),
            None => (found, expected),
        };
        let slack = match (self.is_of_queues(), queues) {
            (true, Some(queues)) if self.claim.method == Method::ExactQbd => {
                self.agreement(round) + queues.rounding(subject)
            }
            (true, _) => self.agreement(round),
            (false, _) => CHAIN,
        };
        if is_close(found, expected, slack) {
            findings.stands(&self.path, self.derived());
        } else {
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

    /// The way in which it was derived.
    fn derived(&self) -> Grounds {
        match self.claim.method {
            Method::ExactProgram => PROGRAM,
            Method::ExactStationaryLaw | Method::ExactRenewalReward => RENEWAL,
            Method::BoundRelativeCompletions | Method::ApproximationQueueLength => FORMULA,
            Method::ExactQbd | Method::ProofByGuard | Method::Simulated => SOLVED,
        }
    }

    /// Whether the queues that have to be solved, not only looked at, could be.
    fn affords(&self, subject: Option<usize>, queues: &Queues<'_>) -> bool {
        let all = 0..self.document.workload.types().len();
        let types = subject.map_or(all, |i| i..i + 1);
        let bounded = self.claim.method == Method::BoundRelativeCompletions;
        let mut solved = types.filter(|i| !bounded && !self.is_approximate(*i));
        solved.all(|i| queues.affords(Some(i)))
    }

    /// A queue that is too large to be solved again: its mean lies between the paper's bounds, and is
    /// not the paper's approximation; what follows from means follows from those claimed.
    fn too_large(&self, subject: Option<usize>, queues: &Queues<'_>, findings: &mut Findings) {
        let (path, found) = (self.field("value"), self.claim.value);
        let claimed = |i: usize| {
            let kind = &self.document.workload.types()[i];
            let mean = self
                .document
                .find(Quantity::MeanNumber, Some(kind.name()))?;
            Some(mean.value)
        };
        if let (Quantity::MeanNumber, Some(i)) = (self.claim.quantity, subject) {
            let bounds = [Quantity::MeanNumberAtLeast, Quantity::MeanNumberAtMost];
            let [least, most] = bounds.map(|bound| queues.bound(i, bound));
            let approximation = queues.bound(i, Quantity::MeanNumber);
            let inner = least < approximation && approximation < most;
            if !self.has_bounds() {
                return findings.stands(&self.path, TOO_LARGE);
            }
            return if !(least * (1.0 - QUEUES)..=most * (1.0 + QUEUES)).contains(&found) {
                findings.add(path, format!("{found}, expected from {least} to {most}"));
            } else if inner && is_close(found, approximation, CHAIN) {
                let message = format!("{found}, which is no more than the approximation");
                findings.add(path, message);
            } else {
                findings.stands(&self.path, BOUNDED);
            };
        }
        match self.of_means(subject, &claimed) {
            Some(expected) if is_close(found, expected, CHAIN) => {
                findings.stands(&self.path, SUMMED);
            }
            Some(expected) => findings.add(path, format!("{found}, expected {expected}")),
            None => findings.stands(&self.path, TOO_LARGE),
        }
    }

    /// Whether the paper's bounds hold: they are for exponential sizes, which sizes are taken as
    /// where the routes wait for completions.
    fn has_bounds(&self) -> bool {
        self.law_followed() == SizeLaw::Exponential
    }

    /// What follows from the mean numbers of the types, if they are known.
    fn of_means(&self, subject: Option<usize>, mean: &dyn Fn(usize) -> Option<f64>) -> Option<f64> {
        let workload = self.document.workload;
        let types = workload.types();
        let total = || (0..types.len()).map(mean).sum::<Option<f64>>();
        match (self.claim.quantity, subject) {
            (Quantity::MeanNumber, Some(i)) => mean(i),
            (Quantity::MeanNumber, None) => total(),
            (Quantity::MeanResponse, Some(i)) => Some(mean(i)? / types[i].arrival_rate()),
            (Quantity::MeanResponse, None) => Some(total()? / workload.total_arrival_rate()),
            (Quantity::WeightedResponse, None) => {
                let shares = workload.load_shares().into_iter().zip(types).enumerate();
                let each = shares.map(|(i, (w, t))| Some(w * mean(i)? / t.arrival_rate()));
                each.sum()
            }
            _ => None,
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
                | Quantity::LargestStableSwitchingRate
        )
    }

    fn percentile(&self) -> Option<f64> {
        self.claim.quantity.row().measure.percentile()
    }

    /// Next to a load of 1 rounding of the rates alone moves what depends on the queue.
    fn agreement(&self, round: &Round) -> f64 {
        let loads = round.loads(self.document.workload);
        let least_spare = loads
            .into_iter()
            .fold(1.0, |spare, load| f64::min(spare, 1.0 - load));
        QUEUES + 200.0 * f64::EPSILON / least_spare
    }

    /// Whether this claim takes the mean number of type i from the approximation: where it is one
    /// itself, and of all types where there is no better claim about that type.
    fn is_approximate(&self, i: usize) -> bool {
        let name = self.document.workload.types()[i].name();
        let number = self.document.find(Quantity::MeanNumber, Some(name));
        let exact = number.is_some_and(|number| number.method == Method::ExactQbd);
        let about_all = self.claim.job_type.is_none();
        self.claim.method == Method::ApproximationQueueLength && !(about_all && exact)
    }

    /// The value that this claim should have.
    fn expected(
        &self,
        subject: Option<usize>,
        round: &Round,
        queues: Option<&Queues<'_>>,
    ) -> Option<f64> {
        let claim = self.claim;
        let mean = |i: usize| match self.is_approximate(i) {
            true => Some(queues?.bound(i, Quantity::MeanNumber)),
            false => queues?.mean_number(i),
        };
        match (claim.quantity, subject) {
            (Quantity::MeanSchedule, Some(i)) => Some(round.mean_schedule()[i]),
            (Quantity::Load, Some(i)) => Some(round.loads(self.document.workload)[i]),
            // Compared with the mix itself elsewhere: see [`super::evidence`].
            (Quantity::Load, None) => Some(self.document.evidence.load),
            (Quantity::WorkingTime, _) => Some(round.working_time()),
            (Quantity::SwitchingFrequency, _) => Some(round.switching_frequency()),
            (Quantity::MeanNumber | Quantity::MeanResponse | Quantity::WeightedResponse, _) => {
                self.of_means(subject, &mean)
            }
            (Quantity::MeanNumberAtLeast | Quantity::MeanNumberAtMost, Some(i)) => {
                Some(queues?.bound(i, claim.quantity))
            }
            (Quantity::NumberAbove, Some(i)) => queues?.above(i, claim.at?),
            (Quantity::ResponseP50 | Quantity::ResponseP95 | Quantity::ResponseP99, Some(i)) => {
                queues?.within(i, claim.value)
            }
            (
                Quantity::LargestStableSwitchingRate
                | Quantity::WaitingAbove
                | Quantity::ResponseAbove,
                _,
            )
            | (
                Quantity::MeanSchedule
                | Quantity::MeanNumberAtLeast
                | Quantity::MeanNumberAtMost
                | Quantity::NumberAbove
                | Quantity::ResponseP50
                | Quantity::ResponseP95
                | Quantity::ResponseP99,
                None,
            )
            | (Quantity::LoadUnderGuard, _) => None,
        }
    }

    /// Compared as periods, since a route that costs nearly nothing has a rate of nearly
    /// infinity, whose digits say nothing.
    fn largest_rate(&self, round: &Round, findings: &mut Findings) {
        /// Rounding errors of one operation that may have added up.
        const OPERATIONS: f64 = 1e3;
        let found = self.claim.value;
        let (period, error) = round.least_stable_period(self.document.workload);
        let allowed = CHAIN * period + OPERATIONS * error;
        if found > 0.0 && (1.0 / found - period).abs() <= allowed {
            findings.stands(&self.path, RENEWAL);
        } else {
            let expected = match 1.0 / period {
                f64::INFINITY => "none: every rate is stable".into(),
                rate => rate.to_string(),
            };
            findings.add(self.field("value"), format!("{found}, expected {expected}"));
        }
    }
}
