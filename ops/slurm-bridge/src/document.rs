use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::resources::source_of;
use synth_core::document::{
    Document, DocumentError, Fault, TimeRange, matches_pattern, place, suggest,
};
use synth_multiresource::workload::{Fleet, Resource, Shape};
use synth_operator::{TypeEntry, TypeRules, type_rules};
use synth_slurm::commands::{QueueRow, expand};

/// The file of `--types`: how the resources, job types and servers of a policy appear in Slurm.
#[derive(Clone, Debug, Default)]
pub(super) struct TypesFile {
    /// The name of each resource in Slurm, and the bytes (or else 1) in one unit of the policy.
    pub resources: BTreeMap<String, (String, u128)>,
    /// The job types and their conditions in order, or `None` if the type is selected by demand.
    pub rules: Option<TypeRules<Condition>>,
    /// The node of each server, as in `Nodes::new`.
    pub servers: Option<Vec<Option<String>>>,
}

const EXAMPLE: &str = "resources: {cpu: cpu, memory: mem:G}
types:
  - {name: short, match: [{qos: debug}, {time_limit: {up_to: 1h}}]}
  - {name: long, match: [{time_limit: {above: 1h}}]}
servers: {big: [n1, \"n[2-4]\"]}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    resources: Option<BTreeMap<String, String>>,
    types: Option<Vec<TypeEntry<Condition>>>,
    servers: Option<BTreeMap<String, Vec<String>>>,
}

/// One entry of `match`, whose fields must all agree (`*` matches any text, `?` any character).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Condition {
    partition: Option<String>,
    qos: Option<String>,
    account: Option<String>,
    user: Option<String>,
    name: Option<String>,
    comment: Option<String>,
    #[serde(default)]
    time_limit: TimeRange,
}

impl synth_operator::Condition for Condition {
    const FIELDS: &'static str = "partition, qos, account, user, name, comment or time_limit";

    fn time_limit(&mut self) -> &mut TimeRange {
        &mut self.time_limit
    }
}

impl TypesFile {
    pub(crate) fn parse(text: &str, name: &str, fleet: &Fleet) -> Result<Self, DocumentError> {
        let document = Document::parse(text, name, EXAMPLE)?;
        let (written, mut faults) = document.read::<Written>();
        let checked = written.map(|own| TypesFile {
            resources: resources(own.resources.unwrap_or_default(), fleet, &mut faults),
            rules: own.types.map(|types| type_rules(types, fleet, &mut faults)),
            servers: own.servers.map(|own| nodes(own, fleet, &mut faults)),
        });
        let checked = checked.filter(|_| faults.is_empty());
        checked.ok_or_else(|| document.refuse(faults))
    }
}

fn resources(
    written: BTreeMap<String, String>,
    fleet: &Fleet,
    faults: &mut Vec<Fault>,
) -> BTreeMap<String, (String, u128)> {
    let known = fleet.envelope().resources().iter().map(Resource::name);
    let known: Vec<&str> = known.collect();
    let mut sources = BTreeMap::new();
    for (name, text) in written {
        let place = place!("resources", &name);
        if !known.contains(&&*name) {
            let message = format!("the policy has no resource `{name}`");
            faults.push(Fault::new(place, message, suggest(&name, "resource", &known)).at_key());
            continue;
        }
        if let Some(source) = source_of(&text) {
            sources.insert(name, source);
        } else {
            let message = format!("`{text}` is not a resource of Slurm");
            let help = "write cpu, mem:G (memory, with the unit that is used by the policy, such as K, M, G, T or 1000M), gres/NAME, or none if Slurm does not count it";
            faults.push(Fault::new(place, message, help));
        }
    }
    sources
}

impl Condition {
    pub(crate) fn is_met(&self, row: &QueueRow, limit_seconds: f64) -> bool {
        let texts = [
            (&self.partition, &row.partition),
            (&self.qos, &row.qos),
            (&self.account, &row.account),
            (&self.user, &row.user),
            (&self.name, &row.name),
            (&self.comment, &row.comment),
        ];
        let mut patterns = texts
            .iter()
            .filter_map(|(own, text)| own.as_ref().zip(Some(text)));
        patterns.all(|(own, text)| matches_pattern(own, text)) && self.time_limit.has(limit_seconds)
    }
}

fn nodes(
    written: BTreeMap<String, Vec<String>>,
    fleet: &Fleet,
    faults: &mut Vec<Fault>,
) -> Vec<Option<String>> {
    let shapes: Vec<&str> = fleet.shapes().iter().map(Shape::name).collect();
    for name in written.keys().filter(|name| !shapes.contains(&&***name)) {
        let message = format!("the policy has no servers of the shape `{name}`");
        let help = suggest(name, "shape", &shapes);
        faults.push(Fault::new(place!("servers", name), message, help).at_key());
    }
    let mut taken: Vec<String> = Vec::new();
    for shape in fleet.shapes() {
        let (name, count) = (shape.name(), shape.count() as usize);
        let Some(lists) = written.get(name) else {
            let message =
                format!("there are no nodes for the {count} servers of the shape `{name}`");
            let help = format!("add `{name}: [n1, \"n[2-4]\"]`");
            faults.push(Fault::new(place!("servers"), message, help));
            continue;
        };
        let before = taken.len();
        for (n, list) in lists.iter().enumerate() {
            let at = place!("servers", name, n);
            let Some(names) = expand(list) else {
                let message = format!("`{list}` is not a list of nodes");
                let help = "write the names of nodes, such as n1, or \"n[1-4,7]\" in quotes";
                faults.push(Fault::new(at, message, help));
                continue;
            };
            for node in names {
                if taken.contains(&node) {
                    let message = format!("node `{node}` is listed twice");
                    faults.push(Fault::new(at.clone(), message, "name each node once"));
                }
                taken.push(node);
            }
        }
        let found = taken.len() - before;
        if found != count {
            let message = format!(
                "there are {found} nodes, but the policy has {count} servers of this shape"
            );
            let help =
                "list the same number of nodes, or generate a policy for this number of servers";
            faults.push(Fault::new(place!("servers", name), message, help));
        }
    }
    taken.into_iter().map(Some).collect()
}
