//! The tables of a replay.

use itertools::{Itertools as _, chain};

use super::recorded::Recorded;
use super::results::{AtPace, Played, Replays, Spread};
use super::words::{interrupted, intervals, pace, played, unit, window, with_interval};
use crate::multiresource::report::start_latency_of;
use crate::report::{Rows, Shown, Table, TableUnit, estimate, grid, number, percent, span, wrap};

/// Renders what came of a replay, at most `width` characters wide.
pub fn replayed(replays: &Replays, width: usize) -> String {
    let mut parts = Vec::from_iter(interrupted(replays));
    let (unit, paces) = (&unit(replays), replays.paces.iter());
    parts.extend(paces.flat_map(|at| {
        let (heads, rows) = measured(at, unit, false);
        let whole = format!("{}\n\n{}", pace(at), grid("policy", &heads, &rows, width));
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

/// Returns what was measured at a pace, a row a policy, and the heads of the columns; in full with what is known of waits
/// besides.
pub fn measured(at: &AtPace, unit: &TableUnit, in_full: bool) -> (Vec<String>, Rows) {
    type Cell<'a> = &'a dyn Fn(&Played) -> String;
    let response: Cell<'_> = &|own| with_interval(own.measured.mean_response, own.response, unit);
    let ratio: Cell<'_> = &|own| {
        own.ratio.map_or(String::new(), |own| {
            let within = own.interval;
            let within = within.map(|i| format!(" [{:.3}, {:.3}]", i.low, i.high));
            format!("{:.3}{}", own.value, within.unwrap_or_default())
        })
    };
    let wait: Cell<'_> = &|own| {
        let within = own.wait.filter(|_| in_full);
        with_interval(own.measured.mean_wait, within, unit)
    };
    let used: Cell<'_> = &|own| {
        let used = own.measured.utilization.iter();
        used.map(|used| percent(*used)).join(" · ")
    };
    let columns: [(bool, &str, Cell<'_>); 9] = [
        (true, "mean response [_]", response),
        (at.policies.len() > 1, "over the first", ratio),
        (true, "mean wait [_]", wait),
        (in_full, "p95 wait [_]", &|own| {
            unit.number(own.measured.wait_percentiles[1])
        }),
        (true, "p99 wait [_]", &|own| {
            unit.number(own.measured.wait_percentiles[2])
        }),
        (true, "longest wait [_]", &|own| {
            unit.number(own.measured.longest_wait)
        }),
        (true, "waited", &|own| own.measured.waited.to_string()),
        (true, "bounded slowdown", &|own| {
            number(own.measured.mean_bounded_slowdown)
        }),
        (true, "in use", used),
    ];
    let shown = columns.iter().filter(|(is_shown, ..)| *is_shown);
    let heads = shown
        .clone()
        .map(|(_, head, _)| head.replace('_', &unit.name));
    let rows = at.policies.iter().map(|own| {
        let cells = match own.replayed.as_deref() {
            Some(own) => shown
                .clone()
                .map(|(.., cell)| Shown::plain(cell(own)))
                .collect(),
            None => vec![Shown {
                text: "failed".into(),
                class: "none",
            }],
        };
        (own.policy.clone(), cells)
    });
    (heads.collect(), rows.collect())
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
