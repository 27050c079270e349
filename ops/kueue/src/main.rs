//! Lets a scheduling policy decide when the jobs of a Kubernetes cluster start. Jobs are submitted
//! with an admission gate, which is removed when the policy starts the job. The nodes are chosen by
//! Kueue and the kube-scheduler. `view`, `types` and `desk` do not use the API.

mod amounts;
mod cluster;
mod desk;
mod lease;
mod metrics;
mod notices;
mod objects;
mod release;
mod run;
mod serve;
mod server;
mod setup;
mod types;
mod view;
mod watch;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use tracing::{Level, error};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use run::Controller;
use server::Server;
use setup::{Format, Setup};

#[tokio::main]
async fn main() -> ExitCode {
    let setup = Setup::parse();
    let is_text = setup.log == Format::Text || setup.dry_run || setup.release_all;
    let lines = tracing_subscriber::fmt().with_target(false);
    let lines = lines.with_ansi(false).with_writer(std::io::stderr);
    let ours = Targets::new().with_target("synth_kueue", Level::INFO);
    match is_text {
        true => lines.finish().with(ours).init(),
        false => lines.json().flatten_event(true).finish().with(ours).init(),
    }
    match controlled(Arc::new(setup)).await {
        Ok(printed) => {
            print!("{printed}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            match is_text {
                true => eprintln!("error: {}", why.trim_start_matches("error: ")),
                false => error!(why, "ended"),
            }
            ExitCode::from(2)
        }
    }
}

async fn controlled(setup: Arc<Setup>) -> Result<String, String> {
    if setup.policy.is_some() {
        desk::Desk::new(&setup)?;
    }
    let server = Server::of(&setup).await?;
    let controller = Controller { setup, server };
    let setup = &controller.setup;
    if setup.release_all {
        return Ok(controller.release_all().await? + "\n");
    }
    if setup.dry_run {
        return Ok(controller.plan().await? + "\n");
    }
    serve::serve(setup.listen, Arc::clone(&controller.server.metrics)).await?;
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "synth-kueue".into());
    let identity = setup.identity.clone();
    let identity = identity.unwrap_or_else(|| format!("{host}-{}", std::process::id()));
    controller.run(identity).await?;
    Ok(String::new())
}
