use std::collections::HashSet;

use super::PartitionConfig;
use crate::policy::hosts::{Hosts, Openings};
use crate::policy::{Event, Policy, System};
use crate::workload::{Fleet, JobType};

/// Ends an assignment. Clock `1 + i` ends an empty type-i slot of a server that is changing.
const SWITCH: usize = 0;

/// Each server of a fleet has the slots of its schedule. A job starts in a free slot of its type.
///
/// If there are several assignments, a clock switches from one to the next. A server whose schedule
/// changes starts no jobs until all of its slots have ended, those without a job at the rate of a
/// job. All of these servers are then changed at the same time, so the number of slots of each type
/// is a Markov chain that does not depend on the arrivals. With Poisson arrivals and exponential
/// sizes, the queue of a type is positive recurrent if `λ_i E[S_i]` is less than the mean number of
/// its slots. Jobs of another rule, without a slot, leave after a finite mean time.
/// A job that needs several servers has its slots on a fixed set of servers. If there are any such
/// jobs, all servers are emptied for each switch.
/// A decision takes `O(K)`, and a switch takes `O(N K)`. This rule was created for this project.
/// Its chain is the same as the chain of a Markovian Service Rate policy (the MSR paper, §5.1).
#[derive(Clone, Debug)]
pub struct Partition {
    schedules: Vec<Vec<Vec<u32>>>,
    /// The index of the schedule of each server (assignments × servers).
    places: Vec<Vec<u32>>,
    leaving_rates: Vec<f64>,
    service_rates: Vec<f64>,
    position: usize,
    leaving: Vec<bool>,
    left: u64,
    phantoms: Vec<u64>,
    openings: Openings,
    gangs: Gangs,
}

#[derive(Clone, Debug, Default)]
struct Gangs {
    nodes: Vec<u32>,
    /// The servers of each job, for each assignment and type, if it needs several servers.
    teams: Vec<Vec<Vec<Vec<usize>>>>,
    free: Vec<Vec<Vec<usize>>>,
    running: HashSet<u64>,
}

impl Gangs {
    fn are(&self, i: usize) -> bool {
        self.nodes[i] > 1
    }

    fn are_any(&self) -> bool {
        self.nodes.iter().any(|nodes| *nodes > 1)
    }

    fn renew(&mut self, m: usize) {
        if self.are_any() {
            self.free.clone_from(&self.teams[m]);
            self.running.clear();
        }
    }

    fn recount(&mut self, m: usize, system: &System) {
        self.renew(m);
        for i in (0..self.nodes.len()).filter(|i| self.nodes[*i] > 1) {
            for job in system.running_jobs(i) {
                let servers = system.servers_of(job);
                let same = |team: &Vec<usize>| {
                    team.len() == servers.len() && team.iter().all(|n| servers.contains(n))
                };
                if let Some(place) = self.free[i].iter().position(same) {
                    self.free[i].swap_remove(place);
                    self.running.insert(job.number);
                }
            }
        }
    }

    fn find(&mut self, i: usize, hosts: &Hosts) -> Option<Vec<usize>> {
        let free = &mut self.free[i];
        let fit = |team: &Vec<usize>| team.iter().all(|n| hosts.fits_on(i, *n));
        let place = free.iter().rposition(fit)?;
        Some(free.swap_remove(place))
    }
}

impl Partition {
    pub(in crate::policy) fn new(policy: &PartitionConfig, fleet: &Fleet) -> Self {
        let assignments = 0..policy.assignments.len();
        let types = fleet.types();
        let teams = |m| {
            let of_type = |(i, job_type): (usize, &JobType)| match job_type.nodes() {
                1 => Vec::new(),
                nodes => policy.teams(m, i, nodes),
            };
            types.iter().enumerate().map(of_type).collect()
        };
        let places = |m| policy.places(m).iter().map(|(_, s)| *s as u32).collect();
        let rates = assignments.clone().map(|m| policy.leaving_rate(m));
        Partition {
            schedules: policy.schedules.clone(),
            places: assignments.clone().map(places).collect(),
            leaving_rates: rates.collect(),
            service_rates: types.iter().map(|t| t.service_rate()).collect(),
            position: 0,
            leaving: vec![false; fleet.servers()],
            left: 0,
            phantoms: vec![0; types.len()],
            openings: Openings::none_of(types.len(), fleet.servers()),
            gangs: Gangs {
                nodes: types.iter().map(|t| t.nodes()).collect(),
                teams: assignments.map(teams).collect(),
                ..Gangs::default()
            },
        }
    }

    fn next(&self) -> usize {
        (self.position + 1) % self.places.len()
    }

    fn schedule(&self, m: usize, n: usize, hosts: &Hosts) -> &[u32] {
        &self.schedules[hosts.shape(n)][self.places[m][n] as usize]
    }

    fn look(&mut self, n: usize, hosts: &Hosts) {
        let schedule = &self.schedules[hosts.shape(n)][self.places[self.position][n] as usize];
        let (running, leaving) = (hosts.running(n), self.leaving[n]);
        let gangs = &self.gangs;
        let may_start =
            |i: usize| !leaving && running[i] < schedule[i] && hosts.fits_on(i, n) && !gangs.are(i);
        self.openings.look(n, may_start);
    }

    fn start_all(&mut self, system: &mut System) {
        for i in 0..self.service_rates.len() {
            while system.waiting(i) > 0 && self.start(i, system) {}
        }
    }

    fn start(&mut self, i: usize, system: &mut System) -> bool {
        if self.gangs.are(i) {
            return self.start_gang(i, system);
        }
        let Some(n) = self.openings.open[i].first() else {
            return false;
        };
        system.start_on(i, &[n]);
        self.look(n, system.fleet());
        true
    }

    fn start_gang(&mut self, i: usize, system: &mut System) -> bool {
        // If a job needs several servers, all servers must be changed at the same time.
        let found = (!self.leaving[0]).then(|| self.gangs.find(i, system.fleet()));
        let (Some(team), Some(number)) = (found.flatten(), system.nth_number(i, 0)) else {
            return false;
        };
        system.start_on(i, &team);
        self.gangs.running.insert(number);
        // If it runs next to a job of another rule, it may use the capacity of other slots.
        team.iter().for_each(|n| self.look(*n, system.fleet()));
        true
    }

    fn depart(&mut self, system: &mut System) {
        system.set_clock(SWITCH, 0.0);
        system.count_switch();
        let hosts = system.fleet();
        let gangs = self.gangs.are_any();
        for n in 0..hosts.count() {
            let (here, there) = (self.position, self.next());
            if !gangs && self.places[here][n] == self.places[there][n] {
                continue;
            }
            self.leaving[n] = true;
            for (i, running) in hosts.running(n).iter().enumerate() {
                let slots = self.schedule(here, n, hosts)[i];
                self.left += u64::from(*running);
                if !self.gangs.are(i) {
                    self.phantoms[i] += u64::from(slots.saturating_sub(*running));
                }
            }
            self.look(n, hosts);
        }
        for (i, teams) in self.gangs.teams[self.position].iter().enumerate() {
            if self.gangs.are(i) {
                let running = u64::from(system.running(i));
                self.phantoms[i] = (teams.len() as u64).saturating_sub(running);
            }
        }
        (0..self.phantoms.len()).for_each(|i| self.set_phantom_clock(i, system));
        self.arrive_if_empty(system);
    }

    fn set_phantom_clock(&self, i: usize, system: &mut System) {
        system.set_clock(1 + i, self.phantoms[i] as f64 * self.service_rates[i]);
    }

    fn arrive_if_empty(&mut self, system: &mut System) {
        if self.left > 0 || self.phantoms.iter().any(|phantoms| *phantoms > 0) {
            return;
        }
        self.position = self.next();
        self.gangs.renew(self.position);
        for n in 0..self.leaving.len() {
            if std::mem::take(&mut self.leaving[n]) {
                self.look(n, system.fleet());
            }
        }
        system.set_clock(SWITCH, self.leaving_rates[self.position]);
        self.start_all(system);
    }
}

impl Policy for Partition {
    fn clocks(&self) -> usize {
        match self.places.len() {
            1 => 0,
            _ => 1 + self.service_rates.len(),
        }
    }

    fn begin(&mut self, system: &mut System) {
        self.position = 0;
        self.leaving.fill(false);
        self.left = 0;
        self.phantoms.fill(0);
        self.gangs.renew(0);
        (0..self.leaving.len()).for_each(|n| self.look(n, system.fleet()));
        if self.places.len() > 1 {
            system.set_clock(SWITCH, self.leaving_rates[0]);
        }
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => {
                if system.waiting(i) == 1 {
                    self.start(i, system);
                }
            }
            Event::Completion(i) => {
                let hosts = system.fleet();
                if self.gangs.running.remove(&system.ended()) {
                    self.gangs.free[i].push(hosts.freed.clone());
                }
                for &n in &hosts.freed {
                    if self.leaving[n] {
                        self.left -= 1
                    } else {
                        self.look(n, hosts)
                    }
                }
                if hosts.freed.iter().any(|n| self.leaving[*n]) {
                    self.arrive_if_empty(system)
                } else {
                    self.start_all(system)
                }
            }
            Event::Clock(SWITCH) => self.depart(system),
            Event::Clock(ended) => {
                let i = ended - 1;
                self.phantoms[i] -= 1;
                self.set_phantom_clock(i, system);
                self.arrive_if_empty(system);
            }
        }
    }

    fn take_over(&mut self, system: &mut System) {
        self.begin(system);
        self.start_all(system);
    }

    fn changed(&mut self, system: &mut System) {
        self.gangs.recount(self.position, system);
        let hosts = system.fleet();
        let leaving = (0..hosts.count()).filter(|n| self.leaving[*n]);
        let left = leaving.flat_map(|n| hosts.running(n)).copied();
        let is_leaving = self.leaving.contains(&true);
        self.left = left.map(u64::from).sum();
        (0..hosts.count()).for_each(|n| self.look(n, hosts));
        if is_leaving {
            self.arrive_if_empty(system);
        }
        self.start_all(system);
    }
}
