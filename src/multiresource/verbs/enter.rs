//! Policies by name: a rule, or a policy file, and whether it goes with a workload.

use super::{VerbError, refuse};
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Checked, Finding, check_against};
use crate::multiresource::simulator::Contender;
use crate::multiresource::workload::{Fleet, Record};
use crate::simulation::sweep::Entrant;

/// A policy that takes part in a comparison; or why it cannot run on the workload.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Its name and what identifies it.
    pub entrant: Entrant,
    /// The rule that is simulated, or why there is none.
    pub rule: Result<Contender, String>,
}

/// Returns the rule with this name, for this fleet if one is known; else the policy in the file with this name, with
/// the digest of the file. `changes` is what becomes of one that was changed after it was written.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub(super) fn resolve_policy(
    name: &str,
    fleet: Option<&Fleet>,
    changes: Changes,
) -> Result<(Contender, Option<(Checked, String)>), VerbError> {
    let named = match fleet {
        Some(fleet) => Contender::named(name, fleet),
        None => Contender::parse(name),
    };
    match named {
        Ok(rule) => Ok((rule, None)),
        Err(unnamed) => {
            let file: (Checked, String) = read_policy(name, unnamed, changes)?;
            Ok((file.0.artifact().policy.clone().into(), Some(file)))
        }
    }
}

/// Returns a rule by name, or a policy file, which may not fit the workload's types.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub(super) fn enter(name: &str, fleet: &Fleet, changes: Changes) -> Result<Entered, VerbError> {
    let (rule, file) = resolve_policy(name, Some(fleet), changes)?;
    let is_for = file.as_ref().map_or(Ok(()), |(checked, _)| {
        same_record(&checked.artifact().workload, &fleet.record())
    });
    let fits = is_for.and_then(|()| rule.rule(fleet).map_err(|why| why.to_string()));
    Ok(Entered {
        entrant: Entrant {
            name: name.into(),
            digest: file.map(|(_, digest)| digest),
            preempts: rule.preempts(),
            knows: rule.knows_of(fleet),
        },
        rule: fits.map(|_| rule),
    })
}

/// Checks that a policy file, by its name, is for types that are known; takes its own where none are.
pub(super) fn has_types_of(
    name: &str,
    policy: &Checked,
    types: &mut Option<Fleet>,
) -> Result<(), VerbError> {
    let types = types.get_or_insert_with(|| policy.workload().clone());
    same_record(&policy.artifact().workload, &types.record())
        .or_else(|why| refuse(format!("{name}: {why}")))
}

/// Checks that a policy runs on another workload: the types, the servers and the time unit are the same.
pub(super) fn same_record(own: &Record, other: &Record) -> Result<(), String> {
    let demands = |r: &'_ Record| {
        let types = r.types.iter().map(|t| (t.name.clone(), t.units.clone()));
        let servers = r.servers.iter().map(|s| (s.count, s.units.clone()));
        (types.collect::<Vec<_>>(), servers.collect::<Vec<_>>())
    };
    if demands(own) == demands(other) {
        if own.time_unit != other.time_unit {
            return Err(format!(
                "the policy's rates are per {}, the workload's per {}; write the workload in the policy's time unit",
                own.time_unit, other.time_unit
            ));
        }
        return Ok(());
    }
    Err(match (own.is_of_one_server(), other.is_of_one_server()) {
        (true, false) => "this is the policy of one server, and the workload is a fleet",
        (false, true) => "this is the policy of a fleet, and the workload is one server",
        _ => "the policy was made for other job types or other servers; synthesize one for this workload",
    }
    .into())
}

/// Where the workload that a policy was made for differs from this one.
///
/// # Errors
/// When one is of a fleet, and the other of one server.
pub fn against(policy: &Checked, workload: &Fleet) -> Result<Vec<Finding>, VerbError> {
    let (own, other) = (&policy.artifact().workload, workload.record());
    match (own.is_of_one_server(), other.is_of_one_server()) {
        (true, false) => refuse(
            "the policy is of one server, and the workload is a fleet: give that of one server",
        ),
        (false, true) => refuse(
            "the policy is of a fleet, and the workload of one server: give that of the fleet",
        ),
        _ => Ok(check_against(own, &other)),
    }
}
