//! The policy of a fleet.

use super::boxed;
use super::names::{Balance, Family};
use super::synthesize::Wishes;
use crate::kind::{Answer, Caller, Given, Word};
use crate::multiresource::artifact::Multiresource;
use crate::multiresource::report;
use crate::multiresource::verbs::{self, FleetAnswer};
use crate::multiresource::workload::Fleet;

/// Makes a policy for all servers.
pub fn synthesize(
    fleet: &Fleet,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    only_msr(wishes)?;
    caller.hear(Word::Doing("solving the program of the fleet"));
    let answer = verbs::synthesize_fleet(fleet, &wishes.options()?).map_err(boxed)?;
    Ok(match answer {
        FleetAnswer::Policy(made) => {
            let told = report::fleet(fleet, &made, caller.width);
            Answer::Policy(Box::new(made.synthesis.artifact), told)
        }
        FleetAnswer::Refused(refusal) => Answer::Refused {
            why: report::fleet_refusal(fleet, &refusal, caller.width),
            decided: refusal.decided,
        },
    })
}

/// Refuses options of other families than msr, which the servers of a fleet do not run.
fn only_msr(wishes: &Wishes) -> Result<(), String> {
    if !matches!(wishes.family, None | Some(Family::Msr)) {
        return Err(
            "the servers of a fleet run policies of the family msr only, so far: leave --family out"
                .into(),
        );
    }
    let typed = [
        ("--cycle", wishes.cycle.is_some()),
        ("--thresholds", wishes.thresholds.is_some()),
        ("--max-slowdown-ratio", wishes.max_slowdown_ratio.is_some()),
        ("--explain", wishes.explain),
        ("--balance", wishes.balance != Balance::Load),
        ("--weights", wishes.weights.is_some()),
    ];
    match typed.iter().find(|(_, typed)| *typed) {
        Some((name, _)) => Err(format!(
            "{name} goes with one server, and the workload is a fleet: leave it out"
        )),
        None => Ok(()),
    }
}
