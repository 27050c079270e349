//! A policy on its workload or on another, and the verdicts on its claims.

use std::sync::atomic::Ordering;

use super::{VerbError, enter, refuse};
use crate::artifact::Changes;
use crate::compatibility::simulator::{Judgement, Run, judge, simulate as simulate_rule};
use crate::compatibility::workload::Cluster;
use crate::simulation::{Ending, Health, Progress, Settings, Verdict};

/// A simulated policy.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// What arrived.
    pub cluster: Cluster,
    /// The run.
    pub run: Run,
    /// Its claims, judged; none of a rule, and none on another workload.
    pub verdicts: Vec<Judgement>,
    /// Whether it has claims that are about another workload.
    pub other_workload: bool,
}

impl Simulated {
    /// Whether a claim is refuted. A policy that is unstable on the workload that it was made for is refuted as a whole.
    pub fn is_refuted(&self) -> bool {
        let unstable = self.run.health == Health::Unstable && !self.verdicts.is_empty();
        unstable || self.verdicts.iter().any(|j| j.verdict == Verdict::Refuted)
    }
}

/// Simulates a rule by name, or a policy file, and judges the claims of the file.
///
/// # Errors
/// When there is no such policy, it is refused, or no workload is named for a rule.
pub fn simulate(
    name: &str,
    workload: Option<Cluster>,
    changes: Changes,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Simulated, VerbError> {
    let entered = enter(name, changes)?;
    let own = entered.file.as_ref().map(|file| file.workload().clone());
    let Some(cluster) = workload.or_else(|| own.clone()) else {
        return refuse(format!(
            "{name} is a rule: name the workload with --workload FILE"
        ));
    };
    let cluster = cluster.with_sizes(entered.trial.law(cluster.size()));
    let rule = entered.policy.on(&cluster);
    let run = simulate_rule(&cluster, &rule, settings, progress);
    let mut run = run.or_else(refuse)?;
    if settings.interrupt.load(Ordering::Relaxed) {
        run.ending = Ending::Interrupted;
    }
    let same = own.is_some_and(|own| own.digest() == cluster.digest());
    let verdicts = match &entered.file {
        Some(file) if same => judge(file.artifact(), &cluster, &run),
        _ => Vec::new(),
    };
    Ok(Simulated {
        other_workload: entered.file.is_some() && !same,
        verdicts,
        cluster,
        run,
    })
}
