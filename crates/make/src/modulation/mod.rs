//! The loop over the working schedules, the switching routes, and the modulating chain.
//!
//! If `c_i` slots of type i are draining, one of them becomes free at the rate `c_i μ_i`, and this
//! event *is* the completion of a job of type i. The analysis is exact because the chain does not
//! depend on the queue. See the MSR paper, §5.1, §7 and appendices E and F. The paper states that
//! the impact of the route is minimal, but it determines the largest stable switching rate, which
//! differs by a factor of up to 3.4 in the example of the paper.

mod fewer_drains;
mod loop_order;
mod route;

pub use fewer_drains::reduce_drains;
pub use loop_order::{drains, least_drain_order};
use route::chain;
pub use route::{ModulationError, Phase};

use std::sync::Arc;

use synth_multiresource::artifact::MsrConfig;
use synth_multiresource::workload::Workload;
use synth_queues::ctmc::{Edge, Environment, ModulatedQueue};

/// The modulating chain of an MSR policy and its stationary distribution.
#[derive(Clone, Debug)]
pub struct Modulation {
    /// The phases, in the order of the loop.
    pub phases: Arc<[Phase]>,
    /// The chain, with the fraction of time in each phase.
    pub environment: Environment,
    /// The type that completes, for each edge.
    completions: Arc<[Option<usize>]>,
    /// The fraction of time in working schedules. The rest of the time is spent on routes.
    pub working_time: f64,
    transit: f64,
    /// `E[u]` (K), the mean number of slots that serve each type. This includes the routes.
    pub mean_schedule: Vec<f64>,
    mean_in_transit: Vec<f64>,
    switching_rate: f64,
}

impl Modulation {
    /// Builds the chain of a policy and solves for its stationary distribution.
    ///
    /// # Errors
    /// Returns an error if the chain would have more than `limit` phases or is not irreducible.
    pub fn new(
        workload: &Workload,
        policy: &MsrConfig,
        limit: usize,
    ) -> Result<Self, ModulationError> {
        let chain = chain(workload, policy, limit)?;
        let edges = chain.raw_edges().iter().map(|e| Edge {
            from: e.source().index(),
            to: e.target().index(),
            rate: e.weight.0,
        });
        let environment = Environment::new(chain.node_count(), edges.collect())?;
        let completions = chain.edge_weights().map(|step| step.1).collect();
        let phases: Arc<[Phase]> = chain.node_weights().cloned().collect();
        let is_left = policy.order.len() > 1;
        let rate = if is_left { policy.switching_rate } else { 0.0 };
        Ok(Self::summed(phases, completions, environment, rate))
    }

    fn summed(
        phases: Arc<[Phase]>,
        completions: Arc<[Option<usize>]>,
        environment: Environment,
        switching_rate: f64,
    ) -> Self {
        let types = phases[0].slots.len();
        let (mut mean_schedule, mut mean_in_transit) = (vec![0.0; types], vec![0.0; types]);
        let (mut working, mut transit) = (0.0, 0.0);
        for (phase, p) in phases.iter().zip(environment.stationary_distribution()) {
            let is_here = |working: bool| f64::from(u8::from(phase.working == working));
            working += p * is_here(true);
            transit += p * is_here(false);
            for (i, slots) in phase.slots.iter().enumerate() {
                mean_schedule[i] += p * f64::from(*slots);
                mean_in_transit[i] += p * f64::from(*slots) * is_here(false);
            }
        }
        Modulation {
            phases,
            environment,
            completions,
            working_time: working,
            transit,
            mean_schedule,
            mean_in_transit,
            switching_rate,
        }
    }

    /// Returns the same chain with a different rate of leaving the working schedules.
    pub fn at(&self, rate: f64) -> Self {
        if self.switching_rate == 0.0 {
            return self.clone();
        }
        let faster = rate / self.switching_rate;
        let scale = |s: usize| if self.phases[s].working { faster } else { 1.0 };
        let environment = self.environment.with_exits_scaled(scale);
        let (phases, completions) = (self.phases.clone(), self.completions.clone());
        Self::summed(phases, completions, environment, rate)
    }

    /// Returns the queue of type i, exact without backfilling if empty slots keep their clocks.
    pub fn queue(&self, workload: &Workload, i: usize) -> ModulatedQueue<'_> {
        let job_type = &workload.types()[i];
        let servers = self.phases.iter().map(|phase| phase.slots[i]).collect();
        let serves = self.completions.iter().map(|c| *c == Some(i)).collect();
        let (lambda, mu) = (job_type.arrival_rate(), job_type.service_rate());
        ModulatedQueue::new(&self.environment, lambda, mu, servers, serves)
    }

    /// Returns the loads `ρ_i = b_i / E[u_i]` (K).
    pub fn loads(&self, workload: &Workload) -> Vec<f64> {
        let pairs = workload.types().iter().zip(&self.mean_schedule);
        pairs.map(|(t, u)| t.offered_load() / u).collect()
    }

    /// Returns the number of switches per unit of time, which is α times the working fraction.
    pub fn switching_frequency(&self) -> f64 {
        self.switching_rate * self.working_time
    }

    /// Returns the supremum of the stable switching rates, infinite if the routes lose no service.
    ///
    /// In each round, the time spent in the `N` working schedules is `N/α`. The routes take the
    /// time `T` and serve `C_i`, which do not depend on `α`. By renewal-reward, type i is stable if
    /// and only if `b_i (N/α + T) < (N/α)(πW)_i + C_i`. This is a linear inequality in `1/α`.
    pub fn largest_stable_rate(&self, workload: &Workload) -> f64 {
        let mut largest = f64::INFINITY;
        for (i, job_type) in workload.types().iter().enumerate() {
            let (offered, in_transit) = (job_type.offered_load(), self.mean_in_transit[i]);
            let spare = self.mean_schedule[i] - in_transit - offered * self.working_time;
            // Both are per unit of time at the present rate. The missed service is a difference, so
            // it counts as 0 if it is less than the rounding error. The time on routes is not
            // computed as `1 − working`, so it is exactly 0 without routes.
            let missed = offered * self.transit - in_transit;
            if missed > 1e-12 * (offered * self.transit + in_transit) {
                largest = largest.min(self.switching_rate * spare / missed);
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests;
