//! What a person reads on the terminal. Only rendered here; every value comes from the makers and from
//! [`crate::multiresource::verbs`]. Tables are `width` characters wide at most.

mod balance;
mod changes;
mod choice;
mod comparison;
mod cost;
mod fleet;
mod optimum;
mod rules;
mod show;
mod simulation;
mod sweep;
mod synthesis;
mod validity;

pub use changes::changes;
pub use choice::thresholds;
pub use comparison::besides;
pub use cost::explain;
pub use fleet::{fleet, fleet_refusal};
pub use optimum::{optimum, optimum_step};
pub use rules::rules;
pub use show::show;
pub use simulation::{notes, simulation};
pub use sweep::{sweep_csv, sweep_plot};
pub use synthesis::{at_once, made, refusal};
pub use validity::valid;

pub use crate::report::{
    WIDTH, comparison_csv, comparison_page, comparison_table, estimate, number,
};

use crate::multiresource::artifact::{Artifact, Claim, Quantity, Subject};
use crate::report::{Table, bar, below, decimals, percent, within, wrap};

/// The claim of a quantity, of one type or of the whole policy.
fn claim<'a>(artifact: &'a Artifact, quantity: Quantity, kind: Option<&str>) -> Option<&'a Claim> {
    artifact.find(quantity, Subject::of_type(kind))
}

/// A load with the digits that a decision near 1 needs.
fn load(load: f64) -> String {
    let decimals = if (load - 1.0).abs() < 1e-3 { 12 } else { 9 };
    let text = format!("{load:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
