use super::{Event, Information, Job, LearnedRuntimes, Policy, System};

/// A rule with a guard. If there are at least `B` jobs in the system, a policy that is proved to be
/// stable is used until there are fewer than `b` jobs. On one server, this is a Markovian Service
/// Rate policy without backfilling. On a fleet, it is a [`Partition`](super::Partition).
/// The process is positive recurrent if the sizes are exponential and the arrivals are Poisson.
/// From the finite number of states with fewer than `b` jobs, it either remains in a finite number
/// of states and returns after a finite mean time, or it reaches `B` jobs in one of a finite number
/// of states. From each of these, the guard, which is positive recurrent from all states, needs a
/// finite mean time until there are fewer than `b` jobs. It was created for this project.
#[derive(Clone)]
pub struct Guarded {
    pub(super) rule: Box<dyn Policy>,
    pub(super) guard: Box<dyn Policy>,
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) guarding: bool,
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
    fn in_charge(&mut self) -> &mut Box<dyn Policy> {
        if self.guarding {
            &mut self.guard
        } else {
            &mut self.rule
        }
    }

    fn hand_over(&mut self, system: &mut System) -> bool {
        let most = if self.guarding { self.until } else { self.from };
        let guards = system.jobs() >= most;
        let changes = guards != self.guarding;
        if changes {
            system.guard(guards);
            self.in_charge().let_go(system);
            self.guarding = guards;
            self.in_charge().take_over(system);
        }
        changes
    }
}
