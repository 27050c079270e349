use std::path::PathBuf;

use clap::Args;
use synth::kind::{Kind, NamesFiles as _};
use synth::simulation::Settings;
use synth::typed::{Budget, PolicyFile};

use super::output::{apart, conclude};
use super::progress::with_caller;
use super::{Common, Outcome, examples_of, interrupt, read_workload};

#[derive(Args)]
#[command(after_long_help = examples_of::<K>("simulate "))]
pub struct Arguments<K: Kind> {
    #[command(flatten)]
    policy: PolicyFile,

    /// Simulate on this workload (`-`: standard input) instead of the one that the policy was made for
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,

    #[command(flatten)]
    ways: K::SimulationArgs,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the
    /// table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Events, by default.
const EVENTS: u64 = 200_000_000;

pub fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    let (mut read, mut written) = arguments.ways.files();
    read.extend(arguments.workload.as_deref());
    let policy = arguments.policy.file()?;
    read.push(policy);
    written.extend(arguments.output.as_deref());
    apart(&read, &written)?;
    let interrupt = interrupt::Later::new();
    interrupt.listen();
    let settings = Settings {
        interrupt: interrupt.flag(),
        ..arguments.budget.settings(EVENTS)
    };
    let file = arguments.workload.as_deref();
    let workload = file
        .map(|file| read_workload::<K>(file, common))
        .transpose()?;
    let policy = policy.to_str().ok_or("the name of the policy is no text")?;
    let (mut answered, document) = with_caller(common, &interrupt, |caller| {
        K::simulate(policy, workload, &arguments.ways, &settings, caller)
    })?;
    let output = arguments.output.clone();
    answered
        .documents
        .extend(output.map(|file| (file, document)));
    conclude(&answered, &interrupt, common)
}
