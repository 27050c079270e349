//! Whether a number of jobs that grew grows from far above, too: else it may turn where the run did not come.

use rayon::prelude::*;

use super::recorder::{Measured, Replication};
use super::sample::Seen;
use super::settings::{Class, Settings};
use super::settling;
use std::sync::atomic::Ordering;

/// What starts from above say of a number in system that grew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// It grows from there, too, or is as high as can be tried.
    Steady,
    /// From so many jobs it falls, or does not clearly grow.
    Turns(u64),
}

/// Replications that have not begun, for starts from above, and what they said.
pub struct FromAbove<R> {
    spares: Vec<R>,
    found: Option<Growth>,
}

/// Starts, as multiples of what was reached; each by as many replications.
const LEVELS: [u64; 2] = [4, 16];
const EACH: usize = 2;

/// The most jobs to start with.
const MOST: u64 = 1 << 22;

/// How long a start is followed, as a multiple of the events that grew.
const LONGEST: u64 = 8;

impl<R> FromAbove<R> {
    /// How many spare replications there have to be.
    pub const SPARES: usize = LEVELS.len() * EACH;

    /// Takes that many replications, or none: then what grew in the run grows.
    pub fn new(spares: Vec<R>) -> Self {
        FromAbove {
            spares,
            found: None,
        }
    }

    /// Returns what was found, if anything was looked for.
    pub fn found(&self) -> Option<Growth> {
        self.found
    }
}

impl<R: Replication> FromAbove<R> {
    /// Returns whether a number that grew grows from above, too; tried once.
    ///
    /// # Errors
    /// The first violation.
    pub(super) fn is_steady(
        &mut self,
        seen: &Seen<'_>,
        settings: &Settings,
    ) -> Result<bool, R::Violation> {
        if self.found.is_none() {
            let mut spares = std::mem::take(&mut self.spares);
            let mut found = Growth::Steady;
            for (pair, level) in spares.chunks_mut(EACH).zip(LEVELS) {
                let count = seen.engines.len() as u64;
                let reached = seen.engines.iter().map(|e| e.jobs()).sum::<u64>() / count;
                let jobs = (level * reached).clamp(1, MOST);
                if jobs >= 2 * reached && !rises(pair, jobs, seen, settings)? {
                    found = Growth::Turns(jobs);
                    break;
                }
            }
            self.found = Some(found);
        }
        Ok(self.found == Some(Growth::Steady))
    }
}

/// Standard deviations of a random walk beyond which a rise is believed.
const SURELY: f64 = 5.0;

/// Returns whether the work in system rises from so many jobs: above the least that it came down to, by half of what had
/// gathered in the run of the classes that grew, and by more than chance explains. Those that others starve fall behind
/// only when these are through.
fn rises<R: Replication>(
    pair: &mut [R],
    jobs: u64,
    seen: &Seen<'_>,
    settings: &Settings,
) -> Result<bool, R::Violation> {
    let interrupted = || settings.interrupt.load(Ordering::Relaxed);
    let (classes, engines) = (seen.classes, &seen.engines);
    let grew = |i: &usize| settling::class_grows(seen, *i);
    let mut growing: Vec<usize> = (0..classes.len()).filter(grew).collect();
    if growing.is_empty() {
        growing.extend(0..classes.len());
    }
    let gathered = |e: &&dyn Measured| work(classes, growing.iter().copied(), |i| e.present(i));
    let enough = engines.iter().map(gathered).sum::<f64>() / engines.len() as f64 / 2.0;
    let events = seen.events() / engines.len() as u64;
    let step = (events / 16).max(1);
    pair.iter_mut().for_each(|own| own.begin_with(jobs));
    let of_walk = classes.iter().map(|class| {
        let work = class.weight / class.arrival_rate;
        class.arrival_rate * work.powi(2) * (class.scv + class.dispersion)
    });
    let variance = of_walk.sum::<f64>() / pair.len() as f64;
    let (mut least, mut since) = (f64::INFINITY, 0.0);
    for goal in 0..=LONGEST * events / step {
        let goal = jobs + goal * step;
        pair.par_iter_mut()
            .for_each(|own| own.run(goal, u64::MAX, interrupted));
        if let Some(violation) = pair.iter_mut().find_map(R::audit) {
            return Err(violation.clone());
        }
        let all = |own: &R| work(classes, 0..classes.len(), |i| own.present(i));
        let now = pair.iter().map(all).sum::<f64>() / pair.len() as f64;
        let time = pair.iter().map(|own| own.now()).sum::<f64>() / pair.len() as f64;
        if now < least {
            (least, since) = (now, time);
        }
        let by_chance = SURELY * (variance * (time - since)).sqrt();
        if now >= least + enough.max(by_chance) && time > since {
            return Ok(true);
        }
        if interrupted() {
            break;
        }
    }
    Ok(false)
}

/// The work of so many jobs of each of these classes, in some unit: their shares of the load are those of their work.
fn work(
    classes: &[Class],
    which: impl Iterator<Item = usize>,
    count: impl Fn(usize) -> u64,
) -> f64 {
    let each = which.map(|i| (i, &classes[i]));
    each.map(|(i, class)| count(i) as f64 * class.weight / class.arrival_rate)
        .sum()
}
