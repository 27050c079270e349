//! Lets a scheduling policy decide when the jobs of a Kubernetes cluster start.
//!
//! Jobs come with an admission gate; the policy decides when each is to start, and its gate is removed; Kueue and the
//! kube-scheduler say where. `view`, `types` and `desk` know no API; the other modules are around them.

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
    // What is done once is for a person.
    let is_text = setup.log == Format::Text || setup.dry_run || setup.release_all;
    let lines = tracing_subscriber::fmt()
        .with_target(false)
        .with_ansi(false);
    let lines = lines.with_writer(std::io::stderr);
    // What kube says of its connections is in our own messages.
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

/// Does what was typed; returns what is printed in the end.
async fn controlled(setup: Arc<Setup>) -> Result<String, String> {
    // What is wrong with the policy is said before anything else is looked at.
    if setup.policy.is_some() {
        desk::Desk::new(&setup)?;
    }
    let server = Server::of(&setup).await?;
    let metrics = Arc::clone(&server.metrics);
    let controller = Controller {
        setup: Arc::clone(&setup),
        server,
    };
    if setup.release_all {
        return Ok(controller.release_all().await? + "\n");
    }
    if setup.dry_run {
        return Ok(controller.plan().await? + "\n");
    }
    serve::serve(setup.listen, metrics).await?;
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "synth-kueue".into());
    let identity = setup.identity.clone();
    let identity = identity.unwrap_or_else(|| format!("{host}-{}", std::process::id()));
    controller.run(identity).await?;
    Ok(String::new())
}
