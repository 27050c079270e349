//! The policy of a fleet.

use super::hear_doing;
use super::wishes::{Family, Queue, Wishes};
use crate::kind::{Answer, Caller, Given};
use crate::multiresource::artifact::{Multiresource, Objective, Preemption};
use crate::multiresource::report;
use crate::multiresource::verbs::VerbError;
use crate::multiresource::verbs::{self, Doing, FleetAnswer};
use crate::multiresource::workload::Fleet;

/// Makes a policy for all servers.
pub fn synthesize(
    fleet: &Fleet,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    let is_global = wishes.queue()? == Queue::Global;
    let of_servers = matches!(wishes.family, None | Some(Family::Auto));
    match (is_global, fleet.is_one_server()) {
        (true, false) => return pooled(fleet, wishes, caller),
        (true, true) if !of_servers => return Err(super::OVER_A_FLEET.into()),
        _ => {}
    }
    if let Some(gang) = fleet.gangs().next() {
        return Err(format!(
            "jobs of type `{}` take {} servers at once and wait in one place, where families are auto, pooled and partition: leave out what asks for another family, route, rate or queue",
            gang.name(),
            gang.nodes()
        )
        .into());
    }
    goes_with_fleets(wishes)?;
    let request = wishes.request(fleet.envelope(), caller)?;
    let hears = |step: Doing| hear_doing(&step, caller);
    let answer = verbs::synthesize_fleet(fleet, &request, hears).map_err(VerbError::boxed)?;
    Ok(told(fleet, answer, caller.width, |made| Answer::Policy {
        summary: report::fleet(fleet, &made, caller.width),
        artifact: Box::new(made.synthesis.artifact),
    }))
}

/// The answer in words, of which `policy` has those of a policy.
fn told<M>(
    fleet: &Fleet,
    answer: FleetAnswer<M>,
    width: usize,
    policy: impl FnOnce(M) -> Answer<Multiresource>,
) -> Answer<Multiresource> {
    match answer {
        verbs::Answer::Policy(made) => policy(*made),
        verbs::Answer::Refused(refusal) => Answer::Refused {
            why: report::fleet_refusal(fleet, &refusal, width),
            decided: refusal.decided,
        },
        verbs::Answer::Broken(why) => Answer::Refused { why, decided: true },
    }
}

/// Makes a rule over all servers.
fn pooled(fleet: &Fleet, wishes: &Wishes, caller: &mut Caller<'_>) -> Given<Answer<Multiresource>> {
    goes_with_a_queue(fleet, wishes)?;
    // Rules over all servers stop nothing.
    let could_stop = wishes.preemption != Preemption::None;
    let mut wishes = wishes.clone();
    (wishes.preemption, wishes.setup_rate) = (Preemption::None, None);
    let request = wishes.request(fleet.envelope(), caller)?;
    let hears = |step: Doing| hear_doing(&step, caller);
    let answer = verbs::synthesize_pooled(fleet, &request, hears).map_err(VerbError::boxed)?;
    Ok(told(fleet, answer, caller.width, |made| {
        let mut summary = report::pooled(fleet, &made, caller.width);
        if could_stop && fleet.gangs().next().is_none() {
            summary += STOPS_NOTHING;
        }
        Answer::Policy {
            summary,
            artifact: Box::new(made.synthesis.artifact),
        }
    }))
}

/// Where preemption was asked for.
const STOPS_NOTHING: &str = "
No job is stopped: rules that stop jobs are for single servers, to which jobs are sent when they arrive; with
--queue servers they are made
";

/// Refuses options that are about rules of single servers.
fn goes_with_a_queue(fleet: &Fleet, wishes: &Wishes) -> Result<(), String> {
    let typed = [
        ("--backfill", wishes.backfill.is_some()),
        ("--empty-slots", wishes.empty_slots.is_some()),
    ];
    match typed.iter().find(|(_, typed)| *typed) {
        Some((name, _)) if fleet.gangs().next().is_some() => Err(format!(
            "{name} goes with rules of single servers, and here jobs take several at once: leave it out"
        )),
        Some((name, _)) => Err(format!(
            "{name} goes with rules of single servers, to which jobs are sent when they arrive: add --queue servers, or leave it out"
        )),
        None => Ok(()),
    }
}

/// Refuses options that are about types or schedules of one server.
fn goes_with_fleets(wishes: &Wishes) -> Result<(), String> {
    let typed = [
        ("--slo", !wishes.slo.is_empty()),
        ("--objective p99", wishes.objective == Objective::P99),
        ("--explain", wishes.explain),
    ];
    match typed.iter().find(|(_, typed)| *typed) {
        Some((name, _)) => Err(format!(
            "{name} goes with one server, and the workload is a fleet: leave it out"
        )),
        None => Ok(()),
    }
}
