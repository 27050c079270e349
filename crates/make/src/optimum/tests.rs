#![allow(clippy::unwrap_used)]
use std::collections::HashMap;

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, variable};

use super::*;

fn one_server(cpu: u32, jobs: &str) -> Workload {
    let head = "kind: multiresource\ntime_unit: s\n";
    let text = format!("{head}server: {{capacity: {{cpu: {cpu}}}}}\njobs:\n{jobs}");
    Workload::parse(&text, "t").unwrap().workload
}

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

/// If there is only one type on three servers, the system is an M/M/3 queue.
#[test]
fn one_type_matches_erlang() {
    let job = "  - {name: a, demand: {cpu: 1}, arrival_rate: 2.1, mean_size: 1}\n";
    let exact = 1.0 + crate::analysis::erlang_c(3.0, 2.1) / (3.0 - 2.1);
    for preemption in [Preemption::None, Preemption::Full] {
        let found = solve(&one_server(3, job), preemption, 1e-6);
        assert!((found.lower / exact - 1.0).abs() < 1e-6, "{found:?}");
    }
}

/// Without preemption, the mean waiting times are equal to `W₀/((1 − σ)(1 − σ'))` (Cobham). With
/// preemption, the faster type has `E[S]/(1 − σ_1)` and the slower one
/// `(E[S] + W)/((1 − σ_1)(1 − σ_2))`.
#[test]
fn one_server_follows_the_c_mu_rule() {
    let text = "  - {name: slow, demand: {cpu: 1}, arrival_rate: .4, mean_size: 1}
  - {name: fast, demand: {cpu: 1}, arrival_rate: 3, mean_size: .1}\n";
    let workload = one_server(1, text);
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

fn small(jobs: &str) -> Workload {
    one_server(2, jobs)
}

fn within(workload: &Workload, objective: Objective, limits: &OptimumLimits) -> Optimum {
    let mut sought = Problem::mean(Preemption::None);
    sought.objective = objective;
    found(workload, sought, limits)
}

#[test]
fn four_identical_types_behave_as_one() {
    let type_of = |name: &str, rate: f64| {
        format!("  - {{name: {name}, demand: {{cpu: 1}}, arrival_rate: {rate}, mean_size: 1}}\n")
    };
    let jobs = [("a", 0.1), ("b", 0.2), ("c", 0.3), ("d", 0.4)].map(|(n, r)| type_of(n, r));
    let workload = small(&jobs.concat());
    let limits = OptimumLimits {
        tolerance: 2e-3,
        states: 200_000,
        ..OptimumLimits::default()
    };
    let found = within(&workload, Objective::Mean, &limits);
    let exact = 1.0 + crate::analysis::erlang_c(2.0, 1.0) / (2.0 - 1.0);
    assert!(found.lower <= exact, "{exact} {found:?}");
    assert!(found.upper_in_box > 0.999 * exact, "{exact} {found:?}");
    assert_eq!(found.ended, Ended::Full);
}

#[test]
fn weighted_optimum_equals_mean_for_identical_types() {
    let text = "  - {name: a, demand: {cpu: 1}, arrival_rate: .2, mean_size: 1}\n  - {name: b, demand: {cpu: 1}, arrival_rate: .9, mean_size: 1}\n";
    let workload = small(text);
    let limits = OptimumLimits::default();
    let [mean, weighted] =
        [Objective::Mean, Objective::Weighted].map(|o| within(&workload, o, &limits));
    assert!((mean.lower / weighted.lower - 1.0).abs() < 1e-9);
    assert_eq!(mean.ended, Ended::Close);
}

/// The optimum must be the same as for the linear program over fractions of time in the same box,
/// which is the dual of the dynamic program (Manne, Management Science 6, 1960).
#[test]
fn box_optimum_matches_a_linear_program() {
    let workload = light_and_heavy();
    let rates = [0.5, 0.4];
    let weights = [0.25 / 0.45, 0.2 / 0.45];
    for (objective, costs) in [
        (Objective::Mean, [1.0 / 0.9, 1.0 / 0.9]),
        (
            Objective::Weighted,
            [weights[0] / rates[0], weights[1] / rates[1]],
        ),
    ] {
        let found = within(&workload, objective, &OptimumLimits::default());
        let least = flows(rates, [1.0, 2.0], costs, [found.limits[0], found.limits[1]]);
        let bounds = found.lower..=found.upper_in_box;
        assert!(bounds.contains(&least), "{least} not in {bounds:?}");
    }
}

fn flows(rates: [f64; 2], services: [f64; 2], costs: [f64; 2], limits: [usize; 2]) -> f64 {
    let (mut variables, mut states) = (ProblemVariables::new(), HashMap::new());
    for running in [[0, 0], [1, 0], [2, 0], [0, 1]] {
        for a in 0..=limits[0] {
            for b in 0..=limits[1] {
                let time = variables.add(variable().min(0.0));
                states.insert((running, [a, b]), time);
            }
        }
    }
    let mut surplus: HashMap<_, Expression> =
        states.keys().map(|s| (*s, Expression::from(0))).collect();
    let mut flow = |from, to, amount: Expression| {
        *surplus.get_mut(&from).unwrap() -= amount.clone();
        *surplus.get_mut(&to).unwrap() += amount;
    };
    let mut cost = Expression::from(0);
    for (state, time) in &states {
        let (running, waiting) = *state;
        for i in 0..2 {
            cost += costs[i] * (running[i] + waiting[i]) as f64 * *time;
            let (mut more, mut ended, mut started) = (*state, *state, *state);
            if waiting[i] < limits[i] {
                more.1[i] += 1;
                flow(*state, more, rates[i] * *time);
            }
            if running[i] > 0 {
                ended.0[i] -= 1;
                flow(*state, ended, services[i] * running[i] as f64 * *time);
            }
            started.0[i] += 1;
            if waiting[i] > 0 {
                started.1[i] -= 1;
                if states.contains_key(&started) {
                    flow(*state, started, variables.add(variable().min(0.0)).into());
                }
            }
        }
    }
    let mut problem = variables.minimise(&cost).using(good_lp::highs);
    problem.set_verbose(false);
    let mut problem = problem.set_option("primal_feasibility_tolerance", 1e-10);
    for balance in surplus.into_values() {
        problem = problem.with(constraint!(balance == 0.0));
    }
    let total: Expression = states.values().copied().sum();
    problem = problem.with(constraint!(total == 1.0));
    problem.solve().unwrap().eval(&cost)
}

#[test]
fn rejects_large_state_spaces_before_computing() {
    let never = AtomicBool::new(false);
    let types: String = (0..12)
        .map(|n| {
            format!("  - {{name: t{n}, demand: {{cpu: 1}}, arrival_rate: .1, mean_size: 1}}\n")
        })
        .collect();
    let said = optimum(
        &small(&types),
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
    let workload = small("  - {name: a, demand: {cpu: 1}, arrival_rate: 1.9, mean_size: 1}\n");
    let limits = OptimumLimits {
        updates: 10_000,
        ..OptimumLimits::default()
    };
    let found = within(&workload, Objective::Mean, &limits);
    assert_eq!(found.ended, Ended::Cut);
    let exact = 1.0 + crate::analysis::erlang_c(2.0, 1.9) / (2.0 - 1.9);
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

fn light_and_heavy() -> Workload {
    small(
        "  - {name: light, demand: {cpu: 1}, arrival_rate: .5, mean_size: 1}\n  - {name: heavy, demand: {cpu: 2}, arrival_rate: .4, mean_size: .5}\n",
    )
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

/// A preemption or a start is a flow that takes no time.
#[test]
fn setup_box_optimum_matches_a_linear_program() {
    let gamma = 4.0;
    let workload = light_and_heavy();
    let found = with_setups(&workload, gamma, 0.02);
    let [rates, services] = [[0.5, 0.4], [1.0, 2.0]];
    let [a, b] = [found.limits[0], found.limits[1]];
    let fits = |s: &[usize; 4]| s[0] + s[2] + 2 * (s[1] + s[3]) <= 2;
    let counts = (0..81).map(|n| [n / 27, n / 9 % 3, n / 3 % 3, n % 3]);
    let slots: Vec<[usize; 4]> = counts.filter(fits).collect();
    let states = slots.iter().flat_map(|s| {
        let waiting = (0..=a).flat_map(move |n| (0..=b).map(move |m| [n, m]));
        waiting.map(|q| (*s, q))
    });
    let places: HashMap<_, usize> = states.enumerate().map(|(n, state)| (state, n)).collect();
    let mut variables = ProblemVariables::new();
    let mut surplus = vec![Expression::from(0); places.len()];
    let (mut cost, mut time) = (Expression::from(0), Expression::from(0));
    for ((s, q), here) in &places {
        let part = variables.add(variable().min(0.0));
        cost += ((s[0] + s[1] + q[0] + q[1]) as f64 / 0.9) * part;
        time += part;
        let mut flow = |to: ([usize; 4], [usize; 2]), flow: Expression| {
            surplus[*here] -= flow.clone();
            surplus[places[&to]] += flow;
        };
        let step = |from: &[usize; 4], place: usize, up: bool| {
            let mut to = *from;
            to[place] = if up { to[place] + 1 } else { to[place] - 1 };
            to
        };
        for i in 0..2 {
            let mut more = *q;
            more[i] = (more[i] + 1).min([a, b][i]);
            flow((*s, more), rates[i] * part);
            for (slot, rate) in [(i, services[i]), (2 + i, gamma)] {
                if s[slot] > 0 {
                    flow((step(s, slot, false), *q), rate * s[slot] as f64 * part);
                }
            }
            let started = step(s, i, true);
            if q[i] > 0 && fits(&started) {
                let mut fewer = *q;
                fewer[i] -= 1;
                flow((started, fewer), variables.add(variable().min(0.0)).into());
            }
            if s[i] > 0 {
                let stopped = step(&step(s, i, false), 2 + i, true);
                flow((stopped, more), variables.add(variable().min(0.0)).into());
            }
        }
    }
    assert_is_the_least(&found, variables, [cost, time], surplus);
}

fn assert_is_the_least(
    found: &Optimum,
    variables: ProblemVariables,
    [cost, time]: [Expression; 2],
    surplus: Vec<Expression>,
) {
    let mut model = variables
        .minimise(cost.clone())
        .using(good_lp::solvers::highs::highs)
        .with(constraint!(time == 1.0));
    for balance in surplus {
        model = model.with(constraint!(balance == 0.0));
    }
    let least = model.solve().unwrap().eval(cost);
    let bounds = found.lower * (1.0 - 1e-5)..=found.upper_in_box;
    assert!(bounds.contains(&least), "{least} not in {bounds:?}");
}

#[test]
fn preemptive_box_optimum_matches_a_linear_program() {
    let workload = light_and_heavy();
    let found = solve(&workload, Preemption::Full, 0.005);
    let [rates, services] = [[0.5, 0.4], [1.0, 2.0]];
    let [a, b] = [found.limits[0], found.limits[1]];
    let mut variables = ProblemVariables::new();
    let mut surplus = vec![Expression::from(0); (a + 1) * (b + 1)];
    let (mut cost, mut time) = (Expression::from(0), Expression::from(0));
    for n in 0..=a {
        for m in 0..=b {
            for served in [[n.min(2), 0], [0, m.min(1)]] {
                let part = variables.add(variable().min(0.0));
                cost += ((n + m) as f64 / 0.9) * part;
                time += part;
                let mut flow = |to: [usize; 2], rate: f64| {
                    surplus[n * (b + 1) + m] -= rate * part;
                    surplus[to[0] * (b + 1) + to[1]] += rate * part;
                };
                if n < a {
                    flow([n + 1, m], rates[0]);
                }
                if m < b {
                    flow([n, m + 1], rates[1]);
                }
                if served[0] > 0 {
                    flow([n - 1, m], services[0] * served[0] as f64);
                }
                if served[1] > 0 {
                    flow([n, m - 1], services[1] * served[1] as f64);
                }
            }
        }
    }
    assert_is_the_least(&found, variables, [cost, time], surplus);
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
