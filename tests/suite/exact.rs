//! What is said in fractions: decided exactly, and every lie in it refused.

use crate::common::*;
use serde_json::json;
use synth::multiresource::artifact::{Artifact, Checked, Family, Preemption, Proven};
use synth::multiresource::program::{self, SolveLimits};
use synth::multiresource::synthesis::{
    SynthesisError, SynthesisOptions, SynthesisOutcome, synthesize,
};
use synth::multiresource::workload::Workload;

fn model(name: &str) -> Workload {
    let path = format!("{}/models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

/// Section 7 of the MSR paper at rates with load 1, and this mean size: that is the load.
fn section7_at(load: &str) -> Workload {
    section7([".5", "2", "1"], load)
}

/// The same at these rates.
fn section7(rates: [&str; 3], mean: &str) -> Workload {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let pairs = ["rate: .45,", "rate: 1.8,", "rate: .9,"].into_iter();
    let pairs = pairs.zip(rates);
    let text = pairs.fold(text, |text, (from, to)| {
        text.replace(from, &format!("rate: {to},"))
    });
    let text = text.replace("mean_size: 1}", &format!("mean_size: {mean}}}"));
    Workload::parse(&text, "section7").unwrap().workload
}

fn outcome(workload: &Workload) -> Result<SynthesisOutcome, SynthesisError> {
    let mut options = SynthesisOptions::new(Preemption::Full);
    options.effort = 0.01;
    synthesize(workload, &options)
}

fn artifact_of(workload: &Workload) -> Artifact {
    match outcome(workload).unwrap() {
        SynthesisOutcome::Policy(synthesis) => synthesis.artifact,
        other => panic!("{other:?}"),
    }
}

/// 1 is refused as 1, and what is above by one in 10¹⁵ as that; below, doubles cannot follow within
/// 10⁻¹¹, and that is said: no policy is synthesized, and none called impossible.
#[test]
fn one_is_distinguished_from_its_neighbours() {
    for load in ["1", "1.000000000000001", "1.5"] {
        let workload = section7_at(load);
        let SynthesisOutcome::Overloaded(overload) = outcome(&workload).unwrap() else {
            panic!("{load}");
        };
        let exact = overload.exact.unwrap();
        assert!(exact.is_proven(), "{load}");
        // Of the third type b = 1 · mean size.
        assert_eq!(Some(exact.load), workload.types()[2].exact_load());
    }
    for load in ["0.999999999999999", "0.999999999999"] {
        let refused = outcome(&section7_at(load)).unwrap_err();
        assert!(refused.to_string().contains("the exact load is below 1"));
    }
    artifact_of(&section7_at("0.9999999999"));
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
        let artifact = artifact_of(&model(name));
        let exact = artifact.evidence.exact.clone().unwrap();
        assert_eq!(exact.load.to_string().as_str(), load);
        assert_eq!(artifact.evidence.gap, 0.0);
        assert!(exact.prices.is_some(), "{name}");
        assert_eq!(artifact.check().err(), None, "{name}");
        let text = artifact.to_json().unwrap();
        let again = Checked::parse(&text, name).unwrap();
        assert_eq!(again.artifact().evidence, artifact.evidence);
    }
    // A bounded Pareto law has no mean that is a fraction.
    assert_eq!(artifact_of(&model("bursty")).evidence.exact, None);
}

/// Section 7 has the weights 1/2 and 1/2; of prices that prove it there are many.
#[test]
fn a_lie_in_fractions_is_refused_where_it_stands() {
    let valid = serde_json::to_value(artifact_of(&model("section7"))).unwrap();
    lies(&valid, "", include_str!("tables/exact/lies.txt"));
}

/// A mix that is worse by a hair, with its own true load, called the optimum: doubles do not tell,
/// but the prices do not prove it. Called a mix without a claim to be best, it is what it says.
#[test]
fn a_mix_that_is_worse_by_a_hair_is_not_the_optimum() {
    let mut artifact = artifact_of(&section7_at(".5"));
    let Family::Msr(policy) = &mut artifact.policy else {
        panic!("{:?}", artifact.policy);
    };
    assert_eq!(policy.schedules, [[0, 0, 2], [1, 4, 0]]);
    policy.weights = vec![0.4999999999, 0.5000000001];
    let proof = &mut artifact.evidence;
    let exact = proof.exact.as_mut().unwrap();
    let fraction = |text: &str| serde_json::from_value(json!(text)).unwrap();
    exact.weights = ["4999999999/10000000000", "5000000001/10000000000"]
        .map(fraction)
        .into();
    exact.load = fraction("2500000000/4999999999");
    proof.load = 2_500_000_000.0 / 4_999_999_999.0;
    proof.bound = proof.load;
    let faults = |artifact: &Artifact| -> Vec<String> {
        let findings = artifact.check().err().unwrap_or_default();
        findings
            .into_iter()
            .map(|f| f.path)
            .filter(|p| p.starts_with("evidence"))
            .collect()
    };
    assert_eq!(faults(&artifact), ["evidence.exact.prices"]);
    let exact = artifact.evidence.exact.as_mut().unwrap();
    (exact.proven, exact.prices) = (Proven::Mix, None);
    assert_eq!(faults(&artifact), [""; 0]);
}

/// What the program settles does not hang on the unit of time.
#[test]
fn units_of_time_do_not_matter() {
    let load = |rates, mean| {
        let workload = section7(rates, mean);
        let solution = program::solve(&workload, &SolveLimits::default()).unwrap();
        let exact = program::exact(&workload, &solution, 1_000_000).unwrap();
        exact.load.to_string()
    };
    assert_eq!(load([".45", "1.8", ".9"], "1"), "9/10");
    assert_eq!(load(["4.5e-10", "1.8e-9", "9e-10"], "1e9"), "9/10");
    assert_eq!(load(["4.5e11", "1.8e12", "9e11"], "1e-12"), "9/10");
}
