use rand::{RngExt, SeedableRng};

use super::*;
use crate::workload::Fleet;

const TENTHS: [u64; 6] = [6, 4, 5, 3, 10, 20];

fn fleet() -> Fleet {
    let mut text = "kind: multiresource\ntime_unit: s\nservers: [{name: a, count: 2, capacity: {gpu: {devices: 2}}}, {name: b, capacity: {cpu: 4, gpu: {devices: 3}}}]\njobs:\n".to_owned();
    for (i, tenths) in TENTHS.iter().enumerate() {
        let demand = *tenths as f64 / 10.0;
        text += &format!(
            "  - {{name: t{i}, demand: {{gpu: {demand}}}, arrival_rate: 1, mean_size: 1}}\n"
        );
    }
    text += "  - {name: gang, nodes: 2, demand: {gpu: .7}, arrival_rate: 1, mean_size: 1}\n";
    Fleet::parse(&text, "t").unwrap().workload
}

type Used = Vec<Vec<u64>>;
type Held = (usize, Vec<usize>, u64);

fn places(used: &[u64], tenths: u64) -> Option<Vec<usize>> {
    if tenths < 10 {
        let fits = (0..used.len()).filter(|d| used[*d] + tenths <= 10);
        let fullest = fits.max_by_key(|d| (used[*d], std::cmp::Reverse(*d)))?;
        return Some(vec![fullest]);
    }
    let empty: Vec<usize> = (0..used.len()).filter(|d| used[*d] == 0).collect();
    let count = tenths as usize / 10;
    (empty.len() >= count).then(|| empty[..count].to_vec())
}

#[test]
fn device_assignment_matches_reference() {
    let fleet = fleet();
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(68);
    let mut system = System::of_fleet(&fleet, 0, false);
    let devices = fleet.shapes().iter().flat_map(|shape| {
        let own = shape.capacity()[0].value() as usize;
        vec![vec![0; own]; shape.count() as usize]
    });
    let mut used: Used = devices.collect();
    let mut running: Vec<(usize, u64, Vec<Held>)> = Vec::new();
    for step in 0..20_000 {
        let now = f64::from(step);
        let i = random.random_range(0..=TENTHS.len());
        let tenths = TENTHS.get(i).copied().unwrap_or(7);
        let all = (0..used.len()).filter(|n| places(&used[*n], tenths).is_some());
        let fits: Vec<usize> = all.collect();
        let found: Vec<usize> = (0..used.len()).filter(|n| system.fits_on(i, *n)).collect();
        assert_eq!(found, fits, "{used:?} {tenths}");
        let nodes = system.nodes(i);
        assert_eq!(system.fits(i), fits.len() >= nodes);
        if fits.len() >= nodes {
            let job = system.arrive(i, now);
            let first = random.random_range(0..=fits.len() - nodes);
            let servers = &fits[first..first + nodes];
            system.start_on(i, servers);
            let held = servers.iter();
            let held = held.map(|n| (*n, places(&used[*n], tenths).unwrap(), tenths.min(10)));
            let held: Vec<_> = held.collect();
            for (n, on, each) in &held {
                on.iter().for_each(|d| used[*n][*d] += each);
            }
            running.push((i, job.number, held));
        } else {
            let (i, number, held) = running.swap_remove(random.random_range(0..running.len()));
            system.complete_job(i, number, now).unwrap();
            for (n, on, each) in held {
                on.iter().for_each(|d| used[n][*d] -= each);
            }
        }
        system.audit();
        assert_eq!(system.violation(), None);
    }
    let mut system = System::of_fleet(&fleet, 0, false);
    for (i, now) in [(0, 1.0), (0, 2.0), (0, 3.0)] {
        system.arrive(i, now);
        system.start_on(i, &[0]);
    }
    assert_eq!(system.violation(), Some(&Violation::Capacity(0)));
}
