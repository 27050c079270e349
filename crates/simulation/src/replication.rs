use std::time::Instant;

use super::growth::FromAbove;
use super::recorder::{Replication, ReplicationState};
use super::run::{EndedRuns, Ending};
use super::sample::Seen;
use super::settings::{JobClass, Progress, Settings};
use super::settling;

/// The number of events between checks of the stop conditions.
pub const BURST: u64 = 1 << 14;

/// The minimum number of events of a run that ends because it is precise. The precision is checked
/// after half of this number and each time that it has doubled. The mean of all jobs must be
/// precise in two checks in a row, and the mean of each class in the second. A run that has seen
/// few long queues looks precise too early: with one check, too many intervals would be too low.
pub(crate) const MIN_PRECISION_EVENTS: u64 = 1_000_000;

/// The number of views of the progress between two of these checks.
const VIEWS: i32 = 3;

fn seen<'a, R: Replication>(engines: &'a [R], classes: &'a [JobClass]) -> Seen<'a> {
    let engines = engines.iter().map(|e| e as &dyn ReplicationState).collect();
    Seen { classes, engines }
}

/// Collects the state of replications, to be summarized.
pub fn results<'a, R: Replication>(
    engines: &'a [R],
    classes: &'a [JobClass],
    settings: &'a Settings,
    ending: Ending,
    above: &FromAbove<R>,
) -> EndedRuns<'a> {
    EndedRuns {
        seen: seen(engines, classes),
        settings,
        ending,
        turns: above.turns,
    }
}

/// Continues to run the replications in parallel until one of the stop conditions is met. The
/// number of events in the settings is counted from the start, and the results do not depend on
/// earlier interruptions.
///
/// # Errors
/// Returns the first violation that was found in any of the replications.
pub fn go_on<R: Replication>(
    engines: &mut [R],
    above: &mut FromAbove<R>,
    classes: &[JobClass],
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Ending, R::Violation> {
    let started = Instant::now();
    let late = || settings.time.is_some_and(|t| started.elapsed() >= t);
    let replications = engines.len() as u64;
    let (mut view, mut was_precise) = (-VIEWS, false);
    loop {
        let checkpoint = MIN_PRECISION_EVENTS as f64 * (f64::from(view) / f64::from(VIEWS)).exp2();
        let goal = (checkpoint as u64).min(settings.events);
        let goal = goal.div_ceil(replications);
        let run = |engine: &mut R| {
            engine.run(goal, settings.crowd, || late() || settings.is_interrupted())
        };
        settings.each(engines, run);
        if let Some(violation) = engines.iter_mut().find_map(R::audit) {
            return Err(violation.clone());
        }
        let seen = seen(engines, classes);
        let (events, widths) = (seen.events(), settling::precision(&seen));
        let precise = widths.is_some_and(|[overall, _]| overall <= settings.precision);
        let of_classes = widths.is_some_and(|[_, widest]| widest <= settings.precision);
        let precision = widths.map(|[overall, _]| overall);
        progress(Progress { events, precision });
        let ending = if settling::runs_away(&seen, settings.crowd)
            && (above.is_steady(&seen, settings)? || seen.is_crowded(settings.crowd))
        {
            Ending::RunsAway
        } else if precise
            && of_classes
            && (was_precise && view % VIEWS == 0 || events >= settings.events)
        {
            Ending::Precision
        } else if events >= settings.events {
            Ending::Events
        } else if settings.is_interrupted() {
            Ending::Interrupted
        } else if late() {
            Ending::Time
        } else {
            if view % VIEWS == 0 {
                was_precise = precise;
            }
            view += 1;
            continue;
        };
        if settling::grows(&seen, settling::AT_THE_END) {
            above.is_steady(&seen, settings)?;
        }
        return Ok(ending);
    }
}
