//! The cluster as the API server reports it: lists first, then every change.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt::Debug;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backon::ExponentialBuilder;
use futures::StreamExt;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{ApiResource, DynamicObject, ListParams, ObjectMeta};
use kube::core::{DynamicResourceScope, GroupVersionKind, PartialObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event, ExponentialBackoff};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::amounts::Amounts;
use crate::cluster::{Cluster, Machine, Placed};
use crate::log::{Log, fields};
use crate::objects::{JobObject, NodeObject, PodObject, WorkloadObject, holds};
use crate::setup::{Mode, Setup};
use crate::view::{Owner, POLICY, Uid, Work, controller};

/// What is known of the cluster, kept up to date by streams until it is dropped.
pub struct Watch {
    client: Client,
    setup: Arc<Setup>,
    shared: Shared,
    /// Kinds of owners that are followed: `batch/v1`, `Job`.
    kinds: Mutex<HashSet<(String, String)>>,
    streams: Mutex<JoinSet<()>>,
}

/// What its streams share.
#[derive(Clone)]
struct Shared {
    log: Log,
    cluster: Arc<Mutex<Cluster>>,
    /// Rings at every change.
    changed: Arc<Notify>,
    /// Lists that have not been read to their end.
    unread: Arc<AtomicUsize>,
    /// Why a list that is needed cannot be had.
    refused: Arc<Mutex<Option<String>>>,
}

/// Pauses after errors.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);

/// Where one kind of object is kept.
type Kept<V> = fn(&mut Cluster) -> &mut HashMap<Uid, V>;

impl Watch {
    /// Follows what counts in this mode, and waits until all lists have been read.
    ///
    /// # Errors
    /// When the API server does not serve a kind, or does not let this account list it; says what to do.
    pub async fn begin(client: Client, setup: &Arc<Setup>, log: Log) -> Result<Self, String> {
        let shared = Shared {
            log,
            cluster: Arc::default(),
            changed: Arc::default(),
            unread: Arc::default(),
            refused: Arc::default(),
        };
        let watch = Watch {
            client,
            setup: Arc::clone(setup),
            shared,
            kinds: Mutex::default(),
            streams: Mutex::default(),
        };
        watch.follow_jobs().await?;
        if !setup.release_all {
            let chosen = setup
                .nodes
                .iter()
                .fold(Config::default(), |config, labels| config.labels(labels));
            let nodes: Api<NodeObject> =
                Api::all_with(watch.client.clone(), &ApiResource::erase::<Node>(&()));
            watch.follow(
                nodes,
                chosen,
                |own| own.name.as_deref(),
                machine,
                |all| &mut all.machines,
            );
            let pods: Api<PodObject> =
                Api::all_with(watch.client.clone(), &ApiResource::erase::<Pod>(&()));
            let placed = Config::default().fields("spec.nodeName!=");
            watch.follow(pods, placed, uid, placed_pod, |all| &mut all.pods);
        }
        watch.ready().await?;
        Ok(watch)
    }

    /// A job that has ended is not kept: Kueue keeps its Workload for long.
    async fn follow_jobs(&self) -> Result<(), String> {
        let gate = self.setup.gate.clone();
        let open = |work: Work| Some(work).filter(|work| !work.is_finished);
        match self.setup.mode {
            Mode::Kueue => {
                let kind = self.served().await?;
                let version = kind.api_version.clone();
                let read =
                    move |own: &WorkloadObject| open(Work::of_workload(own, &version, &gate));
                self.follow(self.objects(&kind), Config::default(), uid, read, |all| {
                    &mut all.works
                });
                self.follow_kind("batch/v1", "Job");
            }
            Mode::Suspend => {
                let value = setup_label(&gate);
                let chosen = Config::default().labels(&format!("{POLICY}={value}"));
                let read = move |own: &JobObject| open(Work::of_job(own, &gate));
                let jobs = self.objects(&ApiResource::erase::<Job>(&()));
                self.follow(jobs, chosen, uid, read, |all| &mut all.works);
            }
        }
        Ok(())
    }

    /// Returns what is known now.
    pub fn cluster(&self) -> MutexGuard<'_, Cluster> {
        locked(&self.shared.cluster)
    }

    /// Waits for the next change, if there was none since this was last waited for.
    pub async fn changed(&self) {
        self.shared.changed.notified().await;
    }

    /// Waits until every list has been read once, those of the owners' kinds, too.
    async fn ready(&self) -> Result<(), String> {
        loop {
            let read = self.changed();
            self.follow_owners();
            if let Some(why) = locked(&self.shared.refused).take() {
                return Err(why);
            }
            if self.shared.unread.load(Ordering::SeqCst) == 0 {
                return Ok(());
            }
            read.await;
        }
    }

    /// Follows the kinds of owners that are new.
    pub fn follow_owners(&self) {
        let cluster = self.cluster();
        let owners = cluster.works.values().flat_map(|work| &work.owners);
        let kinds: HashSet<(&str, &str)> =
            owners.map(|own| (&*own.api_version, &*own.kind)).collect();
        kinds
            .into_iter()
            .for_each(|(version, kind)| self.follow_kind(version, kind));
    }

    fn follow_kind(&self, version: &str, kind: &str) {
        if locked(&self.kinds).insert((version.into(), kind.into())) {
            let api: Api<PartialObjectMeta<DynamicObject>> = self.objects(&resource(version, kind));
            let gate = self.setup.gate.clone();
            let read = move |own: &PartialObjectMeta<DynamicObject>| {
                Some(Owner::new(&own.metadata, &gate))
            };
            self.follow(api, Config::default(), uid, read, |all| &mut all.owners);
        }
    }

    /// Returns objects of a kind, in the namespace that was chosen.
    fn objects<K>(&self, kind: &ApiResource) -> Api<K>
    where
        K: Resource<DynamicType = ApiResource, Scope = DynamicResourceScope>,
    {
        match &self.setup.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, kind),
            None => Api::all_with(self.client.clone(), kind),
        }
    }

    /// Returns all Jobs with their annotations.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn jobs(&self, gate: &str) -> Result<Vec<Work>, String> {
        let api: Api<DynamicObject> = self.objects(&resource("batch/v1", "Job"));
        let jobs = api
            .list_metadata(&ListParams::default())
            .await
            .map_err(|why| refusal(&why))?;
        Ok(jobs
            .iter()
            .map(|own| Work::named(&own.metadata, ("batch/v1", "Job"), gate))
            .collect())
    }

    /// Returns the version of Workloads that is served.
    async fn served(&self) -> Result<ApiResource, String> {
        for version in ["kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1"] {
            let kind = resource(version, "Workload");
            let api: Api<DynamicObject> = self.objects(&kind);
            match api.list(&ListParams::default().limit(1)).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(why) => return Err(refusal(&why)),
                Ok(_) => return Ok(kind),
            }
        }
        Err("the API server does not serve Workloads of kueue.x-k8s.io/v1beta2 or v1beta1: install Kueue (0.19 or later has the gate), or take Jobs without it by --mode suspend".into())
    }

    /// Takes what a stream brings, for ever: after a broken connection or an expired watch it lists anew, and what the list
    /// does not have is gone.
    fn follow<K, V>(
        &self,
        api: Api<K>,
        config: Config,
        key: fn(&ObjectMeta) -> Option<&str>,
        read: impl Fn(&K) -> Option<V> + Send + Sync + 'static,
        kept: Kept<V>,
    ) where
        K: Resource<DynamicType = ApiResource> + Clone + Debug + DeserializeOwned + Send + 'static,
        V: Send + 'static,
    {
        let name = api
            .resource_url()
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let pauses = ExponentialBuilder::default()
            .with_min_delay(FIRST)
            .with_max_delay(LONGEST);
        let pauses = ExponentialBackoff::from(pauses.with_jitter().without_max_times());
        let stream = watcher::watcher(api, config).backoff(pauses);
        let shared = self.shared.clone();
        shared.unread.fetch_add(1, Ordering::SeqCst);
        locked(&self.streams).spawn(async move {
            let mut stream = pin!(stream);
            let (mut listed, mut held, mut is_unread) = (HashMap::new(), HashSet::new(), true);
            let read = |own: &K| Some((Uid::from(key(own.meta())?), read(own)));
            while let Some(event) = stream.next().await {
                let mut is_read = false;
                match event {
                    Ok(Event::Init) => listed.clear(),
                    Ok(Event::InitApply(own)) => listed.extend(read(&own)),
                    Ok(Event::InitDone) => {
                        let gone = held
                            .extract_if(|uid| !listed.contains_key(uid))
                            .map(|uid| (uid, None));
                        let gone: Vec<(Uid, Option<V>)> = gone.collect();
                        held.extend(listed.keys().cloned());
                        replace(
                            kept(&mut locked(&shared.cluster)),
                            gone.into_iter().chain(listed.drain()),
                        );
                        is_read = true;
                    }
                    Ok(Event::Apply(own)) => {
                        let own = read(&own);
                        held.extend(own.iter().map(|(uid, _)| uid.clone()));
                        replace(kept(&mut locked(&shared.cluster)), own);
                    }
                    Ok(Event::Delete(own)) => {
                        let gone = read(&own).map(|(uid, _)| (uid, None));
                        held.retain(|uid| gone.as_ref().is_none_or(|(gone, _)| gone != uid));
                        replace(kept(&mut locked(&shared.cluster)), gone);
                    }
                    // A kind that may not be read keeps nothing else waiting.
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
    /// Takes note of an error; returns whether the list will not be had until somebody changes something.
    fn complain(&self, name: &str, why: &watcher::Error) -> bool {
        let (watcher::Error::InitialListFailed(why) | watcher::Error::WatchStartFailed(why)) = why
        else {
            // A connection that ended, or a watch that expired: it is taken up again at once.
            self.log
                .info("watch", &fields([("of", name), ("why", &why.to_string())]));
            return false;
        };
        let text = refusal(why);
        self.log
            .warn("watch", &fields([("of", name), ("why", &text)]));
        let is_refused =
            matches!(why, kube::Error::Api(status) if matches!(status.code, 403 | 404));
        if is_refused && ["workloads", "jobs", "nodes", "pods"].contains(&name) {
            *locked(&self.refused) = Some(text);
        }
        is_refused
    }
}

/// A lock of which nobody has to fear that it was left in the middle of a change.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn uid(metadata: &ObjectMeta) -> Option<&str> {
    metadata.uid.as_deref()
}

fn replace<V>(kept: &mut HashMap<Uid, V>, all: impl IntoIterator<Item = (Uid, Option<V>)>) {
    for (uid, own) in all {
        match own {
            Some(own) => drop(kept.insert(uid, own)),
            None => drop(kept.remove(&uid)),
        }
    }
}

/// Returns the label's value by which Jobs are taken: what stands behind the last slash of the gate's name.
fn setup_label(gate: &str) -> &str {
    gate.rsplit('/').next().unwrap_or_default()
}

/// Returns the resource of a kind, by the plural that is usual.
pub fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// Returns why a request was refused, and what to do where rights are missing.
pub fn refusal(why: &kube::Error) -> String {
    match why {
        kube::Error::Api(status) if status.code == 403 => {
            format!("{}: add that verb to its role", status.message)
        }
        kube::Error::Api(status) => status.message.clone(),
        why => {
            let mut texts = vec![why.to_string()];
            let mut next: Option<&dyn Error> = why.source();
            while let Some(why) = next {
                texts.push(why.to_string());
                next = why.source();
            }
            texts.dedup();
            texts.join(": ")
        }
    }
}

fn machine(node: &NodeObject) -> Option<Machine> {
    let status = node.status.as_ref()?;
    Some(Machine {
        capacity: Amounts::of(&status.allocatable),
        is_open: holds(&status.conditions, "Ready").is_some() && !node.spec.unschedulable,
    })
}

/// A pod that has ended uses nothing.
fn placed_pod(pod: &PodObject) -> Option<Placed> {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    let has_ended = matches!(phase, Some("Succeeded" | "Failed"));
    let ObjectMeta {
        annotations,
        namespace,
        ..
    } = &pod.metadata;
    let workload = annotations
        .as_ref()
        .and_then(|all| all.get("kueue.x-k8s.io/workload"));
    Some(Placed {
        node: pod.spec.node_name.clone().filter(|_| !has_ended)?,
        demand: pod.spec.demand(),
        parent: controller(&pod.metadata).map(|own| own.uid),
        workload: namespace.clone().zip(workload.cloned()),
    })
}
