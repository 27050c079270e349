//! One number a line.

use super::Besides;
use crate::report::Csv;
use crate::simulation::sweep::Comparison;
use crate::simulation::{ClassResult, Ending, Estimate, Health, Run};

const HEADER: [&str; 7] = [
    "load",
    "policy",
    "type",
    "quantity",
    "value",
    "half_width",
    "unit",
];

/// The numbers of a comparison, one a line: load, policy, type (or `all`), quantity, value, half
/// the width of its 95 % interval (empty where none is known), unit. `stable` is 1 for a policy
/// with means, 0 for an unstable one, and empty where the run was too short to tell;
/// `ratio_to_fastest` is against the fastest policy at that load, with an interval that holds
/// together with the others there.
///
/// # Errors
/// When the text cannot be put together.
pub fn comparison_csv<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut table = Csv::titled(HEADER)?;
    for cell in &comparison.cells {
        let Some(run) = comparison.run(&cell.policy, cell.load) else {
            continue;
        };
        let mut lines = of_run(besides, run, &comparison.header.workload.time_unit);
        lines.extend(ratio(comparison, &cell.policy, cell.load));
        let load = cell.load.to_string();
        for Line {
            kind,
            quantity,
            value,
            half_width,
            unit,
        } in lines
        {
            let [value, half_width] = [value, half_width].map(text);
            table.row([
                &load,
                &cell.policy,
                &kind,
                &quantity,
                &value,
                &half_width,
                &unit,
            ])?;
        }
    }
    table.text()
}

/// Empty where there is no number, or none that is finite.
fn text(number: Option<f64>) -> String {
    let number = number.filter(|n| n.is_finite());
    number.map_or(String::new(), |n| n.to_string())
}

struct Line {
    kind: String,
    quantity: String,
    value: Option<f64>,
    half_width: Option<f64>,
    unit: String,
}

impl Line {
    fn plain(kind: &str, quantity: &str, value: Option<f64>, unit: &str) -> Self {
        Line {
            kind: kind.into(),
            quantity: quantity.into(),
            value,
            half_width: None,
            unit: unit.into(),
        }
    }

    fn estimate(kind: &str, quantity: &str, estimate: Option<Estimate>, unit: &str) -> Self {
        Line {
            half_width: estimate.map(|e| e.half_width),
            ..Line::plain(kind, quantity, estimate.map(|e| e.mean), unit)
        }
    }
}

fn of_run<M, C>(besides: &Besides<'_, M, C>, run: &Run<M, C>, time: &str) -> Vec<Line> {
    let per_time = format!("1/{time}");
    let flag = |is: bool| Some(f64::from(u8::from(is)));
    let stable = flag(run.health == Health::Settled).filter(|_| run.health != Health::Unsettled);
    let plain = |quantity, value, unit| Line::plain("all", quantity, value, unit);
    let mut lines = vec![
        plain("stable", stable, "1"),
        plain("interrupted", flag(run.ending == Ending::Interrupted), "1"),
        plain("events", Some(run.events as f64), "1"),
        plain("simulated_time", Some(run.simulated_time), time),
        plain("warm_up", Some(run.warm_up), time),
    ];
    let counts = besides.counts.iter();
    lines.extend(counts.map(|(quantity, count)| plain(quantity, Some(count(run) as f64), "1")));
    if run.health == Health::Settled {
        lines.extend(times(
            "all",
            run.mean_response,
            run.mean_waiting,
            run.percentiles,
            time,
        ));
        let estimate = |quantity, value, unit| Line::estimate("all", quantity, value, unit);
        lines.push(estimate("weighted_response", run.weighted_response, time));
        lines.push(estimate("mean_number", run.mean_number, "jobs"));
        let frequencies = besides.frequencies.iter();
        lines.extend(frequencies.map(|(quantity, of)| estimate(quantity, of(run), &per_time)));
        lines.push(plain("fairness_jain", run.fairness, "1"));
        lines.extend(of_parts(besides, run));
    }
    lines.extend(run.types.iter().flat_map(|kind| of_type(kind, run, time)));
    lines
}

fn times(
    kind: &str,
    response: Option<Estimate>,
    waiting: Option<Estimate>,
    percentiles: Option<[f64; 3]>,
    unit: &str,
) -> Vec<Line> {
    let mut lines = vec![
        Line::estimate(kind, "mean_response", response, unit),
        Line::estimate(kind, "mean_waiting", waiting, unit),
    ];
    for (n, quantity) in ["response_p50", "response_p95", "response_p99"]
        .iter()
        .enumerate()
    {
        lines.push(Line::plain(kind, quantity, percentiles.map(|p| p[n]), unit));
    }
    lines
}

fn of_parts<M, C>(besides: &Besides<'_, M, C>, run: &Run<M, C>) -> Vec<Line> {
    let lines = besides.shares.iter().flat_map(|shares| {
        let named = besides.parts.iter().zip((shares.of)(run));
        named.map(|(part, &value)| {
            let quantity = format!("{}.{part}", shares.quantity);
            Line::plain("all", &quantity, Some(value), "1")
        })
    });
    lines.collect()
}

fn of_type<M, C>(kind: &ClassResult<C>, run: &Run<M, C>, time: &str) -> Vec<Line> {
    let name = kind.name.as_str();
    let left = Line::plain(name, "left", Some(kind.left as f64), "jobs");
    if run.health != Health::Settled {
        return vec![left];
    }
    let mut lines = times(
        name,
        kind.mean_response,
        kind.mean_waiting,
        kind.percentiles,
        time,
    );
    lines.push(Line::estimate(name, "slowdown", kind.slowdown, "1"));
    lines.push(Line::estimate(
        name,
        "mean_number",
        kind.mean_number,
        "jobs",
    ));
    lines.push(Line::estimate(
        name,
        "mean_in_service",
        kind.mean_in_service,
        "jobs",
    ));
    lines.push(Line::plain(
        name,
        "completions",
        Some(kind.completions as f64),
        "jobs",
    ));
    lines.push(left);
    lines
}

/// Against the fastest, where both have means.
fn ratio<M, C>(comparison: &Comparison<M, C>, policy: &str, load: f64) -> Option<Line> {
    let mut rankings = comparison.rankings.iter();
    let ranking = &rankings
        .find(|at| at.load.to_bits() == load.to_bits())?
        .ranking;
    let pair = ranking.pair(policy, &ranking.order.first()?.policy)?;
    // The fastest itself makes no pair with itself.
    Some(Line {
        half_width: Some(pair.simultaneous_half_width),
        ..Line::plain("all", "ratio_to_fastest", Some(pair.ratio.mean), "1")
    })
}
