//! Policies by name: a rule, or a policy file.

use super::{VerbError, refuse};
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Artifact, Checked};
use crate::multiresource::simulator::Contender;
use crate::multiresource::workload::{Record, Workload};
use crate::simulation::sweep::Entrant;

/// A policy that was entered; or why it cannot run on this workload.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Its name and what identifies it.
    pub entrant: Entrant,
    /// The rule that is simulated, or why there is none.
    pub contender: Result<Contender, String>,
}

/// A rule by name, or a policy file, which may not fit the workload's types; `changes` is what becomes
/// of one that was changed after it was written.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub fn enter(name: &str, workload: &Workload, changes: Changes) -> Result<Entered, VerbError> {
    let entered = |digest, preempts, knows, contender| Entered {
        entrant: Entrant {
            name: name.into(),
            digest,
            preempts,
            knows,
        },
        contender,
    };
    let unnamed = match Contender::parse(name) {
        Ok(rule) => {
            let fits = rule.fit(workload).map_err(|why| why.to_string());
            let (preempts, knows) = (rule.preempts(), rule.knows(workload));
            return Ok(entered(None, preempts, knows, fits.map(|()| rule)));
        }
        Err(unnamed) => unnamed,
    };
    let (checked, digest): (Checked, String) = read_policy(name, unnamed, changes)?;
    if !checked.workload().is_one_server() {
        return refuse(format!(
            "{name} is the policy of a fleet, and the workload is one server: `synth simulate` runs it"
        ));
    }
    let fits = same_types(checked.artifact(), workload);
    let policy = checked.artifact().policy.clone();
    let preempts = policy.preempts();
    let rule = Contender::from(policy);
    let knows = rule.knows(workload);
    let fits = fits.and_then(|()| rule.fit(workload).map_err(|why| why.to_string()));
    let contender = fits.map(|()| rule);
    Ok(entered(Some(digest), preempts, knows, contender))
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
