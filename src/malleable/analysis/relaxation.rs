//! What no policy has less mean response time than where jobs arrive.

use crate::malleable::workload::Stream;

/// The bound of the mean response time, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxed {
    /// No policy has less \[time\], whatever it knows of arrivals.
    pub least: f64,
    /// Servers of each job where "at most N servers in the mean" is all that is asked for.
    pub servers: f64,
}

/// The mean response time if N servers need only be enough in the mean.
///
/// A job of size x on k servers all the time takes `x/s(k)` and k servers for that long. As many as there are in the mean are
/// enough for one k for all jobs: where `λE[S] k/s(k) = N`, or all, if they are not all used. By weak duality (rents that do not
/// change) no policy is better, also none that knows all arrivals before.
#[must_use]
pub fn relaxation(stream: &Stream) -> Relaxed {
    let curve = stream.curve();
    let most = curve.cap.min(stream.servers());
    let mean = stream.size().mean();
    let work = stream.arrival_rate() * mean;
    // k/s(k) grows with k, and is constant where the speedup is linear.
    let fits = |k: f64| work * k / curve.at(k) <= stream.servers();
    let servers = match fits(most) {
        true => most,
        false => {
            let (mut low, mut high) = (most * 1e-18, most);
            for _ in 0..200 {
                let middle = (low * high).sqrt();
                match fits(middle) {
                    true => low = middle,
                    false => high = middle,
                }
            }
            low
        }
    };
    Relaxed {
        least: mean / curve.at(servers),
        servers,
    }
}
