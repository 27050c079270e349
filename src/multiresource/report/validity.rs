use crate::multiresource::artifact::{CheckedArtifact, CheckedFleet, CheckedPolicy, Method};

/// That a policy passed the checker, and what was derived anew.
pub fn valid(checked: &CheckedPolicy) -> String {
    match checked {
        CheckedPolicy::Server(checked) => server(checked),
        CheckedPolicy::Fleet(checked) => fleet(checked),
    }
}

fn server(checked: &CheckedArtifact) -> String {
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

fn fleet(checked: &CheckedFleet) -> String {
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
