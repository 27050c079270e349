//! Start latencies in documents, records and digests.

use super::*;

const ONE: &str = "server: {capacity: {cpu: 8}}\n";
const FLEET: &str = "servers:\n  - {name: x, count: 3, capacity: {cpu: 8}}\n  - {name: y, count: 2, capacity: {cpu: 2}}\n";

fn text(latency: &str, servers: &str) -> String {
    let latency = match latency {
        "" => String::new(),
        latency => format!("start_latency: {latency}\n"),
    };
    format!(
        "{HEAD}{latency}{servers}jobs:\n  \
         - {{name: a, demand: {{cpu: 1}}, arrival_rate: .5, mean_size: 2}}\n  \
         - {{name: b, demand: {{cpu: 2}}, arrival_rate: .1, size: {{law: erlang, stages: 2, mean: 3}}}}\n"
    )
}

fn read(text: &str) -> Fleet {
    Fleet::parse(text, "t.yaml").unwrap().workload
}

const LAWS: [&str; 6] = [
    ".7",
    "{law: exponential, mean: .7}",
    "{exponential: {mean: .7}}",
    "{law: erlang, stages: 2, mean: .7}",
    "{law: uniform, low: 0, high: 1.4}",
    "{law: empirical, values: [0, 2], probabilities: [.65, .35]}",
];

#[test]
fn latencies_go_through_documents_records_and_digests() {
    for servers in [ONE, FLEET] {
        let mut digests = vec![read(&text("", servers)).digest()];
        for law in LAWS {
            let fleet = read(&text(law, servers));
            let again = fleet.to_yaml();
            assert_eq!(read(&again), fleet, "{again}");
            let json = serde_json::to_string(&fleet.record()).unwrap();
            let record: Record = serde_json::from_str(&json).unwrap();
            assert_eq!(record.check().unwrap(), fleet);
            assert_eq!(fleet.envelope().start_latency().unwrap().mean(), 0.7);
            digests.push(fleet.digest());
        }
        // Two of them are one law in two spellings.
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), LAWS.len());
    }
}

/// Of latency and run together: mean, load, service rate, fraction; and nowhere but there.
#[test]
fn a_latency_is_part_of_the_time_that_room_is_held() {
    for servers in [ONE, FLEET] {
        let fleet = read(&text(".7", servers));
        let served = fleet.shapes()[0].server();
        for workload in [fleet.envelope(), served] {
            let [a, b] = workload.types() else {
                panic!("two types")
            };
            assert_eq!((a.mean_size(), a.size().mean()), (2.7, 2.0));
            assert_eq!(a.offered_load(), 0.5 * 2.7);
            assert_eq!(
                a.exact_load(),
                Some(Decimal::parse("1.35").unwrap().exact())
            );
            assert!((b.holding().scv() - 4.5 / 3.7 / 3.7).abs() < 1e-15);
            assert!(!a.is_memoryless() && a.holding().phases().is_none());
        }
        let half = fleet.scaled(0.5).unwrap();
        assert_eq!(
            half.envelope().start_latency(),
            fleet.envelope().start_latency()
        );
    }
}

/// A latency of 0 is none, in whatever way it is given; a record does not say it.
#[test]
fn no_latency_is_what_there_was_before() {
    for servers in [ONE, FLEET] {
        let plain = read(&text("", servers));
        for zero in ["0", "0.0", "{law: deterministic, mean: 0}"] {
            let same = read(&text(zero, servers));
            assert_eq!(same, plain);
            assert_eq!(same.digest(), plain.digest());
        }
        let json = serde_json::to_string(&plain.record()).unwrap();
        assert!(!json.contains("latency"), "{json}");
        let late = read(&text(".7", servers));
        let [zero, own] = ["0", ".7"].map(|text| Decimal::parse(text).unwrap());
        assert_eq!(late.with_start_latency(zero).unwrap(), plain);
        assert_eq!(plain.with_start_latency(own).unwrap(), late);
        assert!(
            plain
                .with_start_latency(Decimal::new(-1.0).unwrap())
                .is_err()
        );
    }
}

#[test]
fn a_record_is_checked_as_a_document_is() {
    let record = read(&text(".7", ONE)).record();
    let faults = |change: fn(&mut Record)| {
        let mut record = record.clone();
        change(&mut record);
        let faults = record.check().unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults[0].place.to_string()
    };
    assert_eq!(faults(|r| r.start_latency = None), "digest");
    assert_eq!(
        faults(|r| {
            r.start_latency = Some(Size::Exponential {
                mean: Decimal::parse(".7").unwrap(),
            });
        }),
        "digest"
    );
    assert_eq!(
        faults(|r| {
            r.start_latency = Some(Size::Deterministic {
                mean: Decimal::parse("-1").unwrap(),
            });
        }),
        "start_latency.mean"
    );
    assert_eq!(
        faults(|r| {
            r.start_latency = Some(Size::Exponential {
                mean: Decimal::ZERO,
            });
        }),
        "start_latency.mean"
    );
    let mut zero = read(&text("", ONE)).record();
    zero.start_latency = Some(Size::Deterministic {
        mean: Decimal::ZERO,
    });
    let faults = zero.check().unwrap_err();
    assert_eq!(faults[0].place.to_string(), "start_latency");
}

#[test]
fn a_latency_out_of_range_is_reported() {
    let text = text("{law: lognormal, mean: 1e300, scv: 1e6}", ONE);
    let error = Workload::parse(&text, "t.yaml").unwrap_err().to_string();
    assert!(
        error.contains("the law of the start latency of all jobs is out of the range of numbers"),
        "{error}"
    );
}
