//! The division of the servers among the jobs that are present.
//!
//! If the `k` largest jobs remain, the cost increases at the rate `W_k`. If the minimum cost is a
//! linear function of the sizes, `V = Σ a_k x_k`, then dynamic programming shows that
//! `max Σ_{i ≤ k} a_i s(θ_i) = W_k`. For each `k`, this equation gives one new *price* `a_k` (see
//! `prices`), and the maximum is attained by the optimal division (see `divide`). If
//! `s(k) = k^p`, this is heSRPT (theorems 7 and 8 of the heSRPT paper), or SRPT if p = 1. It is
//! valid for any concave `s` that is the same for all jobs, if the weights do not favour large jobs
//! (see also Z. Li, Y. Ju, A. Eryilmaz, N. Shroff, SmartFill, 2025). A [`Sharing`] only depends on
//! the remaining sizes, so it can also be used if the jobs arrive over time.

mod makespan;
mod prices;
mod sharing;
#[cfg(test)]
mod tests;

pub(crate) use makespan::{all_at_once, makespan};
pub(crate) use prices::{Asks, Prices, ascending, divide, extend_prices, power_prices, prices};
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
    /// Returns the number of servers of each of the `remaining` jobs at the given time.
    pub(crate) fn servers(&self, pool: &Pool, remaining: &[usize], now: f64) -> Vec<f64> {
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
    pub(crate) fn changes(&self, now: f64) -> f64 {
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
