//! What a fit to a trace stands on.

use itertools::Itertools as _;

use crate::multiresource::fit::{Drift, MOST_REPLAYED, Predicted, Report};
use crate::report::{Table, TableUnit, counted, number, percent, wrap};
use synth_advice::verbs::lines;

/// Returns the fit for people, at most `width` characters wide.
pub fn fit(report: &Report, width: usize) -> String {
    let parts = [
        warning(report, width),
        headline(report),
        lines(&report.lines, report.censored, width),
        types(report, width),
        load(report),
        dispersion(report, width),
        predicted(report, width),
    ];
    parts.iter().filter(|part| !part.is_empty()).join("\n\n")
}

/// Says first where waits of the workload are not those of the log, and what that means.
fn warning(report: &Report, width: usize) -> String {
    let apart = report.predicted.iter().filter(|own| own.differs());
    let by_ratio = apart.chunk_by(|own| own.ratio().map_or("many".into(), number));
    let mut apart = by_ratio.into_iter().map(|(ratio, own)| {
        let rules = own.map(|own| own.rule).join(", ");
        format!("{ratio} times those of the log under {rules}")
    });
    let apart = apart.join("; ");
    if apart.is_empty() {
        return String::new();
    }
    let order = |of: fn(&Predicted) -> f64| {
        let rules = report.predicted.iter();
        let rules = rules.sorted_by(|a, b| of(a).total_cmp(&of(b)));
        rules.map(|own| own.rule).join(", ")
    };
    let log = order(|own| own.replayed[1]);
    let workload = order(|own| own.simulated.map_or(f64::INFINITY, |[_, own]| own.mean));
    let ranking = match log == workload {
        true => format!("the same in both: {log}"),
        false => format!("{log} in the log, and {workload} of the workload"),
    };
    let text = format!(
        "WAITS OF THIS WORKLOAD ARE NOT THOSE OF THE LOG: they are {apart}. To know how long jobs wait, whether a promise of a wait is \
kept or how large a cluster has to be for that, replay the log: synth replay TRACE --workload WORKLOAD --policies first-fit,POLICY. \
The order of the rules by mean response times is {ranking}. The load, and what is stable, hold for both."
    );
    wrap(&text, width)
}

/// Puts what the workload predicts beside what the log gives.
fn predicted(report: &Report, width: usize) -> String {
    if report.predicted.is_empty() {
        return String::new();
    }
    let header = "rule,waits: log,workload,ratio,responses: log,workload,ratio";
    let mut table = Table::new(header.split(','));
    let times = report.predicted.iter().flat_map(|own| {
        let simulated = own.simulated.into_iter().flatten();
        own.replayed.into_iter().chain(simulated.map(|of| of.mean))
    });
    let unit = TableUnit::of("s", times);
    for own in &report.predicted {
        let pairs = [0, 1].map(|n| (own.replayed[n], own.simulated.map(|of| of[n])));
        let cells = pairs.into_iter().flat_map(|(log, workload)| {
            let simulated = workload.map_or("not settled".into(), |own| unit.estimate(Some(own)));
            let ratio = workload
                .map(|own| own.mean / log)
                .filter(|own| own.is_finite());
            let ratio = ratio.map_or(String::new(), number);
            [unit.number(log), simulated, ratio]
        });
        table.row([own.rule.to_owned()].into_iter().chain(cells));
    }
    let part = match report.arrived as usize > MOST_REPLAYED {
        true => format!(" (its first {MOST_REPLAYED} jobs)"),
        false => String::new(),
    };
    let words = format!(
        "What the workload predicts, simulated, beside the log{part} replayed under the same rules. Means in {}:",
        unit.name
    );
    format!("{}\n{}", wrap(&words, width), table.within(width))
}

fn headline(report: &Report) -> String {
    format!(
        "{} in {} ({}), {}, on {}",
        counted(report.arrived as f64, "job"),
        time(report.span),
        report.format.name(),
        counted(report.vectors as f64, "different demand"),
        report.servers
    )
}

/// Returns a length of time \[s\] in the unit that people would take.
fn time(seconds: f64) -> String {
    let units = [(86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    let unit = units.iter().find(|(unit, _)| seconds >= 2.0 * unit);
    let (unit, name) = unit.unwrap_or(&(1.0, "s"));
    format!("{} {name}", number(seconds / unit))
}

fn types(report: &Report, width: usize) -> String {
    let header = "type,jobs,of work,mean size [s],scv,kept,longest 1 %,law of sizes";
    let mut table = Table::new(header.split(',')).words(7);
    for found in &report.types {
        table.row([
            found.name.clone(),
            found.jobs.to_string(),
            percent(found.work),
            number(found.mean),
            number(found.scv),
            number(found.scv_kept),
            percent(found.longest_hundredth),
            found.law.to_owned(),
        ]);
    }
    table.within(width)
}

fn load(report: &Report) -> String {
    let proven = match report.load_proven {
        true => "proven",
        false => "not proven to be the least",
    };
    let mut text = format!(
        "Load: ρ = {:.5} of {}, {proven}; {:.5} is held on average of the resource used most.",
        report.load,
        counted(report.types.len() as f64, "type"),
        report.fluid_load,
    );
    if !report.load_by_types.is_empty() {
        let tried = report.load_by_types.iter();
        let mut tried = tried.map(|(k, load)| format!("{} {load:.5}", counted(*k as f64, "type")));
        text += &format!("\nBy the number of types: {}.", tried.join(", "));
    }
    text
}

fn dispersion(report: &Report, width: usize) -> String {
    let header = "window [s],dispersion of work,if types were independent";
    let mut table = Table::new(header.split(','));
    for d in &report.dispersion {
        table.row([d.window, d.work, d.if_independent].map(number));
    }
    let excess = report.excess.map_or(String::new(), |excess| {
        format!(
            " Over windows much longer than {} its dispersion is {} above that of a constant rate.",
            time(1.0 / excess.rate),
            number(excess.amount)
        )
    });
    format!(
        "{}\nIn the workload jobs arrive {}.{excess} {} of the jobs came at one \
         instant with others of their user or batch.",
        table.within(width),
        report.arrivals,
        percent(report.together)
    )
}

/// Says what a person should know before the workload is used.
pub fn fit_notes(report: &Report) -> Vec<String> {
    let mut notes = [&report.lines.faults[..], &report.lines.remarks].concat();
    let [first, _, last] = report.thirds;
    if last > 2.0 * first || last < 0.5 * first {
        notes.push(format!(
            "the load changes over the span: {first:.3} in its first third, {last:.3} in its last; fit a part of it with --from and --to"
        ));
    }
    let censored = report.censored as f64 / report.arrived as f64;
    if censored > 0.05 {
        notes.push(format!(
            "{} of the jobs still ran at the end: their mean size is that up to the longest time seen, a lower bound",
            percent(censored)
        ));
    }
    if let Some(drift) = report.drift.filter(Drift::is_unusual) {
        notes.push(format!(
            "the load of the last week, {:.3}, is beyond what 95 % of the weeks before had, {:.3} to {:.3}: it is time for a new policy; \
             `synth fit --since POLICY` keeps its types",
            drift.last_week, drift.usual[0], drift.usual[1]
        ));
    }
    let (jobs, share) = report.of_no_type;
    if jobs > 0 {
        notes.push(format!(
            "{jobs} jobs, {} of the work, demand more than any type of the policy has, and are left out: fit anew without --since",
            percent(share)
        ));
    }
    if report.load >= 1.0 {
        notes.push(format!(
            "the load is {:.3}: no policy serves that; the workload is written all the same",
            report.load
        ));
        if report.fluid_load < 1.0 {
            notes.push(format!(
                "the jobs as they are use {} of the scarcest resource: demands that are rounded up to types may be what does not fit. \
                 `synth judge LOG` compares orders of the queue, which know each job's own demand",
                percent(report.fluid_load)
            ));
        }
    }
    notes
}
