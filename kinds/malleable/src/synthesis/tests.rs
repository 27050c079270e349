use super::plan::{SIMPLE_RULES, or_simple_rule};
use super::search::ends;
use super::{Open, plan, with_one_more_server};
use crate::Malleable;
use crate::artifact::{Artifact, Plan, Policy, Quantity, cost};
use crate::policy::{Phase, Rule};
use crate::simulator::{Dividing, execute};
use crate::workload::Pool;
use synth_core::artifact::Checked;

fn pool(text: &str) -> Pool {
    Pool::sample(text)
}

fn plan_of(artifact: &mut Artifact) -> &mut Plan {
    match &mut artifact.policy {
        Policy::Plan(plan) => plan,
        Policy::Online(_) => panic!("the policy should be a plan"),
    }
}

#[test]
fn plans_cost_no_more_than_simple_rules() {
    for (typed, whole) in [("", false), ("whole_servers: true\n", true)] {
        let pool = pool(&format!(
            "kind: malleable\nservers: 5\n{typed}jobs:\n  - {{name: a, size: 1, speedup: {{power: {{p: .4}}}}}}\n  - {{name: b, size: 3, speedup: {{power: {{p: .5}}}}}}\n  - {{name: c, size: 8, speedup: {{power: {{p: .6}}}}}}\n"
        ));
        let cost = |ends: &[f64]| cost(&pool, pool.objective().quantity(), ends);
        let bad = Rule::Phases(vec![Phase {
            until: 1e9,
            servers: vec![1.0; 3],
        }]);
        let before = ends(&pool, &bad);
        let (rule, after) = or_simple_rule(&pool, (bad, before.clone()));
        let rules = SIMPLE_RULES.map(|own| execute(&pool, Dividing::Sharing(own), false).ends);
        let least = rules.iter().map(|ends| cost(ends));
        let least = least.fold(cost(&before), f64::min);
        let Rule::Phases(phases) = rule else {
            panic!("{rule:?}");
        };
        let mut servers = phases.iter().flat_map(|phase| &phase.servers);
        assert_eq!(servers.all(|k| k.fract() == 0.0), whole);
        assert!(whole || (cost(&after) / least - 1.0).abs() < 1e-9);
        assert!(cost(&after) < cost(&before));
    }
}

const OBJECTIVES: [&str; 3] = ["flow-time", "slowdown", "makespan"];

const SPEEDUPS: [&str; 6] = [
    "{power: {p: .05}}",
    "{power: {p: .9}}",
    "{power: {p: 1}}",
    "{amdahl: {parallel_fraction: .9}}",
    "{logarithm: {scale: 2}}",
    "{table: [[1, 1], [2, 1.9], [4, 3.1], [9, 3.2]]}",
];

#[test]
fn one_more_server_by_scaling() {
    for (p, servers) in [(0.3_f64, 2.0_f64), (0.8, 12.0), (1.0, 7.0)] {
        for objective in OBJECTIVES {
            let text = format!(
                "kind: malleable\nservers: {servers}\nspeedup: {{power: {{p: {p}}}}}\nobjective: {objective}\nsizes: {{pareto: {{shape: 1.5, count: 40, seed: 7}}}}\n"
            );
            let pool = pool(&text);
            let (artifact, planned) = plan(&pool);
            let claim = artifact.claims.iter();
            let mut claim = claim.filter(|c| c.quantity == pool.objective().quantity());
            let now = claim.next().unwrap().value;
            let then = with_one_more_server(&pool, &planned).unwrap();
            let ratio = (servers / (servers + 1.0)).powf(p);
            assert!((then / now / ratio - 1.0).abs() < 1e-6, "{then} {now}");
        }
    }
}

#[test]
fn checker_accepts_plans_as_optimal() {
    for speedup in SPEEDUPS {
        for objective in OBJECTIVES {
            for limits in ["", "cap: 4\n", "whole_servers: true\n"] {
                let text = format!(
                    "kind: malleable\nservers: 12\nspeedup: {speedup}\nobjective: {objective}\n{limits}sizes: {{pareto: {{shape: 1.5, count: 40, seed: 7}}}}\n"
                );
                let (artifact, _) = plan(&pool(&text));
                let mut gap = artifact.claims.iter();
                let gap = gap.find(|c| c.quantity == Quantity::Gap).unwrap();
                assert!(gap.value < 1e-9, "{text}: {}", gap.value);
                if let Err(error) = Checked::<Malleable>::check(artifact) {
                    panic!("{text}: {error:?}");
                }
            }
        }
    }
}

#[test]
fn checker_rejects_costs_below_the_optimum() {
    let text = "kind: malleable\nservers: 12\nspeedup: {amdahl: {parallel_fraction: .9}}\njobs: [{name: a, size: 4}, {name: b, size: 3}, {name: c, size: 1}]\n";
    let (artifact, _) = plan(&pool(text));
    assert_eq!(plan_of(&mut artifact.clone()).stages.len(), 3);
    let mut cheaper = artifact.clone();
    cheaper.claims[0].value *= 1.0 - 1e-6;
    assert!(Checked::<Malleable>::check(cheaper).is_err());
    let mut dearer = artifact.clone();
    for price in &mut dearer.evidence.prices {
        *price *= 1.0 + 1e-6;
    }
    assert!(Checked::<Malleable>::check(dearer).is_err());
    let mut moved = artifact;
    plan_of(&mut moved).stages[0][1] += 1e-3;
    assert!(Checked::<Malleable>::check(moved).is_err());
}

/// With sorted weights, the lower bound is √120 + 2. The optimum was found by exhaustive search.
#[test]
fn weights_that_favour_large_jobs_have_a_bound_and_a_plan_near_it() {
    let text = "kind: malleable\nservers: 1\nspeedup: {power: {p: .5}}\nobjective: weighted-flow-time\njobs: [{name: a, size: 2, weight: 10}, {name: b, size: 1, weight: 1}]\n";
    let (artifact, planned) = plan(&pool(text));
    assert_eq!(planned.open, Some(Open::FavoursLarge));
    let is_bound = planned.least >= (2.0 + 120f64.sqrt()) * (1.0 - 1e-9);
    assert!(is_bound, "{}", planned.least);
    let parts = (1..100_000).map(|n| f64::from(n) / 1e5);
    let cost = |k: f64| {
        let (a, b) = (k.sqrt(), (1.0 - k).sqrt());
        if 2.0 / a < 1.0 / b {
            11.0 * 2.0 / a + (1.0 - b * 2.0 / a)
        } else {
            11.0 / b + 10.0 * (2.0 - a / b)
        }
    };
    let best = parts.map(cost).fold(f64::INFINITY, f64::min);
    let found = artifact.claims[0].value;
    assert!((found / best - 1.0).abs() < 1e-8, "{found} and {best}");
    assert!(planned.least <= best, "{} above {best}", planned.least);
    Checked::<Malleable>::check(artifact).unwrap();
}

#[test]
fn different_speedups_have_a_plan_and_a_bound() {
    let text = "kind: malleable\nservers: 8\njobs:\n  - {name: a, size: 5, speedup: {power: {p: .8}}}\n  - {name: b, size: 3, speedup: {amdahl: {parallel_fraction: .7}}}\n";
    let pool = pool(text);
    let (artifact, planned) = plan(&pool);
    let [a, b] = [0, 1].map(|i| &pool.curves()[pool.jobs()[i].curve]);
    let cost = |k: f64| {
        let (at, bt) = (5.0 / a.at(k), 3.0 / b.at(8.0 - k));
        if at < bt {
            2.0 * at + (3.0 - b.at(8.0 - k) * at) / b.at(8.0)
        } else {
            2.0 * bt + (5.0 - a.at(k) * bt) / a.at(8.0)
        }
    };
    let best = (1..80_000).map(|n| cost(f64::from(n) / 1e4));
    let best = best.fold(f64::INFINITY, f64::min);
    let found = artifact.claims[0].value;
    assert!((found / best - 1.0).abs() < 1e-7, "{found} and {best}");
    assert!(planned.least <= best, "{} of {best}", planned.least);
    assert!(planned.least > 0.9 * best, "{} of {best}", planned.least);
    Checked::<Malleable>::check(artifact).unwrap();
}

#[test]
fn checker_confirms_bounds_for_many_different_jobs() {
    let speedup = |n: u32| match n % 3 {
        0 => "{power: {p: .93}}".to_owned(),
        1 => format!("{{amdahl: {{parallel_fraction: .{}}}}}", 50 + n),
        _ => "{logarithm: {scale: .4}}".to_owned(),
    };
    let jobs = (1..=40).map(|n| {
        let size = 0.1 * f64::from(n * n % 83 + 1);
        format!(
            "  - {{name: j{n}, size: {size:.1}, speedup: {}}}\n",
            speedup(n)
        )
    });
    let text = format!(
        "kind: malleable\nservers: 64\njobs:\n{}",
        jobs.collect::<String>()
    );
    let (artifact, planned) = plan(&pool(&text));
    assert_eq!(planned.open, Some(Open::SpeedupsDiffer));
    let gap = artifact.claims.last().unwrap();
    assert!(gap.quantity == Quantity::Gap && gap.value < 0.05, "{gap:?}");
    Checked::<Malleable>::check(artifact).unwrap();
}
