use super::{Event, Job, Knows, LearnedRuntimes, Policy, System};

/// Another rule under guard: when B jobs are in the system, a policy that is proved to be stable
/// takes over until fewer than b remain. On one server this is a Markovian Service Rate policy
/// without backfilling, on a fleet a [`Partition`](super::Partition).
///
/// The process is positive recurrent with exponential sizes and Poisson arrivals. From the finitely
/// many states with fewer than b jobs, it either stays among finitely many states and returns in
/// bounded mean time, or crosses B in one of finitely many states. From each of these the guard,
/// which is positive recurrent from every state, reaches fewer than b jobs in finite mean time. The
/// construction is original to this project.
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
            "is under guard until fewer than {} jobs are in the system; the guard {does}",
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
    /// Guards a rule from `from` jobs in the system until fewer than `until` remain.
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
