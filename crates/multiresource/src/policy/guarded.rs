//! A rule under guard: the decisions. Its settings are in `family`, since they hold one of any family.

use super::{Event, Job, Knows, LearnedRuntimes, Policy, System};

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
    rule: Box<dyn Policy>,
    guard: Box<dyn Policy>,
    from: u64,
    until: u64,
    guarding: bool,
}

impl Policy for Guarded {
    fn clocks(&self) -> usize {
        self.rule.clocks().max(self.guard.clocks())
    }

    fn preempts(&self) -> bool {
        self.rule.preempts()
    }

    fn knows(&self) -> Knows {
        self.rule.knows()
    }

    fn begin(&mut self, system: &mut System) {
        self.rule.begin(system);
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
        if !self.guarding {
            return self.rule.doing(names, system);
        }
        let does = self.guard.doing(names, system).unwrap_or_default();
        Some(format!(
            "the guard is in charge until fewer than {} jobs are there: it {does}",
            self.until
        ))
    }

    fn ahead(&self, i: usize, job: Job) -> Option<usize> {
        self.rule.ahead(i, job).filter(|_| !self.guarding)
    }

    fn learned(&self) -> Option<LearnedRuntimes> {
        self.rule.learned()
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
    /// Puts a rule under guard from so many jobs in the system on, until fewer than these remain.
    pub fn new(rule: Box<dyn Policy>, guard: Box<dyn Policy>, from: u64, until: u64) -> Self {
        Guarded {
            rule,
            guard,
            from,
            until,
            guarding: false,
        }
    }

    fn in_charge(&mut self) -> &mut Box<dyn Policy> {
        if self.guarding {
            &mut self.guard
        } else {
            &mut self.rule
        }
    }

    /// The other takes over, where there are so many or so few jobs: whether it does.
    fn hand_over(&mut self, system: &mut System) -> bool {
        let jobs = system.jobs();
        if !self.guarding && jobs >= self.from {
            self.guarding = true;
            system.guard(true);
            self.rule.let_go(system);
            self.guard.take_over(system);
        } else if self.guarding && jobs < self.until {
            self.guarding = false;
            system.guard(false);
            self.guard.let_go(system);
            self.rule.take_over(system);
        } else {
            return false;
        }
        true
    }
}
