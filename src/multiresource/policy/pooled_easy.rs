use super::estimated::covers;
use super::estimates::Estimates;
use super::shortest::Shortest;
use super::{Event, Hosts, Job, Policy, System};
use crate::multiresource::artifact::Placement;
use crate::multiresource::workload::Fleet;

/// EASY backfilling over all servers of a fleet, whose jobs wait in one place: first come, first served, until
/// the head of the queue fits nowhere. One server is then kept for it, that where by the estimates it fits
/// first. Others start, oldest first, on the other servers, and on the kept one if they end before the head
/// starts or take only what it leaves over there, as in [`EasyBackfill`](super::EasyBackfill).
///
/// Of the servers with room the one with the least is taken. The kept server is looked for among all, O(N), where
/// another job has become the head; then only a server where a job has ended can be a better one.
#[derive(Clone, Debug)]
pub struct PooledEasy {
    estimates: Estimates,
    /// Waiting jobs, by type.
    queues: Vec<Shortest>,
    /// By server: estimated end, number and type of its running jobs, by estimated end.
    running: Vec<Vec<(f64, u64, usize)>>,
    reserved: Option<Reserved>,
    /// What the head leaves over on its server, of each resource.
    extra: Vec<u64>,
    /// The same where it might be kept instead.
    other: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Reserved {
    /// The head of the queue, which waits for room.
    job_type: usize,
    number: u64,
    server: usize,
    /// When the server has room for it, by the estimates.
    shadow: f64,
}

impl PooledEasy {
    /// The rule that takes each job to be as long as its type's mean; one that is overdue may end at any moment.
    pub fn by_mean(fleet: &Fleet) -> Self {
        PooledEasy::estimating(fleet, Estimates::by_mean(fleet.envelope()))
    }

    /// The rule that knows [what is known](crate::multiresource::workload::Known) of jobs: their limits, or
    /// sizes; where nothing is said, sizes.
    pub fn by_what_is_known(fleet: &Fleet) -> Self {
        PooledEasy::estimating(
            fleet,
            match fleet.envelope().has_limits() {
                true => Estimates::Limits,
                false => Estimates::Inflated(1.0),
            },
        )
    }

    fn estimating(fleet: &Fleet, estimates: Estimates) -> Self {
        let resources = fleet.envelope().resources().len();
        PooledEasy {
            estimates,
            queues: vec![Shortest::default(); fleet.types().len()],
            running: vec![Vec::new(); fleet.servers()],
            reserved: None,
            extra: vec![0; resources],
            other: vec![0; resources],
        }
    }

    /// Starts the oldest job of type i whose estimate is within the limit, on server n.
    fn start(&mut self, i: usize, limit: f64, n: usize, system: &mut System) -> f64 {
        let oldest = self.queues[i].oldest_within(limit);
        let (place, job, estimate) = oldest.expect("a job within the limit waits");
        self.queues[i].remove(place);
        system.start_job_on(i, job, n);
        self.keep(i, job, n, system.now() + estimate);
        estimate
    }

    fn keep(&mut self, i: usize, job: Job, n: usize, end: f64) {
        let running = &mut self.running[n];
        let place = running.partition_point(|(other, ..)| *other <= end);
        running.insert(place, (end, job.number, i));
    }

    /// Starts what may start, oldest first.
    fn go_on(&mut self, system: &mut System) {
        while let Some(head) = system.oldest_type() {
            let Some(n) = self.room_for_head(head, system) else {
                self.reserve(head, system);
                self.backfill(system);
                return;
            };
            self.release(system);
            self.start(head, f64::MAX, n, system);
        }
        self.release(system);
    }

    /// Where the head starts now.
    fn room_for_head(&self, head: usize, system: &System) -> Option<usize> {
        let hosts = system.hosts()?;
        let kept = self.reserved.filter(|kept| kept.job_type == head);
        let kept = kept.map(|kept| kept.server);
        let on_kept = kept.filter(|n| hosts.fits_on(head, *n));
        on_kept.or_else(|| hosts.place(head, |_| true))
    }

    fn release(&mut self, system: &mut System) {
        if let Some(kept) = self.reserved.take() {
            system.lock(kept.server, false);
        }
    }

    /// Keeps a server for the head, unless one is kept for it; or a better one, where a job has ended.
    fn reserve(&mut self, head: usize, system: &mut System) {
        let (Some(hosts), Some(number)) = (system.hosts(), system.nth_number(head, 0)) else {
            return;
        };
        let kept = self.reserved.filter(|kept| kept.number == number);
        let candidates = match kept {
            Some(kept) => vec![kept.server, hosts.freed()],
            None => (0..hosts.count()).collect(),
        };
        let mut best: Option<(f64, usize)> = None;
        for n in candidates {
            let from = self.room_from(head, n, system);
            if from.is_finite() && best.is_none_or(|(least, _)| from < least) {
                best = Some((from, n));
                std::mem::swap(&mut self.extra, &mut self.other);
            }
        }
        self.release(system);
        if let Some((shadow, server)) = best {
            self.reserved = Some(Reserved {
                job_type: head,
                number,
                server,
                shadow,
            });
            system.lock(server, true);
        }
    }

    /// When server n has room for one more job of type i, by the estimates; what is left over then.
    fn room_from(&mut self, i: usize, n: usize, system: &System) -> f64 {
        let Some(hosts) = system.hosts() else {
            return f64::INFINITY;
        };
        let demand = system.demand(i);
        for (j, free) in self.other.iter_mut().enumerate() {
            *free = hosts.free_on(n, j);
        }
        let mut from = f64::INFINITY;
        for (end, _, job_type) in &self.running[n] {
            if *end > from {
                break;
            }
            let freed = self.other.iter_mut().zip(system.demand(*job_type));
            freed.for_each(|(free, d)| *free += d);
            if from.is_infinite() && covers(&self.other, demand) {
                from = *end;
            }
        }
        if from.is_finite() {
            let left = self.other.iter_mut().zip(demand);
            left.for_each(|(free, d)| *free -= d);
        }
        from.max(system.now())
    }

    /// What may pass the head: elsewhere, and on its server.
    fn backfill(&mut self, system: &mut System) {
        while let Some(i) = system.oldest_fitting_type() {
            let Some(n) = system.hosts().and_then(|hosts| hosts.place(i, |_| true)) else {
                return;
            };
            self.start(i, f64::MAX, n, system);
        }
        while let Some(kept) = self.reserved
            && let Some((i, limit)) = self.next_on_kept(&kept, system)
        {
            let estimate = self.start(i, limit, kept.server, system);
            if estimate > kept.shadow - system.now() {
                let taken = self.extra.iter_mut().zip(system.demand(i));
                taken.for_each(|(extra, d)| *extra -= d);
            }
        }
    }

    /// The type of the oldest job that may start on the kept server, and how long it may take.
    fn next_on_kept(&self, kept: &Reserved, system: &System) -> Option<(usize, f64)> {
        let hosts = system.hosts()?;
        let fitting = system.queued().filter(|i| hosts.fits_on(*i, kept.server));
        let jobs = fitting.filter_map(|i| {
            let limit = match covers(&self.extra, system.demand(i)) {
                true => f64::MAX,
                false => kept.shadow - system.now(),
            };
            let (_, job, _) = self.queues[i].oldest_within(limit)?;
            Some((job.number, i, limit))
        });
        let oldest = jobs.min_by_key(|(number, ..)| *number);
        oldest.map(|(_, i, limit)| (i, limit))
    }
}

impl Policy for PooledEasy {
    fn needs_sizes(&self) -> bool {
        self.estimates.need_sizes()
    }

    fn needs_limits(&self) -> bool {
        self.estimates.need_limits()
    }

    fn begin(&mut self, system: &mut System) {
        system.place_by(Placement::Best);
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => {
                let job = system.youngest(i).expect("the job that has come waits");
                self.queues[i].push(job, self.estimates.of(job, i, system));
                match self.reserved {
                    None => self.go_on(system),
                    Some(_) => self.backfill(system),
                }
            }
            Event::Completion(_) => {
                let (n, number) = (system.hosts().map_or(0, Hosts::freed), system.ended());
                self.running[n].retain(|(_, other, _)| *other != number);
                self.go_on(system);
            }
            Event::Clock(_) => {}
        }
    }

    fn let_go(&mut self, system: &mut System) {
        self.release(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.begin(system);
        self.running.iter_mut().for_each(Vec::clear);
        for i in 0..self.queues.len() {
            self.queues[i] = Shortest::default();
            for job in system.waiting_jobs(i) {
                self.queues[i].push(job, self.estimates.of(job, i, system));
            }
            for job in system.running_jobs(i) {
                if let Some(n) = system.server_of(job) {
                    self.keep(i, job, n, system.now() + self.estimates.of(job, i, system));
                }
            }
        }
        self.go_on(system);
    }
}
