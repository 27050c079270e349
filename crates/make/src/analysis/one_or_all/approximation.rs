use super::light_left::few_before;
use super::passages::{Passages, Time};
use super::queue::{MOST_SERVERS, MsfqQueue, OneOrAllType};

/// The approximation of MSFQ(ℓ) in section 5 of the Quickswap paper, which assumes that no phase is
/// ever skipped: phase 1 starts with a heavy job and phase 2 with `k` light jobs. It improves with
/// the load, and needs more than `k − 1` light jobs at the end of phase 1 on average.
///
/// The paper only uses moments of the phases: if a light job arrives at the age `A` of phases 4 and
/// 1, its mean wait after these phases is `(λ₁E[A] − (k−1))⁺/(kμ₁)`. Here, the mean of the positive
/// part is computed from the generating function. For `k = 32`, `ℓ = 31` and the rates 5.4 and 0.6,
/// the `E[T]` of the light jobs is 12.205, and the moments alone give 11.998.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MsfqApproximation {
    /// The mean length of each of the phases 1 to 4 \[time\].
    pub phases: [f64; 4],
    /// The mean response time of the light jobs and of the heavy jobs \[time\].
    pub response: [f64; 2],
}

impl MsfqApproximation {
    /// Returns the `E[T]` of all jobs \[time\].
    pub fn mean_response(&self, queue: &MsfqQueue) -> f64 {
        let rates = [queue.light, queue.heavy].map(|stream| stream.arrival_rate);
        let number = rates[0] * self.response[0] + rates[1] * self.response[1];
        number / (rates[0] + rates[1])
    }
}

/// Returns the length of phase 4 with the following phase 1, the length of phases 2 to 4, and the
/// mean length of each phase, or `None` if phase 2 would not have a positive length.
fn phases(queue: &MsfqQueue, passages: &Passages) -> Option<(Time, Time, [f64; 4])> {
    let (light, heavy) = (queue.light.arrival_rate, queue.heavy);
    let one = Time::busy_period(heavy.arrival_rate, heavy.service_rate);
    let (many, busy) = (queue.servers - 1, passages.busy);
    let steps = &passages.down[queue.threshold..many];
    let slow = steps.iter().fold(Time::default(), |t, s| t.plus(s.0));
    let drain = passages.drains[queue.threshold];
    // Phase 1 is a busy period started by the arrivals in phases 2 to 4, and phase 2 one started by
    // all but `k − 1` of the arrivals in phases 4 and 1.
    let (grows, shrinks) = (heavy.arrival_rate * one.mean, light * busy.mean);
    let rest = slow.mean + drain.mean;
    let full = shrinks * (drain.mean + grows * rest) - many as f64 * busy.mean;
    let full = full / (1.0 - shrinks * grows);
    if full <= 0.0 {
        return None;
    }
    let first = grows * (full + rest);
    let away = drain.mean + first;
    // The variance of phase 2 is `own` plus the variance of phases 4 and 1 times `shrinks²`.
    let own = full / busy.mean * busy.variance + light * away * busy.mean.powi(2);
    let noise = grows.powi(2) * (slow.variance + own)
        + (1.0 + grows).powi(2) * drain.variance
        + heavy.arrival_rate * (full + rest) * one.square();
    let spread = noise / (1.0 - (grows * shrinks).powi(2));
    let other = own + shrinks.powi(2) * spread + slow.variance + drain.variance;
    let means = [first, full, slow.mean, drain.mean];
    let away = Time::new(away, spread);
    Some((away, Time::new(full + rest, other), means))
}

/// Returns the mean waiting time in an M/M/1 busy period that is started by all but `fewer` of the
/// arrivals in `during`. This is Welch's queue, where the first service is different.
fn in_busy_period(stream: OneOrAllType, during: Time, fewer: f64) -> f64 {
    let came = stream.arrival_rate * during.mean;
    let number = came - fewer;
    let square = came + stream.arrival_rate.powi(2) * during.variance + number * number;
    (square / number - 1.0) / (2.0 * stream.service_rate)
        + 1.0 / (stream.service_rate - stream.arrival_rate)
}

impl MsfqQueue {
    /// Returns the paper's approximation; `None` if it is undefined or the system is too large.
    pub fn approximation(&self) -> Option<MsfqApproximation> {
        if self.servers > MOST_SERVERS {
            return None;
        }
        let (light, heavy, many) = (self.light, self.heavy, (self.servers - 1) as f64);
        let passages = Passages::new(self);
        let (away, switched, means) = phases(self, &passages)?;
        let full = OneOrAllType {
            service_rate: self.servers as f64 * light.service_rate,
            ..light
        };
        let age = |time: Time| time.square() / (2.0 * time.mean);

        // `∫ (n − (k−1))⁺` over the passages above `k − 1`, for light jobs that arrive in phase 3.
        let (mut jobs, mut area) = (full.service_rate * passages.busy.mean.powi(2), 0.0);
        for i in (self.threshold + 1..self.servers).rev() {
            jobs *= light.arrival_rate / (i as f64 * light.service_rate);
            area += jobs;
        }
        let few = few_before(self, light.arrival_rate * away.mean)?;
        let fewer = few.iter().enumerate().map(|(n, p)| (many - n as f64) * p);
        let before = light.arrival_rate * age(away) - many + fewer.sum::<f64>();
        let waits = away.mean * (age(away) + before / full.service_rate)
            + means[1] * in_busy_period(full, away, many)
            + area / full.service_rate;
        let light_waits = waits / (switched.mean + means[0]);

        // A heavy job that arrives in phases 2 to 4 waits for their rest and earlier heavy jobs.
        let later = age(switched) * (1.0 + heavy.offered());
        let waits = switched.mean * later + means[0] * in_busy_period(heavy, switched, 0.0);
        let heavy_waits = waits / (switched.mean + means[0]);
        let response = [
            light_waits + 1.0 / light.service_rate,
            heavy_waits + 1.0 / heavy.service_rate,
        ];
        let finite = response.iter().all(|time| time.is_finite());
        finite.then_some(MsfqApproximation {
            phases: means,
            response,
        })
    }
}
