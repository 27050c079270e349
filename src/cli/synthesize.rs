use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use synth::kind::{Answer, Kind, NamesFiles as _};
use synth::typed::WorkloadFile;

use super::output::{apart, emit, is_stdout, writable};
use super::progress::with_caller;
use super::terminal::tell_always;
use super::{Common, NEGATIVE, Outcome, interrupt, read_workload, tell};

#[derive(Args)]
pub struct Arguments<K: Kind> {
    #[command(flatten)]
    workload: WorkloadFile,

    #[command(flatten)]
    args: K::SynthesisArgs,

    /// Where the policy goes; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    let file = arguments.workload.file()?;
    let (mut read, mut written) = arguments.args.files();
    written.push(arguments.output.as_deref().unwrap_or(Path::new("-")));
    read.push(file);
    apart(&read, &written)?;
    let regular = written.iter().filter(|path| !is_stdout(path));
    regular.into_iter().try_for_each(|path| writable(path))?;
    let workload = read_workload::<K>(file, common)?;
    let interrupt = interrupt::Later::new();
    let answer = with_caller(common, &interrupt, |caller| {
        K::synthesize(&workload, &arguments.args, caller)
    });
    match answer? {
        Answer::Policy {
            artifact,
            summary,
            documents,
        } => {
            emit(arguments.output.as_deref(), &artifact.to_json()?)?;
            for (file, text) in &documents {
                emit(Some(file), text)?;
            }
            tell(common, &summary);
            // After an interrupt it is the best so far.
            Ok(interrupt.code_or(ExitCode::SUCCESS))
        }
        // A negative answer is the result: it is printed with --quiet, too.
        Answer::Refused { why, decided } => {
            tell_always(&why);
            Ok(ExitCode::from(if decided { NEGATIVE } else { 2 }))
        }
        Answer::Interrupted => {
            tell(
                common,
                "Interrupted before a policy was chosen: nothing is written.",
            );
            Ok(interrupt::code())
        }
    }
}
