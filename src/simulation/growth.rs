//! Whether the number of jobs in a system grows without end.

use super::replication::Measured;
use super::sample::{REST, WARM_UP, all_series, mean_number, memory};
use super::{Class, total_arrival_rate};

/// Whether the run should be given up: too many jobs, or clearly growing.
pub(super) fn runs_away(classes: &[Class], engines: &[&dyn Measured], crowd: u64) -> bool {
    let events: u64 = engines.iter().map(|e| e.events()).sum();
    engines.iter().any(|e| e.jobs() > crowd)
        || (events > 4_000_000 && grows(classes, engines, SURELY))
}

/// Whether the number in system grows, of all classes together or of one: a class that
/// starves may be too small to be seen in the sum.
pub(super) fn grows(classes: &[Class], engines: &[&dyn Measured], deviations: f64) -> bool {
    number_grows(classes, engines, None, deviations)
        || (0..classes.len()).any(|i| class_grows(classes, engines, i))
}

/// Whether the number of class i in system grows.
pub(super) fn class_grows(classes: &[Class], engines: &[&dyn Measured], i: usize) -> bool {
    number_grows(classes, engines, Some(i), SURELY)
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
/// coefficient of variation of the sizes; here both are the greatest of all classes, and 1 at least.
/// The mean of n replications has an n-th of that variance.
fn number_grows(
    classes: &[Class],
    engines: &[&dyn Measured],
    of_class: Option<usize>,
    deviations: f64,
) -> bool {
    // What grows while the first of the longest jobs last is the way to the steady state.
    let length = engines.iter().map(|e| e.now());
    if length.fold(f64::INFINITY, f64::min) < (WARM_UP + REST) * memory(classes) {
        return false;
    }
    let (number, _) = mean_number(all_series(engines), of_class);
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
        && growth > deviations * walk(classes, engines, of_class)
}

/// Standard errors of a growth that is steady. Of a random walk's eight increments the mean is
/// beyond that with probability .0003.
const STEADY: f64 = 6.0;

/// The standard deviation of the mean number in system after half of the run, were it a random
/// walk.
fn walk(classes: &[Class], engines: &[&dyn Measured], of_class: Option<usize>) -> f64 {
    let share = of_class.map_or(1.0, |i| {
        classes[i].arrival_rate / total_arrival_rate(classes)
    });
    let greatest = |of: fn(&Class) -> f64| classes.iter().map(of).fold(1.0, f64::max);
    let (scv, dispersion) = (greatest(|c| c.scv), greatest(|c| c.dispersion));
    let variance = f64::midpoint(dispersion, scv);
    let n = engines.len() as f64;
    let events: u64 = engines.iter().map(|e| e.events()).sum();
    (variance * share * events as f64 / 2.0).sqrt() / n
}
