//! What is known of the models, and loads by hand.

use num_rational::BigRational;

use super::*;

/// Digests stand in policy files: a change of them is a new version of those.
#[test]
fn models_keep_their_digests() {
    let known = "borg_cell_a -
        borg_cell_b -
        borg_top10 -
        bursty -
        cloud_instances -
        fleet -
        four_types -
        one_or_all -
        section7 -
        section7_phases -
        vms -";
    let found = known.lines().map(|line| {
        let name = line.trim().split(' ').next().unwrap();
        let fleet = Fleet::read(&root().join(format!("models/{name}.yaml"))).unwrap();
        format!("{name} {}", fleet.workload.digest().replace("sha256:", ""))
    });
    let found: Vec<String> = found.collect();
    assert_eq!(found.join("\n        "), known);
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
        assert!(warnings.is_empty() && workload.source().is_some());
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
