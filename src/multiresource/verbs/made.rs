//! Verbs that analyse a user's own policy or size a system.

use std::path::PathBuf;

use clap::Args;

use super::family::FamilyName;
use super::known;
use super::synthesize::{MakingArgs, MsrArgs, SynthesisArgs, synthesize};
use crate::kind::{
    Caller, Files, NamesFiles, RunVerb, SynthesisAnswer, VerbOutput, VerbResult, files, refuse,
};
use crate::multiresource::artifact::Multiresource;
use crate::multiresource::workload::Fleet;
use crate::report::WIDTH;

/// Analyse or simulate a policy of your own, and write it as a policy file
#[derive(Args)]
pub struct Analyze {
    /// The policy, a YAML file: the schedules and weights or rates of an MSR policy (analysed), or
    /// the turns of Static Quickswap or a backfilling order (simulated); see docs/policies.md
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// The workload, a YAML file (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,

    #[command(flatten)]
    making: MakingArgs,

    #[command(flatten)]
    msr: MsrArgs,

    /// Also write the policy to this file (`-`: to standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl NamesFiles for Analyze {
    fn files(&self) -> Files<'_> {
        files([&self.policy, &self.workload], &self.output)
    }
}

impl RunVerb for Analyze {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let fleet = known(Fleet::read(&self.workload)?, caller);
        let args = SynthesisArgs::of_own(&self.policy, &self.making, &self.msr);
        answered(synthesize(&fleet, &args, caller)?, &self.output)
    }
}

/// Find the smallest number of servers, or amount of a resource, that meets all targets
#[derive(Args)]
#[command(
    after_help = "Jobs arrive as they do now. On a fleet, --shape names the servers to count; on one server, the resource to vary."
)]
pub struct Size {
    /// The workload, a YAML file (`-`: standard input)
    #[arg(value_name = "FILE")]
    workload: PathBuf,

    /// The server shape, or on one server the resource, whose smallest sufficient amount is sought
    #[arg(long, value_name = "NAME", requires = "slo")]
    shape: String,

    /// Family of policies, or name of a rule, as for `synth FILE` [default: auto]
    #[arg(long, value_name = "NAME")]
    family: Option<FamilyName>,

    #[command(flatten)]
    making: MakingArgs,

    /// Also explain how the policy was found
    #[arg(long, short)]
    verbose: bool,

    /// Also write the policy for the size found to this file (`-`: standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl NamesFiles for Size {
    fn files(&self) -> Files<'_> {
        files([&self.workload], &self.output)
    }
}

impl RunVerb for Size {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let fleet = known(Fleet::read(&self.workload)?, caller);
        let args = SynthesisArgs::of_size(&self.shape, &self.family, &self.making, self.verbose);
        answered(synthesize(&fleet, &args, caller)?, &self.output)
    }
}

fn answered(
    answer: SynthesisAnswer<Multiresource>,
    output: &Option<PathBuf>,
) -> VerbResult<VerbOutput> {
    match answer {
        SynthesisAnswer::Policy {
            artifact, summary, ..
        } => {
            let document = artifact.to_json()?;
            Ok(VerbOutput {
                report: summary,
                documents: output
                    .iter()
                    .map(|file| (file.clone(), document.clone()))
                    .collect(),
                document,
                ..VerbOutput::default()
            })
        }
        SynthesisAnswer::Refused { why, decided: true } => Ok(VerbOutput {
            report: why,
            negative: true,
            ..VerbOutput::default()
        }),
        SynthesisAnswer::Refused { why, .. } => refuse(why.text(WIDTH)),
        SynthesisAnswer::Interrupted => Ok(VerbOutput::interrupted_before("a policy was selected")),
    }
}
