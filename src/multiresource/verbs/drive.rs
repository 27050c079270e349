use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::document::{is_standard_input, text_of};
use crate::kind::{Caller, Files, RunVerb, VerbOutput, VerbResult, files, refuse};
use crate::multiresource::artifact::Checked;
use crate::multiresource::forecast::OnlineForecasts;
use crate::multiresource::live::Scheduler;
use crate::multiresource::live::protocol;
use crate::multiresource::policy::LearnedRuntimes;
use crate::typed::PolicyFile;

/// Run a policy for your own scheduler, using lines of JSON
///
/// The scheduler can be written in any language. Each event and each decision is one JSON object
/// on a line
#[derive(Args)]
#[command(after_long_help = include_str!("drive.txt").trim_ascii_end())]
pub(crate) struct Arguments {
    #[command(flatten)]
    policy: PolicyFile,

    /// The seed for the random number generator of the policy
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,

    /// A file with what the run-time estimates have learned, which is read at the start if it
    /// exists and written at the end
    #[arg(long, value_name = "FILE")]
    learned: Option<PathBuf>,
}

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        files([&self.policy.policy], &self.learned)
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let policy = &self.policy.policy;
        if is_standard_input(policy) {
            return refuse(
                "the events are read from standard input; save the policy to a file, and use the path to it",
            );
        }
        let policy = Checked::read_with(policy, caller.changes)?;
        let learned = self.learned.as_deref().map(learned_from);
        let learned = learned.transpose()?.flatten();
        let mut scheduler = Scheduler::with_learned(&policy, self.seed, learned.as_ref());
        if self.learned.is_some() && scheduler.learned().is_none() {
            return refuse(format!(
                "`--learned` can only be used with backfilling policies, because they estimate the sizes of jobs, but this policy is {}",
                policy.artifact().policy.called()
            ));
        }
        let input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
        let mut foresight = OnlineForecasts::new(self.seed);
        let (lines, refused) =
            protocol::drive(&mut scheduler, input, &mut *caller.output, &mut foresight)?;
        scheduler.check_invariants()?;
        let mut output = VerbOutput::default();
        if refused > 0 {
            let note = format!("lines rejected: {refused} of {lines}");
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
            format!("{name} is not a file that was written by `synth drive --learned`: {why}; to use the estimates in the policy file instead, remove this file")
        }),
    }
}
