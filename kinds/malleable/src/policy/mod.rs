//! Division of the servers among the jobs that are present.
//!
//! While the k largest jobs remain, cost accrues at rate `W_k`. If the minimum cost is linear in
//! the sizes, `V = Σ a_k x_k`, dynamic programming gives `max Σ_{i ≤ k} a_i s(θ_i) = W_k`. For each
//! k this determines one more *price* `a_k` ([`prices`]), and the maximizer is the optimal division
//! ([`divide`]). For `s(k) = k^p` this is heSRPT (the heSRPT paper, theorems 7 and 8), for p = 1
//! SRPT. It holds for any concave s shared by all jobs and weights that do not favour large jobs;
//! see also Z. Li, Y. Ju, A. Eryilmaz, N. Shroff (SmartFill, 2025). A [`Sharing`] depends only on
//! remaining sizes, so it also applies to jobs that arrive.

mod makespan;
mod prices;
mod sharing;
#[cfg(test)]
mod tests;

pub use makespan::{all_at_once, makespan};
use prices::extend_prices;
pub use prices::{Asks, Prices, ascending, divide, power_prices, prices};
pub(crate) use sharing::by_job;
pub use sharing::{Known, Online, Sharing, Underway};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::workload::Pool;

/// How the jobs of a pool share the servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// Maximizes the worth of the work done at these prices \[cost/work\], one per job.
    Prices(Vec<f64>),
    /// Fixed numbers of servers for each job, phase by phase.
    Phases(Vec<Phase>),
}

/// A period of time in which the division does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The end of the phase \[time\].
    pub until: f64,
    /// The servers of each job.
    pub servers: Vec<f64>,
}

impl Rule {
    /// Returns the servers of each remaining job at a time, in the order of `remaining`.
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
            Rule::Phases(phases) => {
                let ends = phases.iter().rev().skip(1).map(|phase| phase.until);
                ends.filter(|end| *end > now).fold(f64::INFINITY, f64::min)
            }
        }
    }
}
