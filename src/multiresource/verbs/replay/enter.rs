//! Policies that take part in a replay.

use super::super::enter::{same_record, unnamed};
use super::super::{VerbError, refuse};
use super::Replaying;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Checked, Quantity, Subject};
use crate::multiresource::replay::Rule;
use crate::multiresource::simulator::{Contender, PooledRule, Rule as Named};
use crate::multiresource::workload::Described;

/// A policy that takes part.
pub struct Entrant {
    /// Its name, or its file.
    pub name: String,
    /// What identifies its file.
    pub digest: Option<String>,
    /// How it decides.
    pub by: By,
    /// Mean response time that it claims over all jobs, in its workload's unit.
    pub claimed: Option<f64>,
}

/// By what a policy tells jobs apart.
pub enum By {
    /// By what they demand: a rule by name.
    Demand(Contender),
    /// By their types: a policy file.
    Type(Rule),
}

/// The policies, and the workload whose types jobs are: the one that is given, or that of the first policy file.
pub fn enter(asked: &Replaying<'_>) -> Result<(Vec<Entrant>, Option<Described>), VerbError> {
    let mut types = asked.workload.cloned();
    let mut entrants = Vec::new();
    for name in asked.policies {
        let unnamed = match Contender::parse(name) {
            Ok(contender) => {
                entrants.push(Entrant {
                    name: name.clone(),
                    digest: None,
                    by: By::Demand(contender),
                    claimed: None,
                });
                continue;
            }
            Err(unnamed) => unnamed,
        };
        let (checked, digest): (Checked, String) = read_policy(name, unnamed, asked.changes)?;
        let own = Described::from(checked.workload());
        let given = types.get_or_insert(own);
        same_record(&checked.artifact().workload, &given.record())
            .or_else(|why| refuse(format!("{name}: {why}")))?;
        entrants.push(Entrant {
            name: name.clone(),
            digest: Some(digest),
            by: By::Type(rule(&checked)),
            claimed: claimed(&checked),
        });
    }
    Ok((entrants, types))
}

/// The rule over the servers of a fleet that goes by the name of this one.
pub fn over_a_fleet(name: &str) -> Result<Rule, VerbError> {
    let known = Named::named(name).map_or(name, |rule| rule.name);
    match PooledRule::named(known) {
        Some(rule) => Ok(Rule::Over(Box::new(rule.policy()))),
        None => refuse(unnamed(name)),
    }
}

/// What a policy file decides by.
pub(super) fn rule(checked: &Checked) -> Rule {
    let policy = checked.artifact().policy.clone();
    if policy.pools() {
        Rule::Over(Box::new(policy))
    } else {
        Rule::One(Box::new(policy.into()))
    }
}

/// E[T] over all jobs that it claims.
fn claimed(checked: &Checked) -> Option<f64> {
    let claim = checked
        .artifact()
        .find(Quantity::MeanResponse, Subject::of_type(None));
    claim.map(|claim| claim.value)
}
