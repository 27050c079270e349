//! Bytes of a trace, compressed or not, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::error::TraceError;
use synth_core::document::{is_standard_input, kept};

/// Where a trace is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Input,
    /// These bytes, by this name.
    Text(String, Vec<u8>),
}

impl Source {
    /// Returns the file of this name; `-` is standard input.
    pub fn named(path: &Path) -> Self {
        if is_standard_input(path) {
            Source::Input
        } else if let Some(bytes) = kept(path) {
            Source::Text(path.display().to_string(), bytes.to_vec())
        } else {
            Source::File(path.into())
        }
    }

    /// Returns how messages name it.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Input => "standard input".into(),
            Source::Text(name, _) => name.clone(),
        }
    }
}

/// Returns the bytes of a file or of standard input; a gzip file is unpacked, whatever its name.
///
/// # Errors
/// When it cannot be opened or read.
pub(super) fn open(source: &Source) -> Result<Box<dyn BufRead>, TraceError> {
    unpacked(source).map_err(|why| TraceError::unreadable(&source.name(), 0, why))
}

fn unpacked(source: &Source) -> io::Result<Box<dyn BufRead>> {
    let raw: Box<dyn Read> = match source {
        Source::File(path) => Box::new(File::open(path)?),
        Source::Input => Box::new(io::stdin()),
        Source::Text(_, bytes) => Box::new(io::Cursor::new(bytes.clone())),
    };
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    let start = raw.fill_buf()?;
    if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let why = "it is packed by zstd: unpack it first, such as with `zstd -dc FILE`, and read standard input (-)";
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    if !start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(raw));
    }
    let unpacked = MultiGzDecoder::new(raw);
    Ok(Box::new(BufReader::with_capacity(1 << 16, unpacked)))
}
