//! The policy that decides, and its decisions.

use std::error::Error;
use std::time::Instant;

use super::journal::{Round, decide};
use super::setup::Setup;
use super::watch::{Changes, Watch};
use super::{TypeMap, bridgeable};
use synth_cluster::artifact::Checked;
use synth_cluster::live::protocol::Line;
use synth_cluster::live::{Places, Scheduler};
use synth_cluster::workload::Fleet;
use synth_core::document::{digest, text_of};
use synth_core::number::seconds_in;

/// A policy with its scheduler, and the cluster as it sees it.
pub(super) struct ActivePolicy {
    policy: Checked,
    pub digest: String,
    pub scheduler: Scheduler,
    pub watch: Watch,
    /// Seconds in the policy's unit of time.
    pub second: f64,
}

impl ActivePolicy {
    /// Reads the policy and the types of Slurm's jobs; refuses what a bridge cannot carry out.
    pub fn read(setup: &Setup) -> Result<Self, Box<dyn Error>> {
        let path = setup.policy.display().to_string();
        let text = text_of(&setup.policy).map_err(|why| format!("cannot read {path}: {why}"))?;
        let policy = Checked::parse_with(&text, &path, setup.changes)?;
        bridgeable(&policy)?;
        let unit = policy.workload().time_unit();
        let second = seconds_in(unit).ok_or_else(|| {
            format!(
                "the policy counts time in `{unit}`, and it is not known how long that is: write the workload in s, min, h or d"
            )
        })?;
        let map = TypeMap::new(&policy, setup.types.as_deref())?;
        Ok(ActivePolicy {
            digest: digest(&text),
            scheduler: Scheduler::new(&policy, setup.seed),
            watch: Watch::new(map, setup, Places::new(policy.workload()), second),
            policy,
            second,
        })
    }

    pub fn fleet(&self) -> &Fleet {
        self.policy.workload()
    }

    /// Starts the scheduler anew, without jobs.
    pub fn restart(&mut self, setup: &Setup) {
        self.scheduler = Scheduler::new(&self.policy, setup.seed);
    }

    /// Sends what was found to the scheduler; returns its decisions, and whether it accepted every line. `start` is
    /// when the round began without Slurm.
    pub fn decide(&mut self, found: &mut Changes, now: f64, start: Instant) -> (Round, bool) {
        let t = now / self.second;
        let mut round = Round {
            t,
            began: std::mem::take(&mut found.began),
            ..Round::default()
        };
        let mut is_sound = true;
        let mut lines = std::mem::take(&mut found.lines);
        lines.sort_by_key(|(order, _)| *order);
        let lines = lines.into_iter().map(|(_, line)| line);
        // Behind all that was read stands the time alone, where clocks are due.
        for line in lines.chain([Line::default()]) {
            let is_clock = line == Line::default();
            let mut line = Line { t, ..line };
            let is_due = self.scheduler.wake().is_some_and(|wake| wake <= t);
            if is_clock && self.scheduler.has_begun() && !is_due {
                continue;
            }
            // A line before this one may have started it: then it leaves.
            if let Some(id) = line.withdraw.take_if(|id| self.scheduler.runs(id)) {
                line.leave = Some(id);
            }
            match decide(&mut self.scheduler, &line) {
                Ok(starts) => round.start.extend(starts),
                Err(why) => {
                    found.notes.push(format!("warning: {why}"));
                    is_sound = false;
                    continue;
                }
            }
            round.reported.push(line);
        }
        round.ms = start.elapsed().as_secs_f64() * 1e3;
        (round, is_sound)
    }
}
