//! What is in a queue, for whoever looks at it: jobs by type, and first of all those that have none.

use std::collections::BTreeMap;

use super::changes::Changes;
use super::journal::key_of;
use super::setup::{HoldBy, Unknown};
use super::types::Untyped;
use super::watch::{Phase, Watch};
use synth_operator::protocol::Started;
use synth_slurm::commands::{Hold, JobState, QueueRow, SlurmQueue};

/// More jobs are not named one by one.
const NAMED: usize = 20;

/// Jobs of a queue that have no type.
pub(super) struct Survey {
    /// By reason: how many, and their work, CPUs times limit.
    pub untyped: BTreeMap<Untyped, (usize, f64)>,
    /// The same of all jobs.
    all: (usize, f64),
}

impl Survey {
    pub fn new(watch: &Watch, queue: &SlurmQueue) -> Self {
        // A job without a limit may run as long as the longest.
        let limits = queue.rows.iter().filter_map(|row| row.time_limit);
        let longest = limits.max().unwrap_or(1);
        let mut survey = Survey {
            untyped: BTreeMap::new(),
            all: (0, 0.0),
        };
        for row in &queue.rows {
            let work = row.amounts.cpus as f64 * row.time_limit.unwrap_or(longest) as f64;
            let own = watch.find(row).err();
            let own = own.map(|why| survey.untyped.entry(why).or_default());
            for (jobs, sum) in own.into_iter().chain([&mut survey.all]) {
                *jobs += 1;
                *sum += work;
            }
        }
        survey
    }

    /// Returns what a person should know before anything is released, if there is something.
    pub fn note(&self, unknown: Unknown) -> Option<String> {
        let share = |work: f64| match self.all.1 > 0.0 {
            true => 100.0 * work / self.all.1,
            false => 0.0,
        };
        let pairs = self.untyped.values();
        let (jobs, work) = pairs.fold((0, 0.0), |(n, sum), (jobs, work)| (n + jobs, sum + work));
        let reasons = self.untyped.iter().map(|(why, (jobs, work))| {
            let share = share(*work);
            format!("\n  {jobs} with {share:.1} %: {}", why.words())
        });
        let done = match unknown {
            Unknown::Pass => "pass to Slurm at once, and what they use the policy does not have",
            Unknown::Hold => "stay held",
        };
        (jobs > 0).then(|| {
            format!(
                "warning: {jobs} of {} jobs, with {:.1} % of the work (CPUs × limit), have no type: they {done}{}",
                self.all.0,
                share(work),
                reasons.collect::<String>()
            )
        })
    }
}

/// Says why a job of the queue does not wait for the policy, if it does not.
pub(super) fn obstacle(watch: &Watch, row: &QueueRow, holds: HoldBy, now: i64) -> Option<String> {
    let is_ours = matches!(
        (row.hold, holds),
        (Hold::User, _) | (Hold::Admin, HoldBy::Admin)
    );
    let why = if row.has_nodes() {
        "it has been released, and Slurm has started it".into()
    } else if let Err(why) = watch.find(row) {
        format!("it is one of the jobs {}", why.words())
    } else if row.depends || !row.waits_for.is_empty() {
        "it waits for other jobs".into()
    } else if row.eligible.is_some_and(|eligible| eligible > now) {
        "it is to begin later".into()
    } else if row.hold == Hold::None {
        format!(
            "it has been released, and Slurm has not started it ({})",
            row.reason
        )
    } else if !is_ours {
        format!("it is held ({}), and not for the policy", row.reason)
    } else {
        return None;
    };
    Some(why)
}

/// Returns a table of what waits and runs by type, and of what would be released now.
pub(super) fn plan(
    watch: &Watch,
    queue: &SlurmQueue,
    found: &Changes,
    start: &[Started],
) -> String {
    let types = watch.types();
    let mut rows: Vec<[String; 4]> =
        vec![["type", "wait", "run", "would be released now"].map(Into::into)];
    for (i, name) in types.iter().enumerate() {
        let own = start.iter().filter_map(|start| {
            let key = key_of(start.id())?;
            let is_own = watch.jobs.get(&key)?.phase == Phase::Waiting(i);
            let nodes = watch.nodes_of(start.servers());
            let on = if nodes.is_empty() {
                String::new()
            } else {
                format!(" on {}", nodes.join(" "))
            };
            is_own.then(|| format!("{}{on}", key.id))
        });
        rows.push([
            name.clone(),
            watch.count(Phase::Waiting(i)).to_string(),
            watch.count(Phase::Running(i)).to_string(),
            some(own.collect()),
        ]);
    }
    let [waiting, running] = watch.untyped(queue);
    rows.push([
        "no type".into(),
        waiting.to_string(),
        running.to_string(),
        some(found.pass.iter().map(ToString::to_string).collect()),
    ]);
    let typed = |row: &&QueueRow| row.state == JobState::Pending && watch.find(row).is_ok();
    let is_out = |row: &&QueueRow| {
        watch
            .jobs
            .get(&row.key)
            .is_none_or(|seen| seen.phase == Phase::Out)
    };
    let later = queue.rows.iter().filter(typed).filter(is_out).count();
    rows.push([
        "not now".into(),
        later.to_string(),
        "0".into(),
        "– (held by others, to begin later, or waiting for other jobs)".into(),
    ]);
    let width = |j: usize| {
        rows.iter()
            .map(|row| row[j].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    let line = |[name, wait, run, release]: &[String; 4]| {
        format!(
            "{name:0$}   {wait:>1$}   {run:>2$}   {release}",
            widths[0], widths[1], widths[2]
        )
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Jobs by name, where they are not too many.
fn some(names: Vec<String>) -> String {
    match names.len() {
        0 => "–".into(),
        n if n > NAMED => format!("{} and {} more", names[..NAMED].join(", "), n - NAMED),
        _ => names.join(", "),
    }
}
