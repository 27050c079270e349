//! A policy on its workload or on another, and the verdicts on its claims.

use std::sync::atomic::Ordering;

use super::{Named, VerbError, enter, refuse};
use crate::artifact::Changes;
use crate::malleable::artifact::Policy;
use crate::malleable::simulator::{
    Course, Dividing, Judgement, Run, execute, judge, judge_course, simulate as simulate_rule,
};
use crate::malleable::workload::{Pool, Stream, Workload};
use crate::simulation::{Ending, Health, Progress, Settings, Verdict};

/// A simulated policy.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// What happened.
    pub ran: Ran,
    /// Its claims, judged; none of a rule, and none on another workload.
    pub verdicts: Vec<Judgement>,
    /// Whether it has claims that are about another workload.
    pub other_workload: bool,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Ran {
    /// To jobs that are all there: exact.
    Pool(Pool, Course),
    /// To jobs that arrive: measured.
    Stream(Stream, Box<Run>),
}

impl Simulated {
    /// Whether a claim is refuted. A policy that is unstable on the workload that it was made for is refuted as a whole.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        let unstable = match &self.ran {
            Ran::Stream(_, run) => run.health == Health::Unstable && !self.verdicts.is_empty(),
            Ran::Pool(..) => false,
        };
        unstable || self.verdicts.iter().any(|j| j.verdict == Verdict::Refuted)
    }
}

/// Simulates a rule by name, or a policy file, and judges the claims of the file.
///
/// # Errors
/// When there is no such policy, it is refused, or no workload is named for a rule.
pub fn simulate(
    name: &str,
    workload: Option<Workload>,
    changes: Changes,
    settings: &Settings,
    progress: impl FnMut(Progress),
) -> Result<Simulated, VerbError> {
    let entered = enter(name, changes)?;
    let own = entered.policy.workload().cloned();
    let Some(workload) = workload.or_else(|| own.clone()) else {
        return refuse(format!(
            "{name} is a rule: name the workload with --workload FILE"
        ));
    };
    let same = own.is_some_and(|own| own.digest() == workload.digest());
    let file = match &entered.policy {
        Named::File(file) => Some(file.artifact()),
        _ => None,
    };
    let (ran, verdicts) = match workload {
        Workload::Pool(pool) => {
            let course = run_pool(name, &entered.policy, &pool, same)?;
            let judged = file.filter(|_| same);
            let verdicts = judged.map_or(Vec::new(), |file| judge_course(file, &pool, &course));
            (Ran::Pool(pool, course), verdicts)
        }
        Workload::Stream(stream) => {
            let Some(sharing) = entered.policy.online() else {
                return refuse(not_online(name, &entered.policy));
            };
            let run = simulate_rule(&stream, sharing, settings, progress);
            let mut run = run.or_else(refuse)?;
            if settings.interrupt.load(Ordering::Relaxed) {
                run.ending = Ending::Interrupted;
            }
            let judged = file.filter(|_| same);
            let verdicts = judged.map_or(Vec::new(), |file| judge(file, &run));
            (Ran::Stream(stream, Box::new(run)), verdicts)
        }
    };
    Ok(Simulated {
        ran,
        verdicts,
        other_workload: file.is_some() && !same,
    })
}

/// What happens to a pool.
pub(super) fn run_pool(
    name: &str,
    policy: &Named,
    pool: &Pool,
    same: bool,
) -> Result<Course, VerbError> {
    if let Some(sharing) = policy.on_pool(pool) {
        return Ok(execute(pool, Dividing::Sharing(sharing), false));
    }
    match policy {
        Named::File(file) if same => match &file.artifact().policy {
            Policy::Plan(plan) => Ok(execute(pool, Dividing::Plan(&plan.rule), false)),
            Policy::Online(_) => refuse(format!("{name} is a rule for jobs that arrive")),
        },
        _ => refuse(format!(
            "{name} is a plan for other jobs, servers or speedups: make one for this workload, or take the rule hesrpt"
        )),
    }
}

/// Why a policy cannot run where jobs arrive.
pub(super) fn not_online(name: &str, policy: &Named) -> String {
    match policy {
        Named::Tuned(_) => format!(
            "{name} is tuned on jobs that are all there, and here jobs arrive: name its knob, as in knee:.1 or hesrpt:.5"
        ),
        _ => format!(
            "{name} is a plan for jobs that are all there, and here jobs arrive: make a policy for this workload, or take the rule hesrpt"
        ),
    }
}
