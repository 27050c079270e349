//! Claims of rules that depend on queue lengths. The checker does not simulate: values must agree
//! with each other and with lower bounds, and intervals must not be too narrow for the number of
//! jobs.

use super::least::NumberLowerBounds;
use super::{Document, claims};
use crate::artifact::{Claim, Conditions, Evidence, HoldsFor, Measure, Method, Quantity};
use crate::workload::JobType;
use synth_core::artifact::{Findings, Grounds, Quantity as _, Side, SizeAssumption, written};

const SENSE: Grounds = Grounds::Judged(
    "Little's law, the sums over types, lower bounds for every policy, and the precision possible with this many jobs",
);
const TAIL: Grounds = Grounds::Judged("Markov's inequality with the mean response time");
const GUARDED: Grounds = Grounds::Derived("one round of the guard's loop, as a renewal cycle");

/// The number of half-widths that is allowed, so that an artifact is not rejected by chance.
const SPREAD: f64 = 3.0;

const ROUNDING: f64 = 1e-9;

/// Lower limit of a half-width, relative to the standard error that sizes alone cause. Eight
/// replications fall below it with a probability of 10^-10.
const NARROW: f64 = 0.02;

/// The relative tolerance between means of a run, of which only one may count jobs at its ends.
const SLACK: f64 = 1e-3;

const NO_RUN: &str = "simulated, expected its run in `evidence.simulation`";

struct Simulated<'a> {
    document: &'a Document<'a>,
    under_guard: Option<Vec<f64>>,
    least: NumberLowerBounds,
}

pub(super) fn check(
    document: &Document<'_>,
    under_guard: Option<Vec<f64>>,
    evidence: Option<&Evidence>,
    findings: &mut Findings,
) {
    let simulated = Simulated {
        document,
        under_guard,
        least: NumberLowerBounds::new(evidence, document.workload, document.rule),
    };
    claims::each(document, findings, |claim, subject, f| {
        simulated.claim(claim, subject, f);
    });
    findings.within("claims", |f| {
        simulated.littles_law(f);
        simulated.sums(f);
        simulated.together(f);
        simulated.in_order(f);
    });
}

fn half_width(claim: &Claim) -> f64 {
    claim.half_width.unwrap_or(0.0)
}

fn upper(claim: &Claim) -> f64 {
    claim.value + SPREAD * half_width(claim)
}

impl Simulated<'_> {
    fn claim(&self, claim: &Claim, subject: Option<usize>, findings: &mut Findings) {
        match claim.method {
            Method::ExactProgram if claim.quantity == Quantity::Load && subject.is_none() => {
                claims::load(self.document, claim, findings);
            }
            Method::ExactProgram => findings.add("", "expected the load of the whole workload"),
            Method::ProofByGuard => self.under_guard(claim, subject, findings),
            Method::Simulated => {
                let holds_for = HoldsFor::default();
                claims::derivation(claim, Method::Simulated, &holds_for, findings);
                let measure = claim.quantity.row().measure;
                if measure.has_time_limit() || measure.percentile().is_some() {
                    self.tail(claim, subject, findings);
                } else {
                    self.mean(claim, subject, findings);
                }
            }
            other => {
                let expected = "exact-program, proof-by-guard or simulated";
                findings.differs("method", written(&other), expected);
            }
        }
    }

    fn under_guard(&self, claim: &Claim, subject: Option<usize>, findings: &mut Findings) {
        let (Quantity::LoadUnderGuard, Some(i)) = (claim.quantity, subject) else {
            return findings.add("", "expected the load of a type under guard");
        };
        let Some(loads) = &self.under_guard else {
            let message = "expected no such claim: there is no guard whose chain could be derived";
            return findings.add("method", message);
        };
        let holds_for = claims::of_laws(SizeAssumption::Exponential, Conditions::default());
        claims::derivation(claim, Method::ProofByGuard, &holds_for, findings);
        claims::value(claim, loads[i], GUARDED, findings);
    }

    fn mean(&self, claim: &Claim, subject: Option<usize>, findings: &mut Findings) {
        let factors = match claim.quantity.row().measure {
            Measure::Number(Side::AtLeast | Side::AtMost) => None,
            measure => measure.weights(subject, self.document.workload),
        };
        let Some(factors) = factors else {
            let expected = "a mean number or a mean response time";
            return findings.differs("quantity", written(&claim.quantity), expected);
        };
        let Some(run) = self.document.evidence.simulation else {
            return findings.add("method", NO_RUN);
        };
        let half_width = claim.half_width.unwrap_or(f64::NAN);
        let narrowest = self.narrowest(&factors, run.events);
        let least = self.least.lower_bound(&factors);
        if !claim.value.is_finite() || !(0.0..=claim.value).contains(&half_width) {
            let message = "expected a finite value and the half-width of its interval, which is at most the value";
            findings.add("", message);
        } else if upper(claim) < least * (1.0 - ROUNDING) {
            findings.differs("value", claim.value, format!("at least {least}"));
        } else if half_width < narrowest {
            let expected = format!(
                "at least {narrowest}: job sizes alone cause a larger spread over {} events",
                run.events
            );
            findings.differs("half_width", half_width, expected);
        } else {
            findings.stands("", SENSE);
        }
    }

    fn tail(&self, claim: &Claim, subject: Option<usize>, findings: &mut Findings) {
        let (value, half_width) = (claim.value, claim.half_width.unwrap_or(f64::NAN));
        let measure = claim.quantity.row().measure;
        // A fraction may be zero, if no job took longer.
        let is_possible = if measure.has_time_limit() {
            [value, half_width].iter().all(|x| (0.0..=1.0).contains(x))
        } else {
            // The wait may be zero, the response time may not.
            let is_of_waits = matches!(measure, Measure::WaitingPercentile(_));
            let has_sign = value > 0.0 || is_of_waits && value == 0.0;
            has_sign && value.is_finite() && (0.0..=value).contains(&half_width)
        };
        let is_a_time = |time: f64| time > 0.0 && time.is_finite();
        let narrowest = subject.filter(|_| measure.has_time_limit());
        let narrowest = narrowest.and_then(|i| self.narrowest_of_a_fraction(claim, i));
        let most = self.markov(claim);
        if self.document.evidence.simulation.is_none() {
            findings.add("method", NO_RUN);
        } else if !is_possible {
            let message = "expected a positive value and the half-width of its interval, which is at most the value; for a fraction, both from 0 to 1";
            findings.add("", message);
        } else if !claim.longer_than.is_none_or(is_a_time) {
            findings.add("longer_than", "expected a positive time");
        } else if let Some(least) = narrowest.filter(|least| half_width < *least) {
            let expected = format!("at least {least}, the precision possible with this many jobs");
            findings.differs("half_width", half_width, expected);
        } else if let Some(most) = most.filter(|most| value > *most) {
            let expected =
                format!("at most {most}, by Markov's inequality with the mean response time");
            findings.differs("value", value, expected);
        } else {
            findings.stands("", TAIL);
        }
    }

    /// Returns the upper limit of a tail by Markov's inequality, `t P(T > t) ≤ E[T]`.
    fn markov(&self, claim: &Claim) -> Option<f64> {
        let name = claim.job_type.as_deref();
        let mean = upper(self.document.find(Quantity::MeanResponse, name)?);
        let most = match claim.longer_than {
            Some(time) => mean / time,
            None => mean / (1.0 - claim.quantity.row().measure.percentile()?),
        };
        Some(most + SPREAD * half_width(claim))
    }

    fn jobs(&self, kind: &JobType, events: u64) -> f64 {
        events as f64 * (kind.arrival_rate() / self.document.workload.total_arrival_rate())
    }

    /// Returns the least plausible half-width of `Σ a_i E[N_i]`: response times vary like sizes.
    fn narrowest(&self, factors: &[f64], events: u64) -> f64 {
        let types = self.document.workload.types().iter().zip(factors);
        let variance = |(kind, a): (&JobType, &f64)| {
            (a * kind.offered_load()).powi(2) * kind.holding_time().scv() / self.jobs(kind, events)
        };
        NARROW * types.map(variance).sum::<f64>().sqrt()
    }

    /// Returns the least plausible half-width of a fraction of independent jobs, or the rule of
    /// three.
    fn narrowest_of_a_fraction(&self, claim: &Claim, i: usize) -> Option<f64> {
        let events = self.document.evidence.simulation?.events;
        let jobs = self.jobs(&self.document.workload.types()[i], events);
        let spread = (claim.value * (1.0 - claim.value) / jobs).sqrt();
        Some(NARROW * spread.max(3.0 / jobs))
    }

    fn of_types(&self, quantity: Quantity) -> Option<Vec<&Claim>> {
        let types = self.document.workload.types().iter();
        let claims = types.map(|t| self.document.find(quantity, Some(t.name())));
        claims.collect()
    }

    fn together(&self, findings: &mut Findings) {
        let claims = self.of_types(Quantity::MeanNumber);
        let numbers = claims.map(|claims| claims.into_iter().map(upper).collect::<Vec<f64>>());
        if let Some(missing) = numbers.and_then(|numbers| self.least.missing(&numbers)) {
            let message = format!(
                "the mean numbers of the types are together {:.1} % below the lower bound for every policy",
                100.0 * missing
            );
            findings.add("", message);
        }
    }

    /// Checks that `E[N] = Σ E[N_i]` and `Σ w_i E[T_i]` hold within the intervals.
    fn sums(&self, findings: &mut Findings) {
        let shares = self.document.workload.load_shares();
        let ones = vec![1.0; shares.len()];
        for (of_all, of_types, weights) in [
            (Quantity::MeanNumber, Quantity::MeanNumber, ones),
            (Quantity::WeightedResponse, Quantity::MeanResponse, shares),
        ] {
            let all = self.document.find(of_all, None);
            let (Some(all), Some(parts)) = (all, self.of_types(of_types)) else {
                continue;
            };
            let sum = |number: fn(&Claim) -> f64| -> f64 {
                parts.iter().zip(&weights).map(|(c, w)| w * number(c)).sum()
            };
            let (value, width) = (sum(|c| c.value), sum(half_width));
            if (all.value - value).abs() > half_width(all) + width + SLACK * value {
                let (name, found) = (written(&of_all), all.value);
                let message = format!("{name} {found} is not {value}, the sum over the types");
                findings.add("", message);
            }
        }
    }

    fn in_order(&self, findings: &mut Findings) {
        use Quantity::{ResponseP50, ResponseP95, ResponseP99, WaitingP50, WaitingP95, WaitingP99};
        let pairs = [
            (WaitingP50, WaitingP95),
            (WaitingP95, WaitingP99),
            (ResponseP50, ResponseP95),
            (ResponseP95, ResponseP99),
            (WaitingP50, ResponseP50),
            (WaitingP95, ResponseP95),
            (WaitingP99, ResponseP99),
        ];
        for kind in self.document.workload.types() {
            for (less, more) in pairs {
                let found = |quantity| self.document.find(quantity, Some(kind.name()));
                let (Some(low), Some(high)) = (found(less), found(more)) else {
                    continue;
                };
                if low.value - SPREAD * half_width(low) > upper(high) {
                    let [less, more] = [less, more].map(|own| written(&own));
                    let message = format!("{less} of {} is above {more}", kind.name());
                    findings.add("", message);
                }
            }
        }
    }

    fn littles_law(&self, findings: &mut Findings) {
        let workload = self.document.workload;
        let all = [(None, workload.total_arrival_rate())];
        let types = workload.types().iter();
        let each = types.map(|t| (Some(t.name()), t.arrival_rate()));
        for (name, rate) in all.into_iter().chain(each) {
            let number = self.document.find(Quantity::MeanNumber, name);
            let response = self.document.find(Quantity::MeanResponse, name);
            let (Some(number), Some(response)) = (number, response) else {
                continue;
            };
            let spread = half_width(number) + rate * half_width(response);
            let off = (number.value - rate * response.value).abs();
            if off > SPREAD * spread + SLACK * number.value {
                let message = format!(
                    "the mean number {} of {} is not the arrival rate times the mean response time {}",
                    number.value,
                    name.unwrap_or("all types"),
                    response.value
                );
                findings.add("", message);
            }
        }
    }
}
