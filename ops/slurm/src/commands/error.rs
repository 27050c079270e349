use std::time::Duration;

/// The error of a Slurm command. In this case nothing is known about the cluster.
#[derive(Debug, thiserror::Error)]
pub enum SlurmError {
    /// The command cannot be run, its output is unexpected or lacks a required column, or the
    /// partition does not exist.
    #[error("{0}")]
    Unusable(String),
    /// The command did not end or did not close its output within the time limit, and was killed.
    #[error(
        "{program} did not answer within {} s: check that slurmctld is running and reachable (`scontrol ping`)", .limit.as_secs_f64()
    )]
    Timeout {
        /// The command.
        program: String,
        /// The time limit.
        limit: Duration,
    },
    /// The command ended with a nonzero exit code, or was ended by a signal.
    #[error("{program} ended {}: {}", ended(*.code), first_lines(.text))]
    Failed {
        /// The command.
        program: String,
        /// The exit code, or `None` after a signal.
        code: Option<i32>,
        /// The standard error of the command, or its standard output if that is empty.
        text: String,
    },
}

fn ended(code: Option<i32>) -> String {
    match code {
        None => "by a signal".into(),
        Some(code) => format!("with exit code {code}"),
    }
}

fn first_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match &lines.take(3).collect::<Vec<_>>()[..] {
        [] => "no output".into(),
        lines => lines.join("; "),
    }
}
