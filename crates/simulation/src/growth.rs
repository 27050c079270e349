//! Tests if a number of jobs that was found to grow also grows from a much higher level.

use super::recorder::{Replication, ReplicationState};
use super::sample::Seen;
use super::settings::{JobClass, Settings};

/// The spare replications that start with many jobs if growth was detected, and the result.
pub struct FromAbove<R> {
    spares: Vec<R>,
    /// A number of jobs from which replications do not clearly grow; `None` if not found.
    pub(super) turns: Option<u64>,
}

/// The number of jobs at the start, as a multiple of the number that each class has reached.
const LEVELS: [u64; 2] = [4, 64];
const EACH: usize = 2;

/// The maximum number of jobs at the start, which limits the cost to the cost of the run.
const MAX_START: u64 = 1 << 22;
const MAX_START_PER_EVENT: u64 = 4;

/// The maximum length of the test, as a multiple of the events of a replication in the run.
const LONGEST: u64 = 4;

impl<R: Replication> FromAbove<R> {
    /// The number of spare replications that are required.
    pub const SPARES: usize = LEVELS.len() * EACH;

    /// Takes `SPARES` replications, or none to assume that growth continues.
    pub fn new(spares: Vec<R>) -> Self {
        let turns = None;
        FromAbove { spares, turns }
    }

    pub(super) fn is_steady(
        &mut self,
        seen: &Seen<'_>,
        settings: &Settings,
    ) -> Result<bool, R::Violation> {
        let mut spares = std::mem::take(&mut self.spares);
        let count = seen.engines.len() as u64;
        let present = |i: usize| seen.engines.iter().map(|e| e.present(i)).sum::<u64>() / count;
        let reached: Vec<u64> = (0..seen.classes.len()).map(present).collect();
        let jobs: u64 = reached.iter().sum();
        let most = MAX_START.min(MAX_START_PER_EVENT * seen.events() / count);
        for (pair, level) in spares.chunks_mut(EACH).zip(LEVELS) {
            let level = level.min(most / jobs.max(1));
            let above: Vec<u64> = reached.iter().map(|jobs| level * jobs).collect();
            if level >= 2 && !rises(pair, &above, seen, settings)? {
                self.turns = Some(level * jobs);
                break;
            }
        }
        Ok(self.turns.is_none())
    }
}

/// The rise that is required, in standard deviations of a random walk.
const SURELY: f64 = 5.0;

/// Returns `true` if the work that starts with this number of jobs of each class rises by half of
/// the work that was accumulated in the run, and by more than can be explained by chance.
fn rises<R: Replication>(
    pair: &mut [R],
    jobs: &[u64],
    seen: &Seen<'_>,
    settings: &Settings,
) -> Result<bool, R::Violation> {
    let classes = seen.classes;
    let enough = work(classes, seen.engines.iter().copied()) / 2.0;
    let events = seen.events() / seen.engines.len() as u64;
    let step = (events / 16).max(1);
    let of_walk = classes.iter().map(|class| {
        let work = class.weight / class.arrival_rate;
        class.arrival_rate * work.powi(2) * (class.scv + class.dispersion)
    });
    let variance = of_walk.sum::<f64>() / pair.len() as f64;
    pair.iter_mut().for_each(|own| own.begin_with(jobs));
    let (begin, mut first) = (jobs.iter().sum::<u64>(), None);
    for n in 0..=LONGEST * events / step {
        let goal = begin + n * step;
        settings.each(pair, |own| {
            own.run(goal, u64::MAX, || settings.is_interrupted())
        });
        if let Some(violation) = pair.iter_mut().find_map(R::audit) {
            return Err(violation.clone());
        }
        let now = work(classes, pair.iter().map(|own| own as &dyn ReplicationState));
        let time = pair.iter().map(|own| own.now()).sum::<f64>() / pair.len() as f64;
        let by_chance = SURELY * (variance * time).sqrt();
        let rise = now - *first.get_or_insert(now);
        if n > 0 && rise >= enough.max(by_chance) {
            return Ok(true);
        }
        if settings.is_interrupted() || -rise >= enough.max(by_chance) {
            break;
        }
    }
    Ok(false)
}

/// Returns the mean work in the system in some unit, as shares of load are shares of work.
fn work<'a>(
    classes: &[JobClass],
    engines: impl ExactSizeIterator<Item = &'a dyn ReplicationState> + Clone,
) -> f64 {
    let of_class = |(i, class): (usize, &JobClass)| {
        let jobs: u64 = engines.clone().map(|e| e.present(i)).sum();
        jobs as f64 / engines.len() as f64 * class.weight / class.arrival_rate
    };
    classes.iter().enumerate().map(of_class).sum()
}
