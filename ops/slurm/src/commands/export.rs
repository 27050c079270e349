//! What a login node says of a site: its jobs of the last weeks, and how it is set up.

use std::collections::BTreeMap;
use std::time::Duration;

use synth_traces::trace::EXPORT;

use super::{Slurm, SlurmError};

/// A text and what it is called where it is spoken of: a file's name, or the command that printed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// How a cluster is set up: the answers by the name of the file into which a user writes them, the first of [`QUESTIONS`].
pub type Texts = BTreeMap<&'static str, Text>;

/// The answers of Slurm's commands.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The jobs, as `sacct` printed them.
    pub log: Text,
    /// How the cluster is set up, as far as it was answered.
    pub texts: Texts,
    /// What was not answered, and why.
    pub remarks: Vec<String>,
}

/// How long sacct may take.
const SACCT_LIMIT: Duration = Duration::from_secs(600);

/// The commands besides that for the jobs, and the names of the file for the answer of each; commands write the first one.
pub(crate) const QUESTIONS: [(&str, &[&str]); 7] = [
    ("scontrol show config", &["config.txt", "slurm.conf"]),
    ("scontrol show node -o", &["nodes.txt"]),
    ("scontrol show partition -o", &["partitions.txt"]),
    ("sacctmgr -P show qos", &["qos.txt"]),
    ("sacctmgr -P show assoc tree", &["assoc.txt"]),
    ("sshare -alP", &["shares.txt"]),
    (
        "scontrol show reservation -o",
        &["reservations.txt", "reservation.txt", "res.txt", "resv.txt"],
    ),
];

impl Exported {
    /// Returns the commands whose answers these are, as they are typed on a login node; `since` is such as `now-4weeks`.
    pub fn commands(since: &str) -> Vec<String> {
        let jobs = format!("{} > jobs.txt", sacct(since));
        let others = QUESTIONS.map(|(command, files)| format!("{command} > {}", files[0]));
        std::iter::once(jobs).chain(others).collect()
    }
}

/// The command of the jobs that came or ran since then.
fn sacct(since: &str) -> String {
    EXPORT.replace("now-4weeks", since)
}

impl Slurm {
    /// Asks for all jobs since a time in sacct's words, such as `now-4weeks` or `2026-11-01`, and how the cluster is set
    /// up. Where accounting is not set up, its qualities of service and associations are missing.
    ///
    /// # Errors
    /// As [`SlurmError`] has it, if there are no jobs to be read.
    pub fn export(&self, since: &str) -> Result<Exported, SlurmError> {
        let slurm = Slurm {
            limit: self.limit.max(SACCT_LIMIT),
            ..self.clone()
        };
        let log = slurm.answer(&sacct(since))?;
        let (texts, remarks) = self.set_up();
        Ok(Exported {
            log,
            texts,
            remarks,
        })
    }

    /// Asks how the cluster is set up. Returns the answers, and why others are missing.
    pub fn set_up(&self) -> (Texts, Vec<String>) {
        let (mut texts, mut remarks) = (Texts::new(), Vec::new());
        for (command, files) in QUESTIONS {
            match self.answer(command) {
                Ok(text) if text.text.trim().is_empty() => {
                    remarks.push(format!("`{command}` wrote nothing"));
                }
                Ok(text) => drop(texts.insert(files[0], text)),
                Err(why) => remarks.push(format!("`{command}`: {why}")),
            }
        }
        (texts, remarks)
    }

    fn answer(&self, command: &str) -> Result<Text, SlurmError> {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        let text = self.told(program, &words.collect::<Vec<_>>())?;
        let name = command.to_owned();
        Ok(Text { name, text })
    }
}
