use super::*;

fn reread(fleet: &Fleet) -> Fleet {
    let text = fleet.to_yaml();
    let read = Fleet::parse(&text, "written.yaml");
    read.unwrap_or_else(|error| panic!("{error}\n{text}"))
        .workload
}

#[test]
fn models_round_trip() {
    for path in models() {
        let described = Fleet::read(&path).unwrap().workload;
        assert_eq!(reread(&described), described, "{}", path.display());
    }
}

fn number(draw: &mut impl FnMut(u64) -> u64) -> Decimal {
    let digits = match draw(3) {
        0 => (1 + draw(9)) as f64,
        1 => (1 + draw(1_000_000)) as f64 / 1e3,
        _ => f64::sqrt((1 + draw(1 << 31)) as f64),
    };
    Decimal::new(digits * 10_f64.powi(draw(5) as i32 - 2)).unwrap()
}

fn numbers(n: usize, draw: &mut impl FnMut(u64) -> u64) -> Vec<Decimal> {
    (0..n).map(|_| number(draw)).collect()
}

fn decimals(texts: &[&str]) -> Vec<Decimal> {
    texts.iter().map(|t| Decimal::parse(t).unwrap()).collect()
}

fn law(n: u64, draw: &mut impl FnMut(u64) -> u64) -> SizeDistribution {
    let mean = number(draw);
    let scv = Decimal::new(1.0 + (1 + draw(800)) as f64 / 8.0).unwrap();
    match n {
        0 => SizeDistribution::Exponential { mean },
        1 => SizeDistribution::Erlang {
            stages: 1 + draw(100) as u32,
            mean,
        },
        2 => SizeDistribution::Hyperexponential {
            probabilities: decimals(&[".125", ".275", ".6"]),
            means: numbers(3, draw),
        },
        3 => SizeDistribution::BalancedHyperexponential { mean, scv },
        4 => SizeDistribution::Coxian {
            means: numbers(3, draw),
            onward: decimals(&["1", "1e-3"]),
        },
        5 => SizeDistribution::Deterministic { mean },
        6 => SizeDistribution::Lognormal { mean, scv },
        7 => SizeDistribution::Weibull { mean, scv },
        8 => SizeDistribution::Pareto {
            shape: scv,
            low: mean,
            high: Decimal::new(mean.value() * 1e3).unwrap(),
        },
        9 => SizeDistribution::Uniform {
            low: Decimal::ZERO,
            high: mean,
        },
        10 => SizeDistribution::Empirical {
            values: numbers(4, draw),
            probabilities: Some(decimals(&[".1", ".2", ".3", ".4"])),
        },
        _ => SizeDistribution::Empirical {
            values: numbers(4, draw),
            probabilities: None,
        },
    }
}

const LAWS: u64 = 12;

fn process(n: u64, draw: &mut impl FnMut(u64) -> u64) -> ArrivalProcess {
    let rate = number(draw);
    let sizes = vec![1, 1 + draw(100_000) as u32];
    match n {
        0 => ArrivalProcess::Poisson { rate },
        1 => ArrivalProcess::MarkovModulated {
            rates: numbers(2, draw),
            switching: vec![
                vec![Decimal::ZERO, number(draw)],
                vec![number(draw), Decimal::ZERO],
            ],
        },
        2 => ArrivalProcess::Batches {
            rate,
            sizes,
            probabilities: None,
            alike: Decimal::ZERO,
        },
        3 => ArrivalProcess::Batches {
            rate,
            sizes,
            probabilities: Some(decimals(&[".999", ".001"])),
            alike: decimals(&[".85"])[0],
        },
        n => ArrivalProcess::Renewal {
            interarrival: law(n - 4, draw),
            batch: 1 + (n as u32 % 2) * 19,
        },
    }
}

const NAMES: [&str; 12] = [
    "web", "yes", "null", "~", "1e3", "a: b", "- c", "# d", "é ü", "'\"", "*x", "{y}",
];

fn random(seed: u64) -> Fleet {
    let mut draw = draws(seed);
    let resources = ["cpu", "0x10", "a, b", "true"].map(str::to_owned);
    let decimal = |x: f64| Decimal::new(x).unwrap();
    let known = [
        None,
        Some(SizeInformation::Type),
        Some(SizeInformation::Size),
        Some(SizeInformation::Limit(SizeDistribution::Deterministic {
            mean: decimals(&["2"])[0],
        })),
    ];
    let source = [None, Some("a\n b: 'c'\n\n- \"d\" # e\n".to_owned())][draw(2) as usize].clone();
    let time_unit = NAMES[draw(12) as usize].to_owned();
    let capacity = [(); 4].map(|()| decimal(1e3 + draw(1000) as f64 / 8.0));
    let shape = ShapeDocument {
        name: None,
        count: Some(1),
        capacity: Pairs::amounts(&resources, &capacity, |_, own| Amount::of(own, false)),
    };
    let job = |(i, name): (usize, &&str)| {
        let mut demand = [(); 4].map(|()| decimal((1 + draw(40)) as f64 / 4.0));
        if i == 0 {
            demand[2] = Decimal::ZERO;
        }
        JobDocument {
            name: (*name).to_owned(),
            demand: Pairs::amounts(&resources, &demand, |_, own| own),
            arrivals: Some(process((seed + i as u64) % (4 + LAWS), &mut draw)),
            size: Some(law((seed + i as u64) % LAWS, &mut draw)),
            ..JobDocument::default()
        }
    };
    let jobs = NAMES.iter().enumerate().map(job).collect();
    let document = FleetDocument {
        source,
        time_unit,
        known: known[seed as usize % 4].clone(),
        servers: vec![shape],
        jobs,
        ..FleetDocument::default()
    };
    let checked = document.check();
    checked.unwrap_or_else(|faults| panic!("{faults:#?}"))
}

#[test]
fn workloads_of_every_distribution_and_process_round_trip() {
    for seed in 0..60 {
        let fleet = random(seed);
        let again = reread(&fleet);
        assert_eq!(again, fleet);
        assert_eq!(again.digest(), fleet.digest());
    }
}

#[test]
fn random_fleets_round_trip() {
    for seed in 0..10 {
        let mut server = random(seed).envelope;
        server.types.retain(JobType::is_poisson);
        let jobs = &server.to_yaml();
        let start = jobs.find("server:").unwrap();
        let end = jobs.find("jobs:").unwrap();
        let servers = "servers:\n  - {name: 'no', count: 3, capacity: {gpu: 0, cpu: 1100, 'true': 1200, 0x10: 1500, 'a, b': 1600}}\n  \
            - {capacity: {cpu: 2000, 'true': 2000, gpu: 1, 0x10: 2000, 'a, b': 2000}}\n";
        let text = [&jobs[..start], servers, &jobs[end..]].concat();
        let fleet = Fleet::parse(&text, "fleet.yaml").unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(reread(&fleet.workload), fleet.workload);
    }
}

/// If all demands are 0.6, a device is one unit, so that the load is the load of two servers. With
/// whole devices or a demand of 0.4, a unit is 0.2, so that a device has 5 units.
#[test]
fn devices_round_trip_with_their_units() {
    let text = |server: &str, demand: &str| {
        format!(
            "kind: multiresource\ntime_unit: h\nserver: {{capacity: {{cpu: 9, gpu: {server}}}}}\njobs:\n  - {{name: a, demand: {{gpu: .6}}, arrival_rate: 1, mean_size: 1}}\n  - {{name: b, demand: {demand}, arrival_rate: 1, mean_size: 1}}\n"
        )
    };
    let read = |server: &str, demand: &str| Fleet::parse(&text(server, demand), "t");
    let devices = "{devices: 2}";
    for (demand, units, device) in [
        ("{cpu: 1}", 2, 1),
        ("{gpu: 2}", 10, 5),
        ("{gpu: .4}", 10, 5),
    ] {
        let fleet = read(devices, demand).unwrap().workload;
        let gpu = &fleet.envelope().resources()[1];
        assert_eq!(gpu.units(), units, "{demand}");
        assert_eq!(gpu.device(), Some(device), "{demand}");
        assert_eq!(fleet.units(0)[1], units);
        assert_eq!(reread(&fleet), fleet);
        assert!(!fleet.is_one_server() && fleet.require_no_devices().is_err());
        let amounts = read("2", demand).unwrap().workload;
        assert!(amounts.is_one_server() && amounts.digest() != fleet.digest());
        assert_eq!(amounts.scaled(2.0).unwrap().devices(), [""; 0]);
        assert_eq!(fleet.scaled(2.0).unwrap().devices(), ["gpu"]);
    }
    let warnings = |server: &str, demand: &str| read(server, demand).unwrap().warnings.len();
    let found = [warnings("2", "{cpu: 1}"), warnings("1", "{cpu: 1}")];
    assert_eq!(found, [1, 0]);
    assert_eq!(warnings(devices, "{gpu: 1}"), 1);
}
