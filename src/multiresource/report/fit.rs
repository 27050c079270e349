use itertools::Itertools as _;

use crate::multiresource::fit::{Drift, MOST_REPLAYED, Predicted, Report as Fit};
use crate::report::{Report, Section, counted, length, number, percent};
use synth_advice::verbs::account_of;
use synth_verb::table;

/// Returns the report of a fit.
pub fn fit(fit: &Fit) -> Report {
    let proven = if fit.load_proven {
        "proved"
    } else {
        "not proved to be the least"
    };
    let summary = format!(
        "{} in {} ({}), {}, on {}. Load: ρ = {:.5} of {}, {proven}; the mean utilization of the most used resource is {:.5}.",
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
            " Over windows much longer than {} the dispersion is {} above that of a constant rate.",
            length(1.0 / excess.rate),
            number(excess.amount)
        )
    });
    section.note(format!(
        "In the workload, jobs arrive {}.{excess} {} of the jobs arrived together with others of the same user or batch.",
        fit.arrivals,
        percent(fit.together)
    ))
}

fn predicted(fit: &Fit) -> Section {
    let ratio = |own: &Predicted, n: usize| {
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
    match fit.arrived as usize > MOST_REPLAYED {
        true => section.note(format!(
            "Only the first {MOST_REPLAYED} jobs of the log are replayed."
        )),
        false => section,
    }
}

fn warnings(fit: &Fit) -> Vec<String> {
    let mut notes = Vec::new();
    let apart = fit.predicted.iter().filter(|own| own.differs());
    let apart = apart.map(|own| own.rule).join(", ");
    if !apart.is_empty() {
        notes.push(format!("WAITS IN THIS WORKLOAD DIFFER FROM THOSE IN THE LOG under {apart}. For waits, guarantees and sizing, replay the log: synth replay TRACE --workload WORKLOAD --policies first-fit,POLICY. Load and stability are valid for both."));
    }
    notes.extend_from_slice(&fit.lines.faults);
    let [first, _, last] = fit.thirds;
    if last > 2.0 * first || last < 0.5 * first {
        notes.push(format!(
            "The load changes over time: {first:.3} in the first third of the log, {last:.3} in the last. Fit a part of the log with --from and --to."
        ));
    }
    let censored = fit.censored as f64 / fit.arrived as f64;
    if censored > 0.05 {
        notes.push(format!(
            "{} of the jobs were still running at the end of the log. Their mean size is computed up to the longest observed time and is a lower bound.",
            percent(censored)
        ));
    }
    if let Some(drift) = fit.drift.filter(Drift::is_unusual) {
        notes.push(format!(
            "The load of the last week, {:.3}, is outside the range of 95 % of the preceding weeks, {:.3} to {:.3}. Make a new policy; `synth fit --since POLICY` keeps the job types.",
            drift.last_week, drift.usual[0], drift.usual[1]
        ));
    }
    let (jobs, share) = fit.of_no_type;
    if jobs > 0 {
        notes.push(format!(
            "{jobs} jobs ({} of the work) demand more than every type of the policy and were left out: fit again without --since.",
            percent(share)
        ));
    }
    if fit.load >= 1.0 {
        notes.push(format!(
            "The load is {:.3}, which no policy can sustain. The workload is written anyway.",
            fit.load
        ));
        if fit.fluid_load < 1.0 {
            notes.push(format!(
                "The actual jobs use {} of the scarcest resource, so the overload may come from rounding demands up to types. `synth judge LOG` compares queue orders with each job's own demand.",
                percent(fit.fluid_load)
            ));
        }
    }
    notes
}
