use std::sync::atomic::{AtomicBool, Ordering};

use itertools::chain;

use crate::slurm::{PastAdvice, Promise, Promises, compare_with_past};
use crate::verbs::{account_of, ends};
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::Facts;
use synth_slurm::what_is_missing;
use synth_traces::replay::Log;
use synth_verb::report::{Report, length};
use synth_verb::{VerbOutput, VerbResult, document, table};

/// Compares an advice with the jobs after the change.
pub(super) fn check(
    past: &PastAdvice,
    (log, site, facts): (&Log, &SlurmSite, Vec<Facts>),
    interrupt: &AtomicBool,
    command: String,
) -> VerbResult<VerbOutput> {
    let promises = match compare_with_past(past, (log, site, facts), interrupt) {
        Err(_) if interrupt.load(Ordering::Relaxed) => {
            return Ok(VerbOutput::interrupted_before(
                "the jobs have been replayed",
            ));
        }
        promises => promises?,
    };
    Ok(VerbOutput {
        report: report(&promises, what_is_missing(&site.not_modeled), log, command),
        document: document("synth-promises", &promises)?,
        negative: promises.all.is_kept == Some(false),
        ..VerbOutput::default()
    })
}

fn report(promises: &Promises, not_modeled: Option<String>, log: &Log, command: String) -> Report {
    let rows = chain!([&promises.all], &promises.classes, &promises.users);
    let table = table!("Promises", rows, own => {
        "mean wait of" => &own.name,
        "jobs [#]" => own.jobs,
        "without the change [s]" => own.without,
        "with the change [s]" => own.with,
        "ratio [1]" => own.ratio,
        "promised [1]" => own.promised.map(|ratio| (ratio, ends(own.interval))),
        "promise" => match own.is_kept {
            Some(true) => "kept",
            Some(false) => "missed",
            None => "not known",
        },
    });
    let missing = (!promises.missing.is_empty()).then(|| {
        format!(
            "These settings of the advice are missing in the configuration: {}. All results are for the configuration without them.",
            promises.missing.join(", ")
        )
    });
    Report {
        title: "Promises of the advice".into(),
        summary: chain!([verdict(promises), waits(promises)], not_modeled).collect(),
        warnings: missing.into_iter().collect(),
        sections: vec![table.note(NOTE), account_of(&log.account, log.censored)],
        method: vec![("Without the change", WITHOUT.into())],
        command,
        ..Report::default()
    }
}

const NOTE: &str = "The ratios are those of the mean waits with and without the change. The promise is the ratio in the advice, with the 95 % interval for a following period. It is kept if the ratio is at most the upper end. If there are many classes and users, some of them miss it by chance. It is not known for groups of fewer than 20 jobs.";
const NOT_IN_EFFECT: &str = " This ratio is as promised, so either the change is not in effect, or jobs have to wait for reasons that are not included in the replay. Use `scontrol show config` and `sprio` to check the settings and the priorities.";
const WITHOUT: &str = "The jobs are replayed with the settings before the change. Their waits are multiplied by the ratio of the recorded to the replayed mean wait in the log of the advice, so a replay that always is too short or too long is corrected. All jobs of the log are used, so it should begin after the change.";

fn verdict(promises: &Promises) -> String {
    let Promise {
        ratio,
        promised,
        interval,
        is_kept,
        ..
    } = &promises.all;
    let (Some(ratio), Some(promised)) = (ratio, promised) else {
        return "No job would have waited without the change, so the promise cannot be checked."
            .into();
    };
    let change = if *ratio > 1.0 {
        "lengthened"
    } else {
        "shortened"
    };
    let part = |ratio: f64| format!("{:.0} %", 100.0 * (1.0 - ratio));
    let interval = interval.map(|own| format!(" [{}, {}]", part(own.high), part(own.low)));
    let interval = interval.unwrap_or_default();
    let end = match is_kept {
        Some(false) => " The promise was missed.",
        _ => "",
    };
    format!(
        "The change {change} the mean wait by {:.0} % (promised: {}{interval}).{end}",
        100.0 * (1.0 - ratio).abs(),
        part(*promised)
    )
}

fn waits(promises: &Promises) -> String {
    let all = &promises.all;
    let [with, without] = [all.with, all.without].map(|own| length(own.unwrap_or(0.0)));
    let source = match promises.is_recorded {
        true => "the log",
        false => "a replay, because no start times are recorded",
    };
    let mut text = format!(
        "With the change, it is {with} in {source}. Without the change, it would be {without}: this is the result of a replay with the previous settings, multiplied by {:.2} because of the agreement between replay and log when the advice was given.",
        promises.correction
    );
    if let Some(replayed) = promises.replayed {
        text += &format!(" The ratio of the replays with and without the change is {replayed:.2}.");
        let has_kept = all.interval.is_some_and(|own| replayed <= own.high);
        if all.is_kept == Some(false) && has_kept {
            text += NOT_IN_EFFECT;
        }
    }
    text
}
