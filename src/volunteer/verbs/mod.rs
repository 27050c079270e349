//! What can be asked of campaigns, one file a verb. Each is a function that returns values: nothing is printed here, and
//! progress goes to a callback.

mod compare;
mod enter;
mod simulate;

pub use crate::kind::VerbError;
pub use compare::compare;
pub use enter::{Entered, RULES, enter};
pub use simulate::{Simulated, simulate};

use crate::kind::refuse;
use crate::volunteer::simulator::{Run, TooLong};

fn too_long(found: TooLong) -> Result<Run, VerbError> {
    refuse(format!("{found}: allow more with --events or --time"))
}
