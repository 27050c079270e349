//! What a policy file says, for a reader who has never seen it.

use std::fmt::Write as _;

use super::growth::growth;
use super::{Table, bar, load, number, percent, start_latency, valid_report, within, wrap};
use crate::artifact::{Method as _, Quantity as _, Standing};
use crate::multiresource::artifact::{
    Artifact, Checked, Choice, Claim, Family, Interval, Quantity, Server, ServerPolicy, Steadiness,
    unmet,
};
use crate::multiresource::policy::words;
use crate::multiresource::workload::Workload;

/// Schedules that are drawn; of the others it is said how many there are.
const DRAWN: usize = 12;

/// What the policy is for, its schedules as bars, when it switches, what it promises and how sure that
/// is, and what it was compared with.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, site) = (checked.artifact(), checked.workload());
    let mut text = purpose(artifact);
    if let Some(told) = start_latency(site.envelope()) {
        let _ = writeln!(text, "{}", wrap(&told, width));
    }
    if let Some(policy) = &artifact.policy.queue {
        let told = words(policy, site.envelope());
        let _ = writeln!(text, "\n{}", wrap(&told, width));
    }
    for (server, workload) in artifact.servers().zip(site.servers()) {
        let _ = write!(text, "\n{}", of_server(artifact, server, workload, width));
    }
    let _ = write!(text, "\n{}", promises(artifact, checked, width));
    text += &growth(site.fleet(), artifact, site.servers(), width);
    let own = artifact.servers().filter_map(|s| s.making.choice.as_ref());
    for choice in own.chain(&artifact.provenance.choice) {
        let told = compared(choice, &artifact.workload.time_unit, width);
        let _ = write!(text, "\n{told}");
    }
    text + "\n`synth check` tells what it derives anew, `synth simulate` tries to refute what it promises.\n"
}

/// That a policy passed the checker: what was derived anew, what was judged for sense only, and what
/// was taken on trust.
pub fn valid(checked: &Checked, width: usize) -> String {
    let fleet = checked.workload().fleet();
    let types = fleet.types().len();
    let about = if fleet.is_one_server() {
        format!("about {types} types")
    } else {
        format!(
            "about {types} types on {} servers of {} shapes",
            fleet.servers(),
            fleet.shapes().len()
        )
    };
    valid_report(checked, &about, width)
}

/// What it is for.
fn purpose(artifact: &Artifact) -> String {
    let workload = &artifact.workload;
    let servers: u32 = workload.servers.iter().map(|s| s.count).sum();
    let whole = match servers {
        1 => "one server".to_string(),
        many => format!("{many} servers of {} shapes", workload.servers.len()),
    };
    let mut text = format!(
        "A scheduling policy for {} types of jobs on {whole}, made by {}.\n",
        workload.types.len(),
        artifact.provenance.tool
    );
    if let Some(source) = &workload.source {
        let _ = writeln!(text, "Workload: {source}");
    }
    let proof = match &artifact.evidence.fleet {
        Some(fleet) => (fleet.load, fleet.proven),
        None => artifact.servers().next().map_or((f64::NAN, false), |s| {
            (s.certificate.load, s.certificate.proven)
        }),
    };
    let gangs = workload.types.iter().any(|kind| kind.nodes > 1);
    let (sign, best) = match proof.1 {
        true if gangs => (
            "≥",
            "no policy can have less, jobs on several servers being taken apart",
        ),
        true => ("=", "no policy can have less, which is proved"),
        false => ("=", "whether another policy can have less is not proved"),
    };
    let _ = writeln!(text, "Load ρ {sign} {}: {best}.", load(proof.0));
    text
}

/// What one server does.
fn of_server(artifact: &Artifact, server: Server<'_>, workload: &Workload, width: usize) -> String {
    let mut text = String::new();
    if artifact.one_server().is_none() {
        let ServerPolicy { name, count, .. } = server.policy;
        let _ = writeln!(text, "Each of the {count} servers of shape {name}:");
    }
    let told = words(&server.policy.rule, workload);
    let _ = writeln!(text, "{}", wrap(&told, width));
    if let Some((schedules, weights)) = server.mix() {
        let rule = &server.policy.rule;
        let order: Vec<usize> = rule
            .msr()
            .map_or((0..schedules.len()).collect(), |msr| msr.order.clone());
        if !matches!(rule, Family::Msr(_) | Family::AdaptiveMsr(_)) {
            text += "It does not follow this mix, which proves the load:\n";
        }
        let names = workload.types().iter().map(|t| t.name());
        let header = ["schedule"].into_iter().chain(names);
        let header = header.chain(["share", ""]);
        let mut table = Table::new(header).words(workload.types().len() + 2);
        for (n, &s) in order.iter().take(DRAWN).enumerate() {
            let counts = schedules[s].iter().map(u32::to_string);
            let cells = [(n + 1).to_string()].into_iter().chain(counts);
            table.row(cells.chain([percent(weights[s]), bar(weights[s])]));
        }
        let _ = writeln!(text, "\n{}", table.within(width));
        if schedules.len() > DRAWN {
            let _ = writeln!(text, "… and {} more schedules", schedules.len() - DRAWN);
        }
    }
    text
}

/// What it promises, and how sure that is.
fn promises(artifact: &Artifact, checked: &Checked, width: usize) -> String {
    let told = [
        Quantity::MeanResponse,
        Quantity::WeightedResponse,
        Quantity::MeanNumber,
        Quantity::ResponseP95,
    ];
    let envelope = checked.workload().envelope();
    let mut table = Table::new(["promise", "of", "value", "how sure"])
        .words(1)
        .words(3)
        .wrapping(3);
    let shown = artifact.claims.iter().filter(|c| c.server.is_none());
    for claim in shown.filter(|c| told.contains(&c.quantity)) {
        let row = claim.quantity.row();
        let value = match claim.half_width {
            Some(half_width) => within(claim.value, half_width),
            None => number(claim.value),
        };
        table.row([
            format!("{} [{}]", row.label, claim.unit),
            claim.job_type.clone().unwrap_or("all".into()),
            value,
            how_sure(claim, envelope, artifact),
        ]);
    }
    let mut text = format!("It promises\n{}\n", table.within(width));
    if let Some(what) = artifact.claims.iter().find_map(|c| without(artifact, c)) {
        let told = format!(
            "as analysed: without {what} with which it runs; `synth simulate` measures those"
        );
        let _ = writeln!(text, "{}", wrap(&told, width));
    }
    text
}

fn how_sure(claim: &Claim, workload: &Workload, artifact: &Artifact) -> String {
    let job_type = claim.job_type.as_deref();
    let unmet = unmet(&claim.holds_for, job_type, workload, artifact.preempts());
    let mut words = match claim.method.standing() {
        Standing::Exact => "exact".to_string(),
        Standing::Simulated => "simulated, 95 % interval".into(),
        Standing::Bound => "a bound".into(),
        Standing::Approximation => "an approximation".into(),
    };
    if let Some(as_if) = unmet.words() {
        let _ = write!(words, ", if {as_if}");
    }
    if without(artifact, claim).is_some() {
        words += ", as analysed";
    }
    words
}

/// What the policy runs with, and a claim is without.
fn without(artifact: &Artifact, claim: &Claim) -> Option<&'static str> {
    let own = &claim.holds_for.own;
    let servers = || artifact.policy.servers.iter().filter_map(|s| s.rule.msr());
    let backfills = own
        .backfill
        .is_some_and(|a| servers().any(|rule| rule.backfill != a));
    let releases = own
        .empty_slots
        .is_some_and(|a| servers().any(|rule| rule.empty_slots != a));
    match (backfills, releases) {
        (true, true) => Some("the backfilling and the release of empty slots"),
        (true, false) => Some("the backfilling"),
        (false, true) => Some("the release of empty slots"),
        (false, false) => None,
    }
}

/// What it was compared with.
fn compared(choice: &Choice, unit: &str, width: usize) -> String {
    let what = choice.objective.label();
    let value = format!("{what} [{unit}]");
    let mut table = Table::new(["It was compared with", &value, "times"]).words(0);
    for candidate in &choice.candidates {
        let interval =
            |i: Option<_>| i.map_or("–".into(), |i: Interval| within(i.mean, i.half_width));
        table.row([
            candidate.name.clone(),
            match candidate.outcome {
                Steadiness::Steady => interval(candidate.value),
                Steadiness::Unsettled => "unsettled".into(),
                Steadiness::Behind => "far behind".into(),
                Steadiness::Unstable => "unstable".into(),
            },
            interval(candidate.ratio),
        ]);
    }
    format!(
        "{}\nin {:.2e} simulated events, seed {}\n",
        table.within(width),
        choice.events as f64,
        choice.seed
    )
}
