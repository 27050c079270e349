//! What a policy file says, for a reader who has never seen it.

use std::fmt::Write as _;

use itertools::chain;

use super::upgrades::bounds;
use super::{
    Table, bar, load, number, percent, span, start_latency, unmet_by, value, within, wrap,
};
use crate::artifact::{Method as _, Quantity as _, Standing};
use crate::multiresource::artifact::{Artifact, Checked, Claim, Family, Quantity, mix};
use crate::multiresource::workload::{Fleet, Workload};
use crate::report::{counted, policy_report};

/// Schedules that are drawn; of the others it is said how many there are.
const DRAWN: usize = 12;

/// Says what the policy is for, its schedules as bars, when it switches, what it promises and how sure that
/// is.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, fleet) = (checked.artifact(), checked.workload());
    let mut text = kept(artifact);
    text += &load_of(artifact);
    if let Some(note) = start_latency(fleet.envelope()) {
        let _ = writeln!(text, "{}", wrap(&note, width));
    }
    let rule = artifact.policy.words(fleet.envelope());
    let _ = writeln!(text, "\n{}", wrap(&rule, width));
    text += &schedules(artifact, fleet.envelope(), width);
    text += &rates(artifact, width);
    let _ = write!(text, "\n{}", promises(artifact, checked, width));
    text += &bounds(fleet, artifact, width);
    let workload = &artifact.workload;
    let shapes = counted(workload.servers.len() as f64, "shape");
    let whole = match fleet.servers() {
        1 => "one server".to_string(),
        many => format!("{many} servers of {shapes}"),
    };
    let types = counted(workload.jobs.len() as f64, "type");
    let what = format!("{types} of jobs on {whole}");
    policy_report(&what, &artifact.tool, workload.source.as_deref(), &text)
}

/// Says what claims are about.
pub fn about(fleet: &Fleet) -> String {
    let types = counted(fleet.types().len() as f64, "type");
    if fleet.is_one_server() {
        return types;
    }
    let shapes = counted(fleet.shapes().len() as f64, "shape");
    format!("{types} on {} servers of {shapes}", fleet.servers())
}

/// Says what was promised of types, if anything was: a line each.
fn kept(artifact: &Artifact) -> String {
    let unit = &artifact.workload.time_unit;
    let mut text = String::new();
    for claim in &artifact.claims {
        let what = match claim.quantity {
            Quantity::WaitingAbove => "waits",
            Quantity::ResponseAbove => "stays",
            _ => continue,
        };
        let (Some(time), Some(of)) = (claim.longer_than, &claim.job_type) else {
            continue;
        };
        let half_width = 100.0 * claim.half_width.unwrap_or(0.0);
        let share = within(100.0 * (1.0 - claim.value), half_width);
        let time = span((time, 0.0), unit);
        text += &format!("{of} {what} less than {time} in {share} % of cases.\n");
    }
    text
}

/// Returns the load, and whether another policy can have less.
fn load_of(artifact: &Artifact) -> String {
    let evidence = &artifact.evidence;
    let gangs = artifact
        .workload
        .jobs
        .iter()
        .any(|kind| kind.nodes > Some(1));
    let best = match evidence.proven {
        true if gangs => "no policy can have less, jobs on several servers being taken apart",
        true => "no policy can have less, which is proved",
        false => "whether another policy can have less is not proved",
    };
    let sign = if evidence.proven && gangs { "≥" } else { "=" };
    format!("Load ρ {sign} {}: {best}.\n", load(evidence.load))
}

/// Returns the schedules of the mix, as bars.
fn schedules(artifact: &Artifact, workload: &Workload, width: usize) -> String {
    let Some((schedules, weights)) = mix(artifact) else {
        return String::new();
    };
    let rule = &artifact.policy;
    let in_order = || (0..schedules.len()).collect();
    let order: Vec<usize> = rule.msr().map_or_else(in_order, |msr| msr.order.clone());
    let mut text = match rule {
        Family::Msr(_) | Family::AdaptiveMsr(_) => String::new(),
        _ => "It does not follow this mix, which proves the load:\n".into(),
    };
    let names = workload.types().iter().map(|t| t.name());
    let mut table = Table::new(chain!(["schedule"], names, ["share", ""]));
    table = table.words(workload.types().len() + 2);
    for (n, &s) in order.iter().take(DRAWN).enumerate() {
        let counts = schedules[s].iter().map(u32::to_string);
        let share = [percent(weights[s]), bar(weights[s])];
        table.row(chain!([(n + 1).to_string()], counts, share));
    }
    let _ = writeln!(text, "\n{}", table.within(width));
    if schedules.len() > DRAWN {
        let _ = writeln!(text, "… and {} more schedules", schedules.len() - DRAWN);
    }
    text
}

/// Returns the rates of a chain of one's own, if it is one that can be shown.
fn rates(artifact: &Artifact, width: usize) -> String {
    let msr = artifact.policy.msr();
    let known = msr.and_then(|msr| Some((msr, msr.rates.as_ref()?)));
    let Some((msr, rates)) = known.filter(|(_, rates)| rates.len() <= DRAWN) else {
        return String::new();
    };
    let to = (1..=rates.len()).map(|n| format!("to {n}"));
    let mut table = Table::new(chain!(["from".to_string()], to));
    for (n, row) in rates.iter().enumerate() {
        let rates = row.iter().map(|rate| number(rate * msr.switching_rate));
        table.row(chain!([(n + 1).to_string()], rates));
    }
    let (unit, table) = (&artifact.workload.time_unit, table.within(width));
    format!("\nSwitches, by schedule [1/{unit}]\n{table}\n")
}

/// Says what it promises, and how sure that is.
fn promises(artifact: &Artifact, checked: &Checked, width: usize) -> String {
    let shown = [
        Quantity::MeanResponse,
        Quantity::WeightedResponse,
        Quantity::MeanNumber,
        Quantity::WaitingP95,
        Quantity::ResponseP95,
    ];
    let envelope = checked.workload().envelope();
    let mut table = Table::new(["promise", "of", "value", "how sure"]).words(1);
    table = table.words(3).wrapping(3);
    let claims = artifact.claims.iter();
    for claim in claims.filter(|claim| shown.contains(&claim.quantity)) {
        table.row([
            format!("{} [{}]", claim.quantity.row().label, claim.unit),
            claim.job_type.clone().unwrap_or("all".into()),
            value(claim),
            how_sure(claim, envelope, artifact),
        ]);
    }
    let mut text = format!("It promises\n{}\n", table.within(width));
    if let Some(what) = artifact.claims.iter().find_map(|c| without(artifact, c)) {
        let note = format!(
            "as analysed: without {what} with which it runs; `synth simulate` measures those"
        );
        let _ = writeln!(text, "{}", wrap(&note, width));
    }
    text
}

fn how_sure(claim: &Claim, workload: &Workload, artifact: &Artifact) -> String {
    let mut words = match claim.method.standing() {
        Standing::Exact => "exact".to_string(),
        Standing::Simulated => "simulated, 95 % interval".into(),
        Standing::Bound => "a bound".into(),
        Standing::Approximation => "an approximation".into(),
    };
    if let Some(as_if) = unmet_by(claim, artifact, workload).words() {
        let _ = write!(words, ", if {as_if}");
    }
    if without(artifact, claim).is_some() {
        words += ", as analysed";
    }
    words
}

/// Returns what the policy runs with, but a claim does not count.
fn without(artifact: &Artifact, claim: &Claim) -> Option<&'static str> {
    let own = &claim.holds_for.own;
    let rule = artifact.policy.msr()?;
    let backfills = own.backfill.is_some_and(|a| rule.backfill != a);
    let releases = own.empty_slots.is_some_and(|a| rule.empty_slots != a);
    match (backfills, releases) {
        (true, true) => Some("the backfilling and the release of empty slots"),
        (true, false) => Some("the backfilling"),
        (false, true) => Some("the release of empty slots"),
        (false, false) => None,
    }
}
