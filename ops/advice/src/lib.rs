//! Advice for the administrators of a cluster, which is computed from the log of its jobs.
//!
//! - A [`WalkForward`](judge::WalkForward) evaluates a [`QueueRule`](judge::QueueRule) on a log, or
//!   selects one for each week based on the weeks before it (`docs/explanation/judge.md`).
//! - A [`ForecastSite`](forecast::ForecastSite) forecasts when the waiting jobs will start
//!   (`docs/how-to/forecast.md`).
//! - The module [`slurm`] proposes changes to the configuration of a Slurm site
//!   (`docs/tutorials/slurm-log.md`). The module [`verbs`] is the command line of all three.
//!
//! In the example, a job that needs all processors for 50 s arrives every 100 s, so no job waits.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use synth_advice::judge::{JudgeObjective, LogWindows, QueueRule, SelectionCriteria, WalkForward};
//! use synth_traces::replay::{Log, Speed};
//! use synth_traces::trace::{ReadOptions, Servers, Source};
//!
//! let jobs: String = (0..100).map(|n| format!("{},50,4\n", 100 * n)).collect();
//! let text = format!("time,size,cpu\n{jobs}");
//! let servers = Some(Servers::shapes("cpu=4")?);
//! let options = ReadOptions { servers, ..ReadOptions::default() };
//! let source = Source::Text("jobs.csv".into(), text.into());
//! let (log, _) = Log::of_source(&source, &options, &mut |_| ())?;
//! let windows = LogWindows { past: 0.5, every: 1000.0, speed: Speed::ONE };
//! let (objective, now) = (JudgeObjective::Wait, QueueRule::EASY);
//! let criteria = SelectionCriteria { objective, longest: None, now };
//! let interrupt = AtomicBool::new(false);
//! let forward = WalkForward::new(&log, windows, criteria, &interrupt)?;
//! let served = forward.evaluate_rule(&QueueRule::parse("easy+saf")?, false)?;
//! assert_eq!(served, [(0.0, 50.0); 50]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "verbs")]
pub mod agreement;
#[cfg(feature = "verbs")]
mod classes;
pub mod forecast;
pub mod judge;
#[cfg(feature = "verbs")]
pub mod slurm;
#[cfg(feature = "verbs")]
pub mod verbs;
