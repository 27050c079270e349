//! The numbers of a replay, one a line, one job a line, and one step a line.

use crate::multiresource::replay::{Interval, passes};
use crate::multiresource::verbs::replay::{AtPace, Played, Replays, Told};
use crate::report::Csv;

type Written = Result<String, Box<dyn std::error::Error>>;

/// All numbers: speed, load, policy, quantity, value and its interval (empty where none is known), unit.
///
/// # Errors
/// When the text cannot be put together.
pub fn replay_csv(replays: &Replays) -> Written {
    let mut table = Csv::titled([
        "speed", "load", "policy", "quantity", "value", "low", "high", "unit",
    ])?;
    for at in &replays.paces {
        for (told, played) in played(at) {
            for (quantity, value, interval, unit) in quantities(replays, played) {
                let ends =
                    |of: fn(Interval) -> f64| interval.map_or(String::new(), |i| of(i).to_string());
                table.row([
                    &at.speed.to_string(),
                    &at.load.to_string(),
                    &told.policy,
                    &quantity,
                    &value.to_string(),
                    &ends(|i| i.low),
                    &ends(|i| i.high),
                    unit,
                ])?;
            }
        }
    }
    table.text()
}

type Quantity = (String, f64, Option<Interval>, &'static str);

fn quantities(replays: &Replays, played: &Played) -> Vec<Quantity> {
    let m = &played.measured;
    let plain = |name: &str, value: f64, unit| (name.to_owned(), value, None, unit);
    let mut all = vec![
        plain("jobs", m.jobs as f64, "1"),
        ("mean_wait".into(), m.mean_wait, played.wait, "s"),
        (
            "mean_response".into(),
            m.mean_response,
            played.response,
            "s",
        ),
        (
            "mean_bounded_slowdown".into(),
            m.mean_bounded_slowdown,
            played.bounded_slowdown,
            "1",
        ),
        plain("total_wait", m.total_wait, "s"),
        plain("waited", m.waited as f64, "1"),
        plain("longest_wait", m.longest_wait, "s"),
        plain("last_end", m.last_end, "s"),
    ];
    for (n, quantile) in ["p50", "p95", "p99"].iter().enumerate() {
        all.push(plain(
            &format!("wait_{quantile}"),
            m.wait_percentiles[n],
            "s",
        ));
        all.push(plain(
            &format!("response_{quantile}"),
            m.response_percentiles[n],
            "s",
        ));
    }
    all.extend(m.backfilled.map(|n| plain("backfilled", n as f64, "1")));
    let used = replays.trace.resources.iter().zip(&m.utilization);
    all.extend(used.map(|(name, used)| plain(&format!("used_{name}"), *used, "1")));
    all.extend(
        played
            .ratio
            .map(|r| ("ratio_to_first".into(), r.value, r.interval, "1")),
    );
    all
}

fn played(at: &AtPace) -> impl Iterator<Item = (&Told, &Played)> {
    at.policies
        .iter()
        .filter_map(|told| Some((told, told.played()?)))
}

/// One job a line, by policy and pace. Times are in seconds after the first submission, as they were replayed; start
/// and backfilled are empty where a policy stops jobs.
///
/// # Errors
/// When the text cannot be put together.
pub fn visits(replays: &Replays) -> Written {
    let mut table = Csv::titled([
        "policy",
        "speed",
        "line",
        "type",
        "submit",
        "start",
        "end",
        "size",
        "limit",
        "wait",
        "slowdown",
        "backfilled",
        "measured",
    ])?;
    for at in &replays.paces {
        let [from, to] = replays.window.within(at.span);
        for (told, played) in played(at) {
            let course = &played.course;
            let own: Vec<_> = course.visits.iter().map(|(visit, ..)| *visit).collect();
            let (passes, none) = (passes(&own), String::new());
            for ((visit, line, kind), passes) in course.visits.iter().zip(passes) {
                let starts_known = !visit.start.is_nan();
                let known = |text: String| if starts_known { text } else { String::new() };
                let flag = |is: bool| u8::from(is).to_string();
                table.row([
                    &told.policy,
                    &at.speed.to_string(),
                    &line.to_string(),
                    course.types.get(*kind as usize).map_or(&none, |name| name),
                    &visit.submit.to_string(),
                    &known(visit.start.to_string()),
                    &visit.end.to_string(),
                    &visit.size.to_string(),
                    &visit.limit.to_string(),
                    &visit.wait.to_string(),
                    &visit.bounded_slowdown().to_string(),
                    &known(flag(passes)),
                    &flag((from..=to).contains(&visit.submit)),
                ])?;
            }
        }
    }
    table.text()
}

/// One step a line, by policy and pace: averages of jobs that wait and run, of the work of those that wait \[s of all
/// servers\], and of what is held of each resource, over all that there is.
///
/// # Errors
/// When the text cannot be put together.
pub fn series(replays: &Replays) -> Written {
    let used = replays
        .trace
        .resources
        .iter()
        .map(|name| format!("used_{name}"));
    let header = [
        "policy",
        "speed",
        "time",
        "waiting",
        "running",
        "waiting_work",
    ];
    let mut table = Csv::titled(header.map(str::to_owned).into_iter().chain(used))?;
    for at in &replays.paces {
        for (told, played) in played(at) {
            for step in &played.course.steps {
                let numbers = [step.time, step.waiting, step.running, step.waiting_work];
                let numbers = numbers.iter().chain(&step.used).map(f64::to_string);
                let names = [told.policy.clone(), at.speed.to_string()];
                table.row(names.into_iter().chain(numbers))?;
            }
        }
    }
    table.text()
}
