use std::collections::HashMap;

use super::queues::Queues;
use super::round::Round;
use super::{Document, one_or_all, partition};
use crate::artifact::{Claim, Conditions, HoldsFor, Method, MsrConfig, PartitionConfig, Quantity};
use crate::policy::OneOrAll;
use crate::workload::{JobType, Workload};
use synth_core::artifact::{
    ArrivalAssumption, Findings, Grounds, KnownNames, Quantity as _, SizeAssumption, is_close,
    written,
};

const CHAIN: f64 = 1e-9;
const QUEUES: f64 = 1e-7;

const PROGRAM: Grounds = Grounds::Derived("the mixes and the prices of the evidence");
const RENEWAL: Grounds = Grounds::Derived("one round of the loop, as a renewal cycle");
const FORMULA: Grounds =
    Grounds::Derived("the MSR paper's formulas, on a chain that is built again");
const SOLVED: Grounds =
    Grounds::Derived("the queue on a chain that is built again, by another method");
const SLOTS: Grounds =
    Grounds::Derived("the stationary distribution of the birth–death chain of each type's slots");
const CYCLES: Grounds =
    Grounds::Derived("the distribution of light jobs at the ends of cycles, by another method");
const BOUNDED: Grounds =
    Grounds::Judged("the MSR paper's bounds: the queue is too large to solve again");
const SUMMED: Grounds =
    Grounds::Judged("the claimed mean numbers: a queue is too large to solve again");
const TOO_LARGE: Grounds = Grounds::Trusted("the queue is too large to solve again");

pub(super) fn each(
    document: &Document<'_>,
    findings: &mut Findings,
    mut check: impl FnMut(&Claim, Option<usize>, &mut Findings),
) {
    let types: Vec<&str> = document.workload.types().iter().map(|t| t.name()).collect();
    let known = KnownNames {
        types: &types,
        ..KnownNames::default()
    };
    let mut before = HashMap::new();
    for (n, claim) in document.claims.iter().enumerate() {
        findings.within(format!("claims[{n}]"), |f| {
            if let Some(first) = before.insert((claim.quantity, claim.subject(), claim.time()), n) {
                f.add("", format!("duplicates claims[{first}]"));
            } else if claim.check_subject(&known, f) && has_its_numbers(claim, document.workload, f)
            {
                let name = claim.job_type.as_deref();
                check(claim, types.iter().position(|kind| name == Some(kind)), f);
            }
        });
    }
}

fn has_its_numbers(claim: &Claim, workload: &Workload, findings: &mut Findings) -> bool {
    let unit = claim.quantity.unit(workload.time_unit());
    if claim.unit != unit {
        findings.differs("unit", format!("`{}`", claim.unit), format!("`{unit}`"));
    }
    match (claim.half_width, claim.method == Method::Simulated) {
        (Some(width), false) => findings.differs("half_width", width, "none: it is not simulated"),
        (None, true) => findings.differs("half_width", "absent", "a 95 % half-width"),
        _ => {}
    }
    let has_number = claim.at.is_some() == (claim.quantity == Quantity::NumberAbove);
    if !has_number {
        let found = claim.at.map_or("absent".into(), |at| at.to_string());
        let expected = "a number of jobs for `number_above`, and none for other quantities";
        findings.differs("at", found, expected);
    }
    let is_of_a_time = claim.quantity.row().measure.has_time_limit();
    let has_time = claim.longer_than.is_some() == is_of_a_time;
    if !has_time {
        let expected =
            "a time for the fraction of jobs that take longer, and none for other quantities";
        findings.add("longer_than", format!("expected {expected}"));
    }
    has_number && has_time
}

fn each_but_load(
    document: &Document<'_>,
    findings: &mut Findings,
    check: impl Fn(&Claim, Option<usize>, &mut Findings),
) {
    each(document, findings, |claim, subject, f| {
        match (claim.quantity, subject) {
            (Quantity::Load, None) => load(document, claim, f),
            _ => check(claim, subject, f),
        }
    });
}

pub(super) fn derivation(
    claim: &Claim,
    method: Method,
    holds_for: &HoldsFor,
    findings: &mut Findings,
) {
    if claim.method != method {
        findings.differs("method", written(&claim.method), written(&method));
    }
    if claim.holds_for != *holds_for {
        findings.differs("holds_for", written(&claim.holds_for), written(holds_for));
    }
}

pub(super) fn value(claim: &Claim, expected: f64, grounds: Grounds, findings: &mut Findings) {
    if is_close(claim.value, expected, CHAIN) {
        findings.stands("", grounds);
    } else {
        findings.differs("value", claim.value, expected);
    }
}

pub(super) fn load(document: &Document<'_>, claim: &Claim, findings: &mut Findings) {
    derivation(claim, Method::ExactProgram, &HoldsFor::default(), findings);
    // If a job needs more than one server, then the load is only a bound.
    if !document.evidence.proven || document.fleet.gangs().next().is_some() {
        findings.differs("method", "exact", "no such claim: the load is not proven");
    }
    value(claim, document.evidence.load, PROGRAM, findings);
}

pub(super) fn of_laws(sizes: SizeAssumption, own: Conditions) -> HoldsFor {
    HoldsFor {
        sizes: Some(sizes),
        arrivals: Some(ArrivalAssumption::Poisson),
        own,
    }
}

fn of_means(
    quantity: Quantity,
    subject: Option<usize>,
    workload: &Workload,
    mean: &dyn Fn(usize) -> Option<f64>,
) -> Option<f64> {
    let types = workload.types();
    let total = || (0..types.len()).map(mean).sum::<Option<f64>>();
    match (quantity, subject) {
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

pub(super) fn of_slots(document: &Document<'_>, policy: &PartitionConfig, findings: &mut Findings) {
    let (workload, types) = (document.workload, document.workload.types());
    let is_alone = policy.assignments.len() == 1;
    let jobs = partition::jobs(policy, 0, types);
    let number = |i: usize| partition::mean_number(jobs[i], types[i].offered_load());
    let mean = |i: usize| is_alone.then(|| number(i));
    let holds_for = of_laws(SizeAssumption::Exponential, Conditions::default());
    each_but_load(document, findings, |claim, subject, f| {
        let Some(expected) = of_means(claim.quantity, subject, workload, &mean) else {
            return f.add("", "this quantity cannot be derived from the slots");
        };
        derivation(claim, Method::ExactQbd, &holds_for, f);
        value(claim, expected, SLOTS, f);
    });
}

pub(super) fn of_msfq(document: &Document<'_>, msfq: (OneOrAll, u32), findings: &mut Findings) {
    let workload = document.workload;
    let numbers = one_or_all::mean_numbers(workload, msfq, document.budget.get());
    let mean = |i: usize| match &numbers {
        Some(own) => Some(own[i]),
        None => Some(document.mean_number(i)?.value),
    };
    let holds_for = of_laws(SizeAssumption::Exponential, Conditions::default());
    each_but_load(document, findings, |claim, subject, f| {
        let Some(expected) = of_means(claim.quantity, subject, workload, &mean) else {
            let message = "this quantity cannot be derived from the mean numbers of the types";
            return f.add("", message);
        };
        derivation(claim, Method::ExactRenewalReward, &holds_for, f);
        let is_number = claim.quantity == Quantity::MeanNumber && subject.is_some();
        match (&numbers, subject) {
            (Some(_), _) if is_close(claim.value, expected, QUEUES) => f.stands("", CYCLES),
            (None, Some(i)) if is_number => {
                let least = workload.types()[i].offered_load();
                if claim.value.is_finite() && claim.value >= least {
                    f.stands("", TOO_LARGE);
                } else {
                    f.differs("value", claim.value, format!("at least {least}"));
                }
            }
            (None, _) => value(claim, expected, SUMMED, f),
            (Some(_), _) => f.differs("value", claim.value, expected),
        }
    });
}

/// Returns the round of a loop, and checks its stability. `None` if it has too many stages.
pub(super) fn round(
    document: &Document<'_>,
    policy: &MsrConfig,
    findings: &mut Findings,
) -> Option<Round> {
    let round = Round::of(document.workload, policy);
    let mut claims = document.claims.iter();
    if let Some(round) = &round {
        let loads = round.loads(document.workload);
        let site = ("policy.msr.switching_rate", "the policy");
        document.check_stable(site, &loads, findings);
    } else if let Some(n) = claims.position(|claim| claim.method != Method::ExactProgram) {
        let message = format!(
            "{}: the route has too many stages to enumerate, and claims[{n}] depends on it; expected a route with fewer",
            policy.route
        );
        findings.add("policy.msr.route", message);
    }
    round
}

pub(super) fn of_loop(document: &Document<'_>, round: Option<&Round>, findings: &mut Findings) {
    // Queues are expensive to solve, so they are not solved for an artifact that is already wrong.
    let solvable = round.filter(|_| findings.is_empty());
    let queues = solvable.and_then(|round| Queues::new(document, round));
    each_but_load(document, findings, |claim, subject, f| {
        let Some(method) = method(claim) else {
            let expected = "a quantity that follows from the chain and its queues";
            return f.differs("quantity", written(&claim.quantity), expected);
        };
        derivation(claim, method, &conditions(document, subject, method), f);
        if !claim.value.is_finite() {
            f.differs("value", claim.value, "a finite number");
        } else if let Some(round) = round {
            let own = Derivation {
                document,
                claim,
                subject,
                method,
                round,
            };
            own.value(queues.as_ref(), f);
        }
    });
}

/// Returns the derivation of a claim about a loop, if any. A new quantity must be decided here.
fn method(claim: &Claim) -> Option<Method> {
    let is_approximate = claim.method == Method::ApproximationQueueLength;
    Some(match claim.quantity {
        Quantity::LargestStableSwitchingRate => Method::ExactRenewalReward,
        Quantity::Load
        | Quantity::MeanSchedule
        | Quantity::WorkingTime
        | Quantity::SwitchingFrequency => Method::ExactStationaryLaw,
        Quantity::MeanNumberAtLeast | Quantity::MeanNumberAtMost => {
            Method::BoundRelativeCompletions
        }
        Quantity::MeanNumber | Quantity::MeanResponse if is_approximate => claim.method,
        Quantity::MeanNumber
        | Quantity::MeanResponse
        | Quantity::WeightedResponse
        | Quantity::NumberAbove
        | Quantity::ResponseP50
        | Quantity::ResponseP95
        | Quantity::ResponseP99 => Method::ExactQbd,
        Quantity::LoadUnderGuard
        | Quantity::WaitingP50
        | Quantity::WaitingP95
        | Quantity::WaitingP99
        | Quantity::WaitingAbove
        | Quantity::ResponseAbove => return None,
    })
}

/// Returns the conditions of a claim. The chain depends on sizes if its routes await completions.
fn conditions(document: &Document<'_>, subject: Option<usize>, method: Method) -> HoldsFor {
    let own = Conditions::analysed();
    match method {
        Method::ExactQbd => of_laws(modelled_size_distribution(document, subject), own),
        Method::BoundRelativeCompletions => of_laws(SizeAssumption::Exponential, own),
        Method::ExactStationaryLaw | Method::ExactRenewalReward => HoldsFor {
            sizes: (!document.rule.preempts()).then_some(SizeAssumption::Exponential),
            arrivals: None,
            own,
        },
        _ => HoldsFor {
            own,
            ..HoldsFor::default()
        },
    }
}

/// Returns the size distribution for which the queues of a type or of all are solved: with the
/// stages of the sizes, unless the chain waits for completions, for which sizes are exponential.
fn modelled_size_distribution(document: &Document<'_>, subject: Option<usize>) -> SizeAssumption {
    let staged = |kind: &JobType| {
        let size = kind.holding_time();
        !size.is_exponential() && size.phases().is_some()
    };
    let types = document.workload.types();
    let about = subject.map_or(types, |i| &types[i..=i]);
    if document.rule.preempts() && about.iter().any(staged) {
        SizeAssumption::PhaseType
    } else {
        SizeAssumption::Exponential
    }
}

struct Derivation<'a> {
    document: &'a Document<'a>,
    claim: &'a Claim,
    subject: Option<usize>,
    method: Method,
    round: &'a Round,
}

impl Derivation<'_> {
    fn value(&self, queues: Option<&Queues<'_>>, findings: &mut Findings) {
        let (round, workload) = (self.round, self.document.workload);
        let expected = match (self.claim.quantity, self.subject) {
            (Quantity::LargestStableSwitchingRate, _) => return self.largest_rate(findings),
            (Quantity::MeanSchedule, Some(i)) => round.mean_schedule()[i],
            (Quantity::Load, Some(i)) => round.loads(workload)[i],
            (Quantity::WorkingTime, _) => round.working_time(),
            (Quantity::SwitchingFrequency, _) => round.switching_frequency(),
            _ => {
                return match queues {
                    Some(queues) if self.affords(queues) => self.of_queues(queues, findings),
                    Some(queues) => self.too_large(queues, findings),
                    None => {}
                };
            }
        };
        value(self.claim, expected, RENEWAL, findings);
    }

    /// Compares the inverse of the rate: the digits of an almost infinite rate have no meaning.
    fn largest_rate(&self, findings: &mut Findings) {
        const ROUNDING_ERRORS: f64 = 1e3;
        let found = self.claim.value;
        let (period, error) = self.round.least_stable_period(self.document.workload);
        let allowed = CHAIN * period + ROUNDING_ERRORS * error;
        if found > 0.0 && (1.0 / found - period).abs() <= allowed {
            findings.stands("", RENEWAL);
        } else if period > 0.0 {
            findings.differs("value", found, 1.0 / period);
        } else {
            findings.differs("value", found, "none: every rate is stable");
        }
    }

    fn affords(&self, queues: &Queues<'_>) -> bool {
        let all = 0..self.document.workload.types().len();
        let types = self.subject.map_or(all, |i| i..i + 1);
        let bounded = self.method == Method::BoundRelativeCompletions;
        let mut solved = types.filter(|i| !bounded && !self.is_approximate(*i));
        solved.all(|i| queues.solved(i).is_some())
    }

    /// Returns whether the claim uses the approximate mean number of type i: if it is approximate,
    /// unless it is a sum over the types and there is an exact claim about type i.
    fn is_approximate(&self, i: usize) -> bool {
        let claimed = self.document.mean_number(i);
        let exact = claimed.is_some_and(|c| c.method == Method::ExactQbd);
        self.method == Method::ApproximationQueueLength && !(self.subject.is_none() && exact)
    }

    fn of_queues(&self, queues: &Queues<'_>, findings: &mut Findings) {
        let (claim, quantity) = (self.claim, self.claim.quantity);
        let mean = |i: usize| match self.is_approximate(i) {
            true => Some(queues.bound(i, Quantity::MeanNumber)),
            false => Some(queues.solved(i)?.mean),
        };
        let percentile = quantity.row().measure.percentile();
        let expected = match (quantity, self.subject) {
            (Quantity::MeanNumberAtLeast | Quantity::MeanNumberAtMost, Some(i)) => {
                Some(queues.bound(i, quantity))
            }
            (Quantity::NumberAbove, Some(i)) => claim.at.and_then(|at| queues.above(i, at)),
            (_, Some(i)) if percentile.is_some() => queues.within(i, claim.value),
            (_, subject) => of_means(quantity, subject, self.document.workload, &mean),
        };
        let is_late = |i| {
            let solved = queues.solved(i).filter(|_| percentile.is_some());
            solved.is_some_and(|own| own.within.is_none())
        };
        let Some(expected) = expected else {
            if self.subject.is_some_and(is_late) {
                return findings.stands("", TOO_LARGE);
            }
            let message = "cannot be derived again: the queue has no such number";
            return findings.add("value", format!("{} {message}", claim.value));
        };
        let is_solved = self.method == Method::ExactQbd;
        let slack = self.agreement() + queues.error(self.subject, is_solved);
        // For a percentile, the fractions of jobs beyond it are compared.
        let agrees = match percentile {
            Some(p) => is_close(1.0 - p, 1.0 - expected, slack),
            None => is_close(claim.value, expected, slack),
        };
        match percentile {
            _ if agrees && is_solved => findings.stands("", SOLVED),
            _ if agrees => findings.stands("", FORMULA),
            Some(p) => {
                let expected = format!(
                    "the time within which a fraction {p} of the jobs leave, not {expected}"
                );
                findings.differs("value", claim.value, expected);
            }
            None => findings.differs("value", claim.value, expected),
        }
    }

    /// Returns the tolerance, because the rounding of the rates matters if the load is close to 1.
    fn agreement(&self) -> f64 {
        let spares = self.round.loads(self.document.workload).into_iter();
        let least_spare = spares.map(|load| 1.0 - load).fold(1.0, f64::min);
        QUEUES + 200.0 * f64::EPSILON / least_spare
    }

    /// Checks a claim about a queue that is too large: its mean must be between the bounds and not
    /// the approximation, and other claims consistent with the claimed means.
    fn too_large(&self, queues: &Queues<'_>, findings: &mut Findings) {
        let (found, quantity) = (self.claim.value, self.claim.quantity);
        if let (Quantity::MeanNumber, Some(i)) = (quantity, self.subject) {
            // The bounds assume exponential sizes.
            let sizes = modelled_size_distribution(self.document, self.subject);
            if sizes != SizeAssumption::Exponential {
                return findings.stands("", TOO_LARGE);
            }
            let least = queues.bound(i, Quantity::MeanNumberAtLeast);
            let most = queues.bound(i, Quantity::MeanNumberAtMost);
            let approximation = queues.bound(i, Quantity::MeanNumber);
            let is_inner = least < approximation && approximation < most;
            return if !(least * (1.0 - QUEUES)..=most * (1.0 + QUEUES)).contains(&found) {
                findings.differs("value", found, format!("from {least} to {most}"));
            } else if is_inner && is_close(found, approximation, CHAIN) {
                findings.add("value", format!("{found}, which is only the approximation"));
            } else {
                findings.stands("", BOUNDED);
            };
        }
        let claimed = |i: usize| Some(self.document.mean_number(i)?.value);
        match of_means(quantity, self.subject, self.document.workload, &claimed) {
            Some(expected) => value(self.claim, expected, SUMMED, findings),
            None => findings.stands("", TOO_LARGE),
        }
    }
}
