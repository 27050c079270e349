use itertools::Itertools as _;

use super::results::{Judged, Role, Row};
use crate::judge::{JudgedWindow, WaitSummary};
use crate::verbs::{account_of, ends};
use synth_traces::replay::{Interval, Log};
use synth_verb::report::plot::front;
use synth_verb::report::{Report, Section, counted, length, percent};
use synth_verb::table;

pub(super) fn report(log: &Log, judged: &Judged, command: String) -> Report {
    let (past, seed) = (percent(judged.cut.past), judged.seed);
    let walk = format!(
        "The order for each window is selected using the jobs before it, and it continues with the queue of the previous window. The first {past} of the time span is before the first window."
    );
    let intervals = format!(
        "These are 95 % confidence intervals, which are computed using the moving-block bootstrap with the seed {seed}. The same blocks are used for the ratios."
    );
    Report {
        title: format!("Queue orders on {}", judged.file),
        summary: vec![headline(judged), of_log(log, judged)],
        warnings: warnings(judged),
        sections: vec![
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

const SELECTION: &str = "Each candidate is replayed on the past as recorded, on random weeks of the past with replacement, and with a load of 0.85 if the load in the past is lower. The result is the candidate with the smallest mean of the logarithm of the objective relative to the current rule.";

const RULES: &str = "All ratios are relative to the current rule, with 95 % confidence intervals. The bounded slowdown is the mean of max(1, response / max(size, 10 s)). For an order \"in hindsight\", it is not known in advance whether it is better. If the sizes are known, this is a baseline that cannot be achieved by any scheduler.";

fn headline(judged: &Judged) -> String {
    let [now, selected] = [&judged.rules[0], &judged.rules[1]];
    let [own, other] = [selected, now].map(|row| row.outcome.mean_wait);
    let windows = counted(judged.windows.len() as f64, "window");
    let mut text = format!(
        "With an order that is selected for each of {windows} using the jobs before it, the mean wait is {} instead of {} under {}.",
        length(own),
        length(other),
        now.rule
    );
    if let Some(promise) = judged.promise {
        let windows = counted(promise.windows as f64, "window");
        let longest = range(promise.longest, length);
        text += &format!(
            " The guarantee for the longest wait is {longest}, and it was met in {} of {windows}.",
            promise.kept
        );
    }
    if own >= other {
        text += &format!(
            " For this log, it does not pay to select an order; keep {}.",
            now.rule
        );
    }
    text
}

fn of_log(log: &Log, judged: &Judged) -> String {
    let servers: u32 = log.servers.shapes.iter().map(|shape| shape.count).sum();
    let without = log.jobs.iter().filter(|job| job.promised.is_infinite());
    format!(
        "{}: {} on {}, load {:.3}; {} have no limit.",
        judged.file,
        counted(judged.jobs as f64, "job"),
        counted(f64::from(servers), "server"),
        judged.load,
        without.count()
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
    let replayed = judged.rules.iter().filter(|row| row.role != Role::Recorded);
    let point = |row: &Row| {
        let own = &row.outcome;
        (row.rule.clone(), own.mean_wait, own.longest_wait)
    };
    let points = replayed.map(point).collect_vec();
    let names = ["mean wait", "longest wait"];
    section.figures.extend(front(names, "s", &points));
    section.note(RULES)
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
    section.note("The value of the objective is for the past, relative to the current rule.")
}

fn range([least, most]: [f64; 2], of: impl Fn(f64) -> String) -> String {
    match least == most {
        true => of(least),
        false => format!("{} to {}", of(least), of(most)),
    }
}

fn classes(judged: &Judged) -> Section {
    table!("Winners and losers", &judged.classes, own => {
        "share of the servers" => range(own.share, percent),
        "run time" => range(own.size, length),
        "jobs [#]" => own.jobs,
        "mean wait, current [s]" => own.now,
        "selected [s]" => own.chosen,
        "ratio [1]" => ratio(own.chosen, own.now, None),
    })
}

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
