//! What is said of a log that was judged, in a terminal and on a page.

use itertools::Itertools as _;

use super::results::{Judged, RECORDED, Role, Row};
use crate::judge::{JudgedWindow, OfEstimate};
use crate::verbs::{self, by_class, paragraphs};
use synth_traces::replay::{Interval, Log};
use synth_verb::report::plot::{self, Drawn, Panel};
use synth_verb::report::{
    Page, Rows, Section, Shown, Table, TableUnit, counted, grid, number, percent, span, wrap,
};

/// Returns all tables, at most `width` characters wide.
pub fn tables(judged: &Judged, width: usize) -> String {
    let parts = [
        wrap(&headline(judged), width),
        grid("rule", &columns(judged), &rows(judged), width),
        windows(&judged.windows, width),
        classes(judged, width),
        estimates(&judged.estimates, width),
        wrap(FOOT, width),
    ];
    paragraphs(parts)
}

const FOOT: &str = "Slowdown: mean of max(1, response / max(size, 10 s)); in brackets 95 % intervals by moving blocks of time, of ratios on the same blocks. In \
hindsight: that one of these rules would have been better is known afterwards only. Sizes that are known: what no scheduler has.";

/// Says what comes of choosing.
fn headline(judged: &Judged) -> String {
    let [now, chosen] = [&judged.rules[0], &judged.rules[1]];
    let instead = |what: &str, of: fn(&Row) -> f64, interval: Option<Interval>| {
        let (own, other) = (of(chosen), of(now));
        format!(
            "{what} {} instead of {} ({} times)",
            time(own),
            time(other),
            over(own, other, interval)
        )
    };
    let slowdowns = [chosen, now].map(|row| row.outcome.mean_bounded_slowdown);
    let windows = counted(judged.windows.len() as f64, "window");
    format!(
        "Rules chosen for {windows} from what came before each, instead of {}: {}, bounded slowdown {} instead of {} ({} times), {}.{}{}",
        now.rule,
        instead("mean wait", |row| row.outcome.mean_wait, chosen.wait_ratio),
        number(slowdowns[0]),
        number(slowdowns[1]),
        over(slowdowns[0], slowdowns[1], chosen.slowdown_ratio),
        instead("longest wait", |row| row.outcome.longest_wait, None),
        promise(judged),
        if chosen.outcome.mean_wait < now.outcome.mean_wait {
            String::new()
        } else {
            format!(" On this log choosing does not pay: keep {}.", now.rule)
        }
    )
}

/// Says how far the replay of today's rule is from what the log tells, if it tells that.
fn likeness(judged: &Judged) -> Option<String> {
    let recorded = judged.rules.iter().find(|row| row.role == Role::Recorded)?;
    let now = &judged.rules[0];
    Some(format!(
        "The log's own mean wait is {}, that of its replay under {} {}: so far is the replay from what the site had ({RECORDED}), by its rules, limits and outages that the log does not tell.",
        time(recorded.outcome.mean_wait),
        now.rule,
        time(now.outcome.mean_wait)
    ))
}

/// `4.4 h`.
fn time(seconds: f64) -> String {
    span((seconds, 0.0), "s")
}

/// Says whether the promise was kept on what came after, if there was one.
fn promise(judged: &Judged) -> String {
    let Some(promise) = judged.promise else {
        return String::new();
    };
    let [least, most] = promise.longest.map(time);
    let longest = if least == most {
        most
    } else {
        format!("{least} to {most}")
    };
    let windows = counted(promise.windows as f64, "window");
    let verdict = if promise.kept == promise.windows {
        format!("kept in {windows}")
    } else {
        format!("kept in {} of {windows}", promise.kept)
    };
    format!(" What was promised, a longest wait of {longest}, was {verdict} of what came after.")
}

/// Returns one mean over another, such as `0.727 [0.650, 0.810]`; nothing where the other is none.
fn over(own: f64, other: f64, interval: Option<Interval>) -> String {
    let within = interval.map(|own| format!(" [{:.3}, {:.3}]", own.low, own.high));
    match other > 0.0 {
        true => format!("{:.3}{}", own / other, within.unwrap_or_default()),
        false => "–".into(),
    }
}

/// What stands before the name of a rule.
fn role(role: Role) -> &'static str {
    match role {
        Role::Now => "today",
        Role::Chosen => "chosen",
        Role::Hindsight => "in hindsight",
        Role::Yardstick => "sizes known",
        Role::Recorded => "the log",
    }
}

/// Returns the unit of the times in the tables.
fn unit(judged: &Judged) -> TableUnit {
    TableUnit::of("s", judged.rules.iter().map(|row| row.outcome.mean_wait))
}

/// Returns what stands in the columns of a table of rules.
fn columns(judged: &Judged) -> Vec<String> {
    let unit = unit(judged).name;
    let header = format!(
        ",mean wait [{unit}],over today's,slowdown,over today's,p99 wait [{unit}],longest wait [{unit}]"
    );
    header.split(',').map(str::to_owned).collect()
}

/// Returns the rules as rows of these columns.
fn rows(judged: &Judged) -> Rows {
    let unit = unit(judged);
    let now = judged.rules[0].outcome;
    let row = |row: &Row| {
        let own = &row.outcome;
        let slowdowns = [own, &now].map(|outcome| outcome.mean_bounded_slowdown);
        let cells = [
            role(row.role).to_owned(),
            unit.number(own.mean_wait),
            over(own.mean_wait, now.mean_wait, row.wait_ratio),
            number(slowdowns[0]),
            over(slowdowns[0], slowdowns[1], row.slowdown_ratio),
            unit.number(own.p99_wait),
            unit.number(own.longest_wait),
        ];
        (row.rule.clone(), cells.map(Shown::plain).into())
    };
    judged.rules.iter().map(row).collect()
}

/// Returns how often the rule of the windows changed, in words.
fn stability(windows: &[JudgedWindow]) -> String {
    let names: Vec<String> = windows.iter().map(|own| own.choice.point.name()).collect();
    let changes = names.iter().tuple_windows().filter(|(a, b)| a != b).count();
    let different = names.iter().unique().count();
    format!(
        "{} in {}, changed {}",
        counted(different as f64, "rule"),
        counted(names.len() as f64, "window"),
        counted(changes as f64, "time")
    )
}

fn windows(windows: &[JudgedWindow], width: usize) -> String {
    let header = "from day|jobs|chosen on jobs|rule|minimized, over today's there";
    let mut table = Table::new(header.split('|'));
    for own in windows {
        let broken = match own.choice.keeps {
            true => "",
            false => ", breaks the promise",
        };
        table.row([
            number(own.from / 86_400.0),
            (own.jobs[1] - own.jobs[0]).to_string(),
            own.past.to_string(),
            own.choice.point.name(),
            format!("{:.3}{broken}", own.choice.ratio),
        ]);
    }
    format!("{}\n\n{}", stability(windows), table.within(width))
}

/// `1.6 to 6.3 %`.
fn range([least, most]: [f64; 2], of: impl Fn(f64) -> String) -> String {
    if least == most {
        of(least)
    } else {
        format!("{} to {}", of(least), of(most))
    }
}

fn classes(judged: &Judged, width: usize) -> String {
    let unit = unit(judged);
    let header = format!(
        "jobs that hold,and run,jobs,mean wait today [{0}],chosen [{0}],ratio",
        unit.name
    );
    let mut table = Table::new(header.split(','));
    for own in &judged.classes {
        table.row([
            range(own.share, percent),
            range(own.size, time),
            own.jobs.to_string(),
            unit.number(own.now),
            unit.number(own.chosen),
            over(own.chosen, own.now, None),
        ]);
    }
    table.within(width)
}

fn estimates(estimates: &[OfEstimate], width: usize) -> String {
    let header = "estimate of sizes,jobs of,jobs,pairs in order,estimate/size: 5 %,median,95 %";
    let mut table = Table::new(header.split(','));
    for own in estimates {
        for worth in own.worth.iter().filter(|worth| worth.jobs > 0) {
            let ratio = |n: usize| worth.ratios.map_or("–".into(), |ratios| number(ratios[n]));
            table.row([
                format!("{:?}", own.estimate).to_lowercase(),
                format!("{:?} users", worth.users).to_lowercase(),
                worth.jobs.to_string(),
                worth.in_order.map_or("–".into(), percent),
                ratio(0),
                ratio(2),
                ratio(4),
            ]);
        }
    }
    table.within(width)
}

/// `log.swf: 5000 jobs on 1 server, load 0.654`.
fn of_log(log: &Log, judged: &Judged) -> String {
    let servers: u32 = log.servers.shapes.iter().map(|shape| shape.count).sum();
    let without = log.jobs.iter().filter(|job| job.promised.is_infinite());
    let limits = match without.count() {
        0 => String::new(),
        without => format!(
            "; {} came without a limit, and are estimated",
            counted(without as f64, "job")
        ),
    };
    format!(
        "{}: {} on {}, load {:.3}{limits}.",
        judged.file,
        counted(judged.jobs as f64, "job"),
        counted(f64::from(servers), "server"),
        judged.load
    )
}

/// Returns what a person should know besides.
pub fn notes(log: &Log, judged: &Judged, width: usize) -> Vec<String> {
    let mut notes = verbs::notes(of_log(log, judged), log, width);
    notes.extend((!judged.has_limits).then(|| {
        let by = if judged.has_users { "its user's last jobs" } else { "the last jobs that hold as much" };
        format!("The log tells no limits: orders and reservations go by what {by} took, for the rule of today, too.")
    }));
    notes.extend((judged.has_limits && !judged.has_users).then(|| {
        "The log tells no users: estimates beside limits go by jobs that hold as much and have the same limit.".into()
    }));
    notes.extend(likeness(judged));
    let broken = judged.windows.iter().filter(|own| !own.choice.keeps);
    let broken = broken.count();
    notes.extend((broken > 0).then(|| {
        format!(
            "In {} no rule keeps the promise on the past; the one that comes nearest is taken.",
            counted(broken as f64, "window")
        )
    }));
    notes
}

/// Renders it as a page for people.
///
/// # Errors
/// When the page cannot be rendered.
pub fn page(judged: &Judged, command: String) -> Drawn<String> {
    let names = judged.rules.iter().map(|row| row.rule.clone());
    let page = Page {
        headline: headline(judged),
        warnings: likeness(judged).into_iter().collect(),
        what: "Rules on the jobs of all windows, with 95 % intervals of ratios".into(),
        columns: columns(judged),
        rows: rows(judged),
        note: format!("The choice: {}.", stability(&judged.windows)),
        sections: vec![
            Section::new("What does a short mean wait cost those who wait longest?", "Each mark is a rule: the longest wait over the mean wait. Left and below is better.", vec![front(judged)]),
            Section::new("Who gains, and who loses?", "Mean wait of the chosen rules over that of today's, by class: quarters of what jobs hold, from left to right, and in each quarters of how long they run.", vec![picture_of_classes(judged)]),
        ],
        method: vec![
            ("Walking forward", format!("The rule of each window is chosen from what was known before it, and begins with the jobs that its predecessor left. The first {:.0} % of the span are the past of the first window.", 100.0 * judged.cut.past)),
            ("Choice", "Candidates are replayed on the past as it was, on weeks of it drawn with replacement, and at a load of 0.85 where it had less. The least mean logarithm of the objective over that of today's rule is taken.".into()),
            ("Intervals", format!("95 %, by moving blocks of time, from seed {}.", judged.seed)),
        ],
        command,
        ..Page::new(format!("Rules for {}", judged.file), names)
    };
    page.text()
}

fn front(judged: &Judged) -> Panel {
    let rules = judged.rules.iter().filter(|row| row.role != Role::Recorded);
    let times = rules.map(|row| &row.outcome).enumerate();
    let times = times.map(|(n, own)| (n, own.mean_wait, own.longest_wait));
    plot::front(["mean wait", "longest wait"], "s", &Vec::from_iter(times))
}

fn picture_of_classes(judged: &Judged) -> Panel {
    let waits = judged.classes.iter().map(|own| (own.now, own.chosen));
    by_class(
        "Mean wait of the chosen rules over that of today's, by class of jobs",
        &Vec::from_iter(waits),
    )
}
