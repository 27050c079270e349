//! A policy on its campaign or on another, and the verdicts on its claims.

use super::{VerbError, enter, refuse, too_long};
use crate::artifact::Changes;
use crate::simulation::{Progress, Settings, Verdict};
use crate::volunteer::simulator::{Judgement, Run, judge, simulate as simulate_rule};
use crate::volunteer::workload::Campaign;

/// A simulated policy.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// On which campaign.
    pub campaign: Campaign,
    /// What happened.
    pub run: Run,
    /// Its claims, judged; none of a rule, and none on another campaign.
    pub verdicts: Vec<Judgement>,
    /// Whether it has claims that are about another campaign.
    pub other_workload: bool,
}

impl Simulated {
    /// Whether a claim is refuted.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.verdicts.iter().any(|j| j.verdict == Verdict::Refuted)
    }
}

/// Simulates a rule by name, or a policy file, and judges the claims of the file.
///
/// # Errors
/// When there is no such policy, it is refused, no campaign is named for a rule, or one takes more than twice what
/// the settings allow.
pub fn simulate(
    name: &str,
    campaign: Option<Campaign>,
    changes: Changes,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Simulated, VerbError> {
    let entered = enter(name, changes)?;
    let own = entered.file().map(|file| file.workload().clone());
    let Some(campaign) = campaign.or_else(|| own.clone()) else {
        return refuse(format!(
            "{name} is a rule: name the workload with --workload FILE"
        ));
    };
    let same = own
        .as_ref()
        .is_some_and(|own| own.digest() == campaign.digest());
    let run = simulate_rule(&campaign, entered.rule(&campaign), settings, progress);
    let run = run.or_else(too_long)?;
    let judged = entered.file().filter(|_| same && !run.interrupted);
    let verdicts = judged.map(|file| judge(file.artifact(), &campaign, &run));
    Ok(Simulated {
        verdicts: verdicts.unwrap_or_default(),
        other_workload: own.is_some() && !same,
        campaign,
        run,
    })
}
