use super::scene::DecisionState;
use synth_core::document::DocumentError;
use synth_multiresource::policy::{Action, Event, Policy, System};
use synth_multiresource::simulator::{CompletionTimes, Contender, Failure, PendingEvent, Server};
use synth_simulation::{RandomStream, Streams};

/// The reason why a log has no result.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// A replay ended.
    #[error(transparent)]
    Stopped(#[from] ReplayError),
    /// The workload of the jobs is invalid.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The log is too short, or the rule does not support its jobs.
    #[error("{0}")]
    Refused(String),
}

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The time at which each job departs, in the time of the policy.
    pub ends: Vec<f64>,
    /// Whether all jobs ran at full speed and were not interrupted, so that their starts are known.
    pub(super) runs_through: bool,
    /// Whether the policy uses clocks that are random.
    pub has_clocks: bool,
    /// The number of arrivals, completions and clocks.
    pub events: u64,
}

/// The reason why a replay has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The policy does not support these jobs, or made a decision that is not feasible.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The policy does not start any of the remaining jobs.
    #[error("the policy stopped starting jobs, and {0} jobs are still waiting at the end")]
    Stuck(u64),
    /// The replay was interrupted by the caller.
    #[error("the replay was interrupted before the last job had finished")]
    Interrupted,
}

/// The number of events between calls of `goes_on`, which may take a second with long queues.
const BURST: u64 = 1 << 10;

/// If the clocks ring this often without an arrival or a departure, no more starts are expected.
const FUTILE: u64 = 10_000_000;

/// Replays all jobs with this policy while `goes_on` of the number of submitted jobs is `true`.
///
/// # Errors
/// Returns an error if the policy does not support the jobs or does not start all of them, or if it
/// was interrupted by `goes_on`.
pub fn replay(
    rule: &Contender,
    scene: &DecisionState<'_>,
    goes_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Replayed, ReplayError> {
    let mut walk = Walk::new(scene, rule.build_policy(&scene.fleet)?);
    let left = loop {
        let until = walk.events + BURST;
        while walk.events < until && walk.step() {}
        let left = walk.audit()?;
        if walk.events < until {
            break left;
        }
        if !goes_on(walk.next) {
            return Err(ReplayError::Interrupted);
        }
    };
    if left > 0 {
        return Err(ReplayError::Stuck(left));
    }
    Ok(Replayed {
        runs_through: walk.server.system.counters().preemptions == 0,
        has_clocks: !walk.server.system.clocks().is_empty(),
        events: walk.events,
        ends: walk.ends,
    })
}

/// A replay that is running. If the policy is replaced, the new one starts with the present jobs.
pub struct Walk<'a> {
    scene: &'a DecisionState<'a>,
    server: Server,
    next: usize,
    ends: Vec<f64>,
    service: RandomStream,
    decides_on_state: bool,
    events: u64,
    rings: u64,
}

impl<'a> Walk<'a> {
    /// Starts with this policy, and with the jobs that were running when the log began.
    pub fn new(scene: &'a DecisionState<'a>, policy: Box<dyn Policy>) -> Self {
        let system = System::for_policy(&scene.fleet, &*policy);
        let (system, present) = scene.begun(system);
        Walk::with_present(scene, system, policy, present)
    }

    /// Runs all events before this time. Fails if the policy made a decision that is not feasible.
    pub fn until(&mut self, time: f64) -> Result<(), ReplayError> {
        let next = |own: &mut Self| {
            let wake = own.server.system.wake();
            own.server.next_end().min(own.arrival()).min(wake)
        };
        while next(self) < time && self.step() {}
        self.audit().map(drop)
    }

    /// Runs until the last job has left. Also fails if there are jobs that are never started.
    pub fn finish(&mut self) -> Result<(), ReplayError> {
        self.until(f64::INFINITY)?;
        match self.server.system.jobs() {
            0 => Ok(()),
            left => Err(ReplayError::Stuck(left)),
        }
    }

    /// Replaces the policy at this time, before which all events must have been processed.
    pub fn hand_over(&mut self, policy: Box<dyn Policy>, time: f64) {
        self.server.system.advance(time);
        self.server.hand_over(policy);
    }

    /// Returns the departure time of each submitted job in the policy's time, or NaN.
    pub fn ends(&self) -> &[f64] {
        &self.ends
    }

    /// Returns a copy of the current policy.
    pub fn policy(&self) -> Box<dyn Policy> {
        self.server.policy()
    }

    /// Returns the present jobs: index in the scene, start time if running, and servers in a fleet.
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

    /// Starts when the first jobs of the scene are `present`, with the start time and the servers
    /// (empty if the system should choose them) of running jobs. Others use the `occupied` units of
    /// servers. Times are in the time of the policy.
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

    /// Runs until the jobs with these indices have started or the time is `until`. Returns their
    /// start times in the time of the policy, or infinity. Fails if a decision is not feasible.
    pub fn starts(&mut self, jobs: &[usize], until: f64) -> Result<Vec<f64>, ReplayError> {
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

    fn with_present(
        scene: &'a DecisionState<'a>,
        system: System,
        policy: Box<dyn Policy>,
        present: usize,
    ) -> Self {
        let mut service = Streams::new(scene.seed, 0).service;
        let decides_on_state = policy.decides_on_state();
        let no_ends = Some(CompletionTimes::default());
        let server = match present {
            0 => Server::new(system, policy, no_ends, &mut service),
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

    fn audit(&mut self) -> Result<u64, ReplayError> {
        self.server.settle();
        let system = &self.server.system;
        let violation = system.violation().cloned().map(Failure::from);
        violation.map_or_else(|| Ok(system.jobs()), |why| Err(why.into()))
    }

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
        if self.server.rates()[1] > 0.0 {
            self.step_with_clocks(end, arrival);
            return true;
        }
        if until == f64::INFINITY {
            return false;
        }
        let is_end = end <= arrival;
        if self.decides_on_state {
            self.instant(until, is_end)
        } else if let Some(event) = self.happen(until, is_end) {
            self.server.react(event);
        }
        true
    }

    fn step_with_clocks(&mut self, end: f64, arrival: f64) {
        let is_end = end <= arrival;
        let bound = if is_end { f64::INFINITY } else { arrival };
        let (now, due) = self.server.next_event(bound);
        if let Some(due) = due.filter(|due| !matches!(due, PendingEvent::End)) {
            self.server.happen(now, due, &mut self.service);
            self.events += 1;
            self.rings += 1;
        } else if let Some(event) = self.happen(now, due.is_some()) {
            self.server.react(event);
        }
    }

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

    #[inline(always)]
    fn arrival(&self) -> f64 {
        let next = self.scene.jobs.get(self.next);
        next.map_or(f64::INFINITY, |job| self.scene.clock.submit(job.submit))
    }

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
