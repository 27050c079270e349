//! A replay, for people and for programs.

mod csv;
mod notes;
mod page;
mod table;

pub use csv::{replay_csv, series, visits};
pub use notes::{notes, remarks};
pub use page::replay_page;
pub use table::{recorded, replayed};

use super::{number, percent};
use crate::multiresource::replay::Interval;
use crate::multiresource::verbs::replay::{AtPace, Replays};

/// `3411 [2300, 4500]`.
fn with_interval(value: f64, interval: Option<Interval>) -> String {
    let within = interval.map(|i| format!(" [{}, {}]", number(i.low), number(i.high)));
    number(value) + &within.unwrap_or_default()
}

/// `speed 5/4, load 0.817`.
fn pace(at: &AtPace) -> String {
    format!("speed {}, load {:.3}", at.speed, at.load)
}

/// Of which jobs measures are.
fn window(replays: &Replays) -> String {
    let window = replays.window;
    match (window.from, window.to) {
        (0.0, 1.0) => "all jobs are measured".into(),
        (from, to) => format!(
            "measured are jobs submitted from {} to {} of the span: without the first, which find empty servers, and the last, after which nothing comes",
            percent(from),
            percent(to)
        ),
    }
}

/// Why policies are without an interval; none where each has one.
fn intervals(replays: &Replays) -> Option<String> {
    let played = replays.played();
    let (with, without): (Vec<_>, Vec<_>) = played.partition(|(.., own)| own.response.is_some());
    let which = if with.is_empty() {
        "no interval"
    } else {
        "where no interval stands"
    };
    let why = "the trace is too short (an interval is made of ten blocks at least, each of a day and of 10 mean waits at least)";
    (!without.is_empty()).then(|| format!("{which}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_with_its_interval_where_there_is_one() {
        let interval = Interval {
            low: 9701.0,
            high: 13_200.0,
        };
        assert_eq!(
            with_interval(11_620.0, Some(interval)),
            "11620 [9701, 13200]"
        );
        assert_eq!(with_interval(0.0, None), "0");
    }
}
