//! The rounds of a bridge: read, compare, decide, release.

use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::BridgeError;
use super::changes::Changes;
use super::decision::ActivePolicy;
use super::journal::{Head, Journal, JournalRecord, JournalRound, key_of};
use super::lock::locked;
use super::measured::Measured;
use super::metrics::{self, Metrics};
use super::release::{act, release_all};
use super::setup::{OnExit, Setup};
use super::survey::{Survey, obstacle, plan};
use synth_operator::HostMoment;
use synth_slurm::commands::{Hold, Nodes, Slurm, SlurmCluster, SlurmError, SlurmQueue};

/// Flags that signals set while a bridge runs.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// To end.
    pub end: Arc<AtomicBool>,
    /// To read the policy again.
    pub reload: Arc<AtomicBool>,
    /// To hold jobs again that were released and do not start.
    pub give_up: Arc<AtomicBool>,
}

/// After a round that failed the next one waits twice as long, up to this time.
const LONGEST: Duration = Duration::from_secs(10);

/// Nodes are read this often at least, and where jobs are held the controller's start time as often.
const NODES: Duration = Duration::from_secs(1);
const BOOTED: Duration = Duration::from_secs(10);

/// What was measured is said in the log this often.
const TELL: Duration = Duration::from_secs(3600);

/// A bridge that runs.
pub struct Bridge {
    pub(super) slurm: Slurm,
    pub(super) setup: Setup,
    active: ActivePolicy,
    journal: Option<Journal>,
    measured: Measured,
    started: Instant,
    cluster: SlurmCluster,
    booted_read: Option<Instant>,
    nodes_read: Option<Instant>,
    settled: Instant,
    rounds: u64,
    metrics: Metrics,
    _lock: Option<File>,
}

impl Bridge {
    /// Looks at the cluster and takes the partition; nothing has been released yet.
    ///
    /// # Errors
    /// When the policy is refused or does not fit the cluster, Slurm does not answer, another bridge runs, or the journal
    /// cannot be written.
    pub fn begin(slurm: Slurm, setup: Setup) -> Result<Self, Box<dyn Error>> {
        let active = ActivePolicy::read(&setup)?;
        let (cluster, nodes) = slurm.site()?;
        active.watch.map.check_nodes(&nodes.rows, setup.pool)?;
        // Beside a bridge that runs another policy may be tried.
        let lock = if setup.dry_run {
            None
        } else {
            Some(locked(&cluster.name, &slurm.partition)?)
        };
        let now = Instant::now();
        let mut bridge = Bridge {
            measured: Measured::new(active.fleet().types().len(), 0.0),
            active,
            cluster,
            slurm,
            setup,
            journal: None,
            started: now,
            booted_read: Some(now),
            nodes_read: None,
            settled: now,
            rounds: 0,
            metrics: Metrics::default(),
            _lock: lock,
        };
        bridge.open_journal()?;
        Ok(bridge)
    }

    fn open_journal(&mut self) -> Result<(), String> {
        let Some(path) = self.setup.journal.clone().filter(|_| !self.setup.dry_run) else {
            return Ok(());
        };
        let begun = Journal::open(&path).and_then(|mut journal| {
            let before = std::mem::take(&mut journal.before);
            self.active.watch.placed = before.placed;
            self.active.begin_with(before.learned);
            let failed = journal.write(&JournalRecord::Head(self.head()));
            failed.map_or(Ok(journal), Err)
        });
        let unwritten = |why| {
            let path = path.display();
            format!("cannot write the journal {path}: {why}; choose another place by --journal")
        };
        self.journal = Some(begun.map_err(unwritten)?);
        Ok(())
    }

    /// Returns which policy decides.
    fn head(&self) -> Head {
        Head {
            policy: self.setup.policy.display().to_string(),
            digest: self.active.digest.clone(),
            cluster: self.cluster.name.clone(),
            partition: self.slurm.partition.clone(),
            time_unit: self.active.fleet().time_unit().into(),
            seed: self.setup.seed,
            learned: self.active.learned.clone(),
        }
    }

    /// Returns what it is about to do, for the one who started it.
    pub fn announced(&self) -> String {
        let names = self.active.watch.map.resources.names();
        let names = names.map(|(name, source)| format!("{name} = {}", source.written()));
        let names: Vec<String> = names.collect();
        format!(
            "partition {} of {}: {} decides; {}",
            self.slurm.partition,
            self.cluster.name,
            self.setup.policy.display(),
            names.join(", ")
        )
    }

    /// Round after round, until a signal ends it; `say` is called with what a person should know.
    ///
    /// # Errors
    /// When whoever runs it may not release jobs.
    pub fn run(&mut self, signals: &Signals, say: &mut dyn FnMut(&str)) -> Result<(), BridgeError> {
        let mut pause = self.poll();
        let mut reported = Instant::now();
        while !signals.end.load(Ordering::Relaxed) && !self.is_over() {
            if signals.reload.swap(false, Ordering::Relaxed) {
                match self.reload(say) {
                    Err(BridgeError::Slurm(why)) => say(&format!("warning: {why}")),
                    other => other?,
                }
            }
            let gives_up = signals.give_up.swap(false, Ordering::Relaxed);
            match self.round(gives_up, say) {
                Ok(()) => pause = self.poll(),
                Err(BridgeError::Slurm(why)) => {
                    self.metrics.failed += 1;
                    say(&format!(
                        "warning: {why}; nothing is concluded, and the next round waits {:.1} s",
                        pause.as_secs_f64()
                    ));
                    // It may be another controller that answers next.
                    self.booted_read = None;
                    self.pause(pause, signals);
                    pause = (2 * pause).min(LONGEST);
                    continue;
                }
                Err(other) => return Err(other),
            }
            if reported.elapsed() > TELL {
                reported = Instant::now();
                self.report_measured(say);
                self.note_learned(say);
            }
            self.pause(self.until_next(), signals);
        }
        self.report_measured(say);
        self.note_learned(say);
        if self.setup.on_exit == OnExit::Release {
            let released = release_all(&self.slurm, self.setup.hold)?;
            say(&format!("the gate is open: {released}"));
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let until = self.setup.until;
        until.is_some_and(|until| self.started.elapsed() >= until)
    }

    pub(super) fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn moment(&self) -> HostMoment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        HostMoment {
            now: self.now(),
            wall: since.map_or(0, |since| since.as_secs() as i64),
        }
    }

    /// Until the next round: the poll, or less where a clock rings before. One that is due already has its turn in a
    /// round.
    fn until_next(&self) -> Duration {
        let wake = self.active.scheduler.wake();
        let left = wake.map(|wake| wake * self.active.second - self.now());
        let left = left.filter(|left| *left > 0.0 && *left < self.poll().as_secs_f64());
        left.map_or(self.poll(), Duration::from_secs_f64)
    }

    /// Returns the time between rounds. Oftener is no use: Slurm takes longer to start a job.
    fn poll(&self) -> Duration {
        self.setup.poll.max(Duration::from_millis(50))
    }

    /// In pieces, so that a signal is heard.
    fn pause(&self, time: Duration, signals: &Signals) {
        let until = Instant::now() + time;
        while Instant::now() < until && !signals.end.load(Ordering::Relaxed) && !self.is_over() {
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn round(&mut self, gives_up: bool, say: &mut dyn FnMut(&str)) -> Result<(), BridgeError> {
        let queue = self.slurm.queue()?;
        let nodes = self.nodes()?;
        let holds = queue.rows.iter().any(|row| row.hold != Hold::None);
        if !self.has_settled(holds, say)? {
            return Ok(());
        }
        self.note_present(&queue)?;
        self.rounds += 1;
        let at = self.moment();
        if self.rounds == 1 {
            let survey = Survey::new(&self.active.watch, &queue);
            survey
                .note(self.setup.unknown)
                .into_iter()
                .for_each(|note| say(&note));
        }
        let start = Instant::now();
        let mut found = self.active.watch.look(&queue, nodes.as_ref(), at);
        let (mut round, is_sound) = self.active.decide(&mut found, at.now, start);
        if gives_up {
            found.give_up.extend(self.active.watch.give_up(at.now));
        }
        self.measure(&round, at.now);
        round.notes.clone_from(&found.notes);
        for note in &found.notes {
            say(note);
        }
        for (job, reason) in &found.stuck {
            say(&format!(
                "warning: job {job} was released {:.0} s ago, and Slurm does not start it ({reason}); its place stays taken",
                self.setup.stuck.as_secs_f64()
            ));
        }
        // Before anything is done: a release that fails was decided all the same.
        let is_worth =
            !round.reported.is_empty() || !round.start.is_empty() || !round.began.is_empty();
        if is_worth {
            self.note(JournalRecord::Round(round.clone()), say);
        }
        let now = self.now();
        act(&self.slurm, &mut self.active, (&found, &round, now), say)?;
        self.write_metrics(&queue, (&found, &round), say);
        if !is_sound {
            say(
                "warning: the policy could not take what was read, and begins anew with what waits and runs",
            );
            self.again(&queue, say)?;
        }
        Ok(())
    }

    /// Asks which jobs are there at all, where some wait for others.
    fn note_present(&mut self, queue: &SlurmQueue) -> Result<(), SlurmError> {
        let waits = queue.rows.iter().any(|row| !row.waits_for.is_empty());
        self.active.watch.present = if waits {
            self.slurm.present()?
        } else {
            HashSet::new()
        };
        Ok(())
    }

    /// Returns the nodes, where it is time to read them.
    fn nodes(&mut self) -> Result<Option<Nodes>, SlurmError> {
        if self.nodes_read.is_some_and(|at| at.elapsed() < NODES) {
            return Ok(None);
        }
        let nodes = self.slurm.nodes()?;
        self.nodes_read = Some(Instant::now());
        Ok(Some(nodes))
    }

    /// After the controller was started anew nodes have to tell first what they run.
    fn has_settled(&mut self, holds: bool, say: &mut dyn FnMut(&str)) -> Result<bool, SlurmError> {
        let often = if holds { NODES } else { BOOTED };
        if self.booted_read.is_none_or(|at| at.elapsed() > often) {
            let cluster = self.slurm.cluster()?;
            self.booted_read = Some(Instant::now());
            if cluster.booted != self.cluster.booted {
                self.cluster.booted = cluster.booted;
                self.settled = Instant::now() + self.setup.settle;
                say(&format!(
                    "the controller was started anew: nothing is released for {:.0} s",
                    self.setup.settle.as_secs_f64()
                ));
            }
        }
        Ok(Instant::now() >= self.settled)
    }

    /// Looks once: what waits and runs by type, and what would be released if the policy began now. What it says first is
    /// which jobs have no type.
    ///
    /// # Errors
    /// When Slurm does not answer.
    pub fn plan(&mut self) -> Result<String, BridgeError> {
        let (queue, nodes) = (self.slurm.queue()?, self.slurm.nodes()?);
        self.note_present(&queue)?;
        let at = self.moment();
        let mut found = self.active.watch.look(&queue, Some(&nodes), at);
        let (round, _) = self.active.decide(&mut found, at.now, Instant::now());
        let watch = &self.active.watch;
        let survey = Survey::new(watch, &queue).note(self.setup.unknown);
        let mut lines: Vec<String> = survey.into_iter().chain(found.notes.clone()).collect();
        lines.push(plan(watch, &queue, &found, &round.start));
        Ok(lines.join("\n"))
    }

    /// Says why a job does not wait for the policy; nothing where it does.
    ///
    /// # Errors
    /// When Slurm does not answer, or the job is not there.
    pub fn obstacle(&self, job: &str) -> Result<Option<String>, BridgeError> {
        let queue = self.slurm.queue()?;
        let row = queue.rows.iter().find(|row| row.key.id.to_string() == job);
        let row = row.ok_or_else(|| {
            let partition = &self.slurm.partition;
            format!("job {job} neither waits nor runs in the partition {partition}: see `squeue -p {partition}`")
        })?;
        let (watch, holds) = (&self.active.watch, self.setup.hold);
        Ok(obstacle(watch, row, holds, self.moment().wall))
    }

    fn measure(&mut self, round: &JournalRound, now: f64) {
        for line in &round.reported {
            if let Some(name) = line.arrive.as_ref().filter(|_| self.rounds > 1)
                && let Some(i) = self.active.scheduler.places().job_type(name)
            {
                self.measured.arrived(i);
            }
        }
        for id in &round.began {
            let seen = key_of(id).and_then(|key| self.active.watch.jobs.get(&key));
            if let Some(released) = seen.and_then(|seen| seen.released) {
                let latency = (now - released) / self.active.second;
                self.measured.began_after(latency);
            }
        }
        for (i, began) in self.active.watch.ended.drain(..) {
            self.measured.ran(i, (now - began) / self.active.second);
        }
    }

    fn report_measured(&self, say: &mut dyn FnMut(&str)) {
        let fleet = self.active.fleet();
        let (lines, is_apart) = self.measured.lines(
            fleet.types(),
            self.now() / self.active.second,
            fleet.time_unit(),
        );
        say(&format!(
            "{} rounds; by type what came and ran, of what the policy was made for:",
            self.rounds
        ));
        lines.iter().for_each(|line| say(&format!("  {line}")));
        if is_apart {
            say(
                "warning: (!) is more than a tenth and three standard errors apart from what the policy was made for: fit what came (`synth fit --since POLICY`), and make a policy of that",
            );
        }
    }

    fn write_metrics(
        &mut self,
        queue: &SlurmQueue,
        of: (&Changes, &JournalRound),
        say: &mut dyn FnMut(&str),
    ) {
        let Some(path) = &self.setup.metrics else {
            return;
        };
        let (watch, wall) = (&self.active.watch, self.moment().wall);
        self.metrics.rounds = self.rounds;
        self.metrics.count(watch, of, wall);
        let doing = self.active.scheduler.doing();
        let of = (&*self.slurm.partition, doing, wall);
        if let Err(why) = metrics::write(path, &self.metrics.text(watch, queue, of)) {
            let path = path.display();
            say(&format!(
                "warning: the metrics {path} cannot be written: {why}"
            ));
        }
    }

    fn note(&mut self, record: JournalRecord, say: &mut dyn FnMut(&str)) {
        let journal = self.journal.as_mut();
        if let Some(why) = journal.and_then(|journal| journal.write(&record)) {
            say(&format!(
                "warning: the journal cannot be written ({why}): it ends here, the bridge goes on"
            ));
        }
    }

    /// What was learned stands in the journal, for the next bridge.
    fn note_learned(&mut self, say: &mut dyn FnMut(&str)) {
        if let Some(learned) = self.active.scheduler.learned() {
            self.note(JournalRecord::Learned { learned }, say);
        }
    }

    /// The policy is read again; a bad one is refused, and the old one goes on.
    fn reload(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), BridgeError> {
        match self.read_again() {
            Ok(queue) => {
                say("the policy was read again");
                self.again(&queue, say)?;
            }
            Err(why) => say(&format!(
                "warning: the policy is not taken, and the old one goes on: {why}"
            )),
        }
        Ok(())
    }

    /// Puts the policy that the file now has into the place of the old one; with the queue.
    fn read_again(&mut self) -> Result<SlurmQueue, Box<dyn Error>> {
        let mut active = ActivePolicy::read(&self.setup)?;
        let learned = self.active.scheduler.learned();
        let learned = learned.map(|own| (own, self.active.digest.clone()));
        active.begin_with(learned);
        let (queue, nodes) = (self.slurm.queue()?, self.slurm.nodes()?);
        active.watch.map.check_nodes(&nodes.rows, self.setup.pool)?;
        active.watch.jobs = std::mem::take(&mut self.active.watch.jobs);
        active.watch.placed = std::mem::take(&mut self.active.watch.placed);
        active.watch.usage.look(&nodes, &queue, &mut Vec::new());
        self.measured = Measured::new(active.fleet().types().len(), self.now() / active.second);
        self.active = active;
        Ok(queue)
    }

    /// A scheduler begins with what waits and runs.
    fn again(&mut self, queue: &SlurmQueue, say: &mut dyn FnMut(&str)) -> Result<(), BridgeError> {
        self.active.restart();
        let at = self.moment();
        let mut found = self.active.watch.again(queue, at);
        self.note(JournalRecord::Head(self.head()), say);
        let (round, _) = self.active.decide(&mut found, at.now, Instant::now());
        self.note(JournalRecord::Round(round.clone()), say);
        let now = self.now();
        act(&self.slurm, &mut self.active, (&found, &round, now), say)
    }
}
