//! What a run says of claims, whatever they are about.

use schemars::JsonSchema;
use serde::Serialize;

use super::{BATCHES, Estimate, student};
use synth_core::artifact::{Claim, Method as _, Quantity, Side, Standing, Unmet};

/// What a run says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Not refuted, and the 95 % interval is narrower than ±5 %; for a fraction p of time or jobs
    /// above a threshold, narrower than ±5 % of the threshold would move it if the tail were
    /// exponential, which is `±5 % p ln(1/p)`. A bound: the whole 95 % interval keeps to it.
    Confirmed,
    /// The claim lies outside an interval so wide that a right artifact has one chance in a
    /// thousand to see any of its claims refuted; or the run is unstable. A bound: that whole
    /// interval breaks it. Also where intervals cannot be trusted yet: all replications have so much
    /// more in the system than is claimed that they hardly could if it were right.
    Refuted,
    /// Neither: the interval is too wide to say more; or the run so short beside the queue's
    /// memory that its intervals cannot be trusted, which they can where they are narrower than
    /// ±10 % (a fraction above a threshold: as narrow as confirms a claim of p or of what was
    /// measured), with ten jobs of the type a batch.
    NotEnoughEvidence,
    /// The claim is an approximation, as it says or since it assumes what the workload does not
    /// meet, so there is nothing to refute.
    Approximate,
    /// A run of this policy cannot tell; [`Judgement::unexamined`] says why.
    NotExamined,
}

/// A claim beside what was measured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(bound = "")]
pub struct Judgement<Q: Quantity> {
    /// The claim.
    pub claim: Claim<Q>,
    /// What the run measured: of a percentile, the fraction of the jobs whose response time is not
    /// longer than it; of all else, the quantity itself.
    pub measured: Option<Estimate>,
    /// How far an approximation is off, relatively to what was measured.
    pub off: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the claim was not examined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unexamined: Option<&'static str>,
}

/// The chance that a right artifact has any claim refuted.
const FALSE_ALARM: f64 = 1e-3;

/// Relative half-width of a 95 % interval that confirms.
const NARROW: f64 = 0.05;

/// Relative half-width of a 95 % interval from which on it is not trusted: the run is then too
/// short beside the queue's memory for batches to be independent, and too short by chance where
/// it looks long enough. (Found by runs against exact means: of the 95 % intervals of runs
/// within this limit 95 % cover, of those beyond as few as a quarter.)
const WIDE: f64 = 0.1;

/// Half a 95 % interval over its standard error, where there are many replications; with fewer a
/// claim's standard error is taken for more than it is, and less is refuted.
const NORMAL: f64 = 1.96;

/// Ten jobs a batch: with fewer of a type, batch means say nothing about their own spread.
const FEWEST_JOBS: u64 = 10 * BATCHES as u64;

/// How a run of one kind of workload measures what is claimed.
pub trait Measuring<Q: Quantity> {
    /// Returns why a claim cannot be examined; `None` where it can.
    fn unexamined(&self, claim: &Claim<Q>) -> Option<&'static str>;

    /// Returns what the claim assumes and the workload does not meet.
    fn unmet(&self, _: &Claim<Q>) -> Unmet {
        Unmet::default()
    }

    /// Returns what was measured for it, if that could be.
    fn found(&self, claim: &Claim<Q>) -> Option<Found>;

    /// Returns of a claim about a queue how many times as much as claimed each replication had late in the run,
    /// settled or not; with the claim's own half-width on its side.
    fn excess(&self, _: &Claim<Q>) -> Option<Vec<f64>> {
        None
    }
}

/// Judges claims by a run under the conditions that they hold for.
pub fn judge_all<'a, Q: Quantity>(
    claims: impl Iterator<Item = &'a Claim<Q>> + Clone,
    is_unstable: bool,
    run: &impl Measuring<Q>,
) -> Vec<Judgement<Q>> {
    let approximate =
        |c: &Claim<Q>| c.method.standing() == Standing::Approximation || run.unmet(c).any();
    let tested = |c: &&Claim<Q>| run.unexamined(c).is_none() && !approximate(c);
    // A claim has two ways to be refuted.
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
            _ if is_grossly_missed(run.excess(claim).as_deref(), alarm) => Verdict::Refuted,
            _ => Verdict::NotEnoughEvidence,
        };
        // None where nothing was measured, or zero.
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

/// What was measured for a claim, and what it has to be if the claim is right.
pub struct Found {
    /// What is shown.
    measured: Estimate,
    /// What is tested, with the spread that it has if the claim is right.
    tested: Estimate,
    /// What `tested` is to be.
    expected: f64,
    /// On which side of it the claim lies.
    side: Side,
    /// A half-width that confirms.
    narrow: f64,
    /// Whether the interval says anything.
    trusted: bool,
    /// The quantity that the claim gives a number for, as it was measured.
    of_claimed: f64,
}

impl Found {
    /// Returns a mean that does not depend on the memory of a queue.
    pub fn mean(measured: Estimate, claimed: f64) -> Self {
        Found {
            measured,
            tested: measured,
            expected: claimed,
            side: Side::Equal,
            narrow: NARROW * measured.mean.abs(),
            trusted: measured.half_width <= WIDE * measured.mean.abs(),
            of_claimed: measured.mean,
        }
    }

    /// Returns a mean over independent replications, whose interval says as much as it is wide; claimed from others,
    /// with this half-width and so many degrees of freedom. The degrees of the difference are those of
    /// Welch and Satterthwaite (Biometrika 34, 1947).
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
        Found {
            tested: Estimate::with_error(measured.mean, square.sqrt(), freedom),
            trusted: true,
            ..Found::mean(measured, claimed)
        }
    }

    /// Returns a mean of a queue, claimed on this side with this half-width.
    pub fn of_queue(measured: Estimate, claimed: f64, half_width: Option<f64>, side: Side) -> Self {
        let error = error_of_queue(&measured, claimed);
        let tested = Estimate::with_error(measured.mean, error, measured.freedom);
        let found = Found::mean(measured, claimed);
        Found {
            tested,
            side,
            ..found
        }
        .known_within(half_width)
    }

    /// Returns the same, where the claim itself was measured, with this half-width.
    #[must_use]
    pub fn known_within(self, half_width: Option<f64>) -> Self {
        let own = half_width.unwrap_or(0.0) / NORMAL;
        let spread = self.tested.standard_error.hypot(own);
        Found {
            tested: Estimate::with_error(self.tested.mean, spread, self.tested.freedom),
            ..self
        }
    }

    /// Returns the fraction of time, or of jobs, `above` a threshold, claimed to be p, of a queue with this
    /// mean.
    pub fn above(above: Estimate, p: f64, mean: &Estimate) -> Self {
        let error = error_of_fraction(&above, p, mean);
        let tested = Estimate::with_error(above.mean, error, above.freedom);
        // Grows until 1/e; what was seen instead may be much more than p.
        let narrow = |p: f64| NARROW * p * (1.0 / p).ln();
        let widest = narrow(p).max(narrow(above.mean.min((-1.0_f64).exp())));
        Found {
            tested,
            narrow: narrow(p),
            trusted: tested.half_width <= widest,
            ..Found::mean(above, p)
        }
    }

    /// Returns the same where the claim is 0 within this half-width, since none of n jobs was above: by the rule of three
    /// `(1 − p)^n = .05` at its end. What it claims is a bound, so far away that none of n would be above once in
    /// [`FALSE_ALARM`] if the fraction were more.
    pub fn hardly_above(above: Estimate, half_width: f64, mean: &Estimate) -> Self {
        let most = (half_width * FALSE_ALARM.ln() / f64::ln(0.05)).min(1.0);
        Found {
            side: Side::AtMost,
            trusted: true,
            ..Found::above(above, most, mean)
        }
    }

    /// Returns the same shown as the fraction below, for a claimed percentile that was measured to be this.
    pub fn for_percentile(self, measured: f64) -> Self {
        Found {
            measured: Estimate {
                mean: 1.0 - self.measured.mean,
                ..self.measured
            },
            of_claimed: measured,
            ..self
        }
    }

    /// Trusts a run that is long enough beside the memory of the claim's queue, whose mean number was
    /// measured from so many jobs; else nothing is said.
    pub fn settled(self, number: Option<Estimate>, jobs: u64) -> Self {
        let long = number.is_some_and(|n| n.relative() <= WIDE) && jobs >= FEWEST_JOBS;
        Found {
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

/// A run may overshoot on the way to its steady state; by this factor, averaged over its second half, at
/// most.
const OVERSHOOT: f64 = 1.5;

/// Parts of a stake that are put on each replication.
const STAKES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// Returns whether replications that each had so many times as much as claimed refute the claim, with this chance of
/// a false alarm at most.
///
/// Nothing is assumed of the law of what they had, nor of how a replication remembers. From an empty
/// system its expectation is not above that of the steady state (but for [`OVERSHOOT`]). If the claim
/// is right, who stakes a part of what he has on each replication in turn, and gets back that part times
/// what the replication had over what was claimed, does not win in the mean; so he multiplies what he
/// had by 1/p with a probability of at most p (Markov). See Shafer, "Testing by betting", J. R. Statist.
/// Soc. A 184(2), 2021.
fn is_grossly_missed(excess: Option<&[f64]>, alarm: f64) -> bool {
    let excess = excess.unwrap_or_default().iter();
    let factor = |stake: f64| move |x: &f64| 1.0 - stake + stake * x / OVERSHOOT;
    let won = |stake: f64| excess.clone().map(factor(stake)).product::<f64>();
    let won = STAKES.into_iter().map(won).sum::<f64>() / STAKES.len() as f64;
    won * alarm > 1.0
}

/// Returns the standard error of a queue's measured mean if the truth were `mean`. A run that by chance
/// saw few long excursions measures both too small a mean and too small a spread; in heavy traffic
/// the spread goes with the square of the mean. At most twice what was measured, so that what is
/// far off is refuted.
fn error_of_queue(measured: &Estimate, mean: f64) -> f64 {
    // Where neither is anything there is no ratio.
    let ratio = if mean > 0.0 {
        mean / measured.mean
    } else {
        1.0
    };
    measured.standard_error * ratio.powi(2).clamp(1.0, 2.0)
}

/// Returns the standard error of a measured fraction if the truth were p. When by chance too little was
/// seen of what is rare, its measured spread is too small as well; the run is worth n independent
/// observations, of variance p(1−p)/n. Where nothing was seen, n is what the run is worth for the
/// mean, as if that had a coefficient of variation of 1.
fn error_of_fraction(measured: &Estimate, p: f64, mean: &Estimate) -> f64 {
    let seen = measured.mean * (1.0 - measured.mean);
    let worth = if measured.standard_error > 0.0 && seen > 0.0 {
        measured.standard_error.powi(2) / seen
    } else {
        (mean.standard_error / mean.mean).powi(2)
    };
    let implied = (worth * (p * (1.0 - p)).max(0.0)).sqrt();
    implied.max(measured.standard_error)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Replications of which each has the claimed mean, times the overshoot allowed for: of 20 000 claims at
    /// an alarm of 1 % at most 243 are refuted (more has probability .001 if the chance is 1 %), whether the
    /// replications differ little, are exponential, or have rare huge values.
    #[test]
    fn right_claims_are_hardly_ever_grossly_missed() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
        let mut uniform = || random.random::<f64>();
        let laws: [fn(f64) -> f64; 3] = [
            |u| 0.9 + 0.2 * u,
            |u| -(1.0 - u).ln(),
            |u| if u < 0.05 { 20.0 } else { 0.0 },
        ];
        for law in laws {
            let mut excess = || Vec::from([(); 8].map(|()| OVERSHOOT * law(uniform())));
            let alarms = (0..20_000).filter(|_| is_grossly_missed(Some(&excess()), 0.01));
            let alarms = alarms.count();
            assert!(alarms <= 243, "{alarms}");
        }
    }

    /// Eight replications of eight times as much as claimed refute it with all but certainty; twice as much
    /// says nothing, nor does one replication.
    #[test]
    fn what_is_grossly_missed() {
        let missed = |excess: &[f64]| is_grossly_missed(Some(excess), 1e-3 / 20.0);
        assert!(missed(&[8.0; 8]) && missed(&[15.0, 9.0, 22.0, 12.0, 7.0, 18.0, 30.0, 11.0]));
        assert!(!missed(&[2.0; 8]) && !missed(&[1000.0]) && !missed(&[]));
        assert!(!is_grossly_missed(None, 1e-3));
        // A claim of nothing at all where something was.
        assert!(missed(&[f64::INFINITY; 8]) && !missed(&[f64::NAN; 8]));
    }
    /// That none of n jobs was above is confirmed by as many of which none was, and not by a tenth as many; it is refuted
    /// where one in a hundred was, and not where two in n were.
    #[test]
    fn none_of_so_many() {
        let jobs = 1e5;
        let verdict = |of: f64, p: f64| {
            let error = |spread: f64| spread / of.sqrt();
            let above = Estimate::with_error(p, error((p * (1.0 - p)).sqrt()), 100.0);
            let mean = Estimate::with_error(1.0, error(1.0), 100.0);
            Found::hardly_above(above, 3.0 / jobs, &mean).verdict(1.0 - FALSE_ALARM)
        };
        assert_eq!(verdict(jobs, 0.0), Verdict::Confirmed);
        assert_eq!(verdict(jobs / 10.0, 0.0), Verdict::NotEnoughEvidence);
        assert_eq!(verdict(jobs, 0.01), Verdict::Refuted);
        assert_ne!(verdict(10.0 * jobs, 2.0 / jobs), Verdict::Refuted);
    }
}
