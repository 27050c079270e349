//! The report of a fit to a trace.

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
        "{} in {} ({}), {}, on {}. Load: ρ = {:.5} of {}, {proven}; the mean use of the resource used most is {:.5}.",
        counted(fit.arrived as f64, "job"),
        length(fit.span),
        fit.log_format.name(),
        counted(fit.vectors as f64, "different demand"),
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
        "In the workload jobs arrive {}.{excess} {} of the jobs arrived together with others of their user or batch.",
        fit.arrivals,
        percent(fit.together)
    ))
}

/// Returns the predictions of the workload next to the replay of the log.
fn predicted(fit: &Fit) -> Section {
    let ratio = |own: &Predicted, n: usize| {
        let ratio = own.simulated.map(|of| of[n].mean / own.replayed[n]);
        ratio.filter(|own| own.is_finite())
    };
    let section = table!("What the workload predicts, simulated, and the log replayed under the same rules", &fit.predicted, own => {
        "rule" => own.rule,
        "waits: log [s]" => own.replayed[0],
        "workload [s]" => own.simulated.map(|of| of[0]),
        "ratio [1]" => ratio(own, 0),
        "responses: log [s]" => own.replayed[1],
        "workload [s]" => own.simulated.map(|of| of[1]),
        "ratio [1]" => ratio(own, 1),
    });
    match fit.arrived as usize > MOST_REPLAYED {
        true => section.note(format!("Of the log the first {MOST_REPLAYED} jobs.")),
        false => section,
    }
}

/// Returns the facts that a person has to know before using the workload.
fn warnings(fit: &Fit) -> Vec<String> {
    let mut notes = Vec::new();
    let apart = fit.predicted.iter().filter(|own| own.differs());
    let apart = apart.map(|own| own.rule).join(", ");
    if !apart.is_empty() {
        notes.push(format!("WAITS OF THIS WORKLOAD ARE NOT THOSE OF THE LOG, under {apart}. For waits, guarantees and sizes, replay the log: synth replay TRACE --workload WORKLOAD --policies first-fit,POLICY. The load, and what is stable, hold for both."));
    }
    notes.extend_from_slice(&fit.lines.faults);
    let [first, _, last] = fit.thirds;
    if last > 2.0 * first || last < 0.5 * first {
        notes.push(format!(
            "The load changes over the span: {first:.3} in its first third, {last:.3} in its last; fit a part of it with --from and --to."
        ));
    }
    let censored = fit.censored as f64 / fit.arrived as f64;
    if censored > 0.05 {
        notes.push(format!(
            "{} of the jobs still ran at the end: their mean size is that up to the longest time seen, a lower bound.",
            percent(censored)
        ));
    }
    if let Some(drift) = fit.drift.filter(Drift::is_unusual) {
        notes.push(format!(
            "The load of the last week, {:.3}, is outside the range of 95 % of the weeks before, {:.3} to {:.3}: it is time for a new policy; `synth fit --since POLICY` keeps its types.",
            drift.last_week, drift.usual[0], drift.usual[1]
        ));
    }
    let (jobs, share) = fit.of_no_type;
    if jobs > 0 {
        notes.push(format!(
            "{jobs} jobs, {} of the work, demand more than any type of the policy has, and are left out: fit again without --since.",
            percent(share)
        ));
    }
    if fit.load >= 1.0 {
        notes.push(format!(
            "The load is {:.3}: no policy serves that; the workload is written all the same.",
            fit.load
        ));
        if fit.fluid_load < 1.0 {
            notes.push(format!(
                "The jobs as they are use {} of the scarcest resource: the demands, which are rounded up to types, may be what does not fit. `synth judge LOG` compares orders of the queue, which know each job's own demand.",
                percent(fit.fluid_load)
            ));
        }
    }
    notes
}
