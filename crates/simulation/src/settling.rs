//! This module detects whether a run has converged, and whether the number of jobs grows without
//! bound. Each class is also tested separately, because the sum may not show that the jobs of one
//! class are never served or that their number changes slowly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory;
use super::sample::{REST, Sample, Seen, WARM_UP, mean_number};
use super::settings::{JobClass, total_arrival_rate};
use super::statistics::{has_level, mean};

/// The reason why a run has no means even though no growth was detected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum NotConverged {
    /// There are not enough departed jobs of a class to estimate their response time and their
    /// effect.
    #[error("{class}: {}", few_done(*done, *left))]
    FewDone {
        /// The name of the class.
        class: String,
        /// The number of jobs that departed after the warm-up, in all replications.
        done: u64,
        /// The number of jobs waiting or running at the end.
        left: u64,
    },
    /// The jobs of a class stay for more than a twentieth of a replication, so the initial state
    /// matters.
    #[error("{class}: jobs stay in the system for {:.0} % of the run", 100.0 * part)]
    LongStay {
        /// The name of the class.
        class: String,
        /// The time that its jobs spent in the system per departed job, as a fraction of the length
        /// of a replication after the warm-up.
        part: f64,
    },
    /// No warm-up was found in the first half: the number in system has not reached a steady state.
    #[error("the number of jobs in the system has not reached a steady state yet")]
    NoLevel,
    /// The replications are too short compared to the relaxation time of a bottleneck at this load.
    #[error("too short for this high load; about {events:.1e} events would suffice")]
    HeavyTraffic {
        /// The estimated number of events, over all replications, of a sufficiently long run.
        events: f64,
    },
    /// The number of times that the slowest clock of the rule rings in a replication is too small.
    #[error("a clock of the rule rings only about {rings:.1} times per replication")]
    SlowClock {
        /// The number of times that the clock is expected to ring in a replication.
        rings: f64,
    },
    /// The number in system grew, but does not grow from a much higher level.
    #[error("the number of jobs in the system grew, but does not grow further from {jobs} jobs")]
    Turns {
        /// The number of jobs at the start of a replication in which it fell, or did not clearly
        /// grow.
        jobs: u64,
    },
    /// The length after the warm-up is less than ten mean residual sizes of the longest jobs.
    #[error("too short compared with the longest jobs")]
    LongJobs,
    /// The number of jobs changes so slowly that there are too few independent observations.
    #[error("{} changes too slowly", number_of(class.as_ref()))]
    Slow {
        /// The name of the class; null for all together.
        class: Option<String>,
    },
    /// The interval of the mean response time is as wide as the mean.
    #[error("the confidence interval is as wide as the mean")]
    Vague,
}

fn few_done(done: u64, left: u64) -> String {
    match (done, left) {
        (0, 0) => "no job arrived".into(),
        (0, _) => format!("{left} jobs waiting, none completed"),
        _ => format!("{done} jobs completed, {left} still in the system"),
    }
}

fn number_of(class: Option<&String>) -> String {
    let of_class = |class| format!("{class}: the number of jobs");
    class.map_or("the number of jobs in the system".into(), of_class)
}

/// Returns why the means of a sample are not reliable; `None` if they are.
pub(super) fn unsettled(seen: &Seen<'_>, sample: &Sample) -> Option<NotConverged> {
    if let Some(why) = starved(seen, sample).or_else(|| slow_clock(seen)) {
        return Some(why);
    }
    let lacks = memory::lacks(seen, sample);
    if lacks > 1.0 {
        let events = lacks * seen.events() as f64;
        return Some(NotConverged::HeavyTraffic { events });
    }
    if !has_level(&mean_number(seen.series(), None).0) {
        return Some(NotConverged::NoLevel);
    }
    // The longest jobs matter most, but the variation of others may hide their growing number.
    if sample.length < REST * seen.memory() {
        return Some(NotConverged::LongJobs);
    }
    slow(seen, sample.warm_up).or_else(|| {
        let all: Vec<usize> = (0..seen.classes.len()).collect();
        let response = sample.mean_response(&all);
        let is_vague = response.is_none_or(|e| e.relative() >= 1.0);
        is_vague.then_some(NotConverged::Vague)
    })
}

/// The minimum number of completions of each class that is not rare when a precise run ends.
const MANY: f64 = 300.0;

/// The half width allowed for the mean of a class, as a multiple of the precision of the overall
/// mean. The default of 1 % gives 5 %, which is enough to confirm a claim.
const OF_CLASS: f64 = 5.0;

/// Returns the relative half widths of the mean and, divided by [`OF_CLASS`], of its worst class.
pub(super) fn precision(seen: &Seen<'_>) -> Option<[f64; 2]> {
    let sample = memory::sample(seen).filter(|sample| unsettled(seen, sample).is_none())?;
    let all: Vec<usize> = (0..seen.classes.len()).collect();
    let overall = sample.mean_response(&all)?.relative();
    let common = all.iter().filter(|i| !seen.classes[**i].is_rare());
    let of_class = common.map(|&i| {
        let response = sample.mean_response(&[i]);
        let response = response.filter(|_| sample.completions(i) >= MANY);
        Some(response?.relative() / OF_CLASS)
    });
    let worst = of_class.collect::<Option<Vec<f64>>>()?;
    Some([overall, worst.into_iter().fold(0.0, f64::max)])
}

/// About one per batch.
const FEWEST: f64 = 32.0;

/// The minimum length of a replication, as a multiple of the mean time in the system of any class,
/// for a bias from missing or unfinished jobs of at most 1/20.
const STAYS: f64 = 20.0;

/// Returns a class whose jobs stay too long, or with too few departures (half if it is rare).
fn starved(seen: &Seen<'_>, sample: &Sample) -> Option<NotConverged> {
    let (c, classes) = (sample.columns, seen.classes);
    let done = |i: usize| sample.completions(i);
    let all = 0..classes.len();
    let name = |i: usize| classes[i].name.clone();
    let left = |i: usize| seen.engines.iter().map(|e| e.present(i)).sum::<u64>();
    let too_few = |i: &usize| {
        let in_order = classes[*i].is_rare() && left(*i) as f64 <= done(*i);
        done(*i) < FEWEST && !in_order
    };
    let few = all.clone().filter(too_few);
    if let Some(fewest) = few.min_by(|a, b| done(*a).total_cmp(&done(*b))) {
        return Some(NotConverged::FewDone {
            class: name(fewest),
            done: done(fewest) as u64,
            left: left(fewest),
        });
    }
    // If most jobs of a class are never served, those that departed had short times.
    let stay = |i: usize| sample.total(|row| row[c.present(i)]) / done(i).max(1.0) / sample.length;
    let longest = all.max_by(|a, b| stay(*a).total_cmp(&stay(*b)))?;
    let (class, part) = (name(longest), stay(longest));
    (STAYS * part > 1.0).then_some(NotConverged::LongStay { class, part })
}

const RINGS: f64 = 50.0;

/// Returns a clock that is too slow for the replications. A growing queue may wait for it.
pub(super) fn slow_clock(seen: &Seen<'_>) -> Option<NotConverged> {
    let each = seen.engines.iter().map(|e| e.slowest_clock() * e.now());
    let rings = each.fold(f64::INFINITY, f64::min);
    (rings < RINGS).then_some(NotConverged::SlowClock { rings })
}

const PARTS: usize = 16;

/// The largest correlation between neighboring parts of a queue that is not too slow, as for 13
/// relaxation times in a replication. With 17, the 95 % interval of an `M/M/1` queue at a load of
/// 0.95 contains the mean in nine of ten cases, and less often if the replication is shorter.
const SLOW: f64 = 0.6;

/// Returns the class (or all together) whose number of jobs changes most slowly, if too slowly.
fn slow(seen: &Seen<'_>, warm_up: f64) -> Option<NotConverged> {
    let each = (0..seen.classes.len()).map(Some).chain([None]);
    let memory = |class: &Option<usize>| correlation(seen, *class, warm_up);
    let slowest = each.max_by(|a, b| memory(a).total_cmp(&memory(b)))?;
    (memory(&slowest) > SLOW).then(|| NotConverged::Slow {
        class: slowest.map(|i| seen.classes[i].name.clone()),
    })
}

/// Returns the correlation between the mean numbers in neighboring parts, for all replications.
fn correlation(seen: &Seen<'_>, class: Option<usize>, warm_up: f64) -> f64 {
    let parts = seen.series().map(|series| {
        let (number, length) = mean_number(std::iter::once(series), class);
        let rest = &number[((warm_up / length).round() as usize).min(number.len())..];
        let size = (rest.len() / PARTS).max(1);
        rest.rchunks_exact(size).take(PARTS).map(mean).collect()
    });
    let parts: Vec<Vec<f64>> = parts.collect();
    let count = parts.iter().map(Vec::len).sum::<usize>() as f64;
    let level = parts.iter().flatten().sum::<f64>() / count;
    let square = |x: &f64| (x - level).powi(2);
    let variance = parts.iter().flatten().map(square).sum::<f64>() / count;
    let pairs = || parts.iter().flat_map(|run| run.windows(2));
    let products = pairs().map(|two| (two[0] - level) * (two[1] - level));
    let covariance = products.sum::<f64>() / pairs().count() as f64;
    // A number that is constant except for rounding errors is not slow.
    let varies = variance > (1e-9 * level).powi(2);
    if varies { covariance / variance } else { 0.0 }
}

pub(super) fn runs_away(seen: &Seen<'_>, crowd: u64) -> bool {
    seen.is_crowded(crowd) || (seen.events() > 4_000_000 && grows(seen, SURELY))
}

pub(super) fn grows(seen: &Seen<'_>, deviations: f64) -> bool {
    slow_clock(seen).is_none()
        && (number_grows(seen, None, deviations)
            || (0..seen.classes.len()).any(|i| class_grows(seen, i)))
}

pub(super) fn class_grows(seen: &Seen<'_>, i: usize) -> bool {
    number_grows(seen, Some(i), SURELY)
}

/// The growth in standard deviations that is required at the end of a run.
pub(super) const AT_THE_END: f64 = 5.0;

/// The growth in standard deviations that is required if it is tested repeatedly.
const SURELY: f64 = 10.0;

/// Returns `true` if the number of jobs grew from each quarter to the next, and in the second half
/// by more than `deviations` standard deviations of a random walk, with a mean increment between
/// its eighths of more than [`STEADY`] standard errors, because long jobs can cause larger waves.
///
/// At the stability limit, the mean of n replications is a random walk whose steps have a variance
/// of `(a + c)/2n`, where `a` is the dispersion of the arrivals and `c` the squared coefficient of
/// variation of the sizes (the largest of all classes, ≥ 1).
fn number_grows(seen: &Seen<'_>, of_class: Option<usize>, deviations: f64) -> bool {
    // While the first of the longest jobs run, growth is not a sign of instability.
    let length = seen.engines.iter().map(|e| e.now());
    if length.fold(f64::INFINITY, f64::min) < (WARM_UP + REST) * seen.memory() {
        return false;
    }
    let (number, _) = mean_number(seen.series(), of_class);
    let window = number.len() / 18;
    if window == 0 {
        return false;
    }
    let last = &number[number.len() - 9 * window..];
    let levels: Vec<f64> = last.chunks_exact(window).map(mean).collect();
    let growth = levels[8] - levels[0];
    let increments = levels.windows(2).map(|w| w[1] - w[0]);
    let excess: f64 = increments.map(|d| (d - growth / 8.0).powi(2)).sum();
    let error = (excess / (8.0 * 7.0)).sqrt();
    let (first, second) = number[..number.len() / 2].split_at(number.len() / 4);
    let (third, fourth) = last.split_at(last.len() / 2);
    let quarters = [first, second, third, fourth].map(mean);
    quarters.is_sorted()
        && growth / 8.0 > STEADY * error
        && growth > deviations * walk(seen, of_class)
}

/// The mean of eight increments of a random walk exceeds it with a probability of 0.0003.
const STEADY: f64 = 6.0;

/// Returns the standard deviation of the mean number of jobs after half of a random walk.
fn walk(seen: &Seen<'_>, of_class: Option<usize>) -> f64 {
    let classes = seen.classes;
    let all = total_arrival_rate(classes);
    let share = of_class.map_or(1.0, |i| classes[i].arrival_rate / all);
    let greatest = |of: fn(&JobClass) -> f64| classes.iter().map(of).fold(1.0, f64::max);
    let (scv, dispersion) = (greatest(|c| c.scv), greatest(|c| c.dispersion));
    let variance = f64::midpoint(dispersion, scv);
    (variance * share * seen.events() as f64 / 2.0).sqrt() / seen.engines.len() as f64
}
