use std::path::Path;
use std::{fs, io};

use super::watch::{Changes, Watch};
use synth_operator::protocol::Line;
use synth_operator::{Metrics, Round, Stage};
use synth_slurm::commands::SlurmQueue;

pub(super) fn count(
    metrics: &mut Metrics,
    watch: &Watch,
    queue: &SlurmQueue,
    (found, round): (&Changes, &Round),
    is_first: bool,
) {
    for (state, count) in ["waiting", "running"].iter().zip(watch.untyped(queue)) {
        *metrics.value("jobs_without_type", &[("state", state)]) = count as f64;
    }
    let operator = &watch.operator;
    for start in &round.start {
        let stage = start.id().parse().ok().and_then(|key| operator.stage(&key));
        if let Some(Stage::Running(i)) = stage {
            let name = operator.places().type_name(i);
            *metrics.value("releases_total", &[("type", name)]) += 1.0;
        }
    }
    let lines = |is: fn(&Line) -> bool| round.told.iter().filter(|line| is(line)).count();
    let adopted = lines(|line| line.adopt.is_some());
    for (kind, count) in [
        ("not_started", found.stuck.len()),
        ("held_again", found.give_up.len()),
        ("put_back", lines(|line| line.put_back.is_some())),
        ("started_by_others", if is_first { 0 } else { adopted }),
    ] {
        *metrics.value("disagreements_total", &[("kind", kind)]) += count as f64;
    }
    *metrics.value("failed_rounds_total", &[]) += 0.0;
    let has_decided = !round.told.is_empty();
    *metrics.value("decisions_total", &[]) += f64::from(has_decided);
    if has_decided {
        let moment = *metrics.value("last_round_timestamp_seconds", &[]);
        metrics.set("last_decision_timestamp_seconds", moment);
    }
}

/// Replaces a file of the textfile collector of node_exporter atomically.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    // The collector only reads files whose names end with `.prom`.
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}
