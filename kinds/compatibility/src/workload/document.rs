//! The document of a cluster, as it is read, and as policies record it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cluster;
use synth_core::document::{
    Document, DocumentError, Fault, Parsed, Published, Step, place, read_file,
};
use synth_core::number::Decimal;
use synth_queues::law::{Size, Spelling, Spellings, publish, respell};

/// The kind that these documents name.
const KIND: &str = "compatibility";

/// What is spelt in other ways than it is read.
const SPELLINGS: &Spellings = &[("size", Spelling::Law)];

const EXAMPLE: &str = include_str!("example.txt").trim_ascii_end();

/// A workload with all its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Cluster")]
pub struct Record {
    /// Where its figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of time.
    pub time_unit: String,
    /// The servers (S).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// The classes (K) in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassRecord>,
    /// In place of servers and classes: servers that are alike, drawn for each job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AssignmentRecord>,
    /// The law of sizes \[work\].
    pub size: Size,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its capacity \[work/time\], ≥ 0.
    pub rate: Decimal,
}

/// A class of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassRecord {
    /// Its name.
    pub name: String,
    /// Names of its servers.
    pub servers: Vec<String>,
    /// Poisson arrivals \[1/time\].
    pub arrival_rate: Decimal,
}

/// Servers that are drawn for each job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssignmentRecord {
    /// How they are drawn.
    pub random: RandomRecord,
    /// Poisson arrivals \[1/time\] of all jobs.
    pub arrival_rate: Decimal,
}

/// So many different servers a job, all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRecord {
    /// How many servers there are.
    pub servers: u32,
    /// Capacity of each \[work/time\].
    pub rate: Decimal,
    /// Servers a job.
    pub degree: u32,
}

/// Jobs that run on some servers only, also on several at once: of `mean_size` and `size` exactly one; `servers` with
/// `classes`, or `assignment`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["servers", "classes"]}, {"required": ["assignment"]}]},
    {"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]},
]))]
struct ClusterDocument {
    #[allow(dead_code, reason = "it was looked at before")]
    kind: String,
    /// Where the numbers come from: any text, which is copied to the policy file.
    source: Option<String>,
    /// The unit of all times and rates.
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    time_unit: Option<String>,
    /// The servers.
    #[serde(default)]
    servers: Vec<Server>,
    /// The classes of jobs, each with the servers that it may run on.
    #[serde(default)]
    classes: Vec<ClassRecord>,
    /// In place of servers and classes: servers that are alike, drawn for each job.
    assignment: Option<AssignmentRecord>,
    /// The mean of exponential sizes \[work\], > 0, of all classes.
    mean_size: Option<Decimal>,
    /// The law of sizes \[work\] of all classes.
    size: Option<Size>,
}

impl Cluster {
    /// Adds documents of this kind to the schema for editors.
    pub(crate) fn publish(published: &mut Published) {
        publish::<ClusterDocument>(published, KIND, SPELLINGS);
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`DocumentError::Io`] if the file cannot be read, [`DocumentError::Faults`] with every
    /// fault found in it.
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }

    /// Reads a document; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        let mut document = Document::parse(text, name, EXAMPLE)?;
        let misnamed = document.misnamed(KIND)?;
        respell(&mut document.root, SPELLINGS);
        let has_mean = document.root.get("mean_size").is_some();
        let (written, mut faults) = document.read::<ClusterDocument>();
        faults.extend(misnamed);
        let checked = match written.and_then(|written| written.record(&document, &mut faults)) {
            Some(record) => record.checked(faults),
            None => Err(faults),
        };
        // A mean without a law is checked as the mean of an exponential law.
        document.conclude(checked, |place| {
            let of_size = place.steps().first() == Some(&Step::from("size"));
            (of_size && has_mean).then(|| place!("mean_size"))
        })
    }
}

impl ClusterDocument {
    /// Returns what it says, with its defaults; faults go to the others.
    fn record(self, document: &Document<'_>, faults: &mut Vec<Fault>) -> Option<Record> {
        let has = |key| document.root.get(key).is_some();
        let mut refuse = |key: &str, message: String, help: &str| {
            faults.push(Fault::new(place!(key), message, help));
        };
        if has("mean_size") && has("size") {
            let message = "the document has both `mean_size` and `size`";
            refuse("size", message.into(), "keep one of them");
        } else if !has("mean_size") && !has("size") {
            let help = "add `mean_size: 1`, or a law: `size: {law: hyperexponential, mean: 1, scv: 4}`; it is of all classes";
            refuse("size", "the document has no size of jobs".into(), help);
        }
        let drawn = has("assignment");
        let servers = "list them: `servers: [{name: a, rate: 1}, {name: b, rate: 1}]`";
        let classes = "list them: `classes: [{name: x, servers: [a, b], arrival_rate: .6}]`";
        for (key, example) in [("servers", servers), ("classes", classes)] {
            if drawn && has(key) {
                let message = format!("the document has both `{key}` and `assignment`");
                let help = "keep `servers` and `classes`, or `assignment` for servers that are drawn for each job";
                refuse(key, message, help);
            } else if !drawn && !has(key) {
                refuse(key, format!("there are no {key}"), example);
            }
        }
        let exponential = |mean| Size::Exponential { mean };
        Some(Record {
            source: self.source,
            time_unit: self.time_unit.unwrap_or("time".into()),
            servers: self.servers,
            classes: self.classes,
            assignment: self.assignment,
            size: self.size.or(self.mean_size.map(exponential))?,
        })
    }
}

impl Record {
    /// Returns the workload, or all its faults.
    ///
    /// # Errors
    /// A list of all faults, at their places in the record.
    pub fn check(&self) -> Result<Cluster, Vec<Fault>> {
        Ok(self.checked(Vec::new())?.0)
    }
}
