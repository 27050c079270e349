//! Advice in words.

use itertools::Itertools as _;

use crate::multiresource::replay::Log;
use crate::multiresource::report::lines;
use crate::report::{Rows, Shown, counted, grid, wrap};
use synth_slurm::advice::{Advice, Gain, Part};

/// Returns the advice, the table of what was tried, and who gains and loses, at most `width` characters wide.
pub fn text(advice: &Advice, width: usize) -> String {
    let mut parts = vec![headline(advice)];
    if is_given(advice) {
        parts.extend(advice.advised.iter().enumerate().map(|(n, change)| {
            let mut text = format!("{}. {}: {}", n + 1, change.what, change.lines.join(", "));
            if let Some(besides) = &change.besides {
                text += &format!("; `{besides}`");
            }
            text
        }));
        parts.extend(advice.gain.as_ref().map(who));
    }
    let paragraphs = parts.iter().map(|part| wrap(part, width));
    let tables = [
        grid(
            "tried alone",
            &COLUMNS.map(str::to_owned),
            &rows(advice),
            width,
        ),
        of_parts(advice, width),
        wrap(FOOT, width),
    ];
    paragraphs
        .chain(tables)
        .filter(|part| !part.is_empty())
        .join("\n\n")
}

const FOOT: &str = "waits of the second half of the log; in brackets 95 % intervals of the ratio of mean waits, by blocks of time in pairs: where that has 1 in it no difference is seen. Changes were chosen on the first half.";

/// Whether anything is advised: the replay is near the log, and what helped in its first half is seen to help in the second.
pub fn is_given(advice: &Advice) -> bool {
    is_near(advice) && advice.gain.as_ref().is_some_and(Gain::is_sure)
}

fn is_near(advice: &Advice) -> bool {
    advice.likeness.is_none_or(|own| own.is_near())
}

/// Says what to do in a few sentences, and how far to believe it.
pub fn headline(advice: &Advice) -> String {
    let near = match &advice.likeness {
        None => "The log does not tell when jobs started, so that it is not known how near this replay is to the site.".into(),
        Some(own) => format!(
            "Slurm as it is set up, replayed: jobs wait {} on average, and the log tells {}{}.",
            time(own.replayed),
            time(own.recorded),
            if own.recorded > 0.0 {
                format!(" ({:.2} times)", own.replayed / own.recorded)
            } else {
                String::new()
            }
        ),
    };
    if !is_near(advice) {
        return format!(
            "{near} That is too far apart for advice: what makes jobs wait here is not in the replay (dependencies, reservations, constraints, nodes that were down, limits that are not in these files)."
        );
    }
    match &advice.gain {
        None => format!("{near} Nothing that was tried helps: leave it as it is."),
        Some(gain) if !gain.is_sure() => format!(
            "{near} Nothing is advised: what helped most in the first half of the log ({}) is not seen to help in the second ({}).",
            gain.what,
            over(gain)
        ),
        Some(gain) => format!(
            "{near} With {} the mean wait is {} instead of {} ({}), the mean slowdown {:.1} instead of {:.1}, the longest wait {} instead of {}:",
            counted(advice.advised.len() as f64, "change"),
            time(gain.waits.mean),
            time(advice.today.mean),
            over(gain),
            gain.waits.slowdown,
            advice.today.slowdown,
            time(gain.waits.longest),
            time(advice.today.longest)
        ),
    }
}

/// Says who pays and who gains.
fn who(gain: &Gain) -> String {
    let says = |part: &Part| {
        format!(
            "{} ({} -> {})",
            part.name,
            time(part.today),
            time(part.changed)
        )
    };
    let loses = |part: &&Part| part.changed > part.today;
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

/// `0.63 [0.52, 0.76] times`.
fn over(gain: &Gain) -> String {
    let interval = gain.interval.map_or(String::new(), |own| {
        format!(" [{:.2}, {:.2}]", own.low, own.high)
    });
    format!("{:.2}{interval} times", gain.ratio)
}

/// The heads of the columns of [`rows`] but the first.
pub const COLUMNS: [&str; 4] = ["mean wait", "over today's", "slowdown", "longest"];

/// The name of what is advised, all changes together.
const ADVISED: &str = "as advised";

/// A row for today's rule, what is advised and each change alone.
pub fn rows(advice: &Advice) -> Rows {
    let today = (
        "today".to_owned(),
        [
            time(advice.today.mean),
            "1".into(),
            format!("{:.1}", advice.today.slowdown),
            time(advice.today.longest),
        ],
    );
    let row = |gain: &Gain| {
        (
            gain.what.clone(),
            [
                time(gain.waits.mean),
                over(gain).replace(" times", ""),
                format!("{:.1}", gain.waits.slowdown),
                time(gain.waits.longest),
            ],
        )
    };
    let gain = advice.gain.as_ref().filter(|_| is_given(advice));
    let advised = gain.map(|gain| (ADVISED.to_owned(), row(gain).1));
    let gains = advice.tried.iter().chain(&advice.purchases).map(row);
    std::iter::once(today)
        .chain(advised)
        .chain(gains)
        .map(|(name, cells)| (name, cells.map(Shown::plain).into()))
        .collect()
}

/// The heads of the columns of [`part_rows`] but the first.
pub const PARTS: [&str; 3] = ["jobs", "today", "then"];

/// A row for each class and each named user.
pub fn part_rows(advice: &Advice) -> Rows {
    let Some(gain) = advice.gain.as_ref().filter(|_| is_given(advice)) else {
        return Rows::default();
    };
    let row = |part: &Part| {
        let cells = [part.jobs.to_string(), time(part.today), time(part.changed)];
        (part.name.clone(), cells.map(Shown::plain).into())
    };
    gain.classes.iter().chain(&gain.users).map(row).collect()
}

fn of_parts(advice: &Advice, width: usize) -> String {
    let rows = part_rows(advice);
    if rows.is_empty() {
        return String::new();
    }
    grid("mean wait of", &PARTS.map(str::to_owned), &rows, width)
}

/// What should be known beside: of the lines of the log, and of the site.
pub fn notes(advice: &Advice, log: &Log, width: usize) -> Vec<String> {
    let mut notes = vec![lines(&log.account, log.censored, width)];
    notes.extend(advice.remarks.iter().map(|remark| wrap(remark, width)));
    notes.retain(|note| !note.is_empty());
    notes
}

/// Says a length of time in a unit that fits, with two or three digits.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        ..120.0 => (seconds, "s"),
        ..7200.0 => (seconds / 60.0, "min"),
        ..259_200.0 => (seconds / 3600.0, "h"),
        _ => (seconds / 86_400.0, "d"),
    };
    if value < 10.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}
