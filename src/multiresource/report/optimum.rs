use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::bound::{Bound, BoundDocument, Proof};
use crate::multiresource::optimum::{Ended, Optimum, OptimumError, Problem};
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::{Cell, Report, below, counted, number};
use crate::simulation::{Estimate, Health};
use synth_verb::table;

/// A simulated policy, to be compared with the optimum.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Distance {
    /// Its name.
    pub policy: String,
    /// Whether the run converged.
    pub health: Health,
    /// The objective \[time\].
    pub response: Option<Estimate>,
}

/// The lower bounds on the objective of every policy, and simulated policies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Least {
    /// The load ρ.
    load: f64,
    /// The class of policies and the objective that the bounds are for.
    #[serde(flatten)]
    sought: Problem,
    /// The best lower bound \[time\]: no policy of the class has a smaller objective.
    pub lower_bound: f64,
    /// The result of the dynamic program, if it was solved.
    #[serde(flatten)]
    optimum: Option<Optimum>,
    /// The bound of the linear programs, if they were solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    linear: Option<Linear>,
    /// Why the dynamic program was not solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// Simulated policies.
    pub policies: Vec<Distance>,
}

/// The lower bound that linear programs prove.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Linear {
    /// The lower bound \[time\].
    bound: f64,
    /// How it is proved.
    method: String,
    /// Whether it also holds for policies that know job sizes.
    #[serde(skip)]
    knows_sizes: bool,
}

impl Least {
    /// Creates the result from the outcome of the dynamic program and the bound of linear programs.
    pub fn new(
        load: f64,
        sought: Problem,
        found: Result<Optimum, OptimumError>,
        bound: Option<&Bound>,
    ) -> Self {
        let refused = found.as_ref().err().map(ToString::to_string);
        let optimum = found.ok();
        let linear = bound.map(|bound| Linear {
            bound: bound.least,
            method: method(&bound.proof),
            knows_sizes: knows_sizes(&bound.proof),
        });
        let both = [
            optimum.as_ref().map(|own| own.lower),
            linear.as_ref().map(|own| own.bound),
        ];
        Least {
            load,
            sought,
            lower_bound: both.into_iter().flatten().fold(0.0, f64::max),
            optimum,
            linear,
            refused,
            policies: Vec::new(),
        }
    }
}

fn knows_sizes(proof: &Proof) -> bool {
    match proof {
        Proof::Sizes(_) => true,
        Proof::Prices(cuts) => cuts.is_empty(),
        Proof::Potential(_) => false,
    }
}

fn method(proof: &Proof) -> String {
    match proof {
        Proof::Potential(own) => format!(
            "a potential function of the state, exact below {} jobs of the types, checked in integer arithmetic",
            own.exact.iter().join(", ")
        ),
        Proof::Prices(cuts) if cuts.is_empty() => "the bound for jobs that never wait".into(),
        Proof::Prices(cuts) => format!("prices of {} of types", counted(cuts.len() as f64, "set")),
        Proof::Sizes(cut) => format!(
            "prices of {} and the remaining size of each job",
            counted(cut.types.len() as f64, "type")
        ),
    }
}

pub(super) fn allowed(preemption: Preemption) -> &'static str {
    match preemption {
        Preemption::None => "without preemption",
        Preemption::Full => "with preemption",
        Preemption::Setup => "with setups",
    }
}

pub(super) fn knowing(sizes: bool) -> &'static str {
    match sizes {
        true => " (even if it knows job sizes)",
        false => " that knows only the type of each job",
    }
}

fn words(objective: Objective) -> (&'static str, &'static str) {
    match objective {
        Objective::Mean | Objective::P99 => ("mean response time", "E[T]"),
        Objective::Weighted => ("mean response time, weighted by load,", "weighted E[T]"),
    }
}

/// Describes the bound that a file proves.
pub fn proved(document: &BoundDocument, fleet: &Fleet) -> String {
    format!(
        "proved: no policy {}{} has a {} below {} {}\nby {}",
        allowed(document.preemption),
        knowing(knows_sizes(&document.proof)),
        words(document.objective).0,
        below(document.bound),
        fleet.time_unit(),
        method(&document.proof)
    )
}

/// Returns the report of the bounds and of the policies' distances from them.
pub fn optimum(found: &Least, workload: &Workload) -> Report {
    let unit = workload.time_unit();
    let Problem {
        preemption,
        objective,
        ..
    } = found.sought;
    let (what, symbol) = words(objective);
    // The dynamic program applies to policies that know only the type of each job.
    let proved = found
        .linear
        .as_ref()
        .filter(|own| own.bound == found.lower_bound);
    let knowing = knowing(proved.is_some_and(|own| own.knows_sizes));
    let (allowed, low) = (allowed(preemption), below(found.lower_bound));
    let floating = "by the dynamic program, in floating point";
    let bound = match &found.linear {
        Some(_) if proved.is_some() => format!("{low} {unit} (proved by the linear program)"),
        Some(linear) => format!(
            "{} {unit} (proved by the linear program; {low} {unit} {floating})",
            below(linear.bound)
        ),
        None => format!("{low} {unit} ({floating})"),
    };
    let mut report = Report::from(format!(
        "No policy {allowed}{knowing} has a {what} below {bound}."
    ));
    if let Some(linear) = &found.linear {
        let text = format!("Linear program: proved by {}.", linear.method);
        report.summary.push(text);
    }
    if let Some(own) = &found.optimum {
        let jobs = match preemption {
            Preemption::None => "waiting jobs",
            _ => "jobs",
        };
        report.summary.push(format!(
            "Dynamic program: at most {} {jobs}, {} states, {} sweeps; the optimum with these limits is between {} and {} {unit}.",
            own.limits.iter().join(" × "),
            own.states,
            own.sweeps,
            below(own.lower),
            number(own.upper_in_box),
        ));
        // The growth measured before a cut is that of a program that was not solved.
        if own.growth.is_finite() && own.ended != Ended::Cut {
            let change = number(100.0 * own.growth);
            let growth = format!(
                "The last enlargement of the state space by half changed it by {change} %."
            );
            report.summary.push(growth);
        }
        let why = match own.ended {
            Ended::Cut => Some("interrupted, --time, or sweeps that no longer converge"),
            Ended::Full => Some("a larger state space exceeds --work"),
            Ended::Close => None,
        };
        report.warnings.extend(
            why.map(|why| format!("CUT SHORT ({why}): the bound is valid but not the best.")),
        );
    }
    let refused = found.refused.as_ref();
    report
        .warnings
        .extend(refused.map(|why| format!("The dynamic program was not solved: {why}.")));
    // A dynamic program that was cut short immediately has no bound yet.
    let bound = Some(found.lower_bound).filter(|bound| *bound > 0.0);
    let over = |own: &Distance| Some(own.response?.mean / bound? - 1.0);
    report.sections.push(table!("", &found.policies, own => {
        "policy, simulated" => &own.policy,
        format!("{symbol} [{unit}]") => match own.health {
            Health::Unstable => "unstable".into(),
            Health::Unsettled => "not converged".into(),
            Health::Settled => Cell::from(own.response),
        },
        "over the bound [%]" => over(own),
    }));
    report
}
