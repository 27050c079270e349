use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use synth::artifact::{CheckedArtifact, Method, check_against};

use super::{Common, NEGATIVE, Outcome, read_workload, tell};

#[derive(Args)]
pub struct Arguments {
    /// The policy, a JSON file made by `synth --workload …`
    policy: PathBuf,

    /// Check also that the policy was made for this workload
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let checked = CheckedArtifact::read(&arguments.policy)?;
    if let Some(file) = &arguments.workload {
        let findings = check_against(checked.artifact(), &read_workload(file, common)?);
        if !findings.is_empty() {
            anstream::eprintln!(
                "{} was not made for {}:",
                arguments.policy.display(),
                file.display()
            );
            findings
                .iter()
                .for_each(|finding| anstream::eprintln!("  {finding}"));
            return Ok(ExitCode::from(NEGATIVE));
        }
    }
    let claims = checked.artifact().claims.iter();
    let (simulated, derived): (Vec<_>, Vec<_>) =
        claims.partition(|c| c.method == Method::Simulated);
    let mut text = format!(
        "valid: {} claims about {} types derived anew, and the certificate",
        derived.len(),
        checked.workload().types().len()
    );
    if !simulated.is_empty() {
        text += &format!(
            "; {} more are simulated: `synth simulate --policy` judges them",
            simulated.len()
        );
    }
    tell(common, &text);
    Ok(ExitCode::SUCCESS)
}
