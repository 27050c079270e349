//! Walking over a log: a forecast for each job that waits, and what came.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Serialize;

use super::draw::{Draws, Moment, Present, Site};
use super::past::Past;
use crate::replay::{Clock, DecisionState, Kinds, Log, Speed, Stopped, Walk, gathered};
use synth_cluster::policy::Policy;
use synth_core::document::DocumentError;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum ForecastError {
    /// A replay ended.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The jobs cannot be counted.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The rule cannot serve such jobs.
    #[error("{0}")]
    Rule(String),
}

/// A forecast, and what came. Times are in seconds of the log.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// Which job of the log.
    pub job: usize,
    /// When it was submitted, after the first.
    pub at: f64,
    /// Jobs that waited then, with it.
    pub waiting: usize,
    /// Draws of its wait in ascending order.
    pub draws: Vec<f64>,
    /// Its wait if limits were run times.
    pub by_limits: f64,
    /// Its wait.
    pub wait: f64,
}

/// A log, the rule that runs there, and how the future is drawn.
pub struct Scoring<'a> {
    /// The log.
    pub log: &'a Log,
    /// By how much faster jobs come than they did.
    pub speed: Speed,
    /// How the future is drawn.
    pub draws: Draws,
    /// Of so many jobs that wait one is forecast.
    pub every: usize,
    /// Once it is set, all ends.
    pub interrupt: &'a AtomicBool,
}

impl Scoring<'_> {
    /// Forecasts jobs that wait at their submission, under the rule that is made for the servers.
    ///
    /// # Errors
    /// When the rule cannot serve such jobs, and when it is interrupted.
    pub fn forecasts(
        &self,
        make: impl FnOnce(&Site) -> Result<Box<dyn Policy>, String>,
        listener: &mut dyn FnMut(usize),
    ) -> Result<(Vec<Forecast>, f64), ForecastError> {
        let (log, clock) = (self.log, Clock::whole(self.speed));
        let kinds = Kinds::exact(log);
        let (fleet, types) = gathered(log, &log.jobs, &kinds, clock, 0.0, false)?;
        let site = Site {
            fleet,
            types,
            clock,
            per_second: log.tick.per_second() as f64,
        };
        let scene = DecisionState {
            promised: true,
            ..DecisionState::new(&log.jobs, site.types.clone(), site.fleet.clone(), clock)
        };
        let policy = make(&site).map_err(ForecastError::Rule)?;
        let mut walk = Walk::new(&scene, policy);
        let (mut past, mut open) = (Past::default(), Vec::new());
        let (mut forecasts, mut waited, mut next) = (Vec::new(), 0, 0);
        let mut spent = 0.0;
        while next < log.jobs.len() {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Stopped::Interrupted.into());
            }
            let at = log.jobs[next].submit;
            let come = log.jobs[next..]
                .iter()
                .take_while(|job| job.submit == at)
                .count();
            let come = next..next + come;
            next = come.end;
            listener(next);
            let now = clock.submit(at);
            walk.until(now.next_up())?;
            open.retain(|n: &usize| {
                let has_ended = walk.ends()[*n] <= now;
                if has_ended {
                    past.ended(*n, log.jobs[*n].size);
                }
                !has_ended
            });
            let present = walk.present();
            let waits = |own: &&(usize, Option<f64>, Vec<usize>)| own.1.is_none();
            let waiting = present.iter().filter(waits).count();
            let mut asked = Vec::new();
            for (place, own) in present.iter().enumerate() {
                if own.1.is_none() && own.0 >= come.start {
                    waited += 1;
                    if waited % self.every == 0 {
                        asked.push(place);
                    }
                }
            }
            if !asked.is_empty() {
                let begun = Instant::now();
                let moment = Moment {
                    at,
                    jobs: present
                        .iter()
                        .map(|(n, started, servers)| Present {
                            job: log.jobs[*n],
                            started: *started,
                            servers: servers.clone(),
                        })
                        .collect(),
                };
                let policy = walk.policy();
                let by_limits = site.by_limits(&moment, &*policy, &asked)?;
                let latest = by_limits
                    .iter()
                    .copied()
                    .filter(|t| t.is_finite())
                    .fold(0.0, f64::max);
                let horizon = (1.5 * site.clock.ticks(latest) + 86_400.0 * site.per_second)
                    .min(30.0 * 86_400.0 * site.per_second);
                let draws = Draws {
                    seed: self.draws.seed.wrapping_add(come.start as u64),
                    ..self.draws
                };
                let drawn = site.draws(&moment, &past, &*policy, &asked, draws, horizon)?;
                spent += begun.elapsed().as_secs_f64();
                let seconds = |time: f64| clock.ticks(time) / site.per_second;
                for ((place, drawn), limit) in asked.into_iter().zip(drawn).zip(by_limits) {
                    forecasts.push(Forecast {
                        job: present[place].0,
                        at: at / site.per_second,
                        waiting,
                        draws: drawn.into_iter().map(seconds).collect(),
                        by_limits: seconds(limit),
                        wait: f64::NAN,
                    });
                }
            }
            for n in come {
                past.came(&log.jobs[n]);
                open.push(n);
            }
        }
        walk.finish()?;
        for own in &mut forecasts {
            let job = &log.jobs[own.job];
            let start = walk.ends()[own.job] - clock.size(job.size);
            own.wait = clock.ticks(start - clock.submit(job.submit)) / site.per_second;
        }
        Ok((forecasts, spent))
    }
}
