use serde::Serialize;

use super::{below, estimate, number, table};
use crate::multiresource::artifact::Objective;
use crate::multiresource::optimum::{Optimum, Step};
use crate::multiresource::simulator::{Estimate, Health, Run};
use crate::multiresource::workload::Workload;

/// How a policy fares beside the optimum.
#[derive(Clone, Debug, Serialize)]
pub struct Distance {
    policy: String,
    health: Health,
    response: Option<Estimate>,
}

impl Distance {
    /// Of a simulated policy.
    pub fn new(policy: &str, run: &Run, objective: Objective) -> Self {
        Distance {
            policy: policy.to_owned(),
            health: run.health,
            response: match objective {
                Objective::Mean => run.mean_response,
                Objective::Weighted => run.weighted_response,
            },
        }
    }
}

/// The optimum of a small system, and how far policies are from it.
#[derive(Clone, Debug, Serialize)]
pub struct OptimumReport {
    /// No policy without preemption has less \[time\].
    lower_bound: f64,
    /// The optimum of the box is at most that \[time\].
    upper_bound_in_box: f64,
    /// The most waiting jobs of each type.
    box_of_waiting_jobs: Vec<usize>,
    states: usize,
    sweeps: usize,
    /// What the last growth of the box changed, relatively.
    growth: Option<f64>,
    interrupted: bool,
    policies: Vec<Distance>,
}

impl OptimumReport {
    /// Of what was found.
    pub fn new(found: &Optimum, policies: Vec<Distance>) -> Self {
        OptimumReport {
            lower_bound: found.lower,
            upper_bound_in_box: found.upper_in_box,
            box_of_waiting_jobs: found.limits.clone(),
            states: found.states,
            sweeps: found.sweeps,
            growth: Some(found.growth).filter(|g| g.is_finite()),
            interrupted: found.interrupted,
            policies,
        }
    }
}

/// How far the dynamic program is.
pub fn optimum_step(step: &Step) -> String {
    let [low, high] = step.bounds.map(number);
    format!(
        "dynamic program: {} states ({:.0} MB), sweep {}, between {low} and {high}",
        step.states,
        step.bytes() as f64 / 1e6,
        step.sweeps
    )
}

/// For a person.
pub fn optimum(workload: &Workload, found: &OptimumReport, objective: Objective) -> String {
    let unit = workload.time_unit();
    let what = match objective {
        Objective::Mean => "mean response time",
        Objective::Weighted => "mean response time, weighted by load,",
    };
    let mut text = String::new();
    if found.interrupted {
        text += "CUT SHORT (interrupted, or --time-limit): the bound holds, and would be higher.\n";
    }
    text += &format!(
        "no policy without preemption has a {what} below {} {unit}\n",
        below(found.lower_bound)
    );
    let sides = found.box_of_waiting_jobs.iter().map(usize::to_string);
    let grown = found.growth.map_or(String::new(), |growth| {
        format!(
            "; its last growth by half changed {} %",
            number(100.0 * growth)
        )
    });
    text += &format!(
        "dynamic program: at most {} waiting jobs, {} states, {} sweeps, the optimum there between {} and {}{grown}\n",
        sides.collect::<Vec<_>>().join(" × "),
        found.states,
        found.sweeps,
        below(found.lower_bound),
        number(found.upper_bound_in_box),
    );
    if found.policies.is_empty() {
        return text;
    }
    let mut rows = table(&[
        "policy, simulated",
        &format!("E[T] [{unit}]"),
        "over the bound",
    ]);
    for distance in &found.policies {
        let response = match distance.health {
            Health::Unstable => "unstable".into(),
            Health::Unsettled => "unsettled".into(),
            Health::Settled => estimate(distance.response),
        };
        // A program that was cut short at once has no bound yet.
        let bounded = distance.response.filter(|_| found.lower_bound > 0.0);
        let over = bounded.map_or("–".into(), |e| {
            format!("{:+.1} %", 100.0 * (e.mean / found.lower_bound - 1.0))
        });
        rows.add_row([distance.policy.clone(), response, over]);
    }
    format!("{text}\n{}", rows.trim_fmt())
}
