//! Which type a job belongs to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::units::Resources;
use crate::view::{TYPE, View};
use synth_cluster::artifact::Checked;
use synth_cluster::live::prices;
use synth_cluster::workload::{ByDemand, JobType};
use synth_core::document::{Document, Fault, fits, place, suggest};
use synth_core::number::seconds_of;

/// The types of a policy.
///
/// A job belongs to the type that its label `synth/type` names; else to the first of a file of which it meets a condition;
/// else to the cheapest that holds what it demands, of types with one demand by its time limit. On one server its pods
/// together count; in a fleet each pod has a server, and the type as many servers as the job has pods, or more.
#[derive(Clone, Debug)]
pub struct TypeMap {
    pub resources: Resources,
    names: Vec<String>,
    /// Demand of each of the K types in whole units (R), on each of its servers.
    demands: Vec<Vec<u64>>,
    nodes: Vec<u32>,
    by: By,
    /// All nodes are one server.
    is_pooled: bool,
}

#[derive(Clone, Debug)]
enum By {
    Demand(ByDemand),
    Rules(Vec<(usize, Vec<Condition>)>),
}

/// How such a file reads.
const EXAMPLE: &str = "types:
  - {name: train, match: [{queue: research, labels: {stage: train*}}, {time_limit: {above: 1h}}]}
  - {name: serve}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    types: Vec<WrittenType>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenType {
    name: String,
    #[serde(rename = "match", default)]
    conditions: Vec<Condition>,
}

/// What a job has to meet, all of it. `*` and `?` stand for any text and any character.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Condition {
    queue: Option<String>,
    priority_class: Option<String>,
    namespace: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    time_limit: Range,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Range {
    above: Option<String>,
    up_to: Option<String>,
}

impl Condition {
    fn is_met(&self, view: &View<'_>) -> bool {
        let has = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| fits(pattern, text))
        };
        let work = view.work;
        let limit = work.limit.unwrap_or(f64::INFINITY);
        let bound = |text: &Option<String>| text.as_ref().and_then(|text| seconds_of(text));
        has(&self.queue, &work.queue)
            && has(&self.priority_class, &work.class)
            && has(&self.namespace, &work.itself.own.namespace)
            && bound(&self.time_limit.above).is_none_or(|above| limit > above)
            && bound(&self.time_limit.up_to).is_none_or(|up_to| limit <= up_to)
            && self
                .labels
                .iter()
                .all(|(name, pattern)| view.label(name).is_some_and(|text| fits(pattern, text)))
    }
}

impl TypeMap {
    /// For a policy, the names of its resources, and a file with its name, or none.
    ///
    /// # Errors
    /// When the file has faults, or demand alone does not tell types apart.
    pub fn new(
        policy: &Checked,
        resources: Resources,
        file: Option<(&str, &str)>,
    ) -> Result<Self, String> {
        let fleet = policy.workload();
        let types = fleet.types();
        let names: Vec<String> = types.iter().map(|own| own.name().to_owned()).collect();
        let demands: Vec<Vec<u64>> = types.iter().map(|own| own.units().to_vec()).collect();
        let by = match file {
            Some((text, name)) => By::Rules(rules(text, name, &names)?),
            None => By::Demand(ByDemand::new(fleet, prices(policy), &demands).map_err(
                |[first, second]| {
                    format!(
                        "the types `{first}` and `{second}` have one demand, so that demand does not tell their jobs apart: write a file with `types:` that says which jobs are which (`match:` of queue, priority_class, namespace, labels or time_limit), and name it by --types"
                    )
                },
            )?),
        };
        Ok(TypeMap {
            resources,
            names,
            demands,
            nodes: types.iter().map(JobType::nodes).collect(),
            by,
            is_pooled: fleet.is_one_server(),
        })
    }

    /// Returns the type of a job.
    ///
    /// # Errors
    /// Why it has none.
    pub fn find(&self, view: &View<'_>) -> Result<usize, String> {
        let (demand, pods) = match self.is_pooled {
            true => (&view.work.all, 1),
            false => (
                &view.work.each,
                view.work.pods.try_into().unwrap_or(u32::MAX),
            ),
        };
        let units = self.resources.units(demand);
        if let Some(label) = view.label(TYPE) {
            let named = self.names.iter().position(|name| name == label);
            let named = named.ok_or_else(|| {
                format!(
                    "its label {TYPE} names `{label}`, and the policy has no such type: {}",
                    self.names.join(", ")
                )
            })?;
            return match self.holds(named, &units, pods) {
                true => Ok(named),
                false => Err(format!(
                    "it demands more than the type `{label}` that its label {TYPE} names"
                )),
            };
        }
        let found = match &self.by {
            By::Demand(types) => {
                let limit = view.work.limit.unwrap_or(f64::INFINITY);
                types.find(&units, pods, limit)
            }
            By::Rules(rules) => rules.iter().find_map(|(i, conditions)| {
                let is_of = conditions.is_empty() || conditions.iter().any(|own| own.is_met(view));
                (is_of && self.holds(*i, &units, pods)).then_some(*i)
            }),
        };
        found.ok_or_else(|| match self.is_pooled {
            true => "no type of the policy holds what its pods demand together".into(),
            false => {
                format!("no type of the policy holds what its pods demand, on as many servers as it has pods ({pods})")
            }
        })
    }

    fn holds(&self, i: usize, units: &[u64], pods: u32) -> bool {
        let mut pairs = units.iter().zip(&self.demands[i]);
        (pods > 1) == (self.nodes[i] > 1)
            && pods <= self.nodes[i]
            && pairs.all(|(job, own)| job <= own)
    }
}

/// Reads a file of types: those of these names, in the file's order.
fn rules(text: &str, name: &str, names: &[String]) -> Result<Vec<(usize, Vec<Condition>)>, String> {
    let document = Document::parse(text, name, EXAMPLE).map_err(|why| why.to_string())?;
    let (written, mut faults) = document.read::<Written>();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rules = Vec::new();
    for (n, own) in written.into_iter().flat_map(|own| own.types).enumerate() {
        for (m, condition) in own.conditions.iter().enumerate() {
            let range = &condition.time_limit;
            for (key, bound) in [("above", &range.above), ("up_to", &range.up_to)] {
                if let Some(text) = bound.as_ref().filter(|text| seconds_of(text).is_none()) {
                    let at = place!("types", n, "match", m, "time_limit", key);
                    let help = "write seconds, or a number with s, min, h or d, such as 90min";
                    let message = format!("`{text}` is no length of time");
                    faults.push(Fault::new(at, message, help));
                }
            }
        }
        match known.iter().position(|known| *known == own.name) {
            Some(place) => rules.push((place, own.conditions)),
            None => {
                let message = format!("the policy has no type `{}`", own.name);
                let help = suggest(&own.name, "type", &known);
                faults.push(Fault::new(place!("types", n, "name"), message, help));
            }
        }
    }
    match faults.is_empty() {
        true => Ok(rules),
        false => Err(document.refuse(faults).to_string()),
    }
}
