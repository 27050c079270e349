//! What is said in fractions: decided exactly, and every lie in it refused.
#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value, json};
use synth::artifact::{Artifact, ArtifactError, CheckedArtifact, Family, Preemption, check};
use synth::program::{self, Limits};
use synth::synthesis::{Options, Outcome, SynthesisError, synthesize};
use synth::workload::Workload;

fn model(name: &str) -> Workload {
    let path = format!("{}/models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

/// Section 7 of the MSR paper at these rates; the load is the last of them.
fn section7(rates: [&str; 3]) -> Workload {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let pairs = ["rate: .45,", "rate: 1.8,", "rate: .9,"]
        .into_iter()
        .zip(rates);
    let text = pairs.fold(text, |text, (from, to)| {
        text.replace(from, &format!("rate: {to},"))
    });
    Workload::parse(&text, "section7").unwrap().workload
}

fn outcome(workload: &Workload) -> Result<Outcome, SynthesisError> {
    synthesize(workload, &Options::new(Preemption::Full))
}

fn made(workload: &Workload) -> Artifact {
    match outcome(workload).unwrap() {
        Outcome::Policy(made) => made.artifact,
        other => panic!("{other:?}"),
    }
}

/// 1 is refused as 1, and what is above by one in 10¹⁵ as that; below, doubles cannot follow within
/// 10⁻¹¹, and that is said: no policy is made, and none called impossible.
#[test]
fn one_is_told_from_its_neighbours() {
    for (rates, load) in [
        [".5", "2", "1"],
        [
            "0.5000000000000005",
            "2.000000000000002",
            "1.000000000000001",
        ],
    ]
    .map(|rates| (rates, rates[2]))
    {
        let Outcome::Overloaded(overload) = outcome(&section7(rates)).unwrap() else {
            panic!("{load}");
        };
        let exact = overload.exact.unwrap();
        assert!(exact.is_proven(), "{load}");
        assert_eq!(exact.load, section7(rates).types()[2].exact_load().unwrap());
    }
    for rates in [
        [
            "0.4999999999999995",
            "1.999999999999998",
            "0.999999999999999",
        ],
        ["0.4999999999995", "1.999999999998", "0.999999999999"],
    ] {
        let refused = outcome(&section7(rates)).unwrap_err();
        assert!(matches!(refused, SynthesisError::JustBelow), "{refused}");
        assert!(refused.to_string().contains("below 1, exactly"));
    }
    made(&section7(["0.49999999995", "1.9999999998", "0.9999999999"]));
}

/// The models with fractions have them in their policies, and these the checker derives anew.
#[test]
fn policies_carry_their_fractions() {
    for (name, load) in [
        ("vms", "131/200"),
        ("section7", "9/10"),
        ("four_types", "9/10"),
        ("one_or_all", "123/160"),
    ] {
        let artifact = made(&model(name));
        let exact = artifact.certificate.exact.clone().unwrap();
        assert_eq!(
            (exact.load.to_string().as_str(), artifact.certificate.gap),
            (load, 0.0)
        );
        assert!(exact.prices.is_some(), "{name}");
        assert_eq!(check(&artifact).err(), None, "{name}");
        let text = artifact.to_json().unwrap();
        let again = CheckedArtifact::parse(&text, name).unwrap();
        assert_eq!(again.artifact().certificate, artifact.certificate);
    }
    // A bounded Pareto law has no mean that is a fraction.
    assert_eq!(made(&model("bursty")).certificate.exact, None);
}

/// Paths of what is wrong with a document.
fn faults(document: &Value) -> Vec<String> {
    match CheckedArtifact::parse(&document.to_string(), "test") {
        Ok(_) => Vec::new(),
        Err(ArtifactError::Shape { place, .. }) => vec![place],
        Err(ArtifactError::Refused { findings, .. }) => {
            findings.into_iter().map(|f| f.path).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

/// Section 7 has the weights 1/2 and 1/2, and the prices 1/8, 3/8 and 1/2.
#[test]
fn a_lie_in_fractions_is_refused_where_it_stands() {
    let valid = serde_json::to_value(made(&model("section7"))).unwrap();
    let exact = &valid["certificate"]["exact"];
    assert_eq!(exact["prices"], json!(["1/8", "3/8", "1/2"]));
    assert_eq!(faults(&valid), [""; 0]);
    for (field, lie, path) in [
        ("load", json!("8/10"), "certificate.exact.load"),
        ("load", json!("0.9"), "certificate.exact.load"),
        ("load", json!("9/11"), "certificate.exact.load"),
        (
            "load",
            json!("900000000000001/1000000000000000"),
            "certificate.exact.load",
        ),
        ("load", json!(0.9), "certificate.exact.load"),
        ("weights", json!(["1/2"]), "certificate.exact.weights"),
        (
            "weights",
            json!(["1/2", "1/3"]),
            "certificate.exact.weights",
        ),
        ("weights", json!(["1", "0"]), "certificate.exact.weights[1]"),
        (
            "weights",
            json!(["-1/2", "3/2"]),
            "certificate.exact.weights[0]",
        ),
        (
            "weights",
            json!([
                "500000000000001/1000000000000000",
                "499999999999999/1000000000000000"
            ]),
            "certificate.exact.load",
        ),
        ("prices", json!(["1/8", "3/8"]), "certificate.exact.prices"),
        (
            "prices",
            json!(["1/8", "3/8", "1/4"]),
            "certificate.exact.prices",
        ),
        (
            "prices",
            json!(["3/8", "1/8", "1/2"]),
            "certificate.exact.prices",
        ),
        (
            "prices",
            json!(["1/3", "1/3", "1/3"]),
            "certificate.exact.prices",
        ),
        (
            "prices",
            json!([
                "125000000000001/1000000000000000",
                "374999999999999/1000000000000000",
                "1/2"
            ]),
            "certificate.exact.prices",
        ),
        ("prices", json!(null), "certificate.exact"),
        ("proven", json!("mix"), "certificate.exact"),
        ("proven", json!("surely"), "certificate.exact.proven"),
        ("surprise", json!(1), "certificate.exact.surprise"),
    ] {
        let mut document = valid.clone();
        document["certificate"]["exact"][field] = lie.clone();
        let found = faults(&document);
        assert!(
            found.iter().any(|p| p == path),
            "{field} = {lie}: {found:?}"
        );
    }
    for (field, lie) in [
        ("load", 0.900_000_000_000_001),
        ("bound", 0.899_999_999_999_999),
    ] {
        let mut document = valid.clone();
        document["certificate"][field] = json!(lie);
        assert!(
            faults(&document).contains(&format!("certificate.{field}")),
            "{field}"
        );
    }
    let mut document = valid.clone();
    document["policy"]["weights"] = json!([0.500_000_000_000_001, 0.499_999_999_999_999]);
    assert!(faults(&document).contains(&"policy.weights[0]".to_string()));
}

/// A worse mix with its own true load, called the optimum: the prices do not prove it. Called a mix
/// without a claim to be best, it is what it says.
#[test]
fn a_worse_mix_is_not_the_optimum() {
    let mut artifact = made(&section7([".25", "1", ".5"]));
    let Family::Msr(policy) = &mut artifact.policy else {
        panic!("{:?}", artifact.policy);
    };
    let exact = artifact.certificate.exact.as_mut().unwrap();
    let fraction = |text: &str| serde_json::from_value(json!(text)).unwrap();
    policy.weights = vec![0.4, 0.6];
    exact.weights = vec![fraction("2/5"), fraction("3/5")];
    exact.load = fraction("5/8");
    artifact.certificate.load = 0.625;
    let exactly = |artifact: &Artifact| -> Vec<String> {
        let findings = check(artifact).unwrap_err().into_iter();
        findings
            .map(|f| f.path)
            .filter(|p| p.starts_with("certificate.exact"))
            .collect()
    };
    artifact.certificate.bound = 0.625;
    artifact.certificate.gap = 0.0;
    assert_eq!(exactly(&artifact), ["certificate.exact.prices"]);
    let exact = artifact.certificate.exact.as_mut().unwrap();
    exact.proven = synth::artifact::Proven::Mix;
    exact.prices = None;
    artifact.certificate.bound = 0.5;
    artifact.certificate.gap = 0.25;
    artifact.certificate.proven = false;
    assert_eq!(exactly(&artifact), [""; 0]);
}

/// What the program settles does not hang on the unit of time.
#[test]
fn units_of_time_do_not_matter() {
    let load = |rates, size: &str| {
        let plain = section7(rates).record();
        let mut text = String::from(
            "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 20, memory: 15, network: 50}}\njobs:\n",
        );
        for kind in &plain.types {
            let d = &kind.demand;
            text += &format!(
                "  - {{name: {}, demand: {{cpu: {}, memory: {}, network: {}}}, arrival_rate: {}, mean_size: {size}}}\n",
                kind.name, d[0], d[1], d[2], kind.arrival_rate
            );
        }
        let workload = Workload::parse(&text, "units").unwrap().workload;
        let solution = program::solve(&workload, &Limits::default()).unwrap();
        program::exact(&workload, &solution, 1_000_000)
            .unwrap()
            .load
            .to_string()
    };
    assert_eq!(load([".45", "1.8", ".9"], "1"), "9/10");
    assert_eq!(load(["4.5e-10", "1.8e-9", "9e-10"], "1e9"), "9/10");
    assert_eq!(load(["4.5e11", "1.8e12", "9e11"], "1e-12"), "9/10");
}
