use super::{Event, OneOrAll, Policy, System, Unsuitable};
use crate::multiresource::workload::Workload;

/// Most Servers First with Quickswap, MSFQ(ℓ), for one-or-all systems, without preemption.
///
/// Heavy jobs run one by one until there are none (phase 1). Then light jobs run, as many as fit
/// (phases 2 and 3), until no more than ℓ are in the system; those in service finish, and none is
/// admitted (phase 4); then it is the heavy jobs' turn again. ℓ = 0 is Most Servers First.
///
/// *Strict* is the rule as the paper words it: phase 4 begins at ℓ light jobs even when no heavy job
/// waits, so that a light job that finds the system empty starts one. *Lazy* begins it only when one
/// does, as an implementation would. Both are throughput-optimal for every ℓ < k.
///
/// Source: Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap",
/// 2025, section 4.2. O(1) a decision, but for light jobs that start together.
#[derive(Clone, Debug)]
pub struct Msfq {
    system: OneOrAll,
    threshold: u64,
    strict: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// 1: heavy jobs run.
    Heavy,
    /// 2 and 3: light jobs run and are admitted.
    Light,
    /// 4: light jobs run, and none is admitted.
    Draining,
}

impl Msfq {
    /// The rule with threshold ℓ, or k − 1 where none is given.
    ///
    /// # Errors
    /// Where the system is not one-or-all, or ℓ ≥ k.
    pub fn new(
        workload: &Workload,
        threshold: Option<u32>,
        strict: bool,
    ) -> Result<Self, Unsuitable> {
        let system = OneOrAll::new(workload)?;
        let most = system.servers - 1;
        let threshold = threshold.unwrap_or(most);
        if threshold > most {
            return Err(Unsuitable::Threshold(threshold, most));
        }
        Ok(Msfq {
            system,
            threshold: threshold.into(),
            strict,
            phase: Phase::Heavy,
        })
    }

    /// Whether the light jobs' turn is over.
    fn light_done(&self, system: &System) -> bool {
        let OneOrAll { light, heavy, .. } = self.system;
        let present = system.present(light);
        present <= self.threshold && (system.waiting(heavy) > 0 || self.strict && present > 0)
    }
}

impl Policy for Msfq {
    fn react(&mut self, _: Event, system: &mut System) {
        let OneOrAll { light, heavy, .. } = self.system;
        loop {
            match self.phase {
                Phase::Heavy if system.running(heavy) > 0 => return,
                Phase::Heavy if system.waiting(heavy) > 0 => return system.start(heavy),
                Phase::Heavy => self.phase = Phase::Light,
                Phase::Light => {
                    while system.waiting(light) > 0 && system.fits(light) {
                        system.start(light);
                    }
                    if !self.light_done(system) {
                        return;
                    }
                    self.phase = Phase::Draining;
                }
                Phase::Draining if system.running(light) > 0 => return,
                Phase::Draining => self.phase = Phase::Heavy,
            }
        }
    }
}
