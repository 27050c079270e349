use super::quantiles::Histogram;
use super::series::{Row, Series};
use super::settings::{JobClass, Settings, total_arrival_rate};
use super::watch::Stay;

/// Records the events of a replication in time buckets, and the response and waiting times of jobs.
pub struct Recorder {
    /// The measurements, which are stored in time buckets.
    pub series: Series,
    /// For each class, the times of departed jobs before the last merge of buckets, and since.
    pub(super) stays: Vec<[Stays; 2]>,
    percentiles: bool,
}

/// The response times of jobs, and the waiting times until their last start \[time\].
#[derive(Clone)]
pub(crate) struct Stays {
    pub responses: Histogram,
    pub waits: Histogram,
}

impl Stays {
    pub(crate) fn new(unit: f64) -> Self {
        Stays {
            responses: Histogram::new(unit),
            waits: Histogram::new(unit),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.responses.merge(&other.responses);
        self.waits.merge(&other.waits);
    }

    fn clear(&mut self) {
        self.responses.clear();
        self.waits.clear();
    }
}

/// The state of a replication as seen by statistics, which are compiled once for all engines.
pub trait ReplicationState {
    /// Returns the measurements that were recorded.
    fn recorder(&self) -> &Recorder;

    /// Returns the number of events so far (arrivals, completions and clocks).
    fn events(&self) -> u64;

    /// Returns the time of the last event.
    fn now(&self) -> f64;

    /// Returns the number of jobs in the system.
    fn jobs(&self) -> u64;

    /// Returns the number of jobs of class i in the system.
    fn present(&self, i: usize) -> u64;

    /// Returns the smallest rate \[1/time\] of the running clocks, or infinity if there are none.
    fn slowest_clock(&self) -> f64 {
        f64::INFINITY
    }
}

/// One of several independent runs of an engine.
pub trait Replication: ReplicationState + Send {
    /// The reason why a simulation is invalid: an infeasible decision or a violated invariant.
    type Violation: Clone;

    /// Adds the given number of jobs of each class at time 0. Call this before the first event.
    fn begin_with(&mut self, jobs: &[u64]);

    /// Runs until this total number of events, more than `crowd` jobs in the system, or `stopped`.
    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool);

    /// Checks the invariants, and returns the first violation so far.
    fn audit(&mut self) -> Option<&Self::Violation>;
}

/// The mean number of arrivals between two ticks: ten times the golden ratio, to avoid synchrony.
const ARRIVALS_A_TICK: f64 = 16.180_339_887_498_95;

impl Recorder {
    /// Creates a recorder with `extra` additional columns. Watches of unknown classes are ignored.
    pub fn new(classes: &[JobClass], extra: usize, settings: &Settings) -> Self {
        let rate = total_arrival_rate(classes);
        let load: f64 = classes.iter().map(JobClass::offered_load).sum();
        let tick = ARRIVALS_A_TICK / rate;
        let stays = || [Stays::new(load / rate), Stays::new(load / rate)];
        Recorder {
            series: Series::new(classes.len(), extra, tick, &settings.watch),
            stays: classes.iter().map(|_| stays()).collect(),
            percentiles: settings.percentiles,
        }
    }

    /// Records an arrival of class `i`. `present` returns the number of its jobs after the arrival.
    #[inline(always)]
    pub fn arrived(&mut self, i: usize, now: f64, present: impl FnOnce() -> u64) {
        if self.series.columns.watches > 0 {
            let at = now - self.series.begin;
            self.series.watchers.number(i, present(), at);
        }
    }

    /// Records a departure of class `i`. `present` returns the number of its jobs afterwards.
    #[inline(always)]
    pub fn departed(&mut self, i: usize, stay: Stay, now: f64, present: impl FnOnce() -> u64) {
        let response = stay.response;
        self.series.departed(i, response);
        if self.series.columns.watches > 0 {
            let at = now - self.series.begin;
            self.series.watchers.number(i, present(), at);
            self.series.watchers.departed(i, stay);
        }
        if self.percentiles {
            let stays = &mut self.stays[i][1];
            stays.responses.add(response);
            stays.waits.add(stay.waiting);
        }
    }

    /// Closes the current bucket. `collect` sets the integrals of each class and extra columns.
    pub fn close(&mut self, now: f64, collect: impl FnOnce(&mut Row<'_>)) {
        let merges = self.series.merges;
        self.series.close(now, collect);
        if self.series.merges > merges {
            for pair in &mut self.stays {
                pair.swap(0, 1);
                pair[1].clear();
            }
        }
    }
}
