#![allow(clippy::unwrap_used, clippy::panic)]

mod scales;

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use synth_multiresource::artifact::{Claim, Method, Quantity, Subject, ViolatedAssumptions, unmet};

fn model(name: &str) -> Workload {
    let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Workload::read(path.as_ref()).unwrap().workload
}

pub(super) fn section7(load: f64) -> Workload {
    model("section7").scaled(load / 0.9).unwrap()
}

pub(super) fn synthesized(workload: &Workload, options: &SynthesisOptions) -> Synthesis {
    match synthesize(workload, options).unwrap() {
        SynthesisOutcome::Policy(synthesized) => *synthesized,
        other => panic!("{other:?}"),
    }
}

fn parsed(capacity: &str, jobs: &[&str]) -> Workload {
    let lines: String = jobs.iter().map(|job| format!("  - {{{job}}}\n")).collect();
    let text = format!(
        "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: {capacity}}}}}\njobs:\n{lines}"
    );
    Workload::parse(&text, "test").unwrap().workload
}

fn claim(synthesized: &Synthesis, quantity: Quantity, kind: Option<&str>) -> Option<Claim> {
    let found = synthesized.artifact.find(quantity, Subject::of_type(kind));
    found.cloned()
}

fn unmet_by(synthesized: &Synthesis, workload: &Workload, claim: &Claim) -> ViolatedAssumptions {
    let kind = claim.job_type.as_deref();
    unmet(
        &claim.holds_for,
        kind,
        workload,
        synthesized.artifact.policy.preempts(),
    )
}

fn unmet_of(sizes: bool, arrivals: bool) -> ViolatedAssumptions {
    ViolatedAssumptions {
        sizes,
        arrivals,
        ..ViolatedAssumptions::default()
    }
}

/// The best switching rates and mean numbers are from an independent computation (six digits).
#[test]
fn best_switching_rates_of_section_seven() {
    let none = |route: &str| SynthesisOptions {
        route: Some(route.parse().unwrap()),
        ..SynthesisOptions::new(Preemption::None)
    };
    let setup = |route: &str, rate| SynthesisOptions {
        preemption: Preemption::Setup,
        setup_rate: Some(rate),
        ..none(route)
    };
    for (options, load, rate, number) in [
        (none("sequential-eager"), 0.9, 0.173082, 168.4711474),
        (none("concurrent-eager"), 0.9, 0.115232, 268.5037151),
        (none("concurrent-late"), 0.9, 0.0647091, 527.854123),
        (none("sequential-late"), 0.9, 0.0526969, 547.350068),
        (none("sequential-eager"), 0.8, 0.523196, 34.36507413),
        (none("concurrent-eager"), 0.8, 0.315711, 51.75187599),
        (none("sequential-eager"), 0.5, 7.72328, 4.979214936),
        (none("concurrent-late"), 0.5, 0.681538, 10.14967946),
        (setup("concurrent-late", 10.0), 0.9, 0.234923, 165.5608329),
        (setup("sequential-eager", 10.0), 0.9, 0.336611, 121.7147858),
        (setup("concurrent-late", 100.0), 0.5, 3.18691, 5.486278975),
    ] {
        let synthesized = synthesized(&section7(load), &options);
        let found = synthesized.policy.switching_rate;
        let is_near = (found / rate - 1.0).abs() < 2e-5;
        assert!(is_near, "{found}, expected {rate}");
        let quantity = Quantity::MeanNumber;
        let found = claim(&synthesized, quantity, None).unwrap().value;
        let is_near = (found / number - 1.0).abs() < 1e-8;
        assert!(is_near, "{found}, expected {number}");
    }
}

#[test]
fn selects_the_best_route() {
    let synthesized = synthesized(&section7(0.9), &SynthesisOptions::new(Preemption::None));
    assert_eq!(synthesized.policy.route.to_string(), "sequential-eager");
    let tried = SynthesisLog::of(&synthesized).routes;
    assert_eq!(tried.len(), 4);
    let quantity = Quantity::MeanResponse;
    let mean = claim(&synthesized, quantity, None).unwrap().value;
    assert!(tried.iter().all(|tried| tried.value.unwrap() >= mean));
    for outlook in &synthesized.routes {
        assert!((outlook.predicted.0 / outlook.rate - 1.0).abs() < 0.01);
    }
}

#[test]
fn tunes_for_the_weighted_objective() {
    let workload = section7(0.8);
    let of = |objective| {
        let mut options = SynthesisOptions::new(Preemption::None);
        options.objective = objective;
        let synthesized = synthesized(&workload, &options);
        let value = |quantity| claim(&synthesized, quantity, None).unwrap().value;
        (
            value(Quantity::MeanResponse),
            value(Quantity::WeightedResponse),
        )
    };
    let (mean, weighted) = (of(Objective::Mean), of(Objective::Weighted));
    assert!(weighted.1 < mean.1 * (1.0 - 1e-6), "{weighted:?} {mean:?}");
    assert!(mean.0 < weighted.0 * (1.0 - 1e-6), "{weighted:?} {mean:?}");
}

#[test]
fn falls_back_to_bounds_without_effort() {
    let workload = section7(0.9);
    let exact = synthesized(&workload, &SynthesisOptions::new(Preemption::None));
    let mut options = SynthesisOptions::new(Preemption::None);
    options.effort = 1e-9;
    let bounded = synthesized(&workload, &options);
    assert_eq!(bounded.out_of_reach.len(), 3);
    let why = bounded.out_of_reach[0].to_string();
    assert!(why.contains("phases and about"), "{why}");
    for job_type in workload.types() {
        let of =
            |synthesized, quantity| claim(synthesized, quantity, Some(job_type.name())).unwrap();
        let least = of(&bounded, Quantity::MeanNumberAtLeast);
        let most = of(&bounded, Quantity::MeanNumberAtMost);
        assert_eq!(least.method, Method::BoundRelativeCompletions);
        let mean = of(&exact, Quantity::MeanNumber).value;
        assert!(least.value < mean * 1.01 && mean * 0.99 < most.value);
        let middle = of(&bounded, Quantity::MeanNumber);
        assert_eq!(middle.method, Method::ApproximationQueueLength);
    }
}

#[test]
fn claims_for_phase_type_sizes() {
    let workload = model("section7_phases");
    let full = synthesized(&workload, &SynthesisOptions::new(Preemption::Full));
    let number = claim(&full, Quantity::MeanNumber, Some("type-2")).unwrap();
    assert_eq!(number.method, Method::ExactQbd);
    let expected = Some(synth_multiresource::artifact::SizeAssumption::PhaseType);
    assert_eq!(number.holds_for.sizes, expected);
    let none = synthesized(&workload, &SynthesisOptions::new(Preemption::None));
    let number = claim(&none, Quantity::MeanNumber, Some("type-2")).unwrap();
    assert_eq!(number.method, Method::ExactQbd);
    assert_eq!(unmet_by(&none, &workload, &number), unmet_of(true, false));
}

#[test]
fn claims_for_unsupported_distributions_are_approximate() {
    let [met, sizes, arrivals, both] = [
        unmet_of(false, false),
        unmet_of(true, false),
        unmet_of(false, true),
        unmet_of(true, true),
    ];
    let lines = [
        "name: plain, demand: {cpu: 1}, arrival_rate: .8, mean_size: 1",
        "name: sizes, demand: {cpu: 2}, arrival_rate: .4, size: {law: deterministic, mean: 1}",
        "name: stages, demand: {cpu: 3}, arrivals: {process: batches, rate: .1, sizes: [2]}, size: {law: erlang, stages: 2, mean: 1}",
        "name: both, demand: {cpu: 3}, arrivals: {process: renewal, interarrival: {law: erlang, stages: 3, mean: 5}}, size: {law: pareto, shape: 1.5, low: .5, high: 5}",
    ];
    let workload = parsed("6", &lines);
    for (preemption, queues, chain) in [
        (Preemption::Full, [met, sizes, arrivals, both], met),
        (Preemption::Setup, [met, sizes, arrivals, both], met),
        (Preemption::None, [sizes, sizes, both, both], sizes),
    ] {
        let mut options = SynthesisOptions::new(preemption);
        options.setup_rate = (preemption == Preemption::Setup).then_some(10.0);
        options.effort = 0.1;
        let synthesized = synthesized(&workload, &options);
        let found = |quantity, kind| {
            let claim = claim(&synthesized, quantity, kind).unwrap();
            (claim.method, unmet_by(&synthesized, &workload, &claim))
        };
        for (kind, queue) in workload.types().iter().zip(queues) {
            for quantity in [Quantity::MeanNumber, Quantity::MeanResponse] {
                let expected = (Method::ExactQbd, queue);
                let told = found(quantity, Some(kind.name()));
                assert_eq!(told, expected, "{preemption:?}");
            }
            let expected = (Method::ExactStationaryLaw, chain);
            assert_eq!(found(Quantity::Load, Some(kind.name())), expected);
        }
        let told = found(Quantity::MeanResponse, None);
        assert_eq!(told, (Method::ExactQbd, both));
        assert_eq!(found(Quantity::Load, None), (Method::ExactProgram, met));
        let mut tried = SynthesisLog::of(&synthesized).routes.into_iter();
        assert!(tried.any(|tried| tried.method == Method::ExactQbd));
        synthesized.artifact.check().unwrap();
    }
}

#[test]
fn bounds_for_other_arrivals_are_approximate() {
    let lines = [
        "name: a, demand: {cpu: 1}, arrivals: {process: batches, rate: .2, sizes: [5]}, mean_size: 1",
        "name: b, demand: {cpu: 3}, arrival_rate: .4, mean_size: 1",
    ];
    let batches = parsed("4", &lines);
    let mut options = SynthesisOptions::new(Preemption::None);
    options.effort = 1e-9;
    let synthesized = synthesized(&batches, &options);
    for (kind, expected) in [("a", unmet_of(false, true)), ("b", unmet_of(false, false))] {
        for quantity in [Quantity::MeanNumberAtLeast, Quantity::MeanNumberAtMost] {
            let bound = claim(&synthesized, quantity, Some(kind)).unwrap();
            assert_eq!(bound.method, Method::BoundRelativeCompletions);
            assert_eq!(unmet_by(&synthesized, &batches, &bound), expected);
        }
        let load = claim(&synthesized, Quantity::Load, Some(kind)).unwrap();
        assert_eq!(load.method, Method::ExactStationaryLaw);
    }
    synthesized.artifact.check().unwrap();
}

#[test]
fn sweep_contains_the_exact_optimum() {
    let workload = section7(0.9);
    let options = SynthesisOptions::new(Preemption::None);
    let swept = sweep_switching_rates(
        &workload,
        &options,
        None,
        25,
        &AtomicBool::new(false),
        || (),
    )
    .unwrap();
    assert_eq!(swept.len(), 104);
    for point in &swept {
        let mean = point.mean_response.unwrap();
        assert!(point.lower <= mean * (1.0 + 1e-12) && mean <= point.upper * (1.0 + 1e-12));
    }
    let least = swept.iter().filter_map(|p| p.mean_response);
    let least = least.fold(f64::MAX, f64::min);
    // The exact optimum is 168.4711473517 jobs if 3.15 jobs arrive per unit of time.
    let best = 168.4711473517 / 3.15;
    assert!((least / best - 1.0).abs() < 1e-9, "{least}");
}

#[test]
fn larger_servers_never_have_a_higher_load() {
    let mut options = SynthesisOptions::new(Preemption::Full);
    options.limits = SolveLimits {
        time: std::time::Duration::ZERO,
        ..SolveLimits::default()
    };
    let synthesized = synthesized(&model("vms"), &options);
    let known = [synthesized.policy.schedules.clone()];
    let now = synthesized.artifact.evidence.load;
    for step in upgrades(&model("vms").into(), &options, &known).found {
        assert!(step.load <= now * (1.0 + 1e-12), "{} {now}", step.load);
    }
}

#[test]
fn interrupt_returns_the_best_so_far() {
    let workload = model("section7");
    let options = SynthesisOptions::new(Preemption::None);
    for (stage, basis) in [
        ("trying", Basis::Inconclusive),
        ("measuring", Basis::BestConverged),
    ] {
        let synthesized = Box::new(synthesized(&workload, &options));
        let choice = ChoiceOptions::new(Families::All, 40_000_000, 1);
        let chosen = choose(
            &workload.clone().into(),
            &options,
            &choice,
            synthesized,
            |now| {
                let ends = now.what.starts_with(stage);
                choice.interrupt.fetch_or(ends, Ordering::Relaxed);
            },
        );
        let chosen = chosen.unwrap();
        assert_eq!(chosen.basis, basis, "{stage}");
        assert!(chosen.unclaimed.is_some(), "{stage}");
        chosen.artifact.check().unwrap();
    }
}

#[test]
fn always_returns_a_valid_policy() {
    let server = |jobs: &str| {
        let text = format!(
            "{{kind: multiresource, time_unit: s, server: {{capacity: {{cpu: 4}}}}, jobs: [{jobs}]}}"
        );
        Workload::parse(&text, "w").unwrap().workload
    };
    let light = "{name: light, demand: {cpu: 1}, arrival_rate: 1.6, mean_size: 1}";
    let heavy = "{name: heavy, demand: {cpu: 4}, arrival_rate: .3, mean_size: 1}";
    let yearly = "{name: rare, demand: {cpu: 3}, arrival_rate: 3e-8, mean_size: 1}";
    let full = "{name: full, demand: {cpu: 4}, arrival_rate: .59996, mean_size: 1}";
    let halves = "{name: a, demand: {cpu: 3}, arrival_rate: .45, mean_size: 1}, {name: b, demand: {cpu: 2}, arrival_rate: .9, mean_size: 1}";
    for (jobs, budget, has_settled) in [
        (format!("{light}, {full}"), 4_000_000, false),
        (format!("{light}, {heavy}, {yearly}"), 20_000_000, true),
        (halves.to_owned(), 10_000_000, true),
        (format!("{light}, {heavy}"), 10_000, false),
        (format!("{light}, {heavy}"), 1, false),
    ] {
        let workload = server(&jobs);
        let options = SynthesisOptions::new(Preemption::None);
        let synthesized = Box::new(synthesized(&workload, &options));
        let choice = ChoiceOptions::new(Families::All, budget, 1);
        let fleet = workload.clone().into();
        let chosen = choose(&fleet, &options, &choice, synthesized, |_| ()).unwrap();
        let found = chosen.basis.has_converged();
        assert_eq!(found, has_settled, "{jobs}: {:?}", chosen.basis);
        let mut claims = chosen.artifact.claims.iter();
        assert!(has_settled || claims.all(|claim| claim.method != Method::Simulated));
        chosen.artifact.check().unwrap();
    }
}
