//! What a policy sees of its [`System`].

use super::hosts::{Hosts, Placement, Zone};
use super::jobs::WAITING;
use super::{Job, System};

impl System {
    /// The time.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Number of job types K.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// Waiting jobs of type i.
    pub fn waiting(&self, i: usize) -> u32 {
        self.types[i].waiting.len() as u32
    }

    /// Running jobs of type i.
    pub fn running(&self, i: usize) -> u32 {
        self.types[i].running
    }

    /// Slots of type i that hold room and serve no job: setups in progress.
    pub fn held(&self, i: usize) -> u32 {
        self.types[i].held
    }

    /// Jobs of type i in the system.
    pub fn present(&self, i: usize) -> u64 {
        let own = &self.types[i];
        own.waiting.len() as u64 + u64::from(own.running)
    }

    /// The types with waiting jobs, in type order.
    pub fn queued(&self) -> impl Iterator<Item = usize> + '_ {
        self.queued.types.ones()
    }

    /// The type with the oldest waiting job of all.
    pub fn oldest_type(&self) -> Option<usize> {
        self.queued.oldest()
    }

    /// The type with the oldest waiting job of those that fit into the free room.
    #[inline]
    pub fn oldest_fitting_type(&self) -> Option<usize> {
        match &self.hosts {
            None => self.queued.oldest_fitting(&self.room),
            Some(hosts) => self.queued.oldest_of(|i| hosts.fits(i)),
        }
    }

    /// The oldest waiting job of type i.
    pub fn oldest(&self, i: usize) -> Option<Job> {
        let head = self.types[i].waiting.front()?;
        Some(self.job(head.slot()))
    }

    /// The waiting jobs of type i, in order of arrival.
    pub fn waiting_jobs(&self, i: usize) -> impl ExactSizeIterator<Item = Job> + '_ {
        let waiting = self.types[i].waiting.iter();
        waiting.map(|ticket| self.job(ticket.slot()))
    }

    /// The running jobs of type i, in no order.
    pub fn running_jobs(&self, i: usize) -> impl Iterator<Item = Job> + '_ {
        let alike = self.pools.alike(i).iter();
        let own = alike.filter(move |slot| self.entries[**slot as usize].job_type as usize == i);
        own.map(|slot| self.job(*slot))
    }

    /// The youngest running job of type i.
    pub fn youngest_running(&self, i: usize) -> Option<Job> {
        // A loop over numbers alone: in preemptive rules this is hot.
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

    /// Work \[time\] that a job in the system has left; NaN where sizes are not known: only for
    /// rules that say that they [know them](super::Policy::knows).
    pub fn work_left(&self, job: Job) -> f64 {
        let entry = &self.entries[job.slot as usize];
        match entry.place {
            WAITING => entry.work,
            _ => (entry.work - self.now).max(0.0),
        }
    }

    /// The time \[time\] that a job in the system takes at most from now on, or once it has started; infinity
    /// where no limit is known. Only for rules that say that they [know limits](super::Policy::knows),
    /// and that do not preempt.
    pub fn limit_left(&self, job: Job) -> f64 {
        (self.limit_of(job) - self.ran(job)).max(0.0)
    }

    /// The number of the job that ended last.
    pub fn ended(&self) -> u64 {
        self.ended.0.number
    }

    /// The job that ended last, and how long it ran since it last started \[time\]: before the next one comes its limit and its
    /// user are still known.
    pub fn last_ended(&self) -> (Job, f64) {
        self.ended
    }

    /// Who sent this job: a hash of a name; 0 where that is not known.
    pub fn user(&self, job: Job) -> u32 {
        let user = self.users.get(job.slot as usize);
        user.copied().unwrap_or(0)
    }

    /// The limit that this job came with \[time\]; infinity where none is known.
    pub fn limit_of(&self, job: Job) -> f64 {
        let limit = self.limits.get(job.slot as usize);
        limit.copied().unwrap_or(f64::INFINITY)
    }

    /// For how long this job has run since it last started \[time\].
    pub fn ran(&self, job: Job) -> f64 {
        let entry = &self.entries[job.slot as usize];
        match entry.place {
            WAITING => 0.0,
            _ => self.now - entry.started,
        }
    }

    /// The servers of the fleet, for rules that are for one.
    pub(super) fn fleet(&self) -> &Hosts {
        self.hosts.as_ref().expect("the rule is for a fleet")
    }

    /// Says which of the servers with room [`System::start`] takes.
    pub fn place_by(&mut self, placement: Placement) {
        if let Some(hosts) = &mut self.hosts {
            hosts.set_placement(placement);
        }
    }

    /// On the first servers of each shape of a fleet only some types start, or again all.
    pub fn keep_zone(&mut self, zone: Option<&Zone>) {
        if let Some(hosts) = &mut self.hosts {
            hosts.keep_zone(zone);
        }
    }

    /// Jobs start on server n of a fleet only by [`System::start_on`], or again wherever there is room.
    pub fn lock(&mut self, n: usize, locked: bool) {
        if let Some(hosts) = &mut self.hosts {
            hosts.lock(n, locked);
        }
    }

    /// The servers of a fleet where this job runs; none where it waits.
    pub fn servers_of(&self, job: Job) -> &[usize] {
        let runs = self.entries[job.slot as usize].place != WAITING;
        let hosts = self.hosts.as_ref().filter(|_| runs);
        hosts.map_or(&[], |hosts| hosts.of_slot(job.slot))
    }

    /// The servers where this running job is: of one server, 0.
    pub fn places_of(&self, job: Job) -> &[usize] {
        match &self.hosts {
            None => &[0],
            Some(hosts) => hosts.of_slot(job.slot),
        }
    }

    /// Servers that a job of type i takes at once.
    pub fn nodes(&self, i: usize) -> usize {
        self.hosts.as_ref().map_or(1, |hosts| hosts.nodes(i))
    }

    /// The servers where a job ended last.
    pub fn freed(&self) -> &[usize] {
        self.hosts.as_ref().map_or(&[0], Hosts::freed)
    }

    /// Whether one more job of type i, or a part of it, fits on server n.
    #[inline]
    pub fn fits_on(&self, i: usize, n: usize) -> bool {
        match &self.hosts {
            None => self.room.fits(i),
            Some(hosts) => hosts.fits_on(i, n),
        }
    }

    /// Free units of resource j on server n.
    pub fn free_on(&self, n: usize, j: usize) -> u64 {
        match &self.hosts {
            None => self.room.free(j),
            Some(hosts) => hosts.free_on(n, j),
        }
    }

    /// Whether one of the servers that are not locked and have room for type i is the last that is needed; these come
    /// by the placement.
    pub(super) fn any_server(&self, i: usize, mut is_last: impl FnMut(usize) -> bool) -> bool {
        match &self.hosts {
            None => self.room.fits(i) && is_last(0),
            Some(hosts) => hosts.any(i, is_last),
        }
    }

    /// Finds where the next job of type i may start, by the placement.
    pub(super) fn find_team(&self, i: usize, team: &mut Vec<usize>) -> bool {
        let nodes = self.nodes(i);
        team.clear();
        self.any_server(i, |n| {
            team.push(n);
            team.len() == nodes
        })
    }

    /// Capacity of each resource, in whole units; in a fleet the most that a server has.
    pub fn capacity(&self) -> &[u64] {
        self.packing.capacity()
    }

    /// Free units of resource j, of the one server that there is.
    pub fn free(&self, j: usize) -> u64 {
        self.free_on(0, j)
    }

    /// Free units of resource j, on all servers that there are.
    pub fn free_room(&self, j: usize) -> f64 {
        match &self.hosts {
            None => self.room.free(j) as f64,
            Some(hosts) => hosts.free(j),
        }
    }

    /// Demand of type i in the same units.
    pub fn demand(&self, i: usize) -> &[u64] {
        self.packing.demand(i)
    }

    /// Whether one more job of type i fits into the free room; in a fleet, on some server.
    #[inline]
    pub fn fits(&self, i: usize) -> bool {
        match &self.hosts {
            None => self.room.fits(i),
            Some(hosts) => hosts.fits(i),
        }
    }

    /// The waiting job of type i that `n` others of its type are older than. O(1).
    pub fn nth_waiting(&self, i: usize, n: usize) -> Option<Job> {
        let ticket = self.types[i].waiting.get(n)?;
        Some(self.job(ticket.slot()))
    }

    /// The number of the same job.
    pub(super) fn nth_number(&self, i: usize, n: usize) -> Option<u64> {
        self.types[i].waiting.get(n).map(|ticket| ticket.number())
    }

    /// The waiting job of type i that arrived last. O(1).
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
