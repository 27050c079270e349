//! Policies on the same campaigns.

use std::sync::atomic::Ordering;

use super::{Entered, VerbError, enter, refuse, too_long};
use crate::simulation::sweep::Comparing;
use crate::volunteer::artifact::Tried;
use crate::volunteer::simulator::{Run, simulate};
use crate::volunteer::workload::Campaign;

/// Policies, and what came of each.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The file, as it was named.
    pub file: String,
    /// The campaign.
    pub campaign: Campaign,
    /// In the order in which they were named.
    pub entries: Vec<Entry>,
    /// The seed.
    pub seed: u64,
    /// Campaigns a policy.
    pub replications: u32,
    /// Whether it was told to end before all was there.
    pub interrupted: bool,
}

/// A policy, and what came of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub run: Run,
    /// What was tried to choose it, if it is a file; and its index.
    pub tried: Vec<Tried>,
    /// The index of what was taken.
    pub taken: Option<usize>,
}

/// Runs all policies on the same hosts and jobs.
///
/// # Errors
/// When a policy does not exist or is refused, loads are asked for, or one campaign takes more than twice what the
/// settings allow.
pub fn compare(
    campaign: &Campaign,
    asked: &Comparing<'_>,
    mut hears: impl FnMut(&str),
) -> Result<Tournament, VerbError> {
    if !asked.loads.is_empty() {
        return refuse(
            "--loads goes with jobs that queue, and hosts of volunteers always have some: leave it out",
        );
    }
    if asked.share.is_some() {
        return refuse(
            "--shard goes with policies over loads, and campaigns have none: compare some of the policies on each machine",
        );
    }
    if asked.journal.is_some_and(|(_, resume)| resume) {
        return refuse("a comparison of campaigns keeps no finished parts: leave --resume out");
    }
    let entered = asked.policies.iter().map(|name| enter(name, asked.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let mut entries = Vec::new();
    for (name, policy) in asked.policies.iter().zip(&entered) {
        hears(name);
        let run = simulate(campaign, policy.rule(campaign), asked.settings, |_| ());
        let run = run.or_else(too_long)?;
        if run.interrupted {
            break;
        }
        let file = policy.file().map(|file| file.artifact());
        let tried = file.map_or(Vec::new(), |file| file.evidence.tried.clone());
        let taken = file.and_then(|file| {
            let own = |tried: &Tried| tried.dispatch == file.policy.dispatch;
            tried.iter().position(own)
        });
        entries.push(Entry {
            name: name.clone(),
            run,
            tried,
            taken,
        });
    }
    Ok(Tournament {
        file: asked.file.into(),
        campaign: campaign.clone(),
        entries,
        seed: asked.settings.seed,
        replications: asked.settings.replications,
        interrupted: asked.settings.interrupt.load(Ordering::Relaxed),
    })
}
