use super::{Event, FamilyRule, Msr, Policy, System, is_proved_stable, online};
use crate::multiresource::artifact::{Family, GuardedPolicy};
use crate::multiresource::workload::Workload;

/// Any rule without clocks, under guard: from B jobs in the system on, a Markovian Service Rate policy
/// that is proved to be stable takes over, without backfilling, until fewer than b remain.
///
/// Positive recurrent with exponential sizes and Poisson arrivals: from the finitely many states
/// with fewer than b jobs the process stays among finitely many, from which it returns in bounded mean time, or
/// crosses B in one of finitely many states; from each of these the guard, positive recurrent from
/// every state, reaches fewer than b in finite mean time. Ours.
#[derive(Clone)]
pub struct Guarded {
    rule: Followed,
    guard: Msr,
    from: u64,
    until: u64,
    guarding: bool,
}

/// The rule that is followed: made anew from its policy where it is cloned.
struct Followed {
    policy: Family,
    workload: Workload,
    rule: Box<dyn Policy + Send>,
}

impl Followed {
    fn new(policy: &Family, workload: &Workload) -> Self {
        Followed {
            policy: policy.clone(),
            workload: workload.clone(),
            rule: online(policy, workload),
        }
    }
}

impl Clone for Followed {
    fn clone(&self) -> Self {
        Followed::new(&self.policy, &self.workload)
    }
}

impl Policy for Guarded {
    fn clocks(&self) -> usize {
        self.guard.clocks()
    }

    fn needs_limits(&self) -> bool {
        self.rule.rule.needs_limits()
    }

    fn begin(&mut self, system: &mut System) {
        self.rule.rule.begin(system);
    }

    fn react(&mut self, event: Event, system: &mut System) {
        let jobs = system.jobs();
        if !self.guarding && jobs >= self.from {
            self.guarding = true;
            system.guard(true);
            self.guard.take_over(system);
        } else if self.guarding && jobs < self.until {
            self.guarding = false;
            system.guard(false);
            self.guard.let_go(system);
            self.rule.rule.take_over(system);
        } else if self.guarding {
            self.guard.react(event, system);
        } else {
            self.rule.rule.react(event, system);
        }
    }
}

impl FamilyRule for GuardedPolicy {
    type Rule = Guarded;

    fn rule(&self, workload: &Workload) -> Guarded {
        Guarded {
            rule: Followed::new(&self.rule, workload),
            guard: Msr::new(&self.guard, workload),
            from: self.from,
            until: self.until,
            guarding: false,
        }
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.is_poisson() && is_proved_stable(&Family::Msr(self.guard.clone()), workload)
    }

    fn words(&self, workload: &Workload) -> String {
        format!(
            "{}\nUnder guard: from {} jobs in the system on, a policy whose stability is proved takes over, until fewer than {} remain. {}",
            super::words(&self.rule, workload),
            self.from,
            self.until,
            super::words(&Family::Msr(self.guard.clone()), workload)
        )
    }
}
