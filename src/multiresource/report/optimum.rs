use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::bound::{BoundDocument, Proof};
use crate::multiresource::optimum::{Ended, Optimum, OptimumError, Problem};
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::{Cell, Report, below, counted, number};
use crate::simulation::{Estimate, Health};
use synth_verb::table;

/// A policy that was simulated so that it can be compared with the optimum.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SimulatedPolicy {
    /// The name of the policy.
    pub policy: String,
    /// Whether the run of the policy has converged, so that its mean can be trusted.
    pub health: Health,
    /// The value of the objective, as a time.
    pub response: Option<Estimate>,
}

/// The lower bounds on the objective of any policy, and the policies that were simulated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LowerBounds {
    /// The load `ρ` of the workload.
    load: f64,
    /// The set of policies that the bounds are valid for, and the objective.
    #[serde(flatten)]
    sought: Problem,
    /// The best lower bound, as a time. There is no policy in the set with a smaller objective.
    pub lower_bound: f64,
    /// The result of the dynamic program if it was solved.
    #[serde(flatten)]
    optimum: Option<Optimum>,
    /// The lower bound from the linear programs if they were solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    linear: Option<Linear>,
    /// The reason why the dynamic program was not solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// The policies that were simulated.
    pub policies: Vec<SimulatedPolicy>,
}

/// A lower bound that is proved by linear programs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Linear {
    bound: f64,
    /// A description of the proof.
    method: String,
    /// Whether the bound is also valid for policies that know the size of each job.
    #[serde(skip)]
    knows_sizes: bool,
}

impl LowerBounds {
    pub(crate) fn new(
        load: f64,
        sought: Problem,
        found: Result<Optimum, OptimumError>,
        bound: Option<&BoundDocument>,
    ) -> Self {
        let refused = found.as_ref().err().map(ToString::to_string);
        let optimum = found.ok();
        let linear = bound.map(|bound| Linear {
            bound: bound.bound,
            method: method(&bound.proof),
            knows_sizes: knows_sizes(&bound.proof),
        });
        let both = [
            optimum.as_ref().map(|own| own.lower),
            linear.as_ref().map(|own| own.bound),
        ];
        LowerBounds {
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
            "a potential function of the state, which is exact below {} jobs of the types and is checked using integer arithmetic",
            own.exact.iter().join(", ")
        ),
        Proof::Prices(cuts) if cuts.is_empty() => {
            "the bound for jobs that do not have to wait".into()
        }
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

pub(super) fn information_clause(sizes: bool) -> &'static str {
    match sizes {
        true => " (even if it knows job sizes)",
        false => " that knows only the type of each job",
    }
}

fn words(objective: Objective) -> (&'static str, &'static str) {
    match objective {
        Objective::Mean | Objective::P99 => ("mean response time", "E[T]"),
        Objective::Weighted => ("mean response time weighted by load", "weighted E[T]"),
    }
}

pub(crate) fn proved(document: &BoundDocument, fleet: &Fleet) -> String {
    format!(
        "proved: no policy {}{} has a {} below {} {}\nby {}",
        allowed(document.preemption),
        information_clause(knows_sizes(&document.proof)),
        words(document.objective).0,
        below(document.bound),
        fleet.time_unit(),
        method(&document.proof)
    )
}

pub(crate) fn optimum(found: &LowerBounds, workload: &Workload) -> Report {
    let unit = workload.time_unit();
    let preemption = found.sought.preemption;
    let (what, symbol) = words(found.sought.objective);
    // The dynamic program is only valid for policies that only know the type of each job.
    let linear = found.linear.as_ref();
    let proved = linear.filter(|own| own.bound == found.lower_bound);
    let knowing = information_clause(proved.is_some_and(|own| own.knows_sizes));
    let (allowed, low) = (allowed(preemption), below(found.lower_bound));
    let floating = "by the dynamic program, in floating point";
    let bound = match linear {
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
    report.summary.extend(linear.map(|linear| {
        let method = &linear.method;
        format!("The bound of the linear program is proved by {method}.")
    }));
    if let Some(own) = &found.optimum {
        let jobs = match preemption {
            Preemption::None => "waiting jobs",
            _ => "jobs",
        };
        report.summary.push(format!(
            "Dynamic program: there are at most {} {jobs}, {} states and {} sweeps. In a system with these limits, the optimum is between {} and {} {unit}. The first number is also a lower bound without the limits.",
            own.limits.iter().join(" × "),
            own.states,
            own.sweeps,
            below(own.lower),
            number(own.upper_in_box),
        ));
        // If the program was cut short, it was not solved, so the growth has no meaning.
        if own.growth.is_finite() && own.ended != Ended::Cut {
            report.summary.push(format!(
                "When the limits were last increased by half, the lower bound changed by {} %.",
                number(100.0 * own.growth)
            ));
        }
        let why = match own.ended {
            Ended::Cut => Some(
                "because of an interrupt, the option `--time`, or values that no longer converge",
            ),
            Ended::Full => Some("because the number of states is limited by the option `--work`"),
            Ended::Close => None,
        };
        let cut = |why| format!("CUT SHORT, {why}: the bound is valid, but it could be higher.");
        report.warnings.extend(why.map(cut));
    }
    let refused = found.refused.as_ref();
    let refused = refused.map(|why| format!("The dynamic program was not solved: {why}."));
    report.warnings.extend(refused);
    // If the dynamic program was cut short at the start, there is no bound.
    let bound = Some(found.lower_bound).filter(|bound| *bound > 0.0);
    report.sections.push(table!("", &found.policies, own => {
        "policy, simulated" => &own.policy,
        format!("{symbol} [{unit}]") => match own.health {
            Health::Unstable => "unstable".into(),
            Health::Unsettled => "not converged".into(),
            Health::Settled => Cell::from(own.response),
        },
        "over the bound [%]" => own.response.zip(bound).map(|(own, bound)| own.mean / bound - 1.0),
    }));
    report
}
