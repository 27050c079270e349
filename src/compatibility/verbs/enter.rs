//! Policies by name: a rule, or a policy file.

use std::path::Path;

use super::VerbError;
use crate::artifact::Changes;
use crate::compatibility::artifact::Checked;
use crate::compatibility::simulator::Rule;
use crate::compatibility::workload::{Cluster, Trial};
use crate::kind::{no_rule, read_policy, split_name};
use crate::simulation::sweep::{Entrant, Knows};

/// A rule that has a name: with what stands behind a colon, and what it does.
pub const RULES: [(&str, &str, &str); 4] = [
    (
        "balanced-fairness",
        ":M",
        "one virtual queue, each server works on the first job that it may serve, and a job goes to the end M times in the mean before it is done; with more and more interruptions balanced fairness",
    ),
    (
        "fcfs",
        "",
        "the same without interruptions: first come, first served at every server, and a job is served by all that are free for it",
    ),
    (
        "random-ps",
        "",
        "each job is sent to any of its servers, which share themselves among their jobs",
    ),
    (
        "shortest-ps",
        "",
        "each job is sent to that of its servers where it is served fastest at once (join the shortest queue), which share themselves",
    ),
];

/// A policy that was entered.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Its name and what identifies it.
    pub entrant: Entrant,
    /// What it does.
    pub policy: Named,
    /// The file, checked, where it is one.
    pub file: Option<Checked>,
    /// The law of sizes that it is tried with.
    pub trial: Trial,
}

/// What a policy does, before it is known on which servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Named {
    /// The virtual queue with so many interruptions a job.
    Fair(f64),
    /// To any server.
    Random,
    /// To the shortest queue.
    Shortest,
}

impl Named {
    /// The rule on a cluster.
    #[must_use]
    pub fn on(self, cluster: &Cluster) -> Rule {
        match self {
            Named::Fair(m) => Rule::Fair {
                slice: (m > 0.0).then(|| cluster.size().mean() / m),
            },
            Named::Random => Rule::RandomPs,
            Named::Shortest => Rule::ShortestPs,
        }
    }
}

/// A rule by name, or a policy file; `changes` is what becomes of one that was changed after it was written. Behind an `@` may
/// stand a law of sizes that it is tried with.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub fn enter(whole: &str, changes: Changes) -> Result<Entered, VerbError> {
    let (name, trial) = tried(whole);
    let entered = |digest, policy, file| Entered {
        entrant: Entrant {
            name: whole.into(),
            digest,
            preempts: matches!(policy, Named::Fair(m) if m > 0.0),
            knows: Knows::Means,
        },
        policy,
        file,
        trial,
    };
    let why = match named(name) {
        Ok(policy) => return Ok(entered(None, policy, None)),
        Err(why) => why,
    };
    let (checked, digest): (Checked, String) = read_policy(name, why, changes)?;
    let policy = Named::Fair(checked.artifact().policy.interruptions);
    Ok(entered(Some(digest), policy, Some(checked)))
}

/// The policy, and the law that stands behind it.
fn tried(whole: &str) -> (&str, Trial) {
    let parts = whole
        .rsplit_once('@')
        .filter(|_| !Path::new(whole).exists());
    let trial = |law: &str| Trial::ALL.into_iter().find(|trial| trial.name() == law);
    let found = parts.and_then(|(name, law)| Some((name, trial(law)?)));
    found.unwrap_or((whole, Trial::Own))
}

fn named(name: &str) -> Result<Named, String> {
    match split_name(name) {
        ("balanced-fairness", Some(parameter)) => match parameter.parse::<f64>() {
            Ok(m) if (0.0..=1e6).contains(&m) => Ok(Named::Fair(m)),
            _ => Err(format!(
                "`{parameter}` is not how often a job is interrupted: a number from 0 to 1e6, as in balanced-fairness:5"
            )),
        },
        ("balanced-fairness", None) => Err(
            "balanced-fairness needs how often a job is interrupted, as in balanced-fairness:5"
                .into(),
        ),
        ("fcfs", None) => Ok(Named::Fair(0.0)),
        ("random-ps", None) => Ok(Named::Random),
        ("shortest-ps", None) => Ok(Named::Shortest),
        _ => Err(no_rule(name, &RULES)),
    }
}
