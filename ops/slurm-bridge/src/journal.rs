//! The journal of a bridge contains one JSON object per round. It can be replayed.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::measured::{EndedJob, OpenJobs, follow};
use synth_core::document::line::{sealed, unsealed};
use synth_core::document::text_of;
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::LearnedRuntimes;
use synth_operator::protocol::{Line, Started, starts};
use synth_operator::{Round, Scheduler};
use synth_slurm::commands::JobKey;

#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum JournalRecord {
    /// A policy was loaded.
    Head(Head),
    /// A round in which there was a change or a decision.
    Round(Round),
    /// The estimates that are used by the next bridge.
    Learned { learned: LearnedRuntimes },
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// The path of the policy file.
    pub policy: String,
    pub digest: String,
    pub cluster: String,
    pub partition: String,
    /// The time unit of the policy. All times are measured from the start of the bridge.
    pub time_unit: String,
    pub seed: u64,
    /// The learned runtime estimates, if they are not the estimates of the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedRuntimes>,
}

/// Opens a journal to append lines. If its last line is incomplete, it is removed.
pub(super) fn open(path: &Path) -> io::Result<(File, PreviousState)> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    let mut before = PreviousState::default();
    if file.metadata()?.is_file() {
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        let end = whole.map_or(0, |last| last + 1);
        if end < text.len() {
            file.set_len(end as u64)?;
        }
        before = previous_state(&text[..end]);
    }
    Ok((file, before))
}

/// Writes a line at once, so that only the last line of the file can be incomplete.
pub(super) fn write(file: &mut File, record: &JournalRecord) -> io::Result<()> {
    let line = serde_json::to_string(record).map_err(io::Error::other)?;
    file.write_all((sealed(&line) + "\n").as_bytes())
}

/// The state that was left by the previous bridges.
#[derive(Default)]
pub(super) struct PreviousState {
    /// The estimates that were learned last, and the digest of their policy.
    pub learned: Option<(LearnedRuntimes, String)>,
    /// The jobs that were sent to servers. They may not have been released yet.
    pub placed: HashMap<JobKey, Started>,
}

fn previous_state(text: &[u8]) -> PreviousState {
    let mut own = PreviousState::default();
    let mut digest = None;
    for line in text.split(|byte| *byte == b'\n') {
        let is_of_policy = line.starts_with(b"{\"learned\"") || line.starts_with(b"{\"policy\"");
        // In a fleet, a job that was started is a list that contains its servers.
        if !is_of_policy && !line.windows(10).any(|part| part == b"\"start\":[[") {
            continue;
        }
        let object = unsealed(&String::from_utf8_lossy(line));
        match object.and_then(|object| serde_json::from_str(&object).ok()) {
            Some(JournalRecord::Head(head)) => {
                let learned = head.learned.map(|learned| (learned, head.digest.clone()));
                own.learned = learned.or(own.learned);
                digest = Some(head.digest);
            }
            Some(JournalRecord::Learned { learned }) => {
                own.learned = Some(learned).zip(digest.clone())
            }
            Some(JournalRecord::Round(round)) => {
                let starts = round.start.into_iter();
                let placed = starts.filter_map(|job| Some((job.id().parse().ok()?, job)));
                own.placed.extend(placed);
            }
            // If a line is damaged, the policy that is used after it is not known.
            None if is_of_policy => (own.learned, digest) = (None, None),
            None => {}
        }
    }
    own
}

pub(super) struct ReplayedJournal {
    pub rounds: u64,
    pub starts: u64,
    /// The line of the first round with a different decision, and the jobs started then and now.
    pub differs: Option<(usize, Vec<Started>, Vec<Started>)>,
    /// The jobs that have arrived and ended, in the order in which they arrived.
    pub jobs: Vec<EndedJob>,
    pub scheduler: Scheduler,
    /// The time at the end of the journal.
    pub t: f64,
    pub present: OpenJobs,
    /// The time at which the current bridge was started. There are no gaps between bridges.
    began: f64,
}

/// A function of each line, the scheduler after the line, and the jobs that it starts.
pub(super) type OnLine<'a> = &'a mut dyn FnMut(&Line, &Scheduler, &[Started]);

pub(super) fn replay(
    path: &Path,
    (policy, digest): &(Checked, String),
    on_line: OnLine<'_>,
) -> Result<ReplayedJournal, String> {
    let name = path.display();
    let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
    let mut policies: Vec<String> = Vec::new();
    let mut replay: Option<ReplayedJournal> = None;
    let mut is_own = false;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            break;
        }
        let wrong = |why: &dyn Display| format!("{name}, line {}: {why}", n + 1);
        let object = unsealed(line.trim_end()).ok_or_else(|| {
            wrong(&"its checksum does not match, so it was damaged or changed; to replay the lines before it, remove this line and all lines after it")
        })?;
        match serde_json::from_str(&object).map_err(|why| wrong(&why))? {
            JournalRecord::Head(head) => {
                is_own = head.digest == *digest;
                if is_own {
                    let learned = head.learned.as_ref();
                    let scheduler = || Scheduler::with_learned(policy, head.seed, learned);
                    let own = replay.get_or_insert_with(|| ReplayedJournal {
                        rounds: 0,
                        starts: 0,
                        differs: None,
                        jobs: Vec::new(),
                        scheduler: scheduler(),
                        t: 0.0,
                        present: OpenJobs::default(),
                        began: 0.0,
                    });
                    let before = std::mem::replace(&mut own.scheduler, scheduler());
                    own.scheduler.remember(&before);
                    own.present.clear();
                }
                policies.push(format!("{} ({})", head.policy, head.digest));
            }
            JournalRecord::Round(round) if is_own => {
                if let Some(replay) = &mut replay {
                    let done = replay.round(n + 1, &round, on_line);
                    done.map_err(|why| wrong(&why))?;
                }
            }
            // The estimates are learned again when the rounds are replayed.
            JournalRecord::Round(_) | JournalRecord::Learned { .. } => {}
        }
    }
    if policies.is_empty() {
        return Err(format!(
            "{name}, line 1: there is no policy header: the file is empty or is not a journal"
        ));
    }
    replay.ok_or_else(|| {
        let policies = policies.join(", ");
        format!("{name} does not contain decisions of the policy {digest}, but only of {policies}")
    })
}

impl ReplayedJournal {
    fn round(&mut self, place: usize, round: &Round, on_line: OnLine<'_>) -> Result<(), String> {
        if self.began + round.t < self.t {
            self.began = self.t;
        }
        self.t = self.began + round.t;
        let mut start = Vec::new();
        for line in &round.told {
            let decided = self.scheduler.tell(line)?;
            let starts = starts(&decided, self.scheduler.places());
            on_line(line, &self.scheduler, &starts);
            start.extend(starts);
        }
        self.rounds += 1;
        self.starts += start.len() as u64;
        self.jobs.extend(follow(&mut self.present, self.t, round));
        if start != round.start && self.differs.is_none() {
            self.differs = Some((place, round.start.clone(), start));
        }
        Ok(())
    }
}

pub(super) fn jobs_csv(jobs: &[EndedJob]) -> csv::Result<String> {
    let mut sorted = Vec::from_iter(jobs);
    sorted.sort_by(|a, b| a.times[0].total_cmp(&b.times[0]));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["type", "arrival", "size", "wait", "latency", "job"])?;
    for job in sorted {
        let [arrival, size, wait, latency] = &job.times.map(|time| format!("{time:.6}"));
        writer.write_record([&job.job_type, arrival, size, wait, latency, &job.id])?;
    }
    let bytes = writer.into_inner();
    let bytes = bytes.map_err(|e| io::Error::other(e.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Journals are kept for a long time.
    #[test]
    fn reads_and_writes_the_documented_line() {
        let docs = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/how-to/production.md"
        );
        let docs = std::fs::read_to_string(docs).unwrap();
        let line = docs.lines().find(|line| line.starts_with("{\"t\":"));
        let round: Round = serde_json::from_str(line.unwrap()).unwrap();
        assert_eq!(round.told.len(), 2);
        assert_eq!(serde_json::to_string(&round).unwrap(), line.unwrap());
    }

    #[test]
    fn truncates_incomplete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.jsonl");
        let write_round = |t| {
            let round = Round::default();
            let record = JournalRecord::Round(Round { t, ..round });
            write(&mut open(&path).unwrap().0, &record).unwrap();
        };
        write_round(1.0);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
        write_round(2.0);
        let text = std::fs::read_to_string(&path).unwrap();
        let objects = text.lines().map(|line| unsealed(line).unwrap());
        let times = objects.map(|object| match serde_json::from_str(&object) {
            Ok(JournalRecord::Round(round)) => round.t,
            other => panic!("{other:?}"),
        });
        assert_eq!(times.collect::<Vec<f64>>(), [1.0, 2.0]);
    }
}
