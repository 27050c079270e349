//! Policies by name: a rule, or a policy file, and whether it goes with a workload.

use super::{VerbError, refuse};
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Checked, Finding, check_against};
use crate::multiresource::simulator::Contender;
use crate::multiresource::workload::{Fleet, Record};
use crate::simulation::sweep::Entrant;

/// A policy that was entered; or why it cannot run on this workload.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Its name and what identifies it.
    pub entrant: Entrant,
    /// The rule that is simulated, or why there is none.
    pub rule: Result<Contender, String>,
}

/// A rule by name, or a policy file, which may not fit the workload's types; `changes` is what becomes
/// of one that was changed after it was written.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub fn enter(name: &str, fleet: &Fleet, changes: Changes) -> Result<Entered, VerbError> {
    let entered = |digest, preempts, rule: Contender, is_for: Result<(), String>| {
        let fits = is_for.and_then(|()| rule.rule(fleet).map_err(|why| why.to_string()));
        Entered {
            entrant: Entrant {
                name: name.into(),
                digest,
                preempts,
                knows: rule.knows_of(fleet),
            },
            rule: fits.map(|_| rule),
        }
    };
    let unnamed = match Contender::named(name, fleet) {
        Ok(rule) => return Ok(entered(None, rule.preempts(), rule, Ok(()))),
        Err(unnamed) => unnamed,
    };
    let (checked, digest): (Checked, String) = read_policy(name, unnamed, changes)?;
    let artifact = checked.artifact();
    let is_for = same_record(&artifact.workload, &fleet.record());
    let (policy, preempts) = (artifact.policy.clone(), artifact.policy.preempts());
    Ok(entered(Some(digest), preempts, policy.into(), is_for))
}

/// A policy runs on another workload if the types, the servers and the time unit are the same.
pub(super) fn same_record(own: &Record, other: &Record) -> Result<(), String> {
    let demands = |r: &Record| -> Vec<(String, Vec<u64>)> {
        let types = r.types.iter();
        types.map(|t| (t.name.clone(), t.units.clone())).collect()
    };
    let servers = |r: &Record| -> Vec<(u32, Vec<u64>)> {
        let servers = r.servers.iter();
        servers.map(|s| (s.count, s.units.clone())).collect()
    };
    if demands(own) == demands(other) && servers(own) == servers(other) {
        if own.time_unit != other.time_unit {
            return Err(format!(
                "the policy's rates are per {}, the workload's per {}; write the workload in the policy's time unit",
                own.time_unit, other.time_unit
            ));
        }
        return Ok(());
    }
    let of = |record: &Record| record.is_of_one_server();
    Err(match (of(own), of(other)) {
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
    let given = workload.record();
    let made_for = &policy.artifact().workload;
    match (made_for.is_of_one_server(), given.is_of_one_server()) {
        (true, false) => refuse(
            "the policy is of one server, and the workload is a fleet: give that of one server",
        ),
        (false, true) => refuse(
            "the policy is of a fleet, and the workload of one server: give that of the fleet",
        ),
        _ => Ok(check_against(made_for, &given)),
    }
}
