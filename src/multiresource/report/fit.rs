use itertools::Itertools as _;

use crate::multiresource::fit::{Drift, MAX_REPLAYED_JOBS, Prediction, Report as Fit};
use crate::report::{Report, Section, counted, length, number, percent};
use synth_advice::verbs::account_of;
use synth_verb::table;

pub(crate) fn fit(fit: &Fit) -> Report {
    let proven = match fit.load_proven {
        true => "and this is proved",
        false => "which is not proved to be the minimum",
    };
    let summary = format!(
        "The log contains {} in {} ({}), with {}, on {}. The load is ρ = {:.5} for {}, {proven}. The mean utilization of the most used resource is {:.5}.",
        counted(fit.arrived as f64, "job"),
        length(fit.span),
        fit.log_format.name(),
        counted(fit.vectors as f64, "distinct demand"),
        fit.servers,
        fit.load,
        counted(fit.types.len() as f64, "type"),
        fit.fluid_load,
    );
    Report {
        summary: vec![summary],
        warnings: warnings(fit),
        sections: vec![
            account_of(&fit.lines, fit.censored),
            types(fit),
            table!("Load by the number of types", &fit.load_by_types, (count, load) => {
                "types" => count.to_string(),
                "load ρ [1]" => *load,
            }),
            dispersion(fit),
            predicted(fit),
        ],
        ..Report::default()
    }
}

fn types(fit: &Fit) -> Section {
    table!("Types", &fit.types, own => {
        "type" => &own.name,
        "jobs [#]" => own.jobs,
        "of work [%]" => own.work,
        "mean size [s]" => own.mean,
        "scv [1]" => own.scv,
        "kept [1]" => own.scv_kept,
        "longest 1 % [%]" => own.longest_hundredth,
        "size distribution" => own.law,
    })
}

fn dispersion(fit: &Fit) -> Section {
    let section = table!("Dispersion of work", &fit.dispersion, own => {
        "window [s]" => own.window,
        "in the log [1]" => own.work,
        "if types were independent [1]" => own.if_independent,
    });
    let excess = fit.excess.map_or(String::new(), |excess| {
        format!(
            " If the window is much longer than {}, the dispersion is larger than for a constant rate by {}.",
            length(1.0 / excess.rate),
            number(excess.amount)
        )
    });
    section.note(format!(
        "In the workload, the jobs arrive {}.{excess} In the log, {} of the jobs arrived together with another job of the same user or batch.",
        fit.arrivals,
        percent(fit.together)
    ))
}

fn predicted(fit: &Fit) -> Section {
    let ratio = |own: &Prediction, n: usize| {
        let ratio = own.simulated.map(|of| of[n].mean / own.replayed[n]);
        ratio.filter(|own| own.is_finite())
    };
    let section = table!("Simulation of the workload compared with replays of the log under the same rules", &fit.predicted, own => {
        "rule" => own.rule,
        "waits: log [s]" => own.replayed[0],
        "workload [s]" => own.simulated.map(|of| of[0]),
        "ratio [1]" => ratio(own, 0),
        "responses: log [s]" => own.replayed[1],
        "workload [s]" => own.simulated.map(|of| of[1]),
        "ratio [1]" => ratio(own, 1),
    });
    match fit.arrived as usize > MAX_REPLAYED_JOBS {
        true => section.note(format!(
            "Only the first {MAX_REPLAYED_JOBS} jobs of the log are used for the replays."
        )),
        false => section,
    }
}

fn warnings(fit: &Fit) -> Vec<String> {
    let mut notes = Vec::new();
    let apart = fit.predicted.iter().filter(|own| own.differs());
    let apart = apart.map(|own| own.rule).join(", ");
    if !apart.is_empty() {
        notes.push(format!("Waiting times in this workload differ from those in the log under {apart}, as shown below. If you need waiting times, guarantees or the number of servers, use the log instead: `synth replay TRACE --workload WORKLOAD --policies first-fit,POLICY`. The load and the stability are valid for both."));
    }
    notes.extend_from_slice(&fit.lines.faults);
    let [first, _, last] = fit.thirds;
    if last > 2.0 * first || last < 0.5 * first {
        notes.push(format!(
            "The load is not constant: it is {first:.3} in the first third of the log and {last:.3} in the last third. Use `--from` and `--to` to select a part of the log."
        ));
    }
    let censored = fit.censored as f64 / fit.arrived as f64;
    if censored > 0.05 {
        notes.push(format!(
            "{} of the jobs were still running at the end of the log. The mean size only counts the time up to the longest observed one, so it is a lower bound.",
            percent(censored)
        ));
    }
    if let Some(drift) = fit.drift.filter(Drift::is_unusual) {
        notes.push(format!(
            "The load of the last week is {:.3}, which is outside of the range of 95 % of the previous weeks, {:.3} to {:.3}. It is time for a new policy; use `synth fit --since POLICY` to keep the job types.",
            drift.last_week, drift.usual[0], drift.usual[1]
        ));
    }
    let (jobs, share) = fit.of_no_type;
    if jobs > 0 {
        notes.push(format!(
            "Jobs ignored because they demand more than every job type of the policy: {jobs} ({} of the work). To include them, do not use `--since`.",
            percent(share)
        ));
    }
    if fit.load >= 1.0 {
        notes.push(format!(
            "The load is {:.3}, which is more than any policy can sustain. The workload is written anyway.",
            fit.load
        ));
        if fit.fluid_load < 1.0 {
            notes.push(format!(
                "The jobs in the log only need {} of the most used resource, so the load may be too high because the demand of each job is rounded up to that of its type. Use `synth judge LOG` to compare queue orders, which use the demand of each job.",
                percent(fit.fluid_load)
            ));
        }
    }
    notes
}
