use std::fmt::Write as _;

use super::words;
use crate::report::{Table, estimate, number};
use crate::simulation::sweep::{Comparison, Outcome};
use crate::simulation::{Ending, Health, Run};

/// Mean response times, policies down and loads across; then what follows from them, in words.
/// Tables are `width` characters wide at most.
pub fn comparison_table<M, C>(comparison: &Comparison<M, C>, width: usize) -> String {
    let header = &comparison.header;
    let first = format!("E[T] [{}]", header.workload.time_unit);
    let loads = header.loads.iter().map(|load| format!("ρ = {load}"));
    let columns: Vec<String> = [first].into_iter().chain(loads).collect();
    let mut table = Table::new(columns);
    for name in comparison.names() {
        let cells = header
            .loads
            .iter()
            .map(|&load| cell(comparison, name, load));
        table.row([comparison.titled(name)].into_iter().chain(cells));
    }
    if let Some(row) = exact(comparison) {
        table.row(row);
    }
    let mut text = format!("{}\n\n", table.within(width));
    for at in &comparison.rankings {
        let chain = words::chain(comparison, at).map_or(String::new(), |c| format!(": {c}"));
        let sentences = words::sentences(comparison, at);
        let _ = writeln!(text, "ρ = {}{chain}\n  {sentences}", at.load);
    }
    for warning in words::warnings(comparison) {
        let _ = writeln!(text, "{warning}");
    }
    text += "\n";
    text += NOTE;
    text
}

/// A row below the policies, of means that are known without a run.
pub fn exact<M, C>(comparison: &Comparison<M, C>) -> Option<Vec<String>> {
    let name = comparison.exact.first()?.name.clone();
    let mean = |load: &f64| {
        let exact = comparison.exact(*load);
        exact.map_or("–".into(), |exact| number(exact.mean_response))
    };
    let row = comparison.header.loads.iter().map(mean);
    Some([name].into_iter().chain(row).collect())
}

const NOTE: &str = "mean response time over all jobs with 95 % confidence intervals; the same arrivals and
sizes for each policy at a load. What is said of a load holds together at 95 % (pairs of replications, Bonferroni);
≈ stands between neighbours that cannot be told apart, ≲ where one has more by a tenth, which may be chance.";

/// A cell in a few characters.
pub fn cell<M, C>(comparison: &Comparison<M, C>, name: &str, load: f64) -> String {
    match comparison.outcome(name, load) {
        None => "not run".into(),
        Some(Outcome::Failure(_)) => "failed".into(),
        Some(Outcome::Run(run)) if run.ending == Ending::Interrupted => {
            format!("{} (interrupted)", mean(run))
        }
        Some(Outcome::Run(run)) => mean(run),
    }
}

fn mean<M, C>(run: &Run<M, C>) -> String {
    match run.health {
        Health::Settled => estimate(run.mean_response),
        Health::Unsettled => "unsettled".into(),
        Health::Unstable => "unstable".into(),
    }
}
