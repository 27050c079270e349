//! Policies that take part in a replay.

use std::fmt::Display;

use super::super::enter::{same_record, unnamed};
use super::super::{VerbError, refuse};
use super::Replaying;
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::Checked;
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
    let entrant = |name: &String| {
        let (by, digest) = match Contender::parse(name) {
            Ok(contender) => (By::Demand(contender), None),
            Err(unnamed) => {
                let (rule, digest) = policy_file(name, &unnamed, asked.changes, &mut types)?;
                (By::Type(rule), Some(digest))
            }
        };
        let name = name.clone();
        Ok(Entrant { name, digest, by })
    };
    let entrants = asked.policies.iter().map(entrant);
    let entrants = entrants.collect::<Result<_, VerbError>>()?;
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

/// What a policy file decides by, and what identifies it. The types of jobs are its own where none are known yet;
/// `no_rule` says why its name is not that of a rule.
///
/// # Errors
/// When there is no such file, it is refused, or the types that are known are others.
pub fn policy_file(
    name: &str,
    no_rule: impl Display,
    changes: Changes,
    types: &mut Option<Described>,
) -> Result<(Rule, String), VerbError> {
    let (checked, digest): (Checked, String) = read_policy(name, no_rule, changes)?;
    let types = types.get_or_insert_with(|| Described::from(checked.workload()));
    same_record(&checked.artifact().workload, &types.record())
        .or_else(|why| refuse(format!("{name}: {why}")))?;
    let policy = checked.artifact().policy.clone();
    let rule = if policy.pools() {
        Rule::Over(Box::new(policy))
    } else {
        Rule::One(Box::new(policy.into()))
    };
    Ok((rule, digest))
}
