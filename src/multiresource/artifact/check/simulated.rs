//! Claims of rules that look at queues: the program's load, and what was simulated. The second
//! derivation of the latter is another simulation, which is not this checker's work; here they
//! have to make sense: to agree with each other, to be no less than any rule can have, and to be known
//! no better than so many jobs can tell.

use std::collections::HashSet;

use super::claims::{CHAIN, PROGRAM};
use super::least::Least;
use super::{Document, Round, partition};
use crate::artifact::{
    ArrivalLaw, Findings, Grounds, Known, Quantity as _, Side, SizeLaw, is_close, written,
};
use crate::multiresource::artifact::{Claim, Family, Guard, HoldsFor, Measure, Method, Quantity};
use crate::multiresource::workload::JobType;

const SENSE: Grounds = Grounds::Judged(
    "Little's law, the sums over types, what no rule can have less of, and what so many jobs can tell",
);

const TAIL: Grounds = Grounds::Judged("Markov's inequality with the mean response time");

const GUARDED: Grounds = Grounds::Derived("one round of the guard's loop, as a renewal cycle");

/// How many half-widths a simulated mean may be off, since what was made must not be refused by chance.
const SPREAD: f64 = 3.0;

/// Relative rounding allowed in what no rule can have less of.
const ROUNDING: f64 = 1e-9;

/// Simulated claims, and what they are about.
struct Simulated<'a> {
    document: &'a Document<'a>,
    /// The loads while a guard is in charge, if there is one and they could be derived.
    under_guard: Option<Vec<f64>>,
    /// What no rule can have less of.
    least: Least,
}

/// The claims about the rule.
pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    let evidence = findings.is_clear("evidence").then_some(document.evidence);
    let simulated = Simulated {
        document,
        least: Least::new(evidence, document.workload, document.rule),
        under_guard: under_guard(document, findings),
    };
    simulated.check(findings);
}

/// See [`Simulated::under_guard`].
fn under_guard(document: &Document<'_>, findings: &Findings) -> Option<Vec<f64>> {
    let Family::Guarded(policy) = document.rule else {
        return None;
    };
    match &policy.guard {
        _ if !findings.is_clear("policy") => None,
        Guard::Partition(guard) => Some(partition::loads(guard, document.workload)),
        Guard::Msr(guard) => Some(Round::of(document.workload, guard)?.loads(document.workload)),
    }
}

impl Claim {
    /// Whether it is about how many jobs take long.
    fn is_of_tail(&self) -> bool {
        match self.quantity.row().measure {
            Measure::Percentile(_) => self.job_type.is_none(),
            measure => measure.is_of_a_time(),
        }
    }
}

/// A half-width is not below this part of the standard error that sizes alone give a mean over all
/// jobs that were simulated: from eight replications one so small comes by chance once in 10^10 times.
const NARROW: f64 = 0.02;

const NO_RUN: &str = "simulated, expected the run of it in `evidence.simulation`";

impl Simulated<'_> {
    fn check(&self, findings: &mut Findings) {
        let workload = self.document.workload;
        let types: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
        let known = Known {
            types: &types,
            ..Known::default()
        };
        let mut before = HashSet::new();
        for (n, claim) in self.document.claims.iter().enumerate() {
            let path = format!("claims[{n}]");
            if !before.insert((claim.quantity, claim.subject(), claim.time())) {
                findings.add(path, "claims what another one claims");
            } else if claim.has_subject(&path, &known, findings) {
                self.labels(claim, &path, findings);
                self.value(claim, &path, findings);
            }
        }
        littles_law(self, findings);
        sums(self, findings);
        self.together(findings);
    }

    /// Unit, conditions, and what the quantity is about.
    fn labels(&self, claim: &Claim, path: &str, findings: &mut Findings) {
        let unit = claim.quantity.unit(self.document.workload.time_unit());
        if claim.unit != unit {
            let message = format!("`{}`, expected `{unit}`", claim.unit);
            findings.add(format!("{path}.unit"), message);
        }
        let conditions = match claim.method {
            Method::ProofByGuard => HoldsFor {
                sizes: Some(SizeLaw::Exponential),
                arrivals: Some(ArrivalLaw::Poisson),
                ..HoldsFor::default()
            },
            _ => HoldsFor::default(),
        };
        if claim.holds_for != conditions {
            let (found, expected) = (written(&claim.holds_for), written(&conditions));
            let message = format!("{found}, expected {expected}");
            findings.add(format!("{path}.holds_for"), message);
        }
        if claim.at.is_some() {
            findings.add(format!("{path}.at"), "expected no number of jobs");
        }
        if claim.longer_than.is_some() != claim.quantity.row().measure.is_of_a_time() {
            let expected = "a time with a fraction of jobs that take longer, and with nothing else";
            findings.add(
                format!("{path}.longer_than"),
                format!("expected {expected}"),
            );
        }
    }

    fn value(&self, claim: &Claim, path: &str, findings: &mut Findings) {
        match claim.method {
            Method::ExactProgram => self.load(claim, path, findings),
            Method::ProofByGuard => self.under_guard(claim, path, findings),
            Method::Simulated if claim.is_of_tail() => self.tail(claim, path, findings),
            Method::Simulated => self.simulated(claim, path, findings),
            other => findings.add(
                format!("{path}.method"),
                format!(
                    "{}, expected exact-program, proof-by-guard or simulated",
                    written(&other)
                ),
            ),
        }
    }

    fn load(&self, claim: &Claim, path: &str, findings: &mut Findings) {
        let evidence = self.document.evidence;
        if claim.quantity != Quantity::Load
            || claim.job_type.is_some()
            || claim.half_width.is_some()
        {
            findings.add(
                path,
                "expected the load of the whole workload, and no interval",
            );
        } else if !self.document.is_load_proven() {
            let message = "exact, expected no such claim: the load is not proven";
            findings.add(format!("{path}.method"), message);
        } else if claim.value != evidence.load {
            let message = format!("{}, expected {}", claim.value, evidence.load);
            findings.add(format!("{path}.value"), message);
        } else {
            findings.stands(path, PROGRAM);
        }
    }

    /// A load while the guard is in charge; that it is below 1 is said of the policy.
    fn under_guard(&self, claim: &Claim, path: &str, findings: &mut Findings) {
        if claim.quantity != Quantity::LoadUnderGuard || claim.half_width.is_some() {
            return findings.add(
                path,
                "expected the load of a type under guard, and no interval",
            );
        }
        let Some(loads) = &self.under_guard else {
            let message = "expected no such claim: no guard whose chain could be derived";
            return findings.add(format!("{path}.method"), message);
        };
        let types = self.document.workload.types().iter().zip(loads);
        let own = types.filter(|(kind, _)| claim.job_type.as_deref() == Some(kind.name()));
        for (_, expected) in own {
            if is_close(claim.value, *expected, CHAIN) {
                findings.stands(path, GUARDED);
            } else {
                let message = format!("{}, expected {expected}", claim.value);
                findings.add(format!("{path}.value"), message);
            }
        }
    }

    /// A mean with its interval.
    fn simulated(&self, claim: &Claim, path: &str, findings: &mut Findings) {
        let Some(factors) = self.factors(claim) else {
            let other = written(&claim.quantity);
            let message = format!("{other}, expected a mean number or a mean response time");
            return findings.add(format!("{path}.quantity"), message);
        };
        let Some(run) = self.document.evidence.simulation else {
            return findings.add(format!("{path}.method"), NO_RUN);
        };
        let half_width = claim.half_width.unwrap_or(f64::NAN);
        let sound = claim.value.is_finite() && (0.0..=claim.value).contains(&half_width);
        let (least, narrowest) = (
            self.least.of(&factors),
            self.narrowest(&factors, run.events),
        );
        if !sound {
            findings.add(
                path,
                "expected a finite value with the half-width of its interval, and not more than it",
            );
        } else if claim.value + SPREAD * half_width < least * (1.0 - ROUNDING) {
            let message = format!("{}, expected at least {least}", claim.value);
            findings.add(format!("{path}.value"), message);
        } else if half_width < narrowest {
            let message = format!(
                "{half_width}, expected at least {narrowest}: the sizes of all jobs of {} events vary by more",
                run.events
            );
            findings.add(format!("{path}.half_width"), message);
        } else {
            findings.stands(path, SENSE);
        }
    }

    /// A fraction of jobs that take longer than a time, or the time that a hundredth of all jobs exceed:
    /// how it was simulated is on record, and the mean allows for it.
    fn tail(&self, claim: &Claim, path: &str, findings: &mut Findings) {
        let half_width = claim.half_width.unwrap_or(f64::NAN);
        // That none of the jobs seen took longer is a fraction of 0, known within some interval.
        let sound = match claim.job_type {
            Some(_) => [claim.value, half_width]
                .iter()
                .all(|x| (0.0..=1.0).contains(x)),
            None => {
                claim.value > 0.0
                    && claim.value.is_finite()
                    && (0.0..=claim.value).contains(&half_width)
            }
        };
        if self.document.evidence.simulation.is_none() {
            findings.add(format!("{path}.method"), NO_RUN);
        } else if !sound {
            let message = "expected a positive value with the half-width of its interval, and not more than it; of a fraction at most 1 both, and it may be 0";
            findings.add(path, message);
        } else if claim
            .longer_than
            .is_some_and(|time| !(time > 0.0 && time.is_finite()))
        {
            findings.add(format!("{path}.longer_than"), "expected a positive time");
        } else if let Some(least) = self
            .narrowest_of_a_fraction(claim)
            .filter(|least| half_width < *least)
        {
            let message = format!(
                "{half_width}, expected at least {least}: so many jobs cannot tell it any closer"
            );
            findings.add(format!("{path}.half_width"), message);
        } else if let Some(most) = self.markov(claim).filter(|most| claim.value > *most) {
            let message = format!(
                "{}, expected at most {most} by the mean response time",
                claim.value
            );
            findings.add(format!("{path}.value"), message);
        } else {
            findings.stands(path, TAIL);
        }
    }

    /// What a tail is at most by Markov's inequality, `t P(T > t) ≤ E[T]`, within the intervals.
    fn markov(&self, claim: &Claim) -> Option<f64> {
        let upper = |claim: &Claim| claim.value + SPREAD * claim.half_width.unwrap_or(0.0);
        let mean = upper(self.find(Quantity::MeanResponse, claim.job_type.as_deref())?);
        let own = SPREAD * claim.half_width.unwrap_or(0.0);
        let most = match claim.longer_than {
            Some(time) => mean / time,
            None => mean / (1.0 - claim.quantity.row().measure.percentile()?),
        };
        Some(most + own)
    }

    /// The a_i (K) with which a claim is `Σ a_i E[N_i]`; none where it is no such mean.
    fn factors(&self, claim: &Claim) -> Option<Vec<f64>> {
        let types = self.document.workload.types();
        let total = self.document.workload.total_arrival_rate();
        let shares = self.document.workload.load_shares();
        let name = claim.job_type.as_deref();
        let about = |kind: &JobType| name.is_none_or(|name| name == kind.name());
        let measure = claim.quantity.row().measure;
        let factor = |(kind, share): (&JobType, f64)| match measure {
            _ if !about(kind) => Some(0.0),
            Measure::Number(Side::Equal) => Some(1.0),
            Measure::Response => Some(name.map_or(1.0 / total, |_| 1.0 / kind.arrival_rate())),
            Measure::WeightedResponse => Some(share / kind.arrival_rate()),
            _ => None,
        };
        types.iter().zip(shares).map(factor).collect()
    }

    /// The least half-width of `Σ a_i E[N_i]`, which is `Σ a_i λ_i E[T_i]`: a job's response time is
    /// as uncertain as its size at least.
    fn narrowest(&self, factors: &[f64], events: u64) -> f64 {
        let types = self.document.workload.types().iter().zip(factors);
        let variance = |(kind, a): (&JobType, &f64)| {
            let part = kind.arrival_rate() / self.document.workload.total_arrival_rate();
            let jobs = events as f64 * part;
            (a * kind.offered_load()).powi(2) * kind.holding().scv() / jobs
        };
        NARROW * types.map(variance).sum::<f64>().sqrt()
    }

    /// The least half-width of a fraction of a type's jobs: as if each of them told by itself; and where so many are all
    /// alike, three more may not be.
    fn narrowest_of_a_fraction(&self, claim: &Claim) -> Option<f64> {
        let mut types = self.document.workload.types().iter();
        let kind = types.find(|kind| claim.job_type.as_deref() == Some(kind.name()))?;
        let part = kind.arrival_rate() / self.document.workload.total_arrival_rate();
        let jobs = self.document.evidence.simulation?.events as f64 * part;
        let spread = (claim.value * (1.0 - claim.value) / jobs).sqrt();
        Some(NARROW * spread.max(3.0 / jobs))
    }

    /// The mean numbers of all types are together no less than any rule can have.
    fn together(&self, findings: &mut Findings) {
        let most = |kind: &JobType| {
            let claim = self.find(Quantity::MeanNumber, Some(kind.name()))?;
            Some(claim.value + SPREAD * claim.half_width.unwrap_or(0.0))
        };
        let numbers: Option<Vec<f64>> = self.document.workload.types().iter().map(most).collect();
        if let Some(missing) = numbers.and_then(|numbers| self.least.missing(&numbers)) {
            let message = format!(
                "the mean numbers of the types are together {:.1} % below what every rule has",
                100.0 * missing
            );
            findings.add("claims", message);
        }
    }

    fn find(&self, quantity: Quantity, job_type: Option<&str>) -> Option<&Claim> {
        self.document.find(quantity, job_type)
    }
}

/// What is claimed of all types is the sum over them: `E[N] = Σ E[N_i]`, `Σ w_i E[T_i]`, within the
/// intervals.
fn sums(simulated: &Simulated<'_>, findings: &mut Findings) {
    let workload = simulated.document.workload;
    let shares = workload.load_shares();
    let ones = vec![1.0; shares.len()];
    for (of_all, of_types, weights) in [
        (Quantity::MeanNumber, Quantity::MeanNumber, ones),
        (Quantity::WeightedResponse, Quantity::MeanResponse, shares),
    ] {
        let (Some(all), names) = (simulated.find(of_all, None), workload.types()) else {
            continue;
        };
        let parts = names
            .iter()
            .map(|t| simulated.find(of_types, Some(t.name())));
        let Some(parts) = parts.collect::<Option<Vec<&Claim>>>() else {
            continue;
        };
        let sum = |number: fn(&Claim) -> f64| -> f64 {
            parts.iter().zip(&weights).map(|(c, w)| w * number(c)).sum()
        };
        let (value, width) = (sum(|c| c.value), sum(|c| c.half_width.unwrap_or(0.0)));
        if (all.value - value).abs() > all.half_width.unwrap_or(0.0) + width + SLACK * value {
            let message = format!(
                "{} {} is not {value}, the sum over the types",
                written(&of_all),
                all.value
            );
            findings.add("claims", message);
        }
    }
}

/// How far means of the same run may differ, relatively: jobs at its ends count in one and not in
/// the other.
const SLACK: f64 = 1e-3;

/// `E[N_i] = λ_i E[T_i]`, within both intervals.
fn littles_law(simulated: &Simulated<'_>, findings: &mut Findings) {
    let workload = simulated.document.workload;
    let all = (None, workload.total_arrival_rate());
    let types = workload.types().iter();
    let each = types.map(|t| (Some(t.name()), t.arrival_rate()));
    for (name, rate) in std::iter::once(all).chain(each) {
        let number = simulated.find(Quantity::MeanNumber, name);
        let response = simulated.find(Quantity::MeanResponse, name);
        if let (Some(number), Some(response)) = (number, response) {
            let spread =
                number.half_width.unwrap_or(0.0) + rate * response.half_width.unwrap_or(0.0);
            let off = (number.value - rate * response.value).abs();
            if off > 3.0 * spread + SLACK * number.value {
                let of = name.unwrap_or("all types");
                let message = format!(
                    "the mean number {} of {of} is not the arrival rate times the mean response time {}",
                    number.value, response.value
                );
                findings.add("claims", message);
            }
        }
    }
}
