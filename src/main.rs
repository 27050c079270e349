//! probe
use synth::{synthesis, workload::Workload, artifact::Preemption};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let w = Workload::read(a[1].as_ref()).unwrap_or_else(|e| { eprintln!("{e}"); std::process::exit(2) }).workload;
    let p = match a[2].as_str() { "none" => Preemption::None, "full" => Preemption::Full, _ => Preemption::Setup };
    let mut o = synthesis::Options::new(p);
    if p == Preemption::Setup { o.setup_rate = Some(10.0) }
    if a.len() > 3 { o.switching_rate = Some(a[3].parse().unwrap()) }
    match synthesis::synthesize(&w, &o) {
        Ok(synthesis::Outcome::Policy(s)) => {
            eprintln!("{:?} phases {}", s.routes, s.artifact.provenance.phases);
            println!("{}", serde_json::to_string_pretty(&s.artifact).unwrap());
        }
        other => eprintln!("{other:?}"),
    }
}
