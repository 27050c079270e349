//! The tables of a replay.

use itertools::chain;

use super::recorded::Recorded;
use super::results::{AtPace, Replays, Spread};
use super::words::{interrupted, intervals, pace, played, unit, window, with_interval};
use crate::multiresource::report::start_latency_of;
use crate::report::{Table, TableUnit, estimate, number, percent, span, wrap};

/// Renders what came of a replay, at most `width` characters wide.
pub fn replayed(replays: &Replays, width: usize) -> String {
    let mut parts = Vec::from_iter(interrupted(replays));
    let (unit, paces) = (&unit(replays), replays.paces.iter());
    parts.extend(paces.flat_map(|at| {
        let whole = format!("{}\n\n{}", pace(at), at_pace(at, unit, width));
        [Some(whole), groups(at, unit, width)].into_iter().flatten()
    }));
    parts.extend(replays.failures().map(|(at, name, why)| {
        let text = format!("{name} is not replayed at {}: {why}", pace(at));
        wrap(&text, width)
    }));
    let resampled = replays.resampled.as_ref();
    parts.extend(resampled.map(|own| spread(own, unit, width)));
    parts.push(wrap(&foot(replays, unit), width));
    parts.join("\n\n")
}

/// Returns how it was measured.
fn foot(replays: &Replays, unit: &TableUnit) -> String {
    let mut foot = format!("times in {}; {}", unit.name, window(replays));
    if !replays.start_latency.is_zero() {
        foot += &format!(
            "; each job holds its room {} s before it runs (start latency), which counts in its response time and not in its wait",
            replays.start_latency
        );
    }
    foot += "; in brackets 95 % intervals by moving blocks of time";
    foot + &intervals(replays).map_or(String::new(), |why| format!("; {why}"))
}

fn at_pace(at: &AtPace, unit: &TableUnit, width: usize) -> String {
    let has_ratios = at.policies.len() > 1;
    let ratios = if has_ratios { "over the first," } else { "" };
    let header = format!(
        "policy,mean response [{0}],{ratios}mean wait [{0}],p99 wait [{0}],longest wait [{0}],waited,bounded slowdown,in use",
        unit.name
    );
    let mut table = Table::new(header.split(','));
    for own in &at.policies {
        let Some(played) = own.replayed.as_deref() else {
            table.row([own.policy.as_str(), "failed"]);
            continue;
        };
        let measured = &played.measured;
        let ratio = played.ratio.map(|ratio| {
            let interval = ratio.interval;
            let interval = interval.map(|i| format!(" [{:.3}, {:.3}]", i.low, i.high));
            format!("{:.3}{}", ratio.value, interval.unwrap_or_default())
        });
        let response = with_interval(measured.mean_response, played.response, unit);
        let mut row = vec![own.policy.clone(), response];
        row.extend(has_ratios.then(|| ratio.unwrap_or_default()));
        let used = measured.utilization.iter().map(|used| percent(*used));
        row.extend([
            unit.number(measured.mean_wait),
            unit.number(measured.wait_percentiles[2]),
            unit.number(measured.longest_wait),
            measured.waited.to_string(),
            number(measured.mean_bounded_slowdown),
            used.collect::<Vec<_>>().join(" · "),
        ]);
        table.row(row);
    }
    table.within(width)
}

/// Puts mean waits of groups of jobs beside each other; none where all jobs are alike.
fn groups(at: &AtPace, unit: &TableUnit, width: usize) -> Option<String> {
    let played = played(at);
    let (_, first) = played.first().filter(|(_, own)| !own.groups.is_empty())?;
    let head = format!("mean wait [{}] of", unit.name);
    let names = played.iter().map(|(name, _)| *name);
    let mut table = Table::new(chain!([&*head, "jobs", "of work"], names));
    for (g, group) in first.groups.iter().enumerate() {
        let (jobs, work) = (group.jobs.to_string(), percent(group.work));
        let waits = played.iter().map(|(_, own)| own.groups[g].mean_wait);
        let waits = waits.map(|wait| unit.number(wait));
        table.row(chain!([group.name.clone(), jobs, work], waits));
    }
    Some(table.within(width))
}

fn spread(spread: &Spread, unit: &TableUnit, width: usize) -> String {
    let header = format!(
        "policy,mean response [{0}],least [{0}],largest [{0}],over the first",
        unit.name
    );
    let mut table = Table::new(header.split(','));
    for own in &spread.policies {
        let extreme =
            |of: fn(f64, f64) -> f64| unit.number(own.means.iter().copied().fold(f64::NAN, of));
        table.row([
            own.policy.clone(),
            unit.estimate(own.mean),
            extreme(f64::min),
            extreme(f64::max),
            own.ratio.map_or(String::new(), |_| estimate(own.ratio)),
        ]);
    }
    let head = format!(
        "speed {}, {} replications of whole weeks of the trace; all jobs",
        spread.speed, spread.replications
    );
    format!("{}\n\n{}", wrap(&head, width), table.within(width))
}

/// Renders what came of recorded jobs, at most `width` characters wide.
pub fn recorded(run: &Recorded, width: usize) -> String {
    let types = run.types.iter().map(|own| (&*own.name, &own.jobs));
    let each = types.chain([("all", &run.all)]);
    let times = each.clone();
    let times = times.flat_map(|(_, own)| [own.mean_response, own.mean_wait, own.longest_wait]);
    let unit = TableUnit::of(&run.time_unit, times);
    let header = format!(
        "type,jobs,mean response [{0}],mean wait [{0}],median wait [{0}],longest wait [{0}]",
        unit.name
    );
    let mut table = Table::new(header.split(','));
    for (name, own) in each {
        table.row([
            name.to_owned(),
            own.jobs.to_string(),
            unit.number(own.mean_response),
            unit.number(own.mean_wait),
            unit.number(own.median_wait),
            unit.number(own.longest_wait),
        ]);
    }
    let drawn = match run.seed {
        None => "nothing is drawn at random".to_owned(),
        Some(seed) => format!("clocks, start latencies and limits are drawn from seed {seed}"),
    };
    let foot = format!(
        "the last job left {} after the first came; {drawn}",
        span((run.makespan, 0.0), &run.time_unit)
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
        text += &wrap(&start_latency_of(law, &run.time_unit), width);
    }
    text
}
