//! What a run says of an artifact's claims.

use serde::Serialize;

use super::Run;
use crate::multiresource::artifact::{
    Artifact, CheckedFleet, Claim, Method, MsrPolicy, Quantity, SizeLaw,
};
use crate::multiresource::workload::{JobType, Workload};
use crate::simulation::{BATCHES, Estimate, Health, Threshold, Watch};

/// What a run says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Not refuted, and the 95 % interval is narrower than ±5 %; for a fraction p of time or jobs
    /// above a threshold, narrower than ±5 % of the threshold would move it if the tail were
    /// exponential, which is `±5 % p ln(1/p)`. A bound: the whole 95 % interval keeps to it.
    Confirmed,
    /// The claim lies outside an interval so wide that a right artifact has one chance in a
    /// thousand to see any of its claims refuted; or the run is unstable. A bound: that whole
    /// interval breaks it.
    Refuted,
    /// Neither: the interval is too wide to say more; or the run so short beside the queue's
    /// memory that its intervals cannot be trusted, which they can where they are narrower than
    /// ±10 % (a fraction above a threshold: as narrow as confirms a claim of p or of what was
    /// measured) after a warm-up of at most a tenth of the run, with ten jobs of the type a batch.
    NotEnoughEvidence,
    /// The claim does not say that it is exact, so there is nothing to refute.
    Approximate,
    /// A run of this policy cannot tell; [`Judgement::unexamined`] says why.
    NotExamined,
}

/// A claim beside what was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Judgement {
    /// The claim.
    pub claim: Claim,
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
/// within both limits 95 % cover, of those beyond as few as a quarter.)
const WIDE: f64 = 0.1;

/// A longer warm-up, as a fraction of each replication, was chosen for what it leaves. (Of the
/// 95 % intervals of such runs some 85 % cover.)
const LONGEST_WARM_UP: f64 = 0.1;

/// Half a 95 % interval over its standard error, where there are many replications; with fewer a
/// claim's standard error is taken for more than it is, and less is refuted.
const NORMAL: f64 = 1.96;

/// Ten jobs a batch: with fewer of a type, batch means say nothing about their own spread.
const FEWEST_JOBS: u64 = 10 * BATCHES as u64;

/// The thresholds that a run has to watch to examine all claims of an artifact.
pub fn watches(artifact: &Artifact, workload: &Workload) -> Vec<Watch> {
    let claims = artifact.claims.iter();
    claims.filter_map(|c| watch(c, workload)).collect()
}

/// Judges all claims by a run under the conditions that they hold for, which has watched the
/// [`watches`] of the artifact.
pub fn judge(artifact: &Artifact, workload: &Workload, run: &Run) -> Vec<Judgement> {
    let judge = Judge {
        preempts: artifact.policy.preempts(),
        msr: artifact.policy.msr(),
        workload,
        run,
    };
    judge.all(&artifact.claims)
}

/// Judges all claims about a fleet, by a run under the conditions that they hold for.
pub fn judge_fleet(checked: &CheckedFleet, run: &Run) -> Vec<Judgement> {
    let mut servers = checked.artifact().policy.shapes.iter();
    let judge = Judge {
        preempts: servers.all(|shape| shape.policy.policy.preempts()),
        msr: None,
        workload: checked.fleet().envelope(),
        run,
    };
    judge.all(&checked.artifact().claims)
}

/// What was measured for a claim, and what it has to be if the claim is right.
struct Found {
    /// What is shown.
    measured: Estimate,
    /// What is tested, with the spread that it has if the claim is right.
    tested: Estimate,
    /// What `tested` is to be.
    expected: f64,
    /// A half-width that confirms.
    narrow: f64,
    /// Whether the interval says anything.
    trusted: bool,
    /// The quantity that the claim gives a number for, as it was measured.
    of_claimed: f64,
}

impl Found {
    fn verdict(&self, claim: &Claim, confidence: f64) -> Verdict {
        if !self.trusted {
            return Verdict::NotEnoughEvidence;
        }
        let refuted = !self.tested.covers(self.expected, confidence);
        let away = !self.tested.covers(self.expected, 0.95);
        let right = match claim.quantity {
            Quantity::MeanNumberAtLeast => Some(self.tested.mean > self.expected),
            Quantity::MeanNumberAtMost => Some(self.tested.mean < self.expected),
            _ => None,
        };
        match right {
            Some(false) | None if refuted => Verdict::Refuted,
            Some(true) if away => Verdict::Confirmed,
            None if self.tested.half_width <= self.narrow => Verdict::Confirmed,
            _ => Verdict::NotEnoughEvidence,
        }
    }
}

struct Judge<'a> {
    /// Whether running jobs are stopped.
    preempts: bool,
    /// The one policy that ran, if it has a loop.
    msr: Option<&'a MsrPolicy>,
    workload: &'a Workload,
    run: &'a Run,
}

impl Judge<'_> {
    fn all(&self, claims: &[Claim]) -> Vec<Judgement> {
        let tested = |c: &&Claim| self.unexamined(c).is_none() && !approximate(c);
        let count = claims.iter().filter(tested).count();
        let confidence = 1.0 - FALSE_ALARM / count.max(1) as f64;
        let judged = |claim: &Claim| {
            let unexamined = self.unexamined(claim);
            let found = unexamined.map_or_else(|| self.found(claim), |_| None);
            let verdict = match &found {
                _ if unexamined.is_some() => Verdict::NotExamined,
                _ if approximate(claim) => Verdict::Approximate,
                _ if self.run.health == Health::Unstable => Verdict::Refuted,
                Some(found) => found.verdict(claim, confidence),
                None => Verdict::NotEnoughEvidence,
            };
            let off = || relative_error(claim.value, found.as_ref()?.of_claimed);
            Judgement {
                claim: claim.clone(),
                measured: found.as_ref().map(|f| f.measured),
                off: (verdict == Verdict::Approximate).then(off).flatten(),
                verdict,
                unexamined,
            }
        };
        claims.iter().map(judged).collect()
    }

    /// Why a claim cannot be examined; `None` where it can.
    fn unexamined(&self, claim: &Claim) -> Option<&'static str> {
        let watched = || {
            let watch = watch(claim, self.workload);
            watch.is_some_and(|watch| self.run.watched.iter().any(|w| w.watch == watch))
        };
        match claim.quantity {
            _ if !self.holds(claim) => {
                Some("it holds for sizes of another law than the workload's")
            }
            _ if !self.arrives_as_analysed(claim) => {
                Some("it holds for Poisson arrivals, and the workload has others")
            }
            Quantity::Load if claim.job_type.is_none() => Some("it is proved for all policies"),
            Quantity::LargestStableSwitchingRate => {
                Some("it is about policies with other switching rates")
            }
            Quantity::WorkingTime if claim.value >= 1.0 => Some("all of the time is no estimate"),
            Quantity::NumberAbove
            | Quantity::ResponseP50
            | Quantity::ResponseP95
            | Quantity::ResponseP99
                if !watched() =>
            {
                Some("the run did not watch it")
            }
            _ => None,
        }
    }

    /// Whether the workload's sizes are of the law that the claim holds for: those of its type,
    /// and those of all where it is about all or the chain waits for completions.
    fn holds(&self, claim: &Claim) -> bool {
        let alone = self.preempts;
        let types = self.workload.types().iter();
        let mut about =
            types.filter(|t| !alone || claim.job_type.as_deref().is_none_or(|of| of == t.name()));
        let exponential = about.clone().all(|t| t.size().is_exponential());
        let of_phase_type = about.all(|t| t.size().phases().is_some());
        match claim.holds_for.sizes {
            Some(SizeLaw::Exponential) => exponential,
            Some(SizeLaw::PhaseType) => !exponential && of_phase_type,
            None => true,
        }
    }

    /// Whether arrivals are Poisson where the claim is exact, or a bound, of a queue that they
    /// come to.
    fn arrives_as_analysed(&self, claim: &Claim) -> bool {
        let of_queue = matches!(
            claim.method,
            Method::ExactQbd | Method::BoundRelativeCompletions
        );
        let mut types = self.workload.types().iter();
        let about = |t: &&JobType| claim.job_type.as_deref().is_none_or(|of| of == t.name());
        !of_queue || types.all(|t| !about(&t) || t.is_poisson())
    }

    fn found(&self, claim: &Claim) -> Option<Found> {
        let mean = |measured: Estimate| Found {
            measured,
            tested: measured,
            expected: claim.value,
            narrow: NARROW * measured.mean.abs(),
            trusted: measured.half_width <= WIDE * measured.mean.abs(),
            of_claimed: measured.mean,
        };
        match claim.quantity {
            Quantity::Load
            | Quantity::MeanSchedule
            | Quantity::WorkingTime
            | Quantity::SwitchingFrequency
            | Quantity::LargestStableSwitchingRate => self.measured(claim).map(mean),
            Quantity::MeanNumber
            | Quantity::MeanNumberAtLeast
            | Quantity::MeanNumberAtMost
            | Quantity::MeanResponse
            | Quantity::WeightedResponse => self.measured(claim).map(|measured| {
                let own = claim.half_width.unwrap_or(0.0) / NORMAL;
                let spread = error_of_queue(&measured, claim.value).hypot(own);
                let found = Found {
                    tested: Estimate::with_error(measured.mean, spread, measured.freedom),
                    ..mean(measured)
                };
                self.settled(claim, found)
            }),
            Quantity::NumberAbove
            | Quantity::ResponseP50
            | Quantity::ResponseP95
            | Quantity::ResponseP99 => self.fraction(claim).map(|f| self.settled(claim, f)),
        }
    }

    /// What was found, of a run that is long enough beside the memory of the claim's queue; else
    /// nothing is said.
    fn settled(&self, claim: &Claim, found: Found) -> Found {
        let run = self.run;
        let (number, jobs) = match position(claim, self.workload) {
            Some(i) => (run.types[i].mean_number, run.types[i].completions),
            None => (run.mean_number, u64::MAX),
        };
        let long = number.is_some_and(|n| n.relative() <= WIDE)
            && run.warm_up * run.replications.len() as f64 <= LONGEST_WARM_UP * run.simulated_time
            && jobs >= FEWEST_JOBS;
        Found {
            trusted: found.trusted && long,
            ..found
        }
    }

    fn measured(&self, claim: &Claim) -> Option<Estimate> {
        let run = self.run;
        let i = position(claim, self.workload);
        let offered = || run.types[i?].own.mean_offered;
        match claim.quantity {
            Quantity::MeanSchedule => offered(),
            // ρ_i = b_i / E[u_i]: to first order the relative error is the same.
            Quantity::Load => offered().map(|u| {
                let load = self.workload.types()[i.unwrap_or(0)].offered_load() / u.mean;
                u.times(load / u.mean)
            }),
            Quantity::SwitchingFrequency => run.own.switching_frequency,
            // Every switch ends a stay on a working schedule, of mean 1/α.
            Quantity::WorkingTime => {
                let policy = self.msr.filter(|p| p.order.len() > 1)?;
                let period = 1.0 / policy.switching_rate;
                run.own.switching_frequency.map(|f| f.times(period))
            }
            Quantity::MeanNumber | Quantity::MeanNumberAtLeast | Quantity::MeanNumberAtMost => {
                i.map_or(run.mean_number, |i| run.types[i].mean_number)
            }
            Quantity::MeanResponse => i.map_or(run.mean_response, |i| run.types[i].mean_response),
            Quantity::WeightedResponse => run.weighted_response,
            _ => None,
        }
    }

    /// The fraction of time, or of jobs, above the threshold that the claim is about.
    fn fraction(&self, claim: &Claim) -> Option<Found> {
        let watch = watch(claim, self.workload)?;
        let watched = self.run.watched.iter().find(|w| w.watch == watch)?;
        let above = watched.above?;
        let result = &self.run.types[watch.job_type];
        let (p, mean) = match percentile(claim.quantity) {
            Some((probability, _)) => (1.0 - probability, result.mean_response?),
            None => (claim.value, result.mean_number?),
        };
        let error = error_of_fraction(&above, p, &mean);
        let tested = Estimate::with_error(above.mean, error, above.freedom);
        let (measured, of_claimed) = match percentile(claim.quantity) {
            Some((_, place)) => (
                Estimate {
                    mean: 1.0 - above.mean,
                    ..above
                },
                result.percentiles?[place],
            ),
            None => (above, above.mean),
        };
        // Grows until 1/e; what was seen instead may be much more than p.
        let narrow = |p: f64| NARROW * p * (1.0 / p).ln();
        let widest = narrow(p).max(narrow(above.mean.min((-1.0_f64).exp())));
        Some(Found {
            measured,
            tested,
            expected: p,
            narrow: narrow(p),
            trusted: tested.half_width <= widest,
            of_claimed,
        })
    }
}

/// The standard error of a queue's measured mean if the truth were `mean`. A run that by chance
/// saw few long excursions measures both too small a mean and too small a spread; in heavy traffic
/// the spread goes with the square of the mean. At most twice what was measured, so that what is
/// far off is refuted.
fn error_of_queue(measured: &Estimate, mean: f64) -> f64 {
    let ratio = (mean / measured.mean).powi(2);
    measured.standard_error * ratio.clamp(1.0, 2.0)
}

/// The standard error of a measured fraction if the truth were p. When by chance too little was
/// seen of what is rare, its measured spread is too small as well; the run is worth n independent
/// observations, of variance p(1−p)/n. Where nothing was seen, n is what the run is worth for the
/// mean, as if that had a coefficient of variation of 1.
fn error_of_fraction(measured: &Estimate, p: f64, mean: &Estimate) -> f64 {
    let seen = measured.mean * (1.0 - measured.mean);
    let worth = match measured.standard_error > 0.0 && seen > 0.0 {
        true => measured.standard_error.powi(2) / seen,
        false => (mean.standard_error / mean.mean).powi(2),
    };
    let implied = (worth * (p * (1.0 - p)).max(0.0)).sqrt();
    implied.max(measured.standard_error)
}

fn approximate(claim: &Claim) -> bool {
    let tested = [Method::BoundRelativeCompletions, Method::Simulated];
    !claim.method.is_exact() && !tested.contains(&claim.method)
}

/// The probability of a percentile, and its place in [`super::TypeResult::percentiles`].
fn percentile(quantity: Quantity) -> Option<(f64, usize)> {
    match quantity {
        Quantity::ResponseP50 => Some((0.5, 0)),
        Quantity::ResponseP95 => Some((0.95, 1)),
        Quantity::ResponseP99 => Some((0.99, 2)),
        _ => None,
    }
}

fn position(claim: &Claim, workload: &Workload) -> Option<usize> {
    let name = claim.job_type.as_deref()?;
    workload.types().iter().position(|t| t.name() == name)
}

/// What has to be watched for a claim, if anything.
fn watch(claim: &Claim, workload: &Workload) -> Option<Watch> {
    let threshold = match claim.quantity {
        Quantity::NumberAbove => Threshold::Number(claim.at?),
        quantity => percentile(quantity).map(|_| Threshold::Response(claim.value))?,
    };
    Some(Watch {
        job_type: position(claim, workload)?,
        threshold,
    })
}

/// How far a claimed number is off; none where nothing was measured, or zero.
fn relative_error(claimed: f64, measured: f64) -> Option<f64> {
    let off = claimed / measured - 1.0;
    off.is_finite().then_some(off)
}
