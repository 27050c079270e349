//! `cargo run --release --example scale -- CLASS TYPES
//! SEED` writes a random workload (classes as in `lab/benches/instances/`) as YAML to standard
//! output, and seconds, load, bound and proof of its program as JSON to standard error.
//! `lab/benches/miqcp.py` gives the same workloads to another solver.

#[path = "../benches/instances/mod.rs"]
mod instances;

use std::error::Error;
use std::time::Instant;

use synth::multiresource::program::{self, SolveLimits};
use synth::multiresource::workload::Workload;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let classes = [instances::CLASSES, instances::HARD].concat();
    let [class, types, seed] = arguments.as_slice() else {
        return Err(format!("usage: CLASS TYPES SEED, with a class of {classes:?}").into());
    };
    if !classes.contains(&class.as_str()) {
        return Err(format!("unknown class `{class}`: known classes are {classes:?}").into());
    }
    let document = instances::document(class, types.parse()?, seed.parse()?);
    let workload = Workload::parse(&document, "instance")?.workload;
    let started = Instant::now();
    let solution = program::solve(&workload, &SolveLimits::default())?;
    let seconds = started.elapsed().as_secs_f64();
    let certificate = &solution.certificate;
    print!("{document}");
    eprintln!(
        "{{\"seconds\": {seconds}, \"load\": {}, \"bound\": {}, \"proven\": {}}}",
        certificate.load,
        certificate.bound,
        certificate.proven()
    );
    Ok(())
}
