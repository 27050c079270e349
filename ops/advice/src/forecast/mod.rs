//! When a job will start: not one time, but those by which one, five and nine of ten such jobs start.
//!
//! # Theory
//! What a scheduler answers takes limits for run times, and is late nearly always: users promise several times what their
//! jobs run. Here the queue is run forward many times under the rule that runs there ([`ForecastSite::forecast`]). Each run draws how
//! long the waiting jobs run, and the running ones still will, from how long jobs like them ran of their limits
//! ([`Past`]): of the same user, limit and demand first, and of wider classes the less, the more is known of the narrow one. A
//! job that has run for a while runs for longer than that. The errors of a user's jobs are not independent: some of
//! them stand at one level of their laws. Those that come later are days of the last four weeks, drawn with replacement.
//!
//! Such draws are too sure of themselves. So the levels at which their quantiles are taken are moved by what came of the forecasts
//! before ([`Calibration`]). On a log this is done from job to job ([`Scoring`]): nothing is looked at that
//! was not known then. A scheduler that runs is forecast from the jobs that it has seen ([`OnlineForecasts`]).
//!
//! # Bibliography
//! Gibbs, Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021. Smith, Taylor, Foster, "Using run-time
//! predictions to estimate queue wait times and improve scheduler performance", JSSPP 1999. Nurmi, Brevik, Wolski, "QBETS:
//! queue bounds estimation from time series", JSSPP 2007.

mod calibration;
mod course;
mod draw;
mod map;
mod online;
mod past;
mod score;

pub use calibration::{Calibration, LEVELS, Quantiles};
pub use draw::{Draws, ForecastSite, PresentJob, Snapshot};
pub use map::{Map, MapCell};
pub use online::OnlineForecasts;
pub use past::{Past, RuntimeLaw};
pub use score::{ForecastRecord, Scored, ScoredForecast, Scoring};

#[cfg(test)]
mod tests;
