//! Policies that take part in a replay.

use super::super::enter::same_record;
use super::super::{VerbError, refuse};
use super::Replaying;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Checked, Quantity, Subject};
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
    /// Mean response time that it claims over all jobs, in its workload's unit.
    pub claimed: Option<f64>,
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
    let mut entrants = Vec::new();
    for name in asked.policies {
        let unnamed = match Contender::parse(name) {
            Ok(_) => {
                entrants.push(Entrant {
                    name: name.clone(),
                    digest: None,
                    by: By::Demand,
                    claimed: None,
                });
                continue;
            }
            Err(unnamed) => unnamed,
        };
        let (checked, digest): (Checked, String) = read_policy(name, unnamed, asked.changes)?;
        let given = types.get_or_insert(checked.workload().clone());
        same_record(&checked.artifact().workload, &given.record())
            .or_else(|why| refuse(format!("{name}: {why}")))?;
        entrants.push(Entrant {
            name: name.clone(),
            digest: Some(digest),
            by: By::Type(checked.artifact().policy.clone().into()),
            claimed: claimed(&checked),
        });
    }
    Ok((entrants, types))
}

/// E[T] over all jobs that it claims.
fn claimed(checked: &Checked) -> Option<f64> {
    let claim = checked
        .artifact()
        .find(Quantity::MeanResponse, Subject::of_type(None));
    claim.map(|claim| claim.value)
}
