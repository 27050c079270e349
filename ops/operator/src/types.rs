use schemars::JsonSchema;
use serde::Deserialize;
use synth_core::document::{Fault, TimeRange, place, suggest};
use synth_multiresource::workload::{DemandClassifier, Fleet, JobType};

/// The conditions on the jobs of a type. All of them must be met.
pub trait Condition: Default + PartialEq {
    /// The names of the fields, which are used in messages.
    const FIELDS: &'static str;

    /// Returns the range of the time limit.
    fn time_limit(&mut self) -> &mut TimeRange;
}

/// A type in a file. If there are conditions, a job must meet at least one of them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeEntry<C> {
    name: String,
    #[serde(rename = "match", default)]
    conditions: Vec<C>,
}

/// The types and their conditions, in the order of the file.
pub type TypeRules<C> = Vec<(usize, Vec<C>)>;

/// Checks the types in a file against a policy, and reports all faults.
pub fn type_rules<C: Condition>(
    entries: Vec<TypeEntry<C>>,
    fleet: &Fleet,
    faults: &mut Vec<Fault>,
) -> TypeRules<C> {
    let names: Vec<&str> = fleet.types().iter().map(JobType::name).collect();
    let mut rules: TypeRules<C> = Vec::new();
    for (n, TypeEntry { name, conditions }) in entries.into_iter().enumerate() {
        let at = place!("types", n, "name");
        let Some(i) = names.iter().position(|own| *own == name) else {
            let message = format!("the policy has no type `{name}`");
            faults.push(Fault::new(at, message, suggest(&name, "type", &names)));
            continue;
        };
        if rules.iter().any(|rule| rule.0 == i) {
            let message = format!("the type `{name}` is listed twice");
            let help = "write all conditions of the type in one `match:`";
            faults.push(Fault::new(at, message, help));
        }
        let check = |(m, mut condition): (usize, C)| {
            let at = place!("types", n, "match", m);
            if condition == C::default() {
                let help = format!(
                    "use {}; if there is no `match:`, all jobs that fit the type are accepted",
                    C::FIELDS
                );
                faults.push(Fault::new(at, "empty condition", help));
            } else {
                condition.time_limit().read(&at.then("time_limit"), faults);
            }
            condition
        };
        rules.push((i, conditions.into_iter().enumerate().map(check).collect()));
    }
    rules
}

/// The types of a policy, which are assigned by demand or by conditions.
#[derive(Clone, Debug)]
pub struct JobTypes<C> {
    /// The demand of each of the K types on each of its servers, in whole units (R).
    demands: Vec<Vec<u64>>,
    nodes: Vec<u32>,
    by: By<C>,
}

#[derive(Clone, Debug)]
enum By<C> {
    Demand(DemandClassifier),
    Conditions(TypeRules<C>),
}

impl<C: Condition> JobTypes<C> {
    /// Creates the types. Jobs are assigned by `rules`, or else by demand and the prices of units.
    ///
    /// # Errors
    /// If there are no rules and two types have the same demand.
    pub fn new(
        fleet: &Fleet,
        prices: &[f64],
        demands: Vec<Vec<u64>>,
        rules: Option<TypeRules<C>>,
    ) -> Result<Self, String> {
        let by = match rules {
            Some(rules) => By::Conditions(rules),
            None => By::Demand(DemandClassifier::new(fleet, prices, &demands).map_err(
                |[first, second]| {
                    format!(
                        "the types `{first}` and `{second}` have the same demand, so the type of a job cannot be determined by its demand: write a file with `types:` and conditions (`match:` of {}), and pass it with --types",
                        C::FIELDS
                    )
                },
            )?),
        };
        Ok(JobTypes {
            nodes: fleet.types().iter().map(JobType::nodes).collect(),
            demands,
            by,
        })
    }

    /// Returns the type of a job with this demand on each server and this time limit \[s\].
    pub fn find(
        &self,
        units: &[u64],
        nodes: u32,
        limit: f64,
        is_met: impl Fn(&C) -> bool,
    ) -> Option<usize> {
        let rules = match &self.by {
            By::Demand(types) => return types.find(units, nodes, limit),
            By::Conditions(rules) => rules,
        };
        let is_of = |own: &[C]| own.is_empty() || own.iter().any(&is_met);
        let mut rules = rules.iter();
        let rule = rules.find(|(i, own)| self.holds(*i, units, nodes) && is_of(own));
        rule.map(|rule| rule.0)
    }

    /// Returns `true` if a job with this demand on each of its `nodes` servers fits type `i`. A job
    /// on one server only fits a type with one server.
    pub fn holds(&self, i: usize, units: &[u64], nodes: u32) -> bool {
        let mut pairs = units.iter().zip(&self.demands[i]);
        (nodes > 1) == (self.nodes[i] > 1)
            && nodes <= self.nodes[i]
            && pairs.all(|(job, own)| job <= own)
    }

    /// Returns the maximum number of servers of a type.
    pub fn most_nodes(&self) -> u32 {
        self.nodes.iter().copied().max().unwrap_or(1)
    }
}
