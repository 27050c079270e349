//! The numbers of a replay, one a line, one job a line, and one step a line.

use super::results::Replays;
use crate::multiresource::replay::{Interval, passes};
use crate::report::Csv;
use crate::report::plot::Drawn;

/// Writes all numbers: speed, load, policy, quantity, value and its interval (empty where none is known), unit.
///
/// # Errors
/// When the text cannot be put together.
pub fn replay_csv(replays: &Replays) -> Drawn<String> {
    let header = "speed,load,policy,quantity,value,low,high,unit";
    let mut table = Csv::titled(header.split(','))?;
    for (at, own, played) in replays.played() {
        let m = &played.measured;
        let count = |name: &'static str, count: u64| (name.to_owned(), count as f64, None, "1");
        let time = |name: &str, value, interval| (name.to_owned(), value, interval, "s");
        let mut rows: Vec<(String, f64, Option<Interval>, &str)> = vec![
            count("jobs", m.jobs),
            time("mean_wait", m.mean_wait, played.wait),
            time("mean_response", m.mean_response, played.response),
            (
                "mean_bounded_slowdown".into(),
                m.mean_bounded_slowdown,
                played.bounded_slowdown,
                "1",
            ),
            time("total_wait", m.total_wait, None),
            count("waited", m.waited),
            time("longest_wait", m.longest_wait, None),
            time("last_end", m.last_end, None),
        ];
        for (n, quantile) in ["p50", "p95", "p99"].iter().enumerate() {
            let (wait, response) = (m.wait_percentiles[n], m.response_percentiles[n]);
            rows.push(time(&format!("wait_{quantile}"), wait, None));
            rows.push(time(&format!("response_{quantile}"), response, None));
        }
        rows.extend(m.backfilled.map(|jobs| count("backfilled", jobs)));
        let used = replays.trace.resources.iter().zip(&m.utilization);
        rows.extend(used.map(|(name, used)| (format!("used_{name}"), *used, None, "1")));
        let groups = played.groups.iter();
        rows.extend(
            groups.map(|of| (format!("mean_wait of {}", of.name), of.mean_wait, None, "s")),
        );
        let ratio = played.ratio.as_ref();
        rows.extend(ratio.map(|own| ("ratio_to_first".into(), own.value, own.interval, "1")));
        for (quantity, value, interval, unit) in rows {
            let ends = interval.map(|i| [i.low, i.high].map(|end| end.to_string()));
            let [low, high] = ends.unwrap_or_default();
            let [speed, load] = [at.speed.to_string(), at.load.to_string()];
            let (policy, value, unit) = (own.policy.clone(), value.to_string(), unit.into());
            table.row([speed, load, policy, quantity, value, low, high, unit])?;
        }
    }
    table.text()
}

/// Writes one job a line, by policy and pace. Times are in seconds after the first submission, as they were replayed; start
/// and backfilled are empty where a policy stops jobs.
///
/// # Errors
/// When the text cannot be put together.
pub fn visits(replays: &Replays) -> Drawn<String> {
    let header =
        "policy,speed,line,type,submit,start,end,size,limit,wait,slowdown,backfilled,measured";
    let mut table = Csv::titled(header.split(','))?;
    for (at, own, played) in replays.played() {
        let within = replays.window.within(at.span);
        for (visit, passes) in played.visits.iter().zip(passes(&played.visits)) {
            let known = |value: f64| {
                let known = Some(value).filter(|_| !visit.start.is_nan());
                known.map_or(String::new(), |value| value.to_string())
            };
            let measured = u8::from(visit.is_within(within));
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

/// Writes one step a line, by policy and pace: averages of jobs that wait and run, of the work of those that wait \[s of all
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
