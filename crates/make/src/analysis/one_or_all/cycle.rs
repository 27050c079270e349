use super::passages::{Passages, Time};
use super::queue::MsfqQueue;

/// The mean values over one cycle of MSFQ, from the end of a phase 1 to the end of the next one, or
/// their increments for each additional light job at the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// The times of the empty system, of phases 2 and 3, of phase 4, and of phase 1 \[time\].
    pub idle: f64,
    pub working: f64,
    pub draining: f64,
    pub heavy: f64,
    /// The integrals of the numbers of light and of heavy jobs \[jobs × time\].
    pub light_area: f64,
    pub heavy_area: f64,
    /// The mean and the mean square of the number of light jobs at the end of the cycle.
    pub left: f64,
    pub left_square: f64,
}

impl Cycle {
    pub(super) fn plus(self, by: f64, other: Cycle) -> Cycle {
        let add = |a: f64, b: f64| a + by * b;
        Cycle {
            idle: add(self.idle, other.idle),
            working: add(self.working, other.working),
            draining: add(self.draining, other.draining),
            heavy: add(self.heavy, other.heavy),
            light_area: add(self.light_area, other.light_area),
            heavy_area: add(self.heavy_area, other.heavy_area),
            left: add(self.left, other.left),
            left_square: add(self.left_square, other.left_square),
        }
    }

    pub(super) fn length(&self) -> f64 {
        self.idle + self.working + self.draining + self.heavy
    }

    pub(super) fn areas(&self) -> [f64; 2] {
        [self.light_area, self.heavy_area]
    }
}

/// The means over phases 2 and 3 (of length `W`) and phase 4 (`D`). The cycle is linear in these.
#[derive(Clone, Copy, Default)]
struct Before {
    /// `E[W]`, `E[D]`, `E[(W + D)²]`, `E[D²]`, `E[D(W + D)]`.
    working: f64,
    draining: f64,
    both_square: f64,
    drain_square: f64,
    together: f64,
    /// The integral of the number of light jobs that are served in these phases.
    served: f64,
}

impl Before {
    fn new(working: Time, draining: Time, served: f64) -> Self {
        Before {
            working: working.mean,
            draining: draining.mean,
            both_square: working.plus(draining).square(),
            drain_square: draining.square(),
            together: draining.square() + draining.mean * working.mean,
            served,
        }
    }

    /// Adds phase 1, in which the heavy jobs that arrived in phases 2 to 4 are served. The light jobs
    /// that arrived in phase 4 wait until its end.
    fn with_heavy(self, queue: &MsfqQueue) -> Cycle {
        let (light, heavy) = (queue.light.arrival_rate, queue.heavy);
        let busy = Time::busy_period(heavy.arrival_rate, heavy.service_rate);
        let came = heavy.arrival_rate * (self.working + self.draining);
        let pairs = heavy.arrival_rate.powi(2) * self.both_square;
        let phase = came * busy.mean;
        let phase_square = came * busy.square() + pairs * busy.mean * busy.mean;
        // `E[D · length of phase 1]`.
        let crossed = heavy.arrival_rate * busy.mean * self.together;
        let counted = self.drain_square + 2.0 * crossed + phase_square;
        let left = light * (self.draining + phase);
        Cycle {
            idle: 0.0,
            working: self.working,
            draining: self.draining,
            heavy: phase,
            light_area: self.served + light * counted / 2.0,
            heavy_area: heavy.arrival_rate * self.both_square / 2.0
                + pairs / 2.0 * busy.mean
                + came * heavy.service_rate * busy.mean * busy.mean,
            left,
            left_square: left + light * light * counted,
        }
    }
}

/// The mean values of a cycle as a function of the number `j` of light jobs at its start.
pub(super) struct Cycles {
    /// The cycles for `j = 0, …, k`.
    from: Vec<Cycle>,
    /// The linear and the quadratic increment for `x = j − k > 0`.
    slope: Cycle,
    curve: Cycle,
    /// `1 − slope.left`, computed without cancellation, and `1 − curve.left_square`.
    gap: f64,
    square_gap: f64,
}

impl Cycles {
    pub(super) fn new(queue: &MsfqQueue) -> Self {
        let (k, l) = (queue.servers, queue.threshold);
        let passages = Passages::new(queue);
        let (busy, drains) = (passages.busy, &passages.drains);
        let (mut working, mut area) = (Time::default(), 0.0);
        let mut from = vec![Cycle::default()];
        for j in 1..=k {
            if j > l {
                let (time, below) = passages.down[j - 1];
                working = working.plus(time);
                area += below;
            }
            let served = area + j.min(l) as f64 / queue.light.service_rate;
            from.push(Before::new(working, drains[j.min(l)], served).with_heavy(queue));
        }
        from[0] = from_empty(queue, &from[1]);
        // Each light job beyond the first `k` adds a busy period, and waits for the jobs before it.
        let (longest, drain) = (working.mean + drains[l].mean, drains[l].mean);
        let slope = Before {
            working: busy.mean,
            both_square: busy.variance + 2.0 * longest * busy.mean,
            together: drain * busy.mean,
            served: passages.down[k - 1].1 + busy.mean / 2.0,
            ..Before::default()
        };
        let curve = Before {
            both_square: busy.mean * busy.mean,
            served: busy.mean / 2.0,
            ..Before::default()
        };
        let gap = queue.contraction_gap();
        Cycles {
            from,
            slope: slope.with_heavy(queue),
            curve: curve.with_heavy(queue),
            gap,
            square_gap: gap * (2.0 - gap),
        }
    }

    /// Returns the mean values of a cycle that starts with `j` light jobs, including the effect of
    /// the light jobs at its end on later cycles. If `x` light jobs are in excess of `k`, then
    /// `E[x]` and `E[x²]` follow from the condition that the mean and the mean square of `j` are
    /// the same at both ends of a cycle. The result is the same for all `j ≥ k`. If `sign` is 1
    /// instead of −1, the result is the sum of the magnitudes of all terms.
    fn effect(&self, j: usize, sign: f64) -> Cycle {
        let (cycle, j, k) = (self.from[j], j as f64, self.from.len() as f64 - 1.0);
        let first = (cycle.left + sign * j) / self.gap;
        let own = (cycle.left_square + sign * j * j) / self.square_gap;
        let further = (self.slope.left_square + sign * 2.0 * k) / self.square_gap;
        let second = own + first * further;
        cycle.plus(first, self.slope).plus(second, self.curve)
    }

    pub(super) fn effects(&self, sign: f64) -> Vec<Cycle> {
        (0..self.from.len()).map(|j| self.effect(j, sign)).collect()
    }
}

/// Returns a cycle from the empty system, with the heavy busy periods that leave it empty again.
fn from_empty(queue: &MsfqQueue, light_first: &Cycle) -> Cycle {
    let (light, heavy, rate) = (queue.light, queue.heavy, queue.filling_rate());
    let busy = Time::busy_period(heavy.arrival_rate, heavy.service_rate);
    let light = light.arrival_rate;
    let heavy_first = Cycle {
        heavy: busy.mean,
        light_area: light * busy.square() / 2.0,
        heavy_area: heavy.service_rate * busy.mean * busy.mean,
        left: light * busy.mean,
        left_square: light * busy.mean + light * light * busy.square(),
        ..Cycle::default()
    };
    let idle = Cycle {
        idle: 1.0 / rate,
        ..Cycle::default()
    };
    idle.plus(light / rate, *light_first)
        .plus(heavy.arrival_rate / rate, heavy_first)
}
