use super::quantiles::Histogram;
use super::series::{Row, Series};
use super::settings::{JobClass, Settings, total_arrival_rate};
use super::watch::Stay;

/// What a replication measures: the series in buckets of time, and the response times.
pub struct Recorder {
    /// What happened, by time.
    pub series: Series,
    /// Response and waiting times by class, since the last but one merge of the series' buckets and since the last.
    stays: Vec<[Stays; 2]>,
    /// Whether they are recorded.
    percentiles: bool,
}

/// How long jobs were there, and how long they waited for their last start \[time\].
#[derive(Clone)]
pub struct Stays {
    /// Response times.
    pub responses: Histogram,
    /// Waiting times.
    pub waits: Histogram,
}

impl Stays {
    /// None yet, in this unit.
    pub fn new(unit: f64) -> Self {
        Stays {
            responses: Histogram::new(unit),
            waits: Histogram::new(unit),
        }
    }

    /// Adds those of others in the same unit.
    pub fn merge(&mut self, other: &Self) {
        self.responses.merge(&other.responses);
        self.waits.merge(&other.waits);
    }

    fn clear(&mut self) {
        self.responses.clear();
        self.waits.clear();
    }
}

/// What a replication has measured so far. Statistics see replications as this, so that they are
/// compiled once and not for each engine.
pub trait ReplicationSoFar {
    /// Returns what was measured.
    fn recorder(&self) -> &Recorder;

    /// Returns the events so far: arrivals, completions and clocks.
    fn events(&self) -> u64;

    /// Returns the time of the last of them.
    fn now(&self) -> f64;

    /// Returns jobs in the system.
    fn jobs(&self) -> u64;

    /// Returns those of class i.
    fn present(&self, i: usize) -> u64;

    /// Returns the least rate \[1/time\] of the clocks of the rule that run; infinity where none does.
    fn slowest_clock(&self) -> f64 {
        f64::INFINITY
    }
}

/// One of several independent runs of an engine.
pub trait Replication: ReplicationSoFar + Send {
    /// Why what was simulated means nothing: a decision that cannot be carried out, or an invariant
    /// that does not hold.
    type Violation: Clone;

    /// Lets so many jobs of each class be there at the beginning, at time 0; only of one that has not begun.
    fn begin_with(&mut self, jobs: &[u64]);

    /// Goes on to this many events, or until it is stopped, or until more jobs than `crowd` are in the system.
    fn run(&mut self, events: u64, crowd: u64, stopped: impl Fn() -> bool);

    /// Checks what must hold; what did not so far.
    fn audit(&mut self) -> Option<&Self::Violation>;
}

/// The series has a tick each so many arrivals: ten times the golden ratio, so that clockwork
/// arrivals are not seen at the same phase at each tick.
const ARRIVALS_A_TICK: f64 = 16.180_339_887_498_95;

impl Recorder {
    /// Returns a recorder for these classes, with so many extra columns; watches of other classes are dropped.
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

    /// Notes that a job of class i arrived at time `now`; `present` returns how many of them are there then.
    #[inline(always)]
    pub fn arrived(&mut self, i: usize, now: f64, present: impl FnOnce() -> u64) {
        if self.series.watches() {
            self.series.watch_number(i, present(), now);
        }
    }

    /// Notes that a job of class i left at time `now`, after this stay; `present` returns how many of
    /// them are there then.
    #[inline(always)]
    pub fn departed(&mut self, i: usize, stay: Stay, now: f64, present: impl FnOnce() -> u64) {
        let response = stay.response;
        self.series.departed(i, response);
        if self.series.watches() {
            self.series.watch_number(i, present(), now);
            self.series.watchers.departed(i, stay);
        }
        if self.percentiles {
            let stays = &mut self.stays[i][1];
            stays.responses.add(response);
            stays.waits.add(stay.waiting);
        }
    }

    /// Closes the open bucket at time `now`: `collect` fills in the integrals of each class, and adds
    /// to the extra columns.
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

    /// Returns the stays of jobs of class i since the last but one merge of the series' buckets.
    pub fn stays(&self, i: usize) -> &[Stays; 2] {
        &self.stays[i]
    }
}
