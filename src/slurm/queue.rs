//! The queue of a partition.

use std::collections::HashSet;

use super::columns::Layout;
use super::row::LAYOUT;
use super::{Key, Row, Slurm, SlurmError, Unread};

/// All jobs of a partition that wait or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Those that were understood, in Slurm's order. Each has a key of its own.
    pub rows: Vec<Row>,
    /// Those that were not: that a job is among the known of these is no sign that it has left, and where some are
    /// nameless, no job's absence is.
    pub unread: Unread<Key>,
}

/// Jobs that wait, are made ready, run, end, or are stopped.
const STATES: &str = "PD,CF,R,CG,S";

impl Slurm {
    /// Reads the queue.
    ///
    /// # Errors
    /// As [`SlurmError`] has it. An unknown partition is none: its queue is empty.
    pub fn queue(&self) -> Result<Queue, SlurmError> {
        let bytes = self.ask_queue(&["-h"])?;
        Ok(Queue::parse(&bytes))
    }

    /// Numbers of all jobs and arrays that wait or run, in any partition.
    ///
    /// # Errors
    /// As [`SlurmError`] has it.
    pub fn present(&self) -> Result<HashSet<u32>, SlurmError> {
        let bytes = self.ask("squeue", &["-h", "-a", "-t", STATES, "-o", "%F"])?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text
            .lines()
            .filter_map(|line| line.trim().parse().ok())
            .collect())
    }

    /// Checks that this Slurm prints the columns that are read here; returns its queue.
    pub(super) fn titled_queue(&self) -> Result<Queue, SlurmError> {
        let bytes = self
            .ask_queue(&[])
            .map_err(|error| unprinted(&LAYOUT, error))?;
        Ok(Queue::parse(LAYOUT.below_titles(&bytes)?))
    }

    fn ask_queue(&self, words: &[&str]) -> Result<Vec<u8>, SlurmError> {
        let columns = LAYOUT.asked();
        let fixed = [
            "-r",
            "-a",
            "-p",
            &self.partition,
            "-t",
            STATES,
            "-O",
            &columns,
        ];
        self.ask("squeue", &[words, &fixed].concat())
    }
}

impl Queue {
    /// Returns the columns that `squeue` is asked for: name, title and width \[bytes\] of each.
    #[must_use]
    pub fn columns() -> &'static [(&'static str, &'static str, usize)] {
        LAYOUT.columns
    }

    /// Reads what `squeue` printed, whatever it is.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut seen = HashSet::new();
        let (rows, unread) = LAYOUT.read(bytes, |cells| {
            let row = Row::read(cells)?;
            if seen.insert(row.key.id) {
                Ok(row)
            } else {
                Err(("a second row of one job".into(), Some(row.key)))
            }
        });
        Queue { rows, unread }
    }
}

/// Slurm names a column that it does not know: `Invalid job format specification: X`.
pub(super) fn unprinted(layout: &Layout, error: SlurmError) -> SlurmError {
    match error {
        SlurmError::Failed {
            program,
            code,
            text,
        } => {
            let named = text.rsplit_once("format specification:");
            match named.and_then(|(_, column)| column.split_whitespace().next()) {
                Some(column) => SlurmError::Column {
                    column: column.into(),
                    found: format!("`{}`", text.trim()),
                    program,
                },
                None => SlurmError::Failed {
                    program,
                    code,
                    text,
                },
            }
        }
        SlurmError::Column { column, found, .. } => SlurmError::Column {
            program: layout.program.into(),
            column,
            found,
        },
        other => other,
    }
}
