//! When a job will start.

mod draw;
mod past;
mod score;

pub use draw::{Draws, Moment, Present, Site};
pub use past::{Law, Past};
pub use score::{Forecast, ForecastError, Scoring};
