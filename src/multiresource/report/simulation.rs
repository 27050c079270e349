//! Rules by name, simulations and comparisons.

use itertools::Itertools as _;

use super::{RunWords, Table, number, percent, run_report, time, wrap};
use crate::artifact::Quantity as _;
use crate::law::Size;
use crate::multiresource::artifact::{Claim, Method};
use crate::multiresource::policy::Backfilling;
use crate::multiresource::simulator::{
    Contender, Ending, Health, Judgement, Measures, Offered, Parameter, Run,
};
use crate::multiresource::workload::Workload;
use crate::report::{Besides, Shares, counted, list};
use crate::simulation::sweep::Knows;

/// Says what a simulation found, with the verdicts on the claims, if any were judged.
pub fn simulation(workload: &Workload, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    let words = RunWords {
        unit: workload.time_unit(),
        names: &names,
        overall: &overall(workload, run),
        conditions: "claims are measured under the conditions that they hold for (see holds_for in the policy), in a run of their own where the policy runs under others; a claim with not enough evidence needs a longer run: --precision .3%",
        is_percentile: |claim: &Claim| {
            let is_of_all = claim.job_type.is_none();
            let measure = claim.quantity.row().measure;
            measure.percentile().is_some() && claim.method != Method::Simulated && !is_of_all
        },
    };
    run_report(&words, run, verdicts, width)
}

/// Returns what should be known of the run under the conditions that claims hold for.
pub fn as_analysed(run: &Run) -> Vec<String> {
    let how = match run.health {
        Health::Settled => None,
        Health::Unstable => Some("is unstable"),
        Health::Unsettled => Some("did not settle"),
    };
    let how = how.map(|how| format!("Under the conditions that its claims hold for, the policy {how}: of these claims nothing is measured."));
    let interrupted = "Interrupted: the claims are judged by what was there.".to_owned();
    let interrupted = (run.ending == Ending::Interrupted).then_some(interrupted);
    how.into_iter().chain(interrupted).collect()
}

fn overall(workload: &Workload, run: &Run) -> String {
    let used = workload.resources().iter().zip(&run.own.utilization);
    let mut used = used
        .zip(&run.own.wastage)
        .map(|((resource, used), wasted)| {
            let [used, wasted] = [used, wasted].map(|share| percent(*share));
            format!("{} {used} ({wasted})", resource.name())
        });
    let c = &run.own.counters;
    let unit = workload.time_unit();
    let guarded = match c.guards {
        0 => String::new(),
        guards => {
            let share = percent(run.own.guarded);
            format!(", guard {guards} times, {share} of the time")
        }
    };
    format!(
        "weighted by load share: E[T] = {}; waiting {}; fairness (Jain) {}\nin use (and free while a job waits): {}; switches {}, preemptions {}, setups {}{guarded}\nmeans with 95 % confidence intervals (batch means of independent replications)",
        time(run.weighted_response, unit),
        time(run.mean_waiting, unit),
        run.fairness.map_or("–".into(), |f| format!("{f:.3}")),
        used.join(", "),
        c.switches,
        c.preemptions,
        c.setups,
    )
}

/// Says that jobs have a start latency, and what counts it; none where they start at once.
pub fn start_latency(workload: &Workload) -> Option<String> {
    let law = workload.start_latency()?;
    let latency = start_latency_of(law, workload.time_unit());
    Some(format!(
        "{latency} Loads and numbers of jobs count it, too, and so does every claim: the sizes that claims speak of are those of latency and run together."
    ))
}

/// Returns how long jobs hold their room before they run, and what counts it of a job.
pub fn start_latency_of(law: &Size, unit: &str) -> String {
    let mean = format!("{} {unit}", number(law.mean()));
    let length = match law {
        Size::Deterministic { .. } => mean,
        law => format!("{mean} in the mean ({})", law.law()),
    };
    format!(
        "Start latency: a job holds its room for {length} before it runs, which its response time counts and its wait does not."
    )
}

/// Returns what is shown of a comparison on a server besides response times: what is in use of its resources.
pub fn besides(workload: &Workload) -> Besides<'_, Measures, Offered> {
    let parts: Vec<&str> = workload.resources().iter().map(|r| r.name()).collect();
    let types = counted(workload.types().len() as f64, "job type");
    let mut about = format!("{types} on {}", list(&parts));
    if let Some(law) = workload.start_latency() {
        let (mean, unit) = (number(law.mean()), workload.time_unit());
        about += &format!(", with a mean start latency of {mean} {unit}");
    }
    Besides {
        about,
        parts,
        section: (
            "Resources",
            "Every stable policy gets the same work done, and so uses as much; they differ in what stands idle while a job waits.",
        ),
        shares: &[
            Shares {
                quantity: "utilization",
                words: "in use",
                of: |run| &run.own.utilization,
            },
            Shares {
                quantity: "wastage",
                words: "free while a job waits",
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

/// Returns the rules that have a name, with what each does, may and knows.
pub fn rules(width: usize) -> String {
    let header = ["rule", "preempts", "knows", "what it does"];
    let mut table = Table::new(header).words(1).words(2).words(3).wrapping(3);
    for rule in Contender::rules() {
        let (mut name, mut about) = (rule.name.to_owned(), rule.about.to_owned());
        if let Some(parameter) = &rule.parameter {
            let (what, least, most) = (parameter.what, parameter.least, Parameter::MOST);
            about += &format!("; the number is {what}, from {least} to {most}");
            if let Some(default) = parameter.default {
                name += &format!(":{default}");
            }
        }
        if !rule.aliases.is_empty() {
            about += &format!(" (also {})", rule.aliases.join(", "));
        }
        let preempts = if rule.preempts { "yes" } else { "" };
        let knows = match rule.knows {
            Knows::Means => "",
            Knows::Estimates => "estimates",
            Knows::Sizes if rule.parameter.is_some() => "sizes; estimates above 1",
            Knows::Sizes => "sizes",
        };
        table.row([name, preempts.into(), knows.into(), about]);
    }
    let more = format!("Also {}.", Backfilling::NAMES);
    format!("{}\n{}\n", table.within(width), wrap(&more, width))
}
