//! A policy on its workload or on another, and the verdicts on its claims.

use super::enter::same_record;
use super::{VerbError, marked, refuse};
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Checked, Family};
use crate::multiresource::simulator::{
    Contender, Judgement, Run, Settings, Verdict, as_analysed, judge, watches,
};
use crate::multiresource::workload::{Fleet, Workload};
use crate::number::Decimal;
use crate::simulation::sweep::Knows;
use crate::simulation::{Ending, Health, Progress};

/// Other ways of running a policy than those that its file says.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimulationArgs {
    /// The start latency of jobs, in place of the workload's own \[time\], ≥ 0.
    pub start_latency: Option<Decimal>,
    /// What becomes of a file that was changed after it was written.
    pub changes: Changes,
}

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
    pub unjudged: Option<Unjudged>,
    /// What the policy knows of jobs.
    pub knows: Knows,
}

/// Why claims are not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// They are about another workload.
    OtherWorkload,
    /// It was told to end before.
    Interrupted,
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
/// in a run of their own where the policy runs under other conditions than they hold for. `progress`
/// hears what runs, and how far it is.
///
/// # Errors
/// When there is no such policy, it is refused or cannot run on the workload, or `ways` do not go
/// with it.
pub fn simulate(
    policy: &str,
    workload: Option<Fleet>,
    ways: &SimulationArgs,
    settings: &Settings,
    mut progress: impl FnMut(&str, Progress),
) -> Result<Simulated, VerbError> {
    let late = |fleet: Fleet| match ways.start_latency {
        Some(latency) => fleet.with_start_latency(latency),
        None => Ok(fleet),
    };
    let workload = workload.map(late).transpose()?;
    let named = match &workload {
        Some(fleet) => Contender::named(policy, fleet),
        None => Contender::parse(policy).map_err(|why| why.to_string()),
    };
    let unnamed = match (named, workload.clone()) {
        (Ok(rule), Some(fleet)) => {
            let run = rule.simulate_on(&fleet, settings, |reached| progress(AS_ASKED, reached))?;
            return Ok(Simulated {
                run: marked(run, settings),
                as_analysed: None,
                verdicts: Vec::new(),
                unjudged: None,
                knows: rule.knows_of(&fleet),
                workload: fleet.envelope().clone(),
            });
        }
        (Ok(_), None) => {
            return refuse(format!(
                "the rule {policy} needs a workload: give --workload FILE"
            ));
        }
        (Err(unnamed), _) => unnamed,
    };
    let (checked, _): (Checked, _) = read_policy(policy, unnamed, ways.changes)?;
    let fleet = match workload {
        Some(fleet) => fleet,
        None => late(checked.workload().clone())?,
    };
    same_record(&checked.artifact().workload, &fleet.record()).or_else(refuse)?;
    judged(&checked, &fleet, settings, &mut progress)
}

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
        _ if !is_own => Some(Unjudged::OtherWorkload),
        Ending::Interrupted if !once => Some(Unjudged::Interrupted),
        _ => None,
    };
    let as_analysed = if once || unjudged.is_some() {
        None
    } else {
        Some(simulate(&analysed, &watching, AS_ANALYSED)?)
    };
    let verdicts = match unjudged {
        Some(_) => Vec::new(),
        None => judge(artifact, workload, as_analysed.as_ref().unwrap_or(&run)),
    };
    Ok(Simulated {
        knows: Contender::from(rule.clone()).knows_of(fleet),
        workload: workload.clone(),
        run,
        as_analysed,
        verdicts,
        unjudged,
    })
}
