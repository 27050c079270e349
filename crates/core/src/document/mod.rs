//! Documents in YAML: how they are read, how they are written, and what is said of their faults.
//!
//! A document becomes a tree of texts with their places (`node`). What a type's JSON schema says
//! of it is checked there, so that every fault is found in one go, at its place (`conform`); then
//! the type is read by what `serde` derives for JSON. Numbers go through
//! [`Decimal::parse`](crate::number::Decimal::parse): none passes through a binary double before
//! it is understood.

mod conform;
mod fault;
mod json;
pub mod line;
mod names;
mod node;
mod pairs;
mod sheet;
mod syntax;
mod words;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_yaml::FlowSeq;
use sha2::{Digest, Sha256};

pub use fault::{Fault, Place, Step};
pub use fault::{place, within};
pub use json::{fault_of_json, harmless};
pub use names::{SENSIBLE, check_names, check_unit, sensible, suggest, unusable};
pub use names::{nearest, steers};
pub use node::Node;
pub use pairs::Pairs;
use sheet::Sheet;
pub use words::meant;

/// A document that was read, not yet checked.
pub struct Document<'a> {
    sheet: Sheet<'a>,
    /// How such a document reads, for those who have to write one.
    example: &'static str,
    /// The whole document.
    pub root: Node,
}

/// What a document describes, and what its author should know though it is no fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<W> {
    /// The checked workload.
    pub workload: W,
    /// Warnings, each with its place in the document, ready for standard error.
    pub warnings: Vec<String>,
}

/// A checked value and what to warn of, or all its faults.
pub type Checked<W> = Result<(W, Vec<Fault>), Vec<Fault>>;

/// Why nothing was read. Displayed, it is ready for standard error.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file cannot be read.
    #[error(
        "error: cannot read the workload {}: {source}\n = help: check the path, and that the file may be read",
        called(path)
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What was read has faults.
    #[error("{report}")]
    Faults {
        /// All faults as text, with the lines of the document that they stand in.
        report: String,
        /// The faults one by one.
        faults: Vec<Fault>,
    },
}

impl DocumentError {
    /// Faults of what has no document to quote.
    pub fn without_text(faults: Vec<Fault>) -> Self {
        let lines: Vec<String> = faults
            .iter()
            .map(|f| {
                format!(
                    "error: {}\n --> {}\n = help: {}",
                    f.message, f.place, f.help
                )
            })
            .collect();
        Self::Faults {
            report: lines.join("\n\n"),
            faults,
        }
    }
}

impl<'a> Document<'a> {
    /// Reads YAML; `name` stands for the file in messages.
    pub fn parse(
        text: &'a str,
        name: &'a str,
        example: &'static str,
    ) -> Result<Self, DocumentError> {
        let sheet = Sheet { text, name };
        let root = syntax::read(&sheet, example)?;
        Ok(Self {
            sheet,
            example,
            root,
        })
    }

    /// Returns what is wrong with the kind of workload that it names, if that is not this one.
    ///
    /// # Errors
    /// When it seems to be of another kind altogether: then nothing else is to be said of it.
    pub fn misnamed(&self, kind: &str) -> Result<Vec<Fault>, DocumentError> {
        let found = self.root.get("kind").and_then(Node::text);
        let Some(found) = found.filter(|found| *found != kind) else {
            return Ok(Vec::new());
        };
        let message = format!("unknown kind of workload `{found}`");
        let help = suggest(found, "here it is", &[kind]);
        let faults = vec![Fault::new(place!("kind"), message, help)];
        match nearest(found, &[kind]) {
            Some(_) => Ok(faults),
            None => Err(self.refuse(faults)),
        }
    }

    /// Returns the document as a value of this type, and all faults that its form has. Where a value has
    /// faults and the type's schema allows null instead of it, null it is, so that the rest can
    /// be checked; there is no value where that cannot be.
    pub fn read<T: DeserializeOwned + JsonSchema>(&self) -> (Option<T>, Vec<Fault>) {
        conform::read(&self.root, self.example)
    }

    /// Returns all these faults, in the order of the text.
    pub fn refuse(&self, faults: Vec<Fault>) -> DocumentError {
        let located = faults.into_iter().map(|fault| {
            let range = self.root.locate(&fault);
            (fault, range)
        });
        self.sheet.refuse(located.collect())
    }

    /// Returns a checked workload with its warnings, or all faults of the document. `respelt` is the place
    /// in the document of what is checked at another one.
    pub fn conclude<W>(
        &self,
        checked: Checked<W>,
        respelt: impl Fn(&Place) -> Option<Place>,
    ) -> Result<Parsed<W>, DocumentError> {
        let here = |fault: Fault| match respelt(&fault.place) {
            Some(place) => fault.at(place),
            None => fault,
        };
        let (workload, warnings) =
            checked.map_err(|faults| self.refuse(faults.into_iter().map(here).collect()))?;
        let warn = |fault: Fault| self.sheet.warn(&fault, self.root.locate(&fault));
        Ok(Parsed {
            workload,
            warnings: warnings.into_iter().map(here).map(warn).collect(),
        })
    }
}

/// Returns the YAML of a value.
pub fn to_yaml(value: &impl Serialize) -> String {
    serde_yaml::to_string(value).expect("a document is made of maps, lists, texts and numbers")
}

/// Of a list: a document has one line for it, however long it is.
pub fn in_one_line<T: Serialize, S: Serializer>(
    list: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    FlowSeq(list).serialize(serializer)
}

/// Returns what identifies a text: `sha256:` and 64 hexadecimal digits.
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// How a document is read from its text and the name of its file.
pub type Parse<W> = fn(&str, &str) -> Result<Parsed<W>, DocumentError>;

/// Reads the document in a file of UTF-8 text, at most 64 MiB.
///
/// # Errors
/// When it cannot be read, and with every fault found in it.
pub fn read_file<W>(path: &Path, parse: Parse<W>) -> Result<Parsed<W>, DocumentError> {
    let bytes = bytes_of(path, LARGEST).map_err(|source| DocumentError::Io {
        path: path.to_owned(),
        source,
    })?;
    parse_bytes(&bytes, &called(path), parse)
}

/// The most bytes of a workload, and of another document that is kept in memory.
const LARGEST: u64 = 64 << 20;
const LARGEST_OF_ALL: u64 = 256 << 20;

/// Returns the text of a file.
///
/// # Errors
/// When it cannot be read, is larger than 256 MiB, or is no text.
pub fn text_of(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(all_bytes_of(path.as_ref())?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let why = format!("it is no UTF-8 text from byte {at} on");
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

/// Returns what is in a file, or comes from standard input: `-`.
///
/// # Errors
/// When it cannot be read, or is larger than 256 MiB.
pub fn all_bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    bytes_of(path, LARGEST_OF_ALL)
}

/// Returns whether a file that is read is standard input: `-` is.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns what messages call a file that is read.
pub fn called(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// What came from standard input, which can be read once only; that it could not be, as text.
static STANDARD_INPUT: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();

/// Returns the bytes of a file, if they are no more than so many: a device or a log given by mistake must not
/// fill the memory.
fn bytes_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let read = |from: &mut dyn Read, most: u64| {
        let mut bytes = Vec::new();
        from.take(most + 1).read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = match is_standard_input(path) {
        true => STANDARD_INPUT
            .get_or_init(|| {
                read(&mut io::stdin().lock(), LARGEST_OF_ALL).map_err(|error| error.to_string())
            })
            .clone()
            .map_err(io::Error::other)?,
        false => read(&mut std::fs::File::open(path)?, most)?,
    };
    if bytes.len() as u64 > most {
        let why = format!("it is larger than {} MiB", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// Reads bytes that ought to be UTF-8.
fn parse_bytes<W>(bytes: &[u8], name: &str, parse: Parse<W>) -> Result<Parsed<W>, DocumentError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text, name),
        Err(error) => error,
    };
    // What stands before the first wrong byte is text, and locates it.
    let text = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
    let sheet = Sheet { text: &text, name };
    let byte = bytes[error.valid_up_to()];
    let message = format!("byte 0x{byte:02x} here is not UTF-8 text");
    let fault = Fault::new(Place::DOCUMENT, message, "save the file as UTF-8");
    Err(sheet.refuse(vec![(fault, Some(text.len()..text.len()))]))
}
