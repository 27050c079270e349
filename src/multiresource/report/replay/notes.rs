//! What should be known of a trace before its numbers are used.

use super::super::fit::lines;
use super::super::{number, percent, wrap};
use crate::multiresource::verbs::replay::Replays;

/// What was read, what became of it, and how it was replayed: [`remarks`], and what became of faulty lines.
pub fn notes(replays: &Replays, width: usize) -> Vec<String> {
    let trace = &replays.trace;
    let remarks = remarks(replays);
    let mut notes: Vec<String> = remarks.iter().map(|note| wrap(note, width)).collect();
    if !trace.account.rows.is_empty() {
        let faults = trace.account.faults.iter();
        let faults = faults.map(|fault| format!("\n  {fault}"));
        let table = lines(&trace.account, trace.censored, width);
        notes.insert(1, table + &faults.collect::<String>());
    }
    notes
}

/// The same in sentences.
pub fn remarks(replays: &Replays) -> Vec<String> {
    let trace = &replays.trace;
    let capacity = trace.resources.iter().zip(&trace.capacity);
    let capacity: Vec<String> = capacity.map(|(name, c)| format!("{name} {c}")).collect();
    let servers = match trace.servers {
        1 => "one server".to_owned(),
        n => format!("{n} servers"),
    };
    let mut remarks = vec![format!(
        "{} ({}): {} jobs with {} different demands came in {} days to {servers} ({}): load {:.3}.",
        trace.file,
        trace.format,
        trace.jobs,
        trace.vectors,
        number(trace.span / 86_400.0),
        capacity.join(", "),
        trace.load
    )];
    if trace.rounded > 0 {
        remarks.push(format!(
            "{} times a demand was rounded up to three digits, for the trace has more than 2000 different ones.",
            trace.rounded
        ));
    }
    if trace.censored > 0 {
        remarks.push(format!(
            "{} jobs still ran when the trace ended: how long is not known, and they are not replayed (--censored end: as if they had ended then).",
            trace.censored
        ));
    }
    if !trace.has_limits {
        remarks.push("The trace tells no limits: sizes are taken for them, so that backfilling by limits knows sizes.".into());
    }
    if let Some(typed) = &trace.types {
        remarks.push(format!(
            "As {} types jobs hold {:.2} % more than they asked for.",
            typed.types,
            100.0 * (typed.rounding - 1.0)
        ));
        if typed.untyped > 0 {
            remarks.push(format!(
                "{} jobs, {} of the work, demand more than every type: left out, for every policy.",
                typed.untyped,
                percent(typed.untyped_work)
            ));
        }
    }
    for at in replays.paces.iter().filter(|at| at.load >= 1.0) {
        remarks.push(format!(
            "At speed {} the load is {:.3}: at 1 and more queues grow for as long as jobs come. The trace is finite, so it ends; its waits depend on how long it is.",
            at.speed, at.load
        ));
    }
    remarks
}
