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
    let claims = &checked.artifact().claims;
    let simulated = claims.iter().filter(|c| c.method == Method::Simulated);
    let types = checked.workload().types().len();
    let text = match simulated.count() {
        0 => format!(
            "valid: {} claims about {types} types derived anew, and the certificate",
            claims.len()
        ),
        simulated => format!(
            "valid: the load and its certificate derived anew; {simulated} claims about {types} types are simulated and make sense, `synth simulate` judges them"
        ),
    };
    tell(common, &text);
    Ok(ExitCode::SUCCESS)
}
