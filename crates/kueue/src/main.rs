//! Lets a scheduling policy decide when the jobs of a Kubernetes cluster start.
//!
//! Jobs come with an admission gate; the policy decides when each is to start, and its gate is removed; Kueue and the
//! kube-scheduler say where. `view`, `types`, `site` and `desk` know no API; the other modules are around them.

mod amounts;
mod cluster;
mod desk;
mod lease;
mod log;
mod metrics;
mod notices;
mod objects;
mod release;
mod run;
mod serve;
mod setup;
mod site;
mod types;
mod units;
mod view;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use log::{Log, fields};
use run::Controller;
use setup::{Format, Setup};

#[tokio::main]
async fn main() -> ExitCode {
    let mut setup = Setup::parse();
    if setup.dry_run || setup.release_all {
        // A person reads it.
        setup.log = Format::Text;
    }
    let log = Log(setup.log);
    match controlled(Arc::new(setup), log).await {
        Ok(printed) => {
            print!("{printed}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            match log.0 {
                Format::Json => log.error("ended", &fields([("why", &*why)])),
                Format::Text => eprintln!("error: {}", why.trim_start_matches("error: ")),
            }
            ExitCode::from(2)
        }
    }
}

/// Does what was typed; returns what is printed in the end.
async fn controlled(setup: Arc<Setup>, log: Log) -> Result<String, String> {
    // What is wrong with the policy is said before anything else is looked at.
    if setup.policy.is_some() {
        desk::Desk::new(&setup)?;
    }
    let client = connect(&setup).await?;
    let metrics = Arc::default();
    let controller = Controller {
        setup: Arc::clone(&setup),
        client,
        log,
        metrics,
    };
    if setup.release_all {
        return Ok(controller.release_all().await? + "\n");
    }
    if setup.dry_run {
        return Ok(controller.plan().await? + "\n");
    }
    serve::serve(setup.listen, Arc::clone(&controller.metrics)).await?;
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "synth-kueue".into());
    let identity = setup.identity.clone();
    controller
        .run(identity.unwrap_or_else(|| format!("{host}-{}", std::process::id())))
        .await?;
    Ok(String::new())
}

/// Connects as the options say, or as kubectl does, or as a pod does.
async fn connect(setup: &Setup) -> Result<Client, String> {
    let config = match &setup.kubeconfig {
        Some(path) => {
            let read = Kubeconfig::read_from(path)
                .map_err(|why| format!("cannot read {}: {why}", path.display()))?;
            Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
                .await
                .map_err(|why| why.to_string())
        }
        None => Config::infer().await.map_err(|why| why.to_string()),
    };
    let config = config.map_err(|why| format!("{why}: name a kubeconfig by --kubeconfig"))?;
    Client::try_from(config).map_err(|why| why.to_string())
}
