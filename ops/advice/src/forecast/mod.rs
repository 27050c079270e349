//! This module computes when a job will start, as the times at which 10 %, 50 % and 90 % of such
//! jobs have started.
//!
//! Most limits are much larger than the run times. For this reason, the queue is simulated many
//! times using the rule of the site ([`ForecastSite::forecast`]). Run times are drawn from those of
//! similar jobs in the past, relative to their limits ([`Past`]). New jobs are those of random days
//! in the last four weeks. The result is usually too certain, so it is calibrated using the
//! outcomes of previous forecasts ([`Calibration`]). If a log contains the starts of its jobs, the
//! forecasts are made from the recorded state, and their outcomes are these starts.
//!
//! # Bibliography
//! Gibbs, Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021. Smith,
//! Taylor, Foster, "Using run-time predictions to estimate queue wait times and improve scheduler
//! performance", JSSPP 1999. Nurmi, Brevik, Wolski, "QBETS: queue bounds estimation from time
//! series", JSSPP 2007.

mod calibration;
#[cfg(feature = "verbs")]
mod course;
mod draw;
#[cfg(feature = "verbs")]
mod map;
mod online;
mod past;
#[cfg(feature = "verbs")]
mod score;

pub use calibration::{Calibration, LEVELS, Quantiles};
pub use draw::{Draws, ForecastSite, PresentJob, Snapshot};
#[cfg(feature = "verbs")]
pub use map::{Map, MapCell};
pub use online::OnlineForecasts;
pub use past::Past;
#[cfg(feature = "verbs")]
pub use score::{ForecastRecord, Scored, ScoredForecast, Scoring};

#[cfg(all(test, feature = "verbs"))]
mod tests;
