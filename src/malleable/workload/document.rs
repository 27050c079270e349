//! The document of a pool of servers, as it is read, and as policies record it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Objective, Pool, SpeedupRecord};
use crate::document::{Document, DocumentError, Fault, Parsed, place, suggest};
use crate::number::Decimal;

/// The kind that documents of this room name.
pub(super) const KIND: &str = "malleable";

const EXAMPLE: &str = "a workload reads like this:
  kind: malleable
  servers: 64
  speedup: {amdahl: {parallel_fraction: .9}}
  jobs:
    - {name: small, size: 3}
    - {name: large, size: 20}";

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

/// A document: of jobs and sizes exactly one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PoolDocument {
    #[allow(dead_code, reason = "it was looked at before")]
    kind: String,
    source: Option<String>,
    time_unit: Option<String>,
    servers: Decimal,
    #[serde(default)]
    whole_servers: bool,
    cap: Option<Decimal>,
    speedup: Option<SpeedupRecord>,
    objective: Option<Objective>,
    #[serde(default)]
    jobs: Vec<JobRecord>,
    sizes: Option<SizesRecord>,
}

/// The unit where none is named.
const UNIT: &str = "time";

pub(super) fn parse(text: &str, name: &str) -> Result<Parsed<Pool>, DocumentError> {
    let document = Document::parse(text, name, EXAMPLE)?;
    let kind = document.root.get("kind").and_then(|kind| kind.text());
    if let Some(kind) = kind.filter(|kind| *kind != KIND) {
        let message = format!("unknown kind of workload `{kind}`");
        let help = suggest(kind, "here it is", &[KIND]);
        return Err(document.refuse(vec![Fault::new(place!("kind"), message, help)]));
    }
    let (written, mut faults) = document.read::<PoolDocument>();
    let checked = match written {
        Some(written) => written.record(&mut faults).checked(faults),
        None => Err(faults),
    };
    document.conclude(checked, |_| None)
}

impl PoolDocument {
    /// What it says, with its defaults; faults go to the others.
    fn record(self, faults: &mut Vec<Fault>) -> Record {
        let refused = match (self.jobs.is_empty(), self.sizes.is_some()) {
            (false, true) => Some((
                "the document has both `jobs` and `sizes`",
                "keep `jobs`, or `sizes` for jobs whose sizes are drawn",
            )),
            (true, false) => Some((
                "there are no jobs",
                "list them: `jobs: [{name: a, size: 3}]`, or draw their sizes: `sizes: {pareto: {shape: 1.5, count: 500, seed: 1}}`",
            )),
            _ => None,
        };
        if let Some((message, help)) = refused {
            faults.push(Fault::new(place!("jobs"), message, help));
        }
        Record {
            source: self.source,
            time_unit: self.time_unit.unwrap_or(UNIT.into()),
            servers: self.servers,
            whole_servers: self.whole_servers,
            cap: self.cap,
            speedup: self.speedup,
            objective: self.objective.unwrap_or_default(),
            jobs: self.jobs,
            sizes: self.sizes,
        }
    }
}

impl Record {
    /// The workload, or all its faults.
    ///
    /// # Errors
    /// A list of all faults, at their places in the record.
    pub fn check(&self) -> Result<Pool, Vec<Fault>> {
        self.checked(Vec::new()).map(|(pool, _)| pool)
    }
}
