#![allow(clippy::unwrap_used)]
use super::*;

fn stream(arrival_rate: f64, service_rate: f64) -> OneOrAllType {
    OneOrAllType {
        arrival_rate,
        service_rate,
    }
}

fn queue(servers: usize, threshold: usize, rates: [f64; 2]) -> MsfqQueue {
    let [light, heavy] = rates.map(|rate| stream(rate, 1.0));
    MsfqQueue::new(servers, threshold, light, heavy).unwrap()
}

/// The expected values are from an independent computation.
#[test]
fn matches_known_response_times_at_rate_6() {
    for (threshold, expected) in [(0, 67.8704), (1, 21.2779), (8, 10.6579), (31, 11.4467)] {
        let queue = queue(32, threshold, [5.4, 0.6]);
        let found = queue.means().unwrap().mean_response(&queue);
        assert!((found - expected).abs() < 6e-5, "{threshold}: {found}");
    }
}

/// The expected values are from an independent computation. For the light jobs, the approximation
/// in the paper gives 12.2146, which is 0.08 % more than expected here (see [`MsfqApproximation`]).
#[test]
fn approximation_matches_known_values_at_rate_6() {
    let queue = queue(32, 31, [5.4, 0.6]);
    let found = queue.approximation().unwrap();
    for (phase, expected) in found.phases.into_iter().zip([7.936, 1.263, 0.0, 4.027]) {
        assert!((phase - expected).abs() < 6e-4, "{phase} {expected}");
    }
    assert!((found.response[1] - 5.7833).abs() < 6e-5, "{found:?}");
    assert!((found.response[0] - 12.20495).abs() < 1e-5, "{found:?}");
    assert!((found.mean_response(&queue) / 11.5715 - 1.0).abs() < 1e-3);
}

#[test]
fn approximation_improves_with_load() {
    for threshold in [0, 7, 20, 31] {
        let off = |rate: f64| {
            let queue = queue(32, threshold, [0.9 * rate, 0.1 * rate]);
            let exact = queue.means().unwrap().mean_response(&queue);
            let found = queue.approximation().unwrap().mean_response(&queue);
            (found / exact - 1.0).abs()
        };
        assert!(off(7.4) < 0.01 && off(7.4) < off(6.8), "{threshold}");
    }
    assert_eq!(queue(32, 31, [2.7, 0.3]).approximation(), None);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum State {
    Empty,
    Heavy(usize, usize),
    Light(usize, usize),
    Drain(usize, usize, usize),
}

impl State {
    fn numbers(self) -> [usize; 2] {
        match self {
            State::Empty => [0, 0],
            State::Heavy(n, h) | State::Light(n, h) => [n, h],
            State::Drain(m, q, h) => [m + q, h],
        }
    }
}

/// The strict policy as a Markov chain with a limited number of jobs.
struct Chain {
    queue: MsfqQueue,
    most: usize,
}

impl Chain {
    fn phase_1_ends(&self, light: usize) -> State {
        match light {
            0 => State::Empty,
            n if n > self.queue.threshold => State::Light(n, 0),
            n => State::Drain(n, 0, 0),
        }
    }

    fn phase_4_ends(&self, waiting: usize, heavy: usize) -> State {
        match heavy {
            0 => self.phase_1_ends(waiting),
            heavy => State::Heavy(waiting, heavy),
        }
    }

    fn moves(&self, from: State) -> [(State, f64); 3] {
        let MsfqQueue { light, heavy, .. } = self.queue;
        let served = |n: usize| n as f64 * light.service_rate;
        let (more, heavier, (next, rate)) = match from {
            State::Empty => (
                self.phase_1_ends(1),
                State::Heavy(0, 1),
                (State::Empty, 0.0),
            ),
            State::Heavy(n, h) => {
                let next = match h {
                    1 => self.phase_1_ends(n),
                    h => State::Heavy(n, h - 1),
                };
                let rate = heavy.service_rate;
                (State::Heavy(n + 1, h), State::Heavy(n, h + 1), (next, rate))
            }
            State::Light(n, h) => {
                let next = match n - 1 {
                    left if left > self.queue.threshold => State::Light(left, h),
                    0 => self.phase_4_ends(0, h),
                    left => State::Drain(left, 0, h),
                };
                let rate = served(n.min(self.queue.servers));
                (State::Light(n + 1, h), State::Light(n, h + 1), (next, rate))
            }
            State::Drain(m, q, h) => {
                let next = match m {
                    1 => self.phase_4_ends(q, h),
                    m => State::Drain(m - 1, q, h),
                };
                (
                    State::Drain(m, q + 1, h),
                    State::Drain(m, q, h + 1),
                    (next, served(m)),
                )
            }
        };
        [
            (more, light.arrival_rate),
            (heavier, heavy.arrival_rate),
            (next, rate),
        ]
    }

    fn mean_numbers(&self) -> [f64; 2] {
        let mut known = std::collections::BTreeMap::from([(State::Empty, 0)]);
        let (mut states, mut flows) = (vec![State::Empty], Vec::new());
        let mut at = 0;
        while let Some(&from) = states.get(at) {
            for (to, rate) in self.moves(from) {
                if rate == 0.0 || to.numbers().iter().any(|n| *n > self.most) {
                    continue;
                }
                let to = *known.entry(to).or_insert_with(|| {
                    states.push(to);
                    states.len() - 1
                });
                flows.push((at, to, rate));
            }
            at += 1;
        }
        let (mut inflows, mut outflow) = (vec![Vec::new(); at], vec![0.0; at]);
        for (from, to, rate) in flows {
            inflows[to].push((from, rate));
            outflow[from] += rate;
        }
        let mut law = vec![1.0 / at as f64; at];
        for _ in 0..4000 {
            let mut change = 0.0;
            for s in 0..at {
                let value = inflows[s].iter().map(|(from, rate)| law[*from] * rate);
                let value = value.sum::<f64>() / outflow[s];
                change += (value - law[s]).abs();
                law[s] = value;
            }
            let total: f64 = law.iter().sum();
            law.iter_mut().for_each(|p| *p /= total);
            if change / total < 1e-12 {
                break;
            }
        }
        let mean = |i: usize| {
            let each = states.iter().zip(&law);
            each.map(|(s, p)| s.numbers()[i] as f64 * p).sum()
        };
        [mean(0), mean(1)]
    }
}

#[test]
fn means_match_the_truncated_chain() {
    let systems = [
        (1, 0.3, 1.0, 0.2, 0.9),
        (2, 0.7, 1.3, 0.2, 0.7),
        (4, 1.6, 1.0, 0.3, 1.5),
    ];
    for (servers, light, light_service, heavy, heavy_service) in systems {
        let light = stream(light, light_service);
        let heavy = stream(heavy, heavy_service);
        for threshold in 0..servers {
            let queue = MsfqQueue::new(servers, threshold, light, heavy).unwrap();
            let found = queue.means().unwrap().number;
            let chain = Chain { queue, most: 120 };
            for (found, expected) in found.into_iter().zip(chain.mean_numbers()) {
                let off = found / expected - 1.0;
                assert!(off.abs() < 1e-7, "{queue:?}: {found} {expected}");
            }
        }
    }
}

fn systems(servers: usize) -> impl Iterator<Item = (OneOrAllType, OneOrAllType)> {
    let loads = [[0.01, 0.02], [0.3, 0.1], [0.1, 0.7], [0.6, 0.37]];
    let apart = [1e-6, 0.07, 1.0, 300.0, 1e6];
    let both = loads.into_iter();
    let both = both.flat_map(move |load| apart.map(|ratio| (load, ratio)));
    both.map(move |([light, heavy], ratio)| {
        let size = 3.0;
        let rate = light * servers as f64 / size;
        let others = rate / ratio;
        (stream(rate, 1.0 / size), stream(others, others / heavy))
    })
}

/// If there is only one server, Kleinrock's conservation law must hold.
#[test]
fn one_server_conserves_work() {
    for (light, heavy) in systems(1) {
        let queue = MsfqQueue::new(1, 0, light, heavy).unwrap();
        let means = queue.means().unwrap();
        let of = |i: usize, stream: OneOrAllType| {
            let size = 1.0 / stream.service_rate;
            let load = stream.offered();
            [load * (means.response[i] - size), load * size, load]
        };
        let (one, other) = (of(0, light), of(1, heavy));
        let [waits, residual, load] = [0, 1, 2].map(|n| one[n] + other[n]);
        let kept = (one[0] + one[1] + other[0] + other[1]) / waits;
        let off = waits / (load * residual / (1.0 - load)) - 1.0;
        assert!(off.abs() < 2.0 * means.error * kept, "{queue:?}: {off:e}");
    }
}

#[test]
fn error_bounds_hold_in_any_time_unit() {
    for servers in [1, 2, 9, 40] {
        for (light, heavy) in systems(servers) {
            for threshold in [0, 1, servers / 3, servers - 1] {
                let faster = |stream: OneOrAllType, by: f64| OneOrAllType {
                    arrival_rate: stream.arrival_rate * by,
                    service_rate: stream.service_rate * by,
                };
                let threshold = threshold.min(servers - 1);
                let means = |by: f64| {
                    let queue =
                        MsfqQueue::new(servers, threshold, faster(light, by), faster(heavy, by));
                    queue.unwrap().means().unwrap()
                };
                let (one, other) = (means(1.0), means(0.7));
                for (i, stream) in [light, heavy].into_iter().enumerate() {
                    let off = (one.number[i] / other.number[i] - 1.0).abs();
                    let is_near = off <= one.error + other.error;
                    assert!(is_near, "{servers} {threshold} {off:e}");
                    let stretch = one.response[i] * stream.service_rate;
                    let is_longer = stretch >= 1.0 - one.error;
                    assert!(is_longer, "{servers} {threshold} {stretch}");
                }
            }
        }
    }
}

#[test]
fn limits_match_queues_of_one_type() {
    let alone = queue(8, 0, [6.4, 1e-9]).means().unwrap();
    let exact = 1.0 + crate::analysis::erlang_c(8.0, 6.4) / (8.0 - 6.4);
    assert!((alone.response[0] / exact - 1.0).abs() < 1e-6);
    let alone = queue(8, 7, [1e-9, 0.8]).means().unwrap();
    assert!((alone.response[1] - 5.0).abs() < 1e-6);
}

#[test]
fn rejects_unsolvable_systems() {
    let new = |k, l, light, heavy| MsfqQueue::new(k, l, stream(light, 1.0), stream(heavy, 1.0));
    let threshold = new(4, 4, 1.0, 0.5).unwrap_err();
    let unstable = new(4, 0, 2.0, 0.5).unwrap_err();
    let no_servers = new(0, 0, 1.0, 0.5).unwrap_err();
    let negative = new(4, 0, -1.0, 0.5).unwrap_err();
    let not_a_number = new(4, 0, 1.0, f64::NAN).unwrap_err();
    let no_service = MsfqQueue::new(4, 0, stream(1.0, -0.0), stream(0.5, 1.0)).unwrap_err();
    let large = queue(2000, 0, [100.0, 0.5]).means().unwrap_err();
    let close = new(2, 0, 1.0, 0.499999).unwrap().means().unwrap_err();
    let long = queue(1024, 0, [1000.0, 0.01]).means().unwrap_err();
    for (why, words) in [
        (threshold, "the threshold ℓ is 4, expected 0 to 3"),
        (unstable, "the load is 1, expected less than 1"),
        (
            no_servers,
            "the number of servers is 0, expected at least 1",
        ),
        (negative, "λ = -1 and μ = 1, expected λ ≥ 0 and μ > 0"),
        (not_a_number, "λ = NaN and μ = 1, expected"),
        (no_service, "λ = 1 and μ = -0, expected"),
        (large, "2000 light jobs run at once"),
        (close, "takes too many steps"),
        (long, "too few digits"),
    ] {
        assert!(why.to_string().contains(words), "{why}");
    }
}

#[test]
fn high_loads_keep_their_digits() {
    let value = |gap: f64| {
        let queue = queue(32, 31, [9.0 * (1.0 - gap), 0.71875 * (1.0 - gap)]);
        queue.means().unwrap().mean_response(&queue) * gap
    };
    let [near, nearer, nearest] = [4e-3, 2e-3, 1e-3].map(value);
    assert!((near - nearer).abs() > (nearer - nearest).abs());
    let is_near = (nearest / nearer - 1.0).abs() < 0.02;
    assert!(is_near, "{near} {nearer} {nearest}");
}
