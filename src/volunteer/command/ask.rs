//! `synth dispatch`: a request of a host is answered.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::document::{called, fault_of_json, text_of};
use crate::kind::{Caller, VerbOutput, VerbResult, json};
use crate::typed::PolicyFile;
use crate::volunteer::artifact::Checked;
use crate::volunteer::policy::{Request, decide};

/// What is typed.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    policy: PolicyFile,

    /// The request, a JSON file: what the host has and wants, and the jobs that there are
    #[arg(long, value_name = "FILE")]
    request: PathBuf,

    /// Where the answers go, as JSON (`-`: to standard output)
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

impl Arguments {
    /// Files that are read, and those that are written.
    pub fn files(&self) -> (Vec<&Path>, Vec<&Path>) {
        let read = self.policy.typed().into_iter().chain([&*self.request]);
        (read.collect(), vec![&self.output])
    }
}

/// Answers.
pub fn run(arguments: &Arguments, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
    let policy = Checked::read_with(arguments.policy.file()?, caller.changes)?;
    let file = called(&arguments.request);
    let text = text_of(&arguments.request).map_err(|why| format!("cannot read {file}: {why}"))?;
    let request: Request = serde_json::from_str(&text)
        .map_err(|error| format!("{file}: {}", fault_of_json(&error)))?;
    request.check().map_err(|why| format!("{file}: {why}"))?;
    let answers = decide(&policy.artifact().policy.dispatch, &request);
    Ok(VerbOutput {
        documents: vec![(arguments.output.clone(), json(&answers)?)],
        ..VerbOutput::default()
    })
}
