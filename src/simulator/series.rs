use super::watch::{Watch, Watchers};
use crate::policy::System;

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

    /// ∫ free room of resource j while a job waits.
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
    /// The row of the open bucket.
    open: Vec<f64>,
    pub watchers: Watchers,
    length: f64,
    /// When the open bucket begins and ends.
    begin: f64,
    end: f64,
    switches_before: u64,
    /// How often neighbours were merged.
    pub merges: u32,
}

/// Buckets before neighbours are merged; half of it is left after.
const MOST_BUCKETS: usize = 2048;

impl Series {
    pub fn new(system: &System, length: f64, watches: &[Watch]) -> Self {
        let watchers = Watchers::new(system.types(), watches);
        let columns = Columns {
            types: system.types(),
            resources: system.capacity().len(),
            watches: watchers.watches.len(),
        };
        Series {
            columns,
            rows: Vec::new(),
            open: vec![0.0; columns.width()],
            watchers,
            length,
            begin: 0.0,
            end: length,
            switches_before: 0,
            merges: 0,
        }
    }

    /// Notes a job's departure.
    pub fn departed(&mut self, i: usize, response: f64) {
        self.open[self.columns.completions(i)] += 1.0;
        self.open[self.columns.responses(i)] += response;
    }

    /// So many jobs of type i are there from time `now` on, in the open bucket.
    pub fn watch_number(&mut self, i: usize, present: u64, now: f64) {
        self.watchers.number(i, present, now - self.begin);
    }

    /// When the open bucket ends.
    pub fn bucket_end(&self) -> f64 {
        self.end
    }

    /// Closes the open bucket; the system's time is its end.
    pub fn close(&mut self, system: &mut System) {
        let (columns, open) = (self.columns, &mut self.open);
        let mut wasted = Vec::with_capacity(columns.resources);
        system.collect(
            |i, [present, busy, offered]| {
                open[columns.present(i)] = present;
                open[columns.busy(i)] = busy;
                open[columns.offered(i)] = offered;
            },
            |_, area| wasted.push(area),
        );
        open[columns.wasted(0)..columns.above(0)].copy_from_slice(&wasted);
        let length = self.end - self.begin;
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
        self.begin = self.end;
        self.end += self.length;
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
        self.length *= 2.0;
        self.merges += 1;
    }

    /// Closed buckets.
    pub fn len(&self) -> usize {
        self.rows.len() / self.columns.width()
    }

    /// Length of a bucket [time].
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The rows of these buckets, summed.
    pub fn sum(&self, buckets: std::ops::Range<usize>) -> Vec<f64> {
        let width = self.columns.width();
        let mut sum = vec![0.0; width];
        for row in self.rows[buckets.start * width..buckets.end * width].chunks_exact(width) {
            sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        }
        sum
    }

    /// Mean number in system over all types, bucket by bucket.
    pub fn number(&self) -> Vec<f64> {
        let columns = &self.columns;
        let number = |row: &[f64]| {
            let total: f64 = (0..columns.types).map(|i| row[columns.present(i)]).sum();
            total / row[columns.time()]
        };
        self.rows.chunks_exact(columns.width()).map(number).collect()
    }
}
