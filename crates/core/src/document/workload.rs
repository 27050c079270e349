//! Workloads as documents: what people write in YAML, and what policies record in JSON.
//!
//! There is one type a kind of workload. A record is the document with its defaults filled in and each thing written in
//! one way only, so that equal workloads have equal records.

use std::fmt::Debug;
use std::path::Path;

use serde_json::Value;

use super::fault::{Fault, Place, Step};
use super::spelling::{Spellings, respell};
use super::{
    CheckedOrFaults, Document, DocumentError, Parsed, Stored, canonical, digest, read_file,
};

/// Returns the unit of time of a document that names none.
pub fn unit_of_time() -> String {
    "time".into()
}

/// The document of one kind of workload.
pub trait WorkloadDocument: Stored {
    /// The name of the kind.
    const KIND: &'static str;
    /// An example for those who have to write such a document.
    const EXAMPLE: &'static str;
    /// Keys and the shorter ones that may be written in their place: `mean_size` for an exponential `size`.
    const SHORT: &'static [(&'static str, &'static str)] = &[];
    /// The places whose values are written in other ways than they are read.
    const SPELLINGS: &'static Spellings = &[];
    /// The workload that it describes.
    type Checked: Clone + Debug;

    /// Fills the defaults in and returns the workload and what to warn of, or these faults and all others.
    ///
    /// # Errors
    /// With every fault, at its place in the document.
    fn checked(self, faults: Vec<Fault>) -> CheckedOrFaults<Self::Checked>;

    /// Returns the record of a workload.
    fn record(workload: &Self::Checked) -> Self;

    /// Reads a document of YAML; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    fn parse(text: &str, name: &str) -> Result<Parsed<Self::Checked>, DocumentError> {
        let mut document = Document::parse(text, name, Self::EXAMPLE)?;
        let misnamed = document.misnamed(Self::KIND)?;
        respell(&mut document.root, Self::SPELLINGS);
        let (written, mut faults) = document.read::<Self>();
        faults.extend(misnamed);
        let checked = match written {
            Some(written) => written.checked(faults),
            None => Err(faults),
        };
        document.conclude(checked, Self::SHORT)
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`DocumentError::Io`] if the file cannot be read, [`DocumentError::Faults`] with every
    /// fault found in it.
    fn read(path: &Path) -> Result<Parsed<Self::Checked>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// Returns the workload of a document that is no text.
    ///
    /// # Errors
    /// With every fault, at its place in the document.
    fn check(&self) -> Result<Self::Checked, Vec<Fault>> {
        Ok(self.clone().checked(Vec::new())?.0)
    }

    /// Returns the workload of a record with this digest, and refuses a document that is no record.
    ///
    /// # Errors
    /// With every fault, at its place in the record; one of the digest at [`Place::DOCUMENT`].
    fn recorded(&self, digest: &str) -> Result<Self::Checked, Vec<Fault>> {
        let fault = |(place, _, found, expected): Difference| {
            let message = format!("{found}, expected {expected}");
            Fault::new(place, message, "make the file again from its workload")
        };
        let found = value(self);
        // Null stands for what has faults in the text of a document; a record has none.
        if let Some(place) = null(&found, Place::DOCUMENT) {
            let null = (place, None, "null".into(), "a value".into());
            return Err(vec![fault(null)]);
        }
        let checked = self.check()?;
        let mut derived = value(&Self::record(&checked));
        derived["kind"] = Self::KIND.into();
        let mut differences = differences(&found, &derived);
        let expected = self.digest();
        if differences.is_empty() && digest != expected {
            differences.push((Place::DOCUMENT, None, digest.to_owned(), expected));
        }
        match differences.is_empty() {
            true => Ok(checked),
            false => Err(differences.into_iter().map(fault).collect()),
        }
    }

    /// Returns what identifies the workload of a record: its JSON without `source`.
    fn identity(&self) -> Value {
        let mut value = value(self);
        if let Some(fields) = value.as_object_mut() {
            fields.remove("source");
        }
        value
    }

    /// Returns the digest of the canonical JSON of [what identifies](WorkloadDocument::identity) the workload.
    fn digest(&self) -> String {
        digest(&canonical(self.identity()))
    }
}

fn value(document: &impl WorkloadDocument) -> Value {
    serde_json::to_value(document).expect("a document is made of maps with keys of text")
}

/// Returns the place of the first null.
fn null(value: &Value, place: Place) -> Option<Place> {
    match value {
        Value::Null => Some(place),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(n, item)| null(item, place.then(n)))
        }
        Value::Object(fields) => fields
            .iter()
            .find_map(|(key, own)| null(own, place.then(key))),
        _ => None,
    }
}

/// Where two documents differ: the place, the name of the nearest part with a name, and what is written in each.
pub type Difference = (Place, Option<String>, String, String);

/// Returns where two documents differ.
pub fn differences(one: &Value, other: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(Place::DOCUMENT, None, [one, other], &mut found);
    found
}

fn compare(place: Place, name: Option<&str>, both: [&Value; 2], found: &mut Vec<Difference>) {
    match both {
        [Value::Array(one), Value::Array(other)] => {
            let [names, others] = [one, other].map(|own| names(own));
            if names != others {
                found.push((place, None, names.join(", "), others.join(", ")));
            } else {
                for (n, (one, other)) in one.iter().zip(other).enumerate() {
                    compare(place.then(n), name, [one, other], found);
                }
            }
        }
        // Laws and processes are compared as a whole.
        [Value::Object(one), Value::Object(other)] if both.iter().all(|own| !is_tagged(own)) => {
            let name = one.get("name").and_then(Value::as_str).or(name);
            let others = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(others) {
                compare(place.then(key), name, both.map(|own| &own[key]), found);
            }
        }
        [one, other] if one == other => {}
        _ => {
            let [one, other] = both.map(shown);
            found.push((place, name.map(str::to_owned), one, other));
        }
    }
}

/// Returns the names of the entries of a list, or the entries themselves if they have none.
fn names(list: &[Value]) -> Vec<String> {
    let entry = |own: &Value| match own {
        Value::Object(own) => shown(own.get("name").unwrap_or(&Value::Null)),
        own => shown(own),
    };
    list.iter().map(entry).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns whether a value is a variant that a key names.
fn is_tagged(value: &Value) -> bool {
    let mut tags = ["law", "process"].iter();
    tags.any(|tag| value.get(tag).is_some())
}

impl Document<'_> {
    /// Returns where a value is written that is checked at this place: of `jobs[2].size.mean` it may be
    /// `jobs[2].mean_size`.
    pub(super) fn as_written(&self, place: &Place, short: &[(&str, &str)]) -> Place {
        let (mut node, mut written) = (Some(&self.root), Place::DOCUMENT);
        let mut steps = place.steps().iter();
        while let Some(step) = steps.next() {
            let brief = |key: &str| {
                let has = |key: &str| node.is_some_and(|node| node.get(key).is_some());
                let mut short = short.iter();
                short.find(|(long, brief)| *long == key && !has(long) && has(brief))
            };
            match step {
                Step::Index(n) => node = node.and_then(|node| node.item(*n)),
                Step::Key(key) => match brief(key) {
                    Some((_, brief)) => {
                        node = node.and_then(|node| node.get(brief));
                        written = written.then(brief);
                        // What is written in short is one value, or the one entry of a list.
                        if node.is_some_and(|node| node.text().is_some()) {
                            break;
                        }
                        steps.next();
                        continue;
                    }
                    None => node = node.and_then(|node| node.get(key)),
                },
            }
            written = written.then(step.clone());
        }
        written
    }
}
