//! What is typed to make a policy → the request to the library → the answer in words.

use super::progress;
use super::synthesis_args::{Family, SynthesisArgs};
use crate::kind::{Answer, Caller, VerbResult};
use crate::multiresource::artifact::{Multiresource, Preemption};
use crate::multiresource::report;
use crate::multiresource::synthesis::{self, MsfqOutlook};
use crate::multiresource::verbs::{self, How};
use crate::multiresource::workload::Fleet;

/// Makes a policy.
pub fn synthesize(
    fleet: &Fleet,
    args: &SynthesisArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<Answer<Multiresource>> {
    let mut args = args.clone();
    let mut stops_nothing = "";
    if fleet.is_one_server() {
        if matches!(args.family, Some(Family::Partition | Family::Pooled)) {
            return Err(OVER_A_FLEET.into());
        }
    } else {
        goes_with_a_fleet(&args)?;
        // Rules over all servers stop nothing.
        if args.preemption != Preemption::None {
            stops_nothing = STOPS_NOTHING;
        }
        (args.preemption, args.setup_rate) = (Preemption::None, None);
    }
    let workload = fleet.envelope();
    let request = args.request(workload, caller)?;
    let objective = request.options.objective;
    let answer = verbs::synthesize(fleet, &request, &mut progress(caller))?;
    let synthesized = match answer {
        verbs::Answer::Policy(synthesized) => synthesized,
        verbs::Answer::Refused(overload, upgrades) => {
            return Ok(Answer::Refused {
                why: report::refusal(fleet, &overload, &upgrades, caller.width),
                decided: overload.decided,
            });
        }
        verbs::Answer::Broken(why) => return Ok(Answer::Refused { why, decided: true }),
    };
    let mut summary = report::synthesis(fleet, &synthesized, caller.width) + stops_nothing;
    if args.explain {
        if let How::Analysed(analysed) = &synthesized.how {
            let bounds = synthesis::paper_bounds(workload, &analysed.policy)?;
            let found = (&analysed.artifact, &synthesized.log);
            summary += "\n";
            summary += &report::explain(workload, found, &bounds, caller.width);
        }
        // The exact means of MSFQ, where it is for this workload: they wait for no simulation.
        if let Some(outlook) = MsfqOutlook::new(workload, objective) {
            summary += &report::thresholds(workload, &outlook, caller.width);
        }
    }
    Ok(Answer::Policy {
        documents: args.documents(&synthesized.log)?,
        artifact: Box::new(synthesized.artifact().clone()),
        summary,
    })
}

const OVER_A_FLEET: &str =
    "this family is a rule over a fleet, and here is one server: take another --family";

/// Where preemption was asked for.
const STOPS_NOTHING: &str = "\nNo job is stopped: rules over a fleet do not preempt.\n";

/// Refuses options that are about one server.
fn goes_with_a_fleet(args: &SynthesisArgs) -> Result<(), String> {
    use Family::{Auto, Partition, Pooled};
    let typed = [
        ("--backfill", args.backfill.is_some()),
        ("--empty-slots", args.empty_slots.is_some()),
        ("--route", args.route.is_some()),
        ("--switching-rate", args.switching_rate.is_some()),
        ("--explain", args.explain),
        (
            "this --family",
            !matches!(args.family, None | Some(Auto | Pooled | Partition)),
        ),
    ];
    match typed.iter().find(|(_, typed)| *typed) {
        Some((name, _)) => Err(format!(
            "{name} goes with one server, and the workload is a fleet: leave it out, or take --family auto, pooled or partition"
        )),
        None => Ok(()),
    }
}
