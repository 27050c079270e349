use super::light_left::few_before;
use super::passages::{Passages, Time};
use super::queue::{MOST_SERVERS, MsfqQueue, OneOrAllType};

/// An approximation of MSFQ(ℓ), which refines section 5 of the Quickswap paper (see the
/// [module](super)). It assumes that no phase is skipped: phase 1 starts with a heavy job and phase
/// 2 with `k` light jobs. It improves with the load, and is only defined if the mean number of
/// light jobs at the end of phase 1 is above `k − 1`.
///
/// Phase 4 and the next phase 1 form one period without light starts. For a light job that arrives
/// when this period has lasted for `A`, the paper uses the mean wait `(λ₁E[A] − (k−1))⁺/(kμ₁)`
/// after it. Here, the mean of the positive part is computed from the generating function. With
/// `k = 32`, `ℓ = 31` and the rates 5.4 and 0.6, the light `E[T]` is 12.205 instead of 11.998.
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

/// Returns the length of phases 4 and 1, the length of phases 2 to 4, and the mean length of each
/// phase, or `None` if phase 2 would not have a positive length.
fn phases(queue: &MsfqQueue, passages: &Passages) -> Option<(Time, Time, [f64; 4])> {
    let (light, heavy) = (queue.light.arrival_rate, queue.heavy);
    let heavy_busy = Time::busy_period(heavy.arrival_rate, heavy.service_rate);
    let (servers_but_one, busy) = (queue.servers - 1, passages.busy);
    let steps = &passages.down[queue.threshold..servers_but_one];
    let phase_3 = steps.iter().fold(Time::default(), |t, s| t.plus(s.0));
    let phase_4 = passages.drains[queue.threshold];
    // Phase 1 is a busy period of the arrivals in phases 2 to 4, and phase 2 one of all but `k − 1`
    // of those in phases 4 and 1. The ratios are the mean lengths per time if all are served.
    let (ratio_1, ratio_2) = (heavy.arrival_rate * heavy_busy.mean, light * busy.mean);
    let rest = phase_3.mean + phase_4.mean;
    let phase_2 = ratio_2 * (phase_4.mean + ratio_1 * rest) - servers_but_one as f64 * busy.mean;
    let phase_2 = phase_2 / (1.0 - ratio_2 * ratio_1);
    if phase_2 <= 0.0 {
        return None;
    }
    let phase_1 = ratio_1 * (phase_2 + rest);
    let phases_4_1 = phase_4.mean + phase_1;
    // The variance of phases 4 and 1 is `spread`, and the variance of phase 2 is `own` plus
    // `ratio_2²` times `spread`. Phase 4 also extends phase 1, so its factor is `(1 + ratio_1)²`.
    let own = phase_2 / busy.mean * busy.variance + light * phases_4_1 * busy.mean.powi(2);
    let noise = ratio_1.powi(2) * (phase_3.variance + own)
        + (1.0 + ratio_1).powi(2) * phase_4.variance
        + heavy.arrival_rate * (phase_2 + rest) * heavy_busy.square();
    let spread = noise / (1.0 - (ratio_1 * ratio_2).powi(2));
    let other = own + ratio_2.powi(2) * spread + phase_3.variance + phase_4.variance;
    let means = [phase_1, phase_2, phase_3.mean, phase_4.mean];
    let phases_4_1 = Time::new(phases_4_1, spread);
    Some((phases_4_1, Time::new(phase_2 + rest, other), means))
}

/// Returns the mean waiting time of the jobs that arrive during an M/M/1 busy period, which is
/// started by all but `fewer` of the arrivals in `during` (Welch, Operations Research 12, 1964).
fn in_busy_period(stream: OneOrAllType, during: Time, fewer: f64) -> f64 {
    let arrivals = stream.arrival_rate * during.mean;
    let number = arrivals - fewer;
    let square = arrivals + stream.arrival_rate.powi(2) * during.variance + number * number;
    (square / number - 1.0) / (2.0 * stream.service_rate)
        + 1.0 / (stream.service_rate - stream.arrival_rate)
}

impl MsfqQueue {
    /// Returns the approximation, or `None` if it is undefined or the system is too large.
    pub fn approximation(&self) -> Option<MsfqApproximation> {
        if self.servers > MOST_SERVERS {
            return None;
        }
        let (light, heavy, passages) = (self.light, self.heavy, Passages::new(self));
        let (phases_4_1, phases_2_to_4, means) = phases(self, &passages)?;
        let (servers_but_one, cycle) = ((self.servers - 1) as f64, phases_2_to_4.mean + means[0]);
        let pooled = OneOrAllType {
            service_rate: self.servers as f64 * light.service_rate,
            ..light
        };
        let age = |time: Time| time.square() / (2.0 * time.mean);

        // The mean integral of the jobs above `k − 1`, for one level of phase 3 and for all of it.
        let (mut level_area, mut area) = (pooled.service_rate * passages.busy.mean.powi(2), 0.0);
        for i in (self.threshold + 1..self.servers).rev() {
            level_area *= light.arrival_rate / (i as f64 * light.service_rate);
            area += level_area;
        }
        let probabilities = few_before(self, light.arrival_rate * phases_4_1.mean)?;
        let shortfall = probabilities.iter().enumerate();
        let shortfall = shortfall.map(|(n, p)| (servers_but_one - n as f64) * p);
        let waiting =
            light.arrival_rate * age(phases_4_1) - servers_but_one + shortfall.sum::<f64>();
        // The waits of the light jobs in a cycle, divided by `λ₁`.
        let light_waits = phases_4_1.mean * (age(phases_4_1) + waiting / pooled.service_rate)
            + means[1] * in_busy_period(pooled, phases_4_1, servers_but_one)
            + area / pooled.service_rate;

        // If a heavy job arrives in phases 2 to 4, it waits until the end of phase 4, and then until all
        // heavy jobs that arrived before it are completed.
        let heavy_waits = phases_2_to_4.mean * (age(phases_2_to_4) * (1.0 + heavy.offered()))
            + means[0] * in_busy_period(heavy, phases_2_to_4, 0.0);
        let response = [
            light_waits / cycle + 1.0 / light.service_rate,
            heavy_waits / cycle + 1.0 / heavy.service_rate,
        ];
        let finite = response.iter().all(|time| time.is_finite());
        finite.then_some(MsfqApproximation {
            phases: means,
            response,
        })
    }
}
