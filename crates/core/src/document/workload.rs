//! This module defines the documents of workloads in YAML, and their JSON records in policies. All
//! defaults of a record are filled in and values have one form: equal workloads have equal records.

use std::fmt::Debug;
use std::path::Path;

use serde_json::Value;

use super::fault::{Fault, Place, Step};
use super::spelling::{Spellings, respell};
use super::{
    CheckedOrFaults, Document, DocumentError, Parsed, Stored, canonical, digest, read_file,
};

/// Returns the default unit of time.
pub fn unit_of_time() -> String {
    "time".into()
}

/// The document of a kind of workload.
pub trait WorkloadDocument: Stored {
    /// The name of the kind.
    const KIND: &'static str;
    /// An example of a document, which is used in help messages.
    const EXAMPLE: &'static str;
    /// The keys with a short form, such as `mean_size` for an exponential `size`.
    const SHORT: &'static [(&'static str, &'static str)] = &[];
    /// The places at which a document can be written in a different form.
    const SPELLINGS: &'static Spellings = &[];
    /// The checked workload.
    type Checked: Clone + Debug;

    /// Fills in the defaults and returns the workload and its warnings, or `faults` and all others.
    fn checked(self, faults: Vec<Fault>) -> CheckedOrFaults<Self::Checked>;

    /// Returns the record of a workload.
    fn record(workload: &Self::Checked) -> Self;

    /// Parses a YAML document, and reports all of its faults. `name` is the file in messages.
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

    /// Reads the document in a file. The errors are the same as for [`read_file`].
    fn read(path: &Path) -> Result<Parsed<Self::Checked>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// Checks a document that was not read from a text. Returns all of its faults as an error.
    fn check(&self) -> Result<Self::Checked, Vec<Fault>> {
        Ok(self.clone().checked(Vec::new())?.0)
    }

    /// Checks a record and its digest, and returns the workload.
    ///
    /// # Errors
    /// Returns all faults, at their places in the record. An omitted default is a fault. A wrong
    /// digest is at [`Place::DOCUMENT`].
    fn recorded(&self, digest: &str) -> Result<Self::Checked, Vec<Fault>> {
        let fault = |(place, _, found, expected): Difference| {
            let message = format!("{found}, expected {expected}");
            Fault::new(place, message, "create the file again from its workload")
        };
        let found = value(self);
        // A value with a fault is null, so a record must not contain null.
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

    /// Returns the JSON that identifies the workload, which is the record without `source`.
    fn identity(&self) -> Value {
        let mut value = value(self);
        if let Some(fields) = value.as_object_mut() {
            fields.remove("source");
        }
        value
    }

    /// Returns the digest of the identity.
    fn digest(&self) -> String {
        digest(&canonical(self.identity()))
    }
}

fn value(document: &impl WorkloadDocument) -> Value {
    serde_json::to_value(document).expect("a document is made of maps with keys of text")
}

fn null(value: &Value, place: Place) -> Option<Place> {
    match value {
        Value::Null => Some(place),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(n, item)| null(item, place.then(n)))
        }
        Value::Object(fields) => (fields.iter()).find_map(|(key, own)| null(own, place.then(key))),
        _ => None,
    }
}

/// The place of a difference, the name of the nearest named part that contains it, and both values.
pub type Difference = (Place, Option<String>, String, String);

/// Returns the differences between two documents.
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

fn is_tagged(value: &Value) -> bool {
    let mut tags = ["law", "process"].iter();
    tags.any(|tag| value.get(tag).is_some())
}

impl Document<'_> {
    /// Returns `jobs[2].mean_size` instead of `jobs[2].size.mean` if this is what is written.
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
