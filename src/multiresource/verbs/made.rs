use std::path::PathBuf;

use clap::Args;

use super::family::FamilyOrRule;
use super::synthesize::{MakingArgs, MsrArgs, SynthesisArgs, synthesize};
use crate::kind::{Caller, Files, RunVerb, SynthesisAnswer, VerbOutput, VerbResult, files, refuse};
use crate::multiresource::artifact::Multiresource;
use crate::multiresource::workload::Fleet;
use crate::report::WIDTH;

/// Analyze or simulate your own policy
///
/// The result can be written as a policy file
#[derive(Args)]
pub(crate) struct Analyze {
    /// The policy to analyze, a YAML file
    ///
    /// It contains the schedules and the weights or rates of an
    /// MSR policy, which is analyzed, or the turns of Static Quickswap or the order of a
    /// backfilling policy, which is simulated. See docs/reference/policies.md
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// The workload, a YAML file (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,

    #[command(flatten)]
    making: MakingArgs,

    #[command(flatten)]
    msr: MsrArgs,

    /// Also write the policy to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl RunVerb for Analyze {
    fn files(&self) -> Files<'_> {
        files([&self.policy, &self.workload], &self.output)
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let fleet = caller.known(Fleet::read(&self.workload)?);
        let args = SynthesisArgs {
            making: self.making.clone(),
            msr: self.msr.clone(),
            verbose: true,
            own: Some(self.policy.clone()),
            ..SynthesisArgs::default()
        };
        answered(synthesize(&fleet, &args, caller)?, &self.output)
    }
}

/// Find the smallest cluster that meets all targets
///
/// This is the smallest number of servers of a shape, or the smallest amount of a resource
#[derive(Args)]
#[command(
    after_long_help = "The arrival rates of the jobs are not changed. For a fleet, --shape is the name of a server shape. For a single server, it is the name of a resource."
)]
pub(crate) struct Size {
    /// The workload, a YAML file (`-`: standard input)
    #[arg(value_name = "FILE")]
    workload: PathBuf,

    /// The server shape, or the resource of a single server, to minimize
    #[arg(long, value_name = "NAME", requires = "slo")]
    shape: String,

    /// The family of policies, or a rule, as in `synth FILE` [default: auto]
    #[arg(long, value_name = "NAME")]
    family: Option<FamilyOrRule>,

    #[command(flatten)]
    making: MakingArgs,

    /// Also print how the policy was found
    #[arg(long, short)]
    verbose: bool,

    /// Also write the policy for this size to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl RunVerb for Size {
    fn files(&self) -> Files<'_> {
        files([&self.workload], &self.output)
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let fleet = caller.known(Fleet::read(&self.workload)?);
        let args = SynthesisArgs {
            family: self.family.clone(),
            making: self.making.clone(),
            verbose: self.verbose,
            size: Some(self.shape.clone()),
            ..SynthesisArgs::default()
        };
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
            let answer = VerbOutput {
                report: summary,
                document: artifact.to_json()?,
                ..VerbOutput::default()
            };
            answer.written_to(None, output.as_ref())
        }
        SynthesisAnswer::Refused { why, decided: true } => Ok(VerbOutput::refused(why)),
        SynthesisAnswer::Refused { why, .. } => refuse(why.text(WIDTH)),
        SynthesisAnswer::Interrupted => Ok(VerbOutput::interrupted_before("a policy was selected")),
    }
}
