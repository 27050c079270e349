//! The file that says which jobs are of which type, as it is written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::resources::Source;
use super::rule::{Condition, Rule, Text};
use synth_cluster::workload::{Fleet, JobType, Resource, Shape};
use synth_core::document::{Document, DocumentError, Fault, Place, place, suggest};
use synth_core::number::seconds_of;
use synth_slurm::commands::expand;

/// What a file says, checked against a policy. Without a file nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct TypesFile {
    /// Resources of the policy, by name.
    pub resources: BTreeMap<String, Source>,
    /// The rules in order; without them demand decides.
    pub rules: Option<Vec<Rule>>,
    /// By shape, its nodes; without it nothing is said of nodes.
    pub servers: Option<Vec<Vec<String>>>,
}

/// How such a file reads.
const EXAMPLE: &str = "resources: {cpu: cpu, memory: mem:G}
types:
  - {name: short, match: [{qos: debug}, {time_limit: {up_to: 1h}}]}
  - {name: long, match: [{time_limit: {above: 1h}}]}
servers: {big: [n1, \"n[2-4]\"]}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    resources: Option<BTreeMap<String, String>>,
    types: Option<Vec<WrittenType>>,
    servers: Option<BTreeMap<String, Vec<String>>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenType {
    name: String,
    #[serde(rename = "match")]
    conditions: Option<Vec<WrittenCondition>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenCondition {
    partition: Option<String>,
    qos: Option<String>,
    account: Option<String>,
    user: Option<String>,
    name: Option<String>,
    comment: Option<String>,
    time_limit: Option<WrittenRange>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenRange {
    above: Option<String>,
    up_to: Option<String>,
}

impl TypesFile {
    /// Reads a file for a policy of this fleet; `name` stands for it in messages.
    pub fn parse(text: &str, name: &str, fleet: &Fleet) -> Result<Self, DocumentError> {
        let document = Document::parse(text, name, EXAMPLE)?;
        let (written, mut faults) = document.read::<Written>();
        let checked = written.map(|written| TypesFile {
            resources: resources(written.resources.unwrap_or_default(), fleet, &mut faults),
            rules: written.types.map(|types| rules(types, fleet, &mut faults)),
            servers: written.servers.map(|own| nodes(own, fleet, &mut faults)),
        });
        checked
            .filter(|_| faults.is_empty())
            .ok_or_else(|| document.refuse(faults))
    }
}

fn resources(
    written: BTreeMap<String, String>,
    fleet: &Fleet,
    faults: &mut Vec<Fault>,
) -> BTreeMap<String, Source> {
    let known = fleet.envelope().resources().iter().map(Resource::name);
    let known: Vec<&str> = known.collect();
    let mut sources = BTreeMap::new();
    for (name, text) in written {
        let place = place!("resources", &name);
        if !known.contains(&&*name) {
            let message = format!("the policy has no resource `{name}`");
            faults.push(Fault::new(place, message, suggest(&name, "resource", &known)).of_key());
            continue;
        }
        if let Some(source) = Source::parse(&text) {
            sources.insert(name, source);
        } else {
            let message = format!("`{text}` is nothing that Slurm counts");
            let help = "write cpu, mem:G (memory, and the unit that the policy counts it in: K, M, G, T or such as 1000M), gres/NAME, or none";
            faults.push(Fault::new(place, message, help));
        }
    }
    sources
}

fn rules(written: Vec<WrittenType>, fleet: &Fleet, faults: &mut Vec<Fault>) -> Vec<Rule> {
    let names: Vec<&str> = fleet.types().iter().map(JobType::name).collect();
    let mut rules: Vec<Rule> = Vec::new();
    for (n, written) in written.into_iter().enumerate() {
        let at = place!("types", n, "name");
        let Some(place) = names.iter().position(|name| *name == written.name) else {
            let message = format!("the policy has no type `{}`", written.name);
            let help = suggest(&written.name, "type", &names);
            faults.push(Fault::new(at, message, help));
            continue;
        };
        if rules.iter().any(|rule| rule.place == place) {
            let message = format!("the type `{}` has an entry already", written.name);
            let help = "write all its conditions into one `match:`";
            faults.push(Fault::new(at, message, help));
        }
        let conditions = written.conditions.into_iter().flatten().enumerate();
        let check = |(m, condition): (usize, WrittenCondition)| {
            condition.check(&place!("types", n, "match", m), faults)
        };
        let conditions = conditions.map(check).collect();
        rules.push(Rule { place, conditions });
    }
    rules
}

impl WrittenCondition {
    fn check(self, place: &Place, faults: &mut Vec<Fault>) -> Condition {
        let texts: [(Text, Option<String>); 6] = [
            (|row| &row.partition, self.partition),
            (|row| &row.qos, self.qos),
            (|row| &row.account, self.account),
            (|row| &row.user, self.user),
            (|row| &row.name, self.name),
            (|row| &row.comment, self.comment),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(text, pattern)| Some((text, pattern?)));
        let texts: Vec<(Text, String)> = texts.collect();
        if texts.is_empty() && self.time_limit.is_none() {
            let message = "a condition that says nothing";
            let help = "name partition, qos, account, user, name, comment or time_limit; a type without `match:` takes all jobs that fit it";
            faults.push(Fault::new(place.clone(), message, help));
        }
        let at = place.then("time_limit");
        let mut bound = |text: Option<String>, key: &str| {
            let text = text?;
            let seconds = seconds_of(&text);
            if seconds.is_none() {
                let message = format!("`{text}` is no length of time");
                let help = "write seconds, or a number with s, min, h or d, such as 90min";
                faults.push(Fault::new(at.then(key), message, help));
            }
            seconds
        };
        let range = self.time_limit.unwrap_or_default();
        let (above, up_to) = (bound(range.above, "above"), bound(range.up_to, "up_to"));
        if let (Some(above), Some(up_to)) = (above, up_to)
            && above >= up_to
        {
            let help =
                "write `above` below `up_to`: the limit is above the one, and not above the other";
            faults.push(Fault::new(at, "no limit is in this range", help));
        }
        Condition {
            texts,
            above,
            up_to,
        }
    }
}

fn nodes(
    written: BTreeMap<String, Vec<String>>,
    fleet: &Fleet,
    faults: &mut Vec<Fault>,
) -> Vec<Vec<String>> {
    let shapes: Vec<&str> = fleet.shapes().iter().map(Shape::name).collect();
    for name in written.keys().filter(|name| !shapes.contains(&&***name)) {
        let message = format!("the policy has no servers of the shape `{name}`");
        let help = suggest(name, "shape", &shapes);
        faults.push(Fault::new(place!("servers", name), message, help).of_key());
    }
    let mut taken: Vec<String> = Vec::new();
    let mut of_shape = |shape: &Shape| -> Vec<String> {
        let Some(lists) = written.get(shape.name()) else {
            let message = format!(
                "no nodes for the {} servers of the shape `{}`",
                shape.count(),
                shape.name()
            );
            let help = format!("add `{}: [n1, \"n[2-4]\"]`", shape.name());
            faults.push(Fault::new(place!("servers"), message, help));
            return Vec::new();
        };
        let mut own = Vec::new();
        for (n, list) in lists.iter().enumerate() {
            let at = place!("servers", shape.name(), n);
            let Some(names) = expand(list) else {
                let message = format!("`{list}` is no list of nodes");
                let help = "write names of nodes such as n1, or \"n[1-4,7]\" with quotes";
                faults.push(Fault::new(at, message, help));
                continue;
            };
            for node in names {
                if taken.contains(&node) {
                    let message = format!("node `{node}` is a server already");
                    faults.push(Fault::new(at.clone(), message, "name each node once"));
                }
                taken.push(node.clone());
                own.push(node);
            }
        }
        if own.len() != shape.count() as usize {
            let message = format!(
                "{} nodes, and the policy has {} servers of this shape",
                own.len(),
                shape.count()
            );
            let help = "name as many nodes, or make a policy for as many servers";
            faults.push(Fault::new(place!("servers", shape.name()), message, help));
        }
        own
    };
    fleet.shapes().iter().map(&mut of_shape).collect()
}
