//! The definition of a comparison, and the assignment of its cells to shards.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::replication::MIN_PRECISION_EVENTS;
use synth_core::document::digest;

/// The definition of a comparison. Comparisons that have the same header have the same results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepHeader {
    /// `synth-comparison`.
    pub format: String,
    /// The version of the document format.
    pub version: u32,
    /// The program and its version.
    pub tool: String,
    /// The workload.
    pub workload: SweepWorkload,
    /// Stop conditions of a cell, and its random seed.
    pub settings: StopConditions,
    /// The policies, in the order of the arguments.
    pub policies: Vec<PolicyEntry>,
    /// The loads `ρ`, as a fraction of the maximum load that can be sustained by any policy.
    pub loads: Vec<f64>,
}

/// The workload of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepWorkload {
    /// The file name as given.
    pub file: String,
    /// The source of the numbers in the workload, if this is known.
    pub source: Option<String>,
    /// The digest of the workload before its rates were scaled.
    pub digest: String,
    /// Its time unit.
    pub time_unit: String,
    /// The load of the workload before its rates were scaled.
    pub load: f64,
}

/// The conditions under which a cell stops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopConditions {
    /// The seed that is used for all random streams.
    pub seed: u64,
    /// The number of independent replications.
    pub replications: u32,
    /// The relative half width of the 95 % interval of the mean response time that is sufficient.
    pub precision: f64,
    /// The maximum number of events.
    pub events: u64,
    /// The maximum wall-clock time \[s\]; results then depend on the machine.
    pub time_seconds: Option<f64>,
}

/// A policy in a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyEntry {
    /// Its name as given: a rule, or a policy file.
    pub name: String,
    /// `sha256:…` of the policy file; null for a rule.
    pub digest: Option<String>,
    /// Whether the policy can preempt jobs that are running.
    #[serde(default)]
    pub preempts: bool,
    /// The information about sizes that it uses.
    #[serde(default)]
    pub knows: Information,
}

/// The information about job sizes that a policy uses. Only compare policies with the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Information {
    /// At most the mean of its class.
    #[default]
    Means,
    /// An estimate.
    Estimates,
    /// The exact size.
    Sizes,
}

impl Information {
    /// Describes the information beyond the class, if any.
    pub fn describe(self) -> Option<&'static str> {
        match self {
            Information::Means => None,
            Information::Estimates => Some("knows estimates"),
            Information::Sizes => Some("knows sizes"),
        }
    }
}

/// Returns the paths at which two documents differ, with both values, except for `ignored` keys.
pub fn differences(there: &impl Serialize, here: &impl Serialize, ignored: &[&str]) -> Vec<String> {
    fn compare(path: &str, pair: [&Value; 2], ignored: &[&str], found: &mut Vec<String>) {
        match pair {
            [Value::Object(there), Value::Object(here)] => {
                for (key, own) in there.iter().filter(|own| !ignored.contains(&&**own.0)) {
                    let path = format!("{path}{}{key}", if path.is_empty() { "" } else { "." });
                    compare(&path, [own, &here[key]], ignored, found);
                }
            }
            [Value::Array(there), Value::Array(here)] if there.len() == here.len() => {
                for (n, pair) in there.iter().zip(here).enumerate() {
                    compare(&format!("{path}[{n}]"), pair.into(), ignored, found);
                }
            }
            [there, here] if there != here => {
                let [there, here] = pair.map(|value| match value {
                    Value::String(text) if text.contains('\n') => digest(text),
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                });
                found.push(format!("{path}: {there} there, {here} here"));
            }
            _ => {}
        }
    }
    let [there, here] = [serde_json::to_value(there), serde_json::to_value(here)];
    let mut found = Vec::new();
    let both = [&there.unwrap_or_default(), &here.unwrap_or_default()];
    compare("", both, ignored, &mut found);
    found
}

/// A larger number of shards is probably a typing error.
const MAX_SHARDS: usize = 100_000;

/// One of several shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub(super) number: usize,
    pub(super) of: usize,
}

impl Shard {
    /// Returns shard `number` (from 1) of `of`; `None` if there is no such shard.
    pub fn new(number: usize, of: usize) -> Option<Self> {
        ((1..=of).contains(&number) && of <= MAX_SHARDS).then_some(Shard { number, of })
    }

    /// Returns `true` if item `n` (from 0) is in this shard when items are assigned in turn.
    pub fn has(self, n: usize) -> bool {
        n % self.of + 1 == self.number
    }

    pub(super) const WHOLE: Shard = Shard { number: 1, of: 1 };
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Shard::new(number.trim().parse().ok()?, of.trim().parse().ok()?)
        });
        numbers.ok_or_else(|| {
            format!("`{text}` is not a valid shard: give its number (from 1) and the number of shards (at most {MAX_SHARDS}), such as 3/8")
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Returns the shard (from 1) of each cell of [`SweepHeader::cells`]. In descending order of work
/// (an integer, for equal results on all machines), each cell is assigned to the shard with the
/// least, so that the most is at most 4/3 of the optimum (Graham, SIAM J. Appl. Math. 17, 1969).
pub(super) fn deal(header: &SweepHeader, shards: usize) -> Vec<usize> {
    let work: Vec<u64> = header.cells().map(|(_, load)| header.work(load)).collect();
    let mut order: Vec<usize> = (0..work.len()).collect();
    order.sort_by_key(|&cell| (std::cmp::Reverse(work[cell]), cell));
    let mut loaded = vec![0; shards];
    let mut dealt = vec![1; work.len()];
    for cell in order {
        let least = (0..shards).min_by_key(|&shard| (loaded[shard], shard));
        let shard = least.unwrap_or(0);
        loaded[shard] += work[cell];
        dealt[cell] = shard + 1;
    }
    dealt
}

impl SweepHeader {
    /// Returns the policy's index and the load of each cell, in the order of a single process.
    pub fn cells(&self) -> impl Iterator<Item = (usize, f64)> {
        let policies = 0..self.policies.len();
        let of = move |&load: &f64| policies.clone().map(move |n| (n, load));
        self.loads.iter().flat_map(of)
    }

    /// Formats a load for display: `ρ = 0.9`.
    pub fn place(&self, load: f64) -> String {
        let rounded = (load * 1e6).round() / 1e6;
        format!("ρ = {}", if load > 1e-6 { rounded } else { load })
    }

    /// Returns the command line that runs this comparison with the same settings.
    pub fn command(&self) -> String {
        let s = &self.settings;
        let names: Vec<&str> = self.policies.iter().map(|p| p.name.as_str()).collect();
        let loads: Vec<String> = self.loads.iter().map(f64::to_string).collect();
        let time = s.time_seconds;
        let time = time.map_or(String::new(), |t| format!(" --time {t}"));
        format!(
            "synth compare --workload {} --policies {} --loads {} --seed {} --replications {} --precision {} --events {}{time}",
            quoted(&self.workload.file),
            quoted(&names.join(",")),
            loads.join(","),
            s.seed,
            s.replications,
            s.precision,
            s.events,
        )
    }

    /// Returns an estimate of the events of a cell, rounded up to the next check: an `M/M/1` queue
    /// needs `4 z² (1+ρ) / ((1−ρ)² ε²)` with `z = 1.96`, because the asymptotic variance of the
    /// number of jobs is `2ρ(1+ρ)/(1−ρ)⁴` (W. Whitt, Management Science 35(11), 1989).
    pub fn work(&self, load: f64) -> u64 {
        const Z: f64 = 1.96;
        let (precision, idle) = (self.settings.precision, 1.0 - load);
        let needed = 4.0 * Z * Z * (1.0 + load) / (idle * idle * precision * precision);
        let mut look = MIN_PRECISION_EVENTS;
        while (look as f64) < needed && look < self.settings.events {
            look *= 2;
        }
        look.min(self.settings.events)
    }
}

/// Adds quotes to the text if this is necessary for a shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(policies: usize, loads: &[f64]) -> SweepHeader {
        let names: Vec<String> = (0..policies).map(|n| format!("p{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut header = SweepHeader::sample(&names);
        header.loads = loads.to_vec();
        header.settings.events = 20_000_000;
        header
    }

    #[test]
    fn differences_have_paths_and_values() {
        let one = SweepHeader::sample(&["fcfs"]);
        let mut other = one.clone();
        assert!(differences(&one, &other, &[]).is_empty());
        other.settings.seed = 2;
        other.policies[0].digest = Some("sha256:1".into());
        other.workload.file = "another name of the same".into();
        assert_eq!(
            differences(&one, &other, &["file"]),
            [
                "policies[0].digest: null there, sha256:1 here",
                "settings.seed: 1 there, 2 here",
            ]
        );
    }

    #[test]
    fn rejects_invalid_shards() {
        for text in "0/4 5/4 a/b 1/0 0/0 3 -1/4 1/2/3  1/1000000 1.5/4".split(' ') {
            let refused = text.parse::<Shard>();
            assert!(
                refused.is_err_and(|why| why.contains("such as 3/8")),
                "{text}"
            );
        }
        let shard: Result<Shard, String> = "3/8".parse();
        assert_eq!(shard.map(|shard| shard.to_string()), Ok("3/8".into()));
    }

    #[test]
    fn shards_are_balanced() {
        for (policies, loads) in [
            (1, &[0.5][..]),
            (4, &[0.3, 0.5, 0.7, 0.9]),
            (7, &[0.5, 0.9, 0.95, 0.99]),
        ] {
            let header = header(policies, loads);
            for shards in 1..=12 {
                let dealt = deal(&header, shards);
                let mut work = vec![0; shards];
                for ((_, load), shard) in header.cells().zip(&dealt) {
                    work[shard - 1] += header.work(load);
                }
                let most = header.cells().map(|(_, load)| header.work(load)).max();
                let spread = work.iter().max().zip(work.iter().min());
                let spread = spread.map(|(most, least)| most - least);
                assert!(spread <= most, "{policies} {loads:?} {shards}: {work:?}");
            }
        }
    }

    #[test]
    fn work_grows_with_the_load_up_to_the_budget() {
        let header = header(1, &[]);
        let work = [0.1, 0.5, 0.7, 0.9, 0.99].map(|load| header.work(load));
        assert_eq!(
            work,
            [1_000_000, 1_000_000, 4_000_000, 20_000_000, 20_000_000]
        );
    }
}
