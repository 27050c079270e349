//! These tests check that the checker rejects invalid policies for the right reason.

use crate::common::*;
use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use synth::multiresource::artifact::{
    Artifact, Checked, Claim, Family, Method, MsrConfig, Preemption, Quantity, Route, SearchRecord,
    SizeAssumption, parse, unmet,
};
use synth::multiresource::synthesis::{SynthesisOptions, SynthesisOutcome, synthesize};
use synth::multiresource::workload::{Fleet, Workload};

const PREEMPTIONS: [Preemption; 3] = [Preemption::None, Preemption::Full, Preemption::Setup];

fn policy(file: &str) -> String {
    read_text(format!("tests/corpus/policies/{file}"))
}

fn valid() -> Artifact {
    parse(&policy("valid.json"), "valid.json").unwrap()
}

/// Returns the rows of the table in the corpus: the file, the path and a part of the message.
fn expected() -> Vec<[String; 3]> {
    let table = policy("EXPECTED.md");
    let rows = table.lines().filter(|line| line.contains(".json |"));
    rows.map(|row| {
        let cells = row.trim_matches('|').split('|');
        let cells: Vec<String> = cells.map(|c| c.trim().into()).collect();
        <[String; 3]>::try_from(cells).unwrap()
    })
    .collect()
}

#[test]
fn accepts_the_valid_policy_of_the_corpus() {
    assert_eq!(errors_in_policy(policy("valid.json")), [""; 0]);
    Checked::parse(&policy("valid.json"), "valid.json").unwrap();
}

#[test]
fn rejects_each_invalid_policy_of_the_corpus() {
    for [file, path, words] in expected() {
        let found = errors_in_policy(policy(&file));
        let at = format!("{path}: ");
        let mut named = found.iter();
        let named = named.any(|f| f.strip_prefix(&at).is_some_and(|m| m.contains(&words)));
        assert!(
            named,
            "{file}: expected `{words}` at {path}, found {found:#?}"
        );
    }
}

#[test]
fn lists_each_policy_of_the_corpus_in_the_table() {
    let listed: BTreeSet<String> = expected().into_iter().map(|[file, ..]| file).collect();
    let files = std::fs::read_dir(in_root("tests/corpus/policies")).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let present = names.filter(|n| n.ends_with(".json") && n != "valid.json");
    let present: BTreeSet<String> = present.collect();
    assert_eq!(listed, present);
}

fn msr(artifact: &mut Artifact) -> &mut MsrConfig {
    match &mut artifact.policy {
        Family::Msr(policy) => policy,
        other => panic!("{other:?}"),
    }
}

#[test]
fn reports_all_errors_together() {
    let mut artifact = valid();
    msr(&mut artifact).weights = vec![-1.0, 2.0];
    msr(&mut artifact).order = vec![1, 1];
    artifact.evidence.prices[0] = f64::NAN;
    artifact.claims[2].unit = "h".into();
    artifact.claims[3].job_type = Some("x".into());
    let paths = artifact.check().unwrap_err().into_iter();
    let paths: Vec<String> = paths.map(|f| f.path).collect();
    let expected = [
        "policy.msr.weights[0]",
        "policy.msr.loop[1]",
        "evidence.prices[0]",
        "evidence.prices",
        "claims[2].unit",
        "claims[3].type",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn rejects_nan_and_infinite_numbers() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let changes: [fn(&mut Artifact, f64); 9] = [
            |a, x| msr(a).weights[0] = x,
            |a, x| msr(a).switching_rate = x,
            |a, x| a.evidence.load = x,
            |a, x| a.evidence.bound = x,
            |a, x| a.evidence.gap = x,
            |a, x| a.evidence.servers[0].worth = x,
            |a, x| a.evidence.servers[0].resource_prices[1] = x,
            |a, x| a.claims[0].value = x,
            |a, x| a.claims[3].value = x,
        ];
        for (n, change) in changes.into_iter().enumerate() {
            let mut artifact = valid();
            change(&mut artifact, bad);
            assert!(artifact.check().is_err(), "{bad} in change {n}");
        }
    }
}

/// Eight types must be exchanged at the same time, which gives too many states to list them.
#[test]
fn reports_a_concurrent_route_that_is_too_large_for_a_claim() {
    let jobs = (0..16).map(|i| job_type(&format!("t{i}"), 1, 5, 1));
    let workload = parsed_workload("server: {capacity: {cpu: 160}}", &jobs.collect::<String>());
    let mut artifact = synthesize_if_stable(&workload, Preemption::None, None, 1e-9).unwrap();
    let policy = msr(&mut artifact);
    policy.schedules = vec![[[20; 8], [0; 8]].concat(), [[0; 8], [20; 8]].concat()];
    policy.weights = vec![0.5, 0.5];
    policy.order = vec![0, 1];
    policy.route = Route::ALL[1];
    artifact.evidence.exact = None;
    let findings = artifact.check().unwrap_err();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].path, "policy.msr.route");
    artifact.claims.truncate(1);
    artifact.check().unwrap();
}

#[test]
fn reports_the_differences_between_workloads() {
    let artifact = valid();
    let text = read_text("models/section7.yaml");
    let against = |from: &str, to: &str| -> Vec<String> {
        assert_contains(&text, from);
        let changed = text.replace(from, to);
        let other = Workload::parse(&changed, "other.yaml").unwrap().workload;
        let found = artifact.differences_from(&other.into()).into_iter();
        found.map(|f| f.to_string()).collect()
    };
    assert_eq!(against("source: MSR paper", "source: elsewhere"), [""; 0]);
    for [from, to, expected] in rows(include_str!("tables/differences.txt")) {
        let found = against(from, to);
        let is_told = found.iter().any(|own| own.starts_with(expected));
        assert!(is_told, "{from}: {found:#?}");
    }
}

#[test]
fn the_order_of_types_is_part_of_the_workload() {
    let mut artifact = valid();
    let fleet = artifact.check().unwrap();
    assert_eq!(artifact.differences_from(&fleet), []);
    artifact.workload.jobs.swap(0, 1);
    let found = artifact.differences_from(&fleet);
    assert_eq!(found[0].path, "workload.jobs");
    let is_told = found[0].message.contains("type-2, type-1, type-3");
    assert!(is_told, "{found:?}");
}

/// Claims that are only exact for Poisson arrivals or for sizes with stages must not be exact for
/// other distributions.
#[test]
fn rejects_exact_methods_for_other_distributions() {
    let jobs = "{name: a, demand: {cpu: 1}, arrivals: {process: batches, rate: .2, sizes: [2]}, mean_size: 1}
        {name: b, demand: {cpu: 2}, arrival_rate: .2, size: {law: lognormal, mean: 1, scv: 2}}
        {name: c, demand: {cpu: 2}, arrival_rate: .1, mean_size: 1}";
    let workload = parsed_workload("server: {capacity: {cpu: 2}}", jobs);
    let artifact = synthesize_if_stable(&workload, Preemption::Full, None, 1.0).unwrap();
    artifact.check().unwrap();
    // These claims are approximate because the workload does not meet the assumptions.
    let is_approximate = |claim: &Claim| {
        let (kind, preempts) = (claim.job_type.as_deref(), artifact.policy.preempts());
        unmet(&claim.holds_for, kind, &workload, preempts).any()
    };
    let means = artifact.claims.iter();
    let means = means.filter(|c| c.quantity == Quantity::MeanNumber);
    let approximate = means.filter(|c| is_approximate(c));
    let approximate: Vec<Option<&str>> = approximate.map(|c| c.job_type.as_deref()).collect();
    assert_eq!(approximate, [Some("a"), Some("b"), None]);
    let forgeries: [fn(&mut Claim); 4] = [
        |claim| claim.holds_for.arrivals = None,
        |claim| claim.holds_for.sizes = None,
        |claim| claim.holds_for.sizes = Some(SizeAssumption::PhaseType),
        |claim| claim.method = Method::ApproximationQueueLength,
    ];
    for (n, forgery) in forgeries.into_iter().enumerate() {
        let mut forged = artifact.clone();
        let mean = |c: &&mut Claim| c.quantity == Quantity::MeanNumber && c.job_type.is_some();
        forged.claims.iter_mut().filter(mean).for_each(forgery);
        let findings = forged.check().unwrap_err();
        let found = findings.iter().filter(|f| f.path.ends_with("holds_for"));
        assert_eq!(found.count(), 3, "{n}: {findings:#?}");
    }
}

/// Returns a new artifact, or `None` if the workload cannot be stabilized.
fn synthesize_if_stable(
    workload: &Workload,
    preemption: Preemption,
    route: Option<Route>,
    effort: f64,
) -> Option<Artifact> {
    let mut options = SynthesisOptions::new(preemption);
    options.effort = effort;
    // There is no route if full preemption is used.
    options.route = route.filter(|_| preemption != Preemption::Full);
    if preemption == Preemption::Setup {
        options.setup_rate = Some(10.0 * workload.types()[0].service_rate());
    }
    match synthesize(workload, &options).unwrap() {
        SynthesisOutcome::Policy(synthesis) => Some(synthesis.artifact),
        SynthesisOutcome::Overloaded(_) => None,
    }
}

fn disagreements(artifact: &Artifact, what: &str) -> Vec<String> {
    let findings = artifact.check().err().unwrap_or_default();
    findings.iter().map(|f| format!("{what}: {f}")).collect()
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn policies_for_the_models_are_valid() {
    let mut found = Vec::new();
    for path in models("multiresource") {
        let fleet = Fleet::read(&path).unwrap().workload;
        let Some(workload) = fleet.one_server() else {
            continue; // see fleet.rs
        };
        for preemption in PREEMPTIONS {
            let artifact = synthesize_if_stable(workload, preemption, None, 0.01).unwrap();
            let what = format!("{} {preemption:?}", path.display());
            found.extend(disagreements(&artifact, &what));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns a workload with a fluid load below 1. The sizes differ by orders of magnitude.
fn random_workload(rng: &mut Xoshiro256PlusPlus) -> Workload {
    let (types, resources) = (rng.random_range(1..=4), rng.random_range(1..=3));
    let capacity: Vec<u32> = (0..resources).map(|_| rng.random_range(5..=30)).collect();
    let listed = |amounts: &[u32]| -> String {
        let named = amounts.iter().enumerate();
        let named = named.map(|(j, d)| format!("r{j}: {d}"));
        named.collect::<Vec<_>>().join(", ")
    };
    let mut jobs = String::new();
    for i in 0..types {
        let demand = capacity.iter().map(|c| rng.random_range(0..=c / 2));
        let mut demand: Vec<u32> = demand.collect();
        demand[0] = demand[0].max(1);
        let size = 10_f64.powf(rng.random_range(-2.0..2.0));
        let load: f64 = rng.random_range(0.01..1.0);
        let (demand, rate) = (listed(&demand), load / size);
        let times = format!("arrival_rate: {rate:.6}, mean_size: {size:.6}");
        jobs += &format!("{{name: t{i}, demand: {{{demand}}}, {times}}}\n");
    }
    let server = format!("server: {{capacity: {{{}}}}}", listed(&capacity));
    let workload = parsed_workload(&server, &jobs);
    let fluid = synth::multiresource::schedule::fluid_bound(&workload);
    let load = rng.random_range(0.2..0.95);
    workload.scaled(load / fluid).unwrap()
}

/// Returns a random workload with the same rates and means, but with random distributions.
fn random_distributions(rng: &mut Xoshiro256PlusPlus) -> Workload {
    let plain = random_workload(rng);
    let capacity = plain.resources().iter();
    let capacity = capacity.map(|own| format!("{}: {}", own.name(), own.capacity()));
    let capacity = capacity.collect::<Vec<_>>().join(", ");
    let mut jobs = String::new();
    for kind in plain.types() {
        let demand = kind.demand().iter().enumerate();
        let demand: Vec<String> = demand.map(|(j, d)| format!("r{j}: {d}")).collect();
        let (rate, mean) = (kind.arrival_rate(), kind.size().mean());
        let law = |rng: &mut Xoshiro256PlusPlus, mean: f64| match rng.random_range(0..8) {
            0 => format!("{{law: deterministic, mean: {mean}}}"),
            1 => format!("{{law: lognormal, mean: {mean}, scv: 3}}"),
            2 => format!("{{law: weibull, mean: {mean}, scv: .4}}"),
            3 => {
                let high = 1.5 * mean;
                format!("{{law: pareto, shape: 1.5, low: {mean}, high: {high}}}")
            }
            4 => {
                let values = [0.5 * mean, 1.5 * mean];
                format!("{{law: empirical, values: {values:?}}}")
            }
            5 => format!("{{law: erlang, stages: 2, mean: {mean}}}"),
            _ => format!("{{law: exponential, mean: {mean}}}"),
        };
        let arrivals = match rng.random_range(0..5) {
            0 => {
                let law = law(rng, 1.0 / rate);
                format!("{{process: renewal, interarrival: {law}}}")
            }
            1 => format!("{{process: batches, rate: {}, sizes: [1, 3]}}", 0.5 * rate),
            2 => {
                let rates = format!("rates: [0, {}], switching: [[0, 1], [1, 0]]", 2.0 * rate);
                format!("{{process: markov-modulated, {rates}}}")
            }
            _ => format!("{{process: poisson, rate: {rate}}}"),
        };
        let (name, demand, size) = (kind.name(), demand.join(", "), law(rng, mean));
        let times = format!("arrivals: {arrivals}, size: {size}");
        jobs += &format!("{{name: {name}, demand: {{{demand}}}, {times}}}\n");
    }
    parsed_workload(&format!("server: {{capacity: {{{capacity}}}}}"), &jobs)
}

fn found_in_random_policies(
    random: fn(&mut Xoshiro256PlusPlus) -> Workload,
    workloads: usize,
    effort: f64,
    least: usize,
) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut checked, mut found) = (0, Vec::new());
    for n in 0..workloads {
        let workload = random(&mut rng);
        for preemption in PREEMPTIONS {
            for route in [None].into_iter().chain(Route::ALL.map(Some)) {
                if let Some(artifact) = synthesize_if_stable(&workload, preemption, route, effort) {
                    let what = format!("workload {n}, {preemption:?}, {route:?}");
                    found.extend(disagreements(&artifact, &what));
                    checked += 1;
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(checked >= least, "only {checked} policies");
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn policies_for_random_workloads_are_valid() {
    found_in_random_policies(random_workload, 100, 1e-9, 750);
}

use crate::instances;

fn proven_instance(class: &str, types: usize, seed: u64) -> Artifact {
    let document = instances::document(class, types, seed);
    let workload = Workload::parse(&document, class).unwrap().workload;
    let mut options = SynthesisOptions::new(Preemption::Full);
    options.effort = 1e-9;
    let synthesis = expect_policy(synthesize(&workload, &options).unwrap());
    assert!(synthesis.artifact.evidence.proven, "{class} {seed}");
    synthesis.artifact
}

/// The maker finds these bounds by search. The checker must find the same bounds in another way.
#[test]
fn bounds_of_many_types_are_valid() {
    for class in instances::CLASSES {
        let artifact = proven_instance(class, 30, 1);
        assert_eq!(artifact.check().err(), None, "{class}");
        assert_higher_bound_rejected(artifact, class);
    }
}

/// Asserts that the bound is rejected if it is multiplied by `1 + 1e-6`.
fn assert_higher_bound_rejected(mut artifact: Artifact, what: &str) {
    let evidence = &mut artifact.evidence;
    evidence.bound *= 1.0 + 1e-6;
    evidence.servers[0].worth /= 1.0 + 1e-6;
    let found = artifact.check().unwrap_err();
    let named = found.iter().any(|f| f.path == "evidence.servers[0].worth");
    assert!(named, "{what}: {found:?}");
}

type SearchChange<'a> = (&'a str, &'a dyn Fn(&mut SearchRecord));

/// If each node of the search has its own prices, the prices prove the bound without a solver.
#[test]
fn bounds_with_search_trees_are_valid() {
    assert!(instances::HARD.contains(&"hosts"));
    let mut trees = 0;
    for (types, seed) in [(30, 12), (50, 1), (50, 8)] {
        let artifact = proven_instance("hosts", types, seed);
        assert_eq!(artifact.check().err(), None, "{types} {seed}");
        let Some(tree) = artifact.evidence.servers[0].search.clone() else {
            continue;
        };
        trees += 1;
        let lies: [SearchChange<'_>; 5] = [
            ("worth", &|search| search.nodes.clear()),
            ("search", &|search| search.types.clear()),
            ("worth", &|search| search.nodes.push(tree.nodes[0].clone())),
            ("nodes[0].prices", &|search| search.nodes[0].prices.clear()),
            ("nodes[0].prices", &|search| {
                search.nodes[0].prices[0] = -1.0;
            }),
        ];
        for (place, lie) in lies {
            let mut artifact = artifact.clone();
            lie(artifact.evidence.servers[0].search.as_mut().unwrap());
            let found = artifact.check().err().unwrap();
            let named = found.iter().any(|finding| finding.path.contains(place));
            assert!(named, "{types} {seed}: {place}: {found:?}");
        }
        assert_higher_bound_rejected(artifact, &format!("{types} {seed}"));
    }
    assert!(trees > 0);
}

#[test]
fn exact_queues_for_random_workloads_are_valid() {
    found_in_random_policies(random_workload, 10, 0.01, 75);
}

#[test]
fn policies_for_random_distributions_are_valid() {
    found_in_random_policies(random_distributions, 20, 1e-9, 120);
    found_in_random_policies(random_distributions, 5, 0.01, 25);
}
