//! Forecasts of job starts: the times by which 10 %, 50 % and 90 % of such jobs start.
//!
//! Limits are nearly always far above run times. So the queue is simulated many times under the
//! site's rule ([`ForecastSite::forecast`]), with run times drawn from those of similar past jobs
//! relative to their limits ([`Past`]) and conditioned on the age of running jobs. Jobs of one user
//! partly share their quantile level, since errors are correlated. Later arrivals are days of the
//! last four weeks, drawn with replacement. Such draws are overconfident, so their quantiles are
//! calibrated on the outcomes of earlier forecasts ([`Calibration`]): job by job on a log
//! ([`Scoring`]), or for a running scheduler ([`OnlineForecasts`]).
//!
//! # Bibliography
//! Gibbs, Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021. Smith,
//! Taylor, Foster, "Using run-time predictions to estimate queue wait times and improve scheduler
//! performance", JSSPP 1999. Nurmi, Brevik, Wolski, "QBETS: queue bounds estimation from time
//! series", JSSPP 2007.

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
