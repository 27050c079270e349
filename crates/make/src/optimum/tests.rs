#![allow(clippy::unwrap_used)]
use std::collections::HashMap;
use std::hash::Hash;

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, variable};
use itertools::Itertools;

use super::*;
use crate::analysis::erlang_c;
use crate::program::quiet;
use crate::tests::one_server;

fn found(workload: &Workload, sought: Problem, limits: &OptimumLimits) -> Optimum {
    optimum(workload, sought, limits, &AtomicBool::new(false), |_| {}).unwrap()
}

fn solve(workload: &Workload, preemption: Preemption, tolerance: f64) -> Optimum {
    let limits = OptimumLimits {
        tolerance,
        ..OptimumLimits::default()
    };
    found(workload, Problem::mean(preemption), &limits)
}

#[test]
fn one_type_matches_erlang() {
    let workload = one_server(
        "cpu: 3",
        &["name: a, demand: {cpu: 1}, arrival_rate: 2.1, mean_size: 1"],
    );
    let exact = 1.0 + erlang_c(3.0, 2.1) / (3.0 - 2.1);
    for preemption in [Preemption::None, Preemption::Full] {
        let found = solve(&workload, preemption, 1e-6);
        assert!((found.lower / exact - 1.0).abs() < 1e-6, "{found:?}");
    }
}

/// Without preemption, the mean waiting times are equal to `W₀/((1 − σ)(1 − σ'))` (Cobham). With
/// preemption, the faster type has `E[S]/(1 − σ_1)` and the slower one
/// `(E[S] + W)/((1 − σ_1)(1 − σ_2))`.
#[test]
fn one_server_follows_the_c_mu_rule() {
    let jobs = [
        "name: slow, demand: {cpu: 1}, arrival_rate: .4, mean_size: 1",
        "name: fast, demand: {cpu: 1}, arrival_rate: 3, mean_size: .1",
    ];
    let workload = one_server("cpu: 1", &jobs);
    let residual = 0.4 * 1.0 + 3.0 * 0.01;
    let both = (1.0 - 0.3) * (1.0 - 0.7);
    let waiting = [residual / (1.0 - 0.3) + 0.1, residual / both + 1.0];
    let preempting = [0.1 / (1.0 - 0.3), 1.0 / (1.0 - 0.3) + residual / both];
    for (preemption, [fast, slow]) in [(Preemption::None, waiting), (Preemption::Full, preempting)]
    {
        let exact = (3.0 * fast + 0.4 * slow) / 3.4;
        let found = solve(&workload, preemption, 1e-5);
        let is_near = (found.lower / exact - 1.0).abs() < 1e-5;
        assert!(is_near, "{exact} {found:?}");
        assert!(found.upper_in_box >= found.lower);
    }
}

/// Returns two servers for types `t0`, `t1`, … of small jobs with the mean size 1.
fn small(rates: &[f64]) -> Workload {
    let job =
        |(n, rate)| format!("name: t{n}, demand: {{cpu: 1}}, arrival_rate: {rate}, mean_size: 1");
    let jobs: Vec<String> = rates.iter().enumerate().map(job).collect();
    one_server("cpu: 2", &jobs)
}

fn within(workload: &Workload, objective: Objective, limits: &OptimumLimits) -> Optimum {
    let mut sought = Problem::mean(Preemption::None);
    sought.objective = objective;
    found(workload, sought, limits)
}

#[test]
fn four_identical_types_behave_as_one() {
    let workload = small(&[0.1, 0.2, 0.3, 0.4]);
    let limits = OptimumLimits {
        tolerance: 2e-3,
        states: 200_000,
        ..OptimumLimits::default()
    };
    let found = within(&workload, Objective::Mean, &limits);
    let exact = 1.0 + erlang_c(2.0, 1.0) / (2.0 - 1.0);
    assert!(found.lower <= exact, "{exact} {found:?}");
    assert!(found.upper_in_box > 0.999 * exact, "{exact} {found:?}");
    assert_eq!(found.ended, Ended::Full);
}

#[test]
fn weighted_optimum_equals_mean_for_identical_types() {
    let workload = small(&[0.2, 0.9]);
    let limits = OptimumLimits::default();
    let [mean, weighted] =
        [Objective::Mean, Objective::Weighted].map(|o| within(&workload, o, &limits));
    assert!((mean.lower / weighted.lower - 1.0).abs() < 1e-9);
    assert_eq!(mean.ended, Ended::Close);
}

const RATES: [f64; 2] = [0.5, 0.4];
const SERVICES: [f64; 2] = [1.0, 2.0];

fn light_and_heavy() -> Workload {
    let jobs = [
        "name: light, demand: {cpu: 1}, arrival_rate: .5, mean_size: 1",
        "name: heavy, demand: {cpu: 2}, arrival_rate: .4, mean_size: .5",
    ];
    one_server("cpu: 2", &jobs)
}

/// Flows out of a state with their rates, and whether they take time.
type Decision<S> = (bool, Vec<(S, f64)>);

/// Returns the least mean cost by the linear program over fractions of time, which is the dual of
/// the dynamic program (Manne, Management Science 6, 1960).
fn least_cost<S: Copy + Eq + Hash>(
    states: &[S],
    cost: impl Fn(&S) -> f64,
    decisions: impl Fn(&S) -> Vec<Decision<S>>,
    tolerance: f64,
) -> f64 {
    let places: HashMap<S, usize> = states.iter().copied().zip(0..).collect();
    let mut variables = ProblemVariables::new();
    let mut surplus = vec![Expression::from(0); states.len()];
    let (mut total, mut time) = (Expression::from(0), Expression::from(0));
    for (here, state) in states.iter().enumerate() {
        for (lasts, flows) in decisions(state) {
            let part = variables.add(variable().min(0.0));
            if lasts {
                total += cost(state) * part;
                time += part;
            }
            for (to, rate) in flows {
                surplus[here] -= rate * part;
                surplus[places[&to]] += rate * part;
            }
        }
    }
    let mut model = quiet(variables.minimise(total.clone()), tolerance);
    for balance in surplus {
        model = model.with(constraint!(balance == 0.0));
    }
    let solved = model.with(constraint!(time == 1.0)).solve();
    solved.unwrap().eval(total)
}

/// The running jobs and then the slots in setup of each type, and the waiting jobs.
type State = ([usize; 4], [usize; 2]);

fn stepped(mut slots: [usize; 4], place: usize, by: isize) -> [usize; 4] {
    slots[place] = slots[place].checked_add_signed(by).unwrap();
    slots
}

/// Returns the least cost in the box without preemption, or with setups of rate γ.
fn least_without_preemption(
    limits: &[usize],
    setup_rate: Option<f64>,
    costs: [f64; 2],
    tolerance: f64,
) -> f64 {
    let has_setups = |s: &[usize; 4]| setup_rate.is_some() || s[2] + s[3] == 0;
    let fits = |s: &[usize; 4]| s[0] + s[2] + 2 * (s[1] + s[3]) <= 2 && has_setups(s);
    let slots = (0..81).map(|n| [n / 27, n / 9 % 3, n / 3 % 3, n % 3]);
    let slots: Vec<[usize; 4]> = slots.filter(fits).collect();
    let waiting = (0..=limits[0]).cartesian_product(0..=limits[1]);
    let waiting = waiting.map(|(n, m)| [n, m]);
    let states: Vec<State> = slots.into_iter().cartesian_product(waiting).collect();
    let cost = |(s, q): &State| -> f64 {
        let each = costs.iter().zip(s).zip(q);
        each.map(|((c, s), q)| c * (s + q) as f64).sum()
    };
    let decisions = |&(s, q): &State| {
        let (mut flows, mut all) = (Vec::new(), Vec::new());
        for i in 0..2 {
            let [mut more, mut fewer] = [q, q];
            more[i] = (q[i] + 1).min(limits[i]);
            flows.push(((s, more), RATES[i]));
            for (slot, rate) in [(i, Some(SERVICES[i])), (2 + i, setup_rate)] {
                if s[slot] > 0 {
                    let rate = rate.unwrap() * s[slot] as f64;
                    flows.push(((stepped(s, slot, -1), q), rate));
                }
            }
            let started = stepped(s, i, 1);
            if q[i] > 0 && fits(&started) {
                fewer[i] -= 1;
                all.push((false, vec![((started, fewer), 1.0)]));
            }
            if s[i] > 0 && setup_rate.is_some() {
                let stopped = stepped(stepped(s, i, -1), 2 + i, 1);
                all.push((false, vec![((stopped, more), 1.0)]));
            }
        }
        all.push((true, flows));
        all
    };
    least_cost(&states, cost, decisions, tolerance)
}

#[test]
fn box_optimum_matches_a_linear_program() {
    let workload = light_and_heavy();
    let weights = [0.25 / 0.45, 0.2 / 0.45];
    for (objective, costs) in [
        (Objective::Mean, [1.0 / 0.9, 1.0 / 0.9]),
        (
            Objective::Weighted,
            [weights[0] / RATES[0], weights[1] / RATES[1]],
        ),
    ] {
        let found = within(&workload, objective, &OptimumLimits::default());
        let least = least_without_preemption(&found.limits, None, costs, 1e-10);
        let bounds = found.lower..=found.upper_in_box;
        assert!(bounds.contains(&least), "{least} not in {bounds:?}");
    }
}

#[test]
fn rejects_large_state_spaces_before_computing() {
    let never = AtomicBool::new(false);
    let said = optimum(
        &small(&[0.1; 12]),
        Problem::mean(Preemption::None),
        &OptimumLimits::default(),
        &never,
        |_| panic!("nothing is computed"),
    );
    // 1 + 12 + 78 schedules × 6^12.
    let text = said.unwrap_err().to_string();
    assert!(text.contains("2.0e11 states (91 schedules"), "{text}");
}

#[test]
fn work_limit_stops_with_a_valid_bound() {
    let workload = small(&[1.9]);
    let limits = OptimumLimits {
        updates: 10_000,
        ..OptimumLimits::default()
    };
    let found = within(&workload, Objective::Mean, &limits);
    assert_eq!(found.ended, Ended::Cut);
    let exact = 1.0 + erlang_c(2.0, 1.9) / (2.0 - 1.9);
    assert!(found.lower < exact);
}

fn with_setups(workload: &Workload, setup_rate: f64, tolerance: f64) -> Optimum {
    let limits = OptimumLimits {
        tolerance,
        ..OptimumLimits::default()
    };
    let mut sought = Problem::mean(Preemption::Setup);
    sought.setup_rate = Some(setup_rate);
    found(workload, sought, &limits)
}

#[test]
fn setup_optimum_lies_between_full_and_no_preemption() {
    let workload = light_and_heavy();
    let [none, full] = [Preemption::None, Preemption::Full].map(|p| solve(&workload, p, 2e-3));
    let found = [1e-3, 3.0, 30.0].map(|rate| with_setups(&workload, rate, 2e-3));
    assert!((found[0].lower / none.lower - 1.0).abs() < 4e-3);
    let least = [none.lower, found[1].lower, found[2].lower, full.lower];
    assert!(least.is_sorted_by(|a, b| *a > 1.01 * b), "{least:?}");
}

#[test]
fn setup_box_optimum_matches_a_linear_program() {
    let found = with_setups(&light_and_heavy(), 4.0, 0.02);
    let least = least_without_preemption(&found.limits, Some(4.0), [1.0 / 0.9; 2], 1e-7);
    let bounds = found.lower * (1.0 - 1e-5)..=found.upper_in_box;
    assert!(bounds.contains(&least), "{least} not in {bounds:?}");
}

#[test]
fn preemptive_box_optimum_matches_a_linear_program() {
    let found = solve(&light_and_heavy(), Preemption::Full, 0.005);
    let [a, b] = [found.limits[0], found.limits[1]];
    let states: Vec<(usize, usize)> = (0..=a).cartesian_product(0..=b).collect();
    let cost = |(n, m): &(usize, usize)| (n + m) as f64 / 0.9;
    let decisions = |&(n, m): &(usize, usize)| {
        let decision = |light: usize, heavy: usize| {
            let mut flows = vec![
                (((n + 1).min(a), m), RATES[0]),
                ((n, (m + 1).min(b)), RATES[1]),
            ];
            if light > 0 {
                flows.push(((n - 1, m), SERVICES[0] * light as f64));
            }
            if heavy > 0 {
                flows.push(((n, m - 1), SERVICES[1] * heavy as f64));
            }
            (true, flows)
        };
        vec![decision(n.min(2), 0), decision(0, m.min(1))]
    };
    let least = least_cost(&states, cost, decisions, 1e-7);
    let bounds = found.lower * (1.0 - 1e-5)..=found.upper_in_box;
    assert!(bounds.contains(&least), "{least} not in {bounds:?}");
}

#[test]
fn neighbours_differ_by_one_job() {
    let schedules = [vec![0, 0], vec![0, 1], vec![1, 0], vec![2, 0]];
    let [more, fewer] = [1, -1].map(|by| sweep::neighbours(&schedules, by));
    assert_eq!(more[0], [Some(2), Some(1)]);
    assert_eq!(more[1], [None, None]);
    assert_eq!(fewer[3], [Some(2), None]);
    assert_eq!(fewer[0], [None, None]);
}
