//! The least mean response time without preemption or with it, and how far policies are above it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;

use super::enter::{Entered, enter};
use super::{VerbError, own_load, refuse};
use crate::artifact::Changes;
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::optimum::{Ended, Limits, Problem, Step, optimum};
use crate::multiresource::simulator::Settings;
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::number;
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
    /// What arrives, at the load that was asked for.
    #[serde(skip)]
    pub workload: Workload,
    /// The load ρ.
    pub load: f64,
    /// The preemption that policies have.
    pub preemption: Preemption,
    /// γ, with setups \[1/time\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// None of them has less \[time\].
    pub lower_bound: f64,
    /// The optimum of the box is at most that \[time\].
    pub upper_bound_in_box: f64,
    /// The most jobs of each type: those that wait, or with preemption all.
    pub most_jobs: Vec<usize>,
    /// States of the box.
    pub states: usize,
    /// Sweeps over all boxes.
    pub sweeps: usize,
    /// What the last growth of the box changed, relatively.
    pub growth: Option<f64>,
    /// Whether the bounds are not as close as asked for: interrupted, or out of time.
    pub interrupted: bool,
    /// Whether the box is not as large as asked for: a larger one would have too many states.
    pub full: bool,
    /// Simulated policies.
    pub policies: Vec<Distance>,
    /// Policies that cannot run on it, each with its reason.
    #[serde(skip)]
    pub failures: Vec<(String, String)>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The load ρ that arrival rates are scaled to, if not the workload's own.
    pub load: Option<f64>,
    /// What is sought.
    pub sought: Problem,
    /// Policies to measure beside it, by name or file.
    pub policies: &'a [String],
    /// What becomes of a file that was changed after it was written.
    pub changes: Changes,
    /// How far the dynamic program goes.
    pub limits: &'a Limits,
    /// When a simulation ends.
    pub settings: &'a Settings,
}

/// The least that the objective can be with this preemption, and how far policies are above it.
///
/// # Errors
/// When the workload is none that the optimum is computed of, its own load is 1 or more and no other
/// is given, a policy does not exist or makes a decision that no server could carry out.
pub fn least(
    workload: &Workload,
    asking: &Asking<'_>,
    listener: &mut dyn FnMut(&str),
) -> Result<Least, VerbError> {
    let Asking {
        sought, settings, ..
    } = *asking;
    let own = Fleet::from(workload.clone());
    let entered = asking.policies.iter();
    let entered = entered.map(|name| enter(name, &own, asking.changes));
    let entered = entered.collect::<Result<Vec<_>, VerbError>>()?;
    let (load, workload) = at_load(workload, asking.load, asking.limits.time)?;
    listener("solving the dynamic program");
    let report = |step: Step| {
        let [low, high] = step.bounds.map(number);
        listener(&format!(
            "dynamic program: {} states ({:.0} MB), sweep {}, between {low} and {high}",
            step.states,
            step.bytes() / 1e6,
            step.sweeps
        ));
    };
    let found = optimum(
        &workload,
        sought,
        asking.limits,
        &settings.interrupt,
        report,
    )?;
    let (mut policies, mut failures) = (Vec::new(), Vec::new());
    let scene = Fleet::from(workload.clone());
    for Entered { entrant, rule } in entered {
        if settings.interrupt.load(Ordering::Relaxed) {
            break;
        }
        listener(&format!("simulating {}", entrant.name));
        let rule = match rule {
            Ok(rule) => rule,
            Err(why) => {
                failures.push((entrant.name, why));
                continue;
            }
        };
        let run = rule.simulate_on(&scene, settings, |_| ())?;
        let response = match sought.objective {
            Objective::Mean => run.mean_response,
            Objective::Weighted => run.weighted_response,
            Objective::P99 => run.p99_response,
        };
        // A dynamic program that was cut short at once has no bound yet.
        let bounded = response.filter(|_| found.lower > 0.0);
        policies.push(Distance {
            policy: entrant.name,
            health: run.health,
            response,
            over: bounded.map(|e| e.mean / found.lower - 1.0),
        });
    }
    Ok(Least {
        workload,
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
        failures,
    })
}

/// The workload scaled to a load, or as it is.
fn at_load(
    workload: &Workload,
    load: Option<f64>,
    time: Duration,
) -> Result<(f64, Workload), VerbError> {
    let own = own_load(Some(time), &workload.clone().into())?;
    match load {
        Some(load) => Ok((load, workload.scaled(load / own)?)),
        None if own >= 1.0 => refuse(format!(
            "the load ρ is {own}, and at 1 and more every response time is infinite: give --load"
        )),
        None => Ok((own, workload.clone())),
    }
}
