//! A comparison of policies over loads, as a table, as CSV and as a page.
//!
//! These know no kind of workload. What its runs tell besides comes with [`Besides`].

mod csv;
mod figures;
mod page;
mod table;
mod words;

pub use self::csv::comparison_csv;
pub use page::comparison_page;
pub use table::comparison_table;
pub use words::list;

pub use crate::simulation::sweep::quoted;

use crate::simulation::{Estimate, Run};

/// What one kind of workload adds to a comparison; `M` and `C` are what its runs measure besides.
#[derive(Clone, Debug)]
pub struct Besides<'a, M, C> {
    /// What arrives, and where: `3 job types on cpu and memory`.
    pub about: String,
    /// Names of the parts that [`Shares`] are of: resources, or servers.
    pub parts: Vec<&'a str>,
    /// Title of the pictures of the shares, and what is seen there.
    pub section: (&'static str, &'static str),
    /// Fractions that a run has for each part.
    pub shares: &'a [Shares<M, C>],
    /// Counts that a run has, by name.
    pub counts: &'a [(&'static str, CountOfRun<M, C>)],
    /// Frequencies that a run has, per unit of time, by name.
    pub frequencies: &'a [(&'static str, OfRun<M, C>)],
}

/// How often something happened in a run.
pub type CountOfRun<M, C> = fn(&Run<M, C>) -> u64;

/// An estimate that a run has, if it has means.
pub type OfRun<M, C> = fn(&Run<M, C>) -> Option<Estimate>;

/// A fraction of each part.
#[derive(Clone, Copy, Debug)]
pub struct Shares<M, C> {
    /// Its name for programs: `utilization`.
    pub quantity: &'static str,
    /// Its name for people, which may follow that of a part: `in use`.
    pub words: &'static str,
    /// A run's, by part; empty where it has none.
    pub of: fn(&Run<M, C>) -> &[f64],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::WIDTH;
    use crate::simulation::sweep::{Comparison, Header};

    /// Without any cell: every sentence still stands.
    #[test]
    fn nothing_run_is_said_to_be_nothing() {
        let none: Comparison =
            Comparison::new(Header::sample(&["fcfs", "a/p.json"]), Vec::new(), true);
        let told = comparison_table(&none, WIDTH);
        assert!(told.contains("fcfs and p.json are not measured."), "{told}");
        assert!(told.contains("INTERRUPTED: 0 of 4 cells"), "{told}");
        assert_eq!(
            words::headline(&none),
            "No policy has a mean at every load compared."
        );
    }

    #[test]
    fn the_command_can_be_typed_again() {
        let comparison: Comparison =
            Comparison::new(Header::sample(&["fcfs", "it's.json"]), Vec::new(), false);
        assert_eq!(
            comparison.header.command(),
            r"synth compare --workload 'a file.yaml' --policies 'fcfs,it'\''s.json' --loads 0.5,0.95 --seed 1 --replications 8 --precision 0.01 --events 10 --time 1.5"
        );
    }
}
