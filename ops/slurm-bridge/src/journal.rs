//! The journal of a bridge contains one JSON object per round. It can be replayed.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::measured::{EndedJob, OpenJobs};
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
    Learned {
        /// The estimates that are used by the next bridge.
        learned: LearnedRuntimes,
    },
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// The path of the policy file.
    pub policy: String,
    /// The digest of the file.
    pub digest: String,
    pub cluster: String,
    pub partition: String,
    /// The time unit of the policy. All times are measured from the start of the bridge.
    pub time_unit: String,
    /// The seed of the random clocks of the policy.
    pub seed: u64,
    /// The learned runtime estimates, if they are not the estimates of the policy file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedRuntimes>,
}

pub(super) struct Journal {
    file: Option<File>,
    /// The state that was left by the previous bridges.
    pub before: PreviousState,
}

impl Journal {
    /// Opens a journal and appends to it. If the last line is incomplete, it is removed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
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
            before = PreviousState::read(&text[..end]);
        }
        let file = Some(file);
        Ok(Journal { file, before })
    }

    /// Writes a line. If this fails, the error is returned, and no more lines are written.
    pub(crate) fn write(&mut self, record: &JournalRecord) -> Option<io::Error> {
        let file = self.file.as_mut()?;
        let line = serde_json::to_string(record).map_err(io::Error::other);
        // The line is written at once, so that only the last line of the file can be incomplete.
        let written = line.and_then(|line| file.write_all((sealed(&line) + "\n").as_bytes()));
        written.err().inspect(|_| self.file = None)
    }
}

#[derive(Default)]
pub(super) struct PreviousState {
    /// The estimates that were learned last, and the digest of their policy.
    pub learned: Option<(LearnedRuntimes, String)>,
    /// The jobs that were sent to servers. They may not have been released yet.
    pub placed: HashMap<JobKey, Started>,
}

impl PreviousState {
    fn read(text: &[u8]) -> Self {
        let mut own = PreviousState::default();
        let mut digest = None;
        for line in text.split(|byte| *byte == b'\n') {
            let is_of_policy =
                line.starts_with(b"{\"learned\"") || line.starts_with(b"{\"policy\"");
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
}

pub(super) struct ReplayedJournal {
    /// The number of rounds in which this policy made a decision.
    pub rounds: u64,
    /// The number of jobs that were started.
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

/// This function is called for each line, with the scheduler after the line and the jobs that it
/// starts.
pub(super) type OnLine<'a> = &'a mut dyn FnMut(&Line, &Scheduler, &[Started]);

pub(super) fn replay(
    path: &Path,
    (policy, digest): &(Checked, String),
    on_line: OnLine<'_>,
) -> Result<ReplayedJournal, String> {
    let name = path.display();
    let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut heads: Vec<Head> = Vec::new();
    let mut replay: Option<ReplayedJournal> = None;
    let mut is_own = false;
    for (n, line) in lines.iter().enumerate() {
        if n + 1 == lines.len() && !line.ends_with('\n') {
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
                    let own = replay.get_or_insert_with(|| ReplayedJournal::new(scheduler()));
                    let before = std::mem::replace(&mut own.scheduler, scheduler());
                    own.scheduler.remember(&before);
                    own.present.0.clear();
                }
                heads.push(head);
            }
            JournalRecord::Round(round) if is_own => {
                if let Some(replay) = &mut replay {
                    replay
                        .round(n + 1, &round, on_line)
                        .map_err(|why| wrong(&why))?;
                }
            }
            // The estimates are learned again when the rounds are replayed.
            JournalRecord::Round(_) | JournalRecord::Learned { .. } => {}
        }
    }
    if heads.is_empty() {
        return Err(format!(
            "{name}, line 1: there is no policy header: the file is empty or is not a journal"
        ));
    }
    replay.ok_or_else(|| {
        let heads = heads.iter();
        let policies = heads.map(|head| format!("{} ({})", head.policy, head.digest));
        let policies = policies.collect::<Vec<_>>().join(", ");
        format!("{name} does not contain decisions of the policy {digest}, but only of {policies}")
    })
}

impl ReplayedJournal {
    fn new(scheduler: Scheduler) -> Self {
        ReplayedJournal {
            rounds: 0,
            starts: 0,
            differs: None,
            jobs: Vec::new(),
            scheduler,
            t: 0.0,
            present: OpenJobs::default(),
            began: 0.0,
        }
    }

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
        self.jobs.extend(self.present.follow(self.t, round));
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

    /// The line in docs/production.md must remain valid, because journals are kept for a long time.
    #[test]
    fn reads_and_writes_the_documented_line() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/production.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        let line = docs.lines().find(|line| line.starts_with("{\"t\":"));
        let round: Round = serde_json::from_str(line.unwrap()).unwrap();
        assert_eq!(round.told.len(), 2);
        assert_eq!(serde_json::to_string(&round).unwrap(), line.unwrap());
    }

    /// If a bridge is killed, the last line may be incomplete. It is removed by the next bridge.
    #[test]
    fn truncates_incomplete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.jsonl");
        let round = |t| {
            JournalRecord::Round(Round {
                t,
                ..Round::default()
            })
        };
        assert!(Journal::open(&path).unwrap().write(&round(1.0)).is_none());
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
        assert!(Journal::open(&path).unwrap().write(&round(2.0)).is_none());
        let text = std::fs::read_to_string(&path).unwrap();
        let objects = text.lines().map(|line| unsealed(line).unwrap());
        let times = objects.map(|object| match serde_json::from_str(&object) {
            Ok(JournalRecord::Round(round)) => round.t,
            other => panic!("{other:?}"),
        });
        assert_eq!(times.collect::<Vec<f64>>(), [1.0, 2.0]);
    }
}
