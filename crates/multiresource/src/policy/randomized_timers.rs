use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{NamedRule, Parameter, PolicyConfig};
use super::{Event, Policy, System, check};
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "randomized-timers",
    about: "clocks of the types, faster for longer queues, race for free capacity; dummies hold it \
         (after the abstract of Psychas and Ghaderi 2018; details are ours)",
    parameter: Some(Parameter {
        what: "the clocks' rate r",
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
    /// r > 0: the clock rate of a type without waiting jobs, per mean size of the type.
    pub rate: f64,
}

impl PolicyConfig for RandomizedTimersConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(RandomizedTimers::new(fleet.envelope(), self.rate))
    }

    fn words(&self, _: &Workload) -> String {
        format!(
            "Randomized Timers, without preemption: each type has a clock that rings {} times per mean size of the type, and more often the more of its jobs wait. When it rings, one of them starts if it fits; if none waits, the capacity of one job is held for as long as a job would run.",
            self.rate
        )
    }

    fn check(&self, _: &Fleet, findings: &mut Findings) {
        check::numbers(self, &["rate"], findings);
    }

    fn added_work(&self, workload: &Workload) -> f64 {
        0.3 * (workload.types().len() as f64).powi(2)
    }
}

/// Randomized Timers: the clock of type `i` rings at rate `r μ_i exp(w_i)`, where the weight w_i
/// grows slowly with the number Q_i of waiting jobs. When it rings and a job of type `i` fits, the
/// oldest one starts. If none waits, a *dummy* takes the capacity for an exponential time with rate
/// μ_i; an arrival of its type replaces it. No job starts otherwise. Without preemption.
///
/// The clock of a type that does not fit is stopped, which is exact for exponential clocks. The
/// race of the types that fit decides which one gets the capacity that a completion frees. `O(K)`
/// per decision.
///
/// # Theory
/// With fixed weights and exponential sizes, the slots in use are a loss network with the
/// stationary distribution `π(u) ∝ Π_i (r exp(w_i))^{u_i} / u_i!` on S, which concentrates near the
/// maximum of `Σ w_i u_i` as the weights grow. Weights change slowly when queues are long, which
/// makes the rule throughput-optimal for weights `w_i = max(f(Q_i), ε f(Q_max))`,
/// `f(x) = ln^{1−b}(1 + x)`.
///
/// Source: Ghaderi, "Randomized algorithms for scheduling VMs in the cloud", INFOCOM 2016; Psychas
/// and Ghaderi, "Randomized algorithms for scheduling multi-resource jobs in the cloud", IEEE/ACM
/// Transactions on Networking 26(5), 2018.
///
/// Only the abstracts were available. The interplay of clocks, weights and dummies is from memory.
/// The factor r μ_i is our choice, and so is that arrivals replace dummies (which changes no rate
/// with exponential sizes). Measurements of this rule are therefore no evidence about the published
/// ones. The papers have many servers, one of which a clock chooses at random; this implementation
/// has one.
#[derive(Clone, Debug)]
pub struct RandomizedTimers {
    rate: f64,
    service_rates: Vec<f64>,
    growth: Vec<f64>,
    /// Dummies of each type. Clock i starts jobs of type `i`, and clock K + i ends type-i dummies.
    dummies: Vec<u32>,
}

/// b in \[0, 1): the proofs need b > 0; for b = 0, `exp(f(x))` is 1 + x.
const DAMPING: f64 = 0.1;

/// ε.
const FLOOR: f64 = 0.01;

impl RandomizedTimers {
    /// Creates the rule with rate r.
    pub fn new(workload: &Workload, rate: f64) -> Self {
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
        let least = FLOOR * largest;
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
