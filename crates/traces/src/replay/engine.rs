//! One server, or a fleet with one queue, to which the jobs of a trace come.

use super::scene::DecisionState;
use synth_core::document::DocumentError;
use synth_multiresource::policy::{Action, Event, Policy, System};
use synth_multiresource::simulator::{Contender, Due, Ends, Failure, Server};
use synth_simulation::{RandomStream, Streams};

/// Why there is no result on a log.
#[derive(Debug, thiserror::Error)]
pub enum NoResult {
    /// A replay ended.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The jobs cannot be counted.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The log is too short, or the rule cannot serve its jobs.
    #[error("{0}")]
    Refused(String),
}

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// When each job left, in the policy's time.
    pub ends: Vec<f64>,
    /// Whether every job ran without a pause at full speed: then it started its size, and its start latency, before it
    /// left.
    pub runs_through: bool,
    /// Whether the policy has clocks, which are drawn.
    pub has_clocks: bool,
    /// Arrivals, completions and clocks.
    pub events: u64,
}

/// Why a replay has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped {
    /// The policy cannot serve such jobs, or made a decision that no server could carry out.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The policy never starts the jobs that are left.
    #[error("the policy starts no more jobs, and {0} of them are left waiting at the end")]
    Stuck(u64),
    /// The caller ended it.
    #[error("interrupted before the last job had left")]
    Interrupted,
}

/// Events between two looks at whether to go on: of a rule that is slow with long queues this may be a second.
const BURST: u64 = 1 << 10;

/// After so many clocks since the last job came or left, none is expected to start another one.
const FUTILE: u64 = 10_000_000;

/// Replays jobs under a policy. `goes_on` gets the number of jobs that have come now and then, and says whether to go on.
///
/// # Errors
/// When the policy cannot serve these jobs or leaves some unserved, and when `goes_on` ends it.
pub fn replay(
    rule: &Contender,
    scene: &DecisionState<'_>,
    goes_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Replayed, Stopped> {
    let mut walk = Walk::new(scene, rule.rule(&scene.fleet)?);
    let left = loop {
        let until = walk.events + BURST;
        while walk.events < until && walk.step() {}
        let left = walk.audit()?;
        if walk.events < until {
            break left;
        }
        if !goes_on(walk.next) {
            return Err(Stopped::Interrupted);
        }
    };
    if left > 0 {
        return Err(Stopped::Stuck(left));
    }
    Ok(Replayed {
        runs_through: walk.server.system.counters().preemptions == 0,
        has_clocks: !walk.server.system.clocks().is_empty(),
        events: walk.events,
        ends: walk.ends,
    })
}

/// A replay under way, in which one policy may follow another: each begins with the jobs that wait and run.
pub struct Walk<'a> {
    scene: &'a DecisionState<'a>,
    server: Server,
    /// The job that comes next.
    next: usize,
    /// When each job that has come left; NaN before.
    ends: Vec<f64>,
    service: RandomStream,
    decides_on_state: bool,
    /// Arrivals, completions and clocks so far.
    events: u64,
    /// Clocks that rang since a job came or left.
    rings: u64,
}

impl<'a> Walk<'a> {
    /// Begins with this policy, and with the jobs that ran when the log began.
    pub fn new(scene: &'a DecisionState<'a>, policy: Box<dyn Policy>) -> Self {
        let system = System::for_policy(&scene.fleet, &*policy);
        let (system, present) = scene.begun(system);
        Walk::with_present(scene, system, policy, present)
    }

    /// Goes on with all that happens before this time.
    ///
    /// # Errors
    /// When the policy made a decision that no server could carry out.
    pub fn until(&mut self, time: f64) -> Result<(), Stopped> {
        let next = |own: &mut Self| {
            let wake = own.server.system.wake();
            own.server.next_end().min(own.arrival()).min(wake)
        };
        while next(self) < time && self.step() {}
        self.audit().map(drop)
    }

    /// Goes on until the last job has left.
    ///
    /// # Errors
    /// As [`until`](Self::until), and when the policy leaves jobs waiting.
    pub fn finish(&mut self) -> Result<(), Stopped> {
        self.until(f64::INFINITY)?;
        match self.server.system.jobs() {
            0 => Ok(()),
            left => Err(Stopped::Stuck(left)),
        }
    }

    /// Another policy decides from this time on, before which all has happened.
    pub fn hand_over(&mut self, policy: Box<dyn Policy>, time: f64) {
        self.server.system.advance(time);
        self.server.hand_over(policy);
    }

    /// Returns when each job that has come left, in the policy's time; NaN where it has not.
    pub fn ends(&self) -> &[f64] {
        &self.ends
    }

    /// Returns a copy of the policy as it is now.
    pub fn policy(&self) -> Box<dyn Policy> {
        self.server.policy()
    }

    /// Returns the jobs that wait and run now: the place of each in the scene, when it started if it runs, and on which
    /// servers of a fleet.
    pub fn present(&self) -> Vec<(usize, Option<f64>, Vec<usize>)> {
        let system = &self.server.system;
        let mut present = Vec::new();
        for i in 0..system.types() {
            let waiting = system.waiting_jobs(i);
            present.extend(waiting.map(|job| (job.number as usize, None, Vec::new())));
            present.extend(system.running_jobs(i).map(|job| {
                let started = system.now() - system.ran(job);
                let servers = system.servers_of(job).to_vec();
                (job.number as usize, Some(started), servers)
            }));
        }
        present.sort_unstable_by_key(|(place, ..)| *place);
        present
    }

    /// Begins at a time at which the first jobs of the scene are there already: when each of them started, if it has, and on
    /// which servers of a fleet, or where there is room; and what others use of servers, in units. All times are in the
    /// policy's time.
    pub fn from_present(
        scene: &'a DecisionState<'a>,
        present: &[(Option<f64>, &[usize])],
        occupied: &[(usize, Vec<u64>)],
        policy: Box<dyn Policy>,
        now: f64,
    ) -> Self {
        let mut system = System::for_policy(&scene.fleet, &*policy);
        let starts = present.iter().filter_map(|(start, _)| *start);
        let first = starts.fold(now, f64::min);
        system.start_at(first);
        let mut running = Vec::new();
        for (n, (start, servers)) in present.iter().enumerate() {
            let job = scene.arrive(n, first, &mut system);
            let job = system.set_arrived(job, scene.clock.submit(scene.jobs[n].submit));
            running.extend(start.map(|start| (start, scene.type_of(n), job, *servers)));
        }
        running.sort_by(|a, b| a.0.total_cmp(&b.0));
        system.resume_jobs(true);
        for (start, i, job, servers) in running {
            system.advance(start);
            if servers.is_empty() {
                system.start_job(i, job);
            } else {
                system.start_job_on(i, job, servers);
            }
        }
        system.resume_jobs(false);
        system.advance(now);
        for (server, units) in occupied {
            system.occupy(*server, units, now);
        }
        Walk::with_present(scene, system, policy, present.len())
    }

    /// Goes on until these jobs, by their places in the scene, have started, or no more starts before this time; returns when
    /// each did in the policy's time, infinity where it has not.
    ///
    /// # Errors
    /// When the policy made a decision that no server could carry out.
    pub fn starts(&mut self, jobs: &[usize], until: f64) -> Result<Vec<f64>, Stopped> {
        let count = jobs.iter().max().map_or(0, |last| last + 1);
        let mut starts = vec![f64::NAN; count];
        jobs.iter().for_each(|n| starts[*n] = f64::INFINITY);
        let mut missing = starts.iter().filter(|own| own.is_infinite()).count();
        loop {
            let system = &self.server.system;
            for action in system.actions() {
                if let Action::Start(_, job) = action
                    && let Some(own) = starts.get_mut(job.number as usize)
                    && own.is_infinite()
                {
                    *own = system.now();
                    missing -= 1;
                }
            }
            if missing == 0 || system.now() >= until || !self.step() {
                break;
            }
        }
        self.audit()?;
        Ok(jobs.iter().map(|n| starts[*n]).collect())
    }

    /// Begins with a system in which so many jobs are present, the first ones of the scene.
    fn with_present(
        scene: &'a DecisionState<'a>,
        system: System,
        policy: Box<dyn Policy>,
        present: usize,
    ) -> Self {
        let mut service = Streams::new(scene.seed, 0).service;
        let decides_on_state = policy.decides_on_state();
        // Jobs come with their sizes.
        let server = match present {
            0 => Server::new(system, policy, Some(Ends::default()), &mut service),
            _ => Server::resume(system, policy, &mut service),
        };
        let mut ends = Vec::with_capacity(scene.jobs.len());
        ends.resize(present, f64::NAN);
        Walk {
            scene,
            server,
            next: present,
            ends,
            service,
            decides_on_state,
            events: 0,
            rings: 0,
        }
    }

    /// Checks the system's invariants; returns how many jobs are there, which nothing starts any more once it is over.
    fn audit(&mut self) -> Result<u64, Stopped> {
        self.server.settle();
        let system = &self.server.system;
        let violation = system.violation().cloned().map(Failure::from);
        violation.map_or_else(|| Ok(system.jobs()), |why| Err(why.into()))
    }

    /// Carries out the next instant; returns whether there was one.
    #[inline(always)]
    fn step(&mut self) -> bool {
        let (end, arrival) = (self.server.next_end(), self.arrival());
        let until = end.min(arrival);
        if until == f64::INFINITY && (self.server.system.jobs() == 0 || self.rings > FUTILE) {
            return false;
        }
        let wake = self.server.system.wake();
        if wake < until {
            self.server.wake(wake);
            return true;
        }
        if self.server.rates().total > 0.0 {
            self.step_with_clocks(end, arrival);
            return true;
        }
        if until == f64::INFINITY {
            return false;
        }
        // Where both come at one instant, the end comes first.
        let is_end = end <= arrival;
        if self.decides_on_state {
            self.instant(until, is_end)
        } else if let Some(event) = self.happen(until, is_end) {
            self.server.react(event);
        }
        true
    }

    /// The same where the rule's clocks may ring before.
    fn step_with_clocks(&mut self, end: f64, arrival: f64) {
        // Where both come at one instant, the end comes first.
        let bound = match end <= arrival {
            true => f64::INFINITY,
            false => arrival,
        };
        let (now, due) = self.server.due(bound);
        if let Some(due) = due.filter(|due| !matches!(due, Due::End)) {
            self.server.happen(now, due, &mut self.service);
            self.events += 1;
            self.rings += 1;
        } else if let Some(event) = self.happen(now, due.is_some()) {
            self.server.react(event);
        }
    }

    /// Carries out all that happens at this instant, and then one decision.
    fn instant(&mut self, now: f64, is_end: bool) {
        let mut event = self.happen(now, is_end);
        let mut is_alone = true;
        loop {
            let is_end = self.server.next_end() == now;
            if !is_end && self.arrival() != now {
                break;
            }
            is_alone = false;
            event.into_iter().for_each(|event| self.server.note(event));
            event = self.happen(now, is_end);
        }
        if is_alone {
            event.into_iter().for_each(|event| self.server.react(event));
        } else {
            event.into_iter().for_each(|event| self.server.note(event));
            self.server.decide();
        }
    }

    /// Returns when the next job comes; infinity where none does.
    #[inline(always)]
    fn arrival(&self) -> f64 {
        let next = self.scene.jobs.get(self.next);
        next.map_or(f64::INFINITY, |job| self.scene.clock.submit(job.submit))
    }

    /// A job comes or leaves.
    #[inline(always)]
    fn happen(&mut self, now: f64, is_end: bool) -> Option<Event> {
        self.events += 1;
        self.rings = 0;
        if is_end {
            let left = self.server.end(now)?;
            self.ends[left.job.number as usize] = now;
            return Some(Event::Completion(left.job_type));
        }
        let (scene, n) = (self.scene, self.next);
        scene.arrive(n, now, &mut self.server.system);
        self.next += 1;
        self.ends.push(f64::NAN);
        Some(Event::Arrival(scene.type_of(n)))
    }
}
