//! What is typed to make a policy → the request to the library → the answer in words.

use super::renewal::Earlier;
use super::wishes::Wishes;
use super::{boxed, doing};
use crate::kind::{Answer, Caller, Given, Word};
use crate::multiresource::artifact::Multiresource;
use crate::multiresource::report;
use crate::multiresource::synthesis::{self, MsfqOutlook, Options};
use crate::multiresource::verbs::{self, Doing, How, Made};
use crate::multiresource::workload::{Described, Workload};

/// Makes a policy.
pub fn synthesize(
    workload: &Described,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    let earlier = wishes.from.as_deref().map(Earlier::read).transpose()?;
    let wishes = &match &earlier {
        Some(earlier) => earlier.complete(wishes.clone()),
        None => wishes.clone(),
    };
    match workload {
        Described::Fleet(_) if earlier.is_some() => {
            Err("--from is for one server: leave it out for a fleet".into())
        }
        Described::Fleet(fleet) => super::fleet::synthesize(fleet, wishes, caller),
        Described::Server(workload) => server(workload, wishes, earlier.as_ref(), caller),
    }
}

fn server(
    workload: &Workload,
    wishes: &Wishes,
    earlier: Option<&Earlier>,
    caller: &mut Caller<'_>,
) -> Given<Answer<Multiresource>> {
    let mut request = wishes.request(workload, caller)?;
    if let Some(earlier) = earlier {
        request.options.known = verbs::known(&earlier.artifact, workload);
    }
    let hears = |step: Doing<'_>| {
        if !matches!(step, Doing::Program) {
            caller.hear(Word::Interruptible);
        }
        if let Doing::Analysed(made, schedules) = step {
            let told = report::at_once(workload, made, schedules, caller.width);
            caller.hear(Word::Known(&told));
        }
        caller.hear(Word::Doing(&doing(&step)));
    };
    let made = match verbs::synthesize(workload, &request, hears).map_err(boxed)? {
        verbs::Answer::Policy(made) => made,
        verbs::Answer::Refused(refusal) => {
            return Ok(Answer::Refused {
                why: report::refusal(workload, &refusal, caller.width),
                decided: refusal.decided,
            });
        }
        verbs::Answer::Interrupted => return Ok(Answer::Interrupted),
    };
    let mut told = report::made(workload, &made, caller.width);
    if let Some(earlier) = earlier {
        let changes = verbs::changes(&earlier.artifact, &made.artifact);
        told = told + "\n" + &report::changes(&changes);
    }
    if wishes.explain {
        told += &explained(workload, &made, &request.options, caller.width)?;
    }
    Ok(Answer::Policy(Box::new(made.artifact), told))
}

/// The quantities of the paper that the family is from.
fn explained(workload: &Workload, made: &Made, options: &Options, width: usize) -> Given<String> {
    Ok(match &made.how {
        How::Analysed(analysed) => {
            let bounds = synthesis::paper_bounds(workload, &analysed.policy)?;
            let table = report::explain(workload, &made.artifact, &bounds, width);
            format!("\n{table}")
        }
        How::Chosen(..) => match MsfqOutlook::new(workload, options.objective) {
            Some(outlook) => format!("\n{}", report::thresholds(workload, &outlook, width)),
            None => String::new(),
        },
    })
}
