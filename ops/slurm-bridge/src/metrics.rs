//! What a bridge has done and sees, as text that Prometheus reads: node_exporter's textfile collector takes it from a file.

use std::path::Path;
use std::{fs, io};

use super::watch::{Changes, Watch};
use synth_operator::protocol::Line;
use synth_operator::{Metrics, Round, Stage};
use synth_slurm::commands::SlurmQueue;

/// Returns the metrics of a partition.
pub(super) fn new(partition: &str) -> Metrics {
    let help = include_str!("metrics.txt");
    Metrics::new("synth_bridge_", help, &[("partition", partition)])
}

/// Counts a round that was carried out: the how many-th, and the time of day.
pub(super) fn count(
    metrics: &mut Metrics,
    watch: &Watch,
    queue: &SlurmQueue,
    (found, round): (&Changes, &Round),
    (rounds, wall): (u64, i64),
) {
    let operator = &watch.operator;
    let types: Vec<&str> = operator.places().types().collect();
    metrics.set_jobs(types.iter().copied(), &operator.counts());
    for (state, count) in ["waiting", "running"].iter().zip(watch.untyped(queue)) {
        *metrics.value("jobs_without_type", &[("state", state)]) = count as f64;
    }
    for start in &round.start {
        let stage = start.id().parse().ok().and_then(|key| operator.stage(&key));
        if let Some(Stage::Running(i)) = stage {
            *metrics.value("releases_total", &[("type", types[i])]) += 1.0;
        }
    }
    let lines = |is: fn(&Line) -> bool| round.told.iter().filter(|line| is(line)).count();
    let adopted = lines(|line| line.adopt.is_some());
    for (kind, count) in [
        ("not_started", found.stuck.len()),
        ("held_again", found.give_up.len()),
        ("put_back", lines(|line| line.put_back.is_some())),
        // In the first round all that runs is adopted.
        ("started_by_others", if rounds > 1 { adopted } else { 0 }),
    ] {
        *metrics.value("disagreements_total", &[("kind", kind)]) += count as f64;
    }
    *metrics.value("failed_rounds_total", &[]) += 0.0;
    metrics.set("rounds_total", rounds as f64);
    metrics.set("last_round_timestamp_seconds", wall as f64);
    let has_decided = !round.told.is_empty();
    *metrics.value("decisions_total", &[]) += f64::from(u8::from(has_decided));
    if has_decided {
        *metrics.value("decision_seconds_total", &[]) += round.ms / 1e3;
        metrics.set("last_decision_timestamp_seconds", wall as f64);
    }
    metrics.set_doing(operator.scheduler.doing().as_deref());
}

/// Writes a text into a file, which is there whole at any time.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    // The collector takes files that end with .prom only.
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}
