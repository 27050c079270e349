//! The numbers of a replay, one a line, one job a line, and one step a line.

use crate::multiresource::replay::{Interval, passes};
use crate::multiresource::verbs::replay::{Played, Replays};
use crate::report::Csv;
use crate::report::plot::Drawn;

/// All numbers: speed, load, policy, quantity, value and its interval (empty where none is known), unit.
///
/// # Errors
/// When the text cannot be put together.
pub fn replay_csv(replays: &Replays) -> Drawn<String> {
    let mut table = Csv::titled([
        "speed", "load", "policy", "quantity", "value", "low", "high", "unit",
    ])?;
    for (at, own, played) in replays.played() {
        for (quantity, value, interval, unit) in quantities(replays, played) {
            let ends = interval.map(|i| [i.low, i.high].map(|end| end.to_string()));
            let [low, high] = ends.unwrap_or_default();
            table.row([
                &at.speed.to_string(),
                &at.load.to_string(),
                &own.policy,
                &quantity,
                &value.to_string(),
                &low,
                &high,
                unit,
            ])?;
        }
    }
    table.text()
}

type Quantity = (String, f64, Option<Interval>, &'static str);

fn quantities(replays: &Replays, played: &Played) -> Vec<Quantity> {
    let m = &played.measured;
    let plain = |name: &str, value: f64, unit| (name.to_owned(), value, None, unit);
    let within = |name: &str, value: f64, interval, unit| (name.to_owned(), value, interval, unit);
    let slowdown = m.mean_bounded_slowdown;
    let mut all = vec![
        plain("jobs", m.jobs as f64, "1"),
        within("mean_wait", m.mean_wait, played.wait, "s"),
        within("mean_response", m.mean_response, played.response, "s"),
        within(
            "mean_bounded_slowdown",
            slowdown,
            played.bounded_slowdown,
            "1",
        ),
        plain("total_wait", m.total_wait, "s"),
        plain("waited", m.waited as f64, "1"),
        plain("longest_wait", m.longest_wait, "s"),
        plain("last_end", m.last_end, "s"),
    ];
    let both = m.wait_percentiles.iter().zip(&m.response_percentiles);
    for (quantile, (wait, response)) in ["p50", "p95", "p99"].iter().zip(both) {
        all.push(plain(&format!("wait_{quantile}"), *wait, "s"));
        all.push(plain(&format!("response_{quantile}"), *response, "s"));
    }
    all.extend(m.backfilled.map(|n| plain("backfilled", n as f64, "1")));
    let used = replays.trace.resources.iter().zip(&m.utilization);
    all.extend(used.map(|(name, used)| plain(&format!("used_{name}"), *used, "1")));
    let ratio = played.ratio;
    all.extend(ratio.map(|r| within("ratio_to_first", r.value, r.interval, "1")));
    all
}

/// One job a line, by policy and pace. Times are in seconds after the first submission, as they were replayed; start
/// and backfilled are empty where a policy stops jobs.
///
/// # Errors
/// When the text cannot be put together.
pub fn visits(replays: &Replays) -> Drawn<String> {
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
    for (at, own, played) in replays.played() {
        let [from, to] = replays.window.within(at.span);
        let course = &played.course;
        let own_visits: Vec<_> = course.visits.iter().map(|(visit, ..)| *visit).collect();
        for ((visit, line, kind), passes) in course.visits.iter().zip(passes(&own_visits)) {
            let starts_known = !visit.start.is_nan();
            let known = |text: String| if starts_known { text } else { String::new() };
            let flag = |is: bool| u8::from(is).to_string();
            table.row([
                &own.policy,
                &at.speed.to_string(),
                &line.to_string(),
                &course.types[*kind as usize],
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
    table.text()
}

/// One step a line, by policy and pace: averages of jobs that wait and run, of the work of those that wait \[s of all
/// servers\], and of what is held of each resource, over all that there is.
///
/// # Errors
/// When the text cannot be put together.
pub fn series(replays: &Replays) -> Drawn<String> {
    let used = replays.trace.resources.iter();
    let used = used.map(|name| format!("used_{name}"));
    let header = [
        "policy",
        "speed",
        "time",
        "waiting",
        "running",
        "waiting_work",
    ];
    let mut table = Csv::titled(header.map(str::to_owned).into_iter().chain(used))?;
    for (at, own, played) in replays.played() {
        for step in &played.course.steps {
            let numbers = [step.time, step.waiting, step.running, step.waiting_work];
            let numbers = numbers.iter().chain(&step.used).map(f64::to_string);
            let names = [own.policy.clone(), at.speed.to_string()];
            table.row(names.into_iter().chain(numbers))?;
        }
    }
    table.text()
}
