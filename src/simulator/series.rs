use super::watch::{Watch, Watchers};
use crate::policy::System;

/// What is measured for one type in one bucket of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    /// ∫ number in system.
    pub present: f64,
    /// ∫ number in service.
    pub busy: f64,
    /// ∫ slots offered.
    pub offered: f64,
    /// Σ response times of the jobs that left.
    pub responses: f64,
    /// Jobs that left.
    pub completions: f64,
}

impl Cell {
    pub fn add(&mut self, other: &Cell) {
        self.present += other.present;
        self.busy += other.busy;
        self.offered += other.offered;
        self.responses += other.responses;
        self.completions += other.completions;
    }
}

/// Measurements in buckets of equal length; when there are too many, neighbours are merged
/// and the length doubles, so that memory does not grow with the run.
pub(super) struct Series {
    types: usize,
    /// Cells, bucket by bucket, one a type.
    cells: Vec<Cell>,
    /// Switches in each bucket.
    switches: Vec<f64>,
    /// Time or jobs above the watched thresholds, bucket by bucket.
    above: Vec<f64>,
    pub watchers: Watchers,
    length: f64,
    /// When the open bucket ends.
    end: f64,
    open: Vec<Cell>,
    switches_before: u64,
    /// How often neighbours were merged.
    pub merges: u32,
}

/// Buckets before neighbours are merged; half of it is left after.
const MOST_BUCKETS: usize = 4096;

impl Series {
    pub fn new(types: usize, length: f64, watches: &[Watch]) -> Self {
        Series {
            types,
            cells: Vec::with_capacity(types * MOST_BUCKETS),
            switches: Vec::with_capacity(MOST_BUCKETS),
            above: Vec::with_capacity(watches.len() * MOST_BUCKETS),
            watchers: Watchers::new(types, watches),
            length,
            end: length,
            open: vec![Cell::default(); types],
            switches_before: 0,
            merges: 0,
        }
    }

    /// Notes a job's departure.
    pub fn departed(&mut self, i: usize, response: f64) {
        self.open[i].responses += response;
        self.open[i].completions += 1.0;
    }

    /// When the open bucket ends.
    pub fn bucket_end(&self) -> f64 {
        self.end
    }

    /// Closes the open bucket at its end.
    pub fn close(&mut self, system: &mut System) {
        for i in 0..self.types {
            let [present, busy, offered] = system.meters(i).map(|m| m.collect(self.end));
            self.cells.push(Cell {
                present,
                busy,
                offered,
                ..self.open[i]
            });
            self.open[i] = Cell::default();
        }
        self.above.extend(self.watchers.collect(self.end));
        let switches = system.counters().switches;
        self.switches.push((switches - self.switches_before) as f64);
        self.switches_before = switches;
        if self.switches.len() == MOST_BUCKETS {
            self.merge();
        }
        self.end += self.length;
    }

    fn merge(&mut self) {
        let half = MOST_BUCKETS / 2;
        for b in 0..half {
            for i in 0..self.types {
                let mut sum = self.cells[2 * b * self.types + i];
                sum.add(&self.cells[(2 * b + 1) * self.types + i]);
                self.cells[b * self.types + i] = sum;
            }
            let watched = self.watchers.watches.len();
            for w in 0..watched {
                self.above[b * watched + w] =
                    self.above[2 * b * watched + w] + self.above[(2 * b + 1) * watched + w];
            }
            self.switches[b] = self.switches[2 * b] + self.switches[2 * b + 1];
        }
        self.cells.truncate(half * self.types);
        self.above.truncate(half * self.watchers.watches.len());
        self.switches.truncate(half);
        self.length *= 2.0;
        self.merges += 1;
    }

    /// Closed buckets.
    pub fn len(&self) -> usize {
        self.switches.len()
    }

    /// Length of a bucket [time].
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The cell of a type in a bucket.
    pub fn cell(&self, bucket: usize, i: usize) -> &Cell {
        &self.cells[bucket * self.types + i]
    }

    /// Switches in a bucket.
    pub fn switches(&self, bucket: usize) -> f64 {
        self.switches[bucket]
    }

    /// What is watched.
    pub fn watches(&self) -> &[Watch] {
        &self.watchers.watches
    }

    /// Time or jobs above a watched threshold in a bucket.
    pub fn above(&self, bucket: usize, watch: usize) -> f64 {
        self.above[bucket * self.watches().len() + watch]
    }

    /// Mean number in system over all types, bucket by bucket.
    pub fn number(&self) -> Vec<f64> {
        let total = |b: usize| {
            (0..self.types)
                .map(|i| self.cell(b, i).present)
                .sum::<f64>()
        };
        (0..self.len()).map(|b| total(b) / self.length).collect()
    }
}
