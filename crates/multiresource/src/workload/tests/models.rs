use num_rational::BigRational;

use super::*;

/// Policy files contain these digests; a change of them requires a new version of the format.
#[test]
fn models_keep_their_digests() {
    let known = "borg_cell_a f96b1f5890657bd2d1ddfdafe04147a031308a9b1e56e06397335f1cb451af76
        borg_cell_b 541e26bb450fb67601e0d8ec1eae7a707c7aa9ef8c84910b363c12f01cce767f
        borg_top10 2974b953953008b4727a709a2a398f2d39de7264c94a8e2ef7f1b2f1b15d6579
        bursty 434ea0b472cfddb0334cc8e0f27c139d2ac53672284f4256398e78065faf2a50
        cloud_instances d713330f23893c91919f2ea1e16ecdbf3edb241c7a01fbac9d52232a89e764f8
        fleet 7674ef2e946526572f7e55a4e8d86a8aed061f600720bc4491257f9ba3fe4f5d
        four_types 61b947a54fc41ee94f16738f666834391cf16762e7d133fe99591b586c8456f6
        one_or_all 830e2714c3271442b4ecec7ecae21599b2e234d08ba8cb7afca9b7f8256d301c
        section7 f36cface479c31700e6e3dc5aa245aaf079aa1ebf95b7a27b868b648b9f5c694
        section7_phases 91d34894b8627cd53a3bba13da62422d6562c4182936d746a462510882faf46e
        vms 10d00ce9c50df45defb03ae97710315ed90e0758860bf42b133e4b67cc699e0c";
    let found = known.lines().map(|line| {
        let name = line.trim().split(' ').next().unwrap();
        let fleet = Fleet::read(&root().join(format!("models/{name}.yaml"))).unwrap();
        format!("{name} {}", fleet.workload.digest().replace("sha256:", ""))
    });
    let found: Vec<String> = found.collect();
    assert_eq!(found.join("\n        "), known);
}

fn fluid_load(types: &[JobType], capacity: &[f64]) -> f64 {
    let used = |j: usize| {
        let types = types.iter();
        types
            .map(|t| f64::from(t.nodes()) * t.offered_load() * t.demand()[j].value())
            .sum::<f64>()
    };
    let loads = capacity.iter().enumerate().map(|(j, all)| used(j) / all);
    loads.fold(0.0, f64::max)
}

#[test]
fn models_have_their_known_loads() {
    let known = [
        ("borg_cell_a", 29, 1, 0.8995, 1e-4),
        ("borg_cell_b", 26, 1, 0.8991, 1e-4),
        ("borg_top10", 10, 2, 0.907_664_9, 1e-6),
        ("bursty", 4, 2, 0.680_437, 1e-6),
        ("cloud_instances", 21, 2, 0.815_39, 1e-5),
        ("fleet", 10, 3, 311.0 / 528.0, 1e-14),
        ("four_types", 4, 1, 0.9, 1e-14),
        ("gangs", 4, 2, 0.91125, 1e-14),
        ("gpu_fleet", 3, 2, 0.94625, 1e-14),
        ("one_or_all", 2, 1, 0.76875, 1e-14),
        ("section7", 3, 3, 0.8775, 1e-14),
        ("section7_phases", 3, 3, 0.78, 1e-14),
        ("vms", 4, 4, 131.0 / 200.0, 1e-14),
    ];
    let names: Vec<String> = models()
        .iter()
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, known.map(|(name, ..)| name));
    for (name, types, resources, load, tolerance) in known {
        let path = root().join(format!("models/{name}.yaml"));
        let Parsed {
            workload: fleet,
            warnings,
        } = Fleet::read(&path).unwrap();
        let (workload, capacity) = (fleet.envelope(), fleet.capacity());
        assert_eq!(workload.types().len(), types, "{name}");
        assert_eq!(workload.resources().len(), resources, "{name}");
        let found = fluid_load(workload.types(), &capacity);
        assert!((found - load).abs() < tolerance, "{name}: {found}");
        assert!(warnings.is_empty() && workload.source().is_some());
    }
}

/// The offered loads must be equal to the column `load` of the published table.
#[test]
fn borg_loads_match_the_published_ones() {
    let published = [
        2.078_775_621,
        26.375_434_738,
        16.799_775_246,
        6.834_766_759,
        11.785_674_708,
        11.392_967_526,
        12.673_645_835,
        10.147_292_462,
        10.743_662_983,
        34.962_098_119,
    ];
    let workload = model("borg_top10");
    for (job, load) in workload.types().iter().zip(published) {
        assert!((job.offered_load() - load).abs() < 1e-8, "{}", job.name());
    }
}

#[test]
fn units_of_a_model_by_hand() {
    let workload = model("vms");
    assert_eq!(workload.types()[1].units(), [4, 1, 1, 10]);
    let found = workload.resources().iter();
    let found = found.map(Resource::units).collect::<Vec<_>>();
    assert_eq!(found, [128, 256, 102, 100]);
    let found = (0..4).map(|i| workload.most_alone(i)).collect::<Vec<_>>();
    assert_eq!(found, [20, 10, 10, 16]);
    assert_eq!(workload.types()[3].service_rate(), 1.0);
    assert_eq!(workload.time_unit(), "s");
}

fn load(arrivals: &str, size: &str) -> Option<BigRational> {
    let job = format!("  - {{name: a, demand: {{cpu: 1}}, {arrivals}, {size}}}\n");
    parse(&format!(
        "{HEAD}server: {{capacity: {{cpu: 1}}}}\njobs:\n{job}"
    ))
    .types()[0]
        .exact_load()
}

/// For example, the load of the Markov-modulated process is 2/3 + 10/3 = 4.
#[test]
fn loads_by_hand() {
    for line in include_str!("loads.txt").lines() {
        let [arrivals, size, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert_eq!(load(arrivals, size), expected.parse().ok(), "{line}");
    }
}
