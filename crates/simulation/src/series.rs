use std::ops::Range;

use super::watch::{Watch, Watchers};

/// Where the measurements of a bucket of time stand in its row: all are sums or integrals over it,
/// so rows of neighbours add up to that of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Columns {
    pub classes: usize,
    pub watches: usize,
    /// Columns that the engine names and fills itself.
    pub extra: usize,
}

impl Columns {
    const OF_CLASS: usize = 4;

    /// Returns the column of ∫ number of class i in system.
    pub fn present(&self, i: usize) -> usize {
        Self::OF_CLASS * i
    }

    /// Returns the column of ∫ number of class i in service.
    pub fn busy(&self, i: usize) -> usize {
        Self::OF_CLASS * i + 1
    }

    /// Returns the column of jobs of class i that left.
    pub fn completions(&self, i: usize) -> usize {
        Self::OF_CLASS * i + 2
    }

    /// Returns the column of Σ response times of these.
    pub fn responses(&self, i: usize) -> usize {
        Self::OF_CLASS * i + 3
    }

    /// Returns the column of the length of the bucket.
    pub fn time(&self) -> usize {
        Self::OF_CLASS * self.classes
    }

    /// Returns the column of the time or jobs above a watched threshold.
    pub fn above(&self, watch: usize) -> usize {
        self.time() + 1 + watch
    }

    /// Returns the n-th of the engine's own.
    pub fn extra(&self, n: usize) -> usize {
        self.above(self.watches) + n
    }

    pub fn width(&self) -> usize {
        self.extra(self.extra)
    }
}

/// The row of a bucket that is closed, for what the engine knows.
pub struct Row<'a> {
    columns: Columns,
    open: &'a mut [f64],
}

impl Row<'_> {
    /// Sets the integrals over the bucket of the jobs of class i: in the system, and in service.
    pub fn integrals(&mut self, i: usize, present: f64, busy: f64) {
        self.open[self.columns.present(i)] = present;
        self.open[self.columns.busy(i)] = busy;
    }

    /// Adds to the n-th extra column.
    pub fn add(&mut self, n: usize, more: f64) {
        self.open[self.columns.extra(n)] += more;
    }
}

/// Measurements in buckets of equal length; when there are too many, neighbours are merged
/// and the length doubles, so that memory does not grow with the run.
pub struct Series {
    pub columns: Columns,
    /// Row after row.
    rows: Vec<f64>,
    /// The row of the open bucket, and by class the jobs that left and Σ of their response times.
    open: Vec<f64>,
    departed: Vec<[f64; 2]>,
    pub watchers: Watchers,
    /// Time from one tick to the next.
    tick: f64,
    next_tick: f64,
    /// Ticks so far, and in each bucket.
    ticks: u64,
    ticks_a_bucket: u64,
    /// When the open bucket begins.
    begin: f64,
    /// How often neighbours were merged.
    pub merges: u32,
}

/// Ticks in a bucket at first.
const FIRST_TICKS: u64 = 4;

/// Ticks in a bucket at most; beyond that they become longer.
const MOST_TICKS: u64 = 1 << 30;

/// Ticks that are over.
pub struct Passed {
    /// How many.
    pub count: f64,
    /// When the last of them was \[time\].
    pub at: f64,
    /// Whether the open bucket ends with it.
    pub closes: bool,
}

/// Buckets before neighbours are merged; half of it is left after.
const MOST_BUCKETS: usize = 2048;

impl Series {
    /// Returns a series of so many classes, with so many extra columns and a tick each `tick` \[time\]; watches of
    /// other classes are dropped.
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
            ticks_a_bucket: FIRST_TICKS,
            begin: 0.0,
            merges: 0,
        }
    }

    /// Notes the departure of a job of class i.
    #[inline]
    pub fn departed(&mut self, i: usize, response: f64) {
        let [jobs, responses] = &mut self.departed[i];
        *jobs += 1.0;
        *responses += response;
    }

    /// Returns whether any threshold is watched.
    #[inline]
    pub fn watches(&self) -> bool {
        self.columns.watches > 0
    }

    /// Notes that so many jobs of class i are there from time `now` on, in the open bucket.
    pub fn watch_number(&mut self, i: usize, present: u64, now: f64) {
        self.watchers.number(i, present, now - self.begin);
    }

    /// Returns when the next tick is due.
    #[inline]
    pub fn next_tick(&self) -> f64 {
        self.next_tick
    }

    /// Returns the extra columns of the open bucket, to add to. They are 0 when it begins.
    pub fn extra_mut(&mut self) -> &mut [f64] {
        &mut self.open[self.columns.extra(0)..]
    }

    /// Returns the time from one tick to the next.
    pub fn tick_length(&self) -> f64 {
        self.tick
    }

    /// Passes the ticks of the open bucket up to time `now`, at least the next one, which is due:
    /// between two events there may be very many.
    pub fn pass(&mut self, now: f64) -> Passed {
        let left = self.ticks_a_bucket - self.ticks % self.ticks_a_bucket;
        let due = (now / self.tick) as u64;
        let mut count = due.saturating_sub(self.ticks).clamp(1, left);
        // Rounding of the quotient must not lead beyond `now`.
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

    /// Returns the time of a tick; multiplied, not added up: ticks are where they are, however long the run.
    fn time_of(&self, tick: u64) -> f64 {
        tick as f64 * self.tick
    }

    /// Closes the open bucket at time `now`; see [`Recorder::close`](super::Recorder::close).
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
        if self.len() == MOST_BUCKETS {
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
        if self.ticks_a_bucket < MOST_TICKS {
            self.ticks_a_bucket *= 2;
        } else {
            self.tick *= 2.0;
            self.ticks /= 2;
            self.next_tick = self.time_of(self.ticks + 1);
        }
        self.merges += 1;
    }

    /// Returns the number of closed buckets.
    pub fn len(&self) -> usize {
        self.rows.len() / self.columns.width()
    }

    /// Returns the length of a bucket \[time\].
    pub fn length(&self) -> f64 {
        self.ticks_a_bucket as f64 * self.tick
    }

    /// Returns the rows of these buckets, summed.
    pub fn sum(&self, buckets: Range<usize>) -> Vec<f64> {
        let width = self.columns.width();
        let mut sum = vec![0.0; width];
        for row in self.rows[buckets.start * width..buckets.end * width].chunks_exact(width) {
            sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        }
        sum
    }

    /// Returns one column of these buckets, summed.
    pub fn total(&self, buckets: Range<usize>, column: usize) -> f64 {
        let width = self.columns.width();
        buckets.map(|b| self.rows[b * width + column]).sum()
    }

    /// Returns the mean number of these classes in system, bucket by bucket.
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

    /// A series with events at these times: between them 1 job, and one leaves at each.
    fn series(events: &[f64], one_by_one: bool) -> (Series, f64) {
        let mut series = Series::new(1, 0, 0.1, &[]);
        let (mut collected, mut ticks) = (0.0, 0.0);
        for &now in events {
            while now >= series.next_tick() {
                let until = if one_by_one { series.next_tick() } else { now };
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

    /// Ticks that pass together pass as they do one by one.
    #[test]
    fn many_ticks_pass_as_one_by_one() {
        let gaps = [0.05, 3.0, 0.3, 700.0, 0.1, 1.0, 90.0, 12_000.0, 2.5];
        let times = |gap: &f64, now: &mut f64| {
            *now += gap;
            *now
        };
        let mut now = 0.0;
        let events: Vec<f64> = gaps.iter().map(|gap| times(gap, &mut now)).collect();
        let ((one, ticks), (all, together)) = (series(&events, true), series(&events, false));
        assert_eq!(ticks, together);
        assert_eq!((one.rows, one.merges), (all.rows, all.merges));
        assert_eq!(one.next_tick, all.next_tick);
        assert!(one.merges > 3 && ticks > 1e5);
    }

    /// A gap of 1e40 ticks passes at once; what the buckets hold is all that was.
    #[test]
    fn a_gap_of_any_length_passes() {
        let (series, _) = series(&[0.3, 1e39, 2e39], false);
        assert!(series.merges > 100 && series.ticks < 1 << 50);
        let sum = series.sum(0..series.len());
        let time = sum[series.columns.time()];
        assert!((0.99..=1.0).contains(&(time / 2e39)), "{time:e}");
        let present = sum[series.columns.present(0)];
        assert!((present / time - 1.0).abs() < 1e-9, "{present:e}");
        assert!(series.next_tick() > 2e39);
    }
}
