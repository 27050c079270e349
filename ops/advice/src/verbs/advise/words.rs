//! Advice in words: for a terminal, and as a page for those who decide.

use itertools::{Itertools as _, chain};

use crate::slurm::{Advice, Gain, GroupWaits, JobGroup};
use crate::verbs::{by_class, lines, paragraphs};
use synth_traces::replay::Log;
use synth_verb::report::plot::{self, Drawn, Panel};
use synth_verb::report::{Page, Rows, Section, Shown, counted, grid, length, wrap};

/// Returns the advice, the table of what was tried, and who gains and loses, at most `width` characters wide.
pub fn text(advice: &Advice, width: usize) -> String {
    let mut parts = vec![wrap(&headline(advice), width)];
    if let Some(gain) = advice.sure() {
        for (n, change) in advice.chosen.iter().enumerate() {
            parts.push(wrap(&format!("{}. {}", n + 1, change.what), width));
            // Commands and lines are copied: they are not wrapped.
            parts.extend(change.besides.iter().map(|line| format!("  {line}")));
        }
        for (head, lines) in copied(advice) {
            let lines = lines.iter().map(|line| format!("  {line}")).join("\n");
            parts.push(format!("{}\n{lines}", wrap(head, width)));
        }
        parts.push(wrap(&who(gain), width));
    }
    if advice.is_near() {
        let columns = COLUMNS.map(str::to_owned);
        parts.push(grid("tried alone", &columns, &rows(advice), width));
        if advice.sure().is_some() {
            let columns = PARTS.map(str::to_owned);
            parts.push(grid("mean wait of", &columns, &part_rows(advice), width));
        }
        parts.push(wrap(FOOT, width));
    }
    paragraphs(parts)
}

/// Returns the lines of slurm.conf that make the advised changes, and those that take them back, each with its heading.
fn copied(advice: &Advice) -> Vec<(&'static str, &[String])> {
    let mut all = vec![
        (
            "In slurm.conf, in place of the lines of the same names (Slurm follows only the last of two):",
            &advice.lines[..],
        ),
        ("The way back, in place of the lines above:", &advice.back),
    ];
    all.retain(|(_, lines)| advice.sure().is_some() && !lines.is_empty());
    all
}

const FOOT: &str = "Waits of the second half of the log; slowdown: mean of max(1, (wait + run time) / max(run time, 10 s)); in brackets 95 % intervals of the ratio of mean waits, by blocks of time in \
pairs and over three seconds at which the clock may stand: where that has 1 in it no difference is seen. Changes were chosen on the first half, and only these can be advised: with so many rows, some do well in the second half by chance. A row is one change alone. So many points a week: what a week of waiting adds to a job's priority (PriorityWeightAge, PriorityMaxAge). Before other factors: with the weights of fair share and the like so small that the order decides.";

/// Describes the assumptions about the site and the advice in a few sentences, and how reliable it is.
fn headline(advice: &Advice) -> String {
    let assumed = advice.assumed.iter().map(|own| format!("{own}. "));
    assumed.collect::<String>() + &verdict(advice)
}

fn verdict(advice: &Advice) -> String {
    let near = match &advice.likeness {
        None => "The log does not tell when jobs started (sacct: Start), so that nothing here can be checked against what happened.".into(),
        Some(own) => format!(
            "In the second half of the log jobs waited {} on average; Slurm as it is set up, replayed, makes it {}{}.",
            length(own.recorded),
            length(own.replayed),
            if own.recorded > 0.0 {
                format!(" ({:.2} times)", own.replayed / own.recorded)
            } else {
                String::new()
            }
        ),
    };
    if !advice.is_near() {
        let is_short = advice
            .likeness
            .is_some_and(|own| own.replayed < own.recorded);
        let why = if is_short {
            "what makes jobs wait here is not in the replay (dependencies, reservations, constraints, nodes that were down, limits that are not in these files)"
        } else {
            "the site has more nodes or other limits than these files say, or not all of its jobs started as this log has them"
        };
        return format!("{near} That is too far apart for advice: {why}.");
    }
    let promise = match advice.longest {
        Some(times) => format!(
            " and lets nobody wait longer than {times} times today's longest wait in its first half"
        ),
        None => String::new(),
    };
    match &advice.gain {
        None => format!(
            "{near} No change of settings that was tried helps{promise}: leave them as they are."
        ),
        Some(gain) if advice.likeness.is_none() => format!(
            "{near} Nothing is advised: in the replay alone {} makes the mean wait {} times; export Start, too, for advice.",
            gain.what,
            over(gain)
        ),
        Some(gain) if !gain.is_sure() => format!(
            "{near} Nothing is advised: what helped most in the first half of the log ({}) is not seen to help in the second ({} times).",
            gain.what,
            over(gain)
        ),
        Some(gain) => format!(
            "{near} With {} the mean wait is {} instead of these {} ({} times), the mean slowdown {:.1} instead of {:.1}, the longest wait {} instead of {}:",
            counted(advice.chosen.len() as f64, "change"),
            length(gain.waits.mean),
            length(advice.today.mean),
            over(gain),
            gain.waits.slowdown,
            advice.today.slowdown,
            length(gain.waits.longest),
            length(advice.today.longest)
        ),
    }
}

/// From this part on a wait is longer.
const LONGER: f64 = 1.05;

/// Says who pays and who gains.
fn who(gain: &Gain) -> String {
    let says = |part: &JobGroup| {
        let [today, changed] = [part.today, part.changed].map(length);
        format!("{} ({today} -> {changed})", part.name)
    };
    let loses = |part: &&JobGroup| part.changed > LONGER * part.today;
    let classes = gain.classes.iter().filter(loses).map(says).join("; ");
    let users = gain.users.iter().filter(loses).map(says).join("; ");
    let paid = [("classes", classes), ("users", users)];
    let paid = paid.iter().filter(|(_, who)| !who.is_empty());
    let paid = paid.map(|(what, who)| format!("{what}: {who}")).join(". ");
    if paid.is_empty() {
        "Nobody waits longer on average, of the classes below and of the users with the largest changes.".into()
    } else {
        format!("Who waits longer, by {paid}.")
    }
}

/// `0.63 [0.52, 0.76]`.
fn over(gain: &Gain) -> String {
    let interval = gain.interval;
    let interval = interval.map(|own| format!(" [{:.2}, {:.2}]", own.low, own.high));
    format!("{:.2}{}", gain.ratio, interval.unwrap_or_default())
}

/// The heads of the columns of [`rows`] but the first.
const COLUMNS: [&str; 4] = ["mean wait", "over today's", "slowdown", "longest"];

/// The name of what is advised, all changes together.
const ADVISED: &str = "as advised";

/// A row for today's rule, what is advised and each change alone.
fn rows(advice: &Advice) -> Rows {
    let row = |name: &str, waits: &GroupWaits, over: String| {
        let slowdown = format!("{:.1}", waits.slowdown);
        let cells = [length(waits.mean), over, slowdown, length(waits.longest)];
        (name.to_owned(), cells.map(Shown::plain).into())
    };
    let mut rows = vec![row("today", &advice.today, "1".into())];
    rows.extend(gains(advice).map(|gain| row(&gain.what, &gain.waits, over(gain))));
    if advice.sure().is_some() {
        rows[1].0 = ADVISED.into();
    }
    rows
}

/// Returns what comes of the advised changes together, if there are such, and of each change alone.
fn gains(advice: &Advice) -> impl Iterator<Item = &Gain> {
    chain!(advice.sure(), &advice.tried, &advice.purchases)
}

/// The heads of the columns of [`part_rows`] but the first.
const PARTS: [&str; 4] = ["jobs", "the log", "today", "then"];

/// A row for each class and each named user.
fn part_rows(advice: &Advice) -> Rows {
    let Some(gain) = advice.sure() else {
        return Rows::default();
    };
    let row = |part: &JobGroup| {
        let recorded = part.recorded.map_or(String::new(), length);
        let cells = [
            part.jobs.to_string(),
            recorded,
            length(part.today),
            length(part.changed),
        ];
        (part.name.clone(), cells.map(Shown::plain).into())
    };
    gain.classes.iter().chain(&gain.users).map(row).collect()
}

/// What should be known beside: of the lines of the log, and of the site.
pub fn notes(advice: &Advice, log: &Log, width: usize) -> Vec<String> {
    let mut notes = vec![lines(&log.account, log.censored, width)];
    notes.extend(advice.remarks.iter().map(|remark| wrap(remark, width)));
    notes.retain(|note| !note.is_empty());
    notes
}

/// Renders the page.
///
/// # Errors
/// When the page cannot be rendered.
pub fn page(advice: &Advice, command: String) -> Drawn<String> {
    let changes = advice.chosen.iter().filter(|_| advice.sure().is_some());
    let answers = changes.map(|own| (own.what.clone(), own.besides.clone().unwrap_or_default()));
    let lines = copied(advice).into_iter();
    let lines = lines.map(|(head, lines)| (head, lines.join("\n")));
    let names = rows(advice).into_iter().map(|(name, _)| name);
    let mut sections = Vec::new();
    if advice.is_near() {
        sections.push(Section::new(
            "What does a short mean wait cost those who wait longest?",
            "Each mark is a setting: the longest wait over the mean wait. Left and below is better.",
            [front(advice)],
        ));
    }
    if let Some(gain) = advice.sure() {
        let question = "Who gains, and who waits longer?";
        sections.push(Section::new(question, people(advice), [classes(gain)]));
    }
    Page {
        headline: headline(advice),
        warnings: advice.remarks.clone(),
        answers: answers.collect(),
        lines: lines.collect(),
        what: "Today's rule and each change alone, on the second half of the log".into(),
        columns: COLUMNS.map(str::to_owned).into(),
        rows: if advice.is_near() { rows(advice) } else { Vec::new() },
        sections,
        method: vec![
            ("The way back", "Put today's lines, which are above, in place of the new ones. `scontrol reconfigure` is enough but for PriorityType, which needs a restart of slurmctld and may stay. The folder that `synth export slurm-priority` writes has the steps for its script and for jobs that wait.".into()),
            ("Replay", "The jobs of the log come again as they came, on the nodes of the site, and are scheduled as Slurm does: the main scheduler and backfilling with its reservations, priorities, fair share, limits of quality of service and accounts. Preemption, reservations by hand, licenses, constraints and dependencies are left out.".into()),
            ("Choice", "Changes are chosen on the first half of the log by the mean wait, one after the other as long as one more lowers it by 2 %. What is shown is the second half.".into()),
            ("Intervals", format!("95 %, by moving blocks of time in pairs, from seed {}; each setting is replayed with the clock at three different seconds, and a draw takes one of them.", advice.seed)),
        ],
        command,
        ..Page::new("What this site should change in slurm.conf".into(), names)
    }
    .text()
}

/// Classes and users with their waits, in one paragraph: those who lose most first.
fn people(advice: &Advice) -> String {
    let said = part_rows(advice).into_iter().map(|(name, cells)| {
        let cells = cells.iter().zip(PARTS);
        let cells = cells.map(|(cell, head)| format!("{head} {}", cell.text));
        format!("{name}: {}.", cells.format(", "))
    });
    format!(
        "Mean waits, those who lose most first; the marks are the classes in this order, over today's wait. {}",
        said.format(" ")
    )
}

/// The longest wait over the mean wait, in the order of the rows.
fn front(advice: &Advice) -> Panel {
    let gains = gains(advice).map(|gain| &gain.waits);
    let waits = std::iter::once(&advice.today).chain(gains);
    let times = waits.enumerate().map(|(n, own)| (n, own.mean, own.longest));
    plot::front(["mean wait", "longest wait"], "s", &Vec::from_iter(times))
}

/// The mean wait of each class over today's.
fn classes(gain: &Gain) -> Panel {
    let waits = gain.classes.iter().map(|own| (own.today, own.changed));
    by_class(
        "Mean wait with what is advised over that of today, by class of jobs",
        &Vec::from_iter(waits),
    )
}
