use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::iter;
use k8s_openapi::jiff::Timestamp;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};
use tracing::{info, warn};

use crate::desk::{Concern, Desk, Release, Round};
use crate::lease::{Elector, Leadership};
use crate::notices::Notices;
use crate::release::{Outcome, Releaser};
use crate::server::{REQUEST_TIMEOUT, Server};
use crate::setup::Setup;
use crate::view::{Mark, Owner};
use crate::watch::Watch;
use synth_operator::{Timestamps, plan_table};

/// The time to wait for more changes after the first change.
const BATCH: Duration = Duration::from_millis(50);
/// The maximum time between rounds.
const TICK: Duration = Duration::from_secs(5);
/// The maximum number of concurrent requests that remove gates.
const AT_ONCE: usize = 8;

pub struct Controller {
    pub setup: Arc<Setup>,
    pub server: Server,
}

impl Controller {
    /// Runs rounds while this replica holds the Lease, until a signal is received.
    pub async fn run(&self, identity: String) -> Result<(), String> {
        // Errors are reported at the start, and not when this replica becomes the leader.
        let watch = Watch::begin(&self.server, &self.setup).await?;
        Desk::new(&self.setup)?.check(&watch.cluster())?;
        self.server.metrics().is_ready = true;
        let client = self.server.client.clone();
        let mut elector = Elector::new(client, &self.setup, identity.clone())?;
        let mut leadership = elector.leadership();
        elector.step().await;
        let act = async {
            let mut first = leadership.is_valid().then_some(watch);
            loop {
                leadership.begin().await;
                info!(identity, "leader");
                // The previous leader may have made changes that are not in the old stream.
                let watch = match first.take() {
                    Some(watch) => watch,
                    None => Watch::begin(&self.server, &self.setup).await?,
                };
                self.lead(&watch, &leadership, &identity).await?;
                self.server.metrics().is_leader = false;
                warn!(identity, "leader lost");
            }
        };
        // This is a separate task because a round can take a long time.
        let (stop, mut stopped) = oneshot::channel::<()>();
        let renewing = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sleep(elector.period()) => elector.step().await,
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
        let _ = renewing.await;
        done
    }

    fn releaser(&self, leadership: Option<&Leadership>) -> Releaser {
        Releaser {
            server: self.server.clone(),
            leadership: leadership.cloned(),
            // The last third of the duration is reserved for requests that have already been sent.
            answer: (self.setup.lease_duration / 3).min(REQUEST_TIMEOUT),
        }
    }

    async fn lead(
        &self,
        watch: &Watch,
        leadership: &Leadership,
        identity: &str,
    ) -> Result<(), String> {
        let mut desk = Desk::new(&self.setup)?;
        if let Err(why) = desk.check(&watch.cluster()) {
            // At the start this is an error, but a new leader continues with the remaining nodes.
            warn!(why, "nodes");
        }
        let releaser = self.releaser(Some(leadership));
        self.server.metrics().count(&desk, &Round::default());
        self.server.metrics().is_leader = true;
        let begin = Instant::now();
        let mut notices = Notices::new(&self.server, identity);
        // If the Lease is lost, the requests that have not been answered are aborted.
        let mut releases = JoinSet::new();
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        while leadership.is_valid() {
            while let Some(Ok((release, outcome))) = releases.try_join_next() {
                self.answered(watch, &mut desk, &release, outcome);
            }
            watch.follow_owners()?;
            let at = Timestamps::of(begin);
            let round = {
                let cluster = watch.cluster();
                let round = desk.look(&cluster, at);
                notices.look(&desk, &cluster, &round, at);
                round
            };
            self.note(&desk, &round);
            for release in round.releases {
                let (releaser, slots) = (releaser.clone(), Arc::clone(&slots));
                releases.spawn(async move {
                    let _slot = slots.acquire_owned().await;
                    let outcome = releaser.release(&release).await;
                    (release, outcome)
                });
            }
            notices.forecast(&desk, at);
            let wake = desk.operator.wake().map_or(TICK, |wake| {
                Duration::from_secs_f64((wake - at.now).clamp(0.0, TICK.as_secs_f64()))
            });
            let due = begin + Duration::from_secs_f64(at.now) + wake;
            // If the Lease is lost, the controller does not wait for the next round.
            while leadership.is_valid() {
                tokio::select! {
                    () = watch.changed() => sleep(BATCH).await,
                    Some(Ok((release, outcome))) = releases.join_next() => {
                        self.answered(watch, &mut desk, &release, outcome);
                    }
                    () = sleep_until(due.into()) => {}
                    () = sleep(Duration::from_millis(500)) => continue,
                }
                break;
            }
        }
        Ok(())
    }

    fn answered(&self, watch: &Watch, desk: &mut Desk, release: &Release, outcome: Outcome) {
        let mut metrics = self.server.metrics();
        let (job, is_done) = (&release.called, outcome == Outcome::Done);
        match outcome {
            Outcome::Done => {
                let job_type = release.job_type;
                let name = job_type.map_or("", |i| desk.operator.places().type_name(i));
                metrics.add("releases_total", "type", name);
                let nodes = release.mark.nodes.join(" ");
                info!(job, uid = &*release.job, nodes, "released");
            }
            Outcome::Changed(found) => {
                metrics.add("failed_releases_total", "reason", "changed");
                let why = "it was changed and is checked again";
                info!(job, why, "not released");
                let found = found.into_iter().map(|own| (own.own.uid.clone(), own));
                watch.cluster().owners.extend(found);
            }
            Outcome::Failed(why) => {
                metrics.add("failed_releases_total", "reason", "refused");
                warn!(job, why, "not released");
            }
        }
        desk.released(&release.job, is_done);
    }

    fn note(&self, desk: &Desk, round: &Round) {
        for note in &round.notes {
            match note.concern {
                Concern::NoType | Concern::Policy | Concern::Capacity => {
                    warn!(about = ?note.concern, text = note.text, "note");
                }
                _ => info!(about = ?note.concern, text = note.text, "note"),
            }
        }
        self.server.metrics().count(desk, round);
    }

    pub async fn plan(&self) -> Result<String, String> {
        let watch = Watch::begin(&self.server, &self.setup).await?;
        let mut desk = Desk::new(&self.setup)?;
        desk.check(&watch.cluster())?;
        let round = desk.look(&watch.cluster(), Timestamps::of(Instant::now()));
        let mut lines: Vec<String> = round.notes.iter().map(|note| note.text.clone()).collect();
        let starts = |i: Option<usize>| {
            let own = round.releases.iter().filter(move |own| own.job_type == i);
            own.map(|own| &*own.called).collect::<Vec<&str>>()
        };
        let operator = &desk.operator;
        let types = operator.places().types().zip(operator.counts()).enumerate();
        let rows = types.map(|(i, (name, counts))| {
            let [waiting, running] = counts.map(|count| count as usize);
            let started = starts(Some(i));
            let counts = [waiting + started.len(), running - started.len()];
            (name.to_owned(), counts, started.join(", "))
        });
        let passed = starts(None).len().to_string();
        let without = ("no type".to_owned(), [round.untyped, 0], passed);
        lines.push(plan_table(rows.chain([without])));
        Ok(lines.join("\n"))
    }

    /// Removes the gate from all objects, including objects with other gates.
    pub async fn release_all(&self) -> Result<String, String> {
        let watch = Watch::begin(&self.server, &self.setup).await?;
        let gate = &self.setup.gate;
        let gated: Vec<Owner> = {
            let cluster = watch.cluster();
            let alone = cluster.works.values().filter(|own| own.owners.is_empty());
            let all = alone.map(|own| &own.itself).chain(cluster.owners.values());
            all.filter(|own| own.has(gate)).cloned().collect()
        };
        let mark = Mark {
            gate: gate.clone(),
            at: Timestamp::now().as_second(),
            ..Mark::default()
        };
        let releaser = self.releaser(None);
        let removed = iter(&gated).map(async |own| match releaser.remove(own, &mark).await {
            Outcome::Failed(why) => Err(format!("{}: {why}", own.own.called())),
            _ => Ok(()),
        });
        let removed: Vec<_> = removed.buffer_unordered(AT_ONCE).collect().await;
        let failed: Vec<String> = removed.into_iter().filter_map(Result::err).collect();
        let (done, count) = (gated.len() - failed.len(), failed.len());
        match failed.last() {
            None => Ok(format!("removed {done} gates")),
            Some(last) => Err(format!("removed {done} gates, {count} failed; {last}")),
        }
    }
}

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
