use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::unsuitable::{fills, one_resource};
use super::{Event, FamilyRule, Job, Policy, System, Unsuitable};
use crate::multiresource::artifact::ServerFillingSrptPolicy;
use crate::multiresource::workload::Workload;

/// ServerFilling-SRPT: of the shortest prefix of the jobs, in ascending order of need × remaining
/// size, that needs all k servers together, the jobs in descending need, each that fits; of equals
/// the one with the least remaining size. Preempts, and knows sizes.
///
/// Source: Grosof, Scully, Harchol-Balter, Scheller-Wolf, "Optimal scheduling in the multiserver-job
/// model under heavy traffic", POMACS 6(3), 2022. Where k and all needs are powers of two (times
/// one unit) it fills the server and has the least mean response time in heavy traffic. With other
/// needs as [`ServerFilling`](super::ServerFilling).
///
/// A job's rank, need × remaining size, falls while it runs and is constant while it waits. So a job
/// behind the prefix comes into it only when others leave, and is kept in a heap until then. O(k
/// log k) a decision, for the ranks of the prefix, and O(log n) for each job in or out.
#[derive(Clone, Debug)]
pub struct ServerFillingSrpt {
    servers: u64,
    /// By type.
    needs: Vec<u64>,
    prefix: Vec<Ranked>,
    /// The other jobs: rank as bits, which order doubles ≥ 0, number, and place in `others`.
    heap: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// The jobs in the heap, and vacant places.
    others: Vec<Ranked>,
    vacant: Vec<usize>,
}

/// A job, and its rank when it was last looked at.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    job_type: usize,
    job: Job,
    rank: f64,
    runs: bool,
    /// Whether it shall run.
    chosen: bool,
}

impl ServerFillingSrpt {
    /// The rule for this workload.
    ///
    /// # Errors
    /// With more than one resource.
    pub fn new(workload: &Workload) -> Result<Self, Unsuitable> {
        let (servers, needs) = one_resource(workload)?;
        Ok(ServerFillingSrpt {
            servers,
            needs,
            prefix: Vec::new(),
            heap: BinaryHeap::new(),
            others: Vec::new(),
            vacant: Vec::new(),
        })
    }

    fn rank(&self, job_type: usize, job: Job, system: &System) -> f64 {
        self.needs[job_type] as f64 * system.work_left(job)
    }

    /// Servers that the prefix needs.
    fn needed(&self) -> u64 {
        self.prefix.iter().map(|own| self.needs[own.job_type]).sum()
    }

    /// The youngest job of a type has just come: it belongs to the prefix, or waits behind it.
    fn arrival(&mut self, job_type: usize, system: &System) {
        let job = system
            .youngest(job_type)
            .expect("the job that has come waits");
        let own = Ranked {
            job_type,
            job,
            rank: self.rank(job_type, job, system),
            runs: false,
            chosen: false,
        };
        let is_before = |other: &Ranked| own.rank < self.rank(other.job_type, other.job, system);
        if self.needed() < self.servers || self.prefix.iter().any(is_before) {
            self.prefix.push(own);
        } else {
            self.put_off(own);
        }
    }

    fn put_off(&mut self, own: Ranked) {
        let place = match self.vacant.pop() {
            Some(place) => {
                self.others[place] = own;
                place
            }
            None => {
                self.others.push(own);
                self.others.len() - 1
            }
        };
        let entry = (own.rank.to_bits(), own.job.number, place);
        self.heap.push(Reverse(entry));
    }

    /// Takes in jobs until they need all servers; then removes those that are not needed for that.
    fn bound(&mut self, system: &mut System) {
        while self.needed() < self.servers
            && let Some(Reverse((_, _, place))) = self.heap.pop()
        {
            self.prefix.push(self.others[place]);
            self.vacant.push(place);
        }
        for place in 0..self.prefix.len() {
            let Ranked { job_type, job, .. } = self.prefix[place];
            self.prefix[place].rank = self.rank(job_type, job, system);
        }
        let order = |own: &Ranked| (own.rank.to_bits(), own.job.number);
        self.prefix.sort_unstable_by_key(order);
        while let Some(last) = self.prefix.last().copied()
            && self.needed() - self.needs[last.job_type] >= self.servers
        {
            self.prefix.pop();
            if last.runs {
                system.stop_job(last.job_type, last.job);
            }
            self.put_off(Ranked {
                runs: false,
                ..last
            });
        }
    }

    /// Descending need, then ascending rank, while there is room. Stops, then starts.
    fn serve(&mut self, system: &mut System) {
        let needs = &self.needs;
        let order = |own: &Ranked| {
            (
                Reverse(needs[own.job_type]),
                own.rank.to_bits(),
                own.job.number,
            )
        };
        self.prefix.sort_unstable_by_key(order);
        let mut free = system.left(0);
        for own in &mut self.prefix {
            own.chosen = needs[own.job_type] <= free;
            free -= if own.chosen { needs[own.job_type] } else { 0 };
        }
        for own in self.prefix.iter().filter(|own| own.runs && !own.chosen) {
            system.stop_job(own.job_type, own.job);
        }
        for own in &mut self.prefix {
            if own.chosen && !own.runs {
                system.start_job(own.job_type, own.job);
            }
            own.runs = own.chosen;
        }
    }
}

impl Policy for ServerFillingSrpt {
    fn preempts(&self) -> bool {
        true
    }

    fn needs_sizes(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => self.arrival(i, system),
            Event::Completion(_) => {
                let ended = system.ended();
                self.prefix.retain(|own| own.job.number != ended);
            }
            Event::Clock(_) => return,
        }
        self.bound(system);
        self.serve(system);
    }

    /// From the beginning: nothing runs.
    fn take_over(&mut self, system: &mut System) {
        system.stop_all();
        self.prefix.clear();
        self.heap.clear();
        self.others.clear();
        self.vacant.clear();
        for job_type in 0..self.needs.len() {
            for job in system.waiting_jobs(job_type) {
                let rank = self.rank(job_type, job, system);
                self.put_off(Ranked {
                    job_type,
                    job,
                    rank,
                    runs: false,
                    chosen: false,
                });
            }
        }
        self.bound(system);
        self.serve(system);
    }
}

impl FamilyRule for ServerFillingSrptPolicy {
    type Rule = ServerFillingSrpt;

    fn rule(&self, workload: &Workload) -> ServerFillingSrpt {
        ServerFillingSrpt::new(workload).expect("the policy was checked: there is one resource")
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        fills(workload)
    }

    fn work(&self, workload: &Workload) -> f64 {
        workload.resources()[0].units() as f64 / 20.0
    }

    fn words(&self, _: &Workload) -> String {
        "ServerFilling-SRPT, with preemption, by sizes: of the jobs with the least need times remaining size that need all servers together, those that need most run, each that fits.".into()
    }
}
