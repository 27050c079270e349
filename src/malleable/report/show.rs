//! What a policy file says, for a reader who has never seen it.

use std::fmt::Write as _;

use super::{about, gap, objective, speedup, unit};
use crate::artifact::Subject;
use crate::malleable::artifact::{Artifact, Checked, Policy, Quantity};
use crate::malleable::policy::{Online, Rule};
use crate::malleable::workload::{Pool, Stream, Workload};
use crate::report::{number, percent, within, wrap};

/// What the policy is for, what it does, and what it promises.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, workload) = (checked.artifact(), checked.workload());
    let mut text = format!(
        "A scheduling policy for {}, made by {}.\n",
        about(workload),
        artifact.tool
    );
    if let Some(source) = &workload.record().source {
        let _ = writeln!(text, "Workload: {source}");
    }
    text += &match (workload, &artifact.policy) {
        (Workload::Pool(pool), Policy::Plan(plan)) => of_plan(pool, &plan.rule, artifact, width),
        (Workload::Stream(stream), Policy::Online(online)) => {
            of_rule(stream, *online, artifact, width)
        }
        _ => String::new(),
    };
    text + "\n`synth check` tells what it derives anew, `synth simulate` tries to refute what it promises.\n"
}

fn value(artifact: &Artifact, quantity: Quantity) -> Option<f64> {
    artifact
        .find(quantity, Subject::ALL)
        .map(|claim| claim.value)
}

fn of_plan(pool: &Pool, rule: &Rule, artifact: &Artifact, width: usize) -> String {
    let mut text = String::new();
    let speedups = match pool.curves() {
        [one] => speedup(&one.speedup),
        several => format!("{} different ones", several.len()),
    };
    let _ = writeln!(text, "Speedup: {speedups}");
    let told = match rule {
        Rule::Prices(_) => {
            "The jobs that remain divide the servers such that the work done is worth most at the prices in the file; when a job ends they divide them anew."
        }
        Rule::Phases(_) => {
            "Each job has the servers that the file gives it in each phase; phases end at the times in the file."
        }
    };
    let _ = writeln!(text, "\n{}", wrap(told, width));
    let _ = writeln!(text, "\nIt promises");
    if let Some(found) = value(artifact, pool.objective().quantity()) {
        let gap = value(artifact, Quantity::Gap).map_or(String::new(), |g| format!(", {}", gap(g)));
        let _ = writeln!(
            text,
            "  {} {}{}{gap}",
            objective(pool),
            number(found),
            unit(pool)
        );
    }
    for (quantity, name) in [
        (Quantity::MeanResponse, "mean response time"),
        (Quantity::Makespan, "makespan"),
    ] {
        if let Some(found) = value(artifact, quantity) {
            let _ = writeln!(text, "  {name} {} {}", number(found), pool.time_unit());
        }
    }
    text
}

fn of_rule(stream: &Stream, online: Online, artifact: &Artifact, width: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "Speedup: {}", speedup(&stream.curve().speedup));
    let told = format!(
        "Whenever a job comes or ends, servers are divided such that work is worth most: at prices that a plan for the jobs that are there would have, to the power of {} (its urgency), with {} jobs that are reckoned to stay behind (its background). Sizes are known when jobs come. It is a heuristic: no optimum is known.",
        online.urgency, online.background
    );
    let _ = writeln!(text, "\n{}", wrap(&told, width));
    let _ = writeln!(text, "\nIt promises");
    let time = stream.time_unit();
    if let Some(claim) = artifact.find(Quantity::MeanResponse, Subject::ALL) {
        let mean = within(claim.value, claim.half_width.unwrap_or(0.0));
        let _ = writeln!(text, "  mean response time {mean} {time}, simulated");
        if let Some(least) = value(artifact, Quantity::LeastResponse) {
            let _ = writeln!(
                text,
                "  no policy has less than {} {time} (proved), which is {} less at most",
                number(least),
                percent(1.0 - least / claim.value)
            );
        }
    }
    text
}
