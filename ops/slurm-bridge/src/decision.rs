//! The policy that decides, and its decisions.

use std::error::Error;
use std::time::Instant;

use super::changes::Changes;
use super::journal::{JournalRound, decide};
use super::setup::Setup;
use super::watch::Watch;
use super::{TypeMap, bridgeable};
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::LearnedRuntimes;
use synth_multiresource::workload::Fleet;
use synth_operator::protocol::Line;
use synth_operator::{Scheduler, read_policy, second_of};

/// A policy with its scheduler, and the cluster as it sees it.
pub(super) struct ActivePolicy {
    policy: Checked,
    pub digest: String,
    pub scheduler: Scheduler,
    /// What the scheduler began with, where it is not what the policy file says.
    pub learned: Option<LearnedRuntimes>,
    pub watch: Watch,
    /// Seconds in the policy's unit of time.
    pub second: f64,
}

impl ActivePolicy {
    /// Reads the policy and the types of Slurm's jobs; refuses what a bridge cannot carry out.
    pub fn read(setup: &Setup) -> Result<Self, Box<dyn Error>> {
        let (policy, digest) = read_policy(&setup.policy, setup.changes)?;
        bridgeable(&policy)?;
        let second = second_of(policy.workload())?;
        let mut map = TypeMap::new(&policy, setup.types.as_deref())?;
        map.is_pooled = setup.pool;
        let scheduler = Scheduler::new(&policy, setup.seed);
        let mut watch = Watch::new(map, setup, policy.workload(), second);
        watch.is_by_job = scheduler.learned().is_some();
        Ok(ActivePolicy {
            digest,
            scheduler,
            learned: None,
            watch,
            policy,
            second,
        })
    }

    pub fn fleet(&self) -> &Fleet {
        self.policy.workload()
    }

    /// Begins with what was learned before under the policy of this digest: a policy file that has learned itself,
    /// and is another one, knows better.
    pub fn begin_with(&mut self, learned: Option<(LearnedRuntimes, String)>) {
        let mut family = self.policy.artifact().policy.clone();
        let learns = family.by_jobs();
        let knows_nothing = learns.map(|own| own.learned == LearnedRuntimes::default());
        let learned = learned
            .filter(|(_, of)| knows_nothing.is_some_and(|nothing| nothing || *of == self.digest));
        self.learned = learned.map(|(learned, _)| learned);
        let seed = self.watch.setup.seed;
        self.scheduler = Scheduler::with_learned(&self.policy, seed, self.learned.as_ref());
    }

    /// Starts the scheduler anew, without jobs, with what it has learned.
    pub fn restart(&mut self) {
        let learned = self.scheduler.learned();
        self.begin_with(learned.map(|own| (own, self.digest.clone())));
    }

    /// Sends what was found to the scheduler; returns its decisions, and whether it accepted every line. `start` is
    /// when the round began without Slurm.
    pub fn decide(
        &mut self,
        found: &mut Changes,
        now: f64,
        start: Instant,
    ) -> (JournalRound, bool) {
        let t = now / self.second;
        let mut round = JournalRound {
            t,
            began: std::mem::take(&mut found.began),
            ..JournalRound::default()
        };
        let mut is_sound = true;
        let mut lines = std::mem::take(&mut found.lines);
        lines.sort_by_key(|(order, _)| *order);
        // What came together is decided on together.
        let last = lines.len().saturating_sub(1);
        let lines = lines.into_iter().enumerate().map(|(n, (_, line))| Line {
            more: n < last,
            ..line
        });
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
