//! Batches that are alike and a modulation common to all types, in documents and records.

use super::*;

const ONE: &str = "server: {capacity: {cpu: 8}}\n";
const FLEET: &str = "servers:\n  - {name: x, count: 3, capacity: {cpu: 8}}\n  - {name: y, count: 2, capacity: {cpu: 2}}\n";

/// One server or a fleet, with these lines before it, and types with these arrivals.
fn text(before: &str, servers: &str, arrivals: &[&str]) -> String {
    let mut text = format!("{HEAD}{before}{servers}jobs:\n");
    for (i, arrivals) in arrivals.iter().enumerate() {
        text += &format!("  - {{name: t{i}, demand: {{cpu: 1}}, mean_size: 1, {arrivals}}}\n");
    }
    text
}

fn read(text: &str) -> Fleet {
    let read = Fleet::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    read.workload
}

/// As a fleet, read back from a document and from a record; and its digest.
fn through(text: &str) -> (Fleet, String) {
    let fleet = read(text);
    let again = fleet.to_yaml();
    assert_eq!(read(&again), fleet, "{again}");
    let json = serde_json::to_string(&fleet.record()).unwrap();
    let record: Record = serde_json::from_str(&json).unwrap();
    assert_eq!(record.check().unwrap(), fleet);
    let digest = fleet.digest();
    (fleet, digest)
}

const COMMON: &str = "modulation: {factors: [.4, 2.2], switching: [[0, .1], [.3, 0]]}\n";
const BATCHES: &str = "arrivals: {process: batches, rate: .2, sizes: [1, 5]}";
const ALIKE: &str = "arrivals: {process: batches, rate: .2, sizes: [1, 5], alike: .85}";

#[test]
fn both_laws_go_through_documents_records_and_digests() {
    let mut digests = Vec::new();
    for servers in [ONE, FLEET] {
        for before in ["", COMMON] {
            for batches in [BATCHES, ALIKE] {
                let (fleet, digest) =
                    through(&text(before, servers, &[batches, "arrival_rate: .5"]));
                digests.push(digest);
                let [batches, poisson] = fleet.types() else {
                    panic!("two types")
                };
                assert!(!batches.is_poisson());
                assert_eq!(batches.is_memoryless(), batches.arrivals().alike() == 0.0);
                assert_eq!(poisson.is_poisson(), before.is_empty());
                assert!(!fleet.envelope().is_poisson());
                let rates = [batches, poisson].map(JobType::arrival_rate);
                assert_eq!(rates, [0.2 * 3.0, 0.5], "means over all time");
            }
        }
    }
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
}

/// What is left out, or says nothing, changes nothing: neither document nor digest.
#[test]
fn nothing_is_alike_where_nothing_is_said() {
    let plain = parse(&text("", ONE, &[BATCHES]));
    let zero = BATCHES.replace("5]", "5], alike: 0");
    let zero = parse(&text("", ONE, &[&zero]));
    assert_eq!(zero, plain);
    assert_eq!(zero.digest(), plain.digest());
    let json = serde_json::to_string(&plain.record()).unwrap();
    assert!(
        !json.contains("alike") && !json.contains("modulation"),
        "{json}"
    );
    assert!(!plain.to_yaml().contains("alike"));
    // Two jobs that are never in one batch are not alike, and states that are the same are one.
    let single = "arrivals: {process: batches, rate: .2, sizes: [1], alike: 1}";
    assert!(parse(&text("", ONE, &[single])).is_poisson());
    let constant = COMMON.replace("[.4, 2.2]", "[2, 2]");
    let constant = parse(&text(&constant, ONE, &["arrival_rate: 1"]));
    assert!(constant.is_poisson());
    through(&constant.to_yaml());
}

/// More load is more of each type: the chain, and what is alike, stay as they are.
#[test]
fn both_laws_stay_as_loads_are_scaled() {
    let document = text(COMMON, FLEET, &[ALIKE, "arrival_rate: .5"]);
    let (fleet, _) = through(&document);
    let half = fleet.scaled(0.5).unwrap();
    assert_eq!(half.envelope().modulation(), fleet.envelope().modulation());
    assert_eq!(half.types()[0].arrivals().alike(), 0.85);
    assert!((half.types()[0].arrival_rate() - 0.3).abs() < 1e-15);
    let server = parse(&text(COMMON, ONE, &[ALIKE, "arrival_rate: .5"]));
    let more = server.scaled(0.5).unwrap();
    assert_eq!(more.modulation(), server.modulation());
}

#[test]
fn every_fault_is_reported_where_it_stands() {
    let bad = "modulation: {factors: [-1, 2], switching: [[1, .1], [x, 0]]}\n";
    for (before, arrivals, expected) in [
        (
            bad,
            &["arrival_rate: 1"][..],
            // Of what cannot be read nothing else is said.
            &["modulation.switching[1][0]"][..],
        ),
        (
            "modulation: {factors: [-1, 2], switching: [[1, .1], [.1, 0]]}\n",
            &[
                "arrivals: {process: renewal, interarrival: {law: erlang, stages: 2, mean: 1}}",
                "arrivals: {process: markov-modulated, rates: [1, 2], switching: [[0, 1], [1, 0]]}",
            ],
            &[
                "modulation.factors[0]",
                "modulation.switching[0][0]",
                "jobs[0].arrivals",
                "jobs[1].arrivals",
            ],
        ),
    ] {
        let error = Workload::parse(&text(before, ONE, arrivals), "t.yaml").unwrap_err();
        let DocumentError::Faults { faults, .. } = error else {
            panic!("not faults")
        };
        let places: Vec<String> = faults.iter().map(|fault| fault.place.to_string()).collect();
        assert_eq!(places, expected);
    }
}

/// The same checks hold for a record, and what it says is part of its digest.
#[test]
fn a_record_is_checked_as_a_document_is() {
    let record = parse(&text(COMMON, ONE, &[ALIKE])).record();
    let faults = |change: fn(&mut Record)| {
        let mut record = record.clone();
        change(&mut record);
        let faults = record.check().unwrap_err();
        faults[0].place.to_string()
    };
    assert_eq!(faults(|r| r.modulation = None), "digest");
    let first = |r: &mut Record| {
        let factors = &mut r.modulation.as_mut().unwrap().factors;
        factors[0] = Decimal::parse("-1").unwrap();
    };
    assert_eq!(faults(first), "modulation.factors[0]");
    let alike = |r: &mut Record| {
        if let Some(ArrivalProcess::Batches { alike, .. }) = &mut r.types[0].arrivals {
            *alike = Decimal::parse("2").unwrap();
        }
    };
    assert_eq!(faults(alike), "types[0].arrivals.alike");
}
