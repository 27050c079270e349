//! The report for a policy file is for readers who have not seen the policy before.

use super::stability::{bottlenecks, growth, load_of};
use super::{guarantees, schedules, start_latency, unmet_by};
use crate::multiresource::artifact::{Artifact, Checked, Claim, Quantity};
use crate::multiresource::workload::Fleet;
use crate::report::{Column, Report, Section, claims, counted, policy_report};
use synth_verb::cells;

const SHOWN: usize = 12;

pub(crate) fn show(checked: &Checked) -> Report {
    let (artifact, fleet) = (checked.artifact(), checked.workload());
    let workload = fleet.envelope();
    let [types, shapes] = counts(fleet);
    let what = match fleet.servers() {
        1 => format!("{types} of jobs on one server"),
        many => format!("{types} of jobs on {many} servers of {shapes}"),
    };
    let mut does = vec![load_of(fleet, artifact, None)];
    does.extend(start_latency(workload));
    let words = artifact.policy.describe(workload);
    does.extend(words.split('\n').map(str::to_owned));
    let mut all_claims = artifact.claims.iter();
    does.extend(all_claims.find_map(|claim| not_analysed(artifact, claim)));
    let source = artifact.workload.source.as_deref();
    let unmet = |own: &Claim| unmet_by(own, artifact, workload);
    let mut report = policy_report(&what, artifact, source, does, unmet);
    let promised = artifact.claims.iter();
    let promised = promised.filter(|own| PROMISED.contains(&own.quantity));
    report.sections = vec![
        bottlenecks(fleet, artifact),
        growth(fleet, artifact),
        guarantees(artifact),
        schedules(artifact, workload),
        rates(artifact),
    ];
    report.sections.extend(claims(promised, unmet));
    report
}

const PROMISED: [Quantity; 5] = [
    Quantity::MeanResponse,
    Quantity::WeightedResponse,
    Quantity::MeanNumber,
    Quantity::WaitingP95,
    Quantity::ResponseP95,
];

/// Returns a short description of the job types and the servers.
pub fn about(fleet: &Fleet) -> String {
    let [types, shapes] = counts(fleet);
    match fleet.is_one_server() {
        true => types,
        false => format!("{types} on {} servers of {shapes}", fleet.servers()),
    }
}

fn counts(fleet: &Fleet) -> [String; 2] {
    [
        (fleet.types().len(), "type"),
        (fleet.shapes().len(), "shape"),
    ]
    .map(|(count, noun)| counted(count as f64, noun))
}

fn rates(artifact: &Artifact) -> Section {
    let unit = &artifact.workload.time_unit;
    let mut section = Section::new("Switching rates, by schedule", ["from"]);
    let msr = artifact.policy.msr();
    let known = msr.and_then(|msr| Some((msr.switching_rate, msr.rates.as_ref()?)));
    let Some((rate, rates)) = known.filter(|(_, rates)| rates.len() <= SHOWN) else {
        return section;
    };
    for (n, row) in rates.iter().enumerate() {
        let column = Column::of(&format!("to {}", n + 1), &format!("1/{unit}"));
        section.columns.push(column);
        let row = row.iter().map(|own| (own * rate).into());
        section.rows.push(cells![(n + 1).to_string(); row]);
    }
    section
}

fn not_analysed(artifact: &Artifact, claim: &Claim) -> Option<String> {
    let own = &claim.holds_for.own;
    let rule = artifact.policy.msr()?;
    let backfills = own.backfill.is_some_and(|a| rule.backfill != a);
    let releases = own.empty_slots.is_some_and(|a| rule.empty_slots != a);
    let what = match (backfills, releases) {
        (true, true) => "the backfilling and the release of empty slots",
        (true, false) => "the backfilling",
        (false, true) => "the release of empty slots",
        (false, false) => return None,
    };
    Some(format!(
        "The claims are the result of an analysis that does not include {what}. Use `synth simulate` to measure the effect of this."
    ))
}
