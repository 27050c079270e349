//! Tests of the exact fractions in a policy. The checker must reject each fraction that is wrong.

use crate::common::*;
use serde_json::json;
use synth::multiresource::artifact::{Artifact, Checked, Family, Preemption, Proven};
use synth::multiresource::program::{self, SolveLimits};
use synth::multiresource::synthesis::{
    SynthesisError, SynthesisOptions, SynthesisOutcome, synthesize,
};
use synth::multiresource::workload::Workload;

/// Returns section 7 of the MSR paper with rates that make the mean size equal to the load.
fn section7_at(load: &str) -> Workload {
    section7([".5", "2", "1"], load)
}

fn section7(rates: [&str; 3], mean: &str) -> Workload {
    let [a, b, c] = rates.map(|rate| format!("{rate},"));
    let text = section7_with_rates([(".45,", &a), ("1.8,", &b), (".9,", &c)]);
    let text = text.replace("mean_size: 1}", &format!("mean_size: {mean}}}"));
    Workload::parse(&text, "section7").unwrap().workload
}

fn outcome(workload: &Workload) -> Result<SynthesisOutcome, SynthesisError> {
    let mut options = SynthesisOptions::new(Preemption::Full);
    options.effort = 0.01;
    synthesize(workload, &options)
}

fn artifact_of(workload: &Workload) -> Artifact {
    expect_policy(outcome(workload).unwrap()).artifact
}

/// If the load is below 1 by at most 10⁻¹¹, floating-point numbers are not precise enough. This
/// must be an error, but the load must not be called impossible.
#[test]
fn distinguishes_loads_near_one() {
    for load in ["1", "1.000000000000001", "1.5"] {
        let workload = section7_at(load);
        let SynthesisOutcome::Overloaded(overload) = outcome(&workload).unwrap() else {
            panic!("{load}");
        };
        let exact = overload.exact.unwrap();
        assert!(exact.is_proven(), "{load}");
        // For the third type, `b` is equal to the mean size.
        assert_eq!(Some(exact.load), workload.types()[2].exact_load());
    }
    for load in ["0.999999999999999", "0.999999999999"] {
        let refused = outcome(&section7_at(load)).unwrap_err();
        assert!(refused.to_string().contains("the exact load is below 1"));
    }
    artifact_of(&section7_at("0.9999999999"));
}

#[test]
fn policies_contain_exact_fractions() {
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
    // The mean of a bounded Pareto distribution is not a fraction.
    assert_eq!(artifact_of(&model("bursty")).evidence.exact, None);
}

/// There are many other prices that prove the load of section 7.
#[test]
fn rejects_wrong_fractions() {
    let valid = serde_json::to_value(artifact_of(&model("section7"))).unwrap();
    assert_policy_changes_rejected(&valid, "", include_str!("tables/exact/lies.txt"));
}

/// Floating-point numbers cannot detect that the mix is worse, but the prices do not prove it. The
/// mix is valid if it is not claimed to be optimal.
#[test]
fn rejects_a_mix_that_is_slightly_worse_than_the_optimum() {
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
        let paths = findings.into_iter().map(|f| f.path);
        paths.filter(|path| path.starts_with("evidence")).collect()
    };
    assert_eq!(faults(&artifact), ["evidence.exact.prices"]);
    let exact = artifact.evidence.exact.as_mut().unwrap();
    (exact.proven, exact.prices) = (Proven::Mix, None);
    assert_eq!(faults(&artifact), [""; 0]);
}

#[test]
fn the_load_does_not_depend_on_the_time_unit() {
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
