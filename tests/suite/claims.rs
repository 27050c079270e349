//! These tests compare the claims of an artifact with a simulation of its policy.

use crate::common::*;
use synth::multiresource::artifact::{
    AdaptiveMsrConfig, Artifact, Backfill, Claim, EmptySlots, Family, HoldsFor, Method, Preemption,
    Quantity, Route, SizeAssumption, Subject, Switching,
};
use synth::multiresource::report;
use synth::multiresource::simulator::{
    Contender, Health, Judgement, Run, Settings, Verdict, judge, thresholds_to_record,
};
use synth::multiresource::synthesis::{SynthesisOptions, synthesize};
use synth::multiresource::workload::Workload;

const PERCENTILES: [Quantity; 3] = [
    Quantity::ResponseP50,
    Quantity::ResponseP95,
    Quantity::ResponseP99,
];

/// Returns the workload of section 7, which has load 0.9, with another load.
fn section7(load: f64) -> Workload {
    model("section7").scaled(load / 0.9).unwrap()
}

fn options(preemption: Preemption, route: Option<Route>) -> SynthesisOptions {
    SynthesisOptions {
        route,
        setup_rate: (preemption == Preemption::Setup).then_some(10.0),
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        ..SynthesisOptions::new(preemption)
    }
}

fn synthesized_with(workload: &Workload, options: &SynthesisOptions) -> Artifact {
    expect_policy(synthesize(workload, options).unwrap()).artifact
}

fn synthesized(workload: &Workload, preemption: Preemption, route: Option<Route>) -> Artifact {
    synthesized_with(workload, &options(preemption, route))
}

fn run(workload: &Workload, artifacts: &[&Artifact], events: u64) -> Run {
    let watched = artifacts.iter();
    let watched = watched.flat_map(|a| thresholds_to_record(a, workload));
    let settings = Settings {
        events,
        precision: 1e-9,
        watch: watched.collect(),
        ..Settings::default()
    };
    let contender = Contender::from(artifacts[0].policy.clone());
    let run = contender.simulate(workload, &settings, |_| {}).unwrap();
    assert_ne!(run.health, Health::Unstable);
    run
}

/// Returns the verdict on each claim that can be tested, and prints the report.
fn verdicts(workload: &Workload, artifact: &Artifact, run: &Run) -> Vec<Judgement> {
    let judged = judge(artifact, workload, run);
    let text = report::simulation(workload, run, &judged).text(100);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let is_examined = |j: &Judgement| j.verdict != Verdict::NotExamined;
    judged.into_iter().filter(is_examined).collect()
}

fn count(all: &[Judgement], verdict: Verdict) -> usize {
    all.iter().filter(|j| j.verdict == verdict).count()
}

fn count_about(all: &[Judgement], quantities: &[Quantity]) -> usize {
    let named = |j: &&Judgement| quantities.contains(&j.claim.quantity);
    all.iter().filter(named).count()
}

/// If an artifact is correct, the probability that one of its claims is refuted is 0.001.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn claims_are_confirmed_on_every_route() {
    for (load, events) in [(0.5, 2_000_000), (0.7, 4_500_000)] {
        let workload = section7(load);
        for preemption in [Preemption::Full, Preemption::Setup, Preemption::None] {
            for route in Route::ALL {
                if preemption == Preemption::Full && route != Route::ALL[0] {
                    continue;
                }
                let route = (preemption != Preemption::Full).then_some(route);
                let artifact = synthesized(&workload, preemption, route);
                let run = run(&workload, &[&artifact], events);
                let all = verdicts(&workload, &artifact, &run);
                let what = format!("{preemption:?} {route:?} at {load}: {all:#?}");
                assert_eq!(count_about(&all, &PERCENTILES), 9, "{what}");
                assert_eq!(count_about(&all, &[Quantity::NumberAbove]), 3, "{what}");
                assert_eq!(count(&all, Verdict::Refuted), 0, "{what}");
                assert!(2 * count(&all, Verdict::Confirmed) > all.len(), "{what}");
            }
        }
    }
}

/// The queues converge more slowly than the chain, so their claims must only not be refuted.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn claims_are_confirmed_on_other_models() {
    for (name, preemption) in [
        ("vms", Preemption::None),
        ("vms", Preemption::Full),
        ("four_types", Preemption::None),
        ("four_types", Preemption::Setup),
        ("one_or_all", Preemption::None),
    ] {
        let workload = model(name);
        let artifact = synthesized(&workload, preemption, None);
        let run = run(&workload, &[&artifact], 3_000_000);
        let all = verdicts(&workload, &artifact, &run);
        let chain = [Quantity::Load, Quantity::MeanSchedule];
        assert_eq!(count_about(&all, &chain), 2 * workload.types().len());
        for judgement in &all {
            assert_ne!(judgement.verdict, Verdict::Refuted, "{name}: {judgement:?}");
            if chain.contains(&judgement.claim.quantity) {
                assert_eq!(judgement.verdict, Verdict::Confirmed, "{judgement:?}");
            }
        }
    }
}

/// Only one of ten thousand jobs has the rare type. The checker must find the same means.
#[test]
fn a_rare_type_has_exact_means() {
    let jobs = "{name: common, demand: {cpu: 3, gpu: 1}, arrival_rate: 3, mean_size: 1}
        {name: rare, demand: {cpu: 1}, arrival_rate: .0003, mean_size: 1}";
    let workload = parsed_workload("server: {capacity: {cpu: 100, gpu: 6}}", jobs);
    for preemption in [Preemption::Full, Preemption::Setup, Preemption::None] {
        let artifact = synthesized(&workload, preemption, None);
        assert_eq!(artifact.check().err(), None, "{preemption:?}");
        for (of, offered) in [(Some("common"), 3.0), (Some("rare"), 3e-4), (None, 3.0003)] {
            let mean = artifact.find(Quantity::MeanNumber, Subject::of_type(of));
            let mean = mean.unwrap();
            assert_eq!(mean.method, Method::ExactQbd, "{preemption:?}");
            let is_served = mean.value > offered * (1.0 - 1e-12);
            assert!(is_served, "{preemption:?}: {}", mean.value);
        }
    }
}

/// If an event is rare, the threshold is changed, because an error of 10 % in its probability
/// would need a longer run.
#[test]
fn refutes_wrong_claims() {
    let workload = section7(0.5);
    let artifact = synthesized(&workload, Preemption::None, Some(Route::ALL[0]));
    let wrong = |factor: f64| {
        let mut wrong = artifact.clone();
        for claim in &mut wrong.claims {
            match claim.at {
                Some(at) => claim.at = Some((at as f64 * factor).round() as u64),
                None => claim.value *= factor,
            }
        }
        wrong
    };
    let (low, high) = (wrong(0.9), wrong(1.1));
    let run = run(&workload, &[&artifact, &low, &high], 20_000_000);
    let right = verdicts(&workload, &artifact, &run);
    assert_eq!(count(&right, Verdict::Refuted), 0, "{right:#?}");
    for artifact in [&low, &high] {
        let all = verdicts(&workload, artifact, &run);
        assert_eq!(all.len(), right.len());
        for judgement in all {
            assert_eq!(judgement.verdict, Verdict::Refuted, "{judgement:?}");
        }
    }
}

/// Returns a policy of the family Adaptive MSR for section 7 at load 0.9. One of its schedules has
/// `wide` jobs of type 3, and the claims are only correct if this number is 2.
fn adaptive_with(wide: u32) -> (Workload, Artifact) {
    let workload = section7(0.9);
    let mut artifact = synthesized(&workload, Preemption::None, None);
    artifact.policy = Family::AdaptiveMsr(AdaptiveMsrConfig {
        limits: false,
        schedules: vec![vec![0, 0, wide], vec![1, 4, 0]],
        prices: vec![0.25, 0.1875, 0.5],
        switching: Switching {
            waste: 0.65,
            margin: 0.0,
            floor: 8.0,
            patience: 0.5,
            drain: 0.0,
            let_in: 0.0,
        },
    });
    let claim = |quantity, job_type, value| {
        let (subject, all) = (Subject::of_type(job_type), HoldsFor::default());
        Claim {
            half_width: Some(0.01 * value),
            ..Claim::new(quantity, subject, (value, "s"), Method::Simulated, all)
        }
    };
    artifact.claims = vec![
        claim(Quantity::MeanResponse, None, 5.73),
        claim(Quantity::WeightedResponse, None, 6.39),
        claim(Quantity::MeanNumber, None, 18.06),
        claim(Quantity::MeanResponse, Some("type-3"), 8.24),
        claim(Quantity::MeanNumber, Some("type-3"), 7.42),
    ];
    (workload, artifact)
}

/// With one job of type 3 in the schedule instead of two, the queue is more than ten times as long
/// as claimed. A run that is too short for intervals must refute this, and a run of the correct
/// schedule must never refute it.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn refutes_a_gross_error_in_a_short_run() {
    let judged = |wide: u32, seed: u64, events: u64| {
        let (workload, artifact) = adaptive_with(wide);
        let settings = Settings {
            seed,
            events,
            precision: 1e-9,
            ..Settings::default()
        };
        let contender = Contender::from(artifact.policy.clone());
        let run = contender.simulate(&workload, &settings, |_| {}).unwrap();
        (run.health, judge(&artifact, &workload, &run))
    };
    for seed in 1..=5 {
        let (health, all) = judged(1, seed, 1_000_000);
        assert_ne!(health, Health::Unstable);
        assert!(count(&all, Verdict::Refuted) >= 3, "{all:#?}");
    }
    for seed in 1..=20 {
        for events in [10_000, 100_000] {
            let (_, all) = judged(2, seed, events);
            assert_eq!(count(&all, Verdict::Refuted), 0, "{all:#?}");
        }
    }
}

/// In an M/M/1 queue at `ρ = 0.5`, `P(Q > 3) = ρ⁴`, and `T` is exponential with mean 2. Both claims
/// are refuted if they are wrong by 5 % or 10 %.
#[test]
fn rare_events_and_percentiles_of_a_single_server() {
    use Quantity::{ResponseP95, ResponseP99};
    use Verdict::{Confirmed, Refuted};
    let job = job_type("a", 1, 0.5, 1);
    let workload = parsed_workload("server: {capacity: {cpu: 1}}", &job);
    let artifact = synthesized(&workload, Preemption::Full, None);
    let claim = |quantity, at, value| {
        let (subject, none) = (Subject::of_type("a"), HoldsFor::default());
        Claim {
            at,
            ..Claim::new(quantity, subject, (value, "s"), Method::ExactQbd, none)
        }
    };
    let p95 = -2.0 * 0.05_f64.ln();
    let above = |at, value| claim(Quantity::NumberAbove, Some(at), value);
    let percentile = |quantity, value| claim(quantity, None, value);
    let cases = [
        (above(3, 0.0625), Confirmed),
        (above(3, 0.0625 * 1.1), Refuted),
        (above(3, 0.0625 * 0.9), Refuted),
        (above(1000, 0.01), Refuted),
        (percentile(ResponseP95, p95), Confirmed),
        (percentile(ResponseP95, 1.05 * p95), Refuted),
        (percentile(ResponseP95, 0.95 * p95), Refuted),
        (percentile(ResponseP99, 1e3), Refuted),
        (percentile(ResponseP99, 2.0 * 2_f64.ln()), Refuted),
    ];
    let artifact = Artifact {
        claims: cases.iter().map(|(claim, _)| claim.clone()).collect(),
        ..artifact
    };
    let run_of = |artifact: &Artifact| run(&workload, &[artifact], 8_000_000);
    let watched = run_of(&artifact);
    for (judgement, (_, expected)) in judge(&artifact, &workload, &watched).iter().zip(&cases) {
        assert_eq!(judgement.verdict, *expected, "{judgement:?}");
    }
    let unwatched = Run {
        watched: Vec::new(),
        ..watched
    };
    let judged = judge(&artifact, &workload, &unwatched);
    for judgement in &judged {
        assert_eq!(judgement.verdict, Verdict::NotExamined, "{judgement:?}");
    }
    let text = report::simulation(&workload, &unwatched, &judged).text(100);
    assert_contains(&text, "Not examined (9 of 9): the run did not record");
}

#[test]
fn claims_hold_for_phases_where_jobs_are_preempted() {
    let workload = model("section7_phases").scaled(0.75).unwrap();
    for (preemption, route) in [
        (Preemption::Full, None),
        (Preemption::Setup, Some(Route::ALL[1])),
    ] {
        let artifact = synthesized(&workload, preemption, route);
        let run = run(&workload, &[&artifact], 5_000_000);
        let all = verdicts(&workload, &artifact, &run);
        let means = [Quantity::MeanNumber, Quantity::MeanResponse];
        assert_eq!(count_about(&all, &means), 8, "{all:#?}");
        assert_eq!(count(&all, Verdict::Confirmed), all.len(), "{all:#?}");
    }
}

/// The claims are approximate for these sizes. If they are marked as exact for exponential sizes,
/// they are not tested, and if they are marked as exact for these sizes, they are refuted.
#[test]
fn approximations_are_shown_and_never_refuted() {
    let workload = model("section7_phases").scaled(0.75).unwrap();
    let mut artifact = synthesized(&workload, Preemption::None, Some(Route::ALL[0]));
    let run = run(&workload, &[&artifact], 5_000_000);
    let all = verdicts(&workload, &artifact, &run);
    assert_eq!(count_about(&all, &[Quantity::MeanNumber]), 4);
    assert_eq!(count_about(&all, &PERCENTILES), 9);
    for judgement in &all {
        assert_eq!(judgement.verdict, Verdict::Approximate, "{judgement:?}");
        let (off, measured) = (judgement.off.unwrap(), judgement.measured.unwrap());
        if !PERCENTILES.contains(&judgement.claim.quantity) {
            let expected = judgement.claim.value / measured.mean - 1.0;
            assert!((off - expected).abs() < 1e-12, "{judgement:?}");
        }
    }
    let text = report::simulation(&workload, &run, &all).text(100);
    assert_contains(&text, "approximate, off");
    assert_contains(&text, "by -66.9 %");

    for claim in &mut artifact.claims {
        assert_eq!(claim.holds_for.sizes, assumed(claim), "{claim:?}");
        claim.holds_for.sizes = None;
    }
    let all = verdicts(&workload, &artifact, &run);
    assert!(count(&all, Verdict::Refuted) > all.len() / 2, "{all:#?}");
}

fn assumed(claim: &Claim) -> Option<SizeAssumption> {
    let of_program = claim.method == Method::ExactProgram;
    (!of_program).then_some(SizeAssumption::Exponential)
}

/// A claim for Poisson arrivals is not tested on a workload with other arrivals.
#[test]
fn claims_are_approximate_for_other_distributions() {
    let parsed = |arrivals: &str| {
        let size = "size: {law: deterministic, mean: 1}";
        let first = format!("{{name: a, demand: {{cpu: 1}}, {arrivals}, {size}}}\n");
        let jobs = first + &job_type("b", 2, 0.2, 1);
        parsed_workload("server: {capacity: {cpu: 2}}", &jobs)
    };
    let workload = parsed("arrival_rate: .8");
    let artifact = synthesized(&workload, Preemption::Full, None);
    let run = run(&workload, &[&artifact], 5_000_000);
    let all = verdicts(&workload, &artifact, &run);
    assert_eq!(count(&all, Verdict::Refuted), 0, "{all:#?}");
    for judgement in &all {
        let claim = &judgement.claim;
        let expected = match (claim.quantity, claim.job_type.as_deref()) {
            (Quantity::MeanNumber, Some("a")) => Verdict::Approximate,
            (Quantity::MeanNumber, Some("b")) | (Quantity::MeanSchedule, _) => Verdict::Confirmed,
            _ => continue,
        };
        assert_eq!(judgement.verdict, expected, "{judgement:?}");
        // The waits are shorter if the sizes are constant.
        let is_shorter = expected == Verdict::Confirmed || judgement.off.unwrap() > 0.1;
        assert!(is_shorter, "{judgement:?}");
    }
    let clock =
        parsed("arrivals: {process: renewal, interarrival: {law: deterministic, mean: 1.25}}");
    for judgement in judge(&artifact, &clock, &run) {
        let claim = &judgement.claim;
        let of_queue = claim.method == Method::ExactQbd;
        if of_queue && claim.job_type.as_deref() != Some("b") {
            assert_eq!(judgement.verdict, Verdict::Approximate, "{judgement:?}");
        }
    }
}

#[test]
fn judges_lower_and_upper_bounds() {
    let workload = section7(0.7);
    let options = SynthesisOptions {
        effort: 1e-7,
        ..options(Preemption::None, Some(Route::ALL[0]))
    };
    let mut artifact = synthesized_with(&workload, &options);
    let run = run(&workload, &[&artifact], 5_000_000);
    let all = verdicts(&workload, &artifact, &run);
    let bounds = [Quantity::MeanNumberAtLeast, Quantity::MeanNumberAtMost];
    assert_eq!(count_about(&all, &bounds), 6, "{all:#?}");
    assert_eq!(count(&all, Verdict::Refuted), 0, "{all:#?}");
    assert_eq!(count(&all, Verdict::Approximate), 4, "{all:#?}");
    let upper = |j: &&Judgement| j.claim.quantity == Quantity::MeanNumberAtMost;
    for judgement in all.iter().filter(upper) {
        assert_eq!(judgement.verdict, Verdict::Confirmed, "{judgement:?}");
    }

    // If the bound is equal to the mean, there is not enough evidence.
    let mean = |claim: &Claim| {
        let mut types = run.types.iter();
        let own = types.find(|t| Some(&t.name) == claim.job_type.as_ref());
        own.unwrap().mean_number.unwrap().mean
    };
    for (beyond, expected) in [
        (1.0, Verdict::NotEnoughEvidence),
        (1.2, Verdict::Refuted),
        (0.8, Verdict::Confirmed),
    ] {
        for claim in &mut artifact.claims {
            claim.value = match claim.quantity {
                Quantity::MeanNumberAtLeast => mean(claim) * beyond,
                Quantity::MeanNumberAtMost => mean(claim) / beyond,
                _ => continue,
            };
        }
        for judgement in verdicts(&workload, &artifact, &run) {
            if bounds.contains(&judgement.claim.quantity) {
                assert_eq!(judgement.verdict, expected, "{judgement:?}");
            }
        }
    }
}

/// The run is too short compared with the time in which a queue changes.
#[test]
fn a_short_run_does_not_refute_queue_lengths() {
    let workload = model("section7");
    let mut artifact = synthesized(&workload, Preemption::None, Some(Route::ALL[2]));
    for claim in &mut artifact.claims {
        claim.value *= 2.0;
    }
    let run = run(&workload, &[&artifact], 1_000_000);
    for judgement in verdicts(&workload, &artifact, &run) {
        if judgement.claim.method == Method::ExactQbd {
            let expected = Verdict::NotEnoughEvidence;
            assert_eq!(judgement.verdict, expected, "{judgement:?}");
        }
    }
}

#[test]
fn verdicts_are_grouped_by_type() {
    let workload = section7(0.5);
    let artifact = synthesized(&workload, Preemption::Full, None);
    let run = run(&workload, &[&artifact], 1_000_000);
    let text = report::simulation(&workload, &run, &judge(&artifact, &workload, &run)).text(100);
    let (_, table) = text.split_once("\nClaims\n").unwrap();
    let at = table.find("of ").unwrap();
    let subjects = table.lines().skip(2).take_while(|line| !line.is_empty());
    let subjects = subjects.filter_map(|line| line.get(at..)?.split_whitespace().next());
    let subjects: Vec<&str> = subjects.collect();
    let all = subjects.iter().take_while(|own| **own == "all").count();
    assert!(all > 3 && subjects[all] == "type-1", "{subjects:?}");
    assert!(text.contains(" % within "), "{text}");
    assert!(text.contains("number above "), "{text}");
}
