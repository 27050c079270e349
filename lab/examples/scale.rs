//! A random workload of many types, and what its program takes: `cargo run --release --example
//! scale -- CLASS TYPES SEED` writes the YAML document to standard output, and on standard error
//! one line of JSON: seconds, load, bound, whether proven. The classes are those of
//! `lab/benches/instances/`; `lab/benches/miqcp.py` gives the same documents to another solver.

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
        return Err(format!("give a class of {classes:?}, a number of types and a seed").into());
    };
    if !classes.contains(&class.as_str()) {
        return Err(format!("`{class}`: the classes are {classes:?}").into());
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
