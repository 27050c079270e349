use schemars::JsonSchema;
use serde::Serialize;

use super::{BATCHES, Estimate, student};
use synth_core::artifact::{Accuracy, Claim, Method as _, Quantity, Side, ViolatedAssumptions};

/// The verdict of a run on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The claim was not refuted, and the 95 % interval is narrower than ±5 %. If the claim is a
    /// fraction `p` above a threshold, the limit is `±5 % p ln(1/p)`, which is the change of `p` if
    /// the threshold of an exponential tail is changed by 5 %. If the claim is a bound, it is
    /// confirmed if it holds for the whole 95 % interval.
    Confirmed,
    /// The claim is outside of the interval. This interval is so wide that the probability of any
    /// claim being refuted is at most 0.001 if the artifact is correct. If the claim is a bound,
    /// the whole interval must violate it. A claim is also refuted if the run is unstable, or if
    /// there are far more jobs in all replications than the claim allows.
    Refuted,
    /// The interval is too wide, or it is not reliable because the run is too short for the memory
    /// of the queue. To be reliable, an interval must be narrower than ±10 %, and there must be at
    /// least ten jobs of the type in each batch. The interval of a fraction above a threshold must
    /// be narrow enough to confirm the claim or the measured value.
    NotEnoughEvidence,
    /// The claim is an approximation, by its method or because its assumptions are violated.
    Approximate,
    /// This cannot be measured for the policy. See [`Judgement::unexamined`] for the reason.
    NotExamined,
}

/// A claim compared with the measurement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(bound = "")]
pub struct Judgement<Q: Quantity> {
    /// The claim.
    pub claim: Claim<Q>,
    /// The measured value. For a percentile, the fraction of jobs with at most this response time.
    pub measured: Option<Estimate>,
    /// The relative error of an approximation, compared with the measurement.
    pub off: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason why the claim was not examined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexamined: Option<&'static str>,
}

/// The probability that any claim of a correct artifact is refuted.
const FALSE_ALARM: f64 = 1e-3;

/// The relative half width of a 95 % interval that confirms a claim.
const NARROW: f64 = 0.05;

/// The largest relative half width of a reliable 95 % interval. If it is wider, the batches are too
/// short to be independent: in tests, the known mean was in 95 % of the narrower intervals, but
/// sometimes in only 25 % of the wider ones.
const WIDE: f64 = 0.1;

/// The half width of a 95 % interval of many replications divided by its standard error. With few,
/// the error of a claim is overestimated, and fewer claims are refuted.
const NORMAL: f64 = 1.96;

/// With fewer than ten jobs per batch, the variation of the batch means is not reliable.
const FEWEST_JOBS: u64 = 10 * BATCHES as u64;

/// A run that measures the quantities of claims, for one kind of workload.
pub trait ClaimMeter<Q: Quantity> {
    /// Returns the reason why a claim cannot be examined, or `None` if it can.
    fn unexamined(&self, claim: &Claim<Q>) -> Option<&'static str>;

    /// Returns the assumptions of the claim that are not satisfied by the workload.
    fn unmet(&self, _: &Claim<Q>) -> ViolatedAssumptions {
        ViolatedAssumptions::default()
    }

    /// Returns the measurement for a claim, if available.
    fn found(&self, claim: &Claim<Q>) -> Option<ClaimMeasurement>;

    /// Returns the number of jobs in the second half of each replication, converged or not, divided
    /// by the claimed number plus its uncertainty; `None` if the claim is not about a queue.
    fn excess(&self, _: &Claim<Q>) -> Option<Vec<f64>> {
        None
    }
}

/// Compares all claims with a run, using the conditions for which they hold.
pub fn judge_all<'a, Q: Quantity>(
    claims: impl Iterator<Item = &'a Claim<Q>> + Clone,
    is_unstable: bool,
    run: &impl ClaimMeter<Q>,
) -> Vec<Judgement<Q>> {
    let approximate =
        |c: &Claim<Q>| c.method.accuracy() == Accuracy::Approximation || run.unmet(c).any();
    let tested = |c: &&Claim<Q>| run.unexamined(c).is_none() && !approximate(c);
    // There are two ways to refute a claim.
    let count = 2 * claims.clone().filter(tested).count();
    let alarm = FALSE_ALARM / count.max(1) as f64;
    let judged = |claim: &Claim<Q>| {
        let unexamined = run.unexamined(claim);
        let found = unexamined.map_or_else(|| run.found(claim), |_| None);
        let verdict = match &found {
            _ if unexamined.is_some() => Verdict::NotExamined,
            _ if approximate(claim) => Verdict::Approximate,
            _ if is_unstable => Verdict::Refuted,
            Some(found) if found.trusted => found.verdict(1.0 - alarm),
            _ if is_refuted_by_betting(&run.excess(claim).unwrap_or_default(), alarm) => {
                Verdict::Refuted
            }
            _ => Verdict::NotEnoughEvidence,
        };
        let off = || {
            let off = claim.value / found.as_ref()?.of_claimed - 1.0;
            off.is_finite().then_some(off)
        };
        Judgement {
            claim: claim.clone(),
            measured: found.as_ref().map(|f| f.measured),
            off: (verdict == Verdict::Approximate).then(off).flatten(),
            verdict,
            unexamined,
        }
    };
    claims.map(judged).collect()
}

/// A measurement for a claim, and its expected value if the claim is correct.
pub struct ClaimMeasurement {
    measured: Estimate,
    tested: Estimate,
    expected: f64,
    side: Side,
    narrow: f64,
    trusted: bool,
    of_claimed: f64,
}

impl ClaimMeasurement {
    /// Creates a measurement that does not depend on the memory of a queue.
    pub fn mean(measured: Estimate, claimed: f64) -> Self {
        ClaimMeasurement {
            measured,
            tested: measured,
            expected: claimed,
            side: Side::Equal,
            narrow: NARROW * measured.mean.abs(),
            trusted: measured.half_width <= WIDE * measured.mean.abs(),
            of_claimed: measured.mean,
        }
    }

    /// Creates a measurement from independent replications, which is always reliable. `of_claim` is
    /// the half width of the claim and its degrees of freedom. The errors are combined by Welch and
    /// Satterthwaite (Biometrika 34, 1947).
    pub fn of_replications(measured: Estimate, claimed: f64, of_claim: (f64, f64)) -> Self {
        let (half_width, freedom) = of_claim;
        let errors = [
            (measured.standard_error, measured.freedom),
            (half_width / student(0.975, freedom), freedom),
        ];
        let square = errors.iter().map(|(e, _)| e.powi(2)).sum::<f64>();
        let fourth = errors.iter().map(|(e, n)| e.powi(4) / n).sum::<f64>();
        let both = square.powi(2) / fourth;
        let freedom = if fourth > 0.0 { both } else { measured.freedom };
        ClaimMeasurement {
            tested: Estimate::with_error(measured.mean, square.sqrt(), freedom),
            trusted: true,
            ..ClaimMeasurement::mean(measured, claimed)
        }
    }

    /// Creates a measurement of the mean of a queue. The claim has the given side and half width.
    ///
    /// The standard error is the one expected if the claim were true: in heavy traffic, it is
    /// proportional to the square of the mean, and both are too small if a run has seen few long
    /// queues by chance. The factor is at most two, to refute claims that are far off.
    pub fn of_queue(measured: Estimate, claimed: f64, half_width: Option<f64>, side: Side) -> Self {
        let ratio = if claimed > 0.0 {
            claimed / measured.mean
        } else {
            1.0
        };
        let error = measured.standard_error * ratio.powi(2).clamp(1.0, 2.0);
        let found = ClaimMeasurement {
            tested: Estimate::with_error(measured.mean, error, measured.freedom),
            side,
            ..ClaimMeasurement::mean(measured, claimed)
        };
        found.known_within(half_width)
    }

    /// Adds the uncertainty of the claim if the claim was itself measured with this half width.
    #[must_use]
    pub fn known_within(self, half_width: Option<f64>) -> Self {
        let own = half_width.unwrap_or(0.0) / NORMAL;
        let spread = self.tested.standard_error.hypot(own);
        ClaimMeasurement {
            tested: Estimate::with_error(self.tested.mean, spread, self.tested.freedom),
            ..self
        }
    }

    /// Creates a measurement of the fraction above a threshold that is claimed to be `p`, in a
    /// queue with this mean.
    ///
    /// The standard error is the one expected if the claim were true: the run is worth n
    /// independent observations with a variance of `p(1−p)/n`. If no event was observed, n is taken
    /// from the mean, assuming a coefficient of variation of 1.
    pub fn above(above: Estimate, p: f64, mean: &Estimate) -> Self {
        let seen = above.mean * (1.0 - above.mean);
        let worth = if above.standard_error > 0.0 && seen > 0.0 {
            above.standard_error.powi(2) / seen
        } else {
            (mean.standard_error / mean.mean).powi(2)
        };
        let implied = (worth * (p * (1.0 - p)).max(0.0)).sqrt();
        let error = implied.max(above.standard_error);
        let tested = Estimate::with_error(above.mean, error, above.freedom);
        // This increases up to `1/e`. The fraction that was observed may be much larger than `p`.
        let narrow = |p: f64| NARROW * p * (1.0 / p).ln();
        let widest = narrow(p).max(narrow(above.mean.min((-1.0_f64).exp())));
        ClaimMeasurement {
            tested,
            narrow: narrow(p),
            trusted: tested.half_width <= widest,
            ..ClaimMeasurement::mean(above, p)
        }
    }

    /// Creates a measurement for a claim of 0, with a half width by the rule of three: if none of n
    /// jobs was above the threshold, `(1 − p)^n = 0.05`. It is used as an upper bound, above which
    /// the probability of no such job is at most [`FALSE_ALARM`].
    pub fn above_zero_claim(above: Estimate, half_width: f64, mean: &Estimate) -> Self {
        let most = (half_width * FALSE_ALARM.ln() / f64::ln(0.05)).min(1.0);
        ClaimMeasurement {
            side: Side::AtMost,
            trusted: true,
            ..ClaimMeasurement::above(above, most, mean)
        }
    }

    /// Reports the fraction below the threshold, for a claimed percentile that was `measured`.
    pub fn for_percentile(self, measured: f64) -> Self {
        ClaimMeasurement {
            measured: Estimate {
                mean: 1.0 - self.measured.mean,
                ..self.measured
            },
            of_claimed: measured,
            ..self
        }
    }

    /// Considers the result reliable only if the number of jobs is precise and large enough.
    pub fn trusted_if_long(self, number: Option<Estimate>, jobs: u64) -> Self {
        let long = number.is_some_and(|n| n.relative() <= WIDE) && jobs >= FEWEST_JOBS;
        ClaimMeasurement {
            trusted: self.trusted && long,
            ..self
        }
    }

    fn verdict(&self, confidence: f64) -> Verdict {
        let refuted = !self.tested.covers(self.expected, confidence);
        let away = !self.tested.covers(self.expected, 0.95);
        let right = match self.side {
            Side::AtLeast => Some(self.tested.mean > self.expected),
            Side::AtMost => Some(self.tested.mean < self.expected),
            Side::Equal => None,
        };
        match right {
            Some(false) | None if refuted => Verdict::Refuted,
            Some(true) if away => Verdict::Confirmed,
            None if self.tested.half_width <= self.narrow => Verdict::Confirmed,
            _ => Verdict::NotEnoughEvidence,
        }
    }
}

/// The maximum overshoot of the mean over the second half of a run.
const OVERSHOOT: f64 = 1.5;

const STAKES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Returns `true` if the claim is refuted by the ratios of the number of jobs in each replication
/// to the claimed number. The probability of a false alarm is at most `alarm`.
///
/// No assumptions about distributions or memory are needed. If a replication starts without jobs,
/// the expected number of jobs is at most that of the steady state (up to [`OVERSHOOT`]). A gambler
/// bets a fraction of the capital on each replication and gets it back multiplied by the ratio. If
/// the claim is correct, the capital is multiplied by `1/p` with a probability of at most `p`
/// (Markov). See Shafer, "Testing by betting", J. R. Statist. Soc. A 184(2), 2021.
fn is_refuted_by_betting(excess: &[f64], alarm: f64) -> bool {
    let factor = |stake: f64| move |x: &f64| 1.0 - stake + stake * x / OVERSHOOT;
    let won = |stake: f64| excess.iter().map(factor(stake)).product::<f64>();
    let won = STAKES.into_iter().map(won).sum::<f64>() / STAKES.len() as f64;
    won * alarm > 1.0
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// With alarms of 1 %, more than 243 of 20 000 claims are refuted with a probability of 0.001.
    #[test]
    fn correct_claims_are_rarely_refuted_by_betting() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
        let mut uniform = || random.random::<f64>();
        let inverses: [fn(f64) -> f64; 3] = [
            |u| 0.9 + 0.2 * u,
            |u| -(1.0 - u).ln(),
            |u| if u < 0.05 { 20.0 } else { 0.0 },
        ];
        for inverse in inverses {
            let mut excess = || [(); 8].map(|()| OVERSHOOT * inverse(uniform()));
            let alarms = (0..20_000).filter(|_| is_refuted_by_betting(&excess(), 0.01));
            let alarms = alarms.count();
            assert!(alarms <= 243, "{alarms}");
        }
    }

    #[test]
    fn refutes_claims_that_are_far_off() {
        let missed = |excess: &[f64]| is_refuted_by_betting(excess, 1e-3 / 20.0);
        assert!(missed(&[8.0; 8]) && missed(&[15.0, 9.0, 22.0, 12.0, 7.0, 18.0, 30.0, 11.0]));
        assert!(!missed(&[2.0; 8]) && !missed(&[1000.0]) && !missed(&[]));
        assert!(missed(&[f64::INFINITY; 8]) && !missed(&[f64::NAN; 8]));
    }

    #[test]
    fn judges_claims_that_no_job_is_above() {
        let jobs = 1e5;
        let verdict = |of: f64, p: f64| {
            let error = |spread: f64| spread / of.sqrt();
            let above = Estimate::with_error(p, error((p * (1.0 - p)).sqrt()), 100.0);
            let mean = Estimate::with_error(1.0, error(1.0), 100.0);
            ClaimMeasurement::above_zero_claim(above, 3.0 / jobs, &mean).verdict(1.0 - FALSE_ALARM)
        };
        assert_eq!(verdict(jobs, 0.0), Verdict::Confirmed);
        assert_eq!(verdict(jobs / 10.0, 0.0), Verdict::NotEnoughEvidence);
        assert_eq!(verdict(jobs, 0.01), Verdict::Refuted);
        assert_ne!(verdict(10.0 * jobs, 2.0 / jobs), Verdict::Refuted);
    }
}
