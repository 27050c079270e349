//! The finished cells of a comparison under way: a file of JSON lines beside its output, each line
//! on the disk before the next cell begins.

use std::error::Error;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use synth::multiresource::report::{Cell, Header};

/// The file, open at its end.
pub struct Journal {
    path: PathBuf,
    file: File,
}

type Opened<T> = Result<T, Box<dyn Error>>;

impl Journal {
    /// Where the journal of an output stands.
    pub fn path(output: &Path) -> PathBuf {
        let mut name = output.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        output.with_file_name(name)
    }

    /// Begins a journal; or, to resume, goes on with the one that is there and gives its cells.
    ///
    /// # Errors
    /// When there is one and it shall not be resumed, when it is about something else or cannot
    /// be read, when another process writes it, when the disk refuses.
    pub fn open(output: &Path, header: &Header, resume: bool) -> Opened<(Self, Vec<Cell>)> {
        let path = Self::path(output);
        let there = path.exists();
        let mut options = OpenOptions::new();
        let opened = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let file = opened.map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        let mut journal = Journal { path, file };
        journal.lock()?;
        if there && !resume {
            return Err(format!(
                "{} holds the finished part of an earlier comparison: give --resume to go on with it, or delete it to begin anew",
                journal.path.display()
            )
            .into());
        }
        let cells = journal.read(header)?;
        Ok((journal, cells))
    }

    fn lock(&self) -> Opened<()> {
        match self.file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(format!(
                "another process is writing {}: wait for it, or choose another --output",
                self.path.display()
            )
            .into()),
            // Not every file system can lock, and one writer needs no lock.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// The cells that are there; what follows the last whole line is cut off.
    fn read(&mut self, header: &Header) -> Opened<Vec<Cell>> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let whole = bytes
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |end| end + 1);
        self.file.set_len(whole as u64)?;
        self.file.seek(SeekFrom::Start(whole as u64))?;
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let mut lines = text.lines().enumerate();
        match lines.next() {
            None => self.line(header)?,
            Some((_, first)) => self.same(first, header)?,
        }
        lines.map(|(n, line)| self.parse(n, line)).collect()
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, line: usize, text: &str) -> Opened<T> {
        serde_json::from_str(text).map_err(|e| {
            format!(
                "{}, line {}: {e}; delete the file to begin anew",
                self.path.display(),
                line + 1
            )
            .into()
        })
    }

    /// Whether it is about this comparison.
    fn same(&self, first: &str, header: &Header) -> Opened<()> {
        let there: Header = self.parse(0, first)?;
        match there.differences(header).as_slice() {
            [] => Ok(()),
            differences => Err(format!(
                "{} is of another comparison:\n  {}\ngive the same options to go on with it, or delete it to begin anew",
                self.path.display(),
                differences.join("\n  ")
            )
            .into()),
        }
    }

    /// Writes a finished cell down, and waits until it is on the disk. A run with a number that
    /// JSON cannot hold is left out, and so comes anew in a later run.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn append(&mut self, cell: &Cell) -> Opened<()> {
        let text = serde_json::to_string(cell)?;
        match serde_json::from_str::<Cell>(&text) {
            Ok(_) => self.line(cell),
            Err(_) => Ok(()),
        }
    }

    fn line(&mut self, value: &impl serde::Serialize) -> Opened<()> {
        let text = serde_json::to_string(value)? + "\n";
        let written = self.file.write_all(text.as_bytes());
        let kept = written.and_then(|()| self.file.sync_data());
        kept.map_err(|e| format!("cannot write {}: {e}", self.path.display()).into())
    }

    /// Deletes it: the comparison is done.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn remove(self) -> Opened<()> {
        std::fs::remove_file(&self.path)
            .map_err(|e| format!("cannot delete {}: {e}", self.path.display()).into())
    }
}
