use std::sync::Arc;

use super::{Event, FamilyRule, Policy, System, is_proved_stable, online, over};
use crate::multiresource::artifact::{Family, GuardedPolicy};
use crate::multiresource::workload::{Fleet, Workload};

/// Any rule but a Markovian Service Rate policy, under guard: from B jobs in the system on, a policy that is proved to be stable
/// takes over, until fewer than b remain. On one server that is a Markovian Service Rate policy without
/// backfilling, on a fleet a [`Partition`](super::Partition).
///
/// Positive recurrent with exponential sizes and Poisson arrivals: from the finitely many states
/// with fewer than b jobs the process stays among finitely many, from which it returns in bounded mean time, or
/// crosses B in one of finitely many states; from each of these the guard, positive recurrent from
/// every state, reaches fewer than b in finite mean time. Ours.
#[derive(Clone)]
pub struct Guarded {
    rule: Followed,
    guard: Followed,
    from: u64,
    until: u64,
    guarding: bool,
}

type Boxed = Box<dyn Policy + Send>;

/// A rule that is followed: made anew where it is cloned.
struct Followed {
    make: Arc<dyn Fn() -> Boxed + Send + Sync>,
    rule: Boxed,
}

impl Followed {
    fn new(make: impl Fn() -> Boxed + Send + Sync + 'static) -> Self {
        Followed {
            rule: make(),
            make: Arc::new(make),
        }
    }
}

impl Clone for Followed {
    fn clone(&self) -> Self {
        Followed {
            rule: (self.make)(),
            make: Arc::clone(&self.make),
        }
    }
}

impl Policy for Guarded {
    fn clocks(&self) -> usize {
        self.rule.rule.clocks().max(self.guard.rule.clocks())
    }

    fn preempts(&self) -> bool {
        self.rule.rule.preempts()
    }

    fn needs_sizes(&self) -> bool {
        self.rule.rule.needs_sizes()
    }

    fn needs_limits(&self) -> bool {
        self.rule.rule.needs_limits()
    }

    fn begin(&mut self, system: &mut System) {
        self.rule.rule.begin(system);
    }

    fn react(&mut self, event: Event, system: &mut System) {
        if !self.hand_over(system) {
            self.in_charge().react(event, system);
        }
    }

    fn changed(&mut self, system: &mut System) {
        if !self.hand_over(system) {
            self.in_charge().changed(system);
        }
    }

    fn doing(&self, names: &[&str], system: &System) -> Option<String> {
        match self.guarding {
            true => {
                let does = self.guard.rule.doing(names, system).unwrap_or_default();
                Some(format!(
                    "the guard is in charge until fewer than {} jobs are there: it {does}",
                    self.until
                ))
            }
            false => self.rule.rule.doing(names, system),
        }
    }

    fn resume(&mut self, system: &mut System) {
        if system.jobs() >= self.from {
            self.guarding = true;
            system.guard(true);
        }
        self.in_charge().resume(system);
    }
}

impl Guarded {
    fn in_charge(&mut self) -> &mut Boxed {
        match self.guarding {
            true => &mut self.guard.rule,
            false => &mut self.rule.rule,
        }
    }

    /// The other takes over, where there are so many or so few jobs: whether it does.
    fn hand_over(&mut self, system: &mut System) -> bool {
        let jobs = system.jobs();
        if !self.guarding && jobs >= self.from {
            self.guarding = true;
            system.guard(true);
            self.rule.rule.let_go(system);
            self.guard.rule.take_over(system);
        } else if self.guarding && jobs < self.until {
            self.guarding = false;
            system.guard(false);
            self.guard.rule.let_go(system);
            self.rule.rule.take_over(system);
        } else {
            return false;
        }
        true
    }
}

impl GuardedPolicy {
    fn guarded<P: Clone + Send + Sync + 'static>(
        &self,
        place: &P,
        make: impl Fn(&Family, &P) -> Boxed + Copy + Send + Sync + 'static,
    ) -> Guarded {
        let followed = |policy: &Family| {
            let (policy, place) = (policy.clone(), place.clone());
            Followed::new(move || make(&policy, &place))
        };
        Guarded {
            rule: followed(&self.rule),
            guard: followed(&self.guard.clone().into()),
            from: self.from,
            until: self.until,
            guarding: false,
        }
    }
}

impl FamilyRule for GuardedPolicy {
    type Rule = Guarded;

    fn rule(&self, workload: &Workload) -> Guarded {
        self.guarded(workload, online)
    }

    fn over(&self, fleet: &Fleet) -> Guarded {
        self.guarded(fleet, over)
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.is_poisson() && is_proved_stable(&self.guard.clone().into(), workload)
    }

    fn words(&self, workload: &Workload) -> String {
        format!(
            "{}\nUnder guard: from {} jobs in the system on, a policy whose stability is proved takes over, until fewer than {} remain. {}",
            super::words(&self.rule, workload),
            self.from,
            self.until,
            super::words(&self.guard.clone().into(), workload)
        )
    }
}
