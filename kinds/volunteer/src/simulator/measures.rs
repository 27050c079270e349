use crate::artifact::{Artifact, Claim, Quantity};
use crate::workload::{Campaign, Quality};
use synth_core::artifact::Quantity as _;
use synth_simulation::{
    self as simulation, ClaimMeasurement, ClaimMeter, Estimate, judge_all, median,
    over_replications,
};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BatchResult {
    pub quality: Quality,
    /// The deadline after the submission, or the bound of each job \[time\], or ∞.
    pub limit: f64,
    pub jobs: Option<u32>,
    /// The time from the submission until the last job is completed \[time\], if all of them are,
    /// and its first estimate.
    pub makespan: Option<f64>,
    pub first_estimate: Option<f64>,
    /// The time from submission to the end of the campaign \[time\], a lower bound if unfinished.
    pub observed: f64,
    /// A lower bound on the makespan \[time\], if all processors are always on without other jobs.
    pub least: f64,
    /// The number of jobs that are done or given up, and only the latter.
    pub done: u32,
    pub given_up: u32,
    pub sent: u64,
    /// The number of dispatches for which the host had to stop other jobs.
    pub tight: u64,
    /// The longest time without sending an instance if there was something to send \[time\].
    pub waited: f64,
    /// The number of jobs that were done within their bound, or before the deadline of the batch.
    pub within: u64,
}

/// The measured values for a campaign.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    pub(crate) horizon: f64,
    pub(crate) batches: Vec<BatchResult>,
    /// The number of jobs that were stopped in favour of other jobs.
    pub(crate) stopped: u64,
    pub(crate) events: u64,
    /// The number of correct results that were validated, and the sum of the times from their
    /// reports to their validation \[time\].
    pub(super) validated: u64,
    pub(super) waited: f64,
}

impl Measures {
    /// Returns the mean time from the report of a correct result until its validation \[time\].
    pub(crate) fn delay(&self) -> Option<f64> {
        (self.validated > 0).then(|| self.waited / self.validated as f64)
    }

    pub(crate) fn tight(&self) -> u64 {
        self.batches.iter().map(|own| own.tight).sum()
    }

    pub(crate) fn instances(&self) -> u64 {
        let batches = self.batches.iter().filter(|own| own.jobs.is_some());
        batches.map(|own| own.sent).sum()
    }

    /// Returns the value of a quantity in this campaign, or `None` if there are no batches of the
    /// required quality, or if some of them were not completed.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        let batches = self.batches.iter();
        let of = |quality| batches.clone().filter(move |own| own.quality == quality);
        let afap = || of(Quality::Afap);
        let streams = || of(Quality::Throughput);
        let ends = || afap().map(|own| own.makespan.unwrap_or(f64::INFINITY));
        let dated = || batches.clone().filter(|own| own.jobs.is_some());
        let per_job = |count: fn(&BatchResult) -> u64| {
            let jobs: u32 = dated().filter_map(|own| own.jobs).sum();
            (jobs > 0).then(|| dated().map(count).sum::<u64>() as f64 / f64::from(jobs))
        };
        let value = match quantity {
            Quantity::MedianMakespan => median(ends().collect()),
            Quantity::WorstMakespan => ends().reduce(f64::max),
            Quantity::MeanMakespan => {
                let mut ends: Vec<f64> = ends().collect();
                ends.sort_by(f64::total_cmp);
                mean(ends.into_iter())
            }
            Quantity::LeastMakespan => mean(afap().map(|own| own.least)),
            Quantity::OverEstimate => {
                let over = ends().zip(afap());
                let over = over.filter_map(|(end, own)| Some(end / own.first_estimate?));
                median(over.collect())
            }
            Quantity::ShortBatches => batches_met(of(Quality::Short)),
            Quantity::ShortJobs => jobs_met(of(Quality::Short)),
            Quantity::LongBatches => batches_met(of(Quality::Long)),
            Quantity::LongJobs => jobs_met(of(Quality::Long)),
            Quantity::Throughput => {
                let done = streams().map(|own| f64::from(own.done - own.given_up));
                done.reduce(|a, b| a + b).map(|done| done / self.horizon)
            }
            Quantity::WithinBound => {
                let done: u32 = streams().map(|own| own.done).sum();
                let within: u64 = streams().map(|own| own.within).sum();
                (done > 0).then(|| within as f64 / f64::from(done))
            }
            Quantity::GivenUp => per_job(|own| u64::from(own.given_up)),
            Quantity::Instances => per_job(|own| own.sent),
            Quantity::Tight => per_job(|own| own.tight),
            Quantity::Stopped => Some(self.stopped as f64 / self.horizon),
            Quantity::Delay => self.delay(),
            Quantity::Waited => dated().map(|own| own.waited).reduce(f64::max),
            Quantity::Makespan | Quantity::Capacity => None,
        };
        value.filter(|value| value.is_finite())
    }

    fn at_least(&self) -> Measures {
        let mut own = self.clone();
        let batches = own.batches.iter_mut();
        batches.for_each(|batch| _ = batch.makespan.get_or_insert(batch.observed));
        own
    }
}

/// Returns whether a batch was completed by its deadline, or `None` if it was not, but the deadline
/// is after the end of the campaign.
fn in_time(own: &BatchResult) -> Option<bool> {
    let met = own.makespan.is_some_and(|makespan| makespan <= own.limit);
    (met || own.limit <= own.observed).then_some(met)
}

fn batches_met<'a>(batches: impl Iterator<Item = &'a BatchResult>) -> Option<f64> {
    mean(batches.filter_map(|own| Some(f64::from(u8::from(in_time(own)?)))))
}

fn jobs_met<'a>(batches: impl Iterator<Item = &'a BatchResult>) -> Option<f64> {
    let (mut met, mut all) = (0, 0);
    for own in batches.filter(|own| in_time(own).is_some()) {
        met += own.within;
        all += u64::from(own.jobs.unwrap_or(0));
    }
    (all > 0).then(|| met as f64 / all as f64)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The results of several campaigns under the same rule.
#[derive(Clone, Debug)]
pub struct Run {
    /// The measured values for each campaign.
    pub campaigns: Vec<Measures>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

impl Run {
    /// Replaces each missing makespan by its lower bound.
    pub(crate) fn at_least(&self) -> Run {
        Run {
            campaigns: self.campaigns.iter().map(Measures::at_least).collect(),
            interrupted: self.interrupted,
        }
    }

    /// Returns the mean over the campaigns, or `None` if there are fewer than two or one has none.
    pub fn estimate(&self, quantity: Quantity) -> Option<Estimate> {
        estimate(self.campaigns.iter().map(|own| own.value(quantity)))
    }

    pub(crate) fn makespan(&self, batch: usize) -> Option<Estimate> {
        self.mean(batch, |own| own.makespan)
    }

    pub(crate) fn mean(&self, n: usize, of: fn(&BatchResult) -> Option<f64>) -> Option<Estimate> {
        estimate(self.campaigns.iter().map(|own| of(&own.batches[n])))
    }

    /// Returns the number of campaigns in which a batch was completed.
    pub fn finished(&self, batch: usize) -> usize {
        let makespans = self.campaigns.iter().map(|own| own.batches[batch].makespan);
        makespans.flatten().count()
    }

    /// Returns the total number of events.
    pub fn events(&self) -> u64 {
        self.campaigns.iter().map(|own| own.events).sum()
    }
}

/// Returns the mean, or `None` if there are fewer than two values or if one of them is missing.
pub(crate) fn estimate(values: impl Iterator<Item = Option<f64>>) -> Option<Estimate> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (values.len() >= 2).then(|| over_replications(&values))
}

/// The result of checking a claim against the measured value.
pub type Judgement = simulation::Judgement<Quantity>;

/// Checks all claims against campaigns under the policy, for its own workload.
pub fn judge(artifact: &Artifact, campaign: &Campaign, run: &Run) -> Vec<Judgement> {
    let measured = Measured {
        campaign,
        run,
        freedom: f64::from(artifact.evidence.campaigns.max(2) - 1),
    };
    judge_all(artifact.claims.iter(), false, &measured)
}

struct Measured<'a> {
    campaign: &'a Campaign,
    run: &'a Run,
    /// The degrees of freedom of the claims.
    freedom: f64,
}

impl ClaimMeter<Quantity> for Measured<'_> {
    fn unexamined(&self, claim: &Claim) -> Option<&'static str> {
        claim.quantity.row().measure
    }

    fn found(&self, claim: &Claim) -> Option<ClaimMeasurement> {
        let measured = |run: &Run| match &claim.batch {
            None => run.estimate(claim.quantity),
            Some(name) => {
                let mut batches = self.campaign.batches.iter();
                run.makespan(batches.position(|batch| batch.name == *name)?)
            }
        };
        // If some batches are not completed, the lower bounds of their makespans are used.
        let found = measured(self.run).or_else(|| measured(&self.run.at_least()))?;
        let own = (claim.half_width.unwrap_or(0.0), self.freedom);
        Some(ClaimMeasurement::of_replications(found, claim.value, own))
    }
}
