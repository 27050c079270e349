use super::queue::MsfqQueue;

/// The mean and the variance of a time, which independent times add up without cancellation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Time {
    pub mean: f64,
    pub variance: f64,
}

impl Time {
    pub(super) fn new(mean: f64, variance: f64) -> Time {
        Time { mean, variance }
    }

    pub(super) fn plus(self, other: Time) -> Time {
        Time::new(self.mean + other.mean, self.variance + other.variance)
    }

    pub(super) fn square(self) -> f64 {
        self.variance + self.mean * self.mean
    }

    fn exponential(rate: f64) -> Time {
        Time::new(1.0 / rate, 1.0 / (rate * rate))
    }

    pub(super) fn busy_period(arrivals: f64, service: f64) -> Time {
        let gap = service - arrivals;
        Time::new(1.0 / gap, (service + arrivals) / gap.powi(3))
    }
}

pub(super) struct Passages {
    /// For `i < k`, the time from level `i + 1` to `i`, and the integral of the light jobs in it.
    pub down: Vec<(Time, f64)>,
    /// The length of phase 4 for each number `m ≤ ℓ` of jobs at its start.
    pub drains: Vec<Time>,
    /// The length of a busy period in which all servers are busy.
    pub busy: Time,
}

impl Passages {
    pub(super) fn new(queue: &MsfqQueue) -> Self {
        let (k, rate) = (queue.servers, queue.light.arrival_rate);
        let all = k as f64 * queue.light.service_rate;
        let busy = Time::busy_period(rate, all);
        let area = (k - 1) as f64 * busy.mean + all * busy.mean * busy.mean;
        let mut down = vec![(busy, area); k];
        for i in (1..k).rev() {
            let (above, area) = down[i];
            let service = i as f64 * queue.light.service_rate;
            let mean = (1.0 + rate * above.mean) / service;
            // `X = H + B (X' + X)`, where `B` is 1 with probability `λ/(λ + iμ)`. The variance is
            // `own` (of `H` and `X'`) plus `often` (of `B`), over the probability that `B = 0`.
            let again = above.mean + mean;
            let up = rate / (rate + service);
            let own = 1.0 / (rate + service).powi(2) + up * above.variance;
            let often = up * (1.0 - up) * again * again;
            let time = Time::new(mean, (own + often) * (rate + service) / service);
            down[i - 1] = (time, (i as f64 + rate * area) / service);
        }
        let mut drains = vec![Time::default()];
        for i in 1..=queue.threshold {
            drains.push(drains[i - 1].plus(Time::exponential(i as f64 * queue.light.service_rate)));
        }
        Passages { down, drains, busy }
    }
}
