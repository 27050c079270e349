use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::journal::{self, Head, JournalRecord};
use super::lock::locked;
use super::measured::Measured;
use super::metrics;
use super::release::{act, release_all};
use super::resources::written;
use super::setup::{OnExit, Setup};
use super::survey::{obstacle, plan, without_type};
use super::watch::{Changes, Jobs, SEED, STUCK_AFTER, Watch};
use synth_operator::{Metrics, Round, Timestamps};
use synth_slurm::commands::{Hold, Slurm, SlurmCluster, SlurmError, SlurmQueue};
use synth_verb::VerbResult;

#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    pub end: Arc<AtomicBool>,
    pub reload: Arc<AtomicBool>,
    /// Hold jobs again if they were released but have not been started.
    pub give_up: Arc<AtomicBool>,
}

/// The maximum pause after a failed round, which is doubled after each failure.
const LONGEST: Duration = Duration::from_secs(10);

/// The maximum age of the nodes, and of the start time of the controller if there are held jobs.
const NODES: Duration = Duration::from_secs(1);
/// The maximum age of the start time of the controller if there are no held jobs.
const BOOTED: Duration = Duration::from_secs(10);

const REPORT_INTERVAL: Duration = Duration::from_secs(3600);

pub(crate) struct Bridge {
    slurm: Slurm,
    watch: Watch,
    /// This is `None` if no journal is written, or if a line could not be written.
    journal: Option<File>,
    measured: Measured,
    started: Instant,
    cluster: SlurmCluster,
    booted_read: Option<Instant>,
    nodes_read: Option<Instant>,
    settles_at: Instant,
    rounds: u64,
    metrics: Metrics,
    notes: Vec<String>,
    _lock: Option<File>,
}

impl Bridge {
    /// Reads the state of the cluster and locks the partition. No jobs are released yet.
    pub(crate) fn begin(slurm: Slurm, setup: &Setup) -> VerbResult<Self> {
        let watch = Watch::read(setup)?;
        let (cluster, nodes) = slurm.site()?;
        watch.map.check_nodes(&nodes.rows)?;
        // A dry run is possible while another bridge is running.
        let lock = (!setup.dry_run).then(|| locked(&cluster.name, &slurm.partition));
        let lock = lock.transpose()?;
        let (now, help) = (Instant::now(), include_str!("metrics.txt"));
        let mut bridge = Bridge {
            measured: Measured::new(watch.operator.places(), 0.0),
            metrics: Metrics::new("synth_bridge_", help, &[("partition", &slurm.partition)]),
            watch,
            cluster,
            slurm,
            journal: None,
            started: now,
            booted_read: Some(now),
            nodes_read: None,
            settles_at: now,
            rounds: 0,
            notes: Vec::new(),
            _lock: lock,
        };
        bridge.open_journal()?;
        Ok(bridge)
    }

    fn open_journal(&mut self) -> Result<(), String> {
        let setup = &self.watch.setup;
        let Some(path) = setup.journal.clone().filter(|_| !setup.dry_run) else {
            return Ok(());
        };
        let begun = journal::open(&path).and_then(|(mut file, before)| {
            let watch = &self.watch;
            let nodes = |start| watch.map.nodes.named(&watch.operator.servers_of(start));
            let placed = before.placed.iter();
            self.watch.placed = placed.map(|(key, start)| (*key, nodes(start))).collect();
            self.watch.operator.take_over(before.learned);
            journal::write(&mut file, &JournalRecord::Head(self.head()))?;
            Ok(file)
        });
        let unwritten = |why| {
            let path = path.display();
            format!("cannot write the journal {path}: {why}; use --journal to choose another path")
        };
        self.journal = Some(begun.map_err(unwritten)?);
        Ok(())
    }

    fn head(&self) -> Head {
        let operator = &self.watch.operator;
        Head {
            policy: self.watch.setup.policy.display().to_string(),
            digest: operator.digest.clone(),
            cluster: self.cluster.name.clone(),
            partition: self.slurm.partition.clone(),
            time_unit: operator.policy.workload().time_unit().into(),
            seed: SEED,
            learned: operator.learned.clone(),
        }
    }

    pub(crate) fn announced(&self) -> String {
        let resources = self.watch.map.resources.iter();
        let names = resources.map(|r| format!("{} = {}", r.name, written(&r.source, r.scale)));
        let names = names.collect::<Vec<String>>().join(", ");
        let (partition, cluster) = (&self.slurm.partition, &self.cluster.name);
        let policy = self.watch.setup.policy.display();
        format!("partition {partition} of {cluster}: {policy} decides; {names}")
    }

    pub(crate) fn run(&mut self, signals: &Signals, say: &mut dyn FnMut(&str)) -> VerbResult<()> {
        let mut pause = self.poll();
        let mut reported = Instant::now();
        while !signals.end.load(Ordering::Relaxed) && !self.is_over() {
            let done = self.round(signals);
            self.notes.drain(..).for_each(|note| say(&note));
            match done {
                Ok(()) => pause = self.poll(),
                Err(why) if why.is::<SlurmError>() => {
                    *self.metrics.value("failed_rounds_total", &[]) += 1.0;
                    say(&format!(
                        "warning: {why}; no decision is made, and the next round is in {:.1} s",
                        pause.as_secs_f64()
                    ));
                    // The next answer may be sent by another controller.
                    self.booted_read = None;
                    self.pause(pause, signals);
                    pause = (2 * pause).min(LONGEST);
                    continue;
                }
                Err(other) => return Err(other),
            }
            if reported.elapsed() > REPORT_INTERVAL {
                reported = Instant::now();
                self.report_measured();
            }
            self.pause(self.until_next(), signals);
        }
        self.report_measured();
        self.notes.drain(..).for_each(|note| say(&note));
        if self.watch.setup.on_exit == OnExit::Release {
            let released = release_all(&self.slurm, self.watch.setup.hold)?;
            say(&format!("the bridge ends: {released}"));
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let until = self.watch.setup.until;
        until.is_some_and(|until| self.started.elapsed() >= until)
    }

    fn until_next(&self) -> Duration {
        let wake = self.watch.operator.wake();
        let left = wake.map(|wake| wake - Timestamps::of(self.started).now);
        let left = left.filter(|left| *left > 0.0 && *left < self.poll().as_secs_f64());
        left.map_or(self.poll(), Duration::from_secs_f64)
    }

    /// Returns the time between rounds, which is at least 50 ms because Slurm is not faster.
    fn poll(&self) -> Duration {
        self.watch.setup.poll.max(Duration::from_millis(50))
    }

    /// Sleeps in short intervals, so that a signal is noticed.
    fn pause(&self, time: Duration, signals: &Signals) {
        let until = Instant::now() + time;
        while Instant::now() < until && !signals.end.load(Ordering::Relaxed) && !self.is_over() {
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn round(&mut self, signals: &Signals) -> VerbResult<()> {
        if signals.reload.swap(false, Ordering::Relaxed) {
            self.reload()?;
        }
        let gives_up = signals.give_up.swap(false, Ordering::Relaxed);
        let queue = self.slurm.queue()?;
        let is_due = self.nodes_read.is_none_or(|at| at.elapsed() >= NODES);
        let nodes = is_due.then(|| self.slurm.nodes()).transpose()?;
        if is_due {
            self.nodes_read = Some(Instant::now());
        }
        let holds = queue.rows.iter().any(|row| row.hold != Hold::None);
        if !self.has_settled(holds)? {
            return Ok(());
        }
        self.note_present(&queue)?;
        self.rounds += 1;
        let at = Timestamps::of(self.started);
        if self.rounds == 1 {
            self.notes.extend(without_type(&self.watch, &queue));
        }
        let start = Instant::now();
        let mut found = self.watch.look(&queue, nodes.as_ref(), at);
        let (mut round, is_sound) = self.decide(&mut found, at, start);
        if gives_up {
            found.give_up.extend(self.watch.give_up(at.now));
        }
        let places = self.watch.operator.places();
        self.measured.count(&round, self.rounds == 1, places);
        round.notes.clone_from(&found.notes);
        self.notes.append(&mut found.notes);
        for (job, reason) in &found.stuck {
            self.notes.push(format!(
                "warning: job {job} was released {STUCK_AFTER:.0} s ago, but Slurm does not start it ({reason}); its capacity is still reserved"
            ));
        }
        // The round is recorded first, because the decision was made even if a command fails.
        if !round.told.is_empty() || !round.start.is_empty() || !round.began.is_empty() {
            self.note(JournalRecord::Round(round.clone()));
        }
        self.act(&queue, &found, &round)?;
        self.write_metrics(&queue, &found, &round);
        if !is_sound {
            self.notes.push(
                "warning: the policy rejected the observed changes and restarts with the current waiting and running jobs".into(),
            );
            let before = self.watch.operator.restart();
            self.restart_policy(&before, &queue)?;
        }
        Ok(())
    }

    /// Returns the decisions, and whether all changes were accepted. From `start` on, the round
    /// does not wait for Slurm.
    fn decide(&mut self, found: &mut Changes, at: Timestamps, start: Instant) -> (Round, bool) {
        let (mut round, refused) = self.watch.operator.decide(at.now, start);
        round.began = std::mem::take(&mut found.began);
        let notes = refused.iter().map(|why| format!("warning: {why}"));
        found.notes.extend(notes);
        (round, refused.is_empty())
    }

    fn act(&mut self, queue: &SlurmQueue, found: &Changes, round: &Round) -> VerbResult<()> {
        let now = Timestamps::of(self.started).now;
        let starts = round.start.iter();
        let starts = starts.filter_map(|start| self.watch.release(start, queue, now));
        let starts: Vec<_> = starts.collect();
        let hold = self.watch.setup.hold;
        act(&self.slurm, hold, found, &starts, &mut self.notes)
    }

    fn note_present(&mut self, queue: &SlurmQueue) -> Result<(), SlurmError> {
        let waits = queue.rows.iter().any(|row| !row.waits_for.is_empty());
        let present = waits.then(|| self.slurm.present()).transpose()?;
        self.watch.present = present.unwrap_or_default();
        Ok(())
    }

    /// Returns `false` if the controller was restarted recently (see `--settle`). In this case the
    /// nodes must first report the jobs that they run.
    fn has_settled(&mut self, holds: bool) -> Result<bool, SlurmError> {
        let often = if holds { NODES } else { BOOTED };
        if self.booted_read.is_none_or(|at| at.elapsed() > often) {
            let cluster = self.slurm.cluster()?;
            self.booted_read = Some(Instant::now());
            if cluster.booted != self.cluster.booted {
                self.cluster.booted = cluster.booted;
                let settle = self.watch.setup.settle;
                self.settles_at = Instant::now() + settle;
                self.notes.push(format!(
                    "the controller was restarted: no jobs are released for {:.0} s",
                    settle.as_secs_f64()
                ));
            }
        }
        Ok(Instant::now() >= self.settles_at)
    }

    pub(crate) fn plan(&mut self) -> VerbResult<String> {
        let (queue, nodes) = (self.slurm.queue()?, self.slurm.nodes()?);
        self.note_present(&queue)?;
        let at = Timestamps::of(self.started);
        let mut found = self.watch.look(&queue, Some(&nodes), at);
        let (round, _) = self.decide(&mut found, at, Instant::now());
        let survey = without_type(&self.watch, &queue);
        let mut lines: Vec<String> = survey.into_iter().chain(found.notes.clone()).collect();
        lines.push(plan(&self.watch, &queue, &found, &round.start));
        Ok(lines.join("\n"))
    }

    /// Returns the reason why a job is not waiting for the policy, or `None` if it is waiting.
    pub(crate) fn obstacle(&self, job: &str) -> VerbResult<Option<String>> {
        let queue = self.slurm.queue()?;
        let row = queue.rows.iter().find(|row| row.key.id.to_string() == job);
        let row = row.ok_or_else(|| {
            let partition = &self.slurm.partition;
            format!("job {job} is neither waiting nor running in the partition {partition}: see `squeue -p {partition}`")
        })?;
        let now = Timestamps::of(self.started).wall;
        Ok(obstacle(&self.watch, row, now))
    }

    fn report_measured(&mut self) {
        let operator = &self.watch.operator;
        let now = Timestamps::of(self.started).now / operator.seconds_per_unit;
        let (lines, is_apart) = self.measured.lines(operator.policy.workload(), now);
        self.notes.push(format!(
            "{} rounds; arrivals and run times by type, compared with the workload of the policy:",
            self.rounds
        ));
        let lines = lines.iter().map(|line| format!("  {line}"));
        self.notes.extend(lines);
        if is_apart {
            self.notes.push(
                "warning: the values with (!) differ from the workload of the policy by more than 10 % and three standard errors: use `synth fit --since POLICY` to fit the recent jobs, and generate a new policy".into(),
            );
        }
        if let Some(learned) = self.watch.operator.scheduler.learned() {
            self.note(JournalRecord::Learned { learned });
        }
    }

    fn write_metrics(&mut self, queue: &SlurmQueue, found: &Changes, round: &Round) {
        let Some(path) = &self.watch.setup.metrics else {
            return;
        };
        let (values, is_first) = (&mut self.metrics, self.rounds == 1);
        let wall = Timestamps::of(self.started).wall;
        self.watch.operator.count(values, round, wall);
        metrics::count(values, &self.watch, queue, (found, round), is_first);
        if let Err(why) = metrics::write(path, &self.metrics.text()) {
            let path = path.display();
            let note = format!("warning: cannot write the metrics {path}: {why}");
            self.notes.push(note);
        }
    }

    fn note(&mut self, record: JournalRecord) {
        let file = self.journal.as_mut();
        if let Some(Err(why)) = file.map(|file| journal::write(file, &record)) {
            self.journal = None;
            self.notes.push(format!(
                "warning: cannot write the journal ({why}): no more lines are written, but the bridge continues"
            ));
        }
    }

    fn reload(&mut self) -> VerbResult<()> {
        match self.read_again() {
            Ok((before, queue)) => {
                self.notes.push("the policy was reloaded".into());
                self.restart_policy(&before, &queue)
            }
            Err(why) => {
                self.notes.push(format!(
                    "warning: the new policy was rejected and the old policy is still used: {why}"
                ));
                Ok(())
            }
        }
    }

    fn read_again(&mut self) -> VerbResult<(Jobs, SlurmQueue)> {
        let mut watch = Watch::read(&self.watch.setup)?;
        let (queue, nodes) = (self.slurm.queue()?, self.slurm.nodes()?);
        watch.map.check_nodes(&nodes.rows)?;
        let old = &mut self.watch;
        let learned = old.operator.scheduler.learned();
        let learned = learned.map(|own| (own, old.operator.digest.clone()));
        watch.operator.take_over(learned);
        watch.placed = std::mem::take(&mut old.placed);
        watch.usage.look(&nodes, &queue, &mut Vec::new());
        let before = std::mem::take(&mut old.operator.jobs);
        let now = Timestamps::of(self.started).now / watch.operator.seconds_per_unit;
        self.measured = Measured::new(watch.operator.places(), now);
        self.watch = watch;
        Ok((before, queue))
    }

    /// Reports the waiting and running jobs to a new scheduler.
    fn restart_policy(&mut self, before: &Jobs, queue: &SlurmQueue) -> VerbResult<()> {
        let at = Timestamps::of(self.started);
        let mut found = self.watch.look_for_new_scheduler(before, queue, at);
        self.note(JournalRecord::Head(self.head()));
        let (round, _) = self.decide(&mut found, at, Instant::now());
        self.note(JournalRecord::Round(round.clone()));
        self.act(queue, &found, &round)
    }
}
