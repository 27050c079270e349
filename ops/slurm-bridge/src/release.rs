use super::setup::HoldBy;
use super::watch::{Changes, Placement};
use synth_slurm::commands::{ActionRefusal, Hold, JobId, RefusalKind, Slurm};
use synth_verb::{VerbResult, refuse};

/// Carries out the decisions of a round. If a command fails, the next queue shows this.
pub(super) fn act(
    slurm: &Slurm,
    hold: HoldBy,
    found: &Changes,
    starts: &[(JobId, Placement)],
    notes: &mut Vec<String>,
) -> VerbResult<()> {
    refused(&slurm.hold(&found.hold)?, notes)?;
    refused(&slurm.release(&found.pass)?, notes)?;
    let again = match hold {
        HoldBy::Admin => slurm.hold(&found.give_up)?,
        HoldBy::User => slurm.hold_for_users(&found.give_up)?,
    };
    refused(&again, notes)?;
    for (job, (nodes, cpus)) in starts.iter().filter(|(_, (nodes, _))| !nodes.is_empty()) {
        refused(&slurm.place(*job, nodes, *cpus)?, notes)?;
    }
    let jobs: Vec<JobId> = starts.iter().map(|(job, _)| *job).collect();
    refused(&slurm.release(&jobs)?, notes)
}

fn refused(refusals: &[ActionRefusal], notes: &mut Vec<String>) -> VerbResult<()> {
    for ActionRefusal { id, why, text } in refusals {
        match why {
            RefusalKind::NoRight => {
                return refuse(format!(
                    "Slurm does not allow this user to release job {id}: {text}. Run the bridge as SlurmUser or root, or as an operator (`sacctmgr modify user NAME set adminlevel=operator`)"
                ));
            }
            RefusalKind::Gone => {}
            RefusalKind::Other => notes.push(format!("warning: job {id}: {text}")),
        }
    }
    Ok(())
}

/// Releases all held jobs of the partition, except for jobs that require `--hold admin`.
pub(crate) fn release_all(slurm: &Slurm, hold: HoldBy) -> VerbResult<String> {
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
    refused(&slurm.release(&jobs)?, &mut Vec::new())?;
    let released = format!("released {} held jobs", jobs.len());
    Ok(match remaining {
        0 => released,
        _ => format!(
            "{released}; {remaining} more jobs are held by an operator (use --hold admin to release them)"
        ),
    })
}
