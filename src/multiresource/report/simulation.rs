use itertools::izip;

use crate::artifact::Quantity as _;
use crate::distribution::SizeDistribution;
use crate::multiresource::artifact::{Claim, Method};
use crate::multiresource::policy::Backfilling;
use crate::multiresource::simulator::{
    Contender, Ending, Health, Judgement, Measures, NamedRule, Parameter, Run, TypeMeasures,
};
use crate::multiresource::workload::Workload;
use crate::report::{
    KindMeasurements, Report, Section, Shares, counted, estimate, list, number, percent, run_report,
};
use crate::simulation::sweep::Information;
use synth_verb::table;

/// Returns the report for a simulation, with the result of the check of each claim.
pub fn simulation(workload: &Workload, run: &Run, verdicts: &[Judgement]) -> Report {
    let (unit, own) = (workload.time_unit(), &run.own);
    let shares = izip!(workload.resources(), &own.utilization, &own.wastage);
    let overall = table!("", shares, (resource, used, wasted) => {
        "resource" => resource.name(),
        "in use [%]" => *used,
        "free while a job waits [%]" => *wasted,
    });
    let counters = &own.counters;
    let share = percent(own.guarded);
    let guarded = match counters.guards {
        0 => String::new(),
        guards => format!("; the guard was used {guards} times, for {share} of the time"),
    };
    let overall = overall.note(format!(
        "The mean response time weighted by load is {} {unit}. The fairness (Jain) is {}. The number of switches is {}, of preemptions {}, and of setups {}{guarded}.",
        estimate(run.weighted_response),
        run.fairness.map_or("–".into(), number),
        counters.switches,
        counters.preemptions,
        counters.setups
    ));
    run_report(unit, run, overall, verdicts, |claim: &Claim| {
        let is_of_all = claim.job_type.is_none();
        let measure = claim.quantity.row().measure;
        measure.percentile().is_some() && claim.method != Method::Simulated && !is_of_all
    })
}

pub(crate) fn as_analysed(run: &Run) -> Vec<String> {
    let how = match run.health {
        Health::Settled => None,
        Health::Unstable => Some("is unstable"),
        Health::Unsettled => Some("did not converge"),
    };
    let how = how.map(|how| format!("If the policy runs under the same conditions as its claims, it {how}, so these claims cannot be measured."));
    let interrupted = (run.ending == Ending::Interrupted).then(|| {
        "The run was interrupted, so the claims are only checked using the results so far.".into()
    });
    how.into_iter().chain(interrupted).collect()
}

pub(crate) fn start_latency(workload: &Workload) -> Option<String> {
    let law = workload.start_latency()?;
    let latency = start_latency_of(law, workload.time_unit());
    Some(format!(
        "{latency} It is also included in the load, in the number of jobs and in all claims, so the size of a job in a claim is the sum of the latency and the run time."
    ))
}

pub(crate) fn start_latency_of(law: &SizeDistribution, unit: &str) -> String {
    let mean = format!("{} {unit}", number(law.mean()));
    let length = match law {
        SizeDistribution::Deterministic { .. } => mean,
        law => format!("{mean} on average ({})", law.name()),
    };
    format!(
        "Start latency: a job holds its capacity for {length} before it starts to run. This is included in the response time, but not in the waiting time."
    )
}

pub(crate) fn besides(workload: &Workload) -> KindMeasurements<'_, Measures, TypeMeasures> {
    let parts: Vec<&str> = workload.resources().iter().map(|r| r.name()).collect();
    let types = counted(workload.types().len() as f64, "job type");
    let mut about = format!("{types} on {}", list(&parts));
    if let Some(law) = workload.start_latency() {
        let (mean, unit) = (number(law.mean()), workload.time_unit());
        about += &format!(", with a mean start latency of {mean} {unit}");
    }
    KindMeasurements {
        about,
        parts,
        shares: &[
            Shares {
                quantity: "utilization",
                label: "in use",
                of: |run| &run.own.utilization,
            },
            Shares {
                quantity: "wastage",
                label: "free while a job waits",
                of: |run| &run.own.wastage,
            },
        ],
        counts: &[
            ("preemptions", |run| run.own.counters.preemptions),
            ("setups", |run| run.own.counters.setups),
        ],
        frequencies: &[("switching_frequency", |run| run.own.switching_frequency)],
        take_stretch: |run| run.own.stretch.take(),
    }
}

pub(crate) fn rules() -> Section {
    let name = |rule: &NamedRule| match rule.parameter.as_ref().and_then(|own| own.default) {
        Some(default) => format!("{}:{default}", rule.name),
        None => rule.name.to_owned(),
    };
    let about = |rule: &NamedRule| {
        let mut about = rule.description.to_owned();
        if let Some(parameter) = &rule.parameter {
            let (what, least, most) = (parameter.meaning, parameter.least, Parameter::MOST);
            about += &format!("; the number is {what}, from {least} to {most}");
        }
        if rule.preempts {
            about += "; preempts";
        }
        about += match rule.information {
            Information::Means => "",
            Information::Estimates => "; knows estimates",
            Information::Sizes if rule.parameter.is_some() => "; knows sizes, or estimates above 1",
            Information::Sizes => "; knows sizes",
        };
        if !rule.aliases.is_empty() {
            about += &format!(" (also {})", rule.aliases.join(", "));
        }
        about
    };
    let section = table!("", Contender::rules(), rule => {
        "rule" => name(rule),
        "what it does" => about(rule),
    });
    section.note(format!("Also {}.", Backfilling::NAMES))
}
