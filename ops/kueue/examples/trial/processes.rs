//! The controllers and the API server as processes, and how they are killed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::Trial;
use crate::jobs::Random;

/// The replicas of a site's controller.
pub struct Controllers {
    commands: Vec<Vec<String>>,
    program: PathBuf,
    log: PathBuf,
    children: Vec<Child>,
    lease: String,
    port: u16,
    kills: usize,
    /// How often one ended by itself.
    exits: usize,
    /// From the kill of the one that acts until another does [s].
    takeovers: Vec<f64>,
}

impl Controllers {
    pub fn start(trial: &Trial, site: &str) -> Self {
        let command = |n: usize| {
            let lines = format!(
                "--namespace {site} --nodes site={site} --lease default/{site} --lease-duration {}s --listen 127.0.0.1:{} --identity {site}-{n}",
                trial.lease,
                trial.port + n as u16
            );
            let mut words = vec![
                trial.policy.display().to_string(),
                "--kubeconfig".into(),
                trial.dir.join("admin.yaml").display().to_string(),
            ];
            words.extend(lines.split(' ').map(str::to_owned));
            words
        };
        let mut own = Controllers {
            commands: (0..trial.replicas).map(command).collect(),
            program: trial.controller.clone(),
            log: trial.dir.join(format!("{site}.log")),
            children: Vec::new(),
            lease: site.into(),
            port: trial.port,
            kills: 0,
            exits: 0,
            takeovers: Vec::new(),
        };
        let _ = File::create(&own.log);
        own.children = (0..trial.replicas).map(|n| own.spawn(n)).collect();
        own
    }

    fn spawn(&self, n: usize) -> Child {
        let log = OpenOptions::new()
            .append(true)
            .open(&self.log)
            .expect("a log");
        let mut command = Command::new(&self.program);
        command
            .args(&self.commands[n])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        command.spawn().expect("the controller")
    }

    /// Kills one after another at random moments, the one that acts where there are several, and starts it again, as what ended
    /// by itself; for ever.
    pub async fn kill(&mut self, client: &Client, trial: &Trial) {
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
            let acts = if trial.replicas == 1 {
                Some(0)
            } else {
                self.holder(&leases).await
            };
            let Some(n) = acts else { continue };
            self.stop(n);
            self.kills += 1;
            let begin = Instant::now();
            while trial.replicas > 1 && self.holder(&leases).await.is_none_or(|now| now == n) {
                sleep(Duration::from_millis(50)).await;
            }
            if trial.replicas > 1 {
                self.takeovers.push(begin.elapsed().as_secs_f64());
            }
            self.children[n] = self.spawn(n);
        }
    }

    async fn holder(&self, leases: &Api<Lease>) -> Option<usize> {
        let lease = leases.get(&self.lease).await.ok()?;
        let holder = lease.spec?.holder_identity?;
        holder.rsplit('-').next()?.parse().ok()
    }

    /// Ends them; returns what they took.
    pub fn end(&mut self) -> String {
        let mut lines = format!(
            "{} kills of the controller, which ended {} times by itself\n",
            self.kills, self.exits
        );
        if !self.takeovers.is_empty() {
            self.takeovers.sort_by(f64::total_cmp);
            let all = self.takeovers.iter().map(|own| format!("{own:.1}"));
            let all: Vec<String> = all.collect();
            lines += &format!("another acts after {} s\n", all.join(", "));
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

    /// Returns what was logged in this message's field.
    fn logged(&self, message: &str, field: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text.lines().map(serde_json::from_str::<Value>);
        let own = lines.flatten().filter(|own| own["message"] == message);
        own.map(|own| own[field].clone()).collect()
    }

    /// Returns the jobs whose release was logged.
    pub fn released(&self) -> Vec<String> {
        let all = self.logged("released", "uid").into_iter();
        all.filter_map(|uid| Some(uid.as_str()?.to_owned()))
            .collect()
    }

    /// Returns the requests that the API server refused, by code.
    fn refused(&self) -> String {
        let mut counts = BTreeMap::new();
        for code in self.logged("refused", "code") {
            *counts.entry(code.to_string()).or_insert(0) += 1;
        }
        let counts = counts.iter().map(|(code, n)| format!(" {code}: {n}"));
        format!("refused requests, by code:{}\n", counts.collect::<String>())
    }

    /// Returns the lines of a replica's metrics that have one of these words.
    pub fn metrics(&self, n: usize, words: &[&str]) -> Vec<String> {
        let url = format!("http://127.0.0.1:{}/metrics", self.port + n as u16);
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

    /// Kills one and starts it again.
    pub fn again(&mut self, n: usize) {
        self.stop(n);
        self.children[n] = self.spawn(n);
    }
}

/// The API server.
pub struct Server {
    script: PathBuf,
    dir: PathBuf,
    kills: AtomicUsize,
    stops: AtomicUsize,
}

impl Server {
    pub fn of(trial: &Trial) -> Self {
        Server {
            script: trial.kubernetes.clone(),
            dir: trial.dir.clone(),
            kills: AtomicUsize::new(0),
            stops: AtomicUsize::new(0),
        }
    }

    async fn script(&self, verb: &'static str) -> bool {
        let (script, dir) = (self.script.clone(), self.dir.clone());
        let run = move || {
            Command::new(script)
                .arg(verb)
                .arg(dir)
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|own| own.success())
        };
        tokio::task::spawn_blocking(run).await.unwrap_or(false)
    }

    /// Kills it at random moments and starts it again.
    pub async fn kill(&self, trial: &Trial) {
        let mut random = Random(trial.seed + 3);
        while self.kills.load(Ordering::SeqCst) < trial.server_kills {
            random.pause(2.0 * trial.every).await;
            self.script("kill").await;
            while !self.script("again").await {}
            self.kills.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Stops it for some seconds, so that requests are answered late or not at all.
    pub async fn stop(&self, trial: &Trial) {
        let mut random = Random(trial.seed + 4);
        while self.stops.load(Ordering::SeqCst) < trial.server_stops {
            random.pause(4.0 * trial.every).await;
            if signal(&self.dir, "-STOP") {
                sleep(Duration::from_secs_f64(1.0 + 6.0 * random.next())).await;
                signal(&self.dir, "-CONT");
                self.stops.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    /// Starts it again if it was just killed or stopped.
    pub async fn back(&self) {
        signal(&self.dir, "-CONT");
        if !signal(&self.dir, "-0") {
            self.script("again").await;
        }
    }

    pub fn report(&self) -> String {
        format!(
            "{} kills and {} stops of the API server\n",
            self.kills.load(Ordering::SeqCst),
            self.stops.load(Ordering::SeqCst)
        )
    }
}

fn signal(dir: &Path, name: &str) -> bool {
    let id = std::fs::read_to_string(dir.join("run/apiserver")).unwrap_or_default();
    Command::new("kill")
        .args([name, id.trim()])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|own| own.success())
}
