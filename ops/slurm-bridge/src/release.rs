//! What was decided, carried out: jobs released, held and sent to nodes.

use super::BridgeError;
use super::changes::Changes;
use super::decision::ActivePolicy;
use super::journal::{JournalRound, key_of};
use super::setup::HoldBy;
use super::watch::Sent;
use synth_slurm::commands::{ActionRefusal, Hold, JobId, Slurm, Why};

/// Carries out what was found and decided now. Whatever fails on the way, the queue will show it as held, and the rule
/// gets to know of it.
pub(super) fn act(
    slurm: &Slurm,
    active: &mut ActivePolicy,
    (found, round, now): (&Changes, &JournalRound, f64),
    say: &mut dyn FnMut(&str),
) -> Result<(), BridgeError> {
    let starts = round.start.iter().filter_map(|start| {
        let key = key_of(start.id())?;
        let sent = active.watch.release(key, start.servers(), now)?;
        Some((key.id, sent))
    });
    let starts: Vec<(JobId, Sent)> = starts.collect();
    refused(&slurm.hold(&found.hold)?, say)?;
    refused(&slurm.release(&found.pass)?, say)?;
    let again = match active.watch.setup.hold {
        HoldBy::Admin => slurm.hold(&found.give_up)?,
        HoldBy::User => slurm.hold_for_users(&found.give_up)?,
    };
    refused(&again, say)?;
    for (job, (nodes, cpus)) in starts.iter().filter(|(_, (nodes, _))| !nodes.is_empty()) {
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        refused(&slurm.place(*job, &nodes, *cpus)?, say)?;
    }
    let jobs: Vec<JobId> = starts.iter().map(|(job, _)| *job).collect();
    refused(&slurm.release(&jobs)?, say)
}

/// Jobs that were not released: where nobody is let, it ends.
fn refused(refusals: &[ActionRefusal], say: &mut dyn FnMut(&str)) -> Result<(), BridgeError> {
    for ActionRefusal { id, why, text } in refusals {
        match why {
            Why::NoRight => {
                return Err(BridgeError::Refused(format!(
                    "Slurm does not let this user release job {id}: {text}. Run the bridge as SlurmUser or root, or as an operator (`sacctmgr modify user NAME set adminlevel=operator`)"
                )));
            }
            // The queue will tell.
            Why::Gone => {}
            Why::Other => say(&format!("warning: job {id}: {text}")),
        }
    }
    Ok(())
}

/// Releases all held jobs of a partition; says how many, and how many only an operator's hold keeps.
///
/// # Errors
/// When Slurm does not answer, or does not let this user.
pub fn release_all(slurm: &Slurm, hold: HoldBy) -> Result<String, BridgeError> {
    let queue = slurm.queue()?;
    let mut jobs: Vec<JobId> = Vec::new();
    let mut remaining = 0;
    for row in &queue.rows {
        match row.hold {
            Hold::Admin if hold == HoldBy::User => remaining += 1,
            Hold::User | Hold::Admin => jobs.push(row.key.id),
            Hold::None | Hold::Other => {}
        }
    }
    refused(&slurm.release(&jobs)?, &mut |_| ())?;
    let released = format!("{} held jobs are released", jobs.len());
    Ok(match remaining {
        0 => released,
        _ => format!(
            "{released}; {remaining} are held by an operator: --hold admin releases them, too"
        ),
    })
}
