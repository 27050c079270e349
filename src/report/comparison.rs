use super::{estimate, table};
use crate::simulator::{Health, Run};
use crate::workload::Workload;

/// Mean response times, policies down and loads across.
pub fn comparison(
    workload: &Workload,
    loads: &[f64],
    names: &[String],
    runs: &[Vec<Run>],
) -> String {
    let first = format!("E[T] [{}]", workload.time_unit());
    let loads: Vec<String> = loads.iter().map(|load| format!("ρ = {load}")).collect();
    let header: Vec<&str> = [first.as_str()]
        .into_iter()
        .chain(loads.iter().map(String::as_str))
        .collect();
    let mut table = table(&header);
    for (name, row) in names.iter().zip(runs) {
        let cell = |run: &Run| match run.health {
            Health::Settled => estimate(run.mean_response),
            Health::Unsettled => "unsettled".into(),
            Health::Unstable => "unstable".into(),
        };
        table.add_row([name.clone()].into_iter().chain(row.iter().map(cell)));
    }
    format!(
        "{}\n\nmean response time over all jobs, with 95 % confidence intervals; the same arrivals for each policy at a load",
        table.trim_fmt()
    )
}
