#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn looks() {
    for name in ["section7","vms","four_types","one_or_all","cloud_instances","borg_top10"] {
        let path = format!("{}/models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let w = Workload::read(path.as_ref()).unwrap().workload;
        let limits=Limits::default();
        let t=Instant::now();
        let sol = solve(&w,&limits).unwrap();
        println!("{name} load {} in {:?}", sol.certificate.load, t.elapsed());
        for aim in [Balance::Headroom, Balance::TotalResponse, Balance::WorstResponse] {
            let b = Balancing::new(&w, aim, &[]).unwrap();
            let t=Instant::now();
            let r = balance(&w,&b,&sol,&limits).unwrap();
            println!("  {aim:?} start {} value {} bound {} gap {:.2e} n {} in {:?} loads {:.4?}", b.value(&sol.mix.loads(&w)), r.value, r.bound, r.gap(), r.mix.schedules.len(), t.elapsed(), r.mix.loads(&w));
        }
    }
}
