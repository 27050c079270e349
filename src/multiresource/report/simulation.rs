use super::{RunWords, estimate, percent, run_report, start_latency};
use crate::artifact::Quantity as _;
use crate::multiresource::artifact::Quantity;
use crate::multiresource::simulator::{Ending, Health, Judgement, Run};
use crate::multiresource::verbs::{Simulated, Unjudged};
use crate::multiresource::workload::Workload;

/// What a simulation found, with the verdicts on the claims, if any were judged.
pub fn simulation(workload: &Workload, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    let settled = run.health == Health::Settled;
    let words = RunWords {
        unit: workload.time_unit(),
        names: &names,
        overall: &if settled {
            overall(workload, run)
        } else {
            String::new()
        },
        conditions: "claims are measured under the conditions that they hold for (see holds_for in the policy), in a run of their own where the policy runs under others",
        is_percentile: |quantity: Quantity| quantity.row().measure.percentile().is_some(),
    };
    run_report(&words, run, verdicts, width)
}

/// What should be known of the run that claims are judged by, and why they are not.
pub fn notes(simulated: &Simulated) -> Vec<String> {
    let knows = simulated.knows.words();
    let mut notes: Vec<String> = knows
        .map(|knows| format!("The rule {knows}."))
        .into_iter()
        .collect();
    notes.extend(start_latency(&simulated.workload));
    notes.extend(simulated.unjudged.map(|why| match why {
        Unjudged::OtherWorkload => "The workload is not the one that the policy was made for: its claims are not judged.".into(),
        Unjudged::Interrupted => "Interrupted before the claims could be judged.".into(),
    }));
    let Some(run) = &simulated.as_analysed else {
        return notes;
    };
    let how = match run.health {
        Health::Settled => None,
        Health::Unsettled => Some("did not settle"),
        Health::Unstable => Some("is unstable"),
    };
    notes.extend(how.map(|how| {
        format!("Under the conditions that its claims hold for, the policy {how}: of these claims nothing is measured.")
    }));
    if run.ending == Ending::Interrupted {
        notes.push("Interrupted: the claims are judged by what was there.".into());
    }
    notes
}

fn overall(workload: &Workload, run: &Run) -> String {
    let used = workload.resources().iter().zip(&run.own.utilization);
    let used: Vec<String> = used
        .zip(&run.own.wastage)
        .map(|((r, u), w)| format!("{} {} ({})", r.name(), percent(*u), percent(*w)))
        .collect();
    let c = &run.own.counters;
    let guarded = match c.guards {
        0 => String::new(),
        guards => format!(
            ", guard {guards} times, {} of the time",
            percent(run.own.guarded)
        ),
    };
    format!(
        "weighted by load share: E[T] = {}; waiting {}; fairness (Jain) {}\nin use (and free while a job waits): {}; switches {}, preemptions {}, setups {}{guarded}\nmeans with 95 % confidence intervals (batch means of independent replications)",
        estimate(run.weighted_response),
        estimate(run.mean_waiting),
        run.fairness.map_or("–".into(), |f| format!("{f:.3}")),
        used.join(", "),
        c.switches,
        c.preemptions,
        c.setups,
    )
}
