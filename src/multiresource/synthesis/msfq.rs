//! MSFQ on a one-or-all system: its threshold by exact analysis.

use crate::multiresource::analysis::one_or_all::{MsfqError, MsfqMeans, MsfqQueue, Stream};
use crate::multiresource::artifact::Objective;
use crate::multiresource::policy::OneOrAll;
use crate::multiresource::workload::Workload;

/// A one-or-all system with Poisson arrivals and exponential sizes, under MSFQ with any threshold.
#[derive(Clone, Debug)]
pub struct MsfqOutlook {
    /// Which types they are.
    pub system: OneOrAll,
    light: Stream,
    heavy: Stream,
    /// What counts as how much: weights of the two mean response times, light jobs first.
    weights: [f64; 2],
}

/// Means under one threshold.
#[derive(Clone, Copy, Debug)]
pub struct MsfqRow {
    /// ℓ.
    pub threshold: usize,
    /// Whether it is ℓ*.
    pub is_best: bool,
    /// The objective, exactly \[time\].
    pub value: f64,
    /// Mean response times of light and of heavy jobs, exactly \[time\].
    pub response: [f64; 2],
    /// The objective by the Quickswap paper's approximation \[time\]; none where that is not valid.
    pub approximation: Option<f64>,
}

impl MsfqOutlook {
    /// `None` where the workload is no such system.
    pub fn new(workload: &Workload, objective: Objective) -> Option<Self> {
        let system = OneOrAll::new(workload).ok()?;
        let memoryless = |i: usize| {
            let job_type = &workload.types()[i];
            job_type.is_poisson() && job_type.size().is_exponential()
        };
        let stream = |i: usize| Stream {
            arrival_rate: workload.types()[i].arrival_rate(),
            service_rate: workload.types()[i].service_rate(),
        };
        let (light, heavy) = (stream(system.light), stream(system.heavy));
        let shares = workload.load_shares();
        let rates = light.arrival_rate + heavy.arrival_rate;
        let weights = match objective {
            Objective::Mean => [light, heavy].map(|s| s.arrival_rate / rates),
            Objective::Weighted => [system.light, system.heavy].map(|i| shares[i]),
        };
        (memoryless(system.light) && memoryless(system.heavy)).then_some(MsfqOutlook {
            system,
            light,
            heavy,
            weights,
        })
    }

    /// The queue with threshold ℓ.
    ///
    /// # Errors
    /// Where ℓ ≥ k, or no policy is stable.
    pub fn queue(&self, threshold: usize) -> Result<MsfqQueue, MsfqError> {
        let servers = self.system.servers as usize;
        MsfqQueue::new(servers, threshold, self.light, self.heavy)
    }

    /// The objective for mean response times of light and of heavy jobs \[time\].
    pub fn value(&self, response: [f64; 2]) -> f64 {
        self.weights[0] * response[0] + self.weights[1] * response[1]
    }

    /// ℓ* with its means. All thresholds of up to 64 servers are looked at; of more, powers of 2, and
    /// from the best of these on ever smaller steps, as if there were one minimum.
    pub fn best(&self) -> Option<(usize, MsfqMeans)> {
        let most = self.system.servers as usize - 1;
        let value = |l: usize| {
            let means = self.queue(l).ok()?.means().ok()?;
            Some((l, means))
        };
        let least = |a: &(usize, MsfqMeans), b: &(usize, MsfqMeans)| {
            self.value(a.1.response)
                .total_cmp(&self.value(b.1.response))
        };
        if most < 64 {
            return (0..=most).filter_map(value).min_by(least);
        }
        let powers = (0..usize::BITS).map(|p| 1 << p).take_while(|l| *l < most);
        let mut best = [0, most]
            .into_iter()
            .chain(powers)
            .filter_map(value)
            .min_by(least)?;
        let mut step = best.0 / 4;
        while step > 0 {
            let around = [best.0 - step, (best.0 + step).min(most)];
            best = around
                .into_iter()
                .filter_map(value)
                .chain([best])
                .min_by(least)?;
            step /= 2;
        }
        Some(best)
    }

    /// Means under the least and the largest threshold, powers of 2 between them, and ℓ*. Thresholds
    /// without a steady state are left out.
    pub fn table(&self) -> Vec<MsfqRow> {
        let best = self.best().map(|(l, _)| l);
        let most = self.system.servers as usize - 1;
        let powers = (0..32).map(|p| 1_usize << p).take_while(|l| *l < most);
        let mut shown: Vec<usize> = [0, most].into_iter().chain(powers).chain(best).collect();
        shown.sort_unstable();
        shown.dedup();
        let row = |threshold| {
            let queue = self.queue(threshold).ok()?;
            let response = queue.means().ok()?.response;
            let guess = queue.approximation();
            Some(MsfqRow {
                threshold,
                is_best: Some(threshold) == best,
                value: self.value(response),
                response,
                approximation: guess.map(|means| self.value(means.response)),
            })
        };
        shown.into_iter().filter_map(row).collect()
    }
}
