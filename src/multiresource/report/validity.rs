use crate::multiresource::artifact::{Checked, Method};

/// That a policy passed the checker, and what was derived anew.
pub fn valid(checked: &Checked) -> String {
    match checked.workload().one_server() {
        Some(_) => server(checked),
        None => fleet(checked),
    }
}

fn server(checked: &Checked) -> String {
    let claims = &checked.artifact().claims;
    let simulated = claims.iter().filter(|c| c.method == Method::Simulated);
    let types = checked.workload().fleet().types().len();
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

fn fleet(checked: &Checked) -> String {
    let (artifact, fleet) = (checked.artifact(), checked.workload().fleet());
    let claims = &artifact.claims;
    let of_servers = claims.iter().filter(|c| c.server.is_some()).count();
    format!(
        "valid: {} claims about {} types on {} servers of {} shapes derived anew, {of_servers} claims about one server of each shape, and all certificates",
        claims.len() - of_servers,
        fleet.types().len(),
        fleet.servers(),
        fleet.shapes().len()
    )
}
