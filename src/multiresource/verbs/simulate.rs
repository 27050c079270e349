//! A policy on its workload or on another, and the verdicts on its claims.

use super::enter::{policy_for, same_types, unnamed};
use super::{VerbError, marked, refuse};
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Checked, Family};
use crate::multiresource::simulator::{
    Contender, Failure, Judgement, PooledRule, Run, Settings, Verdict, as_analysed, judge,
    knows_over, simulate_over, watches,
};
use crate::multiresource::workload::{Described, Fleet, Workload};
use crate::number::Decimal;
use crate::simulation::sweep::Knows;
use crate::simulation::{Ending, Health, Progress};

/// Other ways of running a policy than those that its file says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ways {
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
    fn unjudged(workload: Workload, run: Run, unjudged: Option<Unjudged>) -> Self {
        Simulated {
            workload,
            run,
            as_analysed: None,
            verdicts: Vec::new(),
            unjudged,
            knows: Knows::Means,
        }
    }

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
    workload: Option<Described>,
    ways: &Ways,
    settings: &Settings,
    mut progress: impl FnMut(&str, Progress),
) -> Result<Simulated, VerbError> {
    let asked = Asked { ways, settings };
    let workload = match (workload, ways.start_latency) {
        (Some(workload), Some(latency)) => Some(workload.with_start_latency(latency)?),
        (workload, _) => workload,
    };
    let workload = match workload {
        Some(Described::Fleet(fleet)) => return asked.over(policy, fleet, &mut progress),
        Some(Described::Server(workload)) => Some(workload),
        None => None,
    };
    let rule = match Contender::parse(policy) {
        Ok(rule) => rule,
        Err(unnamed) => {
            let (checked, _): (Checked, _) = read_policy(policy, unnamed, ways.changes)?;
            let (fleet, rule) = (checked.workload(), &checked.artifact().policy);
            if fleet.is_one_server() {
                let simulated = asked.server(&checked, rule, workload, &mut progress)?;
                return Ok(Simulated {
                    knows: Contender::from(rule.clone()).knows(&simulated.workload),
                    ..simulated
                });
            }
            if workload.is_some() {
                return refuse(
                    "the policy of a fleet is simulated on a fleet, and this workload is one server: leave --workload out",
                );
            }
            let fleet = match ways.start_latency {
                Some(latency) => fleet.with_start_latency(latency)?,
                None => fleet.clone(),
            };
            return asked.pooled(rule, fleet, Some(&checked), &mut progress);
        }
    };
    let Some(workload) = workload else {
        return refuse(format!(
            "the rule {policy} needs a workload: give --workload FILE"
        ));
    };
    let run = rule.simulate(&workload, settings, |reached| progress(AS_ASKED, reached))?;
    Ok(Simulated {
        knows: rule.knows(&workload),
        ..Simulated::unjudged(workload, marked(run, settings), None)
    })
}

const AS_ASKED: &str = "simulating";
const AS_ANALYSED: &str = "simulating as analysed";

struct Asked<'a> {
    ways: &'a Ways,
    settings: &'a Settings,
}

type Hears<'a> = &'a mut dyn FnMut(&str, Progress);

impl Asked<'_> {
    fn server(
        &self,
        checked: &Checked,
        rule: &Family,
        given: Option<Workload>,
        progress: Hears<'_>,
    ) -> Result<Simulated, VerbError> {
        let artifact = checked.artifact();
        let workload = match given {
            Some(workload) => workload,
            None => self.delayed(checked.workload().envelope())?,
        };
        same_types(artifact, &workload).or_else(refuse)?;
        let mut simulate = |policy: &Family, settings: &Settings, what: &str| {
            let contender = Contender::from(policy.clone());
            let run = contender.simulate(&workload, settings, |reached| progress(what, reached));
            run.map(|run| marked(run, settings))
        };
        let analysed = as_analysed(artifact, rule);
        let watching = Settings {
            watch: watches(artifact, &workload),
            ..self.settings.clone()
        };
        if workload.digest() == artifact.workload.digest && analysed == *rule {
            let run = simulate(rule, &watching, AS_ASKED)?;
            return Ok(Simulated {
                verdicts: judge(artifact, &workload, &run),
                ..Simulated::unjudged(workload, run, None)
            });
        }
        let run = simulate(rule, self.settings, AS_ASKED)?;
        let unjudged = match run.ending {
            _ if workload.digest() != artifact.workload.digest => Some(Unjudged::OtherWorkload),
            Ending::Interrupted => Some(Unjudged::Interrupted),
            _ => None,
        };
        if unjudged.is_some() {
            return Ok(Simulated::unjudged(workload, run, unjudged));
        }
        let again = simulate(&analysed, &watching, AS_ANALYSED)?;
        Ok(Simulated {
            verdicts: judge(artifact, &workload, &again),
            as_analysed: Some(again),
            ..Simulated::unjudged(workload, run, None)
        })
    }

    /// A rule by name over all servers of a fleet, or a policy file.
    fn over(&self, name: &str, fleet: Fleet, progress: Hears<'_>) -> Result<Simulated, VerbError> {
        if let Some(rule) = PooledRule::named(name) {
            return self.pooled(&rule.policy(), fleet, None, progress);
        }
        let (checked, _) = read_policy(name, unnamed(name), self.ways.changes)?;
        let policy = policy_for(&checked, &fleet).or_else(refuse)?;
        self.pooled(&policy, fleet, Some(&checked), progress)
    }

    /// A policy over all servers of a fleet; what is claimed of it is judged on the fleet that it was made for.
    fn pooled(
        &self,
        policy: &Family,
        fleet: Fleet,
        of: Option<&Checked>,
        progress: Hears<'_>,
    ) -> Result<Simulated, VerbError> {
        let artifact = of.map(Checked::artifact);
        let own = artifact.filter(|artifact| artifact.workload.digest == fleet.digest());
        let workload = fleet.envelope().clone();
        let settings = Settings {
            watch: own.map_or(Vec::new(), |artifact| watches(artifact, &workload)),
            ..self.settings.clone()
        };
        let hears = |reached| progress(AS_ASKED, reached);
        let run = simulate_over(&fleet, policy, &settings, hears).map_err(Failure::from)?;
        let run = marked(run, &settings);
        let unjudged = artifact.filter(|_| own.is_none());
        Ok(Simulated {
            verdicts: own.map_or(Vec::new(), |artifact| judge(artifact, &workload, &run)),
            knows: knows_over(policy, &fleet),
            ..Simulated::unjudged(workload, run, unjudged.map(|_| Unjudged::OtherWorkload))
        })
    }

    /// The workload with the start latency that was asked for.
    fn delayed(&self, workload: &Workload) -> Result<Workload, VerbError> {
        Ok(match self.ways.start_latency {
            Some(latency) => workload.with_start_latency(latency)?,
            None => workload.clone(),
        })
    }
}
