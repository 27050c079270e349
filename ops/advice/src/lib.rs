//! Advice for the administrators of a cluster, which is computed from the log of its jobs.
//!
//! - A [`WalkForward`](judge::WalkForward) is used to evaluate a [`QueueRule`](judge::QueueRule) on
//!   a log, or to select one for each week. The rule for a week is selected based on the weeks
//!   before it.
//! - A [`ForecastSite`](forecast::ForecastSite) forecasts when the waiting jobs will start, and a
//!   [`Calibration`](forecast::Calibration) corrects the forecasts with the outcomes of earlier
//!   ones.
//! - The module [`slurm`] proposes changes to the configuration of a Slurm site, which are replayed
//!   on the jobs of the site. The module [`verbs`] contains the command line of all three.
//!
//! In the example, a job is submitted every 100 s and needs all four processors for 50 s, so no job
//! waits. The jobs in the second half of the log are evaluated.
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
//! let interrupt = AtomicBool::new(false);
//! let criteria = SelectionCriteria { objective, longest: None, now };
//! let forward = WalkForward::new(&log, windows, criteria, &interrupt)?;
//! let served = forward.evaluate_rule(&QueueRule::parse("easy+saf")?, false)?;
//! assert_eq!(served, [(0.0, 50.0); 50]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to read next
//!
//! See `docs/judge.md`, `docs/forecast.md` and `docs/tutorials/slurm-log.md`.

pub mod forecast;
pub mod judge;
#[cfg(feature = "verbs")]
pub mod slurm;
#[cfg(feature = "verbs")]
pub mod verbs;
