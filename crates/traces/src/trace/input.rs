use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::error::TraceError;
use synth_core::document::{is_standard_input, kept};

/// The source of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The standard input.
    Input,
    /// Bytes with a name.
    Text(String, Vec<u8>),
}

impl Source {
    /// Returns the source for a path; `-` is standard input.
    pub fn named(path: &Path) -> Self {
        if is_standard_input(path) {
            Source::Input
        } else if let Some(bytes) = kept(path) {
            Source::Text(path.display().to_string(), bytes.to_vec())
        } else {
            Source::File(path.into())
        }
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Input => "standard input".into(),
            Source::Text(name, _) => name.clone(),
        }
    }
}

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
        let why = "it is compressed with zstd: decompress it first, for example with `zstd -dc FILE`, and read standard input (-)";
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    if !start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(raw));
    }
    let unpacked = MultiGzDecoder::new(raw);
    Ok(Box::new(BufReader::with_capacity(1 << 16, unpacked)))
}
