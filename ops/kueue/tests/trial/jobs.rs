use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use crate::api::{create, object, pod, replace_gates};

/// The name, the pods, the GPUs and cores of each pod, and the arrivals per hour, as in
/// `cluster.yaml`.
pub const TYPES: [(&str, usize, [i64; 2], f64); 3] = [
    ("notebook", 1, [1, 4], 8.0),
    ("train", 1, [8, 32], 2.0),
    ("gang4", 4, [8, 32], 1.0),
];
pub const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
pub const OURS: &str = "synth/gate";
pub const OTHERS: &str = "other.example/gate";

/// SplitMix64 (Steele et al. 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.next()).ln()
    }

    pub async fn pause(&mut self, mean: f64) {
        sleep(Duration::from_secs_f64(self.exponential(mean))).await;
    }
}

/// The start of a trial, and the number of seconds in an hour of the workload.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub begin: Instant,
    pub hour: f64,
}

impl Clock {
    pub fn at(&self, seconds: f64) -> Instant {
        self.begin + Duration::from_secs_f64(seconds)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Planned {
    pub job_type: usize,
    /// \[h\]
    pub arrival: f64,
    pub size: f64,
}

pub fn plan(count: usize, seed: u64, all_at_once: bool) -> Vec<Planned> {
    let mut random = Random(seed);
    let total: f64 = TYPES.iter().map(|own| own.3).sum();
    let mut now = 0.0;
    let draw = |_| {
        now += random.exponential(1.0 / total);
        let mut left = random.next() * total;
        let of = TYPES.iter().position(|own| {
            left -= own.3;
            left < 0.0
        });
        Planned {
            job_type: of.unwrap_or(0),
            arrival: if all_at_once { 0.0 } else { now },
            // The run time of a shorter job would depend on the time of the requests.
            size: random.exponential(1.0).max(1.0 / 60.0),
        }
    };
    (0..count).map(draw).collect()
}

pub fn table(jobs: &[Planned]) -> String {
    let rows = jobs
        .iter()
        .map(|own| format!("{},{},{}\n", TYPES[own.job_type].0, own.arrival, own.size));
    "type,arrival,size\n".to_owned() + &rows.collect::<String>()
}

pub fn place(name: &str) -> Option<usize> {
    name.strip_prefix("job-")?.parse().ok()
}

#[derive(Clone)]
pub struct Site {
    pub client: Client,
    pub name: String,
    pub plan: Vec<Planned>,
    pub clock: Clock,
}

impl Site {
    pub fn objects<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.name)
    }
}

/// Submits each job at its arrival time. Every `doubled`th job also has a gate of others. The gate
/// of every `rewritten`th job is soon written in a different way that has the same meaning.
pub async fn submit(site: Site, gated: bool, [doubled, rewritten]: [usize; 2]) {
    let (api, clock) = (site.objects::<Job>(), site.clock);
    let slots = std::sync::Arc::new(tokio::sync::Semaphore::new(16));
    for (i, own) in site.plan.into_iter().enumerate() {
        sleep_until(clock.at(own.arrival * clock.hour)).await;
        let slot = slots.clone().acquire_owned().await;
        let api = api.clone();
        tokio::spawn(async move {
            let (_, pods, demand, _) = TYPES[own.job_type];
            let is_nth = |n: usize| n > 0 && i % n == n - 1;
            let gates = match (gated, is_nth(doubled)) {
                (false, _) => json!({}),
                (true, false) => json!({GATES: OURS}),
                (true, true) => json!({GATES: format!("{OTHERS},{OURS}")}),
            };
            let job: Job = object(json!({
                "metadata": {"name": format!("job-{i}"), "annotations": gates, "labels": {"kueue.x-k8s.io/queue-name": "all"}},
                "spec": {"parallelism": pods, "completions": pods, "template": {"spec": pod(demand)}},
            }));
            create(&api, &job).await;
            drop(slot);
            if gated && is_nth(rewritten) {
                // At this time the controller is about to remove the gate.
                sleep(Duration::from_millis(50)).await;
                let (name, gates) = (format!("job-{i}"), format!("{OURS},"));
                replace_gates(&api, &name, Some(OURS), &gates).await;
            }
        });
    }
}
