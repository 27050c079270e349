use std::collections::BTreeMap;
use std::time::Duration;

use synth_traces::trace::EXPORT;

use super::{Slurm, SlurmError};

/// A text that was read from a file or printed by a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The path or the command.
    pub name: String,
    /// The contents.
    pub text: String,
}

/// The configuration of a cluster, by the first file name of an entry of [`EXPORT_COMMANDS`].
pub type Texts = BTreeMap<&'static str, Text>;

/// The output of the Slurm commands.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The jobs that were printed by `sacct`.
    pub log: Text,
    /// The parts of the configuration that are available.
    pub texts: Texts,
    /// The commands that failed, with the reasons.
    pub remarks: Vec<String>,
}

const SACCT_LIMIT: Duration = Duration::from_secs(600);

/// The commands that print the configuration, and the names of the files for their output.
pub(crate) const EXPORT_COMMANDS: [(&str, &[&str]); 7] = [
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
    /// Returns the commands for a login node, where `since` is a time such as `now-4weeks`.
    pub fn commands(since: &str) -> Vec<String> {
        let jobs = format!("{} > jobs.txt", sacct(since));
        let others = EXPORT_COMMANDS.map(|(command, files)| format!("{command} > {}", files[0]));
        std::iter::once(jobs).chain(others).collect()
    }
}

fn sacct(since: &str) -> String {
    EXPORT.replace("now-4weeks", since)
}

impl Slurm {
    /// Exports the configuration and the jobs since a time such as `now-4weeks` or `2026-11-01`.
    ///
    /// # Errors
    /// If the jobs cannot be exported. A missing part of the configuration is only a remark.
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

    /// Exports the configuration. Returns the texts, and the reason for each text that is missing.
    pub fn set_up(&self) -> (Texts, Vec<String>) {
        let (mut texts, mut remarks) = (Texts::new(), Vec::new());
        for (command, files) in EXPORT_COMMANDS {
            match self.answer(command) {
                Ok(text) if text.text.trim().is_empty() => {
                    remarks.push(format!("`{command}` printed nothing"));
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
        let text = self.ask_text(program, &words.collect::<Vec<_>>())?;
        let name = command.to_owned();
        Ok(Text { name, text })
    }
}
