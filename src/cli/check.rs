use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use synth::artifact::Checked;
use synth::document::called;
use synth::kind::Kind;
use synth::report::valid_report;
use synth::typed::PolicyFile;

use super::output::apart;
use super::terminal::tell_always;
use super::{Common, NEGATIVE, Outcome, printed, read_workload, tell, width};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    policy: PolicyFile,

    /// Check also that the policy was made for this workload (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

pub fn run<K: Kind>(arguments: &Arguments, common: &Common) -> Outcome {
    let policy = arguments.policy.file()?;
    let workload = arguments.workload.as_deref();
    apart(&[&[policy], workload.as_slice()].concat(), &[])?;
    let checked = Checked::<K>::read_with(policy, common.changes())?;
    if let Some(file) = workload {
        let findings = K::against(&checked, &read_workload::<K>(file, common)?)?;
        if !findings.is_empty() {
            let (policy, file) = (called(policy), called(file));
            tell_always(&format!("{policy} was not made for {file}:"));
            for finding in findings {
                tell_always(&format!("  {finding}"));
            }
            return Ok(ExitCode::from(NEGATIVE));
        }
    }
    tell(
        common,
        &valid_report(&checked, &K::about(&checked), width()),
    );
    Ok(ExitCode::SUCCESS)
}

pub fn show<K: Kind>(policy: &PolicyFile, common: &Common) -> Outcome {
    let checked = Checked::<K>::read_with(policy.file()?, common.changes())?;
    printed(&format!("{}\n", K::show(&checked, width())))
}
