//! Which type a job belongs to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::view::{TYPE, View};
use synth_core::document::{Document, TimeRange, fits};
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::Fleet;
use synth_operator::{JobTypes, Resources, TypeEntry, TypeRules, prices, type_rules};

/// The types of a policy.
///
/// A job belongs to the type that its label `synth/type` names; else to the first of a file of which it meets a condition;
/// else to the cheapest that holds what it demands, of types with one demand by its time limit. On one server its pods
/// together count; in a fleet each pod has a server, and the type as many servers as the job has pods, or more.
#[derive(Clone, Debug)]
pub struct TypeMap {
    pub resources: Resources,
    names: Vec<String>,
    types: JobTypes<Condition>,
    /// All nodes are one server.
    is_pooled: bool,
}

/// How such a file reads.
const EXAMPLE: &str = "types:
  - {name: train, match: [{queue: research, labels: {stage: train*}}, {time_limit: {above: 1h}}]}
  - {name: serve}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    types: Vec<TypeEntry<Condition>>,
}

/// What a job has to meet, all of it. `*` and `?` stand for any text and any character.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
struct Condition {
    queue: Option<String>,
    priority_class: Option<String>,
    namespace: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    time_limit: TimeRange,
}

impl synth_operator::Condition for Condition {
    const FIELDS: &'static str = "queue, priority_class, namespace, labels or time_limit";

    fn time_limit(&mut self) -> &mut TimeRange {
        &mut self.time_limit
    }
}

impl Condition {
    fn is_met(&self, view: &View<'_>) -> bool {
        let has = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| fits(pattern, text))
        };
        let work = view.work;
        has(&self.queue, &work.queue)
            && has(&self.priority_class, &work.class)
            && has(&self.namespace, &work.itself.own.namespace)
            && self.time_limit.has(work.limit.unwrap_or(f64::INFINITY))
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
        let types = fleet.types().iter();
        let demands = types.clone().map(|own| own.units().to_vec()).collect();
        let rules = file
            .map(|(text, name)| rules(text, name, fleet))
            .transpose()?;
        Ok(TypeMap {
            resources,
            names: types.map(|own| own.name().to_owned()).collect(),
            types: JobTypes::new(fleet, prices(policy), demands, rules)?,
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
            return match self.types.holds(named, &units, pods) {
                true => Ok(named),
                false => Err(format!(
                    "it demands more than the type `{label}` that its label {TYPE} names"
                )),
            };
        }
        let limit = view.work.limit.unwrap_or(f64::INFINITY);
        let found = self.types.find(&units, pods, limit, |own| own.is_met(view));
        found.ok_or_else(|| match self.is_pooled {
            true => "no type of the policy holds what its pods demand together".into(),
            false => {
                format!("no type of the policy holds what its pods demand, on as many servers as it has pods ({pods})")
            }
        })
    }
}

/// Reads a file of types: the types of this fleet, in the file's order.
fn rules(text: &str, name: &str, fleet: &Fleet) -> Result<TypeRules<Condition>, String> {
    let document = Document::parse(text, name, EXAMPLE).map_err(|why| why.to_string())?;
    let (written, mut faults) = document.read::<Written>();
    let rules = written.map(|own| type_rules(own.types, fleet, &mut faults));
    let rules = rules.filter(|_| faults.is_empty());
    rules.ok_or_else(|| document.refuse(faults).to_string())
}
