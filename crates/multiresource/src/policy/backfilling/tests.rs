#![allow(clippy::unwrap_used)]
use super::*;
use crate::policy::rule::PolicyConfig as _;
use crate::policy::{Family, parse_custom_policy};
use synth_core::artifact::Findings;

const DOCUMENT: &str = "kind: multiresource
time_unit: min
known: {limit: {law: uniform, low: 1, high: 3}}
server: {capacity: {cpu: 4}}
jobs: [{name: one, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}]
";

fn fleet() -> Fleet {
    Workload::parse(DOCUMENT, "t").unwrap().workload.into()
}

fn policy(words: &str) -> BackfillingConfig {
    let choices = Backfilling::parse(words).unwrap().unwrap();
    BackfillingConfig::of(choices, &fleet()).unwrap()
}

fn jobs(own: &mut BackfillingConfig) -> &mut Priority {
    match &mut own.order {
        QueueOrder::Jobs(priority) => priority,
        QueueOrder::Types(order) => panic!("{order:?}"),
    }
}

#[test]
fn rejects_invalid_numbers_with_their_paths() {
    type Spoil = fn(&mut BackfillingConfig);
    let cases: [(Spoil, &str, &str); 11] = [
        (|own| jobs(own).size = f64::NAN, "order.size", "a number"),
        (|own| jobs(own).size = 1e3, "order.size", "1000"),
        (|own| jobs(own).share = -21.0, "order.share", "-21"),
        (|own| jobs(own).age = -1.0, "order.age", "-1"),
        (|own| jobs(own).age = 1e-3, "order.age", "0.001"),
        (|own| jobs(own).offset = 0.0, "order.offset", "0"),
        (
            |own| jobs(own).offset = f64::NAN,
            "order.offset",
            "not a number",
        ),
        (|own| own.longest_wait = Some(-3.0), "longest_wait", "-3"),
        (
            |own| own.longest_wait = Some(f64::INFINITY),
            "longest_wait",
            "more than",
        ),
        (
            |own| own.reservations = Reservations::Few(0),
            "reservations",
            "at least 1",
        ),
        (
            |own| jobs(own).age = f64::INFINITY,
            "order.age",
            "more than",
        ),
    ];
    for (spoil, path, value) in cases {
        let mut own = policy("easy+wfp3+history");
        spoil(&mut own);
        let mut findings = Findings::default();
        own.check(&fleet(), &mut findings);
        let found = findings.into_list();
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found[0].contains(path), "{path} {value}: {found:?}");
        assert!(found[0].contains(value), "{path} {value}: {found:?}");
    }
    for text in "easy+sjf conservative+saf+ratio strict+wfp3+tree first-fit+fcfs".split(' ') {
        let mut findings = Findings::default();
        policy(text).check(&fleet(), &mut findings);
        assert!(findings.is_empty(), "{text}");
    }
}

#[test]
fn policy_files_round_trip_and_reject_unknown_words() {
    for (reservations, written) in [
        (Reservations::First, "\"first\""),
        (Reservations::All, "\"all\""),
        (Reservations::Few(3), "3"),
    ] {
        let mut own = policy("easy+wfp3+tree");
        (own.reservations, own.longest_wait) = (reservations, Some(18.0));
        let text = serde_json::to_string(&own).unwrap();
        let is_written = text.contains(&format!("\"reservations\":{written}"));
        assert!(is_written, "{text}");
        let found = serde_json::from_str::<BackfillingConfig>(&text).unwrap();
        assert_eq!(found, own);
        let written = format!("\"reservations\":{written}");
        let none = "\"reservations\":0";
        for (from, to, said) in [
            (&*written, none, "a whole number ≥ 1"),
            (&written, "\"reservations\":1.5", "a whole number ≥ 1"),
            (
                &written,
                "\"reservations\":\"some\"",
                "unknown number of reservations `some`",
            ),
            ("\"tree\"", "\"oracle\"", "unknown variant `oracle`"),
            ("\"size\":3.0", "\"size\":null", "null"),
        ] {
            let wrong = serde_json::from_str::<BackfillingConfig>(&text.replace(from, to));
            let why = wrong.unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
    }
}

#[test]
fn descriptions_name_order_and_reservations() {
    let mut own = policy("easy+sjf");
    own.longest_wait = Some(18.0 * 60.0);
    let envelope = fleet();
    let words = |own: &BackfillingConfig| own.describe(envelope.envelope());
    let said = words(&own);
    for part in [
        "order of the queue: shortest limit first.",
        "the head of the queue has a reservation; other jobs can start earlier if this does not delay any reservation, based on limits",
        " A job that has waited for 18 h is moved to the head of the queue.",
    ] {
        assert!(said.contains(part), "{said}");
    }
    for row in include_str!("tests/words.txt").lines() {
        let (name, part) = row.split_once(" => ").unwrap();
        let said = words(&policy(name));
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn unknown_words_list_the_valid_ones() {
    for row in include_str!("tests/no_words.txt").lines() {
        let (text, said) = row.split_once(" => ").unwrap();
        let why = Backfilling::parse(text).unwrap().unwrap_err();
        assert!(why.contains(said), "{why}");
    }
    let choices = Backfilling::parse("easy+sjf+size").unwrap().unwrap();
    let why = BackfillingConfig::of(choices, &fleet()).unwrap_err();
    assert!(why.0.contains("not known when the job arrives"), "{why}");
}

#[test]
fn parses_custom_orders_and_locates_faults() {
    let text = "backfilling: {order: {size: 1, share: -0.5, age: 2, offset: 10h}, estimate: history, reservations: 2, longest-wait: 18h}";
    let Family::Backfilling(own) = parse_custom_policy(text, "own", &fleet()).unwrap() else {
        panic!("expected the backfilling family")
    };
    let order = Priority {
        size: 1.0,
        share: -0.5,
        age: 2.0,
        offset: 600.0,
    };
    assert_eq!(own.priority(), Some(&order));
    assert_eq!(own.longest_wait, Some(1080.0));
    assert_eq!(own.reservations, Reservations::Few(2));
    assert_eq!(own.estimate, Some(RuntimeEstimate::History));
    for row in include_str!("tests/documents.txt").lines() {
        let [from, to, said] = row.split(" => ").collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let why = parse_custom_policy(&text.replace(from, to), "own", &fleet()).unwrap_err();
        let why = why.to_string();
        assert!(why.contains(said), "{to}: {why}");
    }
}
