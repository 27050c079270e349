use std::collections::BTreeMap;

use super::setup::Unknown;
use super::watch::{Changes, Watch};
use synth_operator::protocol::Started;
use synth_operator::{Stage, plan_table};
use synth_slurm::commands::{Hold, JobKey, JobState, QueueRow, SlurmQueue};

/// The maximum number of jobs that are listed by name.
const NAMED: usize = 20;

/// Returns a warning with the number of jobs without a type, their work, and the reasons.
pub(super) fn without_type(watch: &Watch, queue: &SlurmQueue) -> Option<String> {
    // If a job has no limit, the longest limit in the queue is used.
    let limits = queue.rows.iter().filter_map(|row| row.time_limit);
    let longest = limits.max().unwrap_or(1);
    let mut reasons: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    let (mut jobs, mut work, mut all) = (0, 0.0, 0.0);
    for row in &queue.rows {
        let own = row.amounts.get("cpu") as f64 * row.time_limit.unwrap_or(longest) as f64;
        all += own;
        if let Err(why) = watch.find(row) {
            let reason = reasons.entry(why).or_default();
            *reason = (reason.0 + 1, reason.1 + own);
            jobs += 1;
            work += own;
        }
    }
    let share = |work: f64| if all > 0.0 { 100.0 * work / all } else { 0.0 };
    let reasons = reasons.iter().map(|(why, (jobs, work))| {
        let share = share(*work);
        format!("\n  {jobs} with {share:.1} %: {why}")
    });
    let done = match watch.setup.unknown {
        Unknown::Pass => "are passed to Slurm immediately and reduce the capacity of the policy",
        Unknown::Hold => "remain held",
    };
    (jobs > 0).then(|| {
        format!(
            "warning: {jobs} of {} jobs, with {:.1} % of the work (CPUs × limit), have no type: they {done}{}",
            queue.rows.len(),
            share(work),
            reasons.collect::<String>()
        )
    })
}

pub(super) fn obstacle(watch: &Watch, row: &QueueRow, now: i64) -> Option<String> {
    let reason = &row.reason;
    let why = if row.has_nodes() {
        "it was released, and Slurm has started it".into()
    } else if let Err(why) = watch.find(row) {
        format!("it has no type, because {why}")
    } else if row.depends || !row.waits_for.is_empty() {
        "it depends on other jobs".into()
    } else if row.eligible.is_some_and(|eligible| eligible > now) {
        "its earliest start is in the future".into()
    } else if row.hold == Hold::None {
        format!("it was released, but Slurm has not started it ({reason})")
    } else if !watch.setup.hold.covers(row.hold) {
        format!("it is held ({reason}), but not for the policy")
    } else {
        return None;
    };
    Some(why)
}

pub(super) fn plan(
    watch: &Watch,
    queue: &SlurmQueue,
    found: &Changes,
    start: &[Started],
) -> String {
    let operator = &watch.operator;
    let starts = |i: usize| {
        let own = start.iter().filter_map(|start| {
            let key: JobKey = start.id().parse().ok()?;
            let nodes = watch.map.nodes.named(&operator.servers_of(start));
            let on = match &nodes[..] {
                [] => String::new(),
                nodes => format!(" on {}", nodes.join(" ")),
            };
            let is_own = operator.stage(&key) == Some(Stage::Waiting(i));
            is_own.then(|| format!("{}{on}", key.id))
        });
        some(own.collect())
    };
    let types = operator.places().types().zip(operator.counts()).enumerate();
    let rows =
        types.map(|(i, (name, counts))| (name.to_owned(), counts.map(|n| n as usize), starts(i)));
    let passed = some(found.pass.iter().map(ToString::to_string).collect());
    let without = ("no type".into(), watch.untyped(queue), passed);
    let is_later = |row: &&QueueRow| {
        row.state == JobState::Pending
            && watch.find(row).is_ok()
            && operator.stage(&row.key).is_none()
    };
    let later = queue.rows.iter().filter(is_later).count();
    let why = "– (held by others, not yet eligible, or waiting for other jobs to end)";
    let not_now = ("not now".into(), [later, 0], why.into());
    plan_table(rows.chain([without, not_now]))
}

fn some(names: Vec<String>) -> String {
    match names.len() {
        0 => "–".into(),
        n if n > NAMED => format!("{} and {} more", names[..NAMED].join(", "), n - NAMED),
        _ => names.join(", "),
    }
}
