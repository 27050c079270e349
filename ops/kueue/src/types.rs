use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::view::View;
use synth_core::document::{Document, TimeRange, matches_pattern};
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::Fleet;
use synth_operator::{JobTypes, TypeEntry, TypeRules, prices, type_rules};

const EXAMPLE: &str = "types:
  - {name: train, match: [{queue: research, labels: {stage: train*}}, {time_limit: {above: 1h}}]}
  - {name: serve}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    types: Vec<TypeEntry<Condition>>,
}

/// The conditions that must all be met by a job; `*` matches any text and `?` any character.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Condition {
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
    pub fn is_met(&self, view: &View<'_>) -> bool {
        let has = |pattern: &Option<String>, text: &str| match pattern {
            Some(pattern) => matches_pattern(pattern, text),
            None => true,
        };
        let work = view.work;
        has(&self.queue, &work.queue)
            && has(&self.priority_class, &work.class)
            && has(&self.namespace, &work.itself.own.namespace)
            && self.time_limit.has(work.limit.unwrap_or(f64::INFINITY))
            && self.labels.iter().all(|(name, pattern)| {
                view.label(name)
                    .is_some_and(|text| matches_pattern(pattern, text))
            })
    }
}

/// Returns the types of a policy. The argument `file` contains the text and name of a file.
pub fn types(policy: &Checked, file: Option<(&str, &str)>) -> Result<JobTypes<Condition>, String> {
    let fleet = policy.workload();
    let demands = fleet.types().iter().map(|own| own.units().to_vec());
    let rules = file.map(|(text, name)| rules(text, name, fleet));
    JobTypes::new(fleet, prices(policy), demands.collect(), rules.transpose()?)
}

fn rules(text: &str, name: &str, fleet: &Fleet) -> Result<TypeRules<Condition>, String> {
    let document = Document::parse(text, name, EXAMPLE).map_err(|why| why.to_string())?;
    let (written, mut faults) = document.read::<Written>();
    let rules = written.map(|own| type_rules(own.types, fleet, &mut faults));
    let rules = rules.filter(|_| faults.is_empty());
    rules.ok_or_else(|| document.refuse(faults).to_string())
}
