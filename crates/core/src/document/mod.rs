//! This module reads and writes documents in YAML and reports their faults.
//!
//! A document is first parsed into a tree of texts and their positions (`node`). The tree is
//! checked against the JSON schema of the type (`conform`), which finds all faults at once, and
//! then it is deserialized by `serde`. A number is never read as a binary number first.

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
pub use file::{all_bytes_of, display_name, exists, is_standard_input, kept, named, text_of};
pub use json::{fault_of_json, harmless};
pub use names::{SUPPORTED_RANGE, controls_terminal, name_hash, name_problem, nearest, suggest};
pub use node::Node;
pub use pairs::Pairs;
pub use pattern::matches_pattern;
pub use published::Published;
pub use recognized::FileKind;
use sheet::Sheet;
pub use spelling::{Spelling, Spellings};
pub use time_range::TimeRange;
pub use words::synonym_of;
pub use workload::{Difference, WorkloadDocument, differences, unit_of_time};

/// A type that can be written to a document and read from it.
pub trait Stored: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema> Stored for T {}

/// A document that was read but has not been checked.
pub struct Document<'a> {
    sheet: Sheet<'a>,
    example: &'static str,
    /// The tree of values.
    pub root: Node,
}

/// A workload that was read from a document, and its warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<W> {
    /// The checked workload.
    pub workload: W,
    /// The warnings. Each contains its place in the document and can be printed to standard error.
    pub warnings: Vec<String>,
}

/// A checked value and its warnings, or all its faults.
pub type CheckedOrFaults<W> = Result<(W, Vec<Fault>), Vec<Fault>>;

impl<'a> Document<'a> {
    /// Parses YAML. `name` is the name of the file that is used in messages.
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

    /// Returns the fault of a kind that is similar but not equal to `kind`. It is an error if the
    /// kind is entirely different, because no other faults should be reported.
    fn misnamed(&self, kind: &str) -> Result<Vec<Fault>, DocumentError> {
        let found = self.root.get("kind").and_then(Node::text);
        let Some(found) = found.filter(|found| *found != kind) else {
            return Ok(Vec::new());
        };
        let message = format!("unknown kind of workload `{found}`");
        let help = suggest(found, "expected", &[kind]);
        let faults = vec![Fault::new(place!("kind"), message, help)];
        match nearest(found, &[kind]) {
            Some(_) => Ok(faults),
            None => Err(self.refuse(faults)),
        }
    }

    /// Returns the document as a value of this type, if possible, and all faults of its form. A
    /// value that has a fault and is not required is omitted, so that the rest can be checked.
    pub fn read<T: DeserializeOwned + JsonSchema>(&self) -> (Option<T>, Vec<Fault>) {
        conform::read(&self.root, self.example)
    }

    /// Returns an error with these faults. They are sorted by their position in the text.
    pub fn refuse(&self, faults: Vec<Fault>) -> DocumentError {
        let ranges: Vec<_> = faults.iter().map(|own| self.root.locate(own)).collect();
        self.sheet.refuse(faults.into_iter().zip(ranges).collect())
    }

    fn conclude<W>(
        &self,
        checked: CheckedOrFaults<W>,
        short: &[(&str, &str)],
    ) -> Result<Parsed<W>, DocumentError> {
        let here = |mut fault: Fault| {
            fault.place = self.as_written(&fault.place, short);
            fault
        };
        let (workload, warnings) =
            checked.map_err(|faults| self.refuse(faults.into_iter().map(here).collect()))?;
        let warn = |fault: Fault| self.sheet.warn(&fault, self.root.locate(&fault));
        let warnings = warnings.into_iter().map(here).map(warn).collect();
        Ok(Parsed { workload, warnings })
    }
}

/// Returns the YAML representation of a value.
pub fn to_yaml(value: &impl Serialize) -> String {
    serde_yaml::to_string(value).expect("a document is made of maps, lists, texts and numbers")
}

/// Serializes a list on one line.
pub fn in_one_line<T: Serialize, S: Serializer>(
    list: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    FlowSeq(list).serialize(serializer)
}

/// Returns the SHA-256 digest of a text: `sha256:` followed by 64 hexadecimal digits.
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Returns the JSON that is used for digests, without white space and with sorted keys.
pub(crate) fn canonical(mut value: serde_json::Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// Returns the names and the texts of rendered templates, or an error. Texts end with one newline.
pub fn filled_in<E: std::fmt::Display>(
    files: impl IntoIterator<Item = (impl std::fmt::Display, Result<String, E>)>,
) -> Result<Vec<(String, String)>, String> {
    let text = |(name, text): (_, Result<String, E>)| match text {
        Ok(text) => Ok((format!("{name}"), text.trim_end().to_owned() + "\n")),
        Err(error) => Err(format!("cannot write {name}: {error}")),
    };
    files.into_iter().map(text).collect()
}

/// A function that parses a document, given its text and the name of its file.
pub type Parse<W> = fn(&str, &str) -> Result<Parsed<W>, DocumentError>;

/// Reads the document in a file.
///
/// # Errors
/// Returns an error if the file cannot be read, is larger than 64 MiB, is not valid UTF-8, or is a
/// different kind of file, and otherwise all faults of the document.
pub fn read_file<W>(path: &Path, parse: Parse<W>) -> Result<Parsed<W>, DocumentError> {
    let name = &*display_name(path);
    let bytes = bytes_of(path, LARGEST).map_err(|e| DocumentError::Io(name.to_owned(), e))?;
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => match FileKind::of(text) {
            None | Some(FileKind::Workload) => return parse(text, name),
            Some(kind) => return Err(DocumentError::OtherKind(kind.describe(name))),
        },
        Err(error) => error.valid_up_to(),
    };
    let (text, byte) = (String::from_utf8_lossy(&bytes[..valid]), bytes[valid]);
    let sheet = Sheet { text: &text, name };
    let message = format!("byte 0x{byte:02x} here is not UTF-8 text");
    let fault = Fault::new(Place::DOCUMENT, message, "save the file as UTF-8");
    Err(sheet.refuse(vec![(fault, Some(text.len()..text.len()))]))
}
