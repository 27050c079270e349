//! Mixes that are best for something other than the load: the binary, and the checker.

use crate::common::{as_it_is, code, stderr, stdout, synth};
use serde_json::{Value, json};
use synth::multiresource::artifact::{Balance, Preemption};
use synth::multiresource::program::Balancing;
use synth::multiresource::synthesis::{Options, Outcome, synthesize};
use synth::multiresource::workload::Workload;

const AIMS: [Balance; 3] = [
    Balance::Headroom,
    Balance::TotalResponse,
    Balance::WorstResponse,
];

fn section7() -> Workload {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
    Workload::read(path.as_ref()).unwrap().workload
}

/// An artifact for weights 1, 2, 4 on section 7 of the MSR paper, with preemption.
fn made(aim: Balance) -> Value {
    let workload = section7();
    let mut options = Options::new(Preemption::Full);
    let weights = vec![1.0, 2.0, 4.0];
    options.balance = Some(Balancing { aim, weights });
    let Outcome::Policy(made) = synthesize(&workload, &options).unwrap() else {
        panic!("section 7 can be stabilized");
    };
    serde_json::to_value(&made.artifact).unwrap()
}

fn faults(document: &Value) -> Vec<String> {
    match as_it_is(document, "test") {
        Ok(_) => Vec::new(),
        Err(refused) => vec![refused.to_string()],
    }
}

/// The policy's mix has the value, the certificate keeps the least load with a mix of its own, and
/// the policy that comes of it checks.
#[test]
fn the_artifact_proves_both_the_load_and_the_balance() {
    for aim in AIMS {
        let document = made(aim);
        assert_eq!(faults(&document), [""; 0], "{aim:?}");
        let certificate = &document["evidence"]["servers"][0];
        assert!((certificate["load"].as_f64().unwrap() - 0.9).abs() < 1e-12);
        assert_eq!(certificate["balance"]["aim"], aim.name());
        assert_eq!(certificate["balance"]["proven"], true, "{certificate}");
        assert_ne!(
            certificate["mix"]["weights"],
            document["policy"]["servers"][0]["rule"]["msr"]["weights"]
        );
    }
}

/// Numbers of the record that are not what they should be, each refused at its place.
#[test]
fn a_record_with_a_fault_is_refused() {
    for aim in AIMS {
        let valid = made(aim);
        let record = &valid["evidence"]["servers"][0]["balance"];
        let times = |pointer: &str, factor: f64| {
            json!(record.pointer(pointer).unwrap().as_f64().unwrap() * factor)
        };
        let better = |by: f64| match aim {
            Balance::Headroom => 1.0 + by,
            _ => 1.0 - by,
        };
        let faulty = [
            ("/value", times("/value", better(1e-6)), "balance.value"),
            ("/value", times("/value", better(-1e-6)), "balance.value"),
            // A bound that is too good is not proven; one that is less good has another gap.
            ("/bound", times("/bound", better(-1e-6)), "balance.bound"),
            ("/bound", times("/bound", better(1e-6)), "balance.gap"),
            ("/gap", json!(1e-3), "balance.gap"),
            ("/proven", json!(false), "balance.proven"),
            ("/weights/2", json!(0), "balance.weights[2]"),
            ("/weights/2", json!(5), "balance.value"),
            ("/weights", json!([1, 2]), "balance.weights"),
            ("/prices/0", json!(-1), "balance.prices[0]"),
            ("/prices", json!([0, 0, 0]), "balance.prices"),
            (
                "/resource_prices",
                json!([0, 0, 0]),
                "balance.resource_prices",
            ),
            (
                "/aim",
                json!("least-effort"),
                "evidence.servers[0].balance.aim",
            ),
        ];
        for (pointer, value, place) in faulty {
            let mut document = valid.clone();
            *document["evidence"]["servers"][0]["balance"]
                .pointer_mut(pointer)
                .unwrap() = value;
            let found = faults(&document).concat();
            assert!(found.contains(place), "{aim:?} {pointer}: {found}");
        }
    }
}

/// The record goes with a mix for the load, and that mix with the record.
#[test]
fn record_and_second_mix_go_together() {
    let valid = made(Balance::TotalResponse);
    for missing in ["mix", "balance"] {
        let mut document = valid.clone();
        document["evidence"]["servers"][0]
            .as_object_mut()
            .unwrap()
            .remove(missing);
        let found = faults(&document).concat();
        assert!(
            found.contains("evidence.servers[0].mix"),
            "{missing}: {found}"
        );
    }
}

#[test]
fn the_summary_tells_what_the_mix_is_best_for() {
    let told = synth(&[
        "--workload",
        "models/section7.yaml",
        "--preemption",
        "full",
        "--balance",
        "total-response",
        "--weights",
        "type-3=2",
    ]);
    assert_eq!(code(&told), 0, "{}", stderr(&told));
    let document: Value = serde_json::from_str(&stdout(&told)).unwrap();
    assert_eq!(
        document["evidence"]["servers"][0]["balance"]["weights"],
        json!([0.45, 1.8, 2.0])
    );
    let lines = stderr(&told);
    let lines: Vec<&str> = lines
        .lines()
        .filter(|line| line.contains("w_i") || line.contains("weights w"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_was_typed_wrong_is_named() {
    for (typed, words) in [
        (
            &["--weights", "type-1=2"][..],
            "--weights goes with --balance",
        ),
        (
            &["--balance", "headroom", "--weights", "type-9=2"],
            "no type `type-9`",
        ),
        (
            &["--balance", "headroom", "--weights", "type-1=0"],
            "above 0",
        ),
        (
            &["--balance", "headroom", "--weights", "type-1"],
            "NAME=NUMBER",
        ),
        (
            &[
                "--balance",
                "headroom",
                "--family",
                "auto",
                "--preemption",
                "none",
            ],
            "--balance goes with --family msr",
        ),
    ] {
        let preemption: &[&str] = match typed.contains(&"--preemption") {
            true => &[],
            false => &["--preemption", "full"],
        };
        let base = ["--workload", "models/section7.yaml"];
        let refused = synth(&[&base[..], preemption, typed].concat());
        assert_eq!(code(&refused), 2, "{typed:?}");
        assert!(
            stderr(&refused).contains(words),
            "{typed:?}: {}",
            stderr(&refused)
        );
        assert!(stdout(&refused).is_empty());
    }
}

/// Beyond capacity there is nothing to balance: the negative answer is that of the load.
#[test]
fn an_overloaded_workload_is_refused_as_ever() {
    let workload = section7().scaled(1.2).unwrap();
    let mut options = Options::new(Preemption::None);
    for aim in AIMS {
        options.balance = Some(Balancing::new(&workload, aim, &[]).unwrap());
        let outcome = synthesize(&workload, &options).unwrap();
        assert!(matches!(outcome, Outcome::Overloaded(_)), "{aim:?}");
    }
}

/// A nearly empty server, and one that is nearly full: headroom and responses are differences of which
/// few digits are left, in the values or in the bounds. What was made checks; a value or a bound that
/// is off by more than those digits does not.
#[test]
fn headroom_of_any_size_checks() {
    let empty = "kind: multiresource\ntime_unit: h\nserver: {capacity: {cpu: 32}}\njobs:
  - {name: a, demand: {cpu: 1}, arrival_rate: 1.4e-9, mean_size: 1}\n";
    let full = "kind: multiresource\ntime_unit: h\nserver: {capacity: {cpu: .01}}\njobs:
  - {name: a, demand: {cpu: .0099}, arrival_rate: .0999999999, mean_size: 10}
  - {name: b, demand: {cpu: .0033}, arrival_rate: 1e-10, mean_size: 1e-6}\n";
    for (text, aims) in [(empty, &AIMS[..]), (full, &AIMS[1..2])] {
        let workload = Workload::parse(text, "test").unwrap().workload;
        for &aim in aims {
            let mut options = Options::new(Preemption::Full);
            let balancing = Balancing::new(&workload, aim, &[]).unwrap();
            options.balance = Some(balancing);
            options.effort = 1e-3;
            let Outcome::Policy(made) = synthesize(&workload, &options).unwrap() else {
                panic!("it can be stabilized");
            };
            assert_eq!(made.artifact.check().err(), None, "{aim:?} {text}");
            let document = serde_json::to_value(&made.artifact).unwrap();
            for (field, factor) in [("value", 1.001), ("value", 0.999), ("bound", 1.001)] {
                let better = aim == Balance::Headroom && field == "bound";
                let mut forged = document.clone();
                let number = &mut forged["evidence"]["servers"][0]["balance"][field];
                let factor = if better { 1.0 / factor } else { factor };
                *number = json!(number.as_f64().unwrap() * factor);
                assert_ne!(faults(&forged), [""; 0], "{aim:?} {field} {text}");
            }
        }
    }
}
