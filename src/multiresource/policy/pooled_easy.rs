use super::estimates::{Estimates, Running, covers, reduce};
use super::shortest::Shortest;
use super::{Event, Hosts, Policy, System};
use crate::multiresource::artifact::{Placement, PooledEasyPolicy};
use crate::multiresource::workload::Fleet;

/// EASY backfilling over all servers of a fleet, whose jobs wait in one place: first come, first served, until
/// the head of the queue fits nowhere. One server is then kept for it, that where by the estimates it fits
/// first; or as many as it takes. Others start, oldest first, on the other servers, and those that take one server on
/// a kept one, too, if they end before the head starts or take only what it leaves over there, as in
/// [`EasyBackfill`](super::EasyBackfill).
///
/// Of the servers with room the one with the least is taken. The kept servers are looked for among all, O(N log N),
/// where another job has become the head; then only servers where a job has ended can be better ones.
#[derive(Clone, Debug)]
pub struct PooledEasy {
    estimates: Estimates,
    /// Waiting jobs, by type.
    queues: Vec<Shortest>,
    /// By server.
    running: Vec<Running>,
    reserved: Option<Reserved>,
    /// Where the next job starts.
    team: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Reserved {
    /// The head of the queue, which waits for room.
    job_type: usize,
    number: u64,
    servers: Vec<Kept>,
    /// When all of them have room for it, by the estimates.
    shadow: f64,
}

/// A server with room for the head from some time on.
#[derive(Clone, Debug)]
struct Kept {
    from: f64,
    server: usize,
    /// What the head leaves over there, of each resource.
    extra: Vec<u64>,
}

impl PooledEasy {
    /// The rule that takes each job to be as long as its type's mean, where one that is overdue may end at any moment; or
    /// that knows [what is known](crate::multiresource::workload::Known) of jobs: their limits, or sizes, and where
    /// nothing is said, sizes.
    pub fn new(policy: &PooledEasyPolicy, fleet: &Fleet) -> Self {
        let workload = fleet.envelope();
        PooledEasy {
            estimates: match policy.limits {
                false => Estimates::by_mean(workload),
                true if workload.has_limits() => Estimates::Limits,
                true => Estimates::Inflated(1.0),
            },
            queues: vec![Shortest::default(); fleet.types().len()],
            running: vec![Running::default(); fleet.servers()],
            reserved: None,
            team: Vec::new(),
        }
    }

    /// Starts the oldest job of type i whose estimate is within the limit, where `team` says: its estimate.
    fn start(&mut self, i: usize, limit: f64, system: &mut System) -> f64 {
        let oldest = self.queues[i].oldest_within(limit);
        let (place, job, estimate) = oldest.expect("a job within the limit waits");
        self.queues[i].remove(place);
        system.start_job_on(i, job, &self.team);
        let end = system.now() + estimate;
        for &n in &self.team {
            self.running[n].add(i, job, end);
        }
        estimate
    }

    /// Starts what may start, oldest first.
    fn go_on(&mut self, system: &mut System) {
        while let Some(head) = system.oldest_type() {
            if !self.has_room_for_head(head, system) {
                self.reserve(head, system);
                self.backfill(system);
                return;
            }
            self.release(system);
            self.start(head, f64::MAX, system);
        }
        self.release(system);
    }

    /// Whether the head may start now, and where: on servers that are kept for it first.
    fn has_room_for_head(&mut self, head: usize, system: &System) -> bool {
        let Some(hosts) = system.hosts() else {
            return false;
        };
        let kept = self.reserved.iter().filter(|kept| kept.job_type == head);
        let kept = kept.flat_map(|kept| kept.servers.iter().map(|own| own.server));
        let fitting: Vec<usize> = kept.filter(|n| hosts.fits_on(head, *n)).collect();
        let lacking = hosts.nodes(head).saturating_sub(fitting.len());
        self.team.clear();
        let mut more = 0;
        let enough = lacking == 0
            || hosts.any(head, |n| {
                self.team.push(n);
                more += 1;
                more == lacking
            });
        self.team.extend(fitting);
        enough
    }

    fn release(&mut self, system: &mut System) {
        let reserved = self.reserved.take().into_iter();
        for own in reserved.flat_map(|kept| kept.servers) {
            system.lock(own.server, false);
        }
    }

    /// Keeps servers for the head, unless they are kept for it; or better ones, where a job has ended.
    fn reserve(&mut self, head: usize, system: &mut System) {
        let (Some(hosts), Some(number)) = (system.hosts(), system.nth_number(head, 0)) else {
            return;
        };
        let kept = self.reserved.as_ref().filter(|kept| kept.number == number);
        let mut candidates: Vec<usize> = match kept {
            Some(kept) => {
                let own = kept.servers.iter().map(|own| own.server);
                own.chain(hosts.freed().iter().copied()).collect()
            }
            None => (0..hosts.count()).collect(),
        };
        candidates.sort_unstable();
        candidates.dedup();
        let rooms = candidates.iter().map(|n| self.room_from(head, *n, system));
        let mut servers: Vec<Kept> = rooms.flatten().collect();
        servers.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.server.cmp(&b.server)));
        servers.truncate(hosts.nodes(head));
        let enough = servers.len() == hosts.nodes(head);
        self.release(system);
        if let Some(last) = servers.last().filter(|_| enough) {
            servers.iter().for_each(|own| system.lock(own.server, true));
            self.reserved = Some(Reserved {
                job_type: head,
                number,
                shadow: last.from,
                servers,
            });
        }
    }

    /// When server n has room for one more job of type i, by the estimates, and what is left over then.
    fn room_from(&self, i: usize, n: usize, system: &System) -> Option<Kept> {
        let (hosts, demand) = (system.hosts()?, system.demand(i));
        let mut free: Vec<u64> = (0..demand.len()).map(|j| hosts.free_on(n, j)).collect();
        let from = self.running[n].room_for(i, &mut free, system);
        let left = free.iter_mut().zip(demand);
        left.for_each(|(free, d)| *free = free.saturating_sub(*d));
        from.is_finite().then(|| Kept {
            from: from.max(system.now()),
            server: n,
            extra: free,
        })
    }

    /// What may pass the head: elsewhere, and on its servers.
    fn backfill(&mut self, system: &mut System) {
        while let Some(i) = system.oldest_fitting_type() {
            let found = system
                .hosts()
                .is_some_and(|hosts| hosts.team(i, |_| true, &mut self.team));
            if !found {
                return;
            }
            self.start(i, f64::MAX, system);
        }
        while let Some((i, limit, k)) = self.next_on_kept(system) {
            let server = self.reserved.as_ref().map(|kept| kept.servers[k].server);
            self.team.clear();
            self.team.extend(server);
            let estimate = self.start(i, limit, system);
            if let Some(kept) = &mut self.reserved
                && estimate > kept.shadow - system.now()
            {
                reduce(&mut kept.servers[k].extra, system.demand(i));
            }
        }
    }

    /// The type of the oldest job that may start on a kept server, how long it may take, and which server.
    fn next_on_kept(&self, system: &System) -> Option<(usize, f64, usize)> {
        let (hosts, kept) = (system.hosts()?, self.reserved.as_ref()?);
        let servers = kept.servers.iter().enumerate();
        let jobs = servers.flat_map(|(k, own)| {
            let single = system.queued().filter(|i| hosts.nodes(*i) == 1);
            let fitting = single.filter(|i| hosts.fits_on(*i, own.server));
            fitting.filter_map(move |i| {
                let limit = if covers(&own.extra, system.demand(i)) {
                    f64::MAX
                } else {
                    kept.shadow - system.now()
                };
                let (_, job, _) = self.queues[i].oldest_within(limit)?;
                Some((job.number, i, limit, k))
            })
        });
        let oldest = jobs.min_by_key(|(number, .., k)| (*number, *k));
        oldest.map(|(_, i, limit, k)| (i, limit, k))
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
                let number = system.ended();
                for n in system.hosts().map_or(&[][..], Hosts::freed) {
                    self.running[*n].remove(number);
                }
                self.go_on(system);
            }
            Event::Clock(_) => {}
        }
    }

    fn let_go(&mut self, system: &mut System) {
        self.release(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.release(system);
        self.begin(system);
        self.running.fill(Running::default());
        for i in 0..self.queues.len() {
            self.queues[i] = Shortest::default();
            for job in system.waiting_jobs(i) {
                self.queues[i].push(job, self.estimates.of(job, i, system));
            }
            for job in system.running_jobs(i) {
                let end = system.now() + self.estimates.of(job, i, system);
                for n in system.servers_of(job) {
                    self.running[*n].add(i, job, end);
                }
            }
        }
        self.go_on(system);
    }
}
