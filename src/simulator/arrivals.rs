use super::random::Stream;
use crate::workload::Workload;

/// A job's arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Arrival {
    pub time: f64,
    /// Its type.
    pub kind: u32,
}

/// The arrivals of a workload, in order.
pub(super) struct Arrivals {
    stream: Stream,
    now: f64,
    /// Σ_{h ≤ i} λ_h.
    cumulative: Vec<f64>,
}

impl Arrivals {
    pub fn new(workload: &Workload, stream: Stream) -> Self {
        let mut total = 0.0;
        let cumulative = workload.types().iter().map(|t| {
            total += t.arrival_rate();
            total
        });
        Arrivals {
            cumulative: cumulative.collect(),
            stream,
            now: 0.0,
        }
    }

    /// The next arrivals.
    pub fn fill(&mut self, block: &mut [Arrival]) {
        let last = self.cumulative.len() - 1;
        let total = self.cumulative[last];
        for arrival in block {
            self.now += self.stream.exponential() / total;
            let point = self.stream.uniform() * total;
            let kind = self.cumulative.iter().position(|c| point < *c);
            *arrival = Arrival {
                time: self.now,
                kind: kind.unwrap_or(last) as u32,
            };
        }
    }
}
