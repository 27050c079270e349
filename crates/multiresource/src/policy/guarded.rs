use super::{Event, Information, Job, LearnedRuntimes, Policy, System};

/// A rule with a guard. If there are at least `B` jobs in the system, a policy that is proved to be
/// stable is used until there are fewer than `b` jobs. On one server, this is a Markovian Service
/// Rate policy without backfilling. On a fleet, it is a [`Partition`](super::Partition).
///
/// The process is positive recurrent if the sizes are exponential and the arrivals are Poisson.
/// There is a finite number of states with fewer than `b` jobs. From these states, the process
/// either remains in a finite number of states and returns after a finite mean time, or it reaches
/// `B` jobs in one of a finite number of states. From each of these states, the guard needs a
/// finite mean time until there are fewer than `b` jobs, because it is positive recurrent from all
/// states. This construction was created for this project.
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

    fn information(&self) -> Information {
        self.rule.information()
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

    fn describe_state(&self, names: &[&str], system: &System) -> Option<String> {
        if !self.guarding {
            return self.rule.describe_state(names, system);
        }
        let does = self.guard.describe_state(names, system).unwrap_or_default();
        Some(format!(
            "uses its guard until there are fewer than {} jobs in the system; the guard {does}",
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
    /// Creates a rule with a guard, which is used from `from` jobs until fewer than `until` remain.
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
