//! Policies that take part in a replay.

use std::fmt::Display;

use super::super::enter::same_record;
use super::super::{VerbError, refuse};
use super::Replaying;
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::Checked;
use crate::multiresource::simulator::Contender;
use crate::multiresource::workload::Fleet;

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
    Demand,
    /// By their types: a policy file.
    Type(Contender),
}

/// The policies, and the workload whose types jobs are: the one that is given, or that of the first policy file.
pub fn enter(asked: &Replaying<'_>) -> Result<(Vec<Entrant>, Option<Fleet>), VerbError> {
    let mut types = asked.workload.cloned();
    let entrant = |name: &String| {
        let (by, digest) = match Contender::parse(name) {
            Ok(_) => (By::Demand, None),
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

/// What a policy file decides by, and what identifies it. The types of jobs are its own where none are known yet;
/// `no_rule` says why its name is not that of a rule.
///
/// # Errors
/// When there is no such file, it is refused, or the types that are known are others.
pub fn policy_file(
    name: &str,
    no_rule: impl Display,
    changes: Changes,
    types: &mut Option<Fleet>,
) -> Result<(Contender, String), VerbError> {
    let (checked, digest): (Checked, String) = read_policy(name, no_rule, changes)?;
    let types = types.get_or_insert_with(|| checked.workload().clone());
    same_record(&checked.artifact().workload, &types.record())
        .or_else(|why| refuse(format!("{name}: {why}")))?;
    Ok((checked.artifact().policy.clone().into(), digest))
}
