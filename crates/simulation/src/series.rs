use std::ops::Range;

use super::watch::{Watch, Watchers};

/// The columns of a bucket: the integrals of the numbers of jobs in the system and in service of
/// each class, its departures and their response times, and others. Neighboring rows can be added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Columns {
    pub classes: usize,
    pub watches: usize,
    pub extra: usize,
}

impl Columns {
    const OF_CLASS: usize = 4;

    pub fn present(&self, i: usize) -> usize {
        Self::OF_CLASS * i
    }

    pub fn busy(&self, i: usize) -> usize {
        Self::OF_CLASS * i + 1
    }

    pub fn completions(&self, i: usize) -> usize {
        Self::OF_CLASS * i + 2
    }

    pub fn responses(&self, i: usize) -> usize {
        Self::OF_CLASS * i + 3
    }

    pub fn time(&self) -> usize {
        Self::OF_CLASS * self.classes
    }

    /// Returns the column of the time above a threshold, or of the number of jobs above it.
    pub fn above(&self, watch: usize) -> usize {
        self.time() + 1 + watch
    }

    pub fn extra(&self, n: usize) -> usize {
        self.above(self.watches) + n
    }

    pub fn width(&self) -> usize {
        self.extra(self.extra)
    }
}

pub struct Row<'a> {
    columns: Columns,
    open: &'a mut [f64],
}

impl Row<'_> {
    pub fn integrals(&mut self, i: usize, present: f64, busy: f64) {
        self.open[self.columns.present(i)] = present;
        self.open[self.columns.busy(i)] = busy;
    }

    pub fn add(&mut self, n: usize, more: f64) {
        self.open[self.columns.extra(n)] += more;
    }
}

/// Measurements in buckets of equal length. If there are too many, neighboring buckets are merged
/// and the length doubles, so that the memory is bounded.
pub struct Series {
    pub columns: Columns,
    rows: Vec<f64>,
    open: Vec<f64>,
    /// For each class, the number of departures in the open bucket, and their response times.
    departed: Vec<[f64; 2]>,
    pub watchers: Watchers,
    pub tick: f64,
    pub next_tick: f64,
    ticks: u64,
    ticks_a_bucket: u64,
    pub begin: f64,
    pub merges: u32,
}

/// The maximum number of ticks in a bucket; if more are needed, the length of a tick is doubled.
const MAX_TICKS: u64 = 1 << 30;

/// A number of ticks that have passed.
pub struct Passed {
    /// Their number.
    pub count: f64,
    /// Time of the last one \[time\].
    pub at: f64,
    /// Whether the bucket ends with the last of these ticks.
    pub closes: bool,
}

const MAX_BUCKETS: usize = 2048;

impl Series {
    pub fn new(classes: usize, extra: usize, tick: f64, watches: &[Watch]) -> Self {
        let watchers = Watchers::new(classes, watches);
        let columns = Columns {
            classes,
            watches: watchers.watches.len(),
            extra,
        };
        Series {
            columns,
            rows: Vec::new(),
            open: vec![0.0; columns.width()],
            departed: vec![[0.0; 2]; classes],
            watchers,
            tick,
            next_tick: tick,
            ticks: 0,
            ticks_a_bucket: 4,
            begin: 0.0,
            merges: 0,
        }
    }

    #[inline]
    pub fn departed(&mut self, i: usize, response: f64) {
        let [jobs, responses] = &mut self.departed[i];
        *jobs += 1.0;
        *responses += response;
    }

    pub fn extra_mut(&mut self) -> &mut [f64] {
        &mut self.open[self.columns.extra(0)..]
    }

    /// Passes the ticks of the open bucket up to `now` (there may be many), but at least the next.
    pub fn pass(&mut self, now: f64) -> Passed {
        let left = self.ticks_a_bucket - self.ticks % self.ticks_a_bucket;
        let due = (now / self.tick) as u64;
        let mut count = due.saturating_sub(self.ticks).clamp(1, left);
        // Because of rounding, the quotient may be too large.
        if count > 1 && self.time_of(self.ticks + count) > now {
            count -= 1;
        }
        self.ticks += count;
        self.next_tick = self.time_of(self.ticks + 1);
        Passed {
            count: count as f64,
            at: self.time_of(self.ticks),
            closes: self.ticks.is_multiple_of(self.ticks_a_bucket),
        }
    }

    /// Returns the time of a tick, which is a product so that rounding errors cannot accumulate.
    fn time_of(&self, tick: u64) -> f64 {
        tick as f64 * self.tick
    }

    pub fn close(&mut self, now: f64, collect: impl FnOnce(&mut Row<'_>)) {
        let (columns, open) = (self.columns, &mut self.open);
        collect(&mut Row { columns, open });
        for (i, departed) in self.departed.iter_mut().enumerate() {
            let [jobs, responses] = std::mem::take(departed);
            open[columns.completions(i)] = jobs;
            open[columns.responses(i)] = responses;
        }
        let length = now - self.begin;
        open[columns.time()] = length;
        for (w, above) in self.watchers.collect(length).enumerate() {
            open[columns.above(w)] = above;
        }
        self.rows.extend_from_slice(open);
        open.fill(0.0);
        if self.len() == MAX_BUCKETS {
            self.merge();
        }
        self.begin = now;
    }

    fn merge(&mut self) {
        let width = self.columns.width();
        let pairs = self.rows.chunks_exact(2 * width);
        let rows = pairs.map(|pair| pair.split_at(width));
        self.rows = rows
            .flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b))
            .collect();
        if self.ticks_a_bucket < MAX_TICKS {
            self.ticks_a_bucket *= 2;
        } else {
            self.tick *= 2.0;
            self.ticks /= 2;
            self.next_tick = self.time_of(self.ticks + 1);
        }
        self.merges += 1;
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.columns.width()
    }

    pub fn length(&self) -> f64 {
        self.ticks_a_bucket as f64 * self.tick
    }

    pub fn sum(&self, buckets: Range<usize>) -> Vec<f64> {
        let width = self.columns.width();
        let mut sum = vec![0.0; width];
        for row in self.rows[buckets.start * width..buckets.end * width].chunks_exact(width) {
            sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        }
        sum
    }

    pub fn total(&self, buckets: Range<usize>, column: usize) -> f64 {
        let width = self.columns.width();
        buckets.map(|b| self.rows[b * width + column]).sum()
    }

    pub fn number(&self, classes: Range<usize>) -> Vec<f64> {
        let columns = &self.columns;
        let number = |row: &[f64]| {
            let total: f64 = classes.clone().map(|i| row[columns.present(i)]).sum();
            total / row[columns.time()]
        };
        let rows = self.rows.chunks_exact(columns.width());
        rows.map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(events: &[f64], one_by_one: bool) -> (Series, f64) {
        let mut series = Series::new(1, 0, 0.1, &[]);
        let (mut collected, mut ticks) = (0.0, 0.0);
        for &now in events {
            while now >= series.next_tick {
                let until = if one_by_one { series.next_tick } else { now };
                let passed = series.pass(until);
                assert!(passed.at <= now && passed.count >= 1.0);
                ticks += passed.count;
                if passed.closes {
                    let length = passed.at - collected;
                    collected = passed.at;
                    series.close(passed.at, |row| row.integrals(0, length, 0.0));
                }
            }
            series.departed(0, 1.0);
        }
        (series, ticks)
    }

    #[test]
    fn passing_ticks_together_equals_passing_them_singly() {
        let gaps = [0.05, 3.0, 0.3, 700.0, 0.1, 1.0, 90.0, 12_000.0, 2.5];
        let times = gaps.iter().scan(0.0, |now, gap| {
            *now += gap;
            Some(*now)
        });
        let events: Vec<f64> = times.collect();
        let ((one, ticks), (all, together)) = (series(&events, true), series(&events, false));
        assert_eq!(ticks, together);
        assert_eq!((one.rows, one.merges), (all.rows, all.merges));
        assert_eq!(one.next_tick, all.next_tick);
        assert!(one.merges > 3 && ticks > 1e5);
    }

    #[test]
    fn passes_a_gap_of_1e40_ticks_at_once() {
        let (series, _) = series(&[0.3, 1e39, 2e39], false);
        assert!(series.merges > 100 && series.ticks < 1 << 50);
        let sum = series.sum(0..series.len());
        let time = sum[series.columns.time()];
        assert!((0.99..=1.0).contains(&(time / 2e39)), "{time:e}");
        let present = sum[series.columns.present(0)];
        assert!((present / time - 1.0).abs() < 1e-9, "{present:e}");
        assert!(series.next_tick > 2e39);
    }
}
