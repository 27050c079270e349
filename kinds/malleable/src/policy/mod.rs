//! This module divides the servers among the jobs that are present.
//!
//! If the `k` largest jobs remain, the cost increases at the rate `W_k`. If the minimum cost is a
//! linear function of the sizes, `V = Σ a_k x_k`, then dynamic programming shows that
//! `max Σ_{i ≤ k} a_i s(θ_i) = W_k`. For each `k`, there is one new *price* `a_k`, which can be
//! computed from this equation (see [`prices`]). The values for which the maximum is attained are
//! the optimal division (see [`divide`]). If `s(k) = k^p`, this is the same as heSRPT (see theorems
//! 7 and 8 of the heSRPT paper). If p = 1, it is SRPT. It is valid for any concave `s` that is the
//! same for all jobs, if the weights do not favour large jobs (see also Z. Li, Y. Ju, A. Eryilmaz,
//! N. Shroff, SmartFill, 2025). A [`Sharing`] only depends on the remaining sizes, so it can also
//! be used if the jobs arrive over time.

mod makespan;
mod prices;
mod sharing;
#[cfg(test)]
mod tests;

pub use makespan::{all_at_once, makespan};
use prices::extend_prices;
pub use prices::{Asks, Prices, ascending, divide, power_prices, prices};
pub(crate) use sharing::by_job;
pub use sharing::{ActiveJob, Known, Online, Sharing};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::workload::Pool;

/// Describes how the servers are divided among the jobs of a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// Maximizes the worth of the work at these prices \[cost/work\], one for each job.
    Prices(Vec<f64>),
    /// A fixed number of servers for each job in each of the phases, which follow one another.
    Phases(Vec<Phase>),
}

/// A period of time in which the division does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The end of the phase \[time\].
    pub until: f64,
    /// The number of servers of each job.
    pub servers: Vec<f64>,
}

impl Rule {
    /// Returns the number of servers of each remaining job at the given time, in the order of
    /// `remaining`.
    pub fn servers(&self, pool: &Pool, remaining: &[usize], now: f64) -> Vec<f64> {
        match self {
            Rule::Phases(phases) => {
                let phase = phases.iter().find(|phase| phase.until > now);
                let phase = phase.or(phases.last());
                let servers = phase.map(|phase| remaining.iter().map(|i| phase.servers[*i]));
                servers.map_or_else(|| vec![0.0; remaining.len()], Iterator::collect)
            }
            Rule::Prices(prices) => {
                let asks = remaining.iter().map(|&i| Asks {
                    price: prices[i],
                    curve: pool.curve(i),
                });
                divide(&asks.collect::<Vec<_>>(), pool.servers())
            }
        }
    }

    /// Returns the next time at which the division changes without a completion, or ∞.
    pub fn changes(&self, now: f64) -> f64 {
        match self {
            Rule::Prices(_) => f64::INFINITY,
            // After the last phase, its division is kept.
            Rule::Phases(phases) => {
                let ends = phases.iter().rev().skip(1).map(|phase| phase.until);
                ends.filter(|end| *end > now).fold(f64::INFINITY, f64::min)
            }
        }
    }
}
