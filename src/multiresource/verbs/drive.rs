//! `synth drive`: a policy that makes decisions for an external scheduler.

use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::document::{is_standard_input, text_of};
use crate::kind::{Caller, Files, NamesFiles, RunVerb, VerbOutput, VerbResult, files, refuse};
use crate::multiresource::artifact::Checked;
use crate::multiresource::forecast::OnlineForecasts;
use crate::multiresource::live::Scheduler;
use crate::multiresource::live::protocol;
use crate::multiresource::policy::LearnedRuntimes;
use crate::typed::PolicyFile;

/// Run a policy for a scheduler in any language: events in, decisions out, one JSON object per line
#[derive(Args)]
#[command(after_help = include_str!("drive.txt").trim_ascii_end())]
pub struct Arguments {
    #[command(flatten)]
    policy: PolicyFile,

    /// Seed of the policy's clocks
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,

    /// File of learned run-time estimates: read at the start if it exists, written at the end
    #[arg(long, value_name = "FILE")]
    learned: Option<PathBuf>,
}

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        files([&self.policy.policy], &self.learned)
    }
}

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let policy = &self.policy.policy;
        if is_standard_input(policy) {
            return refuse(
                "events are read from standard input: save the policy to a file and name the file",
            );
        }
        let policy = Checked::read_with(policy, caller.changes)?;
        let learned = self.learned.as_deref().map(learned_from);
        let learned = learned.transpose()?.flatten();
        let mut scheduler = Scheduler::with_learned(&policy, self.seed, learned.as_ref());
        if self.learned.is_some() && scheduler.learned().is_none() {
            return refuse(format!(
                "--learned applies only to backfilling policies, which estimate sizes, but this policy is {}: omit it",
                policy.artifact().policy.called()
            ));
        }
        let input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
        let mut foresight = OnlineForecasts::new(self.seed);
        let driven = protocol::drive(&mut scheduler, input, &mut *caller.output, &mut foresight)?;
        scheduler.audit()?;
        let mut output = VerbOutput::default();
        if driven.refused > 0 {
            let (refused, lines) = (driven.refused, driven.lines);
            let note = format!("{refused} of {lines} lines were refused");
            output.notes.push(note);
        }
        if let (Some(file), Some(learned)) = (&self.learned, scheduler.learned()) {
            let text = serde_json::to_string(&learned)? + "\n";
            output.documents.push((file.clone(), text));
        }
        Ok(output)
    }
}

fn learned_from(file: &Path) -> Result<Option<LearnedRuntimes>, String> {
    let name = file.display();
    match text_of(file) {
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) => Err(format!("cannot read {name}: {why}")),
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|why| {
            format!("{name} was not written by `synth drive --learned`: {why}; remove it to start from the estimates in the policy file")
        }),
    }
}
