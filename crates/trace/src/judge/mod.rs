//! Which order of the queue is best on a log, chosen on its past and judged on what came after.

mod choose;
mod point;
mod scenario;
mod walk;

pub use choose::{Choice, Goal, Objective, choose};
pub use point::{Point, plain};
pub use scenario::{Outcome, Past};
pub use walk::{Walked, Windows, walk};
