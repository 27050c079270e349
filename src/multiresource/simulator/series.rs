use std::ops::Range;

use super::watch::{Watch, Watchers};
use crate::multiresource::policy::{Counters, System};

/// What is measured: one server, or all those of a fleet.
pub(super) trait Measured {
    /// The time of the last event.
    fn now(&self) -> f64;
    fn types(&self) -> usize;
    fn resources(&self) -> usize;
    /// Free units of resource j while a job waits.
    fn wasted(&self, j: usize) -> f64;
    /// Integrals over the time since this was last called: jobs present, in service and slots
    /// offered, by type.
    fn collect(&mut self, of_type: impl FnMut(usize, [f64; 3]));
    fn counters(&self) -> Counters;
}

impl Measured for System {
    fn now(&self) -> f64 {
        System::now(self)
    }

    fn types(&self) -> usize {
        System::types(self)
    }

    fn resources(&self) -> usize {
        self.capacity().len()
    }

    fn wasted(&self, j: usize) -> f64 {
        match self.any_waits() {
            true => self.free(j) as f64,
            false => 0.0,
        }
    }

    fn collect(&mut self, of_type: impl FnMut(usize, [f64; 3])) {
        System::collect(self, of_type);
    }

    fn counters(&self) -> Counters {
        System::counters(self)
    }
}

/// Where the measurements of a bucket of time stand in its row: all are sums or integrals over it,
/// so rows of neighbours add up to that of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Columns {
    pub types: usize,
    pub resources: usize,
    pub watches: usize,
}

impl Columns {
    const OF_TYPE: usize = 5;

    /// ∫ number of type i in system.
    pub fn present(&self, i: usize) -> usize {
        Self::OF_TYPE * i
    }

    /// ∫ number of type i in service.
    pub fn busy(&self, i: usize) -> usize {
        Self::OF_TYPE * i + 1
    }

    /// ∫ slots offered to type i.
    pub fn offered(&self, i: usize) -> usize {
        Self::OF_TYPE * i + 2
    }

    /// Jobs of type i that left.
    pub fn completions(&self, i: usize) -> usize {
        Self::OF_TYPE * i + 3
    }

    /// Σ response times of these.
    pub fn responses(&self, i: usize) -> usize {
        Self::OF_TYPE * i + 4
    }

    /// Length of the bucket.
    pub fn time(&self) -> usize {
        Self::OF_TYPE * self.types
    }

    /// Switches.
    pub fn switches(&self) -> usize {
        self.time() + 1
    }

    /// ∫ free room of resource j while a job waits, by looking at each tick.
    pub fn wasted(&self, j: usize) -> usize {
        self.time() + 2 + j
    }

    /// Time or jobs above a watched threshold.
    pub fn above(&self, watch: usize) -> usize {
        self.time() + 2 + self.resources + watch
    }

    pub fn width(&self) -> usize {
        self.above(self.watches)
    }
}

/// Measurements in buckets of equal length; when there are too many, neighbours are merged
/// and the length doubles, so that memory does not grow with the run.
pub(super) struct Series {
    pub columns: Columns,
    /// Row after row.
    rows: Vec<f64>,
    /// The row of the open bucket, and by type the jobs that left and Σ of their response times.
    open: Vec<f64>,
    departed: Vec<[f64; 2]>,
    pub watchers: Watchers,
    /// Time from one tick to the next: room that is free while a job waits is looked at then.
    tick: f64,
    next_tick: f64,
    /// Ticks so far, and in each bucket.
    ticks: u64,
    ticks_a_bucket: u64,
    /// When the open bucket begins.
    begin: f64,
    switches_before: u64,
    /// How often neighbours were merged.
    pub merges: u32,
}

/// Ticks in a bucket at first.
const FIRST_TICKS: u64 = 4;

/// Buckets before neighbours are merged; half of it is left after.
const MOST_BUCKETS: usize = 2048;

impl Series {
    pub fn new(system: &impl Measured, tick: f64, watches: &[Watch]) -> Self {
        let watchers = Watchers::new(system.types(), watches);
        let columns = Columns {
            types: system.types(),
            resources: system.resources(),
            watches: watchers.watches.len(),
        };
        Series {
            columns,
            rows: Vec::new(),
            open: vec![0.0; columns.width()],
            departed: vec![[0.0; 2]; columns.types],
            watchers,
            tick,
            next_tick: tick,
            ticks: 0,
            ticks_a_bucket: FIRST_TICKS,
            begin: 0.0,
            switches_before: 0,
            merges: 0,
        }
    }

    /// Notes a job's departure.
    pub fn departed(&mut self, i: usize, response: f64) {
        let [jobs, responses] = &mut self.departed[i];
        *jobs += 1.0;
        *responses += response;
    }

    /// Whether any threshold is watched.
    #[inline]
    pub fn watches(&self) -> bool {
        self.columns.watches > 0
    }

    /// So many jobs of type i are there from time `now` on, in the open bucket.
    pub fn watch_number(&mut self, i: usize, present: u64, now: f64) {
        self.watchers.number(i, present, now - self.begin);
    }

    /// When the next tick is due.
    #[inline]
    pub fn next_tick(&self) -> f64 {
        self.next_tick
    }

    /// When the last tick was.
    pub fn last_tick(&self) -> f64 {
        self.ticks as f64 * self.tick
    }

    /// The system's time is that of the next tick. Whether the open bucket ends with it.
    pub fn tick(&mut self, system: &impl Measured) -> bool {
        for j in 0..self.columns.resources {
            self.open[self.columns.wasted(j)] += system.wasted(j) * self.tick;
        }
        self.ticks += 1;
        // Multiplied, not added up: ticks are where they are, however long the run.
        self.next_tick = (self.ticks + 1) as f64 * self.tick;
        self.ticks.is_multiple_of(self.ticks_a_bucket)
    }

    /// Closes the open bucket; the system's time is its end.
    pub fn close(&mut self, system: &mut impl Measured) {
        let (columns, open) = (self.columns, &mut self.open);
        system.collect(|i, [present, busy, offered]| {
            open[columns.present(i)] = present;
            open[columns.busy(i)] = busy;
            open[columns.offered(i)] = offered;
        });
        for (i, departed) in self.departed.iter_mut().enumerate() {
            let [jobs, responses] = std::mem::take(departed);
            open[columns.completions(i)] = jobs;
            open[columns.responses(i)] = responses;
        }
        let length = system.now() - self.begin;
        open[columns.time()] = length;
        let switches = system.counters().switches;
        open[columns.switches()] = (switches - self.switches_before) as f64;
        self.switches_before = switches;
        for (w, above) in self.watchers.collect(length).enumerate() {
            open[columns.above(w)] = above;
        }
        self.rows.extend_from_slice(open);
        open.fill(0.0);
        if self.len() == MOST_BUCKETS {
            self.merge();
        }
        self.begin = system.now();
    }

    fn merge(&mut self) {
        let width = self.columns.width();
        for b in 0..MOST_BUCKETS / 2 {
            for c in 0..width {
                let pair = self.rows[2 * b * width + c] + self.rows[(2 * b + 1) * width + c];
                self.rows[b * width + c] = pair;
            }
        }
        self.rows.truncate(MOST_BUCKETS / 2 * width);
        self.ticks_a_bucket *= 2;
        self.merges += 1;
    }

    /// Closed buckets.
    pub fn len(&self) -> usize {
        self.rows.len() / self.columns.width()
    }

    /// Length of a bucket [time].
    pub fn length(&self) -> f64 {
        self.ticks_a_bucket as f64 * self.tick
    }

    /// The rows of these buckets, summed.
    pub fn sum(&self, buckets: Range<usize>) -> Vec<f64> {
        let width = self.columns.width();
        let mut sum = vec![0.0; width];
        for row in self.rows[buckets.start * width..buckets.end * width].chunks_exact(width) {
            sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        }
        sum
    }

    /// Mean number of these types in system, bucket by bucket.
    pub fn number(&self, types: Range<usize>) -> Vec<f64> {
        let columns = &self.columns;
        let number = |row: &[f64]| {
            let total: f64 = types.clone().map(|i| row[columns.present(i)]).sum();
            total / row[columns.time()]
        };
        self.rows
            .chunks_exact(columns.width())
            .map(number)
            .collect()
    }
}
