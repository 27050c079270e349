//! The controller's rounds: what has changed is looked at, decided on and carried out.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{sleep, sleep_until};

use crate::desk::{Concern, Desk, Moment, Note, Release, Round};
use crate::lease::{Elector, Leadership};
use crate::log::{Log, fields};
use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::release::{Outcome, Releaser};
use crate::setup::{Mode, Setup};
use crate::view::{Mark, Owner, Reference, Uid, Work};
use crate::watch::Watch;

/// After the first change others are waited for so long.
const BATCH: Duration = Duration::from_millis(50);
/// A round is due at least this often.
const TICK: Duration = Duration::from_secs(5);
/// An answer is waited for so long at most.
const ANSWER: Duration = Duration::from_secs(5);
/// So many requests that remove gates are under way at once.
const AT_ONCE: usize = 8;

/// What a controller works with.
pub struct Controller {
    pub setup: Arc<Setup>,
    pub client: Client,
    pub log: Log,
    pub metrics: Arc<Mutex<Metrics>>,
}

impl Controller {
    /// Acts while this replica holds the Lease, and waits while another does; until a signal ends it.
    ///
    /// # Errors
    /// When the policy does not fit the cluster.
    pub async fn run(&self, identity: String) -> Result<(), String> {
        // Refused now, and not only when it is this replica's turn.
        let watch = self.watch().await?;
        self.desk(&watch)?;
        self.metrics().is_ready = true;
        let (lease, duration) = (&self.setup.lease, self.setup.lease_duration);
        let mut elector = Elector::new(self.client.clone(), lease, identity.clone(), duration)?;
        let leadership = elector.leadership.clone();
        let log = self.log;
        renew(&mut elector, log).await;
        let act = async {
            let mut first = leadership.is_valid().then_some(watch);
            loop {
                while !leadership.is_valid() {
                    sleep(Duration::from_millis(100)).await;
                }
                log.info("leader", &fields([("identity", &*identity)]));
                // Whoever acted before may have done what a stream from before has not brought yet: all is listed anew.
                let watch = match first.take() {
                    Some(watch) => watch,
                    None => self.watch().await?,
                };
                self.lead(&watch, &leadership, &identity).await?;
                self.metrics().is_leader = false;
                log.warn("leader lost", &fields([("identity", &*identity)]));
            }
        };
        // A task of its own: rounds may take long.
        let (stop, mut stopped) = oneshot::channel::<()>();
        let renewing = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sleep(elector.period()) => renew(&mut elector, log).await,
                    _ = &mut stopped => break,
                }
            }
            elector.give_back().await;
        });
        let done = tokio::select! {
            done = act => done,
            () = terminated() => Ok(()),
        };
        drop(stop);
        // It ends by itself.
        let _ = renewing.await;
        done
    }

    async fn watch(&self) -> Result<Watch, String> {
        Watch::begin(self.client.clone(), &self.setup, self.log).await
    }

    fn metrics(&self) -> std::sync::MutexGuard<'_, Metrics> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn releaser(&self, leadership: Option<&Leadership>) -> Releaser {
        Releaser {
            client: self.client.clone(),
            leadership: leadership.cloned(),
            gate: self.setup.gate.clone(),
            // The last third of the Lease's duration is for requests that are on their way.
            answer: (self.setup.lease_duration / 3).min(ANSWER),
            log: self.log,
        }
    }

    /// Returns the policy, for the cluster as it is.
    fn desk(&self, watch: &Watch) -> Result<Desk, String> {
        let mut desk = Desk::new(&self.setup)?;
        desk.check(&watch.cluster())?;
        Ok(desk)
    }

    /// Round after round while the Lease is held.
    async fn lead(
        &self,
        watch: &Watch,
        leadership: &Leadership,
        identity: &str,
    ) -> Result<(), String> {
        let mut desk = Desk::new(&self.setup)?;
        if let Err(why) = desk.check(&watch.cluster()) {
            // Refused at the start; a replica that takes over goes on with the nodes that are left.
            self.log.warn("nodes", &fields([("why", &*why)]));
        }
        let releaser = self.releaser(Some(leadership));
        self.metrics().begin(&desk);
        let begin = Instant::now();
        let mut notices = Notices::new(&self.client, identity);
        let (send, mut answers) = mpsc::unbounded_channel();
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        while leadership.is_valid() {
            while let Ok((release, outcome)) = answers.try_recv() {
                self.answered(watch, &mut desk, &release, outcome);
            }
            watch.follow_owners();
            let at = Moment {
                now: begin.elapsed().as_secs_f64(),
                wall: Timestamp::now().as_second(),
            };
            let round = {
                let cluster = watch.cluster();
                let round = desk.look(&cluster, at);
                notices.look(&desk, &cluster, &round, at);
                round
            };
            self.note(&desk, &round);
            for release in round.releases {
                let (releaser, send, slots) = (releaser.clone(), send.clone(), Arc::clone(&slots));
                tokio::spawn(async move {
                    let _slot = slots.acquire_owned().await;
                    let outcome = releaser.release(&release).await;
                    // Nobody waits for it where the Lease was lost.
                    let _ = send.send((release, outcome));
                });
            }
            notices.forecast(&desk, at);
            let wake = desk.wake().map_or(TICK, |wake| {
                Duration::from_secs_f64((wake - at.now).clamp(0.0, TICK.as_secs_f64()))
            });
            let due =
                tokio::time::Instant::from_std(begin + Duration::from_secs_f64(at.now) + wake);
            // A Lease that was lost ends it between rounds, too.
            while leadership.is_valid() {
                tokio::select! {
                    () = watch.changed() => sleep(BATCH).await,
                    answer = answers.recv() => if let Some((release, outcome)) = answer {
                        self.answered(watch, &mut desk, &release, outcome);
                    },
                    () = sleep_until(due) => {}
                    () = sleep(Duration::from_millis(500)) => continue,
                }
                break;
            }
        }
        Ok(())
    }

    /// Takes note of what became of a release.
    fn answered(&self, watch: &Watch, desk: &mut Desk, release: &Release, outcome: Outcome) {
        let mut metrics = self.metrics();
        let job = ("job", &*release.called);
        match outcome {
            Outcome::Done => {
                *metrics.released.entry(release.job_type).or_default() += 1;
                self.log.info(
                    "released",
                    &fields([
                        job,
                        ("uid", &release.job),
                        ("nodes", &release.mark.nodes.join(" ")),
                    ]),
                );
                desk.released(&release.job, true);
            }
            Outcome::Changed(found) => {
                *metrics.failed.entry("changed").or_default() += 1;
                self.log.info(
                    "not released",
                    &fields([job, ("why", "it is not what it was: it is looked at again")]),
                );
                watch.cluster().owners.extend(found);
                desk.released(&release.job, false);
            }
            Outcome::Failed(why) => {
                *metrics.failed.entry("refused").or_default() += 1;
                self.log.warn("not released", &fields([job, ("why", &why)]));
                desk.released(&release.job, false);
            }
        }
    }

    /// Writes what a round has found, and counts it.
    fn note(&self, desk: &Desk, round: &Round) {
        for Note { concern, text, .. } in &round.notes {
            let fields = fields([("about", &*format!("{concern:?}")), ("text", &**text)]);
            match concern {
                Concern::NoType | Concern::Policy | Concern::Capacity => {
                    self.log.warn("note", &fields)
                }
                _ => self.log.info("note", &fields),
            }
        }
        self.metrics().count(desk, round);
    }

    /// Looks once: what waits and runs by type, and what would be released if the policy began now.
    ///
    /// # Errors
    /// When the policy does not fit the cluster.
    pub async fn plan(&self) -> Result<String, String> {
        let watch = self.watch().await?;
        let mut desk = self.desk(&watch)?;
        let at = Moment {
            now: 0.0,
            wall: Timestamp::now().as_second(),
        };
        let round = desk.look(&watch.cluster(), at);
        let mut lines: Vec<String> = round.notes.iter().map(|note| note.text.clone()).collect();
        let mut starts: BTreeMap<Option<usize>, Vec<&str>> = BTreeMap::new();
        for release in &round.releases {
            starts
                .entry(release.job_type)
                .or_default()
                .push(&release.called);
        }
        lines.push(format!(
            "{:<20} {:>8} {:>8}   would be released now",
            "type", "wait", "run"
        ));
        let types: Vec<String> = desk.scheduler.places().types().map(str::to_owned).collect();
        for (i, name) in types.iter().enumerate() {
            let [waiting, running] = desk.scheduler.count(i);
            let started = starts.get(&Some(i)).map_or(&[][..], |own| own);
            // What would be released waits still.
            let (waiting, running) = (
                waiting + started.len() as u64,
                running - started.len() as u64,
            );
            lines.push(format!(
                "{name:<20} {waiting:>8} {running:>8}   {}",
                started.join(", ")
            ));
        }
        lines.push(format!(
            "{:<20} {:>8} {:>8}   {}",
            "no type",
            round.untyped,
            "",
            starts.get(&None).map_or(0, Vec::len)
        ));
        Ok(lines.join("\n"))
    }

    /// Removes the gate from all jobs, whatever else stands there: the way back.
    ///
    /// # Errors
    /// How many could not be released, and why the last one.
    pub async fn release_all(&self) -> Result<String, String> {
        let watch = self.watch().await?;
        let gate = self.setup.gate.clone();
        let mark = Mark {
            gate: gate.clone(),
            at: Timestamp::now().as_second(),
            ..Mark::default()
        };
        let release = |work: &Work, owners: Vec<(Reference, Owner)>| Release {
            job: work.own.uid.clone(),
            namespace: work.namespace.clone(),
            called: work.called(),
            owners,
            mark: mark.clone(),
            job_type: None,
        };
        let mut releases: Vec<Release> = Vec::new();
        {
            let cluster = watch.cluster();
            for view in cluster.views(&gate) {
                let owners = view
                    .gated(&gate)
                    .map(|(own, owner)| ((*own).clone(), (*owner).clone()));
                releases.push(release(view.work, owners.collect()));
            }
        }
        if self.setup.mode == Mode::Kueue {
            // Some Jobs may have no Workload yet.
            let known: HashSet<Uid> = releases
                .iter()
                .flat_map(|own| &own.owners)
                .map(|(own, _)| own.uid.clone())
                .collect();
            let jobs = watch.jobs(&gate).await?;
            let jobs = jobs
                .iter()
                .filter(|work| work.itself.has(&gate) && !known.contains(&work.own.uid));
            releases.extend(
                jobs.map(|work| release(work, vec![(work.own.clone(), work.itself.clone())])),
            );
        }
        releases.retain(|own| !own.owners.is_empty());
        let releaser = self.releaser(None);
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        let tasks = releases.into_iter().map(|release| {
            let (releaser, slots) = (releaser.clone(), Arc::clone(&slots));
            tokio::spawn(async move {
                let _slot = slots.acquire_owned().await;
                (releaser.release(&release).await, release.called)
            })
        });
        let tasks: Vec<_> = tasks.collect();
        let (mut done, mut failed) = (0, Vec::new());
        for task in tasks {
            match task.await {
                Ok((Outcome::Done | Outcome::Changed(_), _)) => done += 1,
                Ok((Outcome::Failed(why), job)) => failed.push(format!("{job}: {why}")),
                Err(why) => failed.push(why.to_string()),
            }
        }
        match failed.last() {
            None => Ok(format!("{done} gated jobs are released")),
            Some(last) => Err(format!(
                "{done} gated jobs are released, {} are not; {last}",
                failed.len()
            )),
        }
    }
}

async fn renew(elector: &mut Elector, log: Log) {
    if let Err(why) = elector.step().await {
        log.warn("lease", &fields([("why", &*why)]));
    }
}

/// Waits for SIGTERM or SIGINT.
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::interrupt()) => {}
    }
}
