//! What was decided, carried out: jobs released, held and sent to nodes.

use std::fmt;

use super::BridgeError;
use super::journal::Round;
use super::run::Bridge;
use super::setup::HoldBy;
use super::watch::{Found, key_of};
use crate::multiresource::live::protocol::Started;
use crate::slurm::{Hold, JobId, Refusal, Slurm, SlurmError, Why};

impl Bridge {
    /// Carries out what was found and decided. Whatever fails on the way, the queue will show it as held, and the rule
    /// hears of it.
    pub(super) fn act(
        &mut self,
        found: &Found,
        round: &Round,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), BridgeError> {
        if self.setup.dry_run {
            return Ok(());
        }
        let now = self.now();
        let keys = round.start.iter().map(|start| (key_of(start.id()), start));
        let starts: Vec<(JobId, &Started)> = keys
            .filter_map(|(key, start)| {
                let key = key.filter(|key| self.watch.release(*key, now))?;
                Some((key.id, start))
            })
            .collect();
        self.each(&found.hold, say, Slurm::hold)?;
        self.each(&found.pass, say, Slurm::release)?;
        match self.setup.hold {
            HoldBy::Admin => self.each(&found.give_up, say, Slurm::hold)?,
            HoldBy::User => self.each(&found.give_up, say, Slurm::hold_for_users)?,
        }
        for (job, start) in &starts {
            let name = start.servers().first();
            let server = name.and_then(|name| self.rule.scheduler.places().server(name));
            if let Some(node) = server.and_then(|n| self.watch.map.servers.node(n)) {
                refused(&self.slurm.place(*job, Some(node))?, say)?;
            }
        }
        let jobs: Vec<JobId> = starts.iter().map(|(job, _)| *job).collect();
        self.each(&jobs, say, Slurm::release)
    }

    fn each(
        &self,
        jobs: &[JobId],
        say: &mut dyn FnMut(&str),
        act: impl Fn(&Slurm, &[JobId]) -> Result<Vec<Refusal>, SlurmError>,
    ) -> Result<(), BridgeError> {
        for some in jobs.chunks(Slurm::MOST_JOBS) {
            refused(&act(&self.slurm, some)?, say)?;
        }
        Ok(())
    }
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

/// How many held jobs were released, and how many only an operator's hold keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Released.
    pub released: usize,
    /// Still held by an operator.
    pub kept: usize,
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} held jobs are released", self.released)?;
        match self.kept {
            0 => Ok(()),
            kept => write!(
                f,
                "; {kept} are held by an operator: --hold admin releases them, too"
            ),
        }
    }
}

/// Releases all held jobs of a partition.
///
/// # Errors
/// When Slurm does not answer, or does not let this user.
pub fn release_all(slurm: &Slurm, hold: HoldBy) -> Result<Opened, BridgeError> {
    let queue = slurm.queue()?;
    let held = |by: Hold| queue.rows.iter().filter(move |row| row.hold == by);
    let operators = held(Hold::Admin).map(|row| row.key.id);
    let mut jobs: Vec<JobId> = held(Hold::User).map(|row| row.key.id).collect();
    let kept = match hold {
        HoldBy::Admin => {
            jobs.extend(operators);
            0
        }
        HoldBy::User => operators.count(),
    };
    for some in jobs.chunks(Slurm::MOST_JOBS) {
        refused(&slurm.release(some)?, &mut |_| ())?;
    }
    Ok(Opened {
        released: jobs.len(),
        kept,
    })
}
