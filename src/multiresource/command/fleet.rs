//! The policy of a fleet.

use super::hear_doing;
use super::wishes::{Family, Wishes};
use crate::kind::{Answer, Caller, Given};
use crate::multiresource::artifact::{Multiresource, Preemption};
use crate::multiresource::report;
use crate::multiresource::verbs::{self, Doing};
use crate::multiresource::workload::Fleet;

/// Makes a rule over all servers.
pub fn synthesize(
    fleet: &Fleet,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    goes_with_a_fleet(wishes)?;
    // Rules over all servers stop nothing.
    let preempts = wishes.preemption != Preemption::None;
    let mut wishes = wishes.clone();
    (wishes.preemption, wishes.setup_rate) = (Preemption::None, None);
    let request = wishes.request(fleet.envelope(), caller)?;
    let hears = |step: Doing| hear_doing(&step, caller);
    let answer = verbs::synthesize_pooled(fleet, &request, hears)?;
    Ok(match answer {
        verbs::Answer::Policy(synthesis) => Answer::Policy {
            summary: report::pooled(fleet, &synthesis, caller.width)
                + if preempts { STOPS_NOTHING } else { "" },
            documents: wishes.documents(&synthesis.log)?,
            artifact: Box::new(synthesis.synthesis.artifact),
        },
        verbs::Answer::Refused(refusal) => Answer::Refused {
            why: report::fleet_refusal(fleet, &refusal, caller.width),
            decided: refusal.decided,
        },
        verbs::Answer::Broken(why) => Answer::Refused { why, decided: true },
    })
}

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
