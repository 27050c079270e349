use super::live::Live;
use crate::forecast::{ForecastRecord, LEVELS, Map, Scored};
use crate::verbs::account_of;
use synth_operator::Metrics;
use synth_traces::replay::Log;
use synth_verb::report::{Cell, Column, Report, Section, counted, length, percent, span};
use synth_verb::{cells, table};

pub(super) fn scored(log: &Log, scored: &Scored, file: &str, rule: &str) -> Report {
    let [waited, jobs] = scored.waited;
    let jobs = counted(jobs as f64, "job");
    let (mean, longest, waiting) = scored.took;
    let took = format!(
        "{file}: a forecast took {} on average, and at most {} with {} waiting.",
        span((mean, 0.0), "s"),
        span((longest, 0.0), "s"),
        counted(waiting as f64, "job")
    );
    let compared = match scored.misfits {
        Some(_) => format!(
            "Of {jobs}, {waited} waited for more than a minute. Their starts in the log are compared with forecasts under {rule}."
        ),
        None => format!(
            "Of {jobs} under {rule}, {waited} waited. The forecasts are compared with a replay under {rule}, because the log does not contain all start times."
        ),
    };
    let mut report = Report::from(compared);
    report.summary.push(took);
    report.warnings = warnings(log, scored);
    match &scored.record {
        None => report.summary[0] += " There are no forecasts to evaluate.",
        Some(record) => report.sections.extend([errors(record), shares(record)]),
    }
    report.sections.extend(scored.map.as_ref().map(map));
    report.sections.push(account_of(&log.account, log.censored));
    report
}

/// If there are fewer forecasts than this, the fractions are not reliable.
const FEW: usize = 300;

fn warnings(log: &Log, scored: &Scored) -> Vec<String> {
    let mut warnings = Vec::new();
    if !log.has_limits {
        let none = "There are no limits in the log, so the run time of a job is based on other jobs of the same user.";
        warnings.push(none.to_owned());
    }
    if log.jobs.iter().all(|job| job.user == 0) {
        warnings.push("There are no users in the log, so the run time of a job is based on all jobs with the same limit and demand.".into());
    }
    let misfits = scored.misfits.unwrap_or(0);
    if misfits > 0 {
        let misfits = counted(misfits as f64, "time");
        warnings.push(format!(
            "{misfits}, a job was started although not all running jobs fit on the servers. Those that do not fit are ignored until other jobs end. The servers may be incomplete, or jobs may share them in other ways."
        ));
    }
    let forecasts = scored.record.as_ref().map_or(FEW, |own| own.forecasts);
    if forecasts < FEW {
        let few = counted(forecasts as f64, "forecast");
        warnings.push(format!(
            "There are only {few}, so the fractions are not certain. Some hundreds are needed for the calibration."
        ));
    }
    warnings
}

fn errors(record: &ForecastRecord) -> Section {
    let forecasts = counted(record.forecasts as f64, "forecast");
    let limits = (record.error_by_limits, f64::NAN, record.before_limits);
    let rows = [
        (&*forecasts, (record.error, record.width, f64::NAN)),
        ("limits used as run times", limits),
    ];
    let known = |own: f64| Some(own).filter(|own| !own.is_nan());
    let section = table!("", rows, (what, (error, width, before)) => {
        "starts are predicted by" => what,
        "median error" => known(error).map(length),
        "from 10 % to 90 %" => known(width).map(length),
        "start earlier [%]" => known(before),
    });
    let wait = length(record.wait);
    section.note(format!(
        "The median wait is {wait}. The error is for the median of the forecast. The time from its 10 % to its 90 % quantile is the median over the forecasts."
    ))
}

const NAMES: [&str; 3] = ["one of ten", "half", "nine of ten"];

fn shares(record: &ForecastRecord) -> Section {
    table!("", NAMES.into_iter().enumerate(), (n, name) => {
        "start by the time for" => name,
        "should [%]" => LEVELS[n],
        "did [%]" => record.started[n],
        "worst quarter [%]" => record.worst_quarter[n],
        "uncalibrated [%]" => record.uncalibrated[n],
    })
}

fn map(map: &Map) -> Section {
    let moments = counted(map.moments as f64, "moment");
    let title = format!("Waits by demand and limit, at {moments} of the second half of the log");
    let mut section = Section::new(title, ["demand"]);
    for limit in &map.limits {
        let limit = match limit.is_finite() {
            true => format!("limit {}", length(*limit)),
            false => "no limit".into(),
        };
        let heads = [format!("{limit}: half"), "90 %".into()];
        section.columns.extend(heads.map(Column::from));
    }
    for (width, row) in map.widths.iter().zip(&map.cells) {
        let waits = row.iter().flat_map(|cell| cell.waits.0[1..].iter());
        let waits = waits.map(|own| Cell::from(length(*own)));
        section.rows.push(cells![width; waits]);
    }
    section
}

pub(super) fn live(live: &Live, rule: &str) -> Report {
    let clock = |wait: f64| {
        let minutes = ((live.now as f64 + wait) / 60.0).ceil() as i64;
        let minutes = minutes.rem_euclid(24 * 60);
        let (hour, minute) = (minutes / 60, minutes % 60);
        match wait.is_finite() {
            true => format!("{hour:02}:{minute:02} UTC, in {}", length(wait)),
            false => "unknown".into(),
        }
    };
    let jobs = live.jobs.iter().map(|(row, waits)| (row, waits.as_ref()));
    let section = table!("", jobs, (row, waits) => {
        "job" => row.key.id.to_string(),
        "user" => &row.user,
        "50 % start by" => waits.ok().map(|(own, _)| clock(own.0[1])),
        "90 % start by" => waits.ok().map(|(own, _)| clock(own.0[2])),
        "if all run to their limits" => waits.ok().map(|(_, by_limits)| clock(*by_limits)),
        "no forecast" => waits.err(),
    });
    let mut report = Report::default();
    if live.jobs.iter().all(|own| own.1.is_err()) {
        let none = "There is no waiting job for which a forecast can be made.";
        report.summary.push(none.into());
    }
    report.sections.push(section);
    if let Some(record) = &live.record {
        let [_, half, most] = record.started.map(percent);
        let forecasts = counted(record.forecasts as f64, "forecast");
        let error = length(record.error);
        report.summary.push(format!(
            "Of {forecasts} for the log of past jobs under {rule}, {half} started by the 50 % time and {most} by the 90 % time. The median error of the 50 % time was {error}, and the median wait was {}.",
            length(record.wait)
        ));
    }
    report
}

const HELP: &str = "\
forecasts: Number of past forecasts that were compared with the outcome.
started_ratio: Share of jobs that started by the forecast of this quantile.
error_seconds: Median error of the median forecast.
error_by_limits_seconds: Median error if limits are used as run times.
";

pub(super) fn metrics(record: Option<&ForecastRecord>, of: (&str, &str), rule: &str) -> String {
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
