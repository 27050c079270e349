//! The least mean response time without preemption or with it, and how far policies are above it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;

use super::{Doing, Entered, VerbError, enter, own_load, refuse};
use crate::artifact::Changes;
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::optimum::{Ended, Limits, Optimum, Sought, optimum};
use crate::multiresource::program;
use crate::multiresource::simulator::{Run, Settings};
use crate::multiresource::workload::{Described, Workload};
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
pub struct LeastReport {
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
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Least {
    /// What arrives, at the load that was asked for.
    pub workload: Workload,
    /// The results.
    pub report: LeastReport,
    /// Policies that cannot run on it, each with its reason.
    pub failures: Vec<(String, String)>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The loads ρ that arrival rates are scaled to; the workload's own where there is none.
    pub loads: &'a [f64],
    /// What is sought.
    pub sought: Sought,
    /// Policies to measure beside it, by name or file.
    pub policies: &'a [String],
    /// What becomes of a file that was changed after it was written.
    pub changes: Changes,
    /// How far the dynamic program goes.
    pub limits: &'a Limits,
    /// When a simulation ends.
    pub settings: &'a Settings,
}

/// The least that the objective can be with this preemption, and how far policies are above it: at each
/// load, up to an interrupt.
///
/// # Errors
/// When the workload is none that the optimum is computed of, its own load is 1 or more and no other
/// is given, a policy does not exist or makes a decision that no server could carry out.
pub fn least(
    workload: &Workload,
    asking: &Asking<'_>,
    mut progress: impl FnMut(Doing),
) -> Result<Vec<Least>, VerbError> {
    let entered = asking.policies.iter();
    let given = Described::Server(workload.clone());
    let entered = entered.map(|name| enter(name, &given, asking.changes));
    let entered = entered.collect::<Result<Vec<_>, VerbError>>()?;
    let mut found = Vec::new();
    for (load, workload) in at_loads(workload, asking.loads, asking.limits.time)? {
        found.push(at_load(load, workload, asking, &entered, &mut progress)?);
        if asking.settings.interrupt.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(found)
}

/// The least at one load.
fn at_load(
    load: f64,
    workload: Workload,
    asking: &Asking<'_>,
    entered: &[Entered],
    progress: &mut impl FnMut(Doing),
) -> Result<Least, VerbError> {
    let Asking {
        sought, settings, ..
    } = *asking;
    let objective = sought.objective;
    progress(Doing::Dynamic(None));
    let hears = |step| progress(Doing::Dynamic(Some(step)));
    let found = optimum(&workload, sought, asking.limits, &settings.interrupt, hears)?;
    let mut report = LeastReport::of(load, sought, &found);
    let mut failures = Vec::new();
    if !settings.interrupt.load(Ordering::Relaxed) {
        let mut add = |name: &str, run: &Run| {
            let distance = Distance::new(name, run, objective, found.lower);
            report.policies.push(distance);
        };
        let scene = Described::Server(workload.clone());
        for entered in entered {
            let name = &entered.entrant.name;
            progress(Doing::Simulating(name.clone()));
            match &entered.rule {
                Ok(rule) => add(name, &rule.simulate(&scene, settings, |_| ())?),
                Err(why) => failures.push((name.clone(), why.clone())),
            }
        }
    }
    Ok(Least {
        workload,
        report,
        failures,
    })
}

/// The workload scaled to each load, or as it is.
fn at_loads(
    workload: &Workload,
    loads: &[f64],
    time: Duration,
) -> Result<Vec<(f64, Workload)>, VerbError> {
    let own = own_load(Some(time), |limits| {
        let found = program::solve(workload, limits)?.certificate;
        Ok((found.load, found.bound))
    })?;
    if loads.is_empty() && own >= 1.0 {
        return refuse(format!(
            "the load ρ is {own}, and at 1 and more every response time is infinite: give --load"
        ));
    }
    if loads.is_empty() {
        return Ok(vec![(own, workload.clone())]);
    }
    let scaled = |load: &f64| Ok((*load, workload.scaled(load / own)?));
    loads.iter().map(scaled).collect()
}

impl LeastReport {
    fn of(load: f64, sought: Sought, found: &Optimum) -> Self {
        LeastReport {
            load,
            preemption: sought.preemption,
            setup_rate: sought.setup_rate,
            lower_bound: found.lower,
            upper_bound_in_box: found.upper_in_box,
            most_jobs: found.limits.clone(),
            states: found.states,
            sweeps: found.sweeps,
            growth: Some(found.growth).filter(|g| g.is_finite()),
            interrupted: found.ended == Ended::Cut,
            full: found.ended == Ended::Full,
            policies: Vec::new(),
        }
    }
}

impl Distance {
    fn new(policy: &str, run: &Run, objective: Objective, lower: f64) -> Self {
        let response = match objective {
            Objective::Mean => run.mean_response,
            Objective::Weighted => run.weighted_response,
            Objective::P99 => run.p99_response,
        };
        // A dynamic program that was cut short at once has no bound yet.
        let bounded = response.filter(|_| lower > 0.0);
        Distance {
            policy: policy.to_owned(),
            health: run.health,
            response,
            over: bounded.map(|e| e.mean / lower - 1.0),
        }
    }
}
