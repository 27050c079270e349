//! A policy on its workload or on another, and the verdicts on its claims.

use super::enter::{policy_for, same_types, unnamed};
use super::{VerbError, marked, refuse};
use crate::artifact::Changes;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Artifact, Checked, Family, Routing};
use crate::multiresource::policy::{Router, Unsuitable, online};
use crate::multiresource::simulator::{
    Alike, Contender, Failure, Judgement, PooledRule, Run, Settings, Verdict, as_analysed, judge,
    knows_over, simulate_over, simulate_servers, watches,
};
use crate::multiresource::workload::{Described, Fleet, Workload};
use crate::number::Decimal;
use crate::simulation::sweep::Knows;
use crate::simulation::{Ending, Health, Progress};

/// Other ways of running a policy than those that its file says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ways {
    /// How jobs are sent to the servers of a fleet.
    pub routing: Option<Routing>,
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
            return match checked.artifact().one_server() {
                Some(server) => {
                    let rule = &server.policy.rule;
                    let simulated = asked.server(&checked, rule, workload, &mut progress)?;
                    Ok(Simulated {
                        knows: Contender::from(rule.clone()).knows(&simulated.workload),
                        ..simulated
                    })
                }
                None if workload.is_some() => refuse(
                    "the policy of a fleet is simulated on the fleet that it was made for: leave --workload out",
                ),
                None => asked.fleet(&checked, &mut progress),
            };
        }
    };
    if ways.routing.is_some() {
        return refuse(NO_FLEET);
    }
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

const NO_FLEET: &str =
    "--routing goes with the policy of a fleet, and here is one server: leave it out";
const NO_ROUTING: &str = "--routing says to which server a job is sent when it arrives; here jobs wait in one place, and a server takes them: leave it out, or make a policy with `synth --queue servers`";
const AS_ASKED: &str = "simulating";
const AS_ANALYSED: &str = "simulating as analysed";

struct Asked<'a> {
    ways: &'a Ways,
    settings: &'a Settings,
}

type Hears<'a> = &'a mut dyn FnMut(&str, Progress);

/// A policy file, and how its claims can be judged.
struct Own<'a> {
    artifact: &'a Artifact,
    /// Whether it runs on another workload than that which it was made for.
    is_other: bool,
    /// Whether it runs under the conditions that its claims hold for.
    is_as_analysed: bool,
}

impl Own<'_> {
    /// Runs the policy, and again as analysed where that is another way; `simulate` is told whether it is to run so, and
    /// whether claims are judged by the run.
    fn judged(
        &self,
        workload: Workload,
        mut simulate: impl FnMut(bool, bool) -> Result<Run, VerbError>,
    ) -> Result<Simulated, VerbError> {
        let run = simulate(false, self.is_as_analysed && !self.is_other)?;
        if self.is_other {
            let unjudged = Some(Unjudged::OtherWorkload);
            return Ok(Simulated::unjudged(workload, run, unjudged));
        }
        if self.is_as_analysed {
            return Ok(Simulated {
                verdicts: judge(self.artifact, &workload, &run),
                ..Simulated::unjudged(workload, run, None)
            });
        }
        if run.ending == Ending::Interrupted {
            let unjudged = Some(Unjudged::Interrupted);
            return Ok(Simulated::unjudged(workload, run, unjudged));
        }
        let again = simulate(true, true)?;
        Ok(Simulated {
            verdicts: judge(self.artifact, &workload, &again),
            as_analysed: Some(again),
            ..Simulated::unjudged(workload, run, None)
        })
    }
}

impl Asked<'_> {
    fn server(
        &self,
        checked: &Checked,
        rule: &Family,
        given: Option<Workload>,
        progress: Hears<'_>,
    ) -> Result<Simulated, VerbError> {
        if self.ways.routing.is_some() {
            return refuse(NO_FLEET);
        }
        let artifact = checked.artifact();
        let workload = match given {
            Some(workload) => workload,
            None => self.delayed(checked.workload().envelope())?,
        };
        same_types(artifact, &workload).or_else(refuse)?;
        let analysed = as_analysed(artifact, rule);
        let watching = Settings {
            watch: watches(artifact, &workload),
            ..self.settings.clone()
        };
        let own = Own {
            artifact,
            is_other: workload.digest() != artifact.workload.digest,
            is_as_analysed: analysed == *rule,
        };
        let scene = workload.clone();
        own.judged(workload, |as_analysed, is_judged| {
            let (policy, what) = if as_analysed {
                (&analysed, AS_ANALYSED)
            } else {
                (rule, AS_ASKED)
            };
            let settings = if is_judged { &watching } else { self.settings };
            let contender = Contender::from(policy.clone());
            let run = contender.simulate(&scene, settings, |reached| progress(what, reached))?;
            Ok(marked(run, settings))
        })
    }

    /// A rule by name over all servers of a fleet, or a policy file.
    fn over(&self, name: &str, fleet: Fleet, progress: Hears<'_>) -> Result<Simulated, VerbError> {
        if let Some(rule) = PooledRule::named(name) {
            self.has_own_ways()?;
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
        self.has_own_ways()?;
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

    /// Refuses a way to send jobs to servers where they wait in one place.
    fn has_own_ways(&self) -> Result<(), VerbError> {
        if self.ways.routing.is_some() {
            return refuse(NO_ROUTING);
        }
        Ok(())
    }

    fn fleet(&self, checked: &Checked, progress: Hears<'_>) -> Result<Simulated, VerbError> {
        let artifact = checked.artifact();
        if let Some(policy) = &artifact.policy.queue {
            let fleet = checked.workload().fleet();
            let fleet = match self.ways.start_latency {
                Some(latency) => fleet.with_start_latency(latency)?,
                None => fleet.clone(),
            };
            return self.pooled(policy, fleet, Some(checked), progress);
        }
        let own = checked.workload();
        let workload = self.delayed(own.envelope())?;
        let sent = own.servers().iter().map(|server| self.delayed(server));
        let sent = sent.collect::<Result<Vec<Workload>, VerbError>>()?;
        let is_other = workload != *own.envelope();
        if workload.start_latency().is_some() && artifact.preempts() {
            return refuse(format!(
                "the policy cannot serve this fleet: {}",
                Unsuitable::StartLatency
            ));
        }
        let servers = artifact.policy.servers.iter();
        let policies: Vec<Family> = servers.map(|server| server.rule.clone()).collect();
        let analysed = policies.iter().map(|policy| as_analysed(artifact, policy));
        let analysed: Vec<Family> = analysed.collect();
        let routing = self.ways.routing.unwrap_or(Routing::Probabilistic);
        let own_ways = Own {
            artifact,
            is_other,
            is_as_analysed: routing == Routing::Probabilistic && analysed == policies,
        };
        let scene = workload.clone();
        own_ways.judged(workload, |as_analysed, _| {
            let (policies, routing, what) = if as_analysed {
                (&analysed, Routing::Probabilistic, AS_ANALYSED)
            } else {
                (&policies, routing, AS_ASKED)
            };
            let hears = |reached| progress(what, reached);
            let router = Router::new(checked, routing);
            let shapes = own.fleet().shapes().iter().zip(&sent);
            let shapes: Vec<Alike<'_>> = shapes
                .map(|(shape, workload)| Alike {
                    workload,
                    count: shape.count(),
                })
                .collect();
            let rule = |h: usize| online(&policies[h], &sent[h]);
            let run = simulate_servers(&scene, &shapes, rule, &router, self.settings, hears);
            Ok(marked(run.map_err(Failure::from)?, self.settings))
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
