use super::{load, number, percent};
use crate::multiresource::verbs::Change;

/// Changes of types that are told one by one; of more, how many and how far.
const LISTED: usize = 5;

/// What is different between two policies.
pub fn changes(changes: &[Change]) -> String {
    let lines = changes.iter().flat_map(told);
    let lines: Vec<String> = lines.map(|line| format!("\n  {line}")).collect();
    format!("what changed:{}", lines.concat())
}

fn told(change: &Change) -> Vec<String> {
    vec![match change {
        Change::SameWorkload => "the workload is the same".into(),
        Change::TimeUnit(before, now) => format!("unit of time {before} → {now}"),
        Change::NewTypes(names) => format!("new types: {}", quoted(names)),
        Change::TypesGone(names) => format!("types gone: {}", quoted(names)),
        Change::NewResource(name) => format!("new resource {name}"),
        Change::Capacity(name, before, now) => format!("capacity of {name} {before} → {now}"),
        Change::StartLatency(before, now) => {
            format!("mean start latency {} → {}", number(*before), number(*now))
        }
        Change::ArrivalRates(figures) => return of_types("arrival rate", figures),
        Change::MeanSizes(figures) => return of_types("mean size", figures),
        Change::Demands(names) => format!("demand of {}", quoted(names)),
        Change::Load(before, now) => format!("load ρ {} → {}", load(*before), load(*now)),
        Change::Mix {
            kept,
            new,
            gone,
            otherwise,
        } => format!(
            "schedules: {kept} kept, {new} new, {gone} gone; {} of the time is spent otherwise",
            percent(*otherwise)
        ),
        Change::Switching((rate, route), (rate_now, route_now)) => format!(
            "switching rate α {} → {}, route {route} → {route_now}",
            number(*rate),
            number(*rate_now)
        ),
        Change::MeanResponse((mean, unit), (mean_now, unit_now)) => format!(
            "mean response time claimed {} {unit} → {} {unit_now}",
            number(*mean),
            number(*mean_now)
        ),
    }]
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn of_types(what: &str, figures: &[(String, f64, f64)]) -> Vec<String> {
    let by = |before: f64, now: f64| 100.0 * (now / before - 1.0);
    if figures.len() <= LISTED {
        let line = |(name, before, now): &(String, f64, f64)| {
            format!(
                "{what} of `{name}` {} → {} ({:+.1} %)",
                number(*before),
                number(*now),
                by(*before, *now)
            )
        };
        return figures.iter().map(line).collect();
    }
    let by = figures.iter().map(|(_, before, now)| by(*before, *now));
    let (least, most) = by.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), by| {
        (least.min(by), most.max(by))
    });
    let count = figures.len();
    vec![format!(
        "{what}s of {count} types, by {least:+.1} to {most:+.1} %"
    )]
}
