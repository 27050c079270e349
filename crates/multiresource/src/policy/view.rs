//! Read access of a policy to its [`System`].

use super::hosts::{Hosts, Placement, Zone};
use super::jobs::WAITING;
use super::{Job, System};

impl System {
    /// Returns the current time.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Returns K, the number of job types.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// Returns the number of waiting jobs of type `i`.
    pub fn waiting(&self, i: usize) -> u32 {
        self.types[i].waiting.len() as u32
    }

    /// Returns the number of running jobs of type `i`.
    pub fn running(&self, i: usize) -> u32 {
        self.types[i].running
    }

    /// Returns the number of type-i slots that hold capacity without a job: setups in progress.
    pub fn held(&self, i: usize) -> u32 {
        self.types[i].held
    }

    /// Returns the number of jobs of type `i` in the system.
    pub fn present(&self, i: usize) -> u64 {
        let own = &self.types[i];
        own.waiting.len() as u64 + u64::from(own.running)
    }

    /// Returns an iterator over the types that have waiting jobs, in type order.
    pub fn queued(&self) -> impl Iterator<Item = usize> + '_ {
        self.queued.types.ones()
    }

    /// Returns the type of the oldest waiting job.
    pub fn oldest_type(&self) -> Option<usize> {
        self.queued.oldest()
    }

    /// Returns the type of the oldest waiting job that fits.
    #[inline]
    pub fn oldest_fitting_type(&self) -> Option<usize> {
        match &self.hosts {
            None => self.queued.oldest_fitting(&self.server),
            Some(hosts) => self.queued.oldest_of(|i| hosts.fits(i)),
        }
    }

    /// Returns the oldest waiting job of type `i`.
    pub fn oldest(&self, i: usize) -> Option<Job> {
        self.nth_waiting(i, 0)
    }

    /// Returns an iterator over the waiting jobs of type `i`, in the order of arrival.
    pub fn waiting_jobs(&self, i: usize) -> impl ExactSizeIterator<Item = Job> + '_ {
        let waiting = self.types[i].waiting.iter();
        waiting.map(|ticket| self.job(ticket.slot()))
    }

    /// Returns an iterator over the running jobs of type `i`, in no particular order.
    pub fn running_jobs(&self, i: usize) -> impl Iterator<Item = Job> + '_ {
        let alike = self.pools.alike(i).iter();
        let own = alike.filter(move |slot| self.entries[**slot as usize].job_type as usize == i);
        own.map(|slot| self.job(*slot))
    }

    /// Returns the youngest running job of type `i`.
    pub fn youngest_running(&self, i: usize) -> Option<Job> {
        // This only compares numbers, because the loop is hot in preemptive rules.
        let mut youngest: Option<(u64, u32)> = None;
        for &slot in self.pools.alike(i) {
            let entry = &self.entries[slot as usize];
            let is_own = entry.job_type as usize == i;
            if is_own && youngest.is_none_or(|(number, _)| entry.number > number) {
                youngest = Some((entry.number, slot));
            }
        }
        youngest.map(|(_, slot)| self.job(slot))
    }

    /// Returns the remaining work \[time\], NaN for rules without
    /// [sizes](super::Policy::information).
    pub fn work_left(&self, job: Job) -> f64 {
        let entry = &self.entries[job.slot as usize];
        match entry.place {
            WAITING => entry.work,
            _ => (entry.work - self.now).max(0.0),
        }
    }

    /// Returns a limit of the remaining run time, after the start of a waiting job, or infinity.
    /// Only for rules that [use limits](super::Policy::information) and do not preempt jobs.
    pub fn limit_left(&self, job: Job) -> f64 {
        (self.limit_of(job) - self.ran(job)).max(0.0)
    }

    /// Returns the number of the job that ended last.
    pub fn ended(&self) -> u64 {
        self.ended.0.number
    }

    /// Returns the hash of the user name of a job, or 0 if the user is unknown.
    pub fn user(&self, job: Job) -> u32 {
        let user = self.users.get(job.slot as usize);
        user.copied().unwrap_or(0)
    }

    /// Returns the limit that a job had when it arrived \[time\], or infinity if it is unknown.
    pub fn limit_of(&self, job: Job) -> f64 {
        let limit = self.limits.get(job.slot as usize);
        limit.copied().unwrap_or(f64::INFINITY)
    }

    /// Returns the run time of a job since it last started \[time\].
    pub fn ran(&self, job: Job) -> f64 {
        let entry = &self.entries[job.slot as usize];
        match entry.place {
            WAITING => 0.0,
            _ => self.now - entry.started,
        }
    }

    pub(super) fn fleet(&self) -> &Hosts {
        self.hosts.as_ref().expect("the rule is for a fleet")
    }

    pub(super) fn set_placement(&mut self, placement: Placement) {
        if let Some(hosts) = &mut self.hosts {
            hosts.set_placement(placement);
        }
    }

    pub(super) fn keep_zone(&mut self, zone: Option<&Zone>) {
        if let Some(hosts) = &mut self.hosts {
            hosts.keep_zone(zone);
        }
    }

    /// If `locked` is `true`, only [`System::start_on`] can start jobs on server `n` of a fleet.
    pub fn lock(&mut self, n: usize, locked: bool) {
        if let Some(hosts) = &mut self.hosts {
            hosts.lock(n, locked);
        }
    }

    /// Returns the servers of a fleet that are used by this job, empty if the job is waiting.
    pub fn servers_of(&self, job: Job) -> &[usize] {
        let runs = self.entries[job.slot as usize].place != WAITING;
        let hosts = self.hosts.as_ref().filter(|_| runs);
        hosts.map_or(&[], |hosts| &hosts.of_slot[job.slot as usize])
    }

    /// Returns the servers of a running job: `[0]` if there is only one server.
    pub fn places_of(&self, job: Job) -> &[usize] {
        match &self.hosts {
            None => &[0],
            Some(hosts) => &hosts.of_slot[job.slot as usize],
        }
    }

    /// Returns the number of servers that a job of type `i` needs at the same time.
    pub fn nodes(&self, i: usize) -> usize {
        self.hosts.as_ref().map_or(1, |hosts| hosts.nodes(i))
    }

    /// Returns the servers of the last job that has ended.
    pub fn freed(&self) -> &[usize] {
        self.hosts.as_ref().map_or(&[0], |hosts| &hosts.freed)
    }

    /// Returns whether a job of type `i`, or a task of one, fits on server `n`.
    #[inline]
    pub fn fits_on(&self, i: usize, n: usize) -> bool {
        match &self.hosts {
            None => self.server.fits(i),
            Some(hosts) => hosts.fits_on(i, n),
        }
    }

    /// Returns the free units of resource `j` on server `n`.
    pub fn free_on(&self, n: usize, j: usize) -> u64 {
        match &self.hosts {
            None => self.server.free(j),
            Some(hosts) => hosts.free_on(n, j),
        }
    }

    pub(super) fn any_server(&self, i: usize, mut is_last: impl FnMut(usize) -> bool) -> bool {
        match &self.hosts {
            None => self.server.fits(i) && is_last(0),
            Some(hosts) => hosts.any(i, is_last),
        }
    }

    pub(super) fn find_servers(&self, i: usize, team: &mut Vec<usize>) -> bool {
        let nodes = self.nodes(i);
        team.clear();
        self.any_server(i, |n| {
            team.push(n);
            team.len() == nodes
        })
    }

    /// Returns the capacity of each resource in whole units; in a fleet, its maximum over servers.
    pub fn capacity(&self) -> &[u64] {
        self.packing.capacity()
    }

    /// Returns the free units of resource `j` on the only server.
    pub fn free(&self, j: usize) -> u64 {
        self.free_on(0, j)
    }

    /// Returns the free units of resource `j` on all servers.
    pub fn total_free(&self, j: usize) -> f64 {
        match &self.hosts {
            None => self.server.free(j) as f64,
            Some(hosts) => hosts.free[j] as f64,
        }
    }

    /// Returns the demand of type `i` in the units of [`System::capacity`].
    pub fn demand(&self, i: usize) -> &[u64] {
        self.packing.demand(i)
    }

    /// Returns whether one more job of type `i` fits; in a fleet, on some server.
    #[inline]
    pub fn fits(&self, i: usize) -> bool {
        match &self.hosts {
            None => self.server.fits(i),
            Some(hosts) => hosts.fits(i),
        }
    }

    pub(super) fn nth_waiting(&self, i: usize, n: usize) -> Option<Job> {
        let ticket = self.types[i].waiting.get(n)?;
        Some(self.job(ticket.slot()))
    }

    pub(super) fn nth_number(&self, i: usize, n: usize) -> Option<u64> {
        self.types[i].waiting.get(n).map(|ticket| ticket.number())
    }

    /// Returns the waiting job of type `i` that was the last to arrive, in `O(1)`.
    pub fn youngest(&self, i: usize) -> Option<Job> {
        let ticket = self.types[i].waiting.back()?;
        Some(self.job(ticket.slot()))
    }

    pub(super) fn job(&self, slot: u32) -> Job {
        let entry = &self.entries[slot as usize];
        Job {
            number: entry.number,
            arrived: entry.arrived,
            slot,
        }
    }
}
