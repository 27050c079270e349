//! The tables of a replay.

use super::super::{Table, number, percent, start_latency_of, wrap};
use super::{TOO_SHORT, lacks_intervals, pace, window, with_interval};
use crate::multiresource::verbs::replay::{
    AtPace, OfJobs, Played, Recorded, Replays, Spread, Told,
};

/// What came of a replay, at most `width` characters wide.
pub fn replayed(replays: &Replays, width: usize) -> String {
    let mut parts = Vec::new();
    if replays.interrupted {
        parts.push("INTERRUPTED: not all of it was replayed.".to_owned());
    }
    for at in &replays.paces {
        let policies: Vec<&Told> = at.policies.iter().collect();
        parts.push(match policies[..] {
            [one] => of_one(replays, at, one, width),
            _ => of_several(at, width),
        });
    }
    if let Some(spread) = &replays.resampled {
        parts.push(of_spread(spread, width));
    }
    parts.push(wrap(&foot(replays), width));
    parts.join("\n\n")
}

/// How it was measured.
fn foot(replays: &Replays) -> String {
    let mut foot = format!("times in s; {}", window(replays));
    if !replays.start_latency.is_zero() {
        foot += &format!(
            "; each job holds its room {} s before it runs (start latency), which counts in its response time and not in its wait",
            replays.start_latency
        );
    }
    foot += match lacks_intervals(replays) {
        Some(true) => "",
        _ => "; in brackets 95 % intervals by moving blocks of time",
    };
    foot += &match lacks_intervals(replays) {
        None => String::new(),
        Some(true) => format!("; no interval: {TOO_SHORT}"),
        Some(false) => format!("; where none stands, {TOO_SHORT}"),
    };
    let told = replays.paces.iter().flat_map(|at| &at.policies);
    let distances = told.filter_map(|told| {
        let distance = told.played()?.distance?;
        Some(format!(
            "\n{} claims E[T] = {} s of its workload; the trace has {} times that (no verdict: the claim is not about the trace)",
            told.policy,
            number(distance.claimed),
            number(distance.replayed_over_claimed)
        ))
    });
    foot.extend(distances);
    foot
}

/// All numbers of one policy.
fn of_one(replays: &Replays, at: &AtPace, told: &Told, width: usize) -> String {
    let head = format!("{} on {} ({})", told.policy, replays.trace.file, pace(at));
    let Some(played) = told.played() else {
        return format!("{head}: {}", told.failure().unwrap_or_default());
    };
    let measured = &played.measured;
    let mut table = Table::new(["", "mean", "median", "p95", "p99"]);
    let row = |name: &str, mean: String, percentiles: &[f64; 3]| {
        let percentiles = percentiles.iter().map(|p| number(*p));
        [name.to_owned(), mean]
            .into_iter()
            .chain(percentiles)
            .collect::<Vec<_>>()
    };
    table.row(row(
        "wait",
        with_interval(measured.mean_wait, played.wait),
        &measured.wait_percentiles,
    ));
    table.row(row(
        "response time",
        with_interval(measured.mean_response, played.response),
        &measured.response_percentiles,
    ));
    table.row([
        "bounded slowdown",
        &with_interval(measured.mean_bounded_slowdown, played.bounded_slowdown),
    ]);
    let passed = measured.backfilled.map_or(String::new(), |n| {
        format!(", {n} started before one that had come earlier")
    });
    let words = format!(
        "{} of {} jobs measured; {} waited{passed}; longest wait {} s, sum of waits {} s; last end after {} s{}",
        measured.jobs,
        replays.trace.jobs,
        measured.waited,
        plain(measured.longest_wait),
        plain(measured.total_wait),
        plain(measured.last_end),
        used(replays, played),
    );
    format!(
        "{head}\n\n{}\n\n{}",
        table.within(width),
        wrap(&words, width)
    )
}

/// All digits that are more than rounding.
fn plain(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// What is used of each resource.
fn used(replays: &Replays, played: &Played) -> String {
    let pairs = replays
        .trace
        .resources
        .iter()
        .zip(&played.measured.utilization);
    let each: Vec<String> = pairs
        .map(|(name, used)| format!("{name} {}", percent(*used)))
        .collect();
    if each.is_empty() {
        String::new()
    } else {
        format!("; in use: {}", each.join(", "))
    }
}

/// Policies at a pace.
fn of_several(at: &AtPace, width: usize) -> String {
    let mut table = Table::new([
        "policy",
        "mean response",
        "over the first",
        "mean wait",
        "p99 wait",
        "longest wait",
        "waited",
        "bounded slowdown",
        "in use",
    ]);
    for told in &at.policies {
        let Some(played) = told.played() else {
            table.row([told.policy.as_str(), "failed"]);
            continue;
        };
        let measured = &played.measured;
        let used = measured.utilization.iter().map(|used| percent(*used));
        table.row([
            told.policy.clone(),
            with_interval(measured.mean_response, played.response),
            played.ratio.map_or(String::new(), |ratio| {
                let interval = ratio.interval;
                let within = interval.map(|i| format!(" [{:.3}, {:.3}]", i.low, i.high));
                format!("{:.3}{}", ratio.value, within.unwrap_or_default())
            }),
            number(measured.mean_wait),
            number(measured.wait_percentiles[2]),
            number(measured.longest_wait),
            measured.waited.to_string(),
            number(measured.mean_bounded_slowdown),
            used.collect::<Vec<_>>().join(" · "),
        ]);
    }
    let failures = at.policies.iter().filter_map(|told| {
        let why = told.failure()?;
        Some(wrap(
            &format!("\n{} is not replayed: {why}", told.policy),
            width,
        ))
    });
    let failures: String = failures.collect();
    format!("{}\n\n{}{failures}", pace(at), table.within(width))
}

fn of_spread(spread: &Spread, width: usize) -> String {
    let mut table = Table::new([
        "policy",
        "mean response",
        "least",
        "largest",
        "over the first",
    ]);
    for own in &spread.policies {
        let least = own.means.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = own.means.iter().copied().fold(f64::NAN, f64::max);
        table.row([
            own.policy.clone(),
            super::super::estimate(own.mean),
            number(if own.means.is_empty() {
                f64::NAN
            } else {
                least
            }),
            number(largest),
            own.ratio
                .map_or(String::new(), |ratio| super::super::estimate(Some(ratio))),
        ]);
    }
    let head = format!(
        "speed {}, {} replications of whole weeks of the trace; all jobs",
        spread.speed, spread.replications
    );
    let head = wrap(&head, width);
    format!("{head}\n\n{}", table.within(width))
}

/// What came of recorded jobs, at most `width` characters wide.
pub fn recorded(run: &Recorded, width: usize) -> String {
    let mut table = Table::new([
        "type",
        "jobs",
        "mean response",
        "mean wait",
        "median wait",
        "longest wait",
    ]);
    let mut row = |name: &str, own: &OfJobs| {
        let waits = [own.mean_wait, own.median_wait, own.longest_wait];
        let [mean, median, longest] = waits.map(number);
        let jobs = own.jobs.to_string();
        table.row([
            name,
            &jobs,
            &number(own.mean_response),
            &mean,
            &median,
            &longest,
        ]);
    };
    for own in &run.types {
        row(&own.name, &own.jobs);
    }
    row("all", &run.all);
    let unit = &run.time_unit;
    let drawn = match run.seed {
        None => "nothing is drawn at random".to_owned(),
        Some(seed) => format!("clocks, start latencies and limits are drawn from seed {seed}"),
    };
    let foot = format!(
        "times in {unit}; the last job left {} {unit} after the first came; {drawn}",
        number(run.makespan)
    );
    let mut text = format!(
        "{} on {}, run once\n\n{}\n\n{}",
        run.policy,
        run.file,
        table.within(width),
        wrap(&foot, width)
    );
    if let Some(law) = &run.start_latency {
        text += "\n";
        text += &wrap(&start_latency_of(law, unit), width);
    }
    text
}
