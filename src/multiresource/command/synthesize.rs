//! What is typed to make a policy → the request to the library → the answer in words.

use super::hear_doing;
use super::wishes::{Family, Wishes};
use crate::kind::{Answer, Caller, Given};
use crate::multiresource::artifact::{Multiresource, Objective, Preemption};
use crate::multiresource::report;
use crate::multiresource::synthesis::{self, MsfqOutlook};
use crate::multiresource::verbs::{self, Doing, How};
use crate::multiresource::workload::{Fleet, Workload};

/// Makes a policy.
pub fn synthesize(
    fleet: &Fleet,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    let mut wishes = wishes.clone();
    let mut stops_nothing = "";
    if fleet.is_one_server() {
        if matches!(wishes.family, Some(Family::Partition | Family::Pooled)) {
            return Err(OVER_A_FLEET.into());
        }
    } else {
        goes_with_a_fleet(&wishes)?;
        // Rules over all servers stop nothing.
        if wishes.preemption != Preemption::None {
            stops_nothing = STOPS_NOTHING;
        }
        (wishes.preemption, wishes.setup_rate) = (Preemption::None, None);
    }
    let workload = fleet.envelope();
    let request = wishes.request(workload, caller)?;
    let objective = request.options.objective;
    let report_step = |step: Doing| hear_doing(&step, caller);
    let synthesized = match verbs::synthesize(fleet, &request, report_step)? {
        verbs::Answer::Policy(synthesized) => synthesized,
        verbs::Answer::Refused(refusal) => {
            return Ok(Answer::Refused {
                why: report::refusal(fleet, &refusal, caller.width),
                decided: refusal.overload.decided,
            });
        }
        verbs::Answer::Broken(why) => return Ok(Answer::Refused { why, decided: true }),
    };
    let mut summary = report::synthesis(fleet, &synthesized, caller.width) + stops_nothing;
    if wishes.explain {
        if let How::Analysed(analysed) = &synthesized.how {
            let bounds = synthesis::paper_bounds(workload, &analysed.policy)?;
            let table = report::explain(
                workload,
                (&synthesized.artifact, &synthesized.log),
                &bounds,
                caller.width,
            );
            summary = summary + "\n" + &table;
        }
        summary += &thresholds(workload, objective, caller.width);
    }
    Ok(Answer::Policy {
        documents: wishes.documents(&synthesized.log)?,
        artifact: Box::new(synthesized.artifact),
        summary,
    })
}

/// The exact means of MSFQ, where it is for this workload: they wait for no simulation.
fn thresholds(workload: &Workload, objective: Objective, width: usize) -> String {
    let outlook = MsfqOutlook::new(workload, objective);
    outlook.map_or(String::new(), |outlook| {
        report::thresholds(workload, &outlook, width)
    })
}

const OVER_A_FLEET: &str =
    "this family is a rule over a fleet, and here is one server: take another --family";

/// Where preemption was asked for.
const STOPS_NOTHING: &str = "\nNo job is stopped: rules over a fleet do not preempt.\n";

/// Refuses options that are about one server.
fn goes_with_a_fleet(wishes: &Wishes) -> Result<(), String> {
    let is_of_fleets =
        |family: Family| matches!(family, Family::Auto | Family::Pooled | Family::Partition);
    let typed = [
        ("--backfill", wishes.backfill.is_some()),
        ("--empty-slots", wishes.empty_slots.is_some()),
        ("--route", wishes.route.is_some()),
        ("--switching-rate", wishes.switching_rate.is_some()),
        ("--explain", wishes.explain),
        (
            "this --family",
            wishes.family.is_some_and(|family| !is_of_fleets(family)),
        ),
    ];
    match typed.iter().find(|(_, typed)| *typed) {
        Some((name, _)) => Err(format!(
            "{name} goes with one server, and the workload is a fleet: leave it out, or take --family auto, pooled or partition"
        )),
        None => Ok(()),
    }
}
