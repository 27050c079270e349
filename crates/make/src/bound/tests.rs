#![allow(clippy::unwrap_used)]
use super::*;
use synth_cluster::artifact::{Objective, Preemption};
use synth_cluster::workload::{Fleet, Workload};

fn model(name: &str) -> Fleet {
    let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload.into()
}

#[test]
fn prices() {
    for name in [
        "section7",
        "four_types",
        "one_or_all",
        "vms",
        "fleet",
        "hpc_gangs",
    ] {
        let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let Ok(read) = Fleet::read(path.as_ref()) else {
            println!("no {name}");
            continue;
        };
        let fleet = read.workload;
        for preemption in [Preemption::None, Preemption::Full] {
            let start = std::time::Instant::now();
            let found = by_prices(&fleet, Objective::Mean, preemption);
            println!(
                "{name} {preemption:?} {:?} {:?}",
                found.map(|(b, cuts)| (
                    b,
                    cuts.iter()
                        .map(|c| (c.types.clone(), c.weight))
                        .collect::<Vec<_>>()
                )),
                start.elapsed()
            );
        }
    }
}

#[test]
fn tries() {
    let fleet = model("section7");
    for (preempts, rows) in [
        (true, 1000),
        (true, 7000),
        (false, 1000),
        (false, 4000),
        (false, 13000),
    ] {
        let start = std::time::Instant::now();
        let (bound, certificate) = by_cells(&fleet, Objective::Mean, preempts, rows).unwrap();
        println!(
            "{preempts} {rows} {bound} {:?} {} {:?}",
            certificate.exact,
            certificate.values.len(),
            start.elapsed()
        );
        let start = std::time::Instant::now();
        certificate.check(&fleet, Objective::Mean).unwrap();
        println!("check {:?}", start.elapsed());
    }
}
