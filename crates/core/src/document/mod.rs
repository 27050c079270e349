//! Documents in YAML: reading, writing, and reporting of faults.
//!
//! A document is parsed into a tree of texts with positions (`node`). The tree is checked against
//! the JSON schema of the target type, which finds all faults at once (`conform`), and is then
//! deserialized by `serde`. Numbers are read by [`Decimal::parse`](crate::number::Decimal::parse)
//! and never pass through a binary double first.

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

/// A type that is written to a document and read back.
pub trait Stored: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema> Stored for T {}

/// A document that was read, not yet checked.
pub struct Document<'a> {
    sheet: Sheet<'a>,
    /// An example of such a document, for help messages.
    example: &'static str,
    /// The value tree.
    pub root: Node,
}

/// A workload read from a document, with its warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<W> {
    /// The checked workload.
    pub workload: W,
    /// Warnings, each with its place in the document, ready for standard error.
    pub warnings: Vec<String>,
}

/// A checked value with its warnings, or all its faults.
pub type CheckedOrFaults<W> = Result<(W, Vec<Fault>), Vec<Fault>>;

impl<'a> Document<'a> {
    /// Parses YAML; `name` is the name of the file in messages.
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

    /// Returns a fault for a similar kind, and an error for an entirely different one.
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

    /// Returns the document as a value of this type, if possible, and all faults of its form.
    pub fn read<T: DeserializeOwned + JsonSchema>(&self) -> (Option<T>, Vec<Fault>) {
        conform::read(&self.root, self.example)
    }

    /// Returns an error with these faults in the order of the text.
    pub fn refuse(&self, faults: Vec<Fault>) -> DocumentError {
        let ranges: Vec<_> = faults.iter().map(|own| self.root.locate(own)).collect();
        self.sheet.refuse(faults.into_iter().zip(ranges).collect())
    }

    /// Reports faults and warnings at the places where values are written; `short` are short keys.
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

/// Serializes a list on one line.
pub fn in_one_line<T: Serialize, S: Serializer>(
    list: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    FlowSeq(list).serialize(serializer)
}

/// Returns the digest of a text: `sha256:` and 64 hexadecimal digits.
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// Returns the input of digests: JSON without white space, keys sorted by code point.
pub(crate) fn canonical(mut value: serde_json::Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// Returns rendered templates by file name, each ending in one newline.
pub fn filled_in<E: std::fmt::Display>(
    files: impl IntoIterator<Item = (impl std::fmt::Display, Result<String, E>)>,
) -> Result<Vec<(String, String)>, String> {
    let text = |(name, text): (_, Result<String, E>)| match text {
        Ok(text) => Ok((format!("{name}"), text.trim_end().to_owned() + "\n")),
        Err(error) => Err(format!("cannot write {name}: {error}")),
    };
    files.into_iter().map(text).collect()
}

/// A parser of a document, from its text and the name of its file.
pub type Parse<W> = fn(&str, &str) -> Result<Parsed<W>, DocumentError>;

/// Reads the document in a UTF-8 file of at most 64 MiB.
pub fn read_file<W>(path: &Path, parse: Parse<W>) -> Result<Parsed<W>, DocumentError> {
    let bytes = bytes_of(path, LARGEST).map_err(|source| DocumentError::Io {
        path: path.to_owned(),
        source,
    })?;
    parse_bytes(&bytes, &called(path), parse)
}

fn parse_bytes<W>(bytes: &[u8], name: &str, parse: Parse<W>) -> Result<Parsed<W>, DocumentError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => match FileKind::of(text) {
            None | Some(FileKind::Workload) => return parse(text, name),
            Some(kind) => return Err(DocumentError::OtherKind(kind.words(name))),
        },
        Err(error) => error,
    };
    let text = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
    let sheet = Sheet { text: &text, name };
    let byte = bytes[error.valid_up_to()];
    let message = format!("byte 0x{byte:02x} here is not UTF-8 text");
    let fault = Fault::new(Place::DOCUMENT, message, "save the file as UTF-8");
    Err(sheet.refuse(vec![(fault, Some(text.len()..text.len()))]))
}
