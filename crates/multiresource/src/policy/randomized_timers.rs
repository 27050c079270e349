use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{NamedRule, Parameter, PolicyConfig};
use super::{Event, Policy, System, check};
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "randomized-timers",
    description: "clocks of the types, faster for longer queues, race for free capacity; dummies hold it \
         (after the abstract of Psychas and Ghaderi 2018; details are ours)",
    parameter: Some(Parameter {
        meaning: "the clocks' rate r",
        least: 0.001,
        default: Some(1.0),
        whole: false,
    }),
    settings: |_, rate| {
        let rate = rate.unwrap_or(1.0);
        Ok(RandomizedTimersConfig { rate }.into())
    },
    ..NamedRule::PLAIN
};

/// The settings of Randomized Timers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomizedTimersConfig {
    /// The clock rate `r` of a type with no waiting jobs, per mean size. Must be positive.
    pub rate: f64,
}

impl PolicyConfig for RandomizedTimersConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(RandomizedTimers::new(fleet.envelope(), self.rate))
    }

    fn describe(&self, _: &Workload) -> String {
        format!(
            "Randomized Timers, without preemption: each type has a clock that rings {} times per mean size of the type, and more often if more of its jobs are waiting. If the clock rings, one of these jobs is started if it fits. If no job of the type is waiting, the capacity of one job is held for the time that a job would run.",
            self.rate
        )
    }

    fn check(&self, _: &Fleet, findings: &mut Findings) {
        check::numbers(self, &["rate"], findings);
    }

    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        0.3 * (workload.types().len() as f64).powi(2)
    }
}

/// Randomized Timers, without preemption. The clock of type `i` rings at the rate `r μ_i exp(w_i)`,
/// where `w_i` is a weight that slowly increases with the number of waiting jobs, `Q_i`. If it
/// rings and a job of type `i` fits, the oldest one is started. If no job is waiting, a *dummy*
/// uses the capacity for an exponential time with the rate `μ_i`, unless an arriving job of this
/// type replaces it. No other jobs are started.
/// If a type does not fit, its clock is stopped, which is exact for exponential clocks.
///
/// # Theory
/// If the weights are fixed and the sizes are exponential, the number of slots in use is a loss
/// network with the stationary distribution `π(u) ∝ Π_i (r exp(w_i))^{u_i} / u_i!` on S, most of
/// which is near the maximum of `Σ w_i u_i` if the weights are large. If the queues are long, the
/// weights change slowly, so that the rule is throughput-optimal for
/// `w_i = max(f(Q_i), ε f(Q_max))`, `f(x) = ln^{1−b}(1 + x)`.
///
/// The source is Ghaderi, "Randomized algorithms for scheduling VMs in the cloud", INFOCOM 2016;
/// Psychas and Ghaderi, "Randomized algorithms for scheduling multi-resource jobs in the cloud",
/// IEEE/ACM Transactions on Networking 26(5), 2018. Only the abstracts were available, so the
/// results of this rule cannot be used as results of the published rules. The details of the
/// clocks, weights and dummies are from memory. The factor `r μ_i` is our choice, as is that an
/// arrival replaces a dummy, which does not change any rate if the sizes are exponential. In the
/// papers, a clock selects one of many servers; here, there is one.
#[derive(Clone, Debug)]
pub struct RandomizedTimers {
    rate: f64,
    service_rates: Vec<f64>,
    growth: Vec<f64>,
    /// Clock `i` starts jobs of type `i`, and clock `K + i` ends its dummies.
    dummies: Vec<u32>,
}

/// The value of `b` in `[0, 1)`. The proofs require `b > 0`. If `b = 0`, `exp(f(x))` is `1 + x`.
const DAMPING: f64 = 0.1;

const EPSILON: f64 = 0.01;

impl RandomizedTimers {
    pub(super) fn new(workload: &Workload, rate: f64) -> Self {
        let types = workload.types();
        RandomizedTimers {
            rate,
            service_rates: types.iter().map(|t| t.service_rate()).collect(),
            growth: vec![0.0; types.len()],
            dummies: vec![0; types.len()],
        }
    }

    fn leave(&mut self, i: usize, system: &mut System) {
        self.dummies[i] -= 1;
        system.release_setup(i);
    }

    fn attempt(&mut self, i: usize, system: &mut System) {
        if !system.fits(i) {
            return;
        }
        if system.waiting(i) > 0 {
            system.start(i);
        } else {
            self.dummies[i] += 1;
            system.hold(i);
        }
    }

    fn weigh(&mut self, i: usize, system: &System) {
        let queue = f64::from(system.waiting(i));
        self.growth[i] = queue.ln_1p().powf(1.0 - DAMPING);
    }

    fn set_clocks(&self, system: &mut System) {
        let largest = self.growth.iter().copied().fold(0.0, f64::max);
        let least = EPSILON * largest;
        for (i, growth) in self.growth.iter().enumerate() {
            let rate = || self.rate * self.service_rates[i] * growth.max(least).exp();
            system.set_clock(i, if system.fits(i) { rate() } else { 0.0 });
            let ends = f64::from(self.dummies[i]) * self.service_rates[i];
            system.set_clock(self.dummies.len() + i, ends);
        }
    }
}

impl Policy for RandomizedTimers {
    fn clocks(&self) -> usize {
        2 * self.dummies.len()
    }

    fn begin(&mut self, system: &mut System) {
        self.set_clocks(system);
    }

    fn react(&mut self, event: Event, system: &mut System) {
        let types = self.dummies.len();
        let (Event::Arrival(i) | Event::Completion(i) | Event::Clock(i)) = event;
        let i = i % types;
        match event {
            Event::Arrival(_) if self.dummies[i] > 0 => {
                self.leave(i, system);
                system.start(i);
            }
            Event::Clock(clock) if clock < types => self.attempt(i, system),
            // If there is no dummy, the clock was stopped before this event arrived.
            Event::Clock(_) if self.dummies[i] > 0 => self.leave(i, system),
            _ => {}
        }
        self.weigh(i, system);
        self.set_clocks(system);
    }

    fn take_over(&mut self, system: &mut System) {
        (0..self.growth.len()).for_each(|i| self.weigh(i, system));
        self.set_clocks(system);
    }
}
