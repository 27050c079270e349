//! What a policy file says, for a reader who has never seen it.

use std::fmt::Write as _;

use super::{about, knob};
use crate::artifact::{Quantity as _, Subject};
use crate::report::{Table, headed, number, within, wrap};
use crate::volunteer::artifact::{Checked, Quantity};
use crate::volunteer::policy::{Dispatch, Queued, UNKNOWN};

/// What the policy is for, what it does, and what it promises.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, campaign) = (checked.artifact(), checked.workload());
    let time = campaign.time_unit();
    let mut text = format!(
        "A policy for a server of volunteers, {}, made by {}.\n",
        about(campaign),
        artifact.tool
    );
    if let Some(source) = &campaign.record().source {
        let _ = writeln!(text, "Workload: {source}");
    }
    let _ = writeln!(text, "\nWhen a host asks for work");
    for line in steps(&artifact.policy.dispatch, time) {
        let _ = writeln!(text, "{}", wrap(&format!("- {line}"), width));
    }
    let reported = format!(
        "The percentile of a host and a version is the lesser of two shares of all that have returned something: those with a larger mean turnaround, and those with fewer valid results in a row (no matter beyond ten). It is computed every {} {time}; a host without a valid result has 0, and where an application is new, its percentile with others, or {} %.",
        number(artifact.policy.refresh),
        knob(UNKNOWN)
    );
    let _ = writeln!(text, "\n{}", wrap(&reported, width));
    let _ = writeln!(text, "\nIt promises");
    let mut table = Table::new(["quantity", "mean of campaigns"]);
    for quantity in Quantity::ALL {
        if let Some(claim) = artifact.find(*quantity, Subject::ALL) {
            let value = within(claim.value, claim.half_width.unwrap_or(0.0));
            table.row([headed(*quantity, time), value]);
        }
    }
    text += &table.within(width);
    text + "\n\n`synth check` tells what it derives anew, `synth simulate` tries to refute what it promises.\n"
}

/// The rule, a test a line.
fn steps(rule: &Dispatch, time: &str) -> Vec<String> {
    let behind = match rule.queued {
        Queued::All => "all that it has",
        Queued::Tight => "its jobs with tight deadlines",
    };
    let each = match rule.first_each {
        Some(n) => format!(", at most {n} for each of its processors"),
        None => String::new(),
    };
    let quantile = match rule.quantile {
        Some(q) => format!("the {} quantile", knob(q)),
        None => "the quantile of the last one".into(),
    };
    let mut steps = vec![
        "jobs are looked at by the time at which their batch has to end, retries first; those whose test is a percentile before all others".to_owned(),
        format!(
            "a job of a batch that nothing is known of goes to a host above the {} % percentile{each}, with the deadline by which the host can have done it, behind {behind}",
            knob(rule.first_percentile)
        ),
        format!(
            "any other job goes to a host that will have done it before its batch is expected to end, with that end for a deadline: now, plus the time to send what is left, plus {quantile} of what its results take",
        ),
        format!(
            "to a host that will not, only if it is above the {} % percentile, with the earliest deadline that it can meet",
            knob(rule.tight_percentile)
        ),
        format!(
            "thresholds fall where fewer than three hosts (or a hundredth) are above them, and to nothing if a batch waits for {} to {} {time}",
            number(rule.patience),
            number(2.0 * rule.patience)
        ),
    ];
    if rule.reserve {
        steps.push("of the time until a deadline an instance has half, so that what is lost can be sent once more".into());
    }
    steps
}
