//! `cargo run --release --example scale -- CLASS TYPES SEED` writes a random workload to the
//! standard output, and the result for its program to the standard error. The classes are defined
//! in `lab/benches/instances/`. The same workloads are solved by a different solver in
//! `lab/benches/miqcp.py`.

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
        return Err(format!("usage: CLASS TYPES SEED, where CLASS is one of {classes:?}").into());
    };
    if !classes.contains(&class.as_str()) {
        return Err(format!("unknown class `{class}`; it must be one of {classes:?}").into());
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
