//! What can be asked of clusters, one file a verb. Each is a function that returns values: nothing is printed here, and
//! progress goes to a callback.

mod compare;
mod enter;
mod simulate;

pub use crate::compatibility::artifact::check_against as against;
pub use crate::kind::VerbError;
pub use compare::{Compared, Comparison, add_exact, compare};
pub use enter::{Entered, RULES, enter};
pub use simulate::{Simulated, simulate};

use crate::kind::refuse;
