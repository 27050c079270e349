//! Means by renewal and reward over a cycle, from the end of one phase 1 to that of the next.

use nalgebra::DVector;

use super::queue::{MOST_SERVERS, MsfqError, MsfqMeans, MsfqQueue};
use super::transforms;

/// First two moments of a time.
#[derive(Clone, Copy, Default)]
pub(super) struct Time {
    pub mean: f64,
    pub square: f64,
}

impl Time {
    /// The sum with an independent time.
    pub fn plus(self, other: Time) -> Time {
        Time {
            mean: self.mean + other.mean,
            square: self.square + other.square + 2.0 * self.mean * other.mean,
        }
    }

    fn exponential(rate: f64) -> Time {
        Time {
            mean: 1.0 / rate,
            square: 2.0 / (rate * rate),
        }
    }

    pub fn variance(self) -> f64 {
        self.square - self.mean * self.mean
    }

    /// A busy period of an M/M/1 queue.
    pub fn busy_period(arrivals: f64, service: f64) -> Time {
        let gap = service - arrivals;
        Time {
            mean: 1.0 / gap,
            square: 2.0 * service / gap.powi(3),
        }
    }
}

/// What a cycle has on average, from j light jobs on.
#[derive(Clone, Copy, Default)]
struct Cycle {
    /// Time with no job in the system, of phases 2 and 3, of phase 4, of phase 1 \[time\].
    idle: f64,
    working: f64,
    draining: f64,
    heavy: f64,
    /// ∫ number of light jobs, ∫ number of heavy jobs \[jobs × time\].
    light_area: f64,
    heavy_area: f64,
    /// Light jobs at its end: mean and mean square.
    left: f64,
    left_square: f64,
}

impl Cycle {
    fn combine(self, by: f64, other: Cycle, other_by: f64) -> Cycle {
        let mix = |a: f64, b: f64| by * a + other_by * b;
        Cycle {
            idle: mix(self.idle, other.idle),
            working: mix(self.working, other.working),
            draining: mix(self.draining, other.draining),
            heavy: mix(self.heavy, other.heavy),
            light_area: mix(self.light_area, other.light_area),
            heavy_area: mix(self.heavy_area, other.heavy_area),
            left: mix(self.left, other.left),
            left_square: mix(self.left_square, other.left_square),
        }
    }
}

/// First passages of light jobs while they are admitted, and drains while they are not.
pub(super) struct Passages {
    /// From level i + 1 to i, i < k: its time, and ∫ number of light jobs.
    pub down: Vec<(Time, f64)>,
    /// Phase 4 from m ≤ ℓ jobs.
    pub drains: Vec<Time>,
    /// A busy period at full service.
    pub busy: Time,
}

impl Passages {
    pub fn new(queue: &MsfqQueue) -> Self {
        let (k, rate) = (queue.servers, queue.light.arrival_rate);
        let all = k as f64 * queue.light.service_rate;
        let busy = Time::busy_period(rate, all);
        let area = (k - 1) as f64 * busy.mean + all * busy.mean * busy.mean;
        let mut down = vec![(busy, area); k];
        for i in (1..k).rev() {
            let (above, area) = down[i];
            let service = i as f64 * queue.light.service_rate;
            let mean = (1.0 + rate * above.mean) / service;
            // E[X²] of X = H + (with probability λ/(λ + iμ)) X' + X.
            let again = above.mean + mean;
            let square = 2.0 / (rate + service)
                + 2.0 * rate / (rate + service) * again
                + rate * (above.square + 2.0 * above.mean * mean);
            let time = Time {
                mean,
                square: square / service,
            };
            down[i - 1] = (time, (i as f64 + rate * area) / service);
        }
        let mut drains = vec![Time::default()];
        for i in 1..=queue.threshold {
            let step = Time::exponential(i as f64 * queue.light.service_rate);
            drains.push(drains[i - 1].plus(step));
        }
        Passages { down, drains, busy }
    }
}

/// Phase 1 begins with the heavy jobs that came in `working` and `draining`, independent times, and
/// the light ones that came in `draining`.
fn with_heavy(queue: &MsfqQueue, working: Time, draining: Time, area: f64, served: f64) -> Cycle {
    let (light, heavy) = (queue.light.arrival_rate, queue.heavy);
    let busy = Time::busy_period(heavy.arrival_rate, heavy.service_rate);
    let both = working.plus(draining);
    let (came, pairs) = (
        heavy.arrival_rate * both.mean,
        heavy.arrival_rate.powi(2) * both.square,
    );
    let phase = came * busy.mean;
    let phase_square = came * busy.square + pairs * busy.mean * busy.mean;
    // E[T₄ (T₂₃ + T₄)], and with it the waiting light jobs beside the heavy ones.
    let together = draining.square + draining.mean * working.mean;
    let crossed = heavy.arrival_rate * busy.mean * together;
    let counted = draining.square + 2.0 * crossed + phase_square;
    let left = light * (draining.mean + phase);
    Cycle {
        idle: 0.0,
        working: working.mean,
        draining: draining.mean,
        heavy: phase,
        light_area: area + served + light * counted / 2.0,
        heavy_area: heavy.arrival_rate * both.square / 2.0
            + pairs / 2.0 * busy.mean
            + came * heavy.service_rate * busy.mean * busy.mean,
        left,
        left_square: left + light * light * counted,
    }
}

/// A cycle from j ≥ 1 light jobs on.
fn from_level(queue: &MsfqQueue, passages: &Passages, j: usize) -> Cycle {
    let (k, l) = (queue.servers, queue.threshold);
    let (mut working, mut area) = (Time::default(), 0.0);
    for i in l + 1..=j {
        let (time, below) = match i < k {
            true => passages.down[i - 1],
            // Each further job waits for those before it.
            false => {
                let (time, area) = passages.down[k - 1];
                (time, area + (i - k) as f64 * passages.busy.mean)
            }
        };
        working = working.plus(time);
        area += below;
    }
    let served = j.min(l) as f64 / queue.light.service_rate;
    with_heavy(queue, working, passages.drains[j.min(l)], area, served)
}

/// A cycle from the empty system on.
fn from_empty(queue: &MsfqQueue, passages: &Passages) -> Cycle {
    let (light, heavy) = (queue.light.arrival_rate, queue.heavy);
    let rates = light + heavy.arrival_rate;
    let busy = Time::busy_period(heavy.arrival_rate, heavy.service_rate);
    let heavy_first = Cycle {
        heavy: busy.mean,
        light_area: light * busy.square / 2.0,
        heavy_area: heavy.service_rate * busy.mean * busy.mean,
        left: light * busy.mean,
        left_square: light * busy.mean + light * light * busy.square,
        ..Cycle::default()
    };
    let light_first = from_level(queue, passages, 1);
    let mut cycle = light_first.combine(light / rates, heavy_first, heavy.arrival_rate / rates);
    cycle.idle = 1.0 / rates;
    cycle
}

impl MsfqQueue {
    /// Mean numbers and response times, exactly.
    ///
    /// # Errors
    /// Beyond [`MOST_SERVERS`], or where rounding leaves no digit.
    pub fn means(&self) -> Result<MsfqMeans, MsfqError> {
        if self.servers > MOST_SERVERS {
            return Err(MsfqError::Servers(self.servers, MOST_SERVERS));
        }
        let few = transforms::few_light(self).ok_or(MsfqError::Digits(self.load()))?;
        let means = means(self, &few);
        // A check that the solution does not use: heavy jobs keep the server busy for as long as the
        // work that they bring.
        let MsfqMeans { phases, idle, .. } = means;
        let busy = phases[0] / (phases.iter().sum::<f64>() + idle);
        match (busy / self.heavy.offered() - 1.0).abs() < 1e-6 && few.iter().all(|p| *p > -1e-9) {
            true => Ok(means),
            false => Err(MsfqError::Digits(self.load())),
        }
    }
}

/// The means, from the probabilities of fewer than k light jobs at the end of phase 1.
fn means(queue: &MsfqQueue, few: &DVector<f64>) -> MsfqMeans {
    let k = queue.servers;
    let passages = Passages::new(queue);
    // From k − 1 on all is quadratic in j: three cycles determine it.
    let at = |j: usize| from_level(queue, &passages, j);
    let base = at(k);
    let (one, two) = (at(k + 1), at(k + 2));
    let curved = two.combine(0.5, one.combine(-1.0, base, 0.5), 1.0);
    let slope = one.combine(1.0, base, -1.0).combine(1.0, curved, -1.0);
    let mut total = Cycle::default();
    let (mut rest, mut rest_first, mut rest_second) = (1.0, 0.0, 0.0);
    for (j, p) in few.iter().enumerate() {
        let cycle = match j {
            0 => from_empty(queue, &passages),
            j => at(j),
        };
        total = total.combine(1.0, cycle, *p);
        rest -= p;
        rest_first -= p * j as f64;
        rest_second -= p * (j * j) as f64;
    }
    // With x = j − k: E[1], E[x], E[x²] over j ≥ k, where E[j] and E[j²] are those of a cycle's end.
    let shift = k as f64;
    let first = |mean: f64| mean + rest_first - shift * rest;
    let second = |mean: f64, square: f64| {
        square + rest_second - 2.0 * shift * (mean + rest_first) + shift * shift * rest
    };
    // E[j] = total.left + base.left·rest + slope.left·first(E[j]): left is linear in j.
    let mean = (total.left + base.left * rest + slope.left * first(0.0)) / (1.0 - slope.left);
    let x = first(mean);
    let square = (total.left_square
        + base.left_square * rest
        + slope.left_square * x
        + curved.left_square * second(mean, 0.0))
        / (1.0 - curved.left_square);
    let all = total
        .combine(1.0, base, rest)
        .combine(1.0, slope, x)
        .combine(1.0, curved, second(mean, square));
    let length = all.idle + all.working + all.draining + all.heavy;
    let number = [all.light_area / length, all.heavy_area / length];
    MsfqMeans {
        response: [
            number[0] / queue.light.arrival_rate,
            number[1] / queue.heavy.arrival_rate,
        ],
        number,
        phases: [all.heavy, all.working, all.draining],
        idle: all.idle,
    }
}
