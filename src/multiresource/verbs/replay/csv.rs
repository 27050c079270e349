//! The numbers of a replay, one a line, one job a line, and one step a line.

use super::results::Replays;
use crate::multiresource::replay::{Interval, passes};
use crate::report::Csv;
use crate::report::plot::Drawn;

/// All numbers: speed, load, policy, quantity, value and its interval (empty where none is known), unit.
///
/// # Errors
/// When the text cannot be put together.
pub fn replay_csv(replays: &Replays) -> Drawn<String> {
    let header = "speed,load,policy,quantity,value,low,high,unit";
    let mut table = Csv::titled(header.split(','))?;
    for (at, own, played) in replays.played() {
        let mut row = |quantity: &str, value: f64, interval: Option<Interval>, unit: &str| {
            let ends = interval.map(|i| [i.low, i.high].map(|end| end.to_string()));
            let [low, high] = ends.unwrap_or_default();
            let (speed, load) = (at.speed.to_string(), at.load.to_string());
            let value = value.to_string();
            table.row([
                &*speed,
                &load,
                &own.policy,
                quantity,
                &value,
                &low,
                &high,
                unit,
            ])
        };
        let m = &played.measured;
        let slowdown = m.mean_bounded_slowdown;
        row("jobs", m.jobs as f64, None, "1")?;
        row("mean_wait", m.mean_wait, played.wait, "s")?;
        row("mean_response", m.mean_response, played.response, "s")?;
        row(
            "mean_bounded_slowdown",
            slowdown,
            played.bounded_slowdown,
            "1",
        )?;
        row("total_wait", m.total_wait, None, "s")?;
        row("waited", m.waited as f64, None, "1")?;
        row("longest_wait", m.longest_wait, None, "s")?;
        row("last_end", m.last_end, None, "s")?;
        for (n, quantile) in ["p50", "p95", "p99"].iter().enumerate() {
            row(
                &format!("wait_{quantile}"),
                m.wait_percentiles[n],
                None,
                "s",
            )?;
            row(
                &format!("response_{quantile}"),
                m.response_percentiles[n],
                None,
                "s",
            )?;
        }
        if let Some(backfilled) = m.backfilled {
            row("backfilled", backfilled as f64, None, "1")?;
        }
        for (name, used) in replays.trace.resources.iter().zip(&m.utilization) {
            row(&format!("used_{name}"), *used, None, "1")?;
        }
        if let Some(ratio) = played.ratio {
            row("ratio_to_first", ratio.value, ratio.interval, "1")?;
        }
    }
    table.text()
}

/// One job a line, by policy and pace. Times are in seconds after the first submission, as they were replayed; start
/// and backfilled are empty where a policy stops jobs.
///
/// # Errors
/// When the text cannot be put together.
pub fn visits(replays: &Replays) -> Drawn<String> {
    let header =
        "policy,speed,line,type,submit,start,end,size,limit,wait,slowdown,backfilled,measured";
    let mut table = Csv::titled(header.split(','))?;
    for (at, own, played) in replays.played() {
        let [from, to] = replays.window.within(at.span);
        for (visit, passes) in played.visits.iter().zip(passes(&played.visits)) {
            let known = |value: f64| {
                let known = Some(value).filter(|_| !visit.start.is_nan());
                known.map_or(String::new(), |value| value.to_string())
            };
            let measured = u8::from((from..=to).contains(&visit.submit));
            table.row([
                own.policy.clone(),
                at.speed.to_string(),
                visit.line.to_string(),
                played.kinds[visit.kind as usize].clone(),
                visit.submit.to_string(),
                known(visit.start),
                visit.end.to_string(),
                visit.size.to_string(),
                visit.limit.to_string(),
                visit.wait.to_string(),
                visit.bounded_slowdown().to_string(),
                known(f64::from(u8::from(passes))),
                measured.to_string(),
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
    let header = "policy,speed,time,waiting,running,waiting_work".split(',');
    let used = replays.trace.resources.iter();
    let used = used.map(|name| format!("used_{name}"));
    let mut table = Csv::titled(header.map(str::to_owned).chain(used))?;
    for (at, own, played) in replays.played() {
        for step in &played.series {
            let numbers = [step.time, step.waiting, step.running, step.waiting_work];
            let numbers = numbers.iter().chain(&step.used).map(f64::to_string);
            let names = [own.policy.clone(), at.speed.to_string()];
            table.row(names.into_iter().chain(numbers))?;
        }
    }
    table.text()
}
