//! Claims of rules that look at queues: the program's load, and what was simulated. The second
//! derivation of the latter is another simulation, which is not this checker's work; here they
//! have to make sense: to agree with each other, to be no less than any rule can have, and to be known
//! no better than so many jobs can tell.

use super::least::Least;
use super::{Document, claims};
use crate::artifact::{Claim, Conditions, Evidence, HoldsFor, Measure, Method, Quantity};
use crate::workload::JobType;
use synth_core::artifact::{Findings, Grounds, Quantity as _, Side, SizeLaw, written};

const SENSE: Grounds = Grounds::Judged(
    "Little's law, the sums over types, what no rule can have less of, and what so many jobs can tell",
);
const TAIL: Grounds = Grounds::Judged("Markov's inequality with the mean response time");
const GUARDED: Grounds = Grounds::Derived("one round of the guard's loop, as a renewal cycle");

/// How many half-widths a simulated mean may be off, since what was synthesized must not be refused by chance.
const SPREAD: f64 = 3.0;

/// Relative rounding allowed in what no rule can have less of.
const ROUNDING: f64 = 1e-9;

/// A half-width is not below this part of the standard error that sizes alone give a mean over all
/// jobs that were simulated: from eight replications one so small comes by chance once in 10^10 times.
const NARROW: f64 = 0.02;

/// How far means of the same run may differ, relatively: jobs at its ends count in one and not in
/// the other.
const SLACK: f64 = 1e-3;

const NO_RUN: &str = "simulated, expected the run of it in `evidence.simulation`";

/// Simulated claims, and what they are about.
struct Simulated<'a> {
    document: &'a Document<'a>,
    /// The loads while a guard is in charge, if there is one and they could be derived.
    under_guard: Option<Vec<f64>>,
    /// What no rule can have less of.
    least: Least,
}

/// Checks the claims about the rule, whose guard has these loads, by the prices of the evidence where that is right.
pub(super) fn check(
    document: &Document<'_>,
    under_guard: Option<Vec<f64>>,
    evidence: Option<&Evidence>,
    findings: &mut Findings,
) {
    let simulated = Simulated {
        document,
        under_guard,
        least: Least::new(evidence, document.workload, document.rule),
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

/// Returns what a claimed mean is at most.
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
                if measure.is_of_a_time() || measure.percentile().is_some() {
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

    /// Checks a load while the guard is in charge; that it is below 1 is said of the policy.
    fn under_guard(&self, claim: &Claim, subject: Option<usize>, findings: &mut Findings) {
        let (Quantity::LoadUnderGuard, Some(i)) = (claim.quantity, subject) else {
            return findings.add("", "expected the load of a type under guard");
        };
        let Some(loads) = &self.under_guard else {
            let message = "expected no such claim: no guard whose chain could be derived";
            return findings.add("method", message);
        };
        let holds_for = claims::of_laws(SizeLaw::Exponential, Conditions::default());
        claims::derivation(claim, Method::ProofByGuard, &holds_for, findings);
        claims::value(claim, loads[i], GUARDED, findings);
    }

    /// Checks a mean with its interval.
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
        let least = self.least.of(&factors);
        if !claim.value.is_finite() || !(0.0..=claim.value).contains(&half_width) {
            let message =
                "expected a finite value with the half-width of its interval, and not more than it";
            findings.add("", message);
        } else if upper(claim) < least * (1.0 - ROUNDING) {
            findings.differs("value", claim.value, format!("at least {least}"));
        } else if half_width < narrowest {
            let expected = format!(
                "at least {narrowest}: the sizes of all jobs of {} events vary by more",
                run.events
            );
            findings.differs("half_width", half_width, expected);
        } else {
            findings.stands("", SENSE);
        }
    }

    /// Checks a fraction of jobs that take longer than a time, or a time that a fraction of the jobs exceed: how it was
    /// simulated is on record, and the mean allows for it.
    fn tail(&self, claim: &Claim, subject: Option<usize>, findings: &mut Findings) {
        let (value, half_width) = (claim.value, claim.half_width.unwrap_or(f64::NAN));
        // That none of the jobs seen took longer is a fraction of 0, known within some interval.
        let measure = claim.quantity.row().measure;
        let is_possible = if measure.is_of_a_time() {
            [value, half_width].iter().all(|x| (0.0..=1.0).contains(x))
        } else {
            // No job need wait, and each runs.
            let is_of_waits = matches!(measure, Measure::WaitingPercentile(_));
            let has_sign = value > 0.0 || is_of_waits && value == 0.0;
            has_sign && value.is_finite() && (0.0..=value).contains(&half_width)
        };
        let is_a_time = |time: f64| time > 0.0 && time.is_finite();
        let narrowest = subject.filter(|_| measure.is_of_a_time());
        let narrowest = narrowest.and_then(|i| self.narrowest_of_a_fraction(claim, i));
        let most = self.markov(claim);
        if self.document.evidence.simulation.is_none() {
            findings.add("method", NO_RUN);
        } else if !is_possible {
            let message = "expected a positive value with the half-width of its interval, and not more than it; of a fraction at most 1 both, and it may be 0";
            findings.add("", message);
        } else if !claim.longer_than.is_none_or(is_a_time) {
            findings.add("longer_than", "expected a positive time");
        } else if let Some(least) = narrowest.filter(|least| half_width < *least) {
            let expected = format!("at least {least}: so many jobs cannot tell it any closer");
            findings.differs("half_width", half_width, expected);
        } else if let Some(most) = most.filter(|most| value > *most) {
            let expected = format!("at most {most} by the mean response time");
            findings.differs("value", value, expected);
        } else {
            findings.stands("", TAIL);
        }
    }

    /// Returns what a tail is at most by Markov's inequality, `t P(T > t) ≤ E[T]`, within the intervals.
    fn markov(&self, claim: &Claim) -> Option<f64> {
        let mean = upper(
            self.document
                .find(Quantity::MeanResponse, claim.job_type.as_deref())?,
        );
        let most = match claim.longer_than {
            Some(time) => mean / time,
            None => mean / (1.0 - claim.quantity.row().measure.percentile()?),
        };
        Some(most + SPREAD * half_width(claim))
    }

    /// Returns how many of so many events are arrivals of a type, or as many.
    fn jobs(&self, kind: &JobType, events: u64) -> f64 {
        events as f64 * (kind.arrival_rate() / self.document.workload.total_arrival_rate())
    }

    /// Returns the least half-width of `Σ a_i E[N_i]`, which is `Σ a_i λ_i E[T_i]`: a job's response time is
    /// as uncertain as its size at least.
    fn narrowest(&self, factors: &[f64], events: u64) -> f64 {
        let types = self.document.workload.types().iter().zip(factors);
        let variance = |(kind, a): (&JobType, &f64)| {
            (a * kind.offered_load()).powi(2) * kind.holding().scv() / self.jobs(kind, events)
        };
        NARROW * types.map(variance).sum::<f64>().sqrt()
    }

    /// Returns the least half-width of a fraction of type i's jobs: as if each of them counted by itself; and where so
    /// many are all alike, three more may not be.
    fn narrowest_of_a_fraction(&self, claim: &Claim, i: usize) -> Option<f64> {
        let events = self.document.evidence.simulation?.events;
        let jobs = self.jobs(&self.document.workload.types()[i], events);
        let spread = (claim.value * (1.0 - claim.value) / jobs).sqrt();
        Some(NARROW * spread.max(3.0 / jobs))
    }

    /// Returns the claims of a quantity of all types, if there are as many.
    fn of_types(&self, quantity: Quantity) -> Option<Vec<&Claim>> {
        let types = self.document.workload.types().iter();
        types
            .map(|t| self.document.find(quantity, Some(t.name())))
            .collect()
    }

    /// Checks that the mean numbers of all types are together no less than any rule can have.
    fn together(&self, findings: &mut Findings) {
        let numbers = self.of_types(Quantity::MeanNumber);
        let numbers = numbers.map(|claims| claims.into_iter().map(upper).collect::<Vec<f64>>());
        if let Some(missing) = numbers.and_then(|numbers| self.least.missing(&numbers)) {
            let message = format!(
                "the mean numbers of the types are together {:.1} % below what every rule has",
                100.0 * missing
            );
            findings.add("", message);
        }
    }

    /// Checks that what is claimed of all types is the sum over them: `E[N] = Σ E[N_i]`, `Σ w_i E[T_i]`, within the
    /// intervals.
    fn sums(&self, findings: &mut Findings) {
        let shares = self.document.workload.load_shares();
        let ones = vec![1.0; shares.len()];
        for (of_all, of_types, weights) in [
            (Quantity::MeanNumber, Quantity::MeanNumber, ones),
            (Quantity::WeightedResponse, Quantity::MeanResponse, shares),
        ] {
            let (Some(all), Some(parts)) =
                (self.document.find(of_all, None), self.of_types(of_types))
            else {
                continue;
            };
            let sum = |number: fn(&Claim) -> f64| -> f64 {
                parts.iter().zip(&weights).map(|(c, w)| w * number(c)).sum()
            };
            let (value, width) = (sum(|c| c.value), sum(half_width));
            if (all.value - value).abs() > half_width(all) + width + SLACK * value {
                let name = written(&of_all);
                let message = format!(
                    "{name} {} is not {value}, the sum over the types",
                    all.value
                );
                findings.add("", message);
            }
        }
    }

    /// Checks that percentiles of a type ascend, and that jobs wait no longer than they stay, within both intervals.
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
                let both =
                    [less, more].map(|quantity| self.document.find(quantity, Some(kind.name())));
                let [Some(low), Some(high)] = both else {
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

    /// Checks that `E[N_i] = λ_i E[T_i]`, within both intervals.
    fn littles_law(&self, findings: &mut Findings) {
        let workload = self.document.workload;
        let all = (None, workload.total_arrival_rate());
        let types = workload.types().iter();
        let each = types.map(|t| (Some(t.name()), t.arrival_rate()));
        for (name, rate) in std::iter::once(all).chain(each) {
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
