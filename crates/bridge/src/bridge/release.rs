//! What was decided, carried out: jobs released, held and sent to nodes.

use super::BridgeError;
use super::decision::ActivePolicy;
use super::journal::Round;
use super::setup::{HoldBy, Setup};
use super::watch::{Found, key_of};
use crate::slurm::{Hold, JobId, Refusal, Slurm, SlurmError, Why};
use synth_cluster::live::protocol::Started;

/// Carries out what was found and decided now. Whatever fails on the way, the queue will show it as held, and the rule
/// gets to know of it.
pub(super) fn act(
    slurm: &Slurm,
    setup: &Setup,
    active: &mut ActivePolicy,
    (found, round, now): (&Found, &Round, f64),
    say: &mut dyn FnMut(&str),
) -> Result<(), BridgeError> {
    let starts = round.start.iter().filter_map(|start| {
        let key = key_of(start.id()).filter(|key| active.watch.release(*key, now))?;
        Some((key.id, start))
    });
    let starts: Vec<(JobId, &Started)> = starts.collect();
    each(slurm, &found.hold, say, Slurm::hold)?;
    each(slurm, &found.pass, say, Slurm::release)?;
    let hold = match setup.hold {
        HoldBy::Admin => Slurm::hold,
        HoldBy::User => Slurm::hold_for_users,
    };
    each(slurm, &found.give_up, say, hold)?;
    for (job, start) in &starts {
        let name = start.servers().first();
        let server = name.and_then(|name| active.scheduler.places().server(name));
        if let Some(node) = server.and_then(|n| active.watch.map.servers.node(n)) {
            refused(&slurm.place(*job, Some(node))?, say)?;
        }
    }
    let jobs: Vec<JobId> = starts.iter().map(|(job, _)| *job).collect();
    each(slurm, &jobs, say, Slurm::release)
}

/// Does something to jobs, as many at once as Slurm takes.
fn each(
    slurm: &Slurm,
    jobs: &[JobId],
    say: &mut dyn FnMut(&str),
    act: impl Fn(&Slurm, &[JobId]) -> Result<Vec<Refusal>, SlurmError>,
) -> Result<(), BridgeError> {
    for some in jobs.chunks(Slurm::MOST_JOBS) {
        refused(&act(slurm, some)?, say)?;
    }
    Ok(())
}

/// Jobs that were not released: where nobody is let, it ends.
fn refused(refusals: &[Refusal], say: &mut dyn FnMut(&str)) -> Result<(), BridgeError> {
    for Refusal { id, why, text } in refusals {
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
    let held = |by: Hold| queue.rows.iter().filter(move |row| row.hold == by);
    let mut jobs: Vec<JobId> = held(Hold::User).map(|row| row.key.id).collect();
    let mut kept = held(Hold::Admin).count();
    if hold == HoldBy::Admin {
        jobs.extend(held(Hold::Admin).map(|row| row.key.id));
        kept = 0;
    }
    each(slurm, &jobs, &mut |_| (), Slurm::release)?;
    let released = format!("{} held jobs are released", jobs.len());
    Ok(match kept {
        0 => released,
        _ => format!("{released}; {kept} are held by an operator: --hold admin releases them, too"),
    })
}
