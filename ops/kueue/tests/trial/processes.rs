use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::Trial;
use crate::jobs::Random;

pub struct Controllers {
    trial: Trial,
    site: String,
    children: Vec<Child>,
    kills: usize,
    exits: usize,
    /// The time between each kill of the leader and the first action of another replica \[s\].
    takeovers: Vec<f64>,
}

impl Controllers {
    pub fn start(trial: &Trial, site: &str) -> Self {
        let mut own = Controllers {
            trial: trial.clone(),
            site: site.into(),
            children: Vec::new(),
            kills: 0,
            exits: 0,
            takeovers: Vec::new(),
        };
        let _ = File::create(own.log());
        own.children = (0..trial.replicas).map(|n| own.spawn(n)).collect();
        own
    }

    fn log(&self) -> PathBuf {
        self.trial.dir.join(format!("{}.log", self.site))
    }

    fn address(&self, n: usize) -> String {
        format!("127.0.0.1:{}", self.trial.port + n as u16)
    }

    fn spawn(&self, n: usize) -> Child {
        let (trial, site, address) = (&self.trial, &self.site, self.address(n));
        let options = format!(
            "--namespace {site} --nodes site={site} --lease default/{site} --lease-duration 6s --listen {address} --identity {site}-{n}"
        );
        let log = OpenOptions::new().append(true).open(self.log());
        Command::new(&trial.controller)
            .arg(&trial.policy)
            .arg("--kubeconfig")
            .arg(trial.dir.join("admin.yaml"))
            .args(options.split(' '))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.expect("a log"))
            .spawn()
            .expect("the controller")
    }

    /// Kills the leader at random times, and starts each replica that has exited. Does not return.
    pub async fn kill(&mut self, client: &Client) {
        let trial = self.trial.clone();
        let leases: Api<Lease> = Api::namespaced(client.clone(), "default");
        let mut random = Random(trial.seed + 2);
        let mut next = Instant::now() + Duration::from_secs_f64(random.exponential(trial.every));
        loop {
            sleep(Duration::from_millis(50)).await;
            for n in 0..self.children.len() {
                if !matches!(self.children[n].try_wait(), Ok(None)) {
                    self.exits += 1;
                    sleep(Duration::from_secs(1)).await;
                    self.children[n] = self.spawn(n);
                }
            }
            if self.kills == trial.kills || Instant::now() < next {
                continue;
            }
            next = Instant::now() + Duration::from_secs_f64(random.exponential(trial.every));
            if trial.replicas == 1 {
                self.kills += 1;
                self.again(0);
                continue;
            }
            let Some(n) = self.holder(&leases).await else {
                continue;
            };
            self.kills += 1;
            self.stop(n);
            let begin = Instant::now();
            while self.holder(&leases).await.is_none_or(|now| now == n) {
                sleep(Duration::from_millis(50)).await;
            }
            self.takeovers.push(begin.elapsed().as_secs_f64());
            self.children[n] = self.spawn(n);
        }
    }

    async fn holder(&self, leases: &Api<Lease>) -> Option<usize> {
        let lease = leases.get(&self.site).await.ok()?;
        let holder = lease.spec?.holder_identity?;
        holder.rsplit('-').next()?.parse().ok()
    }

    /// Stops the replicas, and returns a report about their memory and metrics.
    pub fn end(&mut self) -> String {
        let mut lines = format!(
            "{} kills of the controller, which exited {} times by itself\n",
            self.kills, self.exits
        );
        if !self.takeovers.is_empty() {
            self.takeovers.sort_by(f64::total_cmp);
            let all = self.takeovers.iter().map(|own| format!("{own:.1}"));
            let all: Vec<String> = all.collect();
            lines += &format!("another replica acts after {} s\n", all.join(", "));
        }
        for (n, child) in self.children.iter().enumerate() {
            let path = format!("/proc/{}/status", child.id());
            let status = std::fs::read_to_string(path).unwrap_or_default();
            let most = status.lines().find(|own| own.starts_with("VmHWM"));
            let most = most.unwrap_or_default();
            let metrics = self.metrics(n, &["rounds", "decision", "disagree", "failed"]);
            lines += &format!("replica {n}: {most}\n");
            lines.extend(metrics.iter().map(|own| format!("  {own}\n")));
        }
        (0..self.children.len()).for_each(|n| self.stop(n));
        lines += &self.refused();
        lines
    }

    fn logged(&self, message: &str, field: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines = text.lines().map(serde_json::from_str::<Value>);
        let own = lines.flatten().filter(|own| own["message"] == message);
        own.map(|own| own[field].clone()).collect()
    }

    pub fn released(&self) -> Vec<String> {
        let all = self.logged("released", "uid").into_iter();
        all.filter_map(|uid| Some(uid.as_str()?.to_owned()))
            .collect()
    }

    fn refused(&self) -> String {
        let mut counts = BTreeMap::new();
        for code in self.logged("refused", "code") {
            *counts.entry(code.to_string()).or_insert(0) += 1;
        }
        let counts = counts.iter().map(|(code, n)| format!(" {code}: {n}"));
        format!("refused requests, by code:{}\n", counts.collect::<String>())
    }

    pub fn metrics(&self, n: usize, words: &[&str]) -> Vec<String> {
        let url = format!("http://{}/metrics", self.address(n));
        let metrics = Command::new("curl")
            .args(["-s", "--max-time", "5", &url])
            .output();
        let metrics = metrics.map_or(String::new(), |own| {
            String::from_utf8_lossy(&own.stdout).into()
        });
        let lines = metrics.lines().filter(|own| !own.starts_with('#'));
        let chosen = lines.filter(|own| words.iter().any(|word| own.contains(word)));
        chosen.map(str::to_owned).collect()
    }

    fn stop(&mut self, n: usize) {
        let _ = self.children[n].kill();
        let _ = self.children[n].wait();
    }

    pub fn again(&mut self, n: usize) {
        self.stop(n);
        self.children[n] = self.spawn(n);
    }
}

pub struct Server {
    trial: Trial,
    kills: AtomicUsize,
    stops: AtomicUsize,
}

impl Server {
    pub fn of(trial: &Trial) -> Self {
        Server {
            trial: trial.clone(),
            kills: AtomicUsize::new(0),
            stops: AtomicUsize::new(0),
        }
    }

    async fn script(&self, verb: &'static str) -> bool {
        let mut command = Command::new(&self.trial.kubernetes);
        command.arg(verb).arg(&self.trial.dir);
        let run = move || succeeds(&mut command);
        tokio::task::spawn_blocking(run).await.unwrap_or(false)
    }

    pub async fn kill(&self) {
        let trial = &self.trial;
        let mut random = Random(trial.seed + 3);
        while self.kills.load(Ordering::SeqCst) < trial.server_kills {
            random.pause(2.0 * trial.every).await;
            self.script("kill").await;
            while !self.script("again").await {}
            self.kills.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Stops the server for some seconds, so that requests are answered late or are not answered.
    pub async fn stop(&self) {
        let trial = &self.trial;
        let mut random = Random(trial.seed + 4);
        while self.stops.load(Ordering::SeqCst) < trial.server_stops {
            random.pause(4.0 * trial.every).await;
            if self.signal("-STOP") {
                sleep(Duration::from_secs_f64(1.0 + 6.0 * random.next())).await;
                self.signal("-CONT");
                self.stops.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    pub async fn back(&self) {
        self.signal("-CONT");
        if !self.signal("-0") {
            self.script("again").await;
        }
    }

    fn signal(&self, name: &str) -> bool {
        let id = std::fs::read_to_string(self.trial.dir.join("run/apiserver")).unwrap_or_default();
        succeeds(Command::new("kill").args([name, id.trim()]))
    }

    pub fn report(&self) -> String {
        format!(
            "{} kills and {} stops of the API server\n",
            self.kills.load(Ordering::SeqCst),
            self.stops.load(Ordering::SeqCst)
        )
    }
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stderr(Stdio::null()).status();
    status.is_ok_and(|own| own.success())
}
