use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use synth::kind::Kind;
use synth::simulation::Settings;
use synth::typed::{Budget, PolicyFile};

use super::output::{apart, emit, is_stdout, publish};
use super::progress::heard;
use super::{Common, NEGATIVE, Outcome, examples_of, interrupt, read_workload, tell};

#[derive(Args)]
#[command(after_long_help = examples_of::<K>("simulate "))]
pub struct Arguments<K: Kind> {
    #[command(flatten)]
    policy: PolicyFile,

    /// Simulate on this workload (`-`: standard input) instead of the one that the policy was made for
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,

    #[command(flatten)]
    ways: K::Ways,

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
    let (mut read, mut written) = K::files_of_ways(&arguments.ways);
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
    let given = arguments.workload.as_ref();
    let given = given.map(|file| read_workload::<K>(file, common));
    let given = given.transpose()?;
    let policy = policy.to_str().ok_or("the name of the policy is no text")?;
    let simulated = heard(common, &interrupt, |caller| {
        K::simulate(policy, given, &arguments.ways, &settings, caller)
    })?;
    simulated.notes.iter().for_each(|note| tell(common, note));
    for (file, document) in &simulated.documents {
        emit(Some(file), document)?;
    }
    let taken = simulated.documents.iter().any(|(file, _)| is_stdout(file));
    match (arguments.output.as_ref(), taken) {
        (None, true) => tell(common, &simulated.table),
        (output, _) => publish(common, &simulated.table, &simulated.document, output)?,
    }
    Ok(match (interrupt.is_set(), simulated.refuted) {
        (true, _) => interrupt::code(),
        (false, true) => ExitCode::from(NEGATIVE),
        (false, false) => ExitCode::SUCCESS,
    })
}
