//! What can be asked of clusters, one file a verb. Each is a function that returns values: nothing is printed here, and
//! progress goes to a callback.

mod compare;
mod enter;
mod simulate;

pub use crate::kind::VerbError;
pub use compare::{Comparison, add_exact, compare};
pub use enter::{Entered, RULES, enter};
pub use simulate::{Simulated, simulate};

use crate::kind::refuse;
