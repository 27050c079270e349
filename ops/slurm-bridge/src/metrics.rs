//! What a bridge has done and sees, as text that Prometheus reads: node_exporter's textfile collector takes it from a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use super::changes::Changes;
use super::journal::{JournalRound, key_of};
use super::watch::{Phase, Watch};
use synth_core::document::exposition::{Exposition, label};
use synth_slurm::commands::SlurmQueue;

/// What is counted from the start of a bridge on.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub rounds: u64,
    /// Rounds in which Slurm did not answer.
    pub failed: u64,
    decisions: u64,
    /// Time that they took, without Slurm \[s\].
    deciding: f64,
    /// When the last one was \[s since 1970\].
    decided: i64,
    /// Jobs released, by type.
    released: BTreeMap<String, u64>,
    /// What Slurm did otherwise, by kind.
    disagreed: BTreeMap<&'static str, u64>,
}

/// What each metric is.
const HELP: &str = include_str!("metrics.txt");

impl Metrics {
    /// Counts a round that was carried out; `wall` is the time of day.
    pub fn count(&mut self, watch: &Watch, (found, round): (&Changes, &JournalRound), wall: i64) {
        if !round.reported.is_empty() {
            self.decisions += 1;
            self.deciding += round.ms / 1e3;
            self.decided = wall;
        }
        let types = watch.types();
        for start in &round.start {
            let seen = key_of(start.id()).and_then(|key| watch.jobs.get(&key));
            if let Some(Phase::Running(i)) = seen.map(|seen| seen.phase) {
                *self.released.entry(types[i].clone()).or_default() += 1;
            }
        }
        let lines = |is: fn(&synth_operator::protocol::Line) -> bool| {
            round.reported.iter().filter(|line| is(line)).count()
        };
        let adopted = if self.rounds > 1 {
            lines(|line| line.adopt.is_some())
        } else {
            0
        };
        for (kind, count) in [
            ("not_started", found.stuck.len()),
            ("held_again", found.give_up.len()),
            ("put_back", lines(|line| line.put_back.is_some())),
            ("started_by_others", adopted),
        ] {
            *self.disagreed.entry(kind).or_default() += count as u64;
        }
    }

    /// Returns all of it. `doing` is what the policy does at present.
    pub fn text(
        &self,
        watch: &Watch,
        queue: &SlurmQueue,
        (partition, doing, wall): (&str, Option<String>, i64),
    ) -> String {
        let mut text = Exposition::new("synth_bridge_", HELP, &[("partition", partition)]);
        let types = watch.types();
        let jobs = types.iter().enumerate().map(|(i, name)| {
            let phases = [Phase::Waiting(i), Phase::Running(i)];
            (
                label("type", name),
                phases.map(|own| watch.count(own) as u64),
            )
        });
        text.states("jobs", jobs);
        let untyped = watch.untyped(queue).map(|own| own as u64);
        text.states("jobs_without_type", [(String::new(), untyped)]);
        let released = |name: &String| self.released.get(name).unwrap_or(&0);
        let released = types.iter().map(|name| (name, released(name)));
        text.counts("releases_total", "type", released);
        text.counts("disagreements_total", "kind", &self.disagreed);
        text.one("rounds_total", self.rounds as f64);
        text.one("failed_rounds_total", self.failed as f64);
        text.one("decisions_total", self.decisions as f64);
        text.one("decision_seconds_total", self.deciding);
        text.one("last_round_timestamp_seconds", wall as f64);
        if self.decided > 0 {
            text.one("last_decision_timestamp_seconds", self.decided as f64);
        }
        let doing = doing.map(|doing| (label("doing", &doing), 1.0));
        text.add("policy_info", doing);
        text.text
    }
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
