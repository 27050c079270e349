//! Why a command of Slurm has no answer.

use std::time::Duration;

/// Why a command of Slurm has no answer. Nothing about the cluster follows from any of these.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    /// A command could not be run, or what it wrote is no answer of Slurm, or has not the columns that are read here; or
    /// there is no such partition.
    #[error("{0}")]
    Unusable(String),
    /// It had not ended, or not closed its output, when its time was over; it was killed.
    #[error(
        "{program} gave no answer within {} s: see whether slurmctld runs and can be reached (`scontrol ping`)", .limit.as_secs_f64()
    )]
    Late {
        /// The command's name.
        program: String,
        /// Its time.
        limit: Duration,
    },
    /// It ended with another exit code than 0, or by a signal.
    #[error("{program} ended {}: {}", ended(*.code), first_lines(.text))]
    Failed {
        /// The command's name.
        program: String,
        /// The exit code; none of a command that a signal ended.
        code: Option<i32>,
        /// What it wrote to standard error, or else to standard output.
        text: String,
    },
}

fn ended(code: Option<i32>) -> String {
    match code {
        None => "by a signal".into(),
        Some(code) => format!("with exit code {code}"),
    }
}

/// Returns the first lines of what a command wrote.
fn first_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match &lines.take(3).collect::<Vec<_>>()[..] {
        [] => "it wrote nothing".into(),
        lines => lines.join("; "),
    }
}
