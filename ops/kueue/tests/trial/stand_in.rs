//! This module replaces Kueue and the kubelets of a site. It creates a Workload for each Job,
//! reserves quota on the nodes in the order of Kueue, and runs the pods according to the clock.

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams};
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use crate::NODES;
use crate::api::{
    change, create, done, object, owner, pod, replace_gates, set_conditions, workload, workloads,
};
use crate::jobs::{GATES, OTHERS, OURS, Random, Site, TYPES, place};

/// The observed state of a job. All times are in seconds since the start.
#[derive(Debug, Default)]
pub struct Seen {
    pub uid: String,
    /// The current gates, and the time at which the last gate was removed.
    gates: Option<String>,
    pub released: Option<f64>,
    pub marks: Vec<String>,
    pub was_gated: bool,
    /// The time at which capacity was first reserved, and the time at which the job ended.
    pub started: Option<f64>,
    pub ended: Option<f64>,
    on: Vec<usize>,
    until: f64,
    pub evictions: usize,
    writing: Option<JoinHandle<()>>,
}

pub struct StandIn {
    site: Site,
    /// Whether quota is reserved in order (StrictFIFO) or for the oldest job that fits.
    is_strict: bool,
    pub seen: HashMap<usize, Seen>,
    /// The free GPUs and cores of each node.
    free: Vec<[i64; 2]>,
}

impl StandIn {
    pub fn new(site: Site, is_strict: bool) -> Self {
        StandIn {
            site,
            is_strict,
            seen: HashMap::new(),
            free: vec![[8, 64]; NODES],
        }
    }

    /// Runs until all jobs have ended or until the time `until`. Jobs are evicted at random times.
    pub async fn work(&mut self, until: Instant, evictions: usize, random: &mut Random) {
        let jobs = self.site.objects::<Job>();
        let mut stream = pin!(
            watcher(jobs, watcher::Config::default())
                .default_backoff()
                .applied_objects()
        );
        let span = self.site.plan.last().map_or(0.0, |own| own.arrival) * self.site.clock.hour;
        let mut moments: Vec<f64> = (0..evictions).map(|_| random.next() * span).collect();
        moments.sort_by(f64::total_cmp);
        while Instant::now() < until && !self.is_done() {
            let running = self.seen.values().filter(|own| !own.on.is_empty());
            let ends = running.map(|own| own.until);
            let next = ends.fold(self.now() + 1.0, f64::min);
            tokio::select! {
                job = stream.next() => if let Some(Ok(job)) = job { self.look(&job) },
                () = sleep_until(self.site.clock.at(next)) => {}
            }
            let now = self.now();
            let mut over = self.those(|own| !own.on.is_empty() && own.until <= now);
            over.sort_by(|a, b| self.seen[a].until.total_cmp(&self.seen[b].until));
            over.into_iter().for_each(|i| self.end(i));
            if moments.first().is_some_and(|moment| *moment <= now) {
                moments.remove(0);
                let running = self.those(|own| !own.on.is_empty());
                if !running.is_empty() {
                    self.evict(running[(random.next() * running.len() as f64) as usize]);
                }
            }
            self.reserve();
        }
        for own in self.seen.values_mut() {
            if let Some(writing) = own.writing.take() {
                let _ = writing.await;
            }
        }
    }

    fn now(&self) -> f64 {
        self.site.clock.begin.elapsed().as_secs_f64()
    }

    fn those(&self, is: impl Fn(&Seen) -> bool) -> Vec<usize> {
        let seen = self.seen.iter().filter(|(_, own)| is(own));
        let mut jobs: Vec<usize> = seen.map(|(i, _)| *i).collect();
        jobs.sort_unstable();
        jobs
    }

    fn is_done(&self) -> bool {
        self.seen.len() == self.site.plan.len() && self.seen.values().all(|own| own.ended.is_some())
    }

    fn look(&mut self, job: &Job) {
        let (Some(name), now) = (job.metadata.name.clone(), self.now()) else {
            return;
        };
        let Some(i) = place(&name) else { return };
        let annotation = |name: &str| job.metadata.annotations.as_ref()?.get(name).cloned();
        let gates = annotation(GATES);
        let is_new = !self.seen.contains_key(&i);
        let own = self.seen.entry(i).or_default();
        if let Some(mark) =
            annotation("synth/released").filter(|mark| own.marks.last() != Some(mark))
        {
            own.marks.push(mark);
        }
        let before = std::mem::replace(&mut own.gates, gates.clone());
        let api = workloads(&self.site.client, &self.site.name);
        if is_new {
            own.uid = job.metadata.uid.clone().unwrap_or_default();
            own.was_gated = gates.is_some();
            if gates.as_ref().is_some_and(|own| own.contains(OTHERS)) {
                self.lift_others(name.clone());
            }
            let owners = vec![owner("batch/v1", "Job", &name, job.metadata.uid.clone())];
            let pods = TYPES[self.site.plan[i].job_type].1;
            let template = json!(job.spec.as_ref().map(|own| &own.template));
            let workload = workload(&name, gates.as_deref(), owners, pods, template);
            self.write(i, async move {
                create(&api, &workload).await;
            });
        } else if before != gates {
            // Kueue copies the gates immediately. The gates of the Workload are not used.
            let patch = json!({"metadata": {"annotations": {GATES: gates}}});
            if let (None, Some(own)) = (&gates, self.seen.get_mut(&i)) {
                own.released = Some(now);
            }
            self.write(i, async move {
                change(&api, &name, patch).await;
            });
        }
    }

    fn lift_others(&self, name: String) {
        let api = self.site.objects::<Job>();
        tokio::spawn(async move {
            sleep(Duration::from_millis(1000 + name.len() as u64 * 500)).await;
            replace_gates(&api, &name, None, OURS).await;
        });
    }

    /// Reserves quota for the jobs that fit. Each pod uses the node that fits best.
    fn reserve(&mut self) {
        for i in self.those(|own| own.gates.is_none() && own.on.is_empty() && own.ended.is_none()) {
            let (_, pods, demand, _) = TYPES[self.site.plan[i].job_type];
            let mut free = self.free.clone();
            let mut on = Vec::new();
            for _ in 0..pods {
                let holds = |n: &usize| free[*n][0] >= demand[0] && free[*n][1] >= demand[1];
                let Some(n) = (0..free.len()).filter(holds).min_by_key(|n| free[*n]) else {
                    break;
                };
                free[n] = [free[n][0] - demand[0], free[n][1] - demand[1]];
                on.push(n);
            }
            if on.len() == pods {
                self.free = free;
                self.start(i, on);
            } else if self.is_strict {
                break;
            }
        }
    }

    fn start(&mut self, i: usize, on: Vec<usize>) {
        let now = self.now();
        let until = now + self.site.plan[i].size * self.site.clock.hour;
        let Some(own) = self.seen.get_mut(&i) else {
            return;
        };
        own.started.get_or_insert(now);
        own.until = until;
        own.on.clone_from(&on);
        let (uid, round) = (own.uid.clone(), own.evictions);
        let (_, pods, demand, _) = TYPES[self.site.plan[i].job_type];
        let api = self.site.objects::<Pod>();
        let space = self.site.name.clone();
        let pod = move |k: usize| {
            let (mut spec, job) = (pod(demand), format!("job-{i}"));
            spec["nodeName"] = json!(format!("{space}-{}", on[k]));
            let owner = owner("batch/v1", "Job", &job, Some(uid.clone()));
            let name = format!("{job}-{round}-{k}");
            object::<Pod>(json!({
                "metadata": {"name": name, "labels": {"job-name": job}, "ownerReferences": [owner]},
                "spec": spec,
            }))
        };
        let status = self.status(i, "QuotaReserved Admitted PodsReady !Evicted");
        self.write(i, async move {
            status.await;
            for pod in (0..pods).map(pod) {
                create(&api, &pod).await;
            }
        });
    }

    /// Ends a job. The pods are deleted before the Workload and the Job are completed.
    fn end(&mut self, i: usize) {
        self.vacate(i);
        if let Some(own) = self.seen.get_mut(&i) {
            own.ended = Some(own.until);
        }
        let (pods, name) = (self.pods_gone(i), format!("job-{i}"));
        let jobs = self.site.objects::<Job>();
        let status = self.status(i, "QuotaReserved Admitted Finished");
        self.write(i, async move {
            pods.await;
            status.await;
            set_conditions(&jobs, &name, "Complete").await;
        });
    }

    fn evict(&mut self, i: usize) {
        self.vacate(i);
        if let Some(own) = self.seen.get_mut(&i) {
            own.evictions += 1;
        }
        let status = self.status(i, "!QuotaReserved !Admitted Evicted");
        let pods = self.pods_gone(i);
        self.write(i, async move {
            pods.await;
            status.await;
        });
    }

    fn vacate(&mut self, i: usize) {
        let demand = TYPES[self.site.plan[i].job_type].2;
        let on = self.seen.get_mut(&i).map(|own| std::mem::take(&mut own.on));
        for n in on.into_iter().flatten() {
            self.free[n] = [self.free[n][0] + demand[0], self.free[n][1] + demand[1]];
        }
    }

    fn pods_gone(&self, i: usize) -> impl Future<Output = ()> + use<> {
        let pods = self.site.objects::<Pod>();
        async move {
            let chosen = ListParams::default().labels(&format!("job-name=job-{i}"));
            let now = DeleteParams::default().grace_period(0);
            done(|| pods.delete_collection(&now, &chosen)).await;
        }
    }

    fn status(&self, i: usize, conditions: &'static str) -> impl Future<Output = ()> + use<> {
        let api = workloads(&self.site.client, &self.site.name);
        async move { set_conditions(&api, &format!("job-{i}"), conditions).await }
    }

    /// Sends a request to the API after the previous requests for the same job were answered.
    fn write(&mut self, i: usize, request: impl Future<Output = ()> + Send + 'static) {
        let Some(own) = self.seen.get_mut(&i) else {
            return;
        };
        let before = own.writing.take();
        own.writing = Some(tokio::spawn(async move {
            if let Some(before) = before {
                let _ = before.await;
            }
            request.await;
        }));
    }
}
