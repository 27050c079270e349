//! The document of a pool of servers, as it is read, and as policies record it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Objective, SpeedupRecord, Workload};
use synth_core::document::{
    Document, DocumentError, Fault, Parsed, Published, digest, has_fault, place, read_file, to_yaml,
};
use synth_core::number::Decimal;
use synth_queues::law::{Size, Spelling, Spellings, publish, respell};

/// The kind that these documents name.
const KIND: &str = "malleable";

/// What is spelt in other ways than it is read. A size is the time on one server.
const SPELLINGS: &Spellings = &[
    ("arrivals.size", Spelling::LawOfTimes),
    ("arrivals.mean_size", Spelling::Time),
    ("jobs[].size", Spelling::Time),
];

const EXAMPLE: &str = include_str!("example.txt").trim_ascii_end();

/// A workload with all its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Pool")]
pub struct Record {
    /// Where its figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The unit of time.
    pub time_unit: String,
    /// How many servers there are (N); a part of one is as good as its share.
    pub servers: Decimal,
    /// Whether jobs hold whole servers only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_servers: bool,
    /// A job uses at most so many servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// The speedup of jobs that have none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
    /// What is to be small.
    pub objective: Objective,
    /// Jobs that are all present at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRecord>,
    /// In place of jobs: their sizes are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesRecord>,
    /// In place of both: jobs that arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsRecord>,
}

/// Jobs that arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrivalsRecord {
    /// Poisson arrivals \[1/time\].
    pub rate: Decimal,
    /// The law of sizes \[work\], which are known when a job arrives.
    pub size: Size,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// Its name.
    pub name: String,
    /// How long it runs on one server, > 0 \[work\].
    pub size: Decimal,
    /// What a unit of its time costs, > 0; 1 unless it is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Decimal>,
    /// It uses at most so many servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Decimal>,
    /// Its speedup, where it is not that of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<SpeedupRecord>,
}

/// A law from which sizes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SizesRecord {
    /// P(S > x) = x^−shape on x ≥ 1.
    Pareto {
        /// Its shape, > 0.
        shape: Decimal,
        /// How many jobs there are, ≥ 1.
        count: u32,
        /// What they are drawn from.
        seed: u64,
    },
}

/// Jobs that speed up less and less with more servers: of `jobs`, `sizes` and `arrivals` exactly one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [
    {"anyOf": [{"required": ["jobs"]}, {"required": ["sizes"]}, {"required": ["arrivals"]}]},
]))]
struct PoolDocument {
    #[allow(dead_code, reason = "it was looked at before")]
    kind: String,
    /// Where the numbers come from: any text, which is copied to the policy file.
    source: Option<String>,
    /// The unit of all times and rates. Times may have a unit of their own if this is one of time.
    #[schemars(extend("examples" = ["s", "min", "h", "d"]))]
    time_unit: Option<String>,
    /// How many servers there are, > 0.
    servers: Decimal,
    /// Whether jobs hold whole servers only.
    #[serde(default)]
    whole_servers: bool,
    /// A job uses at most so many servers.
    cap: Option<Decimal>,
    /// The speedup of jobs that have none of their own.
    speedup: Option<SpeedupRecord>,
    /// What is to be small.
    objective: Option<Objective>,
    /// Jobs that are all present at the start.
    #[serde(default)]
    jobs: Vec<JobRecord>,
    /// In place of jobs: their sizes are drawn.
    sizes: Option<SizesRecord>,
    /// In place of both: jobs that arrive.
    arrivals: Option<ArrivalsDocument>,
}

/// Jobs that arrive: of `mean_size` and `size` exactly one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("allOf" = [{"anyOf": [{"required": ["mean_size"]}, {"required": ["size"]}]}]))]
struct ArrivalsDocument {
    /// The rate of Poisson arrivals \[1/time\], > 0.
    rate: Decimal,
    /// The mean of exponential sizes: how long a job runs on one server \[time\], > 0.
    mean_size: Option<Decimal>,
    /// The law of sizes: how long a job runs on one server \[time\].
    size: Option<Size>,
}

impl Workload {
    /// Adds documents of this kind to the schema for editors.
    pub(crate) fn publish(published: &mut Published) {
        publish::<PoolDocument>(published, KIND, SPELLINGS);
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
        let (written, mut faults) = document.read::<PoolDocument>();
        faults.extend(misnamed);
        let arrivals = written.as_ref().and_then(|own| own.arrivals.as_ref());
        let has_mean = arrivals.is_some_and(|own| own.mean_size.is_some());
        let checked = match written.and_then(|written| written.record(&mut faults)) {
            Some(record) => record.checked(faults),
            None => Err(faults),
        };
        // A mean without a law is checked as the mean of an exponential law.
        let size = place!("arrivals", "size");
        document.conclude(checked, |place| {
            let of_size = place.steps().starts_with(size.steps());
            (of_size && has_mean).then(|| place!("arrivals", "mean_size"))
        })
    }
}

impl PoolDocument {
    /// Returns what it says, with its defaults; faults go to the others.
    fn record(self, faults: &mut Vec<Fault>) -> Option<Record> {
        let (sizes, arrivals) = (self.sizes.is_some(), self.arrivals.is_some());
        let count = [!self.jobs.is_empty(), sizes, arrivals].map(usize::from);
        let read = ["jobs", "sizes", "arrivals"].map(|key| !has_fault(faults, &place!(key)));
        if count.iter().sum::<usize>() == 0 && read == [true; 3] {
            let help = "list them: `jobs: [{name: a, size: 3}]`, draw their sizes: `sizes: {pareto: {shape: 1.5, count: 500, seed: 1}}`, or let them arrive: `arrivals: {rate: 2, mean_size: 3}`";
            faults.push(Fault::new(place!("jobs"), "there are no jobs", help));
        } else if count.iter().sum::<usize>() > 1 {
            let message = "the document has more than one of `jobs`, `sizes` and `arrivals`";
            let help = "keep `jobs`, `sizes` for jobs whose sizes are drawn, or `arrivals` for jobs that come one after the other";
            faults.push(Fault::new(place!("jobs"), message, help));
        }
        let arrivals = match self.arrivals {
            Some(own) => Some(own.record(faults)?),
            None => None,
        };
        Some(Record {
            source: self.source,
            time_unit: self.time_unit.unwrap_or("time".into()),
            servers: self.servers,
            whole_servers: self.whole_servers,
            cap: self.cap,
            speedup: self.speedup,
            objective: self.objective.unwrap_or_default(),
            jobs: self.jobs,
            sizes: self.sizes,
            arrivals,
        })
    }
}

impl ArrivalsDocument {
    fn record(self, faults: &mut Vec<Fault>) -> Option<ArrivalsRecord> {
        let rate = self.rate;
        let exponential = self.mean_size.map(|mean| Size::Exponential { mean });
        let refused = match (exponential, self.size) {
            (Some(size), None) | (None, Some(size)) => return Some(ArrivalsRecord { rate, size }),
            (Some(_), Some(_)) => "the arrivals have both `mean_size` and `size`",
            (None, None) => "the arrivals have no size of jobs",
        };
        let help =
            "write `mean_size: 3`, or a law: `size: {law: hyperexponential, mean: 3, scv: 4}`";
        if !has_fault(faults, &place!("arrivals")) {
            faults.push(Fault::new(place!("arrivals"), refused, help));
        }
        None
    }
}

impl Record {
    /// Returns the digest of all its numbers.
    pub fn digest(&self) -> String {
        digest(&to_yaml(self))
    }

    /// Returns the workload, or all its faults.
    ///
    /// # Errors
    /// A list of all faults, at their places in the record.
    pub fn check(&self) -> Result<Workload, Vec<Fault>> {
        Ok(self.checked(Vec::new())?.0)
    }
}
