use super::results::Replays;
use crate::kind::VerbResult;
use crate::multiresource::replay::{bounded_slowdown, passes};
use crate::report::Csv;

/// Writes one row for each policy, speed and job. All times are in seconds since the first job was
/// submitted, as replayed. If a policy preempts jobs, `start` and `backfilled` are empty.
pub(super) fn visits(replays: &Replays) -> VerbResult<String> {
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
                bounded_slowdown(visit.response(), visit.size).to_string(),
                known(f64::from(u8::from(passes))),
                measured.to_string(),
            ])?;
        }
    }
    table.text()
}
