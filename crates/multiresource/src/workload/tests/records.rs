use serde_json::Value;

use super::*;

const ONE: &str = "server: {capacity: {cpu: 8}}\n";
const FLEET: &str = "servers:\n  - {name: x, count: 3, capacity: {cpu: 8}}\n  - {name: y, count: 2, capacity: {cpu: 2}}\n";

fn document(slot: &str, spelling: &str, servers: &str) -> String {
    let of = |own: &str, usual: &str| match slot == own {
        true => spelling.to_owned(),
        false => usual.to_owned(),
    };
    let head = of("head", "-");
    let head = if head == "-" {
        head[1..].into()
    } else {
        head + "\n"
    };
    let (arrivals, size) = (
        of("arrivals", "arrival_rate: .5"),
        of("size", "mean_size: 1"),
    );
    format!(
        "{HEAD}{head}{servers}jobs:\n  - {{name: a, demand: {{cpu: 1}}, {arrivals}, {size}}}\n  \
         - {{name: b, demand: {{cpu: 2}}, arrival_rate: .1, size: {{law: erlang, stages: 2, mean: 3}}}}\n"
    )
}

fn read(text: &str) -> Fleet {
    let read = Fleet::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    read.workload
}

/// Checks the round trip through document and record, and returns the record as JSON.
fn through(fleet: &Fleet) -> String {
    let again = fleet.to_yaml();
    assert_eq!(read(&again), *fleet, "{again}");
    let json = serde_json::to_string(&fleet.record()).unwrap();
    let record: FleetDocument = serde_json::from_str(&json).unwrap();
    assert_eq!(record.recorded(&fleet.digest()).unwrap(), *fleet);
    assert_eq!(read(&json), *fleet);
    json
}

fn lines() -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    let groups = include_str!("spellings.txt").split("\n\n");
    let of_group = |group: &'static str| {
        let (slot, lines) = group.split_once('\n').unwrap();
        lines.lines().map(move |line| {
            let (spellings, numbers) = line.split_once(" | ").unwrap_or((line, ""));
            (slot, spellings.split(" = ").collect(), numbers)
        })
    };
    groups.flat_map(of_group).collect()
}

#[test]
fn equal_spellings_have_equal_digests() {
    let mut digests = Vec::new();
    for (slot, spellings, numbers) in lines() {
        for servers in [ONE, FLEET] {
            let first = read(&document(slot, spellings[0], servers));
            let json = through(&first);
            for spelling in &spellings[1..] {
                if spelling.starts_with('"') {
                    assert!(json.contains(spelling), "{spelling}: {json}");
                } else {
                    let other = read(&document(slot, spelling, servers));
                    assert_eq!(other, first, "{spelling}");
                }
            }
            digests.push(first.digest());
            let own = &first.types()[0];
            let number = |at: usize| numbers.split(' ').nth(at)?.parse::<f64>().ok();
            let (rate, mean) = (own.arrival_rate(), own.size().mean());
            let found = if slot == "size" { mean } else { rate };
            let is_near = (found / number(0).unwrap_or(found) - 1.0).abs() < 1e-14;
            assert!(is_near, "{own:?}");
            if slot == "arrivals" {
                assert_eq!(own.is_poisson(), numbers.ends_with("poisson"), "{own:?}");
                assert_eq!(
                    own.is_memoryless(),
                    own.arrivals().equal_size_fraction() == 0.0
                );
            }
        }
    }
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
}

#[test]
fn records_are_checked_like_documents() {
    let text = "known: size\nmodulation: {factors: [.4, 2.2], switching: [[0, .1], [.3, 0]]}\nstart_latency: .7\n\
        server: {capacity: {cpu: .3, disk: 5}}\njobs:\n  \
        - {name: a, demand: {cpu: .1}, arrival_rate: 4, mean_size: 1}\n  \
        - {name: b, demand: {cpu: .2, disk: 1}, arrival_rate: .1, mean_size: 3}\n  \
        - {name: c, demand: {cpu: 9}, arrival_rate: 0, mean_size: 1}\n";
    let fleet = read(&format!("{HEAD}{text}"));
    let valid = serde_json::to_value(fleet.record()).unwrap();
    for line in include_str!("records.txt").lines() {
        let [place, value, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let mut changed = valid.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        let value: Value = serde_json::from_str(value).unwrap();
        match changed.pointer_mut(parent).unwrap() {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
            object => object[key] = value,
        }
        let found = match serde_json::from_value::<FleetDocument>(changed) {
            Err(error) => vec![error.to_string()],
            Ok(record) => match record.recorded(&fleet.digest()) {
                Ok(_) => vec!["-".to_owned()],
                Err(faults) => faults.iter().map(ToString::to_string).collect(),
            },
        };
        let is_told = found.iter().any(|own| own.starts_with(expected));
        assert!(is_told, "{line}: {found:?}");
    }
}

#[test]
fn scaling_changes_the_rate_of_every_process() {
    for (slot, spellings, _) in lines().into_iter().filter(|(slot, ..)| *slot != "size") {
        let fleet = read(&document(slot, spellings[0], ONE));
        let scaled = fleet.scaled(0.5).unwrap();
        for (kind, scaled) in fleet.types().iter().zip(scaled.types()) {
            assert!((scaled.arrival_rate() - 0.5 * kind.arrival_rate()).abs() < 1e-15);
            assert_eq!(scaled.arrivals().name(), kind.arrivals().name());
            assert_eq!(
                scaled.arrivals().equal_size_fraction(),
                kind.arrivals().equal_size_fraction()
            );
        }
        let (own, other) = (fleet.envelope(), scaled.envelope());
        assert_eq!(own.modulation(), other.modulation());
        assert_eq!(own.start_latency(), other.start_latency());
        assert_eq!(own.size_information(), other.size_information());
        assert_eq!(scaled.scaled(2.0).unwrap(), fleet);
        through(&fleet.scaled(1.0 / 3.0).unwrap());
        if fleet.types()[0].arrival_rate() > 1.0 {
            for factor in [f64::MAX, f64::from_bits(1)] {
                report(fleet.scaled(factor).unwrap_err());
            }
        }
    }
}

#[test]
fn information_about_limits_follows_the_head() {
    for (known, expected) in [("-", false), ("known: type", false), ("known: size", true)] {
        let fleet = read(&document("head", known, ONE));
        assert_eq!(fleet.envelope().has_limits(), expected);
    }
    let constant = "modulation: {factors: [2, 2], switching: [[0, .1], [.3, 0]]}";
    assert!(parse(&document("arrivals", "arrival_rate: 1", ONE)).is_poisson());
    let poisson = read(&document("head", constant, ONE));
    let is_one = poisson.types()[0].is_poisson();
    assert!(is_one, "states that are the same are one");
    let common = constant.replace("[2, 2]", "[1, 2]");
    assert!(!read(&document("head", &common, FLEET)).types()[0].is_poisson());
}

#[test]
fn latency_is_part_of_the_holding_time() {
    for servers in [ONE, FLEET] {
        let text = document("size", "mean_size: 2", servers);
        let [plain, late] = ["", "start_latency: .7\n"]
            .map(|own| read(&text.replacen("server", &format!("{own}server"), 1)));
        let served = late.shapes()[0].server();
        for workload in [late.envelope(), served] {
            let [a, b] = workload.types() else {
                panic!("two types")
            };
            assert_eq!((a.mean_size(), a.size().mean()), (2.7, 2.0));
            assert_eq!(a.offered_load(), 0.5 * 2.7);
            let exact = Decimal::parse("1.35").unwrap().exact();
            assert_eq!(a.exact_load(), Some(exact));
            assert!((b.holding_time().scv() - 4.5 / 3.7 / 3.7).abs() < 1e-15);
            assert!(!a.is_memoryless() && a.holding_time().phases().is_none());
        }
        let [zero, own, less] = ["0", ".7", "-1"].map(|text| Decimal::parse(text).unwrap());
        assert_eq!(late.with_start_latency(zero).unwrap(), plain);
        assert_eq!(plain.with_start_latency(own).unwrap(), late);
        assert!(plain.with_start_latency(less).is_err());
    }
}

#[test]
fn a_latency_out_of_range_is_reported() {
    let latency = "start_latency: {law: lognormal, mean: 1e300, scv: 1e6}";
    let error = Fleet::parse(&document("head", latency, ONE), "t.yaml").unwrap_err();
    let expected = "the start latency of all jobs is out of the range of numbers";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn omits_processes_of_rate_0() {
    let text = document("arrivals", "arrivals: {process: poisson, rate: 0}", ONE);
    let Parsed { workload, warnings } = Workload::parse(&text, "t.yaml").unwrap();
    assert_eq!(workload.types().len(), 1);
    assert!(warnings[0].contains("t.yaml:5:68"), "{}", warnings[0]);
}

#[test]
fn ten_thousand_measured_sizes_are_read() {
    let values: Vec<String> = (1..=10_000).map(|n| format!("{n}e-3")).collect();
    let size = format!("size: {{law: empirical, values: [{}]}}", values.join(", "));
    let fleet = read(&document("size", &size, ONE));
    assert!((fleet.types()[0].mean_size() - 5.0005).abs() < 1e-12);
    through(&fleet);
}

#[test]
fn measured_servers_become_a_fleet() {
    let shapes = |shapes: &[(u32, [f64; 2])]| {
        let names = ["cpu".to_owned(), "gpu".to_owned()];
        let decimals = |values: [f64; 2]| values.map(|v| Decimal::new(v).unwrap());
        let shape = |(count, capacity): &(u32, [f64; 2])| ShapeDocument {
            name: None,
            count: Some(*count),
            capacity: Pairs::amounts(&names, &decimals(*capacity), |_, own| {
                Amount::of(own, false)
            }),
        };
        let job = JobDocument {
            name: "a".into(),
            demand: Pairs::amounts(&names, &decimals([2.0, 0.0]), |_, own| own),
            arrival_rate: Some(Decimal::ONE),
            mean_size: Some(Decimal::ONE),
            ..JobDocument::default()
        };
        let document = FleetDocument {
            time_unit: "s".into(),
            servers: shapes.iter().map(shape).collect(),
            jobs: vec![job],
            ..FleetDocument::default()
        };
        document.measured().unwrap()
    };
    let found = shapes(&[(1, [8.0, 2.0])])
        .one_server()
        .unwrap()
        .most_alone(0);
    assert_eq!(found, 4);
    let fleet = shapes(&[(3, [4.0, 1.0]), (2, [1.0, 1.0])]);
    assert_eq!(fleet.servers(), 3, "the small ones serve no type");
    let [one, other] = [(3, [4.0, 1.0]), (2, [2.0, 1.0])];
    assert_eq!(shapes(&[one, other]), shapes(&[other, one]));
}
