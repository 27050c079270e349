//! What is known of the models, and loads by hand.

use num_rational::BigRational;

use super::*;

/// Digests stand in policy files: they are those of version 1 for good.
#[test]
fn models_keep_their_digests() {
    let known = "borg_cell_a 536078ccd490a86b83a87cc0a0cf14e4cc5b866359f7870aecbc74d60a3c65f2
        borg_cell_b e2e4437829d287267f47c7049f7e475994ec7443973a6770099c1ad84f943b06
        borg_top10 6827d871935b2fd2c96b0bae8c908298781b23121e80f41f98a9f2faaf24f832
        bursty c1ccff19b1d6d6a7c6550b0f1d121cbba9dfee02578b7857cd011a1a7eab6d4f
        cloud_instances b0f04829a6dc7ac8ed42c1a3fde40b97ca9591072941140cf88de4f31057185d
        fleet 90d4e7cd2e624cad1f7c552e205d1c2d410742ead1f96a83e961edcba3a15248
        four_types 2b21ab43822c95d6354442f76929999b97e0de06c790d0437e04d521281fca2a
        one_or_all bbcd2a627968139773fafe105700aeffe3b7078c7ed13a84e13c30c5ab8098e3
        section7 c1a0e47289c1736311320b3a4e6eefbdccc1788e5c60f030664cdf762104453c
        section7_phases fbd9388450476c463d721380b72cc208b5db4a15c1db9dbe07a028b92069e081
        vms f686cddeb77f10a67028ea054c25fafcce98ee6e1fd7ff643c1b065ff843cc49";
    for line in known.lines() {
        let (name, digest) = line.trim().split_once(' ').unwrap();
        let path = root().join(format!("models/{name}.yaml"));
        let fleet = Fleet::read(&path).unwrap().workload;
        assert_eq!(fleet.digest(), format!("sha256:{digest}"), "{name}");
    }
}

/// max_j Σ_i b_i D_ij / P_j, with so much of each resource in all.
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
fn the_models_have_their_known_loads() {
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
        assert_eq!(
            (workload.types().len(), workload.resources().len()),
            (types, resources),
            "{name}"
        );
        let found = fluid_load(workload.types(), &capacity);
        assert!((found - load).abs() < tolerance, "{name}: {found}");
        assert!(
            warnings.is_empty() && workload.unserved().is_empty() && workload.source().is_some()
        );
    }
}

/// Column `load` of the published table, which the rate times .018 must give again.
#[test]
fn the_borg_loads_are_the_published_ones() {
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
    let workload = Workload::read(&root().join("models/borg_top10.yaml"))
        .unwrap()
        .workload;
    for (job, load) in workload.types().iter().zip(published) {
        assert!((job.offered_load() - load).abs() < 1e-8, "{}", job.name());
    }
}

#[test]
fn integers_of_the_models_are_the_plain_ones() {
    let workload = Workload::read(&root().join("models/vms.yaml"))
        .unwrap()
        .workload;
    assert_eq!(workload.types()[1].units(), [4, 1, 1, 10]);
    assert_eq!(
        workload
            .resources()
            .iter()
            .map(Resource::units)
            .collect::<Vec<_>>(),
        [128, 256, 102, 100]
    );
    assert_eq!(
        (0..4).map(|i| workload.most_alone(i)).collect::<Vec<_>>(),
        [20, 10, 10, 16]
    );
    assert_eq!(workload.types()[3].service_rate(), 1.0);
    assert_eq!(workload.time_unit(), "s");
}

fn load(arrivals: &str, size: &str) -> Option<BigRational> {
    let text = format!(
        "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 1}}}}\njobs:\n  - {{name: a, demand: {{cpu: 1}}, {arrivals}, {size}}}\n"
    );
    Workload::parse(&text, "one").unwrap().workload.types()[0].exact_load()
}

fn ratio(numerator: i64, denominator: i64) -> Option<BigRational> {
    Some(BigRational::new(numerator.into(), denominator.into()))
}

/// By hand: .3·2 + .7·.5 = .95; .5 + .5·1 = 1; (1 + 2 + 7)/3; π = (2, 1)/3 gives 2/3 + 10/3;
/// 2 (.9·1 + .1·5); 1/.3.
#[test]
fn loads_by_hand() {
    let (poisson, unit) = ("arrival_rate: .1", "mean_size: 1");
    for (arrivals, size, expected) in [
        (poisson, "mean_size: .3", ratio(3, 100)),
        (
            poisson,
            "size: {law: hyperexponential, probabilities: [.3, .7], means: [2, .5]}",
            ratio(95, 1000),
        ),
        (
            poisson,
            "size: {law: coxian, means: [.5, 1], onward: [.5]}",
            ratio(1, 10),
        ),
        (
            poisson,
            "size: {law: empirical, values: [1, 2, 7]}",
            ratio(1, 3),
        ),
        (
            poisson,
            "size: {law: lognormal, mean: .7, scv: 4}",
            ratio(7, 100),
        ),
        (
            poisson,
            "size: {law: pareto, shape: 1.2, low: 1, high: 100}",
            None,
        ),
        (
            "arrivals: {process: markov-modulated, rates: [1, 10], switching: [[0, .1], [.2, 0]]}",
            unit,
            ratio(4, 1),
        ),
        (
            "arrivals: {process: batches, rate: 2, sizes: [1, 5], probabilities: [.9, .1]}",
            unit,
            ratio(28, 10),
        ),
        (
            "arrivals: {process: renewal, interarrival: {law: deterministic, mean: .3}}",
            unit,
            ratio(10, 3),
        ),
        (
            "arrivals: {process: renewal, interarrival: {law: pareto, shape: 1.2, low: 1, high: 9}}",
            unit,
            None,
        ),
    ] {
        assert_eq!(load(arrivals, size), expected, "{arrivals} {size}");
    }
}
