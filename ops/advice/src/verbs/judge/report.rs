use itertools::{Itertools as _, chain};

use super::results::{Class, Judged, Role, Row};
use crate::judge::{JudgedWindow, WaitSummary};
use crate::verbs::{account_of, ends};
use synth_slurm::what_is_missing;
use synth_traces::replay::{Blocks, Interval, Log};
use synth_verb::report::plot::{Bar, Figure, bars, heat_map};
use synth_verb::report::{Report, Section, counted, file_name, length, number, percent};
use synth_verb::table;

pub(super) fn report(log: &Log, judged: &Judged, command: String) -> Report {
    let missing = what_is_missing(&judged.not_modeled);
    let (past, seed) = (percent(judged.cut.past), judged.seed);
    let walk = format!(
        "The order for each window is selected using the jobs before it, and it continues with the queue of the previous window. The first {past} of the time span is before the first window."
    );
    let intervals = format!(
        "These are 95 % confidence intervals, which are computed using the moving-block bootstrap with the seed {seed}. The same blocks are used for the ratios."
    );
    Report {
        title: format!("Queue orders on {}", file_name(&judged.file)),
        summary: chain!(
            missing,
            [headline(judged), price(judged), of_log(log, judged)]
        )
        .collect(),
        warnings: warnings(judged),
        sections: vec![
            decision(log, judged),
            rules(judged),
            windows(&judged.windows),
            classes(judged),
            estimates(judged),
            account_of(&log.account, log.censored),
        ],
        method: vec![
            ("Walk-forward", walk),
            ("Selection", SELECTION.into()),
            ("Intervals", intervals),
        ],
        command,
        ..Report::default()
    }
}

/// Compares the rules that can be used, and says which command is next.
fn decision(log: &Log, judged: &Judged) -> Section {
    let rows = judged.rules.iter();
    let rows = rows.filter(|row| !matches!(row.role, Role::Hindsight | Role::Yardstick));
    let now = judged.rules[0].outcome;
    let section = table!("Decision", rows, row => {
        "rule" => match row.role {
            Role::Now => format!("today: {}", row.rule),
            Role::Exportable if judged.site.is_some() => "best for Slurm".into(),
            Role::Exportable => format!("best for Slurm: {}", row.rule),
            _ => row.rule.clone(),
        },
        "mean wait [h]" => row.outcome.mean_wait / 3600.0,
        "ratio [1]" => ratio(row.outcome.mean_wait, now.mean_wait, row.wait_ratio),
        "longest wait [h]" => row.outcome.longest_wait / 3600.0,
    });
    section.note(next_step(log, judged))
}

fn next_step(log: &Log, judged: &Judged) -> String {
    let now = &judged.rules[0];
    let is_sure = |row: &&Row| row.wait_ratio.is_some_and(|own| own.high < 1.0);
    let of_role = |role| judged.rules.iter().find(|row: &&Row| row.role == role);
    let [selected, exportable] = [Role::Chosen, Role::Exportable].map(of_role);
    if judged.agreement.as_ref().is_some_and(|own| !own.is_near()) {
        return "Decision: none, because the replay differs too much from the log (see above)."
            .into();
    }
    if now.wait.is_none() && judged.site.is_none() {
        return format!(
            "Decision: keep {}, because the windows are too short for a confidence interval. It needs at least {:.0} blocks of {}; use a longer log or a smaller `--past`.",
            now.rule,
            Blocks::FEWEST,
            length(Blocks::length(now.outcome.mean_wait))
        );
    }
    let is_advised = |row: &&Row| match judged.site {
        Some(_) => judged.is_advised,
        None => is_sure(row),
    };
    if let Some(row) = exportable.filter(is_advised) {
        let command = match &judged.site {
            Some(typed) => format!("synth advise slurm {typed} -o change"),
            None => format!(
                "synth export slurm-priority {} --partition {} -o order",
                row.rule,
                partitions(log)
            ),
        };
        return format!(
            "Decision: use {}, which makes the waits shorter with a probability of at least 95 %. The next command for Slurm is `{command}`.",
            row.rule
        );
    }
    match selected.filter(is_sure) {
        Some(_) => format!(
            "Decision: selecting the order each window certainly helps, but Slurm cannot do this by itself. `--policy FILE` writes the order for a scheduler that uses `synth drive`. With Slurm alone, keep {}.",
            now.rule
        ),
        None => format!("Decision: keep {}, because no gain is certain.", now.rule),
    }
}

fn partitions(log: &Log) -> String {
    let names = log.account.classes.iter().map(|own| &*own.partition);
    let names = names
        .flat_map(|own| own.split(','))
        .filter(|own| !own.is_empty());
    let names = names.sorted().dedup().join(",");
    if names.is_empty() {
        "NAME".into()
    } else {
        names
    }
}

const SELECTION: &str = "Each candidate is replayed on the past as recorded, on random weeks of the past with replacement, and with a load of 0.85 if the load in the past is lower. The result is the candidate with the smallest mean of the logarithm of the objective relative to the current rule.";

const RULES: &str = "All ratios are relative to the current rule, with 95 % confidence intervals if there are enough windows. The bounded slowdown is the mean of max(1, response / max(size, 10 s)). For an order \"in hindsight\", it is not known in advance whether it is better. If the sizes are known, this is a baseline that cannot be achieved by any scheduler.";

fn headline(judged: &Judged) -> String {
    let [now, selected] = [&judged.rules[0], &judged.rules[1]];
    let [own, other] = [selected, now].map(|row| row.outcome.mean_wait);
    let windows = counted(judged.windows.len() as f64, "window");
    let [shown, before] = [own, other].map(length);
    let waits = format!("{shown} instead of {before} under {}", now.rule);
    if own >= other {
        return format!(
            "For this log, it does not pay to select an order: over {windows}, the mean wait is {waits}. Keep {}.",
            now.rule
        );
    }
    let interval = ends(selected.wait_ratio).map(|[low, high]| {
        let [low, high] =
            [1.0 - high, 1.0 - low].map(|own| format!("{} %", (100.0 * own).round() + 0.0));
        format!(" (95 % interval: {low} to {high})")
    });
    format!(
        "Selecting the order of the queue from past jobs makes the mean wait {:.0} % shorter{}: {waits}, over {windows}.",
        100.0 * (1.0 - own / other),
        interval.unwrap_or_default()
    )
}

/// Describes the guarantee, and the class of jobs whose wait grows most.
fn price(judged: &Judged) -> String {
    let mut text = judged.promise.map_or(String::new(), |promise| {
        format!(
            "The guarantee for the longest wait is {}, and it was met in {} of {}. ",
            range(promise.longest, length),
            promise.kept,
            counted(promise.windows as f64, "window")
        )
    });
    let [now, selected] = [0, 1].map(|n| length(judged.rules[n].outcome.longest_wait));
    text += &format!("The longest wait is {selected} instead of {now}. ");
    let losers = judged.classes.iter();
    let losers = losers.filter(|own| own.chosen > own.now + NEGLIGIBLE);
    let growth = |own: &&Class| own.chosen - own.now;
    text += &match losers.max_by(|a, b| growth(a).total_cmp(&growth(b))) {
        None => "No class of jobs waits more than a minute longer.".into(),
        Some(own) => format!(
            "The largest increase is for jobs that use {} of the servers for {}: {} instead of {}.",
            range(own.share, percent),
            range(own.size, length),
            length(own.chosen),
            length(own.now)
        ),
    };
    text
}

fn of_log(log: &Log, judged: &Judged) -> String {
    let servers: u32 = log.servers.shapes.iter().map(|shape| shape.count).sum();
    let without = log.jobs.iter().filter(|job| job.promised.is_infinite());
    let without = match without.count() {
        0 => "all have a limit".into(),
        count => format!("{count} have no limit"),
    };
    format!(
        "{}: {} on {}, load {:.3}; {without}.",
        judged.file,
        counted(judged.jobs as f64, "job"),
        counted(f64::from(servers), "server"),
        judged.load
    )
}

fn warnings(judged: &Judged) -> Vec<String> {
    let mut warnings = Vec::new();
    let broken = judged.windows.iter().filter(|own| !own.choice.keeps);
    let broken = broken.count();
    if broken > 0 {
        let windows = counted(broken as f64, "window");
        warnings.push(format!(
            "In {windows}, there is no order that meets the guarantee in the past, so the order that is closest to it is used."
        ));
    }
    if let Some(near) = judged.agreement.as_ref().filter(|own| !own.is_near()) {
        warnings.push(near.describe(judged.site.is_some()));
    }
    let alike = match (judged.has_limits, judged.has_users) {
        (false, true) => "the last jobs of the same user, also for the current rule",
        (false, false) => "the last jobs with the same demand, also for the current rule",
        (true, false) => "jobs with the same demand and limit",
        (true, true) => return warnings,
    };
    let without = if judged.has_limits { "users" } else { "limits" };
    warnings.push(format!(
        "There are no {without} in the log, so the size of a job is estimated using {alike}."
    ));
    warnings
}

/// Returns the ratio of two means with its interval, or `None` if the second one is 0.
fn ratio(own: f64, other: f64, interval: Option<Interval>) -> Option<(f64, Option<[f64; 2]>)> {
    (other > 0.0).then(|| (own / other, ends(interval)))
}

fn rules(judged: &Judged) -> Section {
    let now = judged.rules[0].outcome;
    let slowdown = |own: &WaitSummary| own.mean_bounded_slowdown;
    let mut section = table!("Rules on the jobs of all windows", &judged.rules, row => {
        "rule" => &row.rule,
        "role" => match row.role {
            Role::Now => "current",
            Role::Chosen => "selected",
            Role::Exportable => "for Slurm",
            Role::Hindsight => "in hindsight",
            Role::Yardstick => "sizes known",
            Role::Recorded => "recorded",
        },
        "mean wait [s]" => row.outcome.mean_wait,
        "ratio [1]" => ratio(row.outcome.mean_wait, now.mean_wait, row.wait_ratio),
        "bounded slowdown [1]" => slowdown(&row.outcome),
        "ratio [1]" => ratio(slowdown(&row.outcome), slowdown(&now), row.slowdown_ratio),
        "p99 wait [s]" => row.outcome.p99_wait,
        "longest wait [s]" => row.outcome.longest_wait,
    });
    section.figures.extend(pictures(judged));
    section.note(RULES)
}

/// Draws the current rule, the selected orders and the recorded schedule with the best others.
fn pictures(judged: &Judged) -> Vec<Figure> {
    let (shown, others) = judged.rules.split_at(2);
    let is_recorded = |row: &&Row| row.role == Role::Recorded;
    let others = others.iter().sorted_by_key(|row| !is_recorded(row));
    let rows = shown.iter().chain(others).take(6).collect_vec();
    let picture = |title: &str, of: &dyn Fn(&WaitSummary) -> f64, ratio: fn(&Row) -> _| {
        let now = of(&judged.rules[0].outcome);
        let rows = rows.iter().map(|row| Bar {
            label: row.rule.clone(),
            value: of(&row.outcome),
            ends: ends(ratio(row)).map(|own| own.map(|own| own * now)),
            is_baseline: matches!(row.role, Role::Now | Role::Recorded),
        });
        let mut figure = bars(title, &rows.collect_vec())?;
        figure.note = "Shorter is better. The current rule and the recorded schedule are gray. A line is the 95 % interval of the ratio to the current rule.".into();
        Some(figure)
    };
    let figures = [
        picture("Mean wait [h]", &|own| own.mean_wait / 3600.0, |row| {
            row.wait_ratio
        }),
        picture(
            "Bounded slowdown",
            &|own| own.mean_bounded_slowdown,
            |row| row.slowdown_ratio,
        ),
        picture(
            "Longest wait [d]",
            &|own| own.longest_wait / 86_400.0,
            |_| None,
        ),
    ];
    figures.into_iter().flatten().collect()
}

fn windows(windows: &[JudgedWindow]) -> Section {
    let section = table!("Selected orders", windows, own => {
        "rule" => own.choice.point.name(),
        "from day [1]" => own.from / 86_400.0,
        "jobs [#]" => own.jobs[1] - own.jobs[0],
        "selected on jobs [#]" => own.past,
        "objective, relative [1]" => own.choice.ratio,
        "guarantee" => (!own.choice.keeps).then_some("not kept on the past"),
    });
    section.note("The value of the objective is for the past, relative to the current rule. With “first after 5 h”, a job is moved to the front of the queue after it has waited for 5 hours.")
}

fn range([least, most]: [f64; 2], of: impl Fn(f64) -> String) -> String {
    match least == most {
        true => of(least),
        false => format!("{} to {}", of(least), of(most)),
    }
}

fn classes(judged: &Judged) -> Section {
    let mut section = table!("Winners and losers", &judged.classes, own => {
        "share of the servers" => range(own.share, percent),
        "run time" => range(own.size, length),
        "jobs [#]" => own.jobs,
        "mean wait, current [s]" => own.now,
        "selected [s]" => own.chosen,
        "ratio [1]" => ratio(own.chosen, own.now, None),
    });
    section.has_bars = true;
    let quarters = judged.classes.iter().chunk_by(|own| own.quarter);
    let rows = quarters.into_iter().map(|(_, classes)| {
        let classes = classes.collect_vec();
        let shares = classes.iter().flat_map(|own| own.share).minmax();
        let cells = classes.iter();
        let cells = cells.map(|own| {
            let color = (own.chosen + NEGLIGIBLE) / (own.now + NEGLIGIBLE);
            let ratio = ratio(own.chosen, own.now, None);
            let shown = ratio.map_or("–".into(), |(ratio, _)| number(ratio));
            (shown, color, range(own.size, length))
        });
        let share = <[f64; 2]>::from(shares.into_option().unwrap_or_default());
        (range(share, percent), cells.collect_vec())
    });
    let heads = ["shortest jobs", "", "", "longest jobs"];
    let map = heat_map(
        "Mean wait relative to the current rule",
        &heads,
        &rows.collect_vec(),
    );
    section.figures.extend(map.map(|mut map| {
        map.note = HEAT.into();
        map
    }));
    section
}

/// A difference between two waits [s] that has a pale color.
const NEGLIGIBLE: f64 = 60.0;

const HEAT: &str = "Each row contains the jobs with one range of shares of the servers, and each column a quarter of them by run time. Green classes wait shorter than under the current rule, and orange classes wait longer; if the waits are below a minute, the color is pale. A good result has no dark orange cell.";

fn estimates(judged: &Judged) -> Section {
    let estimates = judged.estimates.iter();
    let each = estimates.flat_map(|own| own.worth.iter().map(|worth| (own.estimate, worth)));
    let each = each.filter(|(_, worth)| worth.jobs > 0);
    table!("Estimates of sizes", each, (estimate, own) => {
        "estimate" => format!("{estimate:?}").to_lowercase(),
        "users" => format!("{:?}", own.users).to_lowercase(),
        "jobs [#]" => own.jobs,
        "pairs in order [%]" => own.in_order,
        "estimate/size: 5 % [1]" => own.ratios.map(|own| own[0]),
        "median [1]" => own.ratios.map(|own| own[2]),
        "95 % [1]" => own.ratios.map(|own| own[4]),
    })
}
