use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use synth::multiresource::artifact::{
    CheckedArtifact, CheckedFleet, CheckedPolicy, Finding, Method, check_against,
    check_fleet_against,
};
use synth::multiresource::workload::Described;

use super::{Common, NEGATIVE, Outcome, read_described, tell};

#[derive(Args)]
pub struct Arguments {
    /// The policy, a JSON file made by `synth --workload …`
    policy: PathBuf,

    /// Check also that the policy was made for this workload
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let checked = CheckedPolicy::read(&arguments.policy)?;
    if let Some(file) = &arguments.workload {
        let findings = against(&checked, &read_described(file, common)?)?;
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
    let text = match &checked {
        CheckedPolicy::Server(checked) => valid(checked),
        CheckedPolicy::Fleet(checked) => valid_fleet(checked),
    };
    tell(common, &text);
    Ok(ExitCode::SUCCESS)
}

/// Where the workload that the policy was made for and this one part.
fn against(policy: &CheckedPolicy, workload: &Described) -> Result<Vec<Finding>, &'static str> {
    match (policy, workload) {
        (CheckedPolicy::Server(checked), Described::Server(workload)) => {
            Ok(check_against(checked.artifact(), workload))
        }
        (CheckedPolicy::Fleet(checked), Described::Fleet(fleet)) => {
            Ok(check_fleet_against(checked.fleet(), fleet))
        }
        (CheckedPolicy::Server(_), Described::Fleet(_)) => {
            Err("the policy is of one server, and the workload is a fleet: give that of one server")
        }
        (CheckedPolicy::Fleet(_), Described::Server(_)) => {
            Err("the policy is of a fleet, and the workload of one server: give that of the fleet")
        }
    }
}

fn valid(checked: &CheckedArtifact) -> String {
    let claims = &checked.artifact().claims;
    let simulated = claims.iter().filter(|c| c.method == Method::Simulated);
    let types = checked.workload().types().len();
    match simulated.count() {
        0 => format!(
            "valid: {} claims about {types} types derived anew, and the certificate",
            claims.len()
        ),
        simulated => format!(
            "valid: the load and its certificate derived anew; {simulated} claims about {types} types are simulated and make sense, `synth simulate` judges them"
        ),
    }
}

fn valid_fleet(checked: &CheckedFleet) -> String {
    let (artifact, fleet) = (checked.artifact(), checked.fleet());
    let shapes = &artifact.policy.shapes;
    let of_servers: usize = shapes.iter().map(|s| s.policy.claims.len()).sum();
    format!(
        "valid: {} claims about {} types on {} servers of {} shapes derived anew, {of_servers} claims about one server of each shape, and all certificates",
        artifact.claims.len(),
        fleet.types().len(),
        fleet.servers(),
        shapes.len()
    )
}
