//! These tests compare queues in a random environment with values that were computed with 100
//! digits in another language. See the scripts in `tests/reference/`.
#![allow(clippy::unwrap_used)]

use crate::common::*;
use serde::Deserialize;
use synth::ctmc::cycle::{Levels, Reward, Stages};
use synth::ctmc::{Edge, Environment, ModulatedQueue, RelativeCompletions, ResponseTimes, rounds};

#[derive(Deserialize)]
struct Case {
    name: String,
    arrival_rate: f64,
    service_rate: f64,
    servers: Vec<u32>,
    edges: Vec<(usize, usize, f64, bool)>,
    one_minus_load: String,
    mean_number: String,
    above: Vec<(usize, String)>,
    #[serde(default)]
    survival: Vec<(f64, String)>,
}

fn read(name: &str, count: usize) -> Vec<Case> {
    let cases: Vec<Case> = read_json(format!("tests/reference/{name}.json"));
    assert_eq!(cases.len(), count);
    cases
}

fn cases() -> Vec<Case> {
    read("modulated_queue", 73)
}

/// The cases include loops of 25 schedules, routes of 130 states with short rounds, slow setups,
/// rates that differ by orders of magnitude, and rare jobs on many servers.
fn long_rounds() -> Vec<Case> {
    read("long_rounds", 36)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

impl Case {
    fn environment(&self) -> Environment {
        let edge = |&(from, to, rate, _): &(usize, usize, f64, bool)| Edge { from, to, rate };
        Environment::new(self.servers.len(), self.edges.iter().map(edge).collect()).unwrap()
    }

    fn queue<'a>(&self, environment: &'a Environment) -> ModulatedQueue<'a> {
        let serves = self.edges.iter().map(|e| e.3).collect();
        let (lambda, mu) = (self.arrival_rate, self.service_rate);
        ModulatedQueue::new(environment, lambda, mu, self.servers.clone(), serves)
    }

    fn assert_law(&self, found: &rounds::StationaryDistribution) {
        let error = (found.mean / number(&self.mean_number) - 1.0).abs();
        let is_near = error < 1e-12 + 100.0 * self.inherent_error();
        assert!(is_near, "{}: {error:e}", self.name);
        for (x, above) in &self.above {
            let tail: f64 = found.law.iter().flat_map(|of| of.iter().skip(x + 1)).sum();
            let error = (tail - number(above)).abs();
            assert!(
                error < 1e-11 * number(above) && error < found.error() + f64::MIN_POSITIVE,
                "{}: P(Q > {x}) {error:e}, at most {:e}",
                self.name,
                found.error()
            );
        }
    }

    fn assert_means(&self, found: &[f64], allowed: f64) {
        let expected = [&self.mean_number].into_iter();
        let expected = expected.chain(self.above.iter().map(|(_, above)| above));
        for (found, expected) in found.iter().zip(expected) {
            let error = (found / number(expected) - 1.0).abs();
            let is_near = error < allowed;
            assert!(is_near, "{}: {found}, expected {expected}", self.name);
        }
    }

    /// A rounding error `u = 2⁻⁵³` in an input changes the mean by a relative error of `u/(1 − ρ)`.
    fn inherent_error(&self) -> f64 {
        f64::EPSILON / 2.0 / number(&self.one_minus_load)
    }
}

/// The error must be at most `4 u/(1 − ρ)`, down to `1 − ρ = 1e-8`.
#[test]
fn qbd_means_are_precise_in_heavy_traffic() {
    for case in cases() {
        let environment = case.environment();
        let law = case.queue(&environment).qbd().solve();
        let law = law.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let error = (law.mean() / number(&case.mean_number) - 1.0).abs();
        assert!(
            error < 4.0 * case.inherent_error(),
            "{}: {error:e}",
            case.name
        );
    }
}

#[test]
fn qbd_tails_match_the_reference() {
    for case in cases() {
        let environment = case.environment();
        let law = case.queue(&environment).qbd().solve().unwrap();
        for (x, above) in &case.above {
            if *x > 1_000_000 {
                continue;
            }
            let error = (law.above(*x) / number(above) - 1.0).abs();
            // The rounding error of the decay rate is multiplied by the number of levels.
            let decay = 4.0 * *x as f64 * f64::EPSILON / 2.0;
            let allowed = 1e-12 + 100.0 * case.inherent_error() + decay;
            assert!(error < allowed, "{}: P(Q > {x}) {error:e}", case.name);
        }
    }
}

#[test]
fn the_method_of_rounds_matches_the_reference() {
    let mut compared = 0;
    for case in cases() {
        let environment = case.environment();
        let queue = case.queue(&environment);
        let Ok(found) = rounds::stationary_distribution(&queue) else {
            let is_known = case.inherent_error() > 1e-13 || !environment.goes_round();
            assert!(is_known, "{}", case.name);
            continue;
        };
        compared += 1;
        case.assert_law(&found);
        if case.survival.is_empty() {
            continue;
        }
        let survival = ResponseTimes::new(&queue, found.law, 1e10).unwrap();
        for (t, expected) in &case.survival {
            let expected = number(expected);
            let error = (survival.tail(*t) - expected).abs();
            let is_near = expected < 0.01 || error < 1e-11;
            assert!(is_near, "{}: P(T > {t}) {error:e}", case.name);
        }
    }
    assert!(compared > 45, "{compared}");
}

/// The returned error bound must be larger than the true error.
#[test]
fn the_method_of_rounds_is_precise_for_short_rounds() {
    let mut compared = 0;
    for case in long_rounds() {
        let environment = case.environment();
        if let Ok(found) = rounds::stationary_distribution(&case.queue(&environment)) {
            compared += 1;
            case.assert_law(&found);
        }
    }
    assert!(compared >= 25, "{compared}");
}

#[test]
fn matrices_are_precise_for_very_different_rates() {
    for case in long_rounds() {
        let environment = case.environment();
        let law = case.queue(&environment).qbd().solve().unwrap();
        let error = (law.mean() / number(&case.mean_number) - 1.0).abs();
        let said = law.error();
        assert!(said < 1e-10, "{}: {said:e}", case.name);
        assert!(error < 1e-14 + said, "{}: {error:e}", case.name);
        for (x, above) in &case.above {
            let error = (law.above(*x) / number(above) - 1.0).abs();
            let is_near = error < 1e-11 + 4.0 * said;
            assert!(is_near, "{}: P(Q > {x}) {error:e}", case.name);
        }
    }
}

/// The means over cycles do not use any code of the distributions.
#[test]
fn means_over_cycles_match_the_distributions() {
    let mut by_stages = 0;
    for case in cases().into_iter().chain(long_rounds()) {
        let environment = case.environment();
        let queue = case.queue(&environment);
        let numbers = case.above.iter().map(|(x, _)| Reward::Above(*x as u64));
        let rewards: Vec<Reward> = [Reward::Jobs].into_iter().chain(numbers).collect();
        let levels = Levels::of_queue(&queue).unwrap();
        // A rounding error in one level affects all levels.
        let deep = levels.levels() * f64::EPSILON;
        case.assert_means(
            &levels.means(&rewards),
            1e-12 + 20.0 * case.inherent_error() + deep,
        );
        let Some(mut stages) = Stages::new(&queue, 1e8) else {
            continue;
        };
        stages.solve().unwrap();
        case.assert_means(&stages.means(&rewards), 1e-11 + deep);
        by_stages += 1;
    }
    assert!(by_stages >= 50, "{by_stages}");
}

#[test]
fn response_times_match_the_reference() {
    for case in cases().into_iter().filter(|case| !case.survival.is_empty()) {
        let environment = case.environment();
        let queue = case.queue(&environment);
        let times: Vec<f64> = case.survival.iter().map(|(t, _)| *t).collect();
        let cycle = synth::ctmc::cycle::Cycle::new(&queue, 1e9).unwrap();
        let found = cycle.response_tails(&queue, &times, 1e9).unwrap();
        for ((t, expected), found) in case.survival.iter().zip(found) {
            let error = (found - number(expected)).abs();
            assert!(error < 1e-12, "{}: P(T > {t}) {error:e}", case.name);
        }
    }
}

/// The corrected version of Remark 7 is `0 ≤ E_U[Q] ≤ β − 1`.
#[test]
fn relative_completions_are_a_bound_for_the_mean() {
    for case in cases() {
        let environment = case.environment();
        if !environment.goes_round() {
            continue;
        }
        let queue = case.queue(&environment);
        let relative = RelativeCompletions::new(&queue);
        let rest = number(&case.mean_number) - relative.primary_term();
        let most = relative.relative.iter().copied().fold(f64::MIN, f64::max);
        let least = relative.relative.iter().copied().fold(f64::MAX, f64::min);
        let slack = 1e3 * case.inherent_error() * number(&case.mean_number);
        let most_unused = f64::from(queue.max_servers()) - 1.0;
        assert!(rest >= -most - slack, "{}: {rest} {most}", case.name);
        let is_small = rest <= most_unused - least + slack;
        assert!(is_small, "{}: {rest} {least}", case.name);
    }
}
