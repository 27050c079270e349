//! This module contains the results of verbs ([`Report`]), and formats them as text, pages and CSV.

mod claims;
mod comparison;
mod csv;
mod data;
mod number;
mod outcomes;
mod page;
pub mod plot;
mod run;
mod text;
mod validity;

pub use self::csv::Csv;
pub use claims::{claims, policy_report};
pub use comparison::{KindMeasurements, Shares, comparison_report};
pub use data::{Cell, Column, Numbers, Report, Section};
pub use number::{
    below, change, counted, decimals, estimate, file_name, length, list, load, number, percent,
    percentage, plural, readable, readable_unit, span, within,
};
pub use outcomes::{Outcomes, PolicyValues, QuantityColumn};
pub use run::{classes, run_report, schedules, verdict_table};
pub use synth_simulation::sweep::quoted;
use text::wrap_all;
pub use text::{WIDTH, wrap};
pub use validity::valid_report;

pub(crate) fn entry<K: PartialEq, V: Default>(list: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = list.iter().position(|(known, _)| *known == key);
    let at = at.unwrap_or_else(|| {
        list.push((key, V::default()));
        list.len() - 1
    });
    &mut list[at].1
}
