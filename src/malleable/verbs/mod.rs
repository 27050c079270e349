//! What can be asked of malleable jobs, one file a verb. Each is a function that returns values: nothing is printed here, and
//! progress goes to a callback.

mod compare;
mod enter;
mod simulate;

pub use crate::kind::VerbError;
pub use compare::{Comparison, add_bounds, compare, compare_pool};
pub use enter::{Entered, Named, RULES, enter};
pub use simulate::{Ran, Simulated, simulate};

use crate::kind::refuse;
