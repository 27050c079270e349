//! What a bridge has done and sees, as text that Prometheus reads: node_exporter's textfile collector takes it from a file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use super::journal::{Round, key_of};
use super::watch::{Changes, Phase, Watch};
use synth_slurm::commands::{Queue, State};

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

/// A metric: its name, its kind, what it is, and its values by labels.
type Family = (
    &'static str,
    &'static str,
    &'static str,
    Vec<(Vec<(&'static str, String)>, f64)>,
);

impl Metrics {
    /// Counts a round that was carried out; `wall` is the time of day.
    pub fn count(&mut self, watch: &Watch, (found, round): (&Changes, &Round), wall: i64) {
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
        let lines = |is: fn(&synth_cluster::live::protocol::Line) -> bool| {
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

    /// Writes all of it into a file, which is there whole at any time. `doing` is what the policy does at present.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        &self,
        path: &Path,
        (watch, queue, partition): (&Watch, &Queue, &str),
        (doing, wall): (Option<String>, i64),
    ) -> io::Result<()> {
        let text = self.text(watch, queue, (partition, doing, wall));
        // The collector takes files that end with .prom only.
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.tmp", std::process::id()));
        fs::write(&beside, text)?;
        fs::rename(&beside, path)
    }

    fn text(
        &self,
        watch: &Watch,
        queue: &Queue,
        (partition, doing, wall): (&str, Option<String>, i64),
    ) -> String {
        let plain = |value: f64| vec![(Vec::new(), value)];
        let by = |label: &'static str, counts: Vec<(String, u64)>| {
            let counts = counts.into_iter();
            counts
                .map(|(name, n)| (vec![(label, name)], n as f64))
                .collect()
        };
        let types = watch.types();
        let mut jobs = Vec::new();
        for (i, name) in types.iter().enumerate() {
            for (state, phase) in [
                ("waiting", Phase::Waiting(i)),
                ("running", Phase::Running(i)),
            ] {
                let count = watch
                    .jobs
                    .values()
                    .filter(|seen| seen.phase == phase)
                    .count();
                jobs.push((
                    vec![("type", name.clone()), ("state", state.into())],
                    count as f64,
                ));
            }
        }
        let mut untyped = [0.0; 2];
        for row in queue.rows.iter().filter(|row| watch.find(row).is_err()) {
            untyped[usize::from(row.state != State::Pending)] += 1.0;
        }
        let [waiting, running] = untyped;
        let state = |state: &str, n: f64| (vec![("state", state.to_owned())], n);
        let released = types
            .iter()
            .map(|name| (name.clone(), self.released.get(name).copied().unwrap_or(0)));
        let disagreed = self
            .disagreed
            .iter()
            .map(|(kind, n)| ((*kind).to_owned(), *n));
        let mut families: Vec<Family> = vec![
            (
                "jobs",
                "gauge",
                "Jobs by type: those that wait for the policy, and those that it has released.",
                jobs,
            ),
            (
                "jobs_without_type",
                "gauge",
                "Jobs that no type of the policy holds.",
                vec![state("waiting", waiting), state("running", running)],
            ),
            (
                "releases_total",
                "counter",
                "Jobs released by the policy.",
                by("type", released.collect()),
            ),
            (
                "disagreements_total",
                "counter",
                "What Slurm did otherwise than the policy decided.",
                by("kind", disagreed.collect()),
            ),
            (
                "rounds_total",
                "counter",
                "Looks at the queue.",
                plain(self.rounds as f64),
            ),
            (
                "failed_rounds_total",
                "counter",
                "Looks at the queue in which Slurm did not answer.",
                plain(self.failed as f64),
            ),
            (
                "decisions_total",
                "counter",
                "Rounds in which the policy decided.",
                plain(self.decisions as f64),
            ),
            (
                "decision_seconds_total",
                "counter",
                "Time that decisions took, without Slurm.",
                plain(self.deciding),
            ),
            (
                "last_round_timestamp_seconds",
                "gauge",
                "When the queue was looked at last.",
                plain(wall as f64),
            ),
        ];
        if self.decided > 0 {
            families.push((
                "last_decision_timestamp_seconds",
                "gauge",
                "When the policy decided last.",
                plain(self.decided as f64),
            ));
        }
        if let Some(doing) = doing {
            families.push((
                "policy_info",
                "gauge",
                "What the policy does at present.",
                vec![(vec![("doing", doing)], 1.0)],
            ));
        }
        let mut text = String::new();
        for (name, kind, help, values) in families {
            // A string takes all that is written.
            let _ = writeln!(
                text,
                "# HELP synth_bridge_{name} {help}\n# TYPE synth_bridge_{name} {kind}"
            );
            for (labels, value) in values {
                let labels = labels
                    .iter()
                    .map(|(key, own)| format!(",{key}=\"{}\"", escaped(own)));
                let labels: String = labels.collect();
                let partition = escaped(partition);
                let _ = writeln!(
                    text,
                    "synth_bridge_{name}{{partition=\"{partition}\"{labels}}} {value}"
                );
            }
        }
        text
    }
}

/// A label's value as the format has it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
