//! What a run says of itself.

use serde::Serialize;

use super::Settings;
use super::engine::Engine;
use super::quantiles::Histogram;
use super::series::{Cell, Series};
use super::statistics::{self, BATCHES, Estimate};
use super::watch::{Threshold, Watch, Watched};
use crate::policy::Counters;
use crate::workload::Workload;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The precision asked for was reached.
    Precision,
    /// The budget of events was spent.
    Events,
    /// The time was over.
    Time,
    /// The number in system grew without end.
    RunsAway,
}

/// Whether a run's means may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// A warm-up was found and cut off.
    Settled,
    /// No warm-up was found in the first half, or too little is left after it: the run was too
    /// short. It has no means.
    Unsettled,
    /// The number in system grows steadily, faster than chance explains. It has no means.
    Unstable,
}

/// Results of one type.
#[derive(Clone, Debug, Serialize)]
pub struct TypeResult {
    /// Its name.
    pub name: String,
    /// Jobs that left after the warm-up.
    pub completions: u64,
    /// Mean response time; none without completions.
    pub mean_response: Option<Estimate>,
    /// 50th, 95th and 99th percentile of the response time, within 1.6 %.
    pub percentiles: Option<[f64; 3]>,
    /// Mean number in system.
    pub mean_number: Option<Estimate>,
    /// Mean number in service.
    pub mean_in_service: Option<Estimate>,
    /// Mean number of slots that the policy offers, for policies that tell.
    pub mean_offered: Option<Estimate>,
    /// Jobs waiting or running when the run ended.
    pub left: u64,
}

/// Results of a run, in the workload's time unit, after the warm-up.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// Events simulated, warm-up included.
    pub events: u64,
    /// Time simulated, warm-up included.
    pub simulated_time: f64,
    /// Time cut off as warm-up (MSER-5).
    pub warm_up: f64,
    /// Why it ended.
    pub ending: Ending,
    /// Whether the means may be believed.
    pub health: Health,
    /// Mean response time over all jobs.
    pub mean_response: Option<Estimate>,
    /// Mean response time weighted by load share, `λ_i E[S_i] max_j D_ij/P_j`.
    pub weighted_response: Option<Estimate>,
    /// Mean number in system over all types.
    pub mean_number: Option<Estimate>,
    /// Jain's index over the types' mean response times: 1 is equal.
    pub fairness: Option<f64>,
    /// Fraction of each resource in use by running jobs.
    pub utilization: Vec<f64>,
    /// Switches per time.
    pub switching_frequency: Option<Estimate>,
    /// How often things happened, warm-up included.
    pub counters: Counters,
    /// By type.
    pub types: Vec<TypeResult>,
    /// What was seen of the watched thresholds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<Watched>,
}

/// More jobs than this in the system end a run.
const RUNAWAY: u64 = 10_000_000;

/// Whether the run should be given up: too many jobs, or clearly growing.
pub(super) fn runs_away<P, E, const W: bool>(
    workload: &Workload,
    engine: &Engine<P, E, W>,
) -> bool {
    let present: u64 = (0..engine.system.types())
        .map(|i| engine.system.present(i))
        .sum();
    present > RUNAWAY || (engine.events > 4_000_000 && grows(workload, engine, 10.0))
}

/// Whether the number in system grew from quarter to quarter, and over the second half by
/// more than `deviations` standard deviations of a random walk of as many steps. A stable
/// system does not grow at all in the long run; one at its very limit grows as the walk. Its
/// variance a step is (1 + c)/2 with c the squared coefficient of variation of the sizes (an
/// arrival adds 1, a completion c); here c is the greatest of all types, and 1 at least.
fn grows<P, E, const W: bool>(
    workload: &Workload,
    engine: &Engine<P, E, W>,
    deviations: f64,
) -> bool {
    let number = engine.series.number();
    let window = number.len() / 8;
    if window == 0 {
        return false;
    }
    let level = |quarter: usize| {
        let end = quarter * number.len() / 4;
        number[end - window..end].iter().sum::<f64>() / window as f64
    };
    let levels = [level(1), level(2), level(3), level(4)];
    let scv = workload.types().iter().map(|t| t.size().scv());
    let variance = f64::midpoint(1.0, scv.fold(1.0, f64::max));
    let walk = (variance * engine.events as f64 / 2.0).sqrt();
    levels.windows(2).all(|w| w[1] > w[0]) && levels[3] - levels[1] > deviations * walk
}

/// Relative half-width of the mean response time so far; `None` while nothing can be said.
pub(super) fn precision(workload: &Workload, series: &Series) -> Option<f64> {
    let batches = Batches::new(workload, series, statistics::warm_up(&series.number())?)?;
    Some(
        batches
            .mean_response(&(0..batches.types()).collect::<Vec<_>>())?
            .relative(),
    )
}

/// The series after the warm-up, summed into batches.
struct Batches<'a> {
    workload: &'a Workload,
    /// `sums[b][i]`.
    sums: Vec<Vec<Cell>>,
    switches: Vec<f64>,
    /// `above[b][w]`, by the place of the watch.
    above: Vec<Vec<f64>>,
    /// Length of a batch [time].
    length: f64,
}

impl<'a> Batches<'a> {
    /// `None` when there are too few buckets.
    fn new(workload: &'a Workload, series: &Series, warm_up: usize) -> Option<Self> {
        let size = (series.len() - warm_up) / BATCHES;
        let first = series.len() - size * BATCHES;
        let types = workload.types().len();
        let buckets = |b: usize| first + b * size..first + (b + 1) * size;
        let sum = |b: usize, i: usize| {
            buckets(b).fold(Cell::default(), |mut sum, bucket| {
                sum.add(series.cell(bucket, i));
                sum
            })
        };
        (size > 0).then(|| Batches {
            workload,
            sums: (0..BATCHES)
                .map(|b| (0..types).map(|i| sum(b, i)).collect())
                .collect(),
            switches: (0..BATCHES)
                .map(|b| buckets(b).map(|k| series.switches(k)).sum())
                .collect(),
            above: (0..BATCHES)
                .map(|b| {
                    let above = |w: usize| buckets(b).map(|k| series.above(k, w)).sum();
                    (0..series.watches().len()).map(above).collect()
                })
                .collect(),
            length: size as f64 * series.length(),
        })
    }

    fn types(&self) -> usize {
        self.workload.types().len()
    }

    /// Time average of a quantity that is integrated in each batch.
    fn time_average(&self, quantity: impl Fn(usize) -> f64) -> Estimate {
        let means: Vec<f64> = (0..BATCHES).map(|b| quantity(b) / self.length).collect();
        let mean = means.iter().sum::<f64>() / BATCHES as f64;
        Estimate::new(mean, &means.iter().map(|m| m - mean).collect::<Vec<_>>())
    }

    fn total(&self, quantity: impl Fn(&Cell) -> f64, types: &[usize]) -> f64 {
        self.sums
            .iter()
            .map(|cells| types.iter().map(|&i| quantity(&cells[i])).sum::<f64>())
            .sum()
    }

    /// Mean response time over the jobs of some types together: a ratio of sums.
    fn mean_response(&self, types: &[usize]) -> Option<Estimate> {
        let sum = |b: usize, of: fn(&Cell) -> f64| -> f64 {
            types.iter().map(|&i| of(&self.sums[b][i])).sum()
        };
        Self::a_job(|b| sum(b, |c| c.responses), |b| sum(b, |c| c.completions))
    }

    /// Mean over jobs of a quantity that is summed in each batch; none without jobs.
    fn a_job(quantity: impl Fn(usize) -> f64, jobs: impl Fn(usize) -> f64) -> Option<Estimate> {
        let total: f64 = (0..BATCHES).map(&jobs).sum();
        if total == 0.0 {
            return None;
        }
        let mean = (0..BATCHES).map(&quantity).sum::<f64>() / total;
        let share = total / BATCHES as f64;
        let deviation = |b: usize| (quantity(b) - mean * jobs(b)) / share;
        let deviations: Vec<f64> = (0..BATCHES).map(deviation).collect();
        Some(Estimate::new(mean, &deviations))
    }

    /// The fraction of time, or of jobs, above a watched threshold.
    fn above(&self, w: usize, watched: &Watch) -> Option<Estimate> {
        let above = |b: usize| self.above[b][w];
        match watched.threshold {
            Threshold::Number(_) => Some(self.time_average(above)),
            Threshold::Response(_) => {
                Self::a_job(above, |b| self.sums[b][watched.job_type].completions)
            }
        }
    }

    /// `Σ w_i E[T_i]` with weights of sum 1; none when some type has no completion.
    fn weighted_response(&self, weights: &[f64]) -> Option<Estimate> {
        let means: Option<Vec<f64>> = (0..self.types())
            .map(|i| self.mean_response(&[i]).map(|e| e.mean))
            .collect();
        let means = means?;
        let share = |i: usize| self.total(|c| c.completions, &[i]) / BATCHES as f64;
        let shares: Vec<f64> = (0..self.types()).map(share).collect();
        let deviation = |cells: &Vec<Cell>| -> f64 {
            let excess =
                |i: usize| (cells[i].responses - means[i] * cells[i].completions) / shares[i];
            weights.iter().enumerate().map(|(i, w)| w * excess(i)).sum()
        };
        let mean = weights.iter().zip(&means).map(|(w, m)| w * m).sum();
        Some(Estimate::new(
            mean,
            &self.sums.iter().map(deviation).collect::<Vec<_>>(),
        ))
    }

    /// Fraction of resource j in use.
    fn utilization(&self, j: usize) -> f64 {
        let capacity = self.workload.resources()[j].capacity().value();
        let time = self.length * BATCHES as f64;
        let used =
            |i: usize| self.total(|c| c.busy, &[i]) * self.workload.types()[i].demand()[j].value();
        (0..self.types()).map(used).sum::<f64>() / time / capacity
    }
}

/// The results of a finished run.
pub(super) fn summarize<P, E, const W: bool>(
    workload: &Workload,
    engine: &mut Engine<P, E, W>,
    settings: &Settings,
    ending: Ending,
) -> Run {
    let warm_up = statistics::warm_up(&engine.series.number());
    let grows = ending == Ending::RunsAway || grows(workload, engine, 5.0);
    let usable = warm_up.filter(|_| !grows);
    let batches = usable.and_then(|cut| Batches::new(workload, &engine.series, cut));
    let health = match &batches {
        _ if grows => Health::Unstable,
        None => Health::Unsettled,
        Some(_) => Health::Settled,
    };
    let all: Vec<usize> = (0..workload.types().len()).collect();
    let number = |b: &Batches| b.time_average(|k| b.sums[k].iter().map(|c| c.present).sum());
    let types: Vec<TypeResult> = all
        .iter()
        .map(|&i| type_result(workload, engine, batches.as_ref(), i))
        .collect();
    let means: Option<Vec<f64>> = types
        .iter()
        .map(|t| t.mean_response.map(|e| e.mean))
        .collect();
    let b = batches.as_ref();
    let watches = engine.series.watches().iter().enumerate();
    let watched = watches.map(|(w, &watch)| Watched {
        watch,
        above: b.and_then(|b| b.above(w, &watch)),
    });
    Run {
        seed: settings.seed,
        events: engine.events,
        simulated_time: engine.system.now(),
        warm_up: usable.map_or(0.0, |cut| cut as f64 * engine.series.length()),
        ending,
        health,
        mean_response: b.and_then(|b| b.mean_response(&all)),
        weighted_response: b.and_then(|b| b.weighted_response(&workload.load_shares())),
        mean_number: b.map(number),
        fairness: means.map(|m| jain(&m)),
        utilization: b.map_or(Vec::new(), |b| {
            (0..workload.resources().len())
                .map(|j| b.utilization(j))
                .collect()
        }),
        switching_frequency: b.map(|b| b.time_average(|k| b.switches[k])),
        counters: engine.system.counters(),
        types,
        watched: watched.collect(),
    }
}

fn type_result<P, E, const W: bool>(
    workload: &Workload,
    engine: &Engine<P, E, W>,
    batches: Option<&Batches>,
    i: usize,
) -> TypeResult {
    let average =
        |quantity: fn(&Cell) -> f64| batches.map(|b| b.time_average(|k| quantity(&b.sums[k][i])));
    let quantile = |p: f64| {
        let [before, now] = &engine.responses[i];
        Histogram::quantile([before, now], p)
    };
    let percentiles = || Some([quantile(0.5)?, quantile(0.95)?, quantile(0.99)?]);
    TypeResult {
        name: workload.types()[i].name().into(),
        completions: batches.map_or(0, |b| b.total(|c| c.completions, &[i]) as u64),
        mean_response: batches.and_then(|b| b.mean_response(&[i])),
        percentiles: batches.and_then(|_| percentiles()),
        mean_number: average(|c| c.present),
        mean_in_service: average(|c| c.busy),
        mean_offered: average(|c| c.offered).filter(|offered| offered.mean > 0.0),
        left: engine.system.present(i),
    }
}

/// Jain's index, `(Σ x)² / (K Σ x²)`.
fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    sum * sum / (values.len() as f64 * squares)
}
