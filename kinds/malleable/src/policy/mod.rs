//! How servers are divided among the jobs that are there.
//!
//! # Theory
//!
//! While the k largest jobs remain, cost accrues at the rate `W_k`. Where the least cost is linear in the sizes,
//! `V = Σ a_k x_k`, dynamic programming says `max Σ_{i ≤ k} a_i s(θ_i) = W_k`: the work done in a unit of time is worth
//! what the unit costs. Of each k this gives one more *price* `a_k` ([`prices`]), and the maximizer is the division while k jobs
//! remain ([`divide`]). For `s(k) = k^p` that is heSRPT (the heSRPT paper, theorems 7 and 8), for p = 1 SRPT. It holds for any
//! concave s that all jobs share and weights that do not favour large jobs: see Z. Li, Y. Ju, A. Eryilmaz, N. Shroff
//! (SmartFill, 2025), who find the same by other means.
//!
//! # Practice
//!
//! A plan of jobs that are all present is a [`Rule`]: it is in the policy file, and says what each job gets while others
//! remain. A [`Sharing`] looks at what is left of the jobs, so that it can be used where jobs arrive, and beside plans.

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

/// How the jobs of a pool divide the servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// Such that the work done is worth most at these prices \[cost/work\], one for each job.
    Prices(Vec<f64>),
    /// Each job has so many servers until the end of the phase, one phase after the other.
    Phases(Vec<Phase>),
}

/// A time in which the numbers of servers do not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// When it ends \[time\].
    pub until: f64,
    /// Servers of each job.
    pub servers: Vec<f64>,
}

impl Rule {
    /// The servers of each job that remains at a time, in the order in which they are named.
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

    /// When the numbers of servers change next though no job ends; ∞ if they do not.
    pub fn changes(&self, now: f64) -> f64 {
        match self {
            Rule::Prices(_) => f64::INFINITY,
            // Behind the last phase nothing is said: its servers stay.
            Rule::Phases(phases) => {
                let ends = phases.iter().rev().skip(1).map(|phase| phase.until);
                ends.filter(|end| *end > now).fold(f64::INFINITY, f64::min)
            }
        }
    }
}
