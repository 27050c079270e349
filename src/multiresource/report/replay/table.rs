//! The tables of a replay.

use super::super::{Table, estimate, number, percent, start_latency_of, wrap};
use super::{intervals, pace, window, with_interval};
use crate::multiresource::verbs::replay::{AtPace, OfJobs, Ratio, Recorded, Replays, Spread};

/// What came of a replay, at most `width` characters wide.
pub fn replayed(replays: &Replays, width: usize) -> String {
    let mut parts = Vec::new();
    if replays.interrupted {
        parts.push("INTERRUPTED: not all of it was replayed.".to_owned());
    }
    let paces = replays.paces.iter();
    parts.extend(paces.map(|at| format!("{}\n\n{}", pace(at), at_pace(at, width))));
    parts.extend(replays.failures().map(|(at, name, why)| {
        wrap(
            &format!("{name} is not replayed at {}: {why}", pace(at)),
            width,
        )
    }));
    parts.extend(replays.resampled.as_ref().map(|own| spread(own, width)));
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
    foot += "; in brackets 95 % intervals by moving blocks of time";
    let missing = intervals(replays);
    foot + &missing.map_or(String::new(), |why| format!("; {why}"))
}

fn at_pace(at: &AtPace, width: usize) -> String {
    let has_ratios = at.policies.len() > 1;
    let mut header = vec!["policy", "mean response"];
    header.extend(has_ratios.then_some("over the first"));
    header.extend([
        "mean wait",
        "p99 wait",
        "longest wait",
        "waited",
        "bounded slowdown",
        "in use",
    ]);
    let mut table = Table::new(header);
    for own in &at.policies {
        let Some(played) = &own.replayed else {
            table.row([own.policy.as_str(), "failed"]);
            continue;
        };
        let measured = &played.measured;
        let response = with_interval(measured.mean_response, played.response);
        let mut row = vec![own.policy.clone(), response];
        row.extend(has_ratios.then(|| played.ratio.map_or(String::new(), ratio)));
        let used = measured.utilization.iter().map(|used| percent(*used));
        row.extend([
            number(measured.mean_wait),
            number(measured.wait_percentiles[2]),
            number(measured.longest_wait),
            measured.waited.to_string(),
            number(measured.mean_bounded_slowdown),
            used.collect::<Vec<_>>().join(" · "),
        ]);
        table.row(row);
    }
    table.within(width)
}

fn ratio(ratio: Ratio) -> String {
    let within = ratio.interval;
    let within = within.map(|i| format!(" [{:.3}, {:.3}]", i.low, i.high));
    format!("{:.3}{}", ratio.value, within.unwrap_or_default())
}

fn spread(spread: &Spread, width: usize) -> String {
    let mut table = Table::new([
        "policy",
        "mean response",
        "least",
        "largest",
        "over the first",
    ]);
    for own in &spread.policies {
        let means = || own.means.iter().copied();
        table.row([
            own.policy.clone(),
            estimate(own.mean),
            number(means().fold(f64::NAN, f64::min)),
            number(means().fold(f64::NAN, f64::max)),
            own.ratio.map_or(String::new(), |own| estimate(Some(own))),
        ]);
    }
    let head = format!(
        "speed {}, {} replications of whole weeks of the trace; all jobs",
        spread.speed, spread.replications
    );
    format!("{}\n\n{}", wrap(&head, width), table.within(width))
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
        let times = [
            own.mean_response,
            own.mean_wait,
            own.median_wait,
            own.longest_wait,
        ];
        let words = [name.to_owned(), own.jobs.to_string()];
        table.row(words.into_iter().chain(times.map(number)));
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
    let head = format!("{} on {}, run once", run.policy, run.file);
    let foot = wrap(&foot, width);
    let text = format!("{head}\n\n{}\n\n{foot}", table.within(width));
    let latency = run.start_latency.as_ref();
    let latency = latency.map(|law| wrap(&start_latency_of(law, unit), width));
    text + &latency.map_or(String::new(), |line| format!("\n{line}"))
}
