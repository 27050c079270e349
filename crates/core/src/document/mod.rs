//! Documents in YAML: how they are read, how they are written, and what is said of their faults.
//!
//! A document becomes a tree of texts with their places (`node`). What a type's JSON schema says
//! of it is checked there, so that every fault is found in one go, at its place (`conform`); then
//! the type is read by what `serde` derives for JSON. Numbers go through
//! [`Decimal::parse`](crate::number::Decimal::parse): none passes through a binary double before
//! it is understood.

mod conform;
mod fault;
mod file;
mod json;
pub mod line;
mod names;
mod node;
mod pairs;
mod pattern;
mod published;
mod recognized;
mod sheet;
mod spelling;
mod syntax;
mod time_range;
mod words;
mod workload;

use std::fmt::Debug;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_yaml::FlowSeq;
use sha2::{Digest, Sha256};

pub use fault::{DocumentError, Fault, FaultsAt, Place, Step, place, within};
pub use file::{Documents, with_documents};
use file::{LARGEST, bytes_of};
pub use file::{all_bytes_of, called, is_standard_input, is_there, kept, named, text_of};
pub use json::{fault_of_json, harmless};
pub use names::{SENSIBLE, nearest, number_of, steers, suggest, unusable};
pub use node::Node;
pub use pairs::Pairs;
pub use pattern::fits;
pub use published::Published;
pub use recognized::FileKind;
use sheet::Sheet;
pub use spelling::{Spelling, Spellings};
pub use time_range::TimeRange;
pub use words::meant;
pub use workload::{Difference, WorkloadDocument, differences, unit_of_time};

/// What is written to a document and read back.
pub trait Stored: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema> Stored for T {}

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
pub type CheckedOrFaults<W> = Result<(W, Vec<Fault>), Vec<Fault>>;

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
    fn misnamed(&self, kind: &str) -> Result<Vec<Fault>, DocumentError> {
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

    /// Returns the document as a value of this type, and all faults that its form has. What has faults and is not
    /// required is left out, so that the rest can be checked; there is no value where that cannot be.
    pub fn read<T: DeserializeOwned + JsonSchema>(&self) -> (Option<T>, Vec<Fault>) {
        conform::read(&self.root, self.example)
    }

    /// Returns all these faults, in the order of the text.
    pub fn refuse(&self, faults: Vec<Fault>) -> DocumentError {
        let ranges: Vec<_> = faults.iter().map(|own| self.root.locate(own)).collect();
        self.sheet.refuse(faults.into_iter().zip(ranges).collect())
    }

    /// Returns a checked workload with its warnings, or all faults of the document, each at the place where its value is
    /// written: `short` are keys and those that may be written in their place.
    fn conclude<W>(
        &self,
        checked: CheckedOrFaults<W>,
        short: &[(&str, &str)],
    ) -> Result<Parsed<W>, DocumentError> {
        let here = |fault: Fault| {
            let place = self.as_written(&fault.place, short);
            fault.at(place)
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

/// Returns the text that digests are of: JSON without white space, the keys of each object in the order of their code
/// points.
pub(crate) fn canonical(mut value: serde_json::Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// Returns files by name, each with one end of line, from templates that were filled in.
///
/// # Errors
/// When one could not be.
pub fn filled_in<E: std::fmt::Display>(
    files: impl IntoIterator<Item = (impl std::fmt::Display, Result<String, E>)>,
) -> Result<Vec<(String, String)>, String> {
    let text = |(name, text): (_, Result<String, E>)| match text {
        Ok(text) => Ok((format!("{name}"), text.trim_end().to_owned() + "\n")),
        Err(error) => Err(format!("cannot write {name}: {error}")),
    };
    files.into_iter().map(text).collect()
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

/// Reads bytes that ought to be UTF-8.
fn parse_bytes<W>(bytes: &[u8], name: &str, parse: Parse<W>) -> Result<Parsed<W>, DocumentError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => match FileKind::of(text) {
            None | Some(FileKind::Workload) => return parse(text, name),
            Some(kind) => return Err(DocumentError::OtherKind(kind.words(name))),
        },
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
