//! What is said of forecasts.

use itertools::Itertools as _;

use super::live::Live;
use crate::forecast::{ForecastRecord, LEVELS, Map, Scored};
use crate::verbs::{self, paragraphs};
use synth_operator::Metrics;
use synth_traces::replay::Log;
use synth_verb::report::{Table, counted, length, number, percent, wrap};

/// Returns all tables, at most `width` characters wide.
pub fn tables(scored: &Scored, rule: &str, width: usize) -> String {
    let Some(record) = &scored.record else {
        let jobs = counted(scored.waited[1] as f64, "job");
        let none = format!("No job waits under {rule} ({jobs}): there is nothing to score.");
        return wrap(&none, width);
    };
    let map = scored.map.as_ref();
    let parts = [
        wrap(&headline(record, scored, rule), width),
        shares(record, width),
        map.map_or(String::new(), |map| map_table(map, width)),
    ];
    paragraphs(parts)
}

fn headline(record: &ForecastRecord, scored: &Scored, rule: &str) -> String {
    let limits = if record.error_by_limits.is_nan() {
        "The log tells no limits that could be taken for run times instead.".to_owned()
    } else {
        let ratio = record.error / record.error_by_limits;
        let ratio = Some(format!(", {ratio:.3} times")).filter(|_| record.error_by_limits > 0.0);
        let ratio = ratio.unwrap_or_default();
        format!(
            "With limits taken for run times it is {} s{ratio}; {} start before the time that is said then.",
            number(record.error_by_limits),
            percent(record.before_limits)
        )
    };
    format!(
        "Of {} under {rule}, {} waited; {} are scored. The time by which half of such jobs start is off by {} s (median). {limits}",
        counted(scored.waited[1] as f64, "job"),
        scored.waited[0],
        counted(record.forecasts as f64, "forecast"),
        number(record.error),
    )
}

/// What levels are called.
const NAMES: [&str; 3] = ["one of ten", "half", "nine of ten"];

fn shares(record: &ForecastRecord, width: usize) -> String {
    let header = "start by the time that is said of,should,did,without calibration";
    let mut table = Table::new(header.split(','));
    for (n, name) in NAMES.into_iter().enumerate() {
        let shares = [LEVELS[n], record.started[n], record.uncalibrated[n]];
        let cells = shares.map(|share| format!("{:.1} %", 100.0 * share));
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table.within(width)
}

fn map_table(map: &Map, width: usize) -> String {
    let head = ["waits: half · nine of ten".to_owned()];
    let limit = |limit: &f64| match limit.is_finite() {
        true => format!("limit {}", length(*limit)),
        false => "no limit".into(),
    };
    let mut table = Table::new(head.into_iter().chain(map.limits.iter().map(limit)));
    for (width, row) in map.widths.iter().zip(&map.cells) {
        let cells = row.iter().map(|cell| {
            let [_, half, most] = cell.waits.0;
            format!("{} · {}", length(half), length(most))
        });
        table.row([width.clone()].into_iter().chain(cells));
    }
    let head = format!(
        "What a job would wait that asks for so much, at {} of the second half of the log:",
        counted(map.moments as f64, "moment")
    );
    paragraphs([wrap(&head, width), table.within(width)])
}

/// Says of each job of a partition when it starts, or why nobody knows; and how right that was.
pub fn live(live: &Live, rule: &str, width: usize) -> String {
    let header = "job,user,half of such start by,nine of ten by,limits say";
    let mut table = Table::new(header.split(','));
    let clock = |wait: f64| {
        let at = (live.now as f64 + wait) / 60.0;
        let minutes = (at.ceil() as i64).rem_euclid(24 * 60);
        let (hour, minute) = (minutes / 60, minutes % 60);
        format!("{hour:02}:{minute:02} UTC, in {}", length(wait))
    };
    let mut others = Vec::new();
    for own in &live.jobs {
        let id = own.row.key.id.to_string();
        match &own.answer {
            Ok(answer) => {
                let [_, half, most] = answer.waits.0;
                let cells = [half, most, answer.by_limits].map(|wait| match wait.is_finite() {
                    true => clock(wait),
                    false => "nobody knows".into(),
                });
                table.row([id, own.row.user.clone()].into_iter().chain(cells));
            }
            Err(why) => others.push(format!("{id} ({}): {why}", own.row.user)),
        }
    }
    let record = live.record.as_ref().map(|record| {
        let [_, half, most] = record.started.map(|share| 100.0 * share);
        format!(
            "Of {} on the log of the past under {rule}, {half:.0} % started by the time of half, {most:.0} % by that of nine of ten; the time of half was off by {} (median).",
            counted(record.forecasts as f64, "forecast"),
            length(record.error)
        )
    });
    let waits = live.jobs.iter().any(|own| own.answer.is_ok());
    let parts = [
        if waits {
            table.within(width)
        } else {
            "No job waits that will start by itself.".into()
        },
        others.iter().map(|own| wrap(own, width)).join("\n"),
        record.map_or(String::new(), |record| wrap(&record, width)),
    ];
    paragraphs(parts)
}

/// What each metric is.
const HELP: &str = "\
forecasts: Forecasts of the past that were compared with what came.
started_ratio: The share of jobs that started by the time that was said of this quantile.
error_seconds: Median error of the time by which half were to start.
error_by_limits_seconds: The same where limits are taken for run times.
";

/// Returns a record as text that Prometheus reads; without one no forecast was compared. `of` is a label: of what it is.
pub fn metrics(record: Option<&ForecastRecord>, of: (&str, &str), rule: &str) -> String {
    let mut metrics = Metrics::new("synth_forecast_", HELP, &[of, ("policy", rule)]);
    metrics.set("forecasts", record.map_or(0.0, |own| own.forecasts as f64));
    if let Some(record) = record {
        for (level, share) in LEVELS.iter().zip(record.started) {
            *metrics.value("started_ratio", &[("quantile", &level.to_string())]) = share;
        }
        metrics.set("error_seconds", record.error);
        if !record.error_by_limits.is_nan() {
            metrics.set("error_by_limits_seconds", record.error_by_limits);
        }
    }
    metrics.text()
}

/// Returns what a person should know besides.
pub fn notes(log: &Log, scored: &Scored, file: &str, width: usize) -> Vec<String> {
    let (mean, longest, waiting) = scored.took;
    let first = format!(
        "{file}: {}. A forecast took {} ms, the longest {} ms with {} waiting.",
        counted(log.arrivals().len() as f64, "job"),
        number(1e3 * mean),
        number(1e3 * longest),
        counted(waiting as f64, "job")
    );
    let mut notes = verbs::notes(first, log, width);
    notes.extend((!log.has_limits).then(|| {
        "The log tells no limits: lengths are drawn from how long jobs of the same user ran, in place of what part of their limits.".into()
    }));
    let has_users = log.jobs.iter().any(|job| job.user != 0);
    notes.extend((!has_users).then(|| {
        "The log tells no users: lengths are drawn from those of jobs with the same limit and demand, independently.".into()
    }));
    let few = scored.record.as_ref().map_or(0, |record| record.forecasts);
    notes.extend((0 < few && few < FEW).then(|| {
        format!(
            "{} are few: shares of so few say little, and levels are learned from some hundreds.",
            counted(few as f64, "forecast")
        )
    }));
    notes
}

/// With fewer forecasts shares say little.
const FEW: usize = 300;
