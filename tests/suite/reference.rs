//! Queues in a random environment against values computed with 100 digits, by other methods
//! and in another language: see the heads of the scripts in `tests/reference/`.
#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use synth::ctmc::{Edge, Environment, ModulatedQueue, RelativeCompletions, Survival, rounds};

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

fn cases() -> Vec<Case> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/reference/modulated_queue.json"
    );
    let cases: Vec<Case> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(cases.len(), 73);
    cases
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

    /// What is inherent: a rounding error u = 2⁻⁵³ of any input changes the mean by `u/(1 − ρ)`.
    fn inherent(&self) -> f64 {
        f64::EPSILON / 2.0 / number(&self.one_minus_load)
    }
}

/// The mean within 4 u/(1 − ρ), down to 1 − ρ = 1e-8.
#[test]
fn qbd_means_keep_their_digits_in_heavy_traffic() {
    for case in cases() {
        let environment = case.environment();
        let law = case.queue(&environment).qbd().solve_twice();
        let law = law.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let error = (law.mean() / number(&case.mean_number) - 1.0).abs();
        assert!(error < 4.0 * case.inherent(), "{}: {error:e}", case.name);
    }
}

#[test]
fn tails_of_the_qbd() {
    for case in cases() {
        let environment = case.environment();
        let law = case.queue(&environment).qbd().solve().unwrap();
        for (x, above) in &case.above {
            if *x > 1_000_000 {
                continue;
            }
            let error = (law.above(*x) / number(above) - 1.0).abs();
            // A rounding error of the decay rate counts once a level.
            let decay = 4.0 * *x as f64 * f64::EPSILON / 2.0;
            let allowed = 1e-12 + 100.0 * case.inherent() + decay;
            assert!(error < allowed, "{}: P(Q > {x}) {error:e}", case.name);
        }
    }
}

/// The second way, where the levels are not too many.
#[test]
fn going_round_gives_the_same_means_tails_and_response_times() {
    let mut compared = 0;
    for case in cases() {
        let environment = case.environment();
        let queue = case.queue(&environment);
        let Ok(found) = rounds::law(&queue, 60_000_000) else {
            assert!(
                case.inherent() > 1e-14 || !environment.goes_round(),
                "{}",
                case.name
            );
            continue;
        };
        compared += 1;
        let error = (found.mean / number(&case.mean_number) - 1.0).abs();
        assert!(
            error < 1e-12 + 100.0 * case.inherent(),
            "{}: {error:e}",
            case.name
        );
        // The slowest mode decides far out: it relaxes over the square of the levels.
        let slow = (found.law[0].len() as f64).powi(2) * 1e-14;
        let near = case.above.iter().filter(|_| slow < 1e-6);
        for (x, above) in near {
            let tail: f64 = found.law.iter().flat_map(|levels| &levels[x + 1..]).sum();
            let error = (tail / number(above) - 1.0).abs();
            assert!(error < 1e-11 + slow, "{}: P(Q > {x}) {error:e}", case.name);
        }
        if case.survival.is_empty() {
            continue;
        }
        let survival = Survival::new(&queue, &found.law, 1e10).unwrap();
        for (t, expected) in &case.survival {
            let expected = number(expected);
            let error = (survival.above(*t) - expected).abs();
            assert!(
                expected < 0.01 || error < 1e-11,
                "{}: P(T > {t}) {error:e}",
                case.name
            );
        }
    }
    assert!(compared > 45, "{compared}");
}

/// Remark 7, corrected, bounds the mean: `0 ≤ E_U[Q] ≤ β − 1`.
#[test]
fn relative_completions_bound_the_mean() {
    for case in cases() {
        let environment = case.environment();
        if !environment.goes_round() {
            continue;
        }
        let queue = case.queue(&environment);
        let relative = RelativeCompletions::new(&queue);
        let rest = number(&case.mean_number) - relative.primary_term();
        let most = relative.ahead.iter().copied().fold(f64::MIN, f64::max);
        let least = relative.ahead.iter().copied().fold(f64::MAX, f64::min);
        let slack = 1e3 * case.inherent() * number(&case.mean_number);
        let most_unused = f64::from(queue.most_servers()) - 1.0;
        assert!(rest >= -most - slack, "{}: {rest} {most}", case.name);
        assert!(
            rest <= most_unused - least + slack,
            "{}: {rest} {least}",
            case.name
        );
    }
}
