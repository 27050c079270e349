use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use backon::ExponentialBuilder;
use futures::StreamExt;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{ApiResource, DynamicObject, ListParams, ObjectMeta};
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event, ExponentialBackoff};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::amounts::amounts;
use crate::cluster::{Cluster, Machine, Placed};
use crate::objects::{demand, holds};
use crate::server::{REQUEST_TIMEOUT, Refused, Server, answer, locked, resource};
use crate::setup::{Mode, Setup};
use crate::view::{Owner, POLICY, Uid, Work, controller};

pub struct Watch {
    setup: Arc<Setup>,
    shared: Shared,
    /// The kinds of owners that are watched, such as `batch/v1` and `Job`.
    kinds: Mutex<HashSet<(String, String)>>,
    streams: Mutex<JoinSet<()>>,
}

#[derive(Clone)]
struct Shared {
    server: Server,
    cluster: Arc<Mutex<Cluster>>,
    changed: Arc<Notify>,
    /// The number of lists that have not been read completely.
    unread: Arc<AtomicUsize>,
    /// The reason why a list that is needed is not available.
    refused: Arc<Mutex<Option<String>>>,
}

type Metadata = PartialObjectMeta<DynamicObject>;

/// The minimum and maximum pause after an error.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);

impl Watch {
    /// Starts all watches and waits until each list has been read. If the API server cannot be
    /// reached, this is repeated, unless `--dry-run` or `--release-all` is used.
    pub async fn begin(server: &Server, setup: &Arc<Setup>) -> Result<Self, String> {
        let shared = Shared {
            server: server.clone(),
            cluster: Arc::default(),
            changed: Arc::default(),
            unread: Arc::default(),
            refused: Arc::default(),
        };
        let watch = Watch {
            setup: Arc::clone(setup),
            shared,
            kinds: Mutex::default(),
            streams: Mutex::default(),
        };
        watch.follow_jobs().await?;
        if !setup.release_all {
            let labels = setup.nodes.as_deref().unwrap_or_default();
            let chosen = Config::default().labels(labels);
            let nodes: Api<DynamicObject> = server.objects(None, &ApiResource::erase::<Node>(&()));
            let name = |own: &ObjectMeta| own.name.as_deref().map(Uid::from);
            watch.follow(nodes, chosen, name, machine, |all| &mut all.machines);
            let pods: Api<DynamicObject> = server.objects(None, &ApiResource::erase::<Pod>(&()));
            let placed = Config::default().fields("spec.nodeName!=");
            watch.follow(pods, placed, uid, placed_pod, |all| &mut all.pods);
        }
        watch.ready().await?;
        Ok(watch)
    }

    /// Watches the jobs that have not ended. Kueue keeps a Workload for a long time after the end.
    async fn follow_jobs(&self) -> Result<(), String> {
        let (kind, setup) = (self.served().await?, Arc::clone(&self.setup));
        let is_kueue = setup.mode == Mode::Kueue;
        let mut config = Config::default();
        if is_kueue {
            self.follow_kind("batch/v1", "Job");
        } else {
            let value = setup.gate.rsplit('/').next().unwrap_or_default();
            config = config.labels(&format!("{POLICY}={value}"));
        }
        let space = setup.namespace.as_deref();
        let jobs = self.shared.server.objects(space, &kind);
        let read = move |own: &DynamicObject| {
            let work = match is_kueue {
                true => Work::of_workload(own, &kind.api_version, &setup.gate),
                false => Work::of_job(own, &setup.gate),
            };
            Some(work).filter(|work| !work.is_finished)
        };
        self.follow(jobs, config, uid, read, |all| &mut all.works);
        Ok(())
    }

    pub fn cluster(&self) -> MutexGuard<'_, Cluster> {
        locked(&self.shared.cluster)
    }

    pub async fn changed(&self) {
        self.shared.changed.notified().await;
    }

    async fn ready(&self) -> Result<(), String> {
        loop {
            let read = self.changed();
            self.follow_owners()?;
            if self.shared.unread.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            read.await;
        }
    }

    pub fn follow_owners(&self) -> Result<(), String> {
        let cluster = self.cluster();
        let owners = cluster.works.values().flat_map(|work| &work.owners);
        let kinds: HashSet<_> = owners.map(|own| (&*own.api_version, &*own.kind)).collect();
        for (version, kind) in kinds {
            self.follow_kind(version, kind);
        }
        locked(&self.shared.refused).take().map_or(Ok(()), Err)
    }

    fn follow_kind(&self, version: &str, kind: &str) {
        let key = (version.to_owned(), kind.to_owned());
        let gate = self.setup.gate.clone();
        if locked(&self.kinds).insert(key.clone()) {
            let (server, space) = (&self.shared.server, self.setup.namespace.as_deref());
            let all: Api<Metadata> = server.objects(space, &resource(version, kind));
            let read =
                move |own: &Metadata| Some(Owner::new(&own.metadata, (&key.0, &key.1), &gate));
            self.follow(all, Config::default(), uid, read, |all| &mut all.owners);
        }
    }

    async fn served(&self) -> Result<ApiResource, String> {
        let (server, setup) = (&self.shared.server, &self.setup);
        let kinds: &[_] = match setup.mode {
            Mode::Kueue => &[
                ("kueue.x-k8s.io/v1beta2", "Workload"),
                ("kueue.x-k8s.io/v1beta1", "Workload"),
            ],
            Mode::Suspend => &[("batch/v1", "Job")],
        };
        for (version, kind) in kinds {
            let kind = resource(version, kind);
            let all: Api<Metadata> = server.objects(setup.namespace.as_deref(), &kind);
            let (one, mut pause) = (ListParams::default().limit(1), FIRST);
            loop {
                let why = match answer(REQUEST_TIMEOUT, all.list_metadata(&one)).await {
                    Ok(_) => return Ok(kind),
                    Err(why) if why.code == 404 => break,
                    Err(why) if why.is_final() => return Err(why.text),
                    Err(why) => why.text,
                };
                let text = format!("cannot reach the API server at {}: {why}", server.url);
                if setup.dry_run || setup.release_all {
                    return Err(text);
                }
                warn!(again_in = ?pause, "{text}");
                sleep(pause).await;
                pause = (2 * pause).min(LONGEST);
            }
        }
        Err("the API server does not serve Workloads of kueue.x-k8s.io/v1beta2 or v1beta1: install Kueue (0.19 or later has the gate), or handle Jobs without Kueue by --mode suspend".into())
    }

    /// Reads a stream forever. After an error or an expired watch, the objects are listed again,
    /// and the objects that are not in the list are removed.
    fn follow<K, V>(
        &self,
        api: Api<K>,
        config: Config,
        key: fn(&ObjectMeta) -> Option<Uid>,
        read: impl Fn(&K) -> Option<V> + Send + Sync + 'static,
        kept: fn(&mut Cluster) -> &mut HashMap<Uid, V>,
    ) where
        K: Resource<DynamicType = ApiResource> + Clone + Debug + DeserializeOwned + Send + 'static,
        V: Send + 'static,
    {
        let url = api.resource_url();
        let name = url.rsplit('/').next().unwrap_or_default().to_owned();
        let pauses = ExponentialBuilder::default().with_min_delay(FIRST);
        let pauses = pauses.with_max_delay(LONGEST).with_jitter();
        let pauses = ExponentialBackoff::from(pauses.without_max_times());
        let stream = watcher::watcher(api, config).backoff(pauses);
        let shared = self.shared.clone();
        shared.unread.fetch_add(1, Ordering::SeqCst);
        locked(&self.streams).spawn(async move {
            let mut stream = pin!(stream);
            // The keys of the current list, because the cluster also contains objects of other
            // streams, and the next list while it is being read.
            let (mut held, mut listed, mut is_unread) = (HashSet::new(), HashMap::new(), true);
            while let Some(event) = stream.next().await {
                let mut is_read = false;
                match event {
                    Ok(Event::Init) => listed.clear(),
                    Ok(Event::InitApply(own)) => listed.extend(key(own.meta()).zip(read(&own))),
                    Ok(Event::InitDone) => {
                        let mut cluster = locked(&shared.cluster);
                        let all = kept(&mut cluster);
                        all.retain(|uid, _| !held.contains(uid));
                        held = listed.keys().cloned().collect();
                        all.extend(listed.drain());
                        is_read = true;
                    }
                    Ok(Event::Apply(own)) => {
                        let mut cluster = locked(&shared.cluster);
                        let Some(uid) = key(own.meta()) else { continue };
                        match read(&own) {
                            Some(read) => drop(kept(&mut cluster).insert(uid.clone(), read)),
                            None => drop(kept(&mut cluster).remove(&uid)),
                        }
                        held.insert(uid);
                    }
                    Ok(Event::Delete(own)) => {
                        let uid = key(own.meta()).unwrap_or_default();
                        kept(&mut locked(&shared.cluster)).remove(&uid);
                        held.remove(&uid);
                    }
                    // If a kind cannot be read, the other kinds do not have to wait for it.
                    Err(why) => is_read = shared.complain(&name, &why),
                }
                if is_read && std::mem::take(&mut is_unread) {
                    shared.unread.fetch_sub(1, Ordering::SeqCst);
                }
                if listed.is_empty() {
                    shared.changed.notify_one();
                }
            }
        });
    }
}

impl Shared {
    /// Records an error. Returns `true` if the list is not available until this is corrected.
    fn complain(&self, name: &str, why: &watcher::Error) -> bool {
        use watcher::Error::{InitialListFailed, WatchError, WatchFailed, WatchStartFailed};
        let why = match why {
            InitialListFailed(why) | WatchStartFailed(why) | WatchFailed(why) => Refused::from(why),
            // If a watch has expired, the objects are immediately listed again.
            WatchError(status) => {
                self.server.metrics().answered(status.code);
                Refused::new(status.code, status.message.clone())
            }
            other => Refused::new(0, other.to_string()),
        };
        info!(of = name, code = why.code, why = why.text, "watch");
        let is_refused = matches!(why.code, 403 | 404);
        if is_refused && ["workloads", "jobs", "nodes", "pods"].contains(&name) {
            *locked(&self.refused) = Some(why.text);
        }
        is_refused
    }
}

fn uid(metadata: &ObjectMeta) -> Option<Uid> {
    metadata.uid.as_deref().map(Uid::from)
}

fn machine(node: &DynamicObject) -> Option<Machine> {
    Some(Machine {
        capacity: amounts(&node.data["status"]["allocatable"]),
        is_open: holds(node, "Ready").is_some() && node.data["spec"]["unschedulable"] != true,
    })
}

/// Returns `None` for a pod that has ended, because it does not use any resources.
fn placed_pod(pod: &DynamicObject) -> Option<Placed> {
    let (spec, phase) = (&pod.data["spec"], &pod.data["status"]["phase"]);
    let has_ended = phase == "Succeeded" || phase == "Failed";
    let own = &pod.metadata;
    let annotations = own.annotations.as_ref();
    let workload = annotations.and_then(|all| all.get("kueue.x-k8s.io/workload"));
    let node = spec["nodeName"].as_str().filter(|_| !has_ended)?;
    Some(Placed {
        node: node.to_owned(),
        demand: demand(spec),
        parent: controller(own).map(|own| own.uid),
        workload: own.namespace.clone().zip(workload.cloned()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::Parser;
    use serde_json::{Value, json};

    use super::*;
    use crate::server::tests::{fake, refusal};

    fn setup(options: &[&str]) -> Arc<Setup> {
        let fixed = ["synth-kueue", "policy.json", "--mode", "suspend"];
        Arc::new(Setup::parse_from(fixed.iter().chain(options)))
    }

    fn list(line: &str, names: &[&str]) -> Value {
        let names = names.iter().filter(|_| line.contains("/jobs?"));
        let items = names.map(|name| json!({"metadata": {"name": name, "uid": name}, "spec": {}}));
        json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": items.collect::<Vec<_>>()})
    }

    fn answer(line: &str, names: &[&str]) -> Option<(u16, Value)> {
        let is_watch = line.contains("watch=true");
        let list = (!is_watch).then(|| list(line, names));
        Some((200, list.unwrap_or_default()))
    }

    #[tokio::test(start_paused = true)]
    async fn retries_an_unreachable_api_server() {
        let away = |times: usize| {
            let mut left = times;
            fake(move |line| {
                left = left.saturating_sub(1);
                if left > 0 { None } else { answer(line, &["a"]) }
            })
        };
        let begin = tokio::time::Instant::now();
        let watch = Watch::begin(&away(8), &setup(&[])).await.unwrap();
        // The pauses are 0.2, 0.4, 0.8, 1.6, 3.2, 5 and 5 s.
        assert_eq!(begin.elapsed().as_millis() / 100, 162);
        assert_eq!(watch.cluster().works.len(), 1);
        let why = Watch::begin(&away(8), &setup(&["--dry-run"])).await;
        let why = why.err().unwrap();
        assert!(
            why.starts_with("cannot reach the API server at https://there/"),
            "{why}"
        );
        assert!(why.ends_with("connection refused"), "{why}");
    }

    #[tokio::test(start_paused = true)]
    async fn names_missing_permissions() {
        for (path, kind) in [("/jobs?", "jobs"), ("/nodes?", "nodes"), ("/pods?", "pods")] {
            let message =
                format!("{kind} is forbidden: User \"x\" cannot list resource \"{kind}\"");
            let expected = format!("{message}: add that verb to its role");
            let server = fake(move |line| match line.contains(path) {
                true => Some((403, refusal(403, &message))),
                false => answer(line, &[]),
            });
            let why = Watch::begin(&server, &setup(&[])).await.err();
            assert_eq!(why, Some(expected));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lists_again_after_an_expired_watch() {
        let mut lists = 0;
        let server =
            fake(
                move |line| match (line.contains("/jobs?"), line.contains("watch=true")) {
                    (true, true) if lists == 2 => {
                        let status = refusal(410, "too old resource version: 1 (9)");
                        Some((200, json!({"type": "ERROR", "object": status})))
                    }
                    (true, false) => {
                        lists += 1;
                        // The first request checks whether Jobs are served.
                        answer(line, if lists == 2 { &["a", "b"] } else { &["b", "c"] })
                    }
                    _ => answer(line, &[]),
                },
            );
        let watch = Watch::begin(&server, &setup(&[])).await.unwrap();
        while !watch.cluster().works.contains_key("c") {
            watch.changed().await;
        }
        let mut names: Vec<Uid> = watch.cluster().works.keys().cloned().collect();
        names.sort_unstable();
        assert_eq!(names, ["b".into(), "c".into()]);
        assert!(
            server
                .metrics()
                .text()
                .contains("refusals_total{code=\"410\"} 1\n")
        );
    }
}
