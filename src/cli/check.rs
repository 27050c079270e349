use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use synth::artifact::Checked;
use synth::kind::Kind;

use super::terminal::tell_always;
use super::{Common, NEGATIVE, Outcome, read_workload, tell, width};

#[derive(Args)]
pub struct Arguments {
    /// The policy, a JSON file made by `synth --workload …`
    policy: PathBuf,

    /// Check also that the policy was made for this workload
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

pub fn run<K: Kind>(arguments: &Arguments, common: &Common) -> Outcome {
    let checked = Checked::<K>::read_with(&arguments.policy, common.changes())?;
    if let Some(file) = &arguments.workload {
        let findings = K::against(&checked, &read_workload::<K>(file, common)?)?;
        if !findings.is_empty() {
            let (policy, file) = (arguments.policy.display(), file.display());
            tell_always(&format!("{policy} was not made for {file}:"));
            let told = findings.iter().map(|finding| format!("  {finding}"));
            told.for_each(|finding| tell_always(&finding));
            return Ok(ExitCode::from(NEGATIVE));
        }
    }
    tell(common, &K::valid(&checked, width()));
    Ok(ExitCode::SUCCESS)
}
