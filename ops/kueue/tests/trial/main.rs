//! This program tests the controller on a real API server, with a replacement for Kueue.

mod api;
mod jobs;
mod owners;
mod processes;
mod stand_in;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use tokio::time::Instant;

use jobs::{Clock, Planned, Random, Site, TYPES};
use processes::{Controllers, Server};
use stand_in::StandIn;

#[derive(Clone, Debug, Parser)]
/// A trial on a simulated API server.
pub struct Trial {
    /// The folder of the API server that was started by scripts/kubernetes. The output is also
    /// written to this folder
    dir: PathBuf,
    /// The policy file for cluster.yaml
    policy: PathBuf,
    /// Path of the controller
    #[arg(long, default_value = "synth-kueue")]
    controller: PathBuf,
    /// Path of scripts/kubernetes
    #[arg(long, default_value = "scripts/kubernetes")]
    kubernetes: PathBuf,
    /// The sites, which run at the same time. The sites strict and best only use Kueue with this
    /// order, and the other sites use the policy
    #[arg(long, value_delimiter = ',', default_value = "strict,best,policy")]
    sites: Vec<String>,
    #[arg(long, default_value_t = 200)]
    jobs: usize,
    /// Seconds per hour of the workload
    #[arg(long, default_value_t = 36.0)]
    hour: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of times that a controller is killed, and the mean time before this [s]
    #[arg(long, default_value_t = 0)]
    kills: usize,
    #[arg(long, default_value_t = 3.0)]
    every: f64,
    /// Number of times that the API server is killed, and that it is stopped for some seconds
    #[arg(long, default_value_t = 0)]
    server_kills: usize,
    #[arg(long, default_value_t = 0)]
    server_stops: usize,
    /// Number of running jobs to evict
    #[arg(long, default_value_t = 0)]
    evictions: usize,
    /// Add another gate to every Nth job
    #[arg(long, default_value_t = 0)]
    beside: usize,
    /// Rewrite the gate of every Nth job when it is about to be removed
    #[arg(long, default_value_t = 0)]
    rewritten: usize,
    /// Only test sets of jobs and a group of pods, where one of them has to wait
    #[arg(long)]
    owners: bool,
    #[arg(long, default_value_t = 1)]
    replicas: usize,
    /// Submit all jobs at once, and stop after this time [s]
    #[arg(long)]
    backlog: Option<f64>,
    #[arg(long, default_value_t = 7790)]
    port: u16,
}

const NODES: usize = 8;

#[tokio::main]
async fn main() {
    let trial = Trial::parse();
    let config = Kubeconfig::read_from(trial.dir.join("admin.yaml"))
        .expect("the kubeconfig of scripts/kubernetes");
    let mut config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default())
        .await
        .expect("a kubeconfig");
    config.read_timeout = None;
    let client = Client::try_from(config).expect("a client");
    api::kinds(&client).await;
    if trial.owners {
        let faults = owners::run(&trial, &client).await;
        faults.iter().for_each(|own| println!("FAULT: {own}"));
        std::process::exit(i32::from(!faults.is_empty()));
    }
    let plan = jobs::plan(trial.jobs, trial.seed, trial.backlog.is_some());
    std::fs::write(trial.dir.join("jobs.csv"), jobs::table(&plan)).expect("jobs.csv");
    for site in &trial.sites {
        api::site(&client, site, NODES).await;
    }
    let clock = Clock {
        begin: Instant::now() + Duration::from_secs(1),
        hour: trial.hour,
    };
    let start = |name: &String| {
        let site = Site {
            client: client.clone(),
            name: name.clone(),
            plan: plan.clone(),
            clock,
        };
        tokio::spawn(run(trial.clone(), site))
    };
    let tasks: Vec<_> = trial.sites.iter().map(start).collect();
    let mut faults = 0;
    for task in tasks {
        let (report, found) = task.await.expect("a site");
        println!("{report}");
        faults += found;
    }
    std::process::exit(i32::from(faults > 0));
}

async fn run(trial: Trial, site: Site) -> (String, usize) {
    let (is_strict, is_gated) = match site.name.as_str() {
        "strict" => (true, false),
        "best" => (false, false),
        _ => (false, true),
    };
    let mut stand_in = StandIn::new(site.clone(), is_strict);
    let others = [trial.beside, trial.rewritten];
    tokio::spawn(jobs::submit(site.clone(), is_gated, others));
    let end = site.clock.at(trial.backlog.unwrap_or(7200.0));
    let mut random = Random(trial.seed + 1);
    let called =
        |stand_in: &StandIn| format!("{}\n{}", site.name, table(&site.plan, stand_in, trial.hour));
    if !is_gated {
        stand_in.work(end, 0, &mut random).await;
        return (called(&stand_in), 0);
    }
    let mut controllers = Controllers::start(&trial, &site.name);
    let server = Server::of(&trial);
    let kills =
        async { tokio::join!(controllers.kill(&site.client), server.kill(), server.stop()) };
    tokio::select! {
        () = stand_in.work(end, trial.evictions, &mut random) => {}
        never = async { kills.await; std::future::pending::<()>().await } => never,
    }
    server.back().await;
    let mut report = called(&stand_in) + &controllers.end() + &server.report();
    let found = audit(&stand_in, &site.plan, &controllers, trial.backlog.is_some());
    report.extend(found.iter().map(|own| format!("FAULT: {own}\n")));
    if found.is_empty() {
        report += "audit: each started job has one mark, each mark one removal, and no job is forgotten\n";
    }
    report += &late(&stand_in);
    (report, found.len())
}

/// Returns the faults, such as jobs that were forgotten or were started without the policy.
fn audit(
    stand_in: &StandIn,
    plan: &[Planned],
    controllers: &Controllers,
    is_cut: bool,
) -> Vec<String> {
    let mut faults = Vec::new();
    let logged = controllers.released();
    let mut once = HashSet::new();
    let twice = logged.iter().filter(|uid| !once.insert(*uid));
    faults.extend(twice.map(|uid| format!("the removal of the gate of {uid} is logged twice")));
    for i in 0..plan.len() {
        let Some(own) = stand_in.seen.get(&i) else {
            faults.push(format!("job-{i} was never seen"));
            continue;
        };
        let text = match (own.marks.len(), own.started.is_some(), own.ended.is_some()) {
            (2.., ..) => "has several marks",
            (0, true, _) => "started without a mark",
            (_, _, false) if !is_cut => "has not ended",
            _ if !own.was_gated => "had no gate",
            _ => continue,
        };
        faults.push(format!("job-{i} {text}"));
    }
    faults
}

/// Describes how long jobs waited for quota after their release. This is 0 if they always fit.
fn late(stand_in: &StandIn) -> String {
    let seen = stand_in.seen.values();
    let waits = seen.filter_map(|own| Some(own.started? - own.released?));
    let mut waits: Vec<f64> = waits.collect();
    waits.sort_by(f64::total_cmp);
    let late = waits.iter().filter(|wait| **wait > 1.0).count();
    let longest = waits.last().copied().unwrap_or(0.0);
    format!(
        "{} releases, {late} of them waited over 1 s for quota (longest {longest:.1} s)\n",
        waits.len()
    )
}

fn table(plan: &[Planned], stand_in: &StandIn, hour: f64) -> String {
    let mut lines = format!(
        "{:<10} {:>5} {:>16} {:>12} {:>13} {:>17}\n",
        "type", "jobs", "mean response [h]", "mean wait [h]", "median wait", "longest wait [h]"
    );
    for k in 0..=TYPES.len() {
        let is_of = |own: &Planned| k == TYPES.len() || own.job_type == k;
        let own = plan.iter().enumerate().filter(|own| is_of(own.1));
        let ended = own.filter_map(|(i, own)| {
            let seen = stand_in.seen.get(&i)?;
            let since = |seconds: f64| seconds / hour - own.arrival;
            Some((since(seen.started?), since(seen.ended?)))
        });
        let mut ended: Vec<(f64, f64)> = ended.collect();
        ended.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n = ended.len().max(1) as f64;
        let mean = |part: fn(&(f64, f64)) -> f64| ended.iter().map(part).sum::<f64>() / n;
        lines += &format!(
            "{:<10} {:>5} {:>16.3} {:>12.3} {:>13.3} {:>17.3}\n",
            TYPES.get(k).map_or("all", |own| own.0),
            ended.len(),
            mean(|own| own.1),
            mean(|own| own.0),
            ended.get(ended.len() / 2).map_or(0.0, |own| own.0),
            ended.last().map_or(0.0, |own| own.0),
        );
    }
    lines
}
