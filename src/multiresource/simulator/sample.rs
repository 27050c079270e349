//! What replications measured after their warm-up, in batches, and the estimates from it.

use super::engine::CROWDED;
use super::replication::Replication;
use super::series::{Columns, Series};
use super::statistics::{self, BATCHES, Estimate};
use crate::multiresource::workload::{JobType, Workload};

/// Batches of all replications.
pub(super) struct Sample {
    pub columns: Columns,
    /// Row after row, those of one replication one after another.
    rows: Vec<Vec<f64>>,
    /// Batches a replication.
    batches: usize,
    /// Time cut off from each replication.
    pub warm_up: f64,
    /// Time that is left of the shortest.
    length: f64,
}

/// The warm-up is at least so many times the mean residual size of the longest jobs, and the rest at
/// least so many times: what was not there at the start, and what is not done at the end, then weighs
/// less than a hundredth of them.
const WARM_UP: f64 = 3.0;
const REST: f64 = 10.0;

/// Types with a smaller share of the jobs in service are not asked.
const SMALLEST_SHARE: f64 = 1e-3;

/// The longest mean residual size \[time\] of the types that make up the mean.
fn memory(workload: &Workload) -> f64 {
    let types = workload.types().iter();
    let all: f64 = types.clone().map(JobType::offered_load).sum();
    let weighty = types.filter(|t| t.offered_load() >= SMALLEST_SHARE * all);
    weighty.map(residual).fold(0.0, f64::max)
}

/// E\[S²\]/2E\[S\], what is left on average of a job in service that is looked at.
fn residual(kind: &JobType) -> f64 {
    kind.mean_size() * f64::midpoint(1.0, kind.size().scv())
}

impl Sample {
    /// `None` when no warm-up is found, or too little is left after it: for batches, or beside the
    /// longest jobs. Those weigh most in the means, and the number of them in system, which grows
    /// for as long as they last, can drown in the noise of all others.
    pub fn new(workload: &Workload, engines: &[impl Replication]) -> Option<Self> {
        let memory = memory(workload);
        let warm_up = warm_up(engines.iter().map(Replication::series), WARM_UP * memory)?;
        let batches = BATCHES.div_ceil(engines.len());
        let mut rows = Vec::new();
        let mut length = f64::INFINITY;
        for series in engines.iter().map(Replication::series) {
            let cut = (warm_up / series.length()).round() as usize;
            let left = series.len().checked_sub(cut)?;
            length = length.min(left as f64 * series.length());
            if length < REST * memory {
                return None;
            }
            let size = left / batches;
            let first = series.len() - size * batches;
            if size == 0 {
                return None;
            }
            rows.extend((0..batches).map(|b| series.sum(first + b * size..first + (b + 1) * size)));
        }
        Some(Sample {
            columns: engines.first()?.series().columns,
            rows,
            batches,
            warm_up,
            length,
        })
    }

    /// Whether it is long enough to tell of jobs of this type.
    pub fn tells(&self, kind: &JobType) -> bool {
        self.length >= REST * residual(kind)
    }

    pub fn total(&self, quantity: impl Fn(&[f64]) -> f64) -> f64 {
        self.rows.iter().map(|row| quantity(row)).sum()
    }

    /// A ratio of sums; none where the lower one is zero.
    pub fn ratio(
        &self,
        upper: impl Fn(&[f64]) -> f64,
        lower: impl Fn(&[f64]) -> f64,
    ) -> Option<Estimate> {
        let total = self.total(&lower);
        if total == 0.0 {
            return None;
        }
        let mean = self.total(&upper) / total;
        let share = total / self.rows.len() as f64;
        Some(self.estimate(mean, |row| (upper(row) - mean * lower(row)) / share))
    }

    /// The estimate `mean`, from what each batch deviates by.
    pub fn estimate(&self, mean: f64, deviation: impl Fn(&[f64]) -> f64) -> Estimate {
        let deviations: Vec<f64> = self.rows.iter().map(|row| deviation(row)).collect();
        Estimate::new(mean, &deviations, self.batches)
    }

    /// Time average of a quantity that is integrated in each batch.
    pub fn time_average(&self, quantity: impl Fn(&[f64]) -> f64) -> Option<Estimate> {
        let time = self.columns.time();
        self.ratio(quantity, |row| row[time])
    }

    /// Mean response time of each replication, over the jobs of all types.
    pub fn replications(&self) -> Vec<f64> {
        let c = self.columns;
        self.of_replications(|row| {
            let sum = |column: &dyn Fn(usize) -> usize| -> f64 {
                (0..c.types).map(|i| row[column(i)]).sum()
            };
            sum(&|i| c.responses(i)) / sum(&|i| c.completions(i))
        })
    }

    /// `Σ w_i E[T_i]` of each replication.
    pub fn weighted_replications(&self, weights: &[f64]) -> Vec<f64> {
        let c = self.columns;
        let of_type = |row: &[f64], i: usize| row[c.responses(i)] / row[c.completions(i)];
        let weights = || weights.iter().enumerate();
        self.of_replications(|row| weights().map(|(i, w)| w * of_type(row, i)).sum())
    }

    /// What follows from the sums of each replication.
    fn of_replications(&self, value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let sum = |rows: &[Vec<f64>]| {
            let column = |c: usize| rows.iter().map(|row| row[c]).sum();
            (0..rows[0].len()).map(column).collect::<Vec<f64>>()
        };
        let replications = self.rows.chunks(self.batches);
        replications.map(|rows| value(&sum(rows))).collect()
    }

    /// Mean response time over the jobs of some types together.
    pub fn mean_response(&self, types: &[usize]) -> Option<Estimate> {
        let c = self.columns;
        self.ratio(
            |row| types.iter().map(|&i| row[c.responses(i)]).sum(),
            |row| types.iter().map(|&i| row[c.completions(i)]).sum(),
        )
    }

    /// Mean time in system without service, over the jobs of some types together.
    pub fn mean_waiting(&self, types: &[usize]) -> Option<Estimate> {
        let c = self.columns;
        let idle = |row: &[f64], i: usize| row[c.present(i)] - row[c.busy(i)];
        self.ratio(
            |row| types.iter().map(|&i| idle(row, i)).sum(),
            |row| types.iter().map(|&i| row[c.completions(i)]).sum(),
        )
    }

    /// `Σ w_i E[T_i]` with weights of sum 1; none when some type has no completion.
    pub fn weighted_response(&self, weights: &[f64]) -> Option<Estimate> {
        let c = self.columns;
        let types = 0..weights.len();
        let jobs: Vec<f64> = types
            .clone()
            .map(|i| self.total(|row| row[c.completions(i)]) / self.rows.len() as f64)
            .collect();
        let means: Option<Vec<f64>> = types
            .clone()
            .map(|i| self.mean_response(&[i]).map(|e| e.mean))
            .collect();
        let means = means?;
        let mean = weights.iter().zip(&means).map(|(w, m)| w * m).sum();
        Some(self.estimate(mean, |row| {
            let excess =
                |i: usize| (row[c.responses(i)] - means[i] * row[c.completions(i)]) / jobs[i];
            types.clone().map(|i| weights[i] * excess(i)).sum()
        }))
    }
}

/// Relative half-width of the mean response time so far; `None` while nothing can be said.
pub(super) fn precision(workload: &Workload, engines: &[impl Replication]) -> Option<f64> {
    let sample = Sample::new(workload, engines)?;
    let all: Vec<usize> = (0..sample.columns.types).collect();
    Some(sample.mean_response(&all)?.relative())
}

/// The warm-up \[time\] of replications, from their mean number in system together, and at least
/// so long.
fn warm_up<'a>(all: impl Iterator<Item = &'a Series> + Clone, least: f64) -> Option<f64> {
    let (number, length) = mean_number(all, None);
    let found = statistics::warm_up(&number)? as f64;
    Some(found.max((least / length).ceil()) * length)
}

/// Mean number of a type or of all in system, in buckets of time, over all replications, and the
/// buckets' length. A replication that is not as far as others has smaller buckets: these are merged.
pub(super) fn mean_number<'a>(
    all: impl Iterator<Item = &'a Series> + Clone,
    of_type: Option<usize>,
) -> (Vec<f64>, f64) {
    let length = all.clone().map(Series::length).fold(0.0, f64::max);
    let coarse = |series: &Series| {
        let size = (length / series.length()).round() as usize;
        let types = of_type.map_or(0..series.columns.types, |i| i..i + 1);
        let pairs = series.number(types);
        let mean = |pair: &[f64]| pair.iter().sum::<f64>() / size as f64;
        pairs.chunks_exact(size).map(mean).collect::<Vec<f64>>()
    };
    let numbers: Vec<Vec<f64>> = all.map(coarse).collect();
    let shortest = numbers.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |b: usize| numbers.iter().map(|n| n[b]).sum::<f64>() / numbers.len() as f64;
    ((0..shortest).map(mean).collect(), length)
}

/// Whether the run should be given up: too many jobs, or clearly growing.
pub(super) fn runs_away(workload: &Workload, engines: &[impl Replication]) -> bool {
    let events: u64 = engines.iter().map(Replication::events).sum();
    engines.iter().any(|e| e.jobs() > CROWDED)
        || (events > 4_000_000 && grows(workload, engines, SURELY))
}

/// Whether the number in system grows, of all types together or of one: a rule can starve a type
/// that nobody would miss in the sum.
pub(super) fn grows(workload: &Workload, engines: &[impl Replication], deviations: f64) -> bool {
    number_grows(workload, engines, None, deviations)
        || (0..workload.types().len()).any(|i| type_grows(workload, engines, i))
}

/// Whether the number of type i in system grows.
pub(super) fn type_grows(workload: &Workload, engines: &[impl Replication], i: usize) -> bool {
    number_grows(workload, engines, Some(i), SURELY)
}

/// Standard deviations beyond which growth is beyond doubt, even when it is looked for often.
const SURELY: f64 = 10.0;

/// Whether the number in system grew from quarter to quarter, and over the second half by more
/// than chance explains, in two ways: by more than `deviations` standard deviations of a random
/// walk of as many steps; and, as jobs that block the server for long make greater waves than
/// those, with increments from eighth to eighth of that half whose mean is more than [`STEADY`]
/// of its own standard errors.
///
/// A stable system does not grow at all in the long run; one at its very limit grows as the walk.
/// Its variance a step is (a + c)/2 with a the dispersion of the arrivals and c the squared
/// coefficient of variation of the sizes; here both are the greatest of all types, and 1 at least.
/// The mean of n replications has an n-th of that variance.
fn number_grows(
    workload: &Workload,
    engines: &[impl Replication],
    of_type: Option<usize>,
    deviations: f64,
) -> bool {
    // What grows while the first of the longest jobs last is the way to the steady state.
    let length = engines.iter().map(Replication::now);
    if length.fold(f64::INFINITY, f64::min) < (WARM_UP + REST) * memory(workload) {
        return false;
    }
    let (number, _) = mean_number(engines.iter().map(Replication::series), of_type);
    let window = number.len() / 18;
    if window == 0 {
        return false;
    }
    // Nine levels, from the middle to the end.
    let last = &number[number.len() - 9 * window..];
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let levels: Vec<f64> = last.chunks_exact(window).map(mean).collect();
    let growth = levels[8] - levels[0];
    let increments = levels.windows(2).map(|w| w[1] - w[0]);
    let excess: f64 = increments.map(|d| (d - growth / 8.0).powi(2)).sum();
    let error = (excess / (8.0 * 7.0)).sqrt();
    let quarters = [
        mean(&number[..number.len() / 4]),
        mean(&number[number.len() / 4..number.len() / 2]),
        mean(&last[..last.len() / 2]),
        mean(&last[last.len() / 2..]),
    ];
    quarters.is_sorted()
        && growth / 8.0 > STEADY * error
        && growth > deviations * walk(workload, engines, of_type)
}

/// Standard errors of a growth that is steady. Of a random walk's eight increments the mean is
/// beyond that with probability .0003.
const STEADY: f64 = 6.0;

/// The standard deviation of the mean number in system after half of the run, were it a random
/// walk.
fn walk(workload: &Workload, engines: &[impl Replication], of_type: Option<usize>) -> f64 {
    let types = workload.types().iter();
    let share = of_type.map_or(1.0, |i| {
        workload.types()[i].arrival_rate() / workload.total_arrival_rate()
    });
    let scv = types.clone().map(|t| t.size().scv()).fold(1.0, f64::max);
    let dispersion = types.map(|t| t.arrivals().dispersion()).fold(1.0, f64::max);
    let variance = f64::midpoint(dispersion, scv);
    let n = engines.len() as f64;
    let events: u64 = engines.iter().map(Replication::events).sum();
    (variance * share * events as f64 / 2.0).sqrt() / n
}
