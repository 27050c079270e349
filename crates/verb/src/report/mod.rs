//! What people read, as far as it needs no kind of workload: numbers, tables, pictures, and the
//! page of a comparison. Only rendered here; every value comes from the caller.

mod answer;
mod comparison;
mod csv;
mod number;
mod outcomes;
mod page;
pub mod plot;
mod run;
mod table;
mod unit;
mod validity;

pub use self::csv::Csv;
pub use answer::{Answer, Answering};
pub use comparison::{
    Besides, Mean, Shares, comparison_csv, comparison_page, comparison_table, list, quoted,
};
pub use number::{
    bar, below, brief, change, counted, decimals, estimate, fitting, length, number, percent, span,
    within,
};
pub use outcomes::{Column, Outcomes, PolicyValues, outcomes_csv, outcomes_page, outcomes_table};
pub use page::{Grid, Page, Rows, Section, Shown, grid};
pub use run::{RunWords, class_table, headed, policy_report, run_report, verdict_table};
pub use table::{Table, WIDTH, wrap};
pub use unit::TableUnit;
pub use validity::valid_report;

/// Returns what stands at this key in a list; an empty one is added where there is none.
pub(crate) fn entry<K: PartialEq, V: Default>(list: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = list.iter().position(|(known, _)| *known == key);
    let at = at.unwrap_or_else(|| {
        list.push((key, V::default()));
        list.len() - 1
    });
    &mut list[at].1
}
