//! Means of strict MSFQ(ℓ) on a one-or-all system, from the functional equation of the number of
//! light jobs at the end of phase 1, which is solved twice to estimate the precision. The maker's
//! method does not lose any digits. A cycle lasts from the end of one phase 1, with j light jobs,
//! to the end of the next. Let w = λ₁(1 − z), b the transform of a busy period of heavy jobs, σ =
//! λ_k(1 − b(w)), y the transform at σ of a busy period of light jobs with all k servers, and
//! `τ_k = y`, `τ_i = iμ₁/(λ₁ + iμ₁ + σ − λ₁τ_{i+1})`. With
//! `g_j = Π_{i ≤ j} (i ≤ ℓ ? iμ₁/(iμ₁ + σ + w) : τ_i)`, `g_0 = (λ₁g_1 + λ_k b(w))/(λ₁ + λ_k)` and
//! `f = g_{k−1}/y^{k−1}`, the generating function of j is
//!
//! `Π(z) = Σ_{i<k} p_i (g_i(z) − f(z) y(z)^i) + f(z) Π(y(z))`.

use nalgebra::{Complex, DMatrix, DVector};

use crate::policy::OneOrAll;
use crate::workload::Workload;

const AGREE: f64 = 1e-8;

type Number = Complex<f64>;

/// The rates λ and μ of light and heavy jobs \[1/time\].
struct Cycles {
    servers: usize,
    threshold: usize,
    light: [f64; 2],
    heavy: [f64; 2],
}

/// Returns the mean numbers (K) for exponential sizes and Poisson arrivals; `None` if they exceed
/// this work, roughly in nanoseconds, or rounding leaves too few digits.
pub(super) fn mean_numbers(
    workload: &Workload,
    (system, threshold): (OneOrAll, u32),
    work: f64,
) -> Option<Vec<f64>> {
    let rates = |i: usize| {
        let kind = &workload.types()[i];
        [kind.arrival_rate(), kind.service_rate()]
    };
    let cycles = Cycles {
        servers: system.servers as usize,
        threshold: threshold as usize,
        light: rates(system.light),
        heavy: rates(system.heavy),
    };
    let k = cycles.servers as f64;
    if 4.0 * k * k * (cycles.steps() * 10.0 + k) > work {
        return None;
    }
    let [found, again] = [4, 5].map(|turns| cycles.mean_numbers(turns * cycles.servers + 1));
    let (found, again) = (found?, again?);
    let is_sure = |n: usize| (found[n] - again[n]).abs() <= AGREE * found[n];
    let mut numbers = vec![0.0; workload.types().len()];
    (numbers[system.light], numbers[system.heavy]) = (found[0], found[1]);
    (is_sure(0) && is_sure(1)).then_some(numbers)
}

/// A polynomial in x, the number of light jobs beyond k at the start of a cycle, or 0.
type Square = [f64; 3];

struct Means {
    length: Square,
    light_area: Square,
    heavy_area: Square,
    left: Square,
    left_square: Square,
}

fn sum(parts: &[(f64, Square)]) -> Square {
    let at = |n: usize| parts.iter().map(|(by, part)| by * part[n]).sum();
    [at(0), at(1), at(2)]
}

/// Returns the transform at s of a busy period of an M/M/1 queue.
fn busy([arrivals, service]: [f64; 2], s: Number) -> Number {
    let b = s + arrivals + service;
    let root = (b * b - 4.0 * arrivals * service).sqrt();
    // The smaller root of the quadratic equation is needed.
    let root = if (b.conj() * root).re < 0.0 {
        -root
    } else {
        root
    };
    2.0 * service / (b + root)
}

impl Cycles {
    fn all_servers(&self) -> [f64; 2] {
        [self.light[0], self.servers as f64 * self.light[1]]
    }

    /// Returns the number of iterations of z → y(z) until it has reached 1.
    fn steps(&self) -> f64 {
        let mean = |[arrivals, service]: [f64; 2]| 1.0 / (service - arrivals);
        let slope = self.light[0] * self.heavy[0] * mean(self.heavy) * mean(self.all_servers());
        40.0 / -slope.ln()
    }

    fn transforms(&self, z: Number) -> (Number, Number, Vec<Number>) {
        let ([arrivals, service], k) = (self.light, self.servers);
        let w = arrivals * (Number::from(1.0) - z);
        let heavy = busy(self.heavy, w);
        let sigma = self.heavy[0] * (Number::from(1.0) - heavy);
        let y = busy(self.all_servers(), sigma);
        let mut down = vec![y; k + 1];
        for i in (1..k).rev() {
            let rate = i as f64 * service;
            down[i] = rate / (sigma + arrivals + rate - arrivals * down[i + 1]);
        }
        let mut product = Number::from(1.0);
        let mut from = vec![product];
        for (i, down) in down.iter().enumerate().skip(1) {
            let rate = i as f64 * service;
            product *= if i <= self.threshold {
                rate / (sigma + w + rate)
            } else {
                *down
            };
            from.push(product);
        }
        let f = from[k - 1] / y.powi(k as i32 - 1);
        from[0] = (arrivals * from[1] + self.heavy[0] * heavy) / (arrivals + self.heavy[0]);
        from.truncate(k);
        (y, f, from)
    }

    /// Returns the probability of each j < k, by using the given number of points on a circle.
    fn few(&self, points: usize) -> Option<DVector<f64>> {
        let k = self.servers;
        let radius = 1e-13_f64.powf(1.0 / points as f64);
        let (mut matrix, mut constant) = (DMatrix::identity(k, k), DVector::zeros(k));
        // Only one of two conjugate points is needed.
        for n in 0..=points / 2 {
            let angle = std::f64::consts::TAU * n as f64 / points as f64;
            let start = Number::from_polar(radius, angle);
            let (mut z, mut factor) = (start, Number::from(1.0));
            let mut row = vec![Number::from(0.0); k];
            for _ in 0..(2.0 * self.steps()) as usize + 10 {
                let (y, f, from) = self.transforms(z);
                let mut power = Number::from(1.0);
                for (cell, g) in row.iter_mut().zip(from) {
                    *cell += factor * (g - f * power);
                    power *= y;
                }
                factor *= f;
                z = y;
                if (z - 1.0).norm() < 1e-16 {
                    break;
                }
            }
            let weight = if n == 0 || 2 * n == points { 1.0 } else { 2.0 } / points as f64;
            let mut turn = Number::from(weight);
            for j in 0..k {
                for (i, cell) in row.iter().enumerate() {
                    matrix[(j, i)] -= (cell * turn).re;
                }
                constant[j] += (factor * turn).re;
                turn /= start;
            }
        }
        matrix.lu().solve(&constant)
    }

    /// Returns the means of cycles that start with j = 1, …, k − 1, and with k + x.
    fn cycles(&self) -> Vec<Means> {
        let ([arrivals, service], k) = (self.light, self.servers);
        let [_, all] = self.all_servers();
        let one = 1.0 / (all - arrivals);
        // From i to i − 1 light jobs: first two moments of the time, and integral of the number.
        let mut down = vec![
            [
                one,
                2.0 * all * one.powi(3),
                (k as f64 - 1.0) * one + all * one * one
            ];
            k + 1
        ];
        for i in (1..k).rev() {
            let (rate, [next, square, area]) = (i as f64 * service, down[i + 1]);
            let mean = (1.0 + arrivals * next) / rate;
            let (both, up) = (arrivals + rate, arrivals / (arrivals + rate));
            let own = 2.0 / (both * both)
                + up * (2.0 / both * (next + mean) + square + 2.0 * next * mean);
            down[i] = [mean, own / (1.0 - up), (i as f64 + arrivals * area) / rate];
        }
        let variance = |[mean, square, _]: [f64; 3]| square - mean * mean;
        let (mut works, mut spread, mut served) = (0.0, 0.0, 0.0);
        let (mut drains, mut drain_spread) = (0.0, 0.0);
        let mut cycles = Vec::new();
        for (j, down) in down.iter().enumerate().skip(1) {
            if j <= self.threshold {
                let time = 1.0 / (j as f64 * service);
                (drains, drain_spread) = (drains + time, drain_spread + time * time);
                served += 1.0 / service;
            } else {
                (works, spread, served) =
                    (works + down[0], spread + variance(*down), served + down[2]);
            }
            // Each job beyond the k-th adds a busy period, during which the jobs before it wait.
            cycles.push(self.cycle(
                ([works, one, 0.0], [spread, variance(*down), 0.0]),
                (drains, drain_spread),
                [served, down[2] + 0.5 * one, 0.5 * one],
            ));
        }
        cycles
    }

    /// Returns the means of a cycle, from the mean and the variance of phases 2 and 3 and of phase
    /// 4, and the integral of the number of light jobs in service.
    fn cycle(
        &self,
        (works, spread): (Square, Square),
        (drains, drain_spread): (f64, f64),
        served: Square,
    ) -> Means {
        let ([light, _], [heavy, service]) = (self.light, self.heavy);
        let one = 1.0 / (service - heavy);
        let constant = |value: f64| [value, 0.0, 0.0];
        let before = sum(&[(1.0, works), (1.0, constant(drains))]);
        let squared = [
            before[0] * before[0],
            2.0 * before[0] * before[1],
            before[1] * before[1],
        ];
        let square = sum(&[(1.0, squared), (1.0, spread), (1.0, constant(drain_spread))]);
        let drain_square = drain_spread + drains * drains;
        let crossed = sum(&[(1.0, constant(drain_square)), (drains, works)]);
        let phase_square = sum(&[
            (heavy * 2.0 * service * one.powi(3), before),
            ((heavy * one).powi(2), square),
        ]);
        // E[(D + H)²].
        let waits = sum(&[
            (1.0, constant(drain_square)),
            (2.0 * heavy * one, crossed),
            (1.0, phase_square),
        ]);
        let left = sum(&[(light, constant(drains)), (light * heavy * one, before)]);
        Means {
            length: sum(&[(1.0 + heavy * one, before)]),
            light_area: sum(&[(1.0, served), (0.5 * light, waits)]),
            heavy_area: sum(&[
                (0.5 * heavy * (1.0 + heavy * one), square),
                (heavy * service * one * one, before),
            ]),
            left,
            left_square: sum(&[(1.0, left), (light * light, waits)]),
        }
    }

    /// Returns the means of a cycle that starts with the empty system and a light or heavy job.
    fn empty_first(&self, light_first: &Means) -> Means {
        let ([light, _], [heavy, service]) = (self.light, self.heavy);
        let one = 1.0 / (service - heavy);
        let (rate, square) = (light + heavy, 2.0 * service * one.powi(3));
        let mixed = |own: Square, other: f64| {
            sum(&[(light / rate, own), (heavy / rate, [other, 0.0, 0.0])])
        };
        let mut length = mixed(light_first.length, one);
        length[0] += 1.0 / rate;
        Means {
            length,
            light_area: mixed(light_first.light_area, 0.5 * light * square),
            heavy_area: mixed(light_first.heavy_area, service * one * one),
            left: mixed(light_first.left, light * one),
            left_square: mixed(
                light_first.left_square,
                light * one + light * light * square,
            ),
        }
    }

    fn mean_numbers(&self, points: usize) -> Option<[f64; 2]> {
        let (few, k) = (self.few(points)?, self.servers as f64);
        let mut cycles = self.cycles();
        cycles.insert(0, self.empty_first(&cycles[0]));
        let rest = 1.0 - few.sum();
        // The mean of a quantity, in which each j ≥ k counts as k.
        let below = |of: &dyn Fn(usize) -> f64| -> f64 {
            let cells = few.iter().enumerate();
            cells.map(|(j, p)| p * of(j)).sum::<f64>() + rest * of(self.servers)
        };
        let last = &cycles[self.servers];
        // E[x] and E[x²] follow from the equations for E[j] and E[j²].
        let gained = below(&|j| cycles[j].left[0]) - below(&|j| j as f64);
        let beyond = gained / (1.0 - last.left[1]);
        let squares = below(&|j| cycles[j].left_square[0]) - below(&|j| (j * j) as f64);
        let gained = squares + (last.left_square[1] - 2.0 * k) * beyond;
        let beyond_square = gained / (1.0 - last.left_square[2]);
        let mean = |of: fn(&Means) -> &Square| {
            let own = of(last);
            below(&|j| of(&cycles[j])[0]) + beyond * own[1] + beyond_square * own[2]
        };
        let length = mean(|own| &own.length);
        let numbers = [mean(|own| &own.light_area), mean(|own| &own.heavy_area)];
        Some(numbers.map(|area| area / length))
    }
}
