//! A policy on its workload or on another, and the verdicts on its claims.

use super::enter::{resolve_policy, same_record};
use super::{VerbError, marked, refuse};
use crate::artifact::Changes;
use crate::multiresource::artifact::{Checked, Family};
use crate::multiresource::simulator::{
    Contender, Judgement, Run, Settings, Verdict, as_analysed, judge, watches,
};
use crate::multiresource::workload::{Fleet, Workload};
use crate::number::Decimal;
use crate::simulation::sweep::Knows;
use crate::simulation::{Ending, Health, Progress};

/// A simulated policy.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// What arrived.
    pub workload: Workload,
    /// The policy as it was asked for.
    pub run: Run,
    /// The policy under the conditions that its claims hold for, where these are others.
    pub as_analysed: Option<Run>,
    /// Its claims, judged; none of a rule.
    pub verdicts: Vec<Judgement>,
    /// Why its claims are not judged, if it has any.
    pub unjudged: Option<&'static str>,
    /// What the policy knows of jobs.
    pub knows: Knows,
}

impl Simulated {
    /// Whether a claim is refuted. A policy that is unstable on the workload that it was made for is
    /// refuted as a whole.
    pub fn is_refuted(&self) -> bool {
        let unstable = self.run.health == Health::Unstable && !self.verdicts.is_empty();
        unstable || self.verdicts.iter().any(|j| j.verdict == Verdict::Refuted)
    }
}

/// Simulates a rule by name, or a policy file, and judges the claims of the file. Claims are judged
/// in a run of their own where the policy runs under other conditions than they hold for. The start latency, if there is
/// one, is in place of the workload's own \[time\], ≥ 0; `changes` is what becomes of a file that was changed after it was
/// written. `progress` is notified of what runs, and how far it is.
///
/// # Errors
/// When there is no such policy, it is refused or cannot run on the workload.
pub fn simulate(
    policy: &str,
    workload: Option<Fleet>,
    (start_latency, changes): (Option<Decimal>, Changes),
    settings: &Settings,
    mut progress: impl FnMut(&str, Progress),
) -> Result<Simulated, VerbError> {
    let (rule, file) = resolve_policy(policy, workload.as_ref(), changes)?;
    let own = || file.as_ref().map(|(checked, _)| checked.workload().clone());
    let Some(mut fleet) = workload.or_else(own) else {
        return refuse(format!(
            "the rule {policy} needs a workload: give --workload FILE"
        ));
    };
    if let Some(latency) = start_latency {
        fleet = fleet.with_start_latency(latency)?;
    }
    if let Some((checked, _)) = file {
        same_record(&checked.artifact().workload, &fleet.record()).or_else(refuse)?;
        return judged(&checked, &fleet, settings, &mut progress);
    }
    let run = rule.simulate_on(&fleet, settings, |reached| progress(AS_ASKED, reached))?;
    Ok(Simulated {
        run: marked(run, settings),
        as_analysed: None,
        verdicts: Vec::new(),
        unjudged: None,
        knows: rule.knows_of(&fleet),
        workload: fleet.envelope().clone(),
    })
}

const OTHER_WORKLOAD: &str =
    "The workload is not the one that the policy was made for: its claims are not judged.";
const AS_ASKED: &str = "simulating";
const AS_ANALYSED: &str = "simulating as analysed";

/// Runs a policy; what is claimed of it is judged on the fleet that it was made for.
fn judged(
    checked: &Checked,
    fleet: &Fleet,
    settings: &Settings,
    progress: &mut dyn FnMut(&str, Progress),
) -> Result<Simulated, VerbError> {
    let (artifact, workload) = (checked.artifact(), fleet.envelope());
    let rule = &artifact.policy;
    let mut simulate = |policy: &Family, settings: &Settings, what: &str| {
        let rule = Contender::from(policy.clone());
        let run = rule.simulate_on(fleet, settings, |reached| progress(what, reached));
        run.map(|run| marked(run, settings))
    };
    let analysed = as_analysed(artifact, rule);
    let is_own = fleet.digest() == artifact.workload.digest;
    let watching = Settings {
        watch: watches(artifact, workload),
        ..settings.clone()
    };
    let once = is_own && analysed == *rule;
    let run = simulate(rule, if once { &watching } else { settings }, AS_ASKED)?;
    let unjudged = match run.ending {
        _ if !is_own => Some(OTHER_WORKLOAD),
        Ending::Interrupted if !once => Some("Interrupted before the claims could be judged."),
        _ => None,
    };
    let (mut as_analysed, mut verdicts) = (None, Vec::new());
    if unjudged.is_none() {
        if !once {
            as_analysed = Some(simulate(&analysed, &watching, AS_ANALYSED)?);
        }
        verdicts = judge(artifact, workload, as_analysed.as_ref().unwrap_or(&run));
    }
    Ok(Simulated {
        knows: Contender::from(rule.clone()).knows_of(fleet),
        workload: workload.clone(),
        run,
        as_analysed,
        verdicts,
        unjudged,
    })
}
