//! What is measured of a campaign, and of several.

use super::batch::State;
use super::engine::Engine;
use crate::simulation::{Estimate, over_replications};
use crate::volunteer::artifact::Quantity;
use crate::volunteer::workload::{Batch, Campaign, Quality};

/// What came of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfBatch {
    /// From its submission to the end of its last job \[time\]; none if it was not done in the campaign, or some of
    /// its jobs were given up.
    pub makespan: Option<f64>,
    /// How long it could have taken at least until the campaign ended \[time\].
    pub observed: f64,
    /// The first estimate of the same \[time\].
    pub first_estimate: Option<f64>,
    /// No rule whatever could have done it sooner: all processors, on at all times, for it alone
    /// \[time\].
    pub least: f64,
    /// Jobs that were done, and those of them that were given up.
    pub done: u32,
    /// Jobs that were given up.
    pub given_up: u32,
    /// Instances that were sent.
    pub sent: u64,
    /// Dispatches for which the host had to stop other jobs.
    pub tight: u64,
    /// The longest time for which nothing of it was sent, though there was something to send \[time\].
    pub waited: f64,
    /// Jobs that were done within their bound, or by the deadline of the batch.
    pub within: u64,
}

/// What came of a campaign.
#[derive(Clone, Debug)]
pub struct Measures {
    /// In the order of the campaign.
    pub batches: Vec<OfBatch>,
    /// Dispatches for which a host had to stop other jobs.
    pub tight: u64,
    /// Jobs that were stopped for others.
    pub stopped: u64,
    /// The mean time from the report of a right result to its validation \[time\]; none where there was none.
    pub delay: Option<f64>,
    /// Events.
    pub events: u64,
}

pub(super) fn measured(engine: &Engine<'_>) -> Measures {
    let campaign = engine.campaign;
    let now = campaign.horizon();
    let batches = campaign.batches().iter().zip(&engine.batches);
    let of = |(batch, state): (&Batch, &State)| {
        let submitted = batch.submitted();
        let quorum = f64::from(campaign.quorum(batch.application));
        let [speed, fastest] = engine.speeds(batch.application);
        let [work, largest] = state.work;
        OfBatch {
            makespan: state.finished.map(|end| end - submitted),
            observed: now - submitted,
            first_estimate: state.first_end.map(|end| end - submitted),
            least: (work * quorum / speed).max(largest / fastest),
            done: state.done,
            given_up: state.given_up,
            sent: state.sent,
            tight: state.tight,
            waited: state.waited.max(state.waiting(now)),
            within: state.within,
        }
    };
    Measures {
        batches: batches.map(of).collect(),
        tight: engine.counts.tight,
        stopped: engine.counts.stopped,
        delay: match engine.counts.delayed {
            0 => None,
            n => Some(engine.counts.delay / n as f64),
        },
        events: engine.counts.events,
    }
}

impl Engine<'_> {
    /// What all processors do for an application if they are always on, and what the fastest one does.
    fn speeds(&self, application: usize) -> [f64; 2] {
        let versions = self.campaign.versions().iter();
        let own: Vec<_> = versions.filter(|v| v.application == application).collect();
        let mut speeds = [0.0; 2];
        for host in &self.hosts {
            for (n, side) in host.sides.iter().enumerate() {
                let own = own.iter().filter(|v| v.processor as usize == n);
                let best = own.map(|v| v.efficiency).fold(0.0, f64::max) * side.speed;
                speeds[0] += best * f64::from(side.count);
                if side.count > 0 {
                    speeds[1] = f64::max(speeds[1], best);
                }
            }
        }
        speeds
    }
}

impl Measures {
    /// A number of this campaign; none where it has none: no batches of the kind, or some that were not
    /// done.
    #[must_use]
    pub fn value(&self, campaign: &Campaign, quantity: Quantity) -> Option<f64> {
        let all = || campaign.batches().iter().zip(&self.batches);
        let of = |wanted: fn(&Quality) -> bool| all().filter(move |(b, _)| wanted(&b.quality));
        let afap = || of(|q| matches!(q, Quality::Afap));
        let makespans = || {
            let ends = afap().map(|(_, own)| own.makespan.unwrap_or(f64::INFINITY));
            let mut ends: Vec<f64> = ends.collect();
            ends.sort_by(f64::total_cmp);
            ends
        };
        let finished = |value: f64| value.is_finite().then_some(value);
        let per_job = |count: fn(&OfBatch) -> u64| {
            let jobs: u32 = all().filter_map(|(batch, _)| batch.jobs()).sum();
            let own = all().filter(|(batch, _)| !batch.is_stream());
            let count: u64 = own.map(|(_, own)| count(own)).sum();
            (jobs > 0).then(|| count as f64 / f64::from(jobs))
        };
        match quantity {
            Quantity::MedianMakespan => median(&makespans()).and_then(finished),
            Quantity::WorstMakespan => makespans().last().copied().and_then(finished),
            Quantity::MeanMakespan => mean(&makespans()).and_then(finished),
            Quantity::LeastMakespan => mean(&afap().map(|(_, own)| own.least).collect::<Vec<_>>()),
            Quantity::OverEstimate => {
                let over = afap().filter_map(|(_, own)| {
                    let end = own.makespan.unwrap_or(f64::INFINITY);
                    Some(end / own.first_estimate?)
                });
                let mut over: Vec<f64> = over.collect();
                over.sort_by(f64::total_cmp);
                median(&over).and_then(finished)
            }
            Quantity::ShortBatches => batches_met(of(|q| matches!(q, Quality::Short(_)))),
            Quantity::ShortJobs => jobs_met(of(|q| matches!(q, Quality::Short(_)))),
            Quantity::LongBatches => batches_met(of(|q| matches!(q, Quality::Long(_)))),
            Quantity::LongJobs => jobs_met(of(|q| matches!(q, Quality::Long(_)))),
            Quantity::Throughput => {
                let own: Vec<f64> = of(|q| matches!(q, Quality::Throughput(_)))
                    .map(|(_, own)| f64::from(own.done - own.given_up))
                    .collect();
                (!own.is_empty()).then(|| own.iter().sum::<f64>() / campaign.horizon())
            }
            Quantity::WithinBound => {
                let streams = || of(|q| matches!(q, Quality::Throughput(_)));
                let done: u32 = streams().map(|(_, own)| own.done).sum();
                let within: u64 = streams().map(|(_, own)| own.within).sum();
                (done > 0).then(|| within as f64 / f64::from(done))
            }
            Quantity::GivenUp => per_job(|own| u64::from(own.given_up)),
            Quantity::Instances => per_job(|own| own.sent),
            Quantity::Tight => per_job(|own| own.tight),
            Quantity::Stopped => Some(self.stopped as f64 / campaign.horizon()),
            Quantity::Delay => self.delay,
            Quantity::Waited => {
                let own = all().filter(|(batch, _)| !batch.is_stream());
                own.map(|(_, own)| own.waited).reduce(f64::max)
            }
            Quantity::Makespan | Quantity::Capacity => None,
        }
    }
}

/// Whether a batch was done by its deadline; none where that has not come yet, and it was not.
fn in_time(batch: &Batch, own: &OfBatch) -> Option<bool> {
    let (Quality::Short(deadline) | Quality::Long(deadline)) = batch.quality else {
        return None;
    };
    let met = own.makespan.is_some_and(|makespan| makespan <= deadline);
    (met || deadline <= own.observed).then_some(met)
}

/// The fraction of batches that were done by their deadlines.
fn batches_met<'a>(batches: impl Iterator<Item = (&'a Batch, &'a OfBatch)>) -> Option<f64> {
    let met = batches.filter_map(|(batch, own)| in_time(batch, own));
    mean(&met.map(|met| f64::from(u8::from(met))).collect::<Vec<_>>())
}

/// The fraction of their jobs that were.
fn jobs_met<'a>(batches: impl Iterator<Item = (&'a Batch, &'a OfBatch)>) -> Option<f64> {
    let (mut met, mut all) = (0, 0);
    for (batch, own) in batches.filter(|(batch, own)| in_time(batch, own).is_some()) {
        met += own.within;
        all += u64::from(batch.jobs().unwrap_or(0));
    }
    (all > 0).then(|| met as f64 / all as f64)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(match sorted.len() % 2 {
        0 => sorted[sorted.len() / 2 - 1].midpoint(upper),
        _ => upper,
    })
}

/// Several campaigns under one rule.
#[derive(Clone, Debug)]
pub struct Run {
    /// One each.
    pub campaigns: Vec<Measures>,
    /// Whether it was told to end before all were run.
    pub interrupted: bool,
}

impl Measures {
    /// The same campaign as if batches that were not done had been at its end: no makespan is longer than
    /// it was.
    fn at_least(&self) -> Measures {
        let mut own = self.clone();
        for batch in &mut own.batches {
            batch.makespan = batch.makespan.or(Some(batch.observed));
        }
        own
    }
}

impl Run {
    /// The same run as if batches that were not done had been at the end of their campaigns.
    #[must_use]
    pub fn at_least(&self) -> Run {
        Run {
            campaigns: self.campaigns.iter().map(Measures::at_least).collect(),
            interrupted: self.interrupted,
        }
    }

    /// The mean of a number over campaigns, with its interval; none where some campaign has none, or
    /// fewer than two were run.
    #[must_use]
    pub fn estimate(&self, campaign: &Campaign, quantity: Quantity) -> Option<Estimate> {
        estimate(
            self.campaigns
                .iter()
                .map(|own| own.value(campaign, quantity)),
        )
    }

    /// The same of the makespan of one batch.
    #[must_use]
    pub fn makespan(&self, batch: usize) -> Option<Estimate> {
        self.of_batch(batch, |own| own.makespan)
    }

    /// The same of a number of one batch.
    #[must_use]
    pub fn of_batch(&self, batch: usize, of: impl Fn(&OfBatch) -> Option<f64>) -> Option<Estimate> {
        estimate(self.campaigns.iter().map(|own| of(&own.batches[batch])))
    }

    /// In how many campaigns a batch was done.
    #[must_use]
    pub fn finished(&self, batch: usize) -> usize {
        let done = self
            .campaigns
            .iter()
            .filter(|own| own.batches[batch].makespan.is_some());
        done.count()
    }

    /// Events of all of them.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.campaigns.iter().map(|own| own.events).sum()
    }
}

/// A mean over campaigns that all have a number.
pub(in crate::volunteer) fn estimate(
    values: impl Iterator<Item = Option<f64>>,
) -> Option<Estimate> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (values.len() >= 2).then(|| over_replications(&values))
}
