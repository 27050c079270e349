//! The least mean response time, and how far policies are above it.

use serde::Serialize;

use super::{Table, below, estimate, number};
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::optimum::{Ended, Optimum, Problem};
use crate::multiresource::workload::Workload;
use crate::simulation::{Estimate, Health};

/// How a policy fares beside the optimum.
#[derive(Clone, Debug, Serialize)]
pub struct Distance {
    /// Its name.
    pub policy: String,
    /// Whether its means may be believed.
    pub health: Health,
    /// The objective \[time\].
    pub response: Option<Estimate>,
    /// How far that is above the bound, as a fraction.
    #[serde(skip)]
    pub over: Option<f64>,
}

/// The optimum of a small system, and how far policies are from it.
#[derive(Clone, Debug, Serialize)]
pub struct Least {
    /// The load ρ.
    load: f64,
    /// The preemption that policies have.
    preemption: Preemption,
    /// γ, with setups \[1/time\].
    #[serde(skip_serializing_if = "Option::is_none")]
    setup_rate: Option<f64>,
    /// None of them has less \[time\].
    lower_bound: f64,
    /// The optimum of the box is at most that \[time\].
    upper_bound_in_box: f64,
    /// The most jobs of each type: those that wait, or with preemption all.
    most_jobs: Vec<usize>,
    /// States of the box.
    states: usize,
    /// Sweeps over all boxes.
    sweeps: usize,
    /// What the last growth of the box changed, relatively.
    growth: Option<f64>,
    /// Whether the bounds are not as close as required: interrupted, or out of time.
    interrupted: bool,
    /// Whether the box is not as large as required: a larger one would have too many states.
    full: bool,
    /// Simulated policies.
    policies: Vec<Distance>,
}

impl Least {
    /// Of what was sought at a load, and found.
    pub fn new(load: f64, sought: Problem, found: Optimum, policies: Vec<Distance>) -> Self {
        Least {
            load,
            preemption: sought.preemption,
            setup_rate: sought.setup_rate,
            lower_bound: found.lower,
            upper_bound_in_box: found.upper_in_box,
            most_jobs: found.limits,
            states: found.states,
            sweeps: found.sweeps,
            growth: Some(found.growth).filter(|g| g.is_finite()),
            interrupted: found.ended == Ended::Cut,
            full: found.ended == Ended::Full,
            policies,
        }
    }
}

/// Returns what policies may do.
pub(super) fn allowed(preemption: Preemption) -> &'static str {
    match preemption {
        Preemption::None => "without preemption",
        Preemption::Full => "with preemption",
        Preemption::Setup => "with setups",
    }
}

/// Says that the bound would be higher, and why it is not; empty where it is as high as can be.
fn shortfall(found: &Least) -> String {
    let why = if found.interrupted {
        "interrupted, --time-limit, or sweeps that come no closer"
    } else if found.full {
        "a larger box has more states than --states"
    } else {
        return String::new();
    };
    let other = match found.preemption {
        Preemption::Setup => " That of --preemption full holds, too.",
        _ => "",
    };
    format!("CUT SHORT ({why}): the bound holds, and would be higher.{other}\n")
}

/// Returns the bound, and how far policies are above it.
pub fn optimum(found: &Least, workload: &Workload, objective: Objective, width: usize) -> String {
    let unit = workload.time_unit();
    let (what, symbol) = match objective {
        Objective::Mean | Objective::P99 => ("mean response time", "E[T]"),
        Objective::Weighted => ("mean response time, weighted by load,", "weighted E[T]"),
    };
    let knowing = match workload.known() {
        None => "",
        Some(_) => " that knows no more of a job than its type",
    };
    let grown = found.growth.map_or(String::new(), |growth| {
        let percent = number(100.0 * growth);
        format!("; its last growth by half changed {percent} %")
    });
    let counted = match found.preemption {
        Preemption::None => "waiting jobs",
        _ => "jobs",
    };
    let sides: Vec<String> = found.most_jobs.iter().map(usize::to_string).collect();
    let (allowed, low) = (allowed(found.preemption), below(found.lower_bound));
    let text = format!(
        "{}no policy {allowed}{knowing} has a {what} below {low} {unit}\ndynamic program: at most {} {counted}, {} states, {} sweeps, the optimum there between {low} and {}{grown}\n",
        shortfall(found),
        sides.join(" × "),
        found.states,
        found.sweeps,
        number(found.upper_bound_in_box),
    );
    if found.policies.is_empty() {
        return text;
    }
    let mean = format!("{symbol} [{unit}]");
    let mut rows = Table::new(["policy, simulated", &mean, "over the bound"]);
    for distance in &found.policies {
        let response = match distance.health {
            Health::Unstable => "unstable".into(),
            Health::Unsettled => "unsettled".into(),
            Health::Settled => estimate(distance.response),
        };
        let over = distance.over.map_or("–".into(), beyond);
        rows.row([distance.policy.clone(), response, over]);
    }
    format!("{text}\n{}", rows.within(width))
}

/// So far above a bound; below it by chance.
pub(super) fn beyond(fraction: f64) -> String {
    // A little below is no more than zero: `-0.0` would say less.
    format!("{:+.1} %", (1000.0 * fraction).round() / 10.0 + 0.0)
}
