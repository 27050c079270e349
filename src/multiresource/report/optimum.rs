//! The least mean response time, and how far policies are above it.

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

/// How a policy fares beside the optimum.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Distance {
    /// Its name.
    pub policy: String,
    /// Whether its means may be believed.
    pub health: Health,
    /// The objective \[time\].
    pub response: Option<Estimate>,
}

/// What no policy can beat, and how far policies are from it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Least {
    /// The load ρ.
    load: f64,
    /// Which policies are compared, and by what.
    #[serde(flatten)]
    sought: Problem,
    /// None of them has less \[time\].
    pub lower_bound: f64,
    /// Of the dynamic program, where there is one.
    #[serde(flatten)]
    optimum: Option<Optimum>,
    /// The bound of linear programs, where they were solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    linear: Option<Linear>,
    /// Why there is no dynamic program.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// Simulated policies.
    pub policies: Vec<Distance>,
}

/// What linear programs found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Linear {
    /// No policy has less \[time\].
    bound: f64,
    /// What proves it.
    method: String,
    /// Whether it holds whatever a policy knows of sizes.
    #[serde(skip)]
    knows_sizes: bool,
}

impl Least {
    /// Of what was sought at a load, and found.
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

/// Returns whether a bound holds whatever a policy knows of sizes.
fn knows_sizes(proof: &Proof) -> bool {
    match proof {
        Proof::Sizes(_) => true,
        Proof::Prices(cuts) => cuts.is_empty(),
        Proof::Potential(_) => false,
    }
}

/// Says how a bound is proved.
fn method(proof: &Proof) -> String {
    match proof {
        Proof::Potential(own) => format!(
            "a function of the state, exact below {} jobs of the types, checked in whole numbers",
            own.exact.iter().join(", ")
        ),
        Proof::Prices(cuts) if cuts.is_empty() => "jobs that never wait".into(),
        Proof::Prices(cuts) => format!("prices of {} of types", counted(cuts.len() as f64, "set")),
        Proof::Sizes(cut) => format!(
            "prices of {}, and what is left of each job",
            counted(cut.types.len() as f64, "type")
        ),
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

/// Returns what they may know.
pub(super) fn knowing(sizes: bool) -> &'static str {
    match sizes {
        true => ", whatever it knows of sizes,",
        false => " that knows no more of a job than its type",
    }
}

/// Returns what is bounded, in words and as the head of a column.
fn words(objective: Objective) -> (&'static str, &'static str) {
    match objective {
        Objective::Mean | Objective::P99 => ("mean response time", "E[T]"),
        Objective::Weighted => ("mean response time, weighted by load,", "weighted E[T]"),
    }
}

/// Says what a file has proved.
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

/// Returns the bounds, and how far policies are above them.
pub fn optimum(found: &Least, workload: &Workload) -> Report {
    let unit = workload.time_unit();
    let Problem {
        preemption,
        objective,
        ..
    } = found.sought;
    let (what, symbol) = words(objective);
    // A dynamic program is about policies that know only the type of each job.
    let proved = found
        .linear
        .as_ref()
        .filter(|own| own.bound == found.lower_bound);
    let knowing = knowing(proved.is_some_and(|own| own.knows_sizes));
    let (allowed, low) = (allowed(preemption), below(found.lower_bound));
    let floating = "by the dynamic program, in floating point";
    let bound = match &found.linear {
        Some(_) if proved.is_some() => format!("{low} {unit}, which the linear program proves"),
        Some(linear) => format!(
            "{} {unit}, which the linear program proves ({low} {unit} {floating})",
            below(linear.bound)
        ),
        None => format!("{low} {unit}, {floating}"),
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
            "Dynamic program: at most {} {jobs}, {} states, {} sweeps, the optimum there between {} and {} {unit}.",
            own.limits.iter().join(" × "),
            own.states,
            own.sweeps,
            below(own.lower),
            number(own.upper_in_box),
        ));
        // Of a program that was cut off the growth is that of one that is not solved.
        if own.growth.is_finite() && own.ended != Ended::Cut {
            let change = number(100.0 * own.growth);
            let growth = format!("The last growth of its box by half changed {change} %.");
            report.summary.push(growth);
        }
        let why = match own.ended {
            Ended::Cut => Some("interrupted, --time, or sweeps that come no closer"),
            Ended::Full => Some("a larger box has more states than --work"),
            Ended::Close => None,
        };
        report.warnings.extend(
            why.map(|why| format!("CUT SHORT ({why}): the bound holds, and would be higher.")),
        );
    }
    let refused = found.refused.as_ref();
    report
        .warnings
        .extend(refused.map(|why| format!("No dynamic program: {why}.")));
    // A dynamic program that was cut short at once has no bound yet.
    let bound = Some(found.lower_bound).filter(|bound| *bound > 0.0);
    let over = |own: &Distance| Some(own.response?.mean / bound? - 1.0);
    report.sections.push(table!("", &found.policies, own => {
        "policy, simulated" => &own.policy,
        format!("{symbol} [{unit}]") => match own.health {
            Health::Unstable => "unstable".into(),
            Health::Unsettled => "unsettled".into(),
            Health::Settled => Cell::from(own.response),
        },
        "over the bound [%]" => over(own),
    }));
    report
}
