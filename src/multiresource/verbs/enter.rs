//! Policies by name: a rule, or a policy file, and whether it goes with a workload.

use super::{VerbError, refuse};
use crate::artifact::Changes;
use crate::document::nearest;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Artifact, Checked, Family, Finding, check_against};
use crate::multiresource::replay::Rule;
use crate::multiresource::simulator::{Contender, PooledRule, knows_over};
use crate::multiresource::workload::{Described, Fleet, Record, Workload};
use crate::simulation::sweep::{Entrant, Knows};

/// A policy that was entered; or why it cannot run on this workload.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Its name and what identifies it.
    pub entrant: Entrant,
    /// The rule that is simulated, or why there is none.
    pub rule: Result<Rule, String>,
}

/// A rule by name, or a policy file, which may not fit the workload's types; `changes` is what becomes
/// of one that was changed after it was written.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub fn enter(name: &str, workload: &Described, changes: Changes) -> Result<Entered, VerbError> {
    match workload {
        Described::Server(workload) => on_server(name, workload, changes),
        Described::Fleet(fleet) => over_fleet(name, fleet, changes),
    }
}

fn on_server(name: &str, workload: &Workload, changes: Changes) -> Result<Entered, VerbError> {
    let entered = |digest, preempts, rule: Contender, fits: Result<(), String>| {
        let fits = fits.and_then(|()| rule.fit(workload).map_err(|why| why.to_string()));
        Entered {
            entrant: Entrant {
                name: name.into(),
                digest,
                preempts,
                knows: rule.knows(workload),
            },
            rule: fits.map(|()| Rule::One(Box::new(rule))),
        }
    };
    let unnamed = match Contender::parse(name) {
        Ok(rule) => return Ok(entered(None, rule.preempts(), rule, Ok(()))),
        Err(unnamed) => unnamed,
    };
    let (checked, digest): (Checked, String) = read_policy(name, unnamed, changes)?;
    if !checked.workload().is_one_server() {
        return refuse(format!(
            "{name} is the policy of a fleet, and the workload is one server: `synth simulate` runs it"
        ));
    }
    let policy = checked.artifact().policy.clone();
    let fits = same_types(checked.artifact(), workload);
    Ok(entered(
        Some(digest),
        policy.preempts(),
        policy.into(),
        fits,
    ))
}

fn over_fleet(name: &str, fleet: &Fleet, changes: Changes) -> Result<Entered, VerbError> {
    let entered = |digest, policy: Result<Family, String>| Entered {
        entrant: Entrant {
            name: name.into(),
            digest,
            preempts: false,
            knows: policy
                .as_ref()
                .map_or(Knows::default(), |policy| knows_over(policy, fleet)),
        },
        rule: policy.map(|policy| Rule::Over(Box::new(policy))),
    };
    if let Some(rule) = PooledRule::named(name) {
        return Ok(entered(None, Ok(rule.policy())));
    }
    let (checked, digest) = read_policy(name, unnamed(name), changes)?;
    Ok(entered(Some(digest), policy_for(&checked, fleet)))
}

/// Why a name is not that of a rule over the servers of a fleet.
pub(super) fn unnamed(name: &str) -> String {
    let names: Vec<&str> = PooledRule::ALL.iter().map(|rule| rule.name).collect();
    let meant = nearest(name, &names).map_or(String::new(), |near| format!(" (`{near}`?)"));
    format!(
        "no rule `{name}`{meant} over the servers of a fleet; these are {}",
        PooledRule::names()
    )
}

/// The rule of a policy file for this fleet, or why it has none.
pub(super) fn policy_for(checked: &Checked, fleet: &Fleet) -> Result<Family, String> {
    let artifact = checked.artifact();
    if !artifact.policy.pools() {
        return Err("this is the policy of one server, and the workload is a fleet".into());
    }
    same_record(&artifact.workload, &fleet.record())?;
    Ok(artifact.policy.clone())
}

/// A policy runs on another workload if the types, the server and the time unit are the same.
pub(super) fn same_types(artifact: &Artifact, workload: &Workload) -> Result<(), String> {
    same_record(&artifact.workload, &workload.record())
}

/// The same of a fleet.
pub(super) fn same_record(own: &Record, other: &Record) -> Result<(), String> {
    let demands = |r: &Record| -> Vec<(String, Vec<u64>)> {
        let types = r.types.iter();
        types.map(|t| (t.name.clone(), t.units.clone())).collect()
    };
    if own.time_unit != other.time_unit {
        return Err(format!(
            "the policy's rates are per {}, the workload's per {}; write the workload in the policy's time unit",
            own.time_unit, other.time_unit
        ));
    }
    let servers = |r: &Record| -> Vec<(u32, Vec<u64>)> {
        let servers = r.servers.iter();
        servers.map(|s| (s.count, s.units.clone())).collect()
    };
    if demands(own) == demands(other) && servers(own) == servers(other) {
        return Ok(());
    }
    Err("the policy was made for other job types or other servers; synthesize one for this workload".into())
}

/// Where the workload that a policy was made for differs from this one.
///
/// # Errors
/// When one is of a fleet, and the other of one server.
pub fn against(policy: &Checked, workload: &Described) -> Result<Vec<Finding>, VerbError> {
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
