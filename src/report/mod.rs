//! What people read, as far as it needs no kind of workload: numbers, tables, pictures, and the
//! page of a comparison. Only rendered here; every value comes from the caller.

mod comparison;
mod csv;
mod number;
mod outcomes;
mod page;
pub mod plot;
mod run;
mod table;
mod validity;

pub use self::csv::Csv;
pub use comparison::{
    Besides, Shares, comparison_csv, comparison_page, comparison_table, list, quoted,
};
pub use number::{bar, below, change, decimals, estimate, number, percent, within};
pub use outcomes::{Column, Outcome, Outcomes, outcomes_csv, outcomes_page, outcomes_table};
pub use page::{Page, Rows, Section, Shown};
pub use run::{RunWords, class_table, headed, run_report};
pub use table::{Table, WIDTH, rules_table, wrap};
pub use validity::valid_report;
