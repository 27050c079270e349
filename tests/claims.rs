//! Synthesis against simulation: an artifact's claims, judged by a run of the policy under
//! the conditions that they hold for.
#![allow(clippy::unwrap_used, clippy::panic)]

use synth::artifact::{Artifact, Backfill, EmptySlots, Preemption, Route};
use synth::simulator::{Contender, Health, Settings, Verdict, judge};
use synth::synthesis::{Options, Outcome, synthesize};
use synth::workload::Workload;

fn model(name: &str) -> Workload {
    let path = format!("{}/models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

fn made(workload: &Workload, preemption: Preemption, route: Option<Route>) -> Artifact {
    let options = Options {
        route,
        setup_rate: (preemption == Preemption::Setup).then_some(10.0),
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        ..Options::new(preemption)
    };
    match synthesize(workload, &options).unwrap() {
        Outcome::Policy(synthesis) => synthesis.artifact,
        other => panic!("{other:?}"),
    }
}

/// The verdict on each claim that can be examined.
fn verdicts(workload: &Workload, artifact: &Artifact, events: u64) -> Vec<(String, Verdict)> {
    let settings = Settings {
        events,
        precision: 1e-9,
        ..Settings::default()
    };
    let contender = Contender::Msr(Box::new(artifact.policy.clone()));
    let run = contender.simulate(workload, &settings, |_, _| {}).unwrap();
    assert_ne!(run.health, Health::Unstable);
    let judged = judge(artifact, workload, &run);
    let examined = judged
        .into_iter()
        .filter(|j| j.verdict != Verdict::NotExamined);
    examined
        .map(|j| (format!("{:?} {:?}", j.claim, j.measured), j.verdict))
        .collect()
}

/// The chain runs in the simulator as it was analysed: on every route of both preemption
/// models that have routes, slots offered and switches made follow its law.
#[test]
fn claims_are_confirmed_on_every_route() {
    let workload = model("section7");
    for preemption in [Preemption::None, Preemption::Setup] {
        for route in Route::ALL {
            let artifact = made(&workload, preemption, Some(route));
            for (claim, verdict) in verdicts(&workload, &artifact, 8_000_000) {
                assert_ne!(verdict, Verdict::Refuted, "{preemption:?} {route}: {claim}");
            }
        }
    }
}

/// And on other workloads, with the route that is chosen.
#[test]
fn claims_are_confirmed_on_other_models() {
    for (name, preemption) in [
        ("vms", Preemption::None),
        ("vms", Preemption::Full),
        ("four_types", Preemption::None),
        ("four_types", Preemption::Setup),
        ("one_or_all", Preemption::None),
    ] {
        let workload = model(name);
        let artifact = made(&workload, preemption, None);
        let all = verdicts(&workload, &artifact, 4_000_000);
        assert!(all.len() >= 2 * workload.types().len());
        for (claim, verdict) in all {
            assert_eq!(
                verdict,
                Verdict::Confirmed,
                "{name} {preemption:?}: {claim}"
            );
        }
    }
}

/// A claim that is wrong by 3 % is refuted.
#[test]
fn a_wrong_claim_is_refuted() {
    let workload = model("section7");
    let mut artifact = made(&workload, Preemption::None, None);
    for claim in &mut artifact.claims {
        claim.value *= 1.03;
    }
    let all = verdicts(&workload, &artifact, 4_000_000);
    assert!(
        all.iter().all(|(_, verdict)| *verdict == Verdict::Refuted),
        "{all:?}"
    );
}
