use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory;
use super::quantiles::Histogram;
use super::recorder::{ReplicationState, Stays};
use super::sample::{Sample, Seen, mean_number};
use super::settings::Settings;
use super::settling::{self, NotConverged};
use super::statistics::{self, Estimate};
use super::watch::{Threshold, Watched};

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The requested precision was reached.
    Precision,
    /// The event budget was exhausted.
    Events,
    /// The time limit was reached.
    Time,
    /// The number of jobs in the system grew without bound.
    RunsAway,
    /// The run was interrupted.
    Interrupted,
}

/// Whether the means of a run are reliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// The run has converged. This means that every class was observed often enough, and that the
    /// number of jobs in the system has reached a steady state.
    Settled,
    /// The run has not converged, because it is too short for all classes or for one of them. The
    /// reason is in `unsettled`. In this case, there are no means.
    Unsettled,
    /// The number of jobs grows steadily and faster than by chance. In this case, there are no
    /// means.
    Unstable,
}

/// The results for a job type. `C` contains measurements that are specific to a kind of workload.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClassResult<C = ()> {
    /// Its name.
    pub name: String,
    /// The number of jobs that departed after the warm-up.
    pub completions: u64,
    /// The mean response time. It is null if there are no completions, or if the run is too short
    /// compared with the sizes of the jobs.
    pub mean_response: Option<Estimate>,
    /// The mean time that a job is in the system but not in service.
    pub mean_waiting: Option<Estimate>,
    /// The mean response time of a job divided by its mean size, `E[T]/E[S]`.
    pub slowdown: Option<Estimate>,
    /// 50th, 95th and 99th percentile of the response time, within 1.6 %; see those of the run.
    pub percentiles: Option<[f64; 3]>,
    /// The same percentiles for the waiting time, which ends when the job is started for the last
    /// time.
    #[serde(default)]
    pub waiting_percentiles: Option<[f64; 3]>,
    /// The percentiles of the response and waiting times; `None` if a replication has too few jobs.
    #[serde(skip)]
    pub spread: [[Option<Estimate>; 3]; 2],
    /// The mean time in the system but not in service, by replication. Empty if there are no means.
    #[serde(skip)]
    pub waiting_replications: Vec<f64>,
    #[serde(skip)]
    pub(super) waits: Option<Histogram>,
    /// The mean number of jobs in the system.
    pub mean_number: Option<Estimate>,
    /// The mean number of jobs that are in service.
    pub mean_in_service: Option<Estimate>,
    /// Measurements that are specific to the kind of workload. They are flattened into the
    /// document.
    #[serde(flatten)]
    pub own: C,
    /// The number of jobs that were waiting or running at the end, in all replications.
    pub left: u64,
    /// Whether the number of jobs grew steadily and faster than can be explained by chance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows: bool,
    /// The mean number of jobs in the second half of each replication, whether converged or not.
    #[serde(skip)]
    pub late: Vec<f64>,
}

/// The results of a run after the warm-up, in the time unit of the workload. `M` and `C` contain
/// measurements of the run and of each class that are specific to a kind of workload.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Run<M = (), C = ()> {
    /// The random seed.
    pub seed: u64,
    /// The mean response time for each of the replications, which are independent.
    pub replications: Vec<Option<f64>>,
    /// The weighted mean of the response time for each of the replications.
    #[serde(default)]
    pub weighted_replications: Vec<Option<f64>>,
    /// The 99th percentile of the response time for each of the replications.
    #[serde(default)]
    pub p99_replications: Vec<Option<f64>>,
    /// The number of simulated events in all replications, including warm-up.
    pub events: u64,
    /// The total time that was simulated in all replications, including the warm-up.
    pub simulated_time: f64,
    /// The time that is removed from the start of each replication: a tenth, or more for long jobs.
    pub warm_up: f64,
    /// The reason why the run ended.
    pub ending: Ending,
    /// Specifies whether the means are reliable.
    pub health: Health,
    /// The reason why the run has not converged, if no growth was detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<NotConverged>,
    /// The mean of the response times of all jobs.
    pub mean_response: Option<Estimate>,
    /// The mean time that a job is in the system but not in service, for all jobs.
    pub mean_waiting: Option<Estimate>,
    /// The 50th, 95th and 99th percentile of all response times, with an error of at most 1.6 %.
    /// The first quarter to half of a long run is not used, regardless of the warm-up. All of a
    /// short run is used.
    pub percentiles: Option<[f64; 3]>,
    /// The same percentiles for the waiting time, which ends when the job is started for the last
    /// time.
    #[serde(default)]
    pub waiting_percentiles: Option<[f64; 3]>,
    /// The mean over replications of the 99th percentile in each.
    #[serde(default)]
    pub p99_response: Option<Estimate>,
    /// 99th percentile of the departed jobs, whether converged or not.
    #[serde(skip)]
    pub rough_p99: Option<f64>,
    /// The mean of the response time in which each class is weighted by its share of the load.
    pub weighted_response: Option<Estimate>,
    /// The mean number of jobs of all classes in the system.
    pub mean_number: Option<Estimate>,
    /// Jain's index for the mean response times of the classes. A value of 1 means that they are
    /// all equal.
    pub fairness: Option<f64>,
    /// Measurements that are specific to the kind of workload. They are flattened into the
    /// document.
    #[serde(flatten)]
    pub own: M,
    /// Results by class, in the order of the workload's job types.
    pub types: Vec<ClassResult<C>>,
    /// The results for each of the thresholds that were watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<Watched>,
    /// The mean number of jobs in the system for each of at most 256 intervals, and the length of
    /// an interval. The intervals have the same length, and the mean is taken over all
    /// replications.
    pub path: (Vec<f64>, f64),
}

impl<M, C> Run<M, C> {
    /// Marks a run as interrupted if it was interrupted, even if its precision was reached: it may
    /// be precise by chance, but would have had other results.
    pub fn marked(mut self, settings: &Settings) -> Self {
        if settings.is_interrupted() {
            self.ending = Ending::Interrupted;
        }
        self
    }
}

/// A set of replications that have ended, which are used to create a [`Run`].
pub struct EndedRuns<'a> {
    pub(super) seen: Seen<'a>,
    pub(super) settings: &'a Settings,
    pub(super) ending: Ending,
    pub(super) turns: Option<u64>,
}

impl EndedRuns<'_> {
    /// Returns the results. `own` and `of_class` compute additional measurements from the sample
    /// after the warm-up, converged or not. `of_class` gets none if it is too short for the class.
    pub fn run<M, C>(
        &self,
        own: impl FnOnce(Option<&Sample>) -> M,
        of_class: impl Fn(Option<&Sample>, usize) -> C,
    ) -> Run<M, C> {
        let seen = &self.seen;
        let (classes, engines) = (seen.classes, &seen.engines[..]);
        let slow_clock = settling::slow_clock(seen);
        let grew = settling::grows(seen, settling::AT_THE_END)
            || self.ending == Ending::RunsAway && slow_clock.is_none();
        let sample = memory::sample(seen).filter(|_| !grew);
        let measured = sample.as_ref();
        let (health, unsettled) = match measured.map(|s| settling::unsettled(seen, s)) {
            _ if slow_clock.is_some() => (Health::Unsettled, slow_clock),
            _ if grew => match self.turns {
                Some(jobs) => (Health::Unsettled, Some(NotConverged::Turns { jobs })),
                None => (Health::Unstable, None),
            },
            None => (Health::Unsettled, Some(NotConverged::NoLevel)),
            Some(Some(why)) => (Health::Unsettled, Some(why)),
            Some(None) => (Health::Settled, None),
        };
        let s = measured.filter(|_| health == Health::Settled);
        let all: Vec<usize> = (0..classes.len()).collect();
        let stays = |i: usize| engines.iter().flat_map(move |e| &e.recorder().stays[i]);
        let of_class_i: Vec<Stays> = all.iter().map(|&i| together(stays(i))).collect();
        let watched = watched(engines, measured, health == Health::Settled);
        let types = all.iter().map(|&i| {
            let own = of_class(measured.filter(|m| m.is_long_enough_for(&classes[i])), i);
            self.class_result(s, (&of_class_i[i], &watched), own, i)
        });
        let types: Vec<ClassResult<C>> = types.collect();
        let means = types.iter().map(|t| Some(t.mean_response?.mean));
        let means: Option<Vec<f64>> = means.collect();
        let weights: Vec<f64> = classes.iter().map(|class| class.weight).collect();
        let tells_all = s.filter(|s| classes.iter().all(|class| s.is_long_enough_for(class)));
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        let of_replications = |values: Option<Vec<f64>>| match values {
            Some(values) => values.into_iter().map(finite).collect(),
            None => vec![None; engines.len()],
        };
        let weighted = tells_all.map(|s| s.weighted_replications(&weights));
        let everything = together(of_class_i.iter());
        let p99 = |engine: &&dyn ReplicationState| {
            let stays = all.iter().flat_map(|&i| &engine.recorder().stays[i]);
            together(stays).responses.quantile(0.99)
        };
        let p99s: Option<Vec<f64>> = s.and_then(|_| engines.iter().map(p99).collect());
        let several = p99s.as_deref().filter(|values| values.len() > 1);
        Run {
            seed: self.settings.seed,
            watched,
            replications: of_replications(s.map(Sample::replications)),
            weighted_replications: of_replications(weighted),
            p99_response: several.map(statistics::over_replications),
            p99_replications: of_replications(p99s),
            rough_p99: everything.responses.quantile(0.99),
            events: seen.events(),
            simulated_time: engines.iter().map(|e| e.now()).sum(),
            warm_up: s.map_or(0.0, |s| s.warm_up),
            ending: self.ending,
            health,
            unsettled,
            mean_response: s.and_then(|s| s.mean_response(&all)),
            mean_waiting: s.and_then(|s| s.mean_waiting(&all)),
            percentiles: s.and_then(|_| percentiles(&everything.responses, |_, value| value)),
            waiting_percentiles: s.and_then(|_| percentiles(&everything.waits, |_, value| value)),
            weighted_response: tells_all.and_then(|s| s.weighted_response(&weights)),
            mean_number: s.and_then(|s| s.mean_number(&all)),
            fairness: means.and_then(|m| jain(&m)),
            own: own(measured),
            types,
            path: path(seen),
        }
    }

    fn class_result<C>(
        &self,
        s: Option<&Sample>,
        (stays, watched): (&Stays, &[Watched]),
        own: C,
        i: usize,
    ) -> ClassResult<C> {
        let (class, engines) = (&self.seen.classes[i], &self.seen.engines);
        let sample = s.filter(|s| s.is_long_enough_for(class));
        let busy = |s: &Sample| s.time_average(|row| row[s.columns.busy(i)]);
        let mean_response = sample.and_then(|s| s.mean_response(&[i]));
        let completions = sample.map_or(0.0, |s| s.completions(i));
        let each = engines.iter().filter(|_| sample.is_some());
        let each: Vec<Stays> = each.map(|e| together(&e.recorder().stays[i])).collect();
        let watched = watched.iter().filter(|w| w.watch.job_type == i);
        // The histogram has bins and fewer jobs than the watch, which it must not contradict.
        let right = |is_wait: bool, p: f64, value: f64| {
            let above = watched.clone().filter_map(|w| Some((w, w.above?.mean)));
            above.fold(value, |value, (w, above)| match w.watch.threshold {
                Threshold::Waiting(t) if is_wait && above <= 1.0 - p => value.min(t),
                Threshold::Waiting(t) if is_wait => value.max(t),
                Threshold::Response(t) if !is_wait && above <= 1.0 - p => value.min(t),
                Threshold::Response(t) if !is_wait => value.max(t),
                _ => value,
            })
        };
        let spread = |of: fn(&Stays) -> &Histogram, is_wait| {
            let each: Vec<&Histogram> = each.iter().map(of).collect();
            PERCENTILES.map(|p| {
                let own = spread(of(stays), &each, p)?;
                let mean = right(is_wait, p, own.mean);
                Some(Estimate { mean, ..own })
            })
        };
        let percentiles = |times: &Histogram, is_wait| {
            sample.and_then(|_| percentiles(times, |p, value| right(is_wait, p, value)))
        };
        ClassResult {
            name: class.name.clone(),
            completions: completions as u64,
            mean_response,
            mean_waiting: sample.and_then(|s| s.mean_waiting(&[i])),
            slowdown: mean_response.map(|e| e.times(1.0 / class.mean_size)),
            percentiles: percentiles(&stays.responses, false),
            waiting_percentiles: percentiles(&stays.waits, true),
            spread: [
                spread(|own| &own.responses, false),
                spread(|own| &own.waits, true),
            ],
            waiting_replications: sample.map_or(Vec::new(), |s| s.waiting_replications(i)),
            waits: sample.map(|_| stays.waits.clone()),
            mean_number: sample.and_then(|s| s.mean_number(&[i])),
            mean_in_service: sample.and_then(busy),
            own,
            left: engines.iter().map(|e| e.present(i)).sum(),
            grows: settling::class_grows(&self.seen, i),
            late: self.seen.late_numbers(i),
        }
    }
}

fn together<'a>(stays: impl IntoIterator<Item = &'a Stays>) -> Stays {
    let mut stays = stays.into_iter();
    let first = stays.next().cloned();
    let mut all = first.unwrap_or_else(|| Stays::new(1.0));
    stays.for_each(|part| all.merge(part));
    all
}

fn percentiles(times: &Histogram, corrected: impl Fn(f64, f64) -> f64) -> Option<[f64; 3]> {
    let [p50, p95, p99] = PERCENTILES.map(|p| Some(corrected(p, times.quantile(p)?)));
    Some([p50?, p95?, p99?])
}

const PERCENTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// The minimum number of jobs that must be above a percentile in each replication.
const BEYOND: f64 = 10.0;

/// The minimum relative standard error of a percentile: half the relative width of a bin.
const BIN: f64 = 0.008;

/// Returns a percentile with the error that follows from at least two replications with many jobs.
fn spread(all: &Histogram, each: &[&Histogram], p: f64) -> Option<Estimate> {
    let is_seen = |own: &&Histogram| own.count() as f64 * (1.0 - p) >= BEYOND;
    if each.len() < 2 || !each.iter().all(is_seen) {
        return None;
    }
    let values: Option<Vec<f64>> = each.iter().map(|own| own.quantile(p)).collect();
    let mean = all.quantile(p)?;
    let spread = statistics::over_replications(&values?);
    Some(Estimate { mean, ..spread }.at_least(BIN * mean))
}

fn watched(
    engines: &[&dyn ReplicationState],
    sample: Option<&Sample>,
    settled: bool,
) -> Vec<Watched> {
    let first = engines.first().map(|e| &e.recorder().series.watchers);
    let watches = first.map_or(&[][..], |watchers| &watchers.watches);
    let seen = watches.iter().enumerate().map(|(w, &watch)| {
        let above = sample.and_then(|s| {
            let above = |row: &[f64]| row[s.columns.above(w)];
            let jobs = |row: &[f64]| row[s.columns.completions(watch.job_type)];
            match watch.threshold {
                Threshold::Number(_) => s.time_average(above),
                Threshold::Response(_) | Threshold::Waiting(_) => s.ratio(above, jobs),
            }
        });
        Watched {
            watch,
            above: above.filter(|_| settled),
            rough: above.map(|a| a.mean),
        }
    });
    seen.collect()
}

fn path(seen: &Seen<'_>) -> (Vec<f64>, f64) {
    let (number, length) = mean_number(seen.series(), None);
    let size = number.len().div_ceil(256).max(1);
    let path = number.chunks_exact(size).map(statistics::mean).collect();
    (path, length * size as f64)
}

/// Returns Jain's index, `(Σ x)² / (K Σ x²)`.
fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}
