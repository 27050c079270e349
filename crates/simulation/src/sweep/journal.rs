//! The finished cells of a comparison under way: a file of JSON lines beside its output, each line
//! on the disk before the next cell begins.
//!
//! A part of a comparison is what one shard has run, in a file of its own. Its first line is the
//! [`PartHeading`], with the whole plan; a line a cell follows; the last line says that it is whole. Each line
//! has a check. While its cells run, it is the journal of its shard.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::header::{Shard, SweepHeader, differences, quoted};
use synth_core::document::line::{sealed, unsealed};
use synth_core::document::{digest, fault_of_json};

/// What is shared out, and to whom, beside what every comparison says of itself.
#[derive(Clone, Debug)]
pub struct Share {
    /// Which part runs.
    pub shard: Shard,
    /// The kind of workload.
    pub kind: String,
    /// The text of the workload.
    pub document: String,
}

/// The first line of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartHeading {
    /// The kind of workload.
    pub kind: String,
    /// `synth-part`.
    pub format: String,
    /// Version of the shape of parts.
    pub version: u32,
    /// Which part it is, from 1.
    pub shard: usize,
    /// How many there are.
    pub shards: usize,
    /// `sha256:…` of all that follows, of the kind and of the number of shards: the same in all parts
    /// of a comparison.
    pub plan: String,
    /// The comparison.
    pub comparison: SweepHeader,
    /// The text of the workload: whoever merges needs no other file.
    pub document: String,
}

/// The last line of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// Always true.
    pub complete: bool,
    /// Lines of cells before it.
    pub cells: usize,
}

impl PartHeading {
    pub(super) const FORMAT: &'static str = "synth-part";
    pub(super) const VERSION: u32 = 1;

    /// Returns the heading of this share of a comparison.
    pub(super) fn new(comparison: &SweepHeader, share: &Share) -> Self {
        let mut heading = PartHeading {
            kind: share.kind.clone(),
            format: PartHeading::FORMAT.into(),
            version: PartHeading::VERSION,
            shard: share.shard.number,
            shards: share.shard.of,
            plan: String::new(),
            comparison: comparison.clone(),
            document: share.document.clone(),
        };
        heading.plan = heading.digest();
        heading
    }

    /// Returns what identifies the plan.
    pub(super) fn digest(&self) -> String {
        let plan = PartHeading {
            shard: 0,
            plan: String::new(),
            ..self.clone()
        };
        // Every field of a plan has a form in JSON.
        digest(&serde_json::to_string(&plan).unwrap_or_default())
    }

    /// Returns the command that runs a shard of this plan, or what is left of it.
    pub(super) fn command(&self, shard: usize, output: &str) -> String {
        format!(
            "{} --shard {shard}/{} --resume --output {}",
            self.comparison.command(),
            self.shards,
            quoted(output)
        )
    }
}

/// The file, open at its end.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Cells that it holds.
    cells: usize,
}

/// Why a journal, or the parts of a comparison, cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JournalError(pub(super) String);

type Opened<T> = Result<T, JournalError>;

impl Journal {
    /// Returns where the journal of an output stands.
    pub fn path(output: &Path) -> PathBuf {
        let mut name = output.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        output.with_file_name(name)
    }

    /// Begins a journal that is about this; or, to resume, continues the one that is there and gives its cells.
    /// What stands under the keys `ignored` may differ there.
    ///
    /// # Errors
    /// When there is one and it shall not be resumed, when it is about something else or cannot
    /// be read, when another process writes it, when the disk refuses.
    pub(super) fn open<A: Serialize + DeserializeOwned, C: DeserializeOwned>(
        output: &Path,
        about: &A,
        ignored: &[&str],
        resume: bool,
    ) -> Opened<(Self, Vec<C>)> {
        let path = Self::path(output);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path);
        let file = file.map_err(|source| refused(&path, &source))?;
        let (cells, name) = (0, path.display().to_string());
        let mut journal = Journal { path, file, cells };
        // Not every file system can lock, and one writer needs no lock.
        if let Err(TryLockError::WouldBlock) = journal.file.try_lock() {
            return Err(JournalError(format!(
                "another process is writing {name}: wait for it, or choose another --output"
            )));
        }
        let there = journal.whole();
        let there = there.map_err(|why| refused(&journal.path, &why))?;
        // Without a whole line nothing is lost: a full disk leaves it so.
        if !there.is_empty() && !resume {
            return Err(JournalError(format!(
                "{name} holds the finished part of an earlier comparison: give --resume to continue it, or delete it to start again"
            )));
        }
        let text = String::from_utf8_lossy(&there);
        let mut lines = text.lines().enumerate();
        match lines.next() {
            None => journal.line(about)?,
            Some((_, first)) => {
                let there: A = parse(&name, 0, first)?;
                same(&name, &there, about, ignored)?;
            }
        }
        let cells = lines.map(|(n, line)| parse(&name, n, line));
        let cells: Vec<C> = cells.collect::<Opened<_>>()?;
        journal.cells = cells.len();
        Ok((journal, cells))
    }

    /// Returns the bytes up to the end of the last whole line, after which the file goes on.
    fn whole(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        bytes.truncate(end_of_lines(&bytes));
        // A part that was whole, and not yet in its place.
        let last = end_of_lines(&bytes[..bytes.len().saturating_sub(1)]);
        if is_end(&bytes[last..]) {
            bytes.truncate(last);
        }
        self.file.set_len(bytes.len() as u64)?;
        self.file.seek(SeekFrom::Start(bytes.len() as u64))?;
        Ok(bytes)
    }

    /// Writes a finished cell down, and waits until it is on the disk. A run with a number that
    /// JSON cannot hold is left out, and so runs again in a later process; says whether it is kept.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn append<T: Serialize + DeserializeOwned>(&mut self, cell: &T) -> Opened<bool> {
        let text = text_of(cell)?;
        let is_kept = serde_json::from_str::<T>(&text).is_ok();
        if is_kept {
            self.line(cell)?;
            self.cells += 1;
        }
        Ok(is_kept)
    }

    fn line(&mut self, value: &impl Serialize) -> Opened<()> {
        let line = sealed(&text_of(value)?) + "\n";
        let written = self.file.write_all(line.as_bytes());
        let written = written.and_then(|()| self.file.sync_data());
        written.map_err(|source| refused(&self.path, &source))
    }

    /// Makes it the part that goes to this file, with a last line that says that it is whole; gives the
    /// number of its cells.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn complete(mut self, output: &Path) -> Opened<usize> {
        self.line(&End {
            complete: true,
            cells: self.cells,
        })?;
        std::fs::rename(&self.path, output).map_err(|source| refused(output, &source))?;
        Ok(self.cells)
    }

    /// Deletes it: the comparison is done.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn remove(self) -> Opened<()> {
        std::fs::remove_file(&self.path).map_err(|source| refused(&self.path, &source))
    }
}

fn parse<T: DeserializeOwned>(name: &str, line: usize, text: &str) -> Opened<T> {
    let object = unsealed(text).ok_or_else(|| DAMAGED.into());
    let cell = object.and_then(|own| serde_json::from_str(&own).map_err(|e| fault_of_json(&e)));
    let line = line + 1;
    cell.map_err(|why| {
        JournalError(format!(
            "{name}, line {line}: {why}; delete the file to start again"
        ))
    })
}

/// What is wrong with a line whose check does not fit.
pub(super) const DAMAGED: &str = "it does not fit its check: it was damaged or changed";

/// Returns where the last whole line ends.
fn end_of_lines(bytes: &[u8]) -> usize {
    let end = bytes.iter().rposition(|b| *b == b'\n');
    end.map_or(0, |end| end + 1)
}

/// Returns whether it is the last line of a part.
fn is_end(line: &[u8]) -> bool {
    let object = unsealed(String::from_utf8_lossy(line).trim_end());
    object.is_some_and(|object| serde_json::from_str::<End>(&object).is_ok())
}

/// Checks that what is at this place is about the same, but for what stands under these keys.
pub(super) fn same(
    path: &str,
    there: &impl Serialize,
    here: &impl Serialize,
    ignored: &[&str],
) -> Opened<()> {
    let differences = differences(there, here, ignored);
    if differences.is_empty() {
        return Ok(());
    }
    Err(JournalError(format!(
        "{path} is of another comparison:\n  {}\ngive the same options to continue it, or delete it to start again",
        differences.join("\n  ")
    )))
}

fn refused(path: &Path, source: &io::Error) -> JournalError {
    JournalError(format!("cannot write {}: {source}", path.display()))
}

fn text_of(value: &impl Serialize) -> Opened<String> {
    serde_json::to_string(value)
        .map_err(|error| JournalError(format!("a cell cannot be written: {error}")))
}
