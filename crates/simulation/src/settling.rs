//! Whether a run is long enough for its means to be believed, or the number of jobs grows without end: of each class as
//! well as of all, since a class that starves, or whose queue changes slowly, may be too small to be seen in the sum.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory;
use super::sample::{REST, Sample, Seen, WARM_UP, mean_number};
use super::settings::{JobClass, total_arrival_rate};
use super::statistics::{has_level, mean};

/// Why a run in which nothing was seen to grow has no means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Unsettled {
    /// Of a class too few jobs left to say how long they stay, and what they do to others.
    #[error("{class}: {}", few_done(*done, *left))]
    FewDone {
        /// Its name.
        class: String,
        /// Jobs that left, after the warm-up, in all replications.
        done: u64,
        /// Jobs waiting or running when the run ended.
        left: u64,
    },
    /// Jobs of a class stay so long that the start is not forgotten: more than a twentieth of each
    /// replication.
    #[error("{class}: jobs stay for {:.0} % of the run", 100.0 * part)]
    LongStay {
        /// Its name.
        class: String,
        /// Time that its jobs spent in the system for each that left, as a fraction of the length of a
        /// replication after the warm-up.
        part: f64,
    },
    /// No warm-up is found in the first half: the number in system has no level yet.
    #[error("the number in system has no level yet")]
    NoLevel,
    /// A replication is short beside the time in which a queue before a bottleneck of this load forgets.
    #[error("too short for so high a load; some {events:.1e} events would do")]
    HeavyTraffic {
        /// Events of a run that would be long enough, of all replications.
        events: f64,
    },
    /// The rule's slowest clock rings too seldom in a replication.
    #[error("a clock of the rule rings some {rings:.1} times in a replication")]
    SlowClock {
        /// How often it would at its rate.
        rings: f64,
    },
    /// The number in system grew, but does not from far above.
    #[error("the number in system grew, but from {jobs} jobs it does not")]
    Turns {
        /// Jobs at the beginning of a replication in which it fell, or did not clearly grow.
        jobs: u64,
    },
    /// Less than ten mean residual sizes of the longest jobs are left after the warm-up.
    #[error("too short beside the longest jobs")]
    LongJobs,
    /// The number of a class in system, or of all, changes so slowly that a replication sees too few
    /// independent values of it.
    #[error("{} changes too slowly", number_of(class.as_ref()))]
    Slow {
        /// Its name; none for all together.
        class: Option<String>,
    },
    /// The interval of the mean response time is as wide as the mean.
    #[error("the interval is as wide as the mean")]
    Vague,
}

fn few_done(done: u64, left: u64) -> String {
    match (done, left) {
        (0, 0) => "no job came".into(),
        (0, _) => format!("{left} waiting, none done"),
        _ => format!("{done} done, {left} left"),
    }
}

/// Returns the jobs that change slowly, at the beginning of a message.
fn number_of(class: Option<&String>) -> String {
    let of_class = |class| format!("{class}: the number of its jobs");
    class.map_or("the number in system".into(), of_class)
}

/// Returns why the means of queues of a sample may not be believed; `None` where they may.
pub(super) fn unsettled(seen: &Seen<'_>, sample: &Sample) -> Option<Unsettled> {
    if let Some(why) = starved(seen, sample).or_else(|| slow_clock(seen)) {
        return Some(why);
    }
    let lacks = memory::lacks(seen, sample);
    if lacks > 1.0 {
        let events = lacks * seen.events() as f64;
        return Some(Unsettled::HeavyTraffic { events });
    }
    if !has_level(&mean_number(seen.series(), None).0) {
        return Some(Unsettled::NoLevel);
    }
    // The longest jobs weigh most in the means, and the number of them in system, which grows for as
    // long as they last, can drown in the noise of all others.
    if sample.length < REST * seen.memory() {
        return Some(Unsettled::LongJobs);
    }
    slow(seen, sample.warm_up).or_else(|| {
        let all: Vec<usize> = (0..seen.classes.len()).collect();
        let response = sample.mean_response(&all);
        let is_vague = response.is_none_or(|e| e.relative() >= 1.0);
        is_vague.then_some(Unsettled::Vague)
    })
}

/// Jobs of each class that is not rare that have to leave before a precision is reached: what fewer of them do to the mean is
/// not known well enough to end a run.
const MANY: f64 = 300.0;

/// The half-width of each class's own mean may be this many times the required precision of the mean over all jobs.
/// At the default precision of 1 % the mean of each class is then known within 5 %, which confirms a claim about it.
const OF_CLASS: f64 = 5.0;

/// Returns the relative half-width of the mean response time so far, and a fraction 1/[`OF_CLASS`] of the greatest one of a
/// class; `None` while nothing can be said.
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

/// Jobs of each class that have to leave. With one a batch, what they do differs from batch to batch, and
/// so stands in the intervals; with fewer, a run may have seen none of what matters.
const FEWEST: f64 = 32.0;

/// A replication is at least so many times as long as jobs of any class stay. What was not there at the
/// start, and what has not left at the end, is then a twentieth of what is measured at most.
const STAYS: f64 = 20.0;

/// Returns a class of which too few jobs left, or that stay too long. Of a rare class few come: it is enough
/// that most of them left.
fn starved(seen: &Seen<'_>, sample: &Sample) -> Option<Unsettled> {
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
        return Some(Unsettled::FewDone {
            class: name(fewest),
            done: done(fewest) as u64,
            left: left(fewest),
        });
    }
    // By those that have not left as well: of a class that starves, those that leave are the lucky ones.
    let stay = |i: usize| sample.total(|row| row[c.present(i)]) / done(i).max(1.0) / sample.length;
    let longest = all.max_by(|a, b| stay(*a).total_cmp(&stay(*b)))?;
    let (class, part) = (name(longest), stay(longest));
    (STAYS * part > 1.0).then_some(Unsettled::LongStay { class, part })
}

/// Rings of each clock of a rule in a replication that say how it goes on.
const RINGS: f64 = 50.0;

/// Returns a clock of the rule beside which replications are short: what grows then may only wait for it.
pub(super) fn slow_clock(seen: &Seen<'_>) -> Option<Unsettled> {
    let rings = seen.rings();
    (rings < RINGS).then_some(Unsettled::SlowClock { rings })
}

/// Parts of a replication whose mean numbers are compared with those of the next.
const PARTS: usize = 16;

/// Correlation of neighbouring parts from which on a queue is slow. A number that is forgotten as
/// e^(−t/τ) has it where a replication lasts 13 τ. Shorter ones see too few long excursions, or none: of
/// the 95 % intervals of M/M/1 at ρ = .95 nine in ten cover at 17 τ, and fewer below.
const SLOW: f64 = 0.6;

/// Returns a class whose number, or the number of all, changes too slowly; the slowest.
fn slow(seen: &Seen<'_>, warm_up: f64) -> Option<Unsettled> {
    let each = (0..seen.classes.len()).map(Some).chain([None]);
    let memory = |class: &Option<usize>| correlation(seen, *class, warm_up);
    let slowest = each.max_by(|a, b| memory(a).total_cmp(&memory(b)))?;
    (memory(&slowest) > SLOW).then(|| Unsettled::Slow {
        class: slowest.map(|i| seen.classes[i].name.clone()),
    })
}

/// Returns the correlation of the mean number in one part of a replication with that in the next, over the parts of
/// all replications.
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
    // Where it is constant but for rounding, there is nothing to be slow.
    let varies = variance > (1e-9 * level).powi(2);
    if varies { covariance / variance } else { 0.0 }
}

/// Returns whether the run should be given up: too many jobs, or clearly growing.
pub(super) fn runs_away(seen: &Seen<'_>, crowd: u64) -> bool {
    seen.is_crowded(crowd) || (seen.events() > 4_000_000 && grows(seen, SURELY))
}

/// Returns whether the number in system grows, of all classes together or of one: a class that
/// starves may be too small to be seen in the sum.
pub(super) fn grows(seen: &Seen<'_>, deviations: f64) -> bool {
    slow_clock(seen).is_none()
        && (number_grows(seen, None, deviations)
            || (0..seen.classes.len()).any(|i| class_grows(seen, i)))
}

/// Returns whether the number of class i in system grows.
pub(super) fn class_grows(seen: &Seen<'_>, i: usize) -> bool {
    number_grows(seen, Some(i), SURELY)
}

/// Standard deviations beyond which growth is believed of a run that has ended.
pub(super) const AT_THE_END: f64 = 5.0;

/// Standard deviations beyond which growth is beyond doubt, even when it is looked for often.
const SURELY: f64 = 10.0;

/// Returns whether the number in system grew from quarter to quarter, and over the second half by more
/// than chance explains, in two ways: by more than `deviations` standard deviations of a random
/// walk of as many steps; and, as jobs that block the server for long make greater waves than
/// those, with increments from eighth to eighth of that half whose mean is more than [`STEADY`]
/// of its own standard errors.
///
/// A stable system does not grow at all in the long run; one at its very limit grows as the walk.
/// Its variance a step is (a + c)/2 with a the dispersion of the arrivals and c the squared
/// coefficient of variation of the sizes; here both are the greatest of all classes, and 1 at least.
/// The mean of n replications has an n-th of that variance.
fn number_grows(seen: &Seen<'_>, of_class: Option<usize>, deviations: f64) -> bool {
    // What grows while the first of the longest jobs last is the way to the steady state.
    let length = seen.engines.iter().map(|e| e.now());
    if length.fold(f64::INFINITY, f64::min) < (WARM_UP + REST) * seen.memory() {
        return false;
    }
    let (number, _) = mean_number(seen.series(), of_class);
    let window = number.len() / 18;
    if window == 0 {
        return false;
    }
    // Nine levels, from the middle to the end.
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

/// Standard errors of a growth that is steady. Of a random walk's eight increments the mean is
/// beyond that with probability .0003.
const STEADY: f64 = 6.0;

/// Returns the standard deviation of the mean number in system after half of the run, were it a random
/// walk.
fn walk(seen: &Seen<'_>, of_class: Option<usize>) -> f64 {
    let classes = seen.classes;
    let all = total_arrival_rate(classes);
    let share = of_class.map_or(1.0, |i| classes[i].arrival_rate / all);
    let greatest = |of: fn(&JobClass) -> f64| classes.iter().map(of).fold(1.0, f64::max);
    let (scv, dispersion) = (greatest(|c| c.scv), greatest(|c| c.dispersion));
    let variance = f64::midpoint(dispersion, scv);
    (variance * share * seen.events() as f64 / 2.0).sqrt() / seen.engines.len() as f64
}
