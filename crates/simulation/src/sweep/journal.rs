//! The journal of a comparison: JSON lines with checksums, in a file next to the output. Each cell
//! is on the disk before the next one is started. The part of a shard, which is also its journal,
//! begins with a [`PartHeading`] of the whole plan, and ends with a line that marks it as complete.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::header::{Shard, SweepHeader, differences, quoted};
use synth_core::document::line::{sealed, unsealed};
use synth_core::document::{digest, fault_of_json};

/// The part of a comparison that a shard runs.
#[derive(Clone, Debug)]
pub struct Share {
    /// The shard.
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
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) shard: usize,
    pub(super) shards: usize,
    /// `sha256:…` of the plan, which is equal in all parts of a comparison.
    pub(super) plan: String,
    /// The comparison.
    pub comparison: SweepHeader,
    /// The text of the workload, so that merging needs no other file.
    pub document: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub complete: bool,
    pub cells: usize,
}

impl PartHeading {
    pub(super) const FORMAT: &'static str = "synth-part";
    pub(super) const VERSION: u32 = 1;

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

    pub(super) fn digest(&self) -> String {
        let plan = PartHeading {
            shard: 0,
            plan: String::new(),
            ..self.clone()
        };
        digest(&serde_json::to_string(&plan).unwrap_or_default())
    }

    pub(super) fn command(&self, shard: usize, output: &str) -> String {
        format!(
            "{} --shard {shard}/{} --resume --output {}",
            self.comparison.command(),
            self.shards,
            quoted(output)
        )
    }
}

/// The journal file, which is open for writing at its end.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    cells: usize,
}

impl Journal {
    /// Returns the path of the journal of an output.
    pub fn path(output: &Path) -> PathBuf {
        let mut name = output.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        output.with_file_name(name)
    }

    /// Creates a journal, or resumes it and returns its cells. The comparison is identified by
    /// `about`, in which the values of the keys in `ignored` may differ.
    ///
    /// # Errors
    /// Returns an error if there is a journal that should not be resumed, if it belongs to a
    /// different comparison, if another process writes it, or if it cannot be read or written.
    pub(super) fn open<A: Serialize + DeserializeOwned, C: DeserializeOwned>(
        output: &Path,
        about: &A,
        ignored: &[&str],
        resume: bool,
    ) -> Result<(Self, Vec<C>), String> {
        let path = Self::path(output);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path);
        let file = file.map_err(|source| refused(&path, &source))?;
        let (cells, name) = (0, path.display().to_string());
        let mut journal = Journal { path, file, cells };
        // Some file systems cannot lock, and a single writer does not need a lock.
        if let Err(TryLockError::WouldBlock) = journal.file.try_lock() {
            return Err(format!(
                "another process is writing {name}: wait for it, or choose another --output"
            ));
        }
        let there = journal.whole();
        let there = there.map_err(|why| refused(&journal.path, &why))?;
        // Without a complete line, for example because the disk was full, nothing is lost.
        if !there.is_empty() && !resume {
            return Err(format!(
                "{name} holds finished cells of an earlier comparison: give --resume to continue it, or delete it to start again"
            ));
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
        let cells: Vec<C> = cells.collect::<Result<_, String>>()?;
        journal.cells = cells.len();
        Ok((journal, cells))
    }

    fn whole(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        bytes.truncate(end_of_lines(&bytes));
        // A complete part that has not been renamed yet.
        let last = end_of_lines(&bytes[..bytes.len().saturating_sub(1)]);
        if is_end(&bytes[last..]) {
            bytes.truncate(last);
        }
        self.file.set_len(bytes.len() as u64)?;
        self.file.seek(SeekFrom::Start(bytes.len() as u64))?;
        Ok(bytes)
    }

    /// Writes a finished cell to the file, and waits until it is on the disk. Returns `false` if it
    /// has a number that cannot be represented in JSON; then it is not stored and will run again.
    pub fn append<T: Serialize + DeserializeOwned>(&mut self, cell: &T) -> Result<bool, String> {
        let text = text_of(cell)?;
        let is_kept = serde_json::from_str::<T>(&text).is_ok();
        if is_kept {
            self.line(cell)?;
            self.cells += 1;
        }
        Ok(is_kept)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), String> {
        let line = sealed(&text_of(value)?) + "\n";
        let written = self.file.write_all(line.as_bytes());
        let written = written.and_then(|()| self.file.sync_data());
        written.map_err(|source| refused(&self.path, &source))
    }

    /// Completes the part of a shard, moves it to `output`, and returns the number of its cells.
    pub fn complete(mut self, output: &Path) -> Result<usize, String> {
        self.line(&End {
            complete: true,
            cells: self.cells,
        })?;
        std::fs::rename(&self.path, output).map_err(|source| refused(output, &source))?;
        Ok(self.cells)
    }

    /// Deletes the journal of a finished comparison.
    pub fn remove(self) -> Result<(), String> {
        std::fs::remove_file(&self.path).map_err(|source| refused(&self.path, &source))
    }
}

fn parse<T: DeserializeOwned>(name: &str, line: usize, text: &str) -> Result<T, String> {
    let object = unsealed(text).ok_or_else(|| DAMAGED.into());
    let cell = object.and_then(|own| serde_json::from_str(&own).map_err(|e| fault_of_json(&e)));
    let line = line + 1;
    cell.map_err(|why| format!("{name}, line {line}: {why}; delete the file to start again"))
}

pub(super) const DAMAGED: &str = "the checksum does not match: the line was damaged or modified";

fn end_of_lines(bytes: &[u8]) -> usize {
    let end = bytes.iter().rposition(|b| *b == b'\n');
    end.map_or(0, |end| end + 1)
}

fn is_end(line: &[u8]) -> bool {
    let object = unsealed(String::from_utf8_lossy(line).trim_end());
    object.is_some_and(|object| serde_json::from_str::<End>(&object).is_ok())
}

pub(super) fn same(
    path: &str,
    there: &impl Serialize,
    here: &impl Serialize,
    ignored: &[&str],
) -> Result<(), String> {
    let differences = differences(there, here, ignored);
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{path} belongs to a different comparison:\n  {}\ngive the same options to continue it, or delete it to start again",
        differences.join("\n  ")
    ))
}

fn refused(path: &Path, source: &io::Error) -> String {
    format!("cannot write {}: {source}", path.display())
}

fn text_of(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| format!("cannot serialize a cell: {error}"))
}
