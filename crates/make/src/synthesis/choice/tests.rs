#![allow(clippy::unwrap_used)]

use super::*;
use crate::synthesis::tests::{section7, synthesized};
use synth_multiresource::artifact::{Artifact, Claim, Method, Preemption, Quantity, retract};

#[test]
fn impossible_results_are_not_claimed() {
    let workload = section7(0.5);
    let options = SynthesisOptions::new(Preemption::None);
    let choice = ChoiceOptions::new(Families::All, 10_000_000, 1);
    let synthesized = Box::new(synthesized(&workload, &options));
    let fleet = workload.clone().into();
    let right = choose(&fleet, &options, &choice, synthesized, |_| ()).unwrap();
    assert_eq!(right.retracted, [""; 0]);
    let simulated = |artifact: &Artifact| {
        let claims = artifact.claims.iter();
        claims.filter(|c| c.method == Method::Simulated).count()
    };
    let of_first =
        |claim: &&mut Claim| claim.job_type.as_deref() == Some(workload.types()[0].name());
    let all = simulated(&right.artifact);
    let by_mean = ["mean_response of type-1: ", "response_p95 of type-1: "];
    for (quantity, factor, retracted, left) in [
        (Quantity::MeanResponse, 0.1, &by_mean[..], all - 2),
        (Quantity::MeanNumber, 3.0, &[""], 0),
    ] {
        let mut artifact = right.artifact.clone();
        let mut claims = artifact.claims.iter_mut().filter(of_first);
        claims.find(|c| c.quantity == quantity).unwrap().value *= factor;
        assert!(artifact.check().is_err());
        let why = retract(&mut artifact);
        assert_eq!(why.len(), retracted.len(), "{why:?}");
        let mut pairs = why.iter().zip(retracted);
        assert!(pairs.all(|(why, own)| why.starts_with(own)), "{why:?}");
        assert_eq!(simulated(&artifact), left);
        artifact.check().unwrap();
    }
}
