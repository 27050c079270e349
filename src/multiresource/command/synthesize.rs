//! What is typed to make a policy → the request to the library → the answer in words.

use super::hear_doing;
use super::wishes::{Family, Wishes};
use crate::kind::{Answer, Caller, Given};
use crate::multiresource::artifact::{Multiresource, Objective};
use crate::multiresource::report;
use crate::multiresource::synthesis::{self, MsfqOutlook};
use crate::multiresource::verbs::{self, Doing, How};
use crate::multiresource::workload::{Described, Workload};

/// Makes a policy.
pub fn synthesize(
    workload: &Described,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    match workload {
        Described::Fleet(fleet) if !fleet.is_one_server() => {
            super::fleet::synthesize(fleet, wishes, caller)
        }
        _ if matches!(wishes.family, Some(Family::Partition | Family::Pooled)) => {
            Err(super::OVER_A_FLEET.into())
        }
        Described::Fleet(fleet) => server(fleet.envelope(), wishes, caller),
        Described::Server(workload) => server(workload, wishes, caller),
    }
}

fn server(
    workload: &Workload,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    let request = wishes.request(workload, caller)?;
    let objective = request.options.objective;
    let hears = |step: Doing| hear_doing(&step, caller);
    let made = match verbs::synthesize(workload, &request, hears)? {
        verbs::Answer::Policy(made) => made,
        verbs::Answer::Refused(refusal) => {
            return Ok(Answer::Refused {
                why: report::refusal(workload, &refusal, caller.width),
                decided: refusal.decided,
            });
        }
        verbs::Answer::Broken(why) => return Ok(Answer::Refused { why, decided: true }),
    };
    let mut told = report::made(workload, &made, caller.width);
    if wishes.explain {
        if let How::Analysed(analysed) = &made.how {
            let bounds = synthesis::paper_bounds(workload, &analysed.policy)?;
            let table =
                report::explain(workload, (&made.artifact, &made.log), &bounds, caller.width);
            told = told + "\n" + &table;
        }
        told += &thresholds(workload, objective, caller.width);
    }
    Ok(Answer::Policy {
        documents: wishes.documents(&made.log)?,
        artifact: Box::new(made.artifact),
        summary: told,
    })
}

/// The exact means of MSFQ, where it is for this workload: they wait for no simulation.
fn thresholds(workload: &Workload, objective: Objective, width: usize) -> String {
    let outlook = MsfqOutlook::new(workload, objective);
    outlook.map_or(String::new(), |outlook| {
        report::thresholds(workload, &outlook, width)
    })
}
