mod online;

pub use online::Partition;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Policy;
use super::rule::PolicyConfig;
use crate::schedule::Packing;
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::{Findings, positive};

/// A policy in which each server of a fleet has a schedule, and a job waits for a slot of its type.
/// If the assignment changes, a server with a different schedule does not start any jobs until it
/// is empty. If there are jobs that need several servers, this is true for all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionConfig {
    /// The schedules of the servers of each shape (H × N_h × K), for all types of the fleet.
    pub schedules: Vec<Vec<Vec<u32>>>,
    /// The number of servers of each shape with each schedule, for each assignment of the loop
    /// (M × H × N_h, with M ≥ 1).
    pub assignments: Vec<Vec<Vec<u32>>>,
    /// The fraction of the working time of each assignment (length M), which is positive. The sum
    /// is 1.
    pub weights: Vec<f64>,
    /// The switching rate `α` \[1/time\]. Assignment `m` is left at the rate `α / (M w_m)`. It is
    /// not set if there is only one assignment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switching_rate: Option<f64>,
}

impl PartitionConfig {
    /// Returns the shape and the schedule of each server (N), by shape, in assignment `m`.
    pub fn places(&self, m: usize) -> Vec<(usize, usize)> {
        let shapes = self.assignments[m].iter().enumerate();
        let each = shapes.flat_map(|(h, servers)| servers.iter().enumerate().map(move |s| (h, s)));
        each.flat_map(|(h, (s, count))| std::iter::repeat_n((h, s), *count as usize))
            .collect()
    }

    /// Returns the number of slots of each type (K) in assignment `m`.
    pub fn slots(&self, m: usize) -> Vec<u64> {
        let types = self.schedules.iter().flatten().map(Vec::len).next();
        let mut slots = vec![0; types.unwrap_or(0)];
        for (schedules, servers) in self.schedules.iter().zip(&self.assignments[m]) {
            for (schedule, count) in schedules.iter().zip(servers) {
                for (all, own) in slots.iter_mut().zip(schedule) {
                    *all += u64::from(*count) * u64::from(*own);
                }
            }
        }
        slots
    }

    /// Returns the number of jobs of each type (K) that can run at the same time in assignment `m`:
    /// the slots, or the sets of slots on different servers of a type that needs several (`nodes`).
    pub fn jobs(&self, m: usize, nodes: &[u32]) -> Vec<u64> {
        let mut jobs = self.slots(m);
        for (i, jobs) in jobs.iter_mut().enumerate() {
            if nodes[i] > 1 {
                *jobs = self.gangs(m, i, nodes[i].into());
            }
        }
        jobs
    }

    /// Returns the largest `G` for which `Σ_n min(p_n, G) ≥ g G`, where `g` is `nodes` and server
    /// `n` has `p_n` slots of type `i`. The slots by server can then be dealt to `G` jobs in turn.
    fn gangs(&self, m: usize, i: usize, nodes: u64) -> u64 {
        let shapes = self.schedules.iter().zip(&self.assignments[m]);
        let servers = shapes.flat_map(|(schedules, counts)| schedules.iter().zip(counts));
        let servers = servers.map(|(u, count)| (u64::from(u[i]), u64::from(*count)));
        let servers: Vec<(u64, u64)> = servers.collect();
        let dealt = |jobs: u64| -> u64 { servers.iter().map(|(p, n)| n * p.min(&jobs)).sum() };
        let (mut least, mut most) = (0, self.slots(m)[i] / nodes);
        while least < most {
            let jobs = (least + most).div_ceil(2);
            if dealt(jobs) >= nodes * jobs {
                least = jobs;
            } else {
                most = jobs - 1;
            }
        }
        least
    }

    /// Returns the servers of each job of type `i` that can run at the same time in assignment `m`.
    pub fn teams(&self, m: usize, i: usize, nodes: u32) -> Vec<Vec<usize>> {
        let jobs = self.gangs(m, i, nodes.into()) as usize;
        let mut teams = vec![Vec::new(); jobs];
        let servers = self.places(m).into_iter().enumerate();
        let slots = servers.flat_map(|(n, (h, s))| {
            let own = self.schedules[h][s][i] as usize;
            std::iter::repeat_n(n, own.min(jobs))
        });
        for (slot, n) in slots.enumerate() {
            let team = &mut teams[slot % jobs];
            if team.len() < nodes as usize {
                team.push(n);
            }
        }
        teams
    }

    /// Returns the rate \[1/time\] at which assignment `m` is left, 0 if it is the only one.
    pub fn leaving_rate(&self, m: usize) -> f64 {
        let rate = self.switching_rate.unwrap_or(0.0);
        rate / (self.assignments.len() as f64 * self.weights[m])
    }
}

impl PolicyConfig for PartitionConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Partition::new(self, fleet))
    }

    fn describe(&self, workload: &Workload) -> String {
        let types = workload.types().iter();
        let nodes: Vec<u32> = types.clone().map(|t| t.nodes()).collect();
        let each = types.zip(self.jobs(0, &nodes));
        let slots: Vec<String> = each.map(|(t, c)| format!("{c} of {}", t.name())).collect();
        let slots = slots.join(", ");
        match self.switching_rate {
            None => format!(
                "Partition, without preemption: each server always uses the same schedule, and a job waits in a common queue until there is a free slot of its type. Slots: {slots}."
            ),
            Some(rate) => format!(
                "Partition with {} assignments, without preemption: each server uses the same schedule until a clock (α = {rate:.3e} per {}) switches to the next assignment. If the schedule of a server changes, it does not start any jobs until it is empty. A job waits in a common queue until there is a free slot of its type. Initial slots: {slots}.",
                self.assignments.len(),
                workload.time_unit()
            ),
        }
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let (shapes, types, each) = (fleet.shapes(), fleet.types().len(), "server shape");
        let packing = Packing::new(fleet.envelope());
        findings.length("schedules", self.schedules.len(), shapes.len(), each);
        for (h, (schedules, shape)) in self.schedules.iter().zip(shapes).enumerate() {
            for (s, schedule) in schedules.iter().enumerate() {
                let path = format!("schedules[{h}][{s}]");
                findings.length(&path, schedule.len(), types, "job type");
                if schedule.len() == types && !packing.fits_in(schedule, &fleet.units(h)) {
                    let message = format!("does not fit on a server of shape `{}`", shape.name());
                    findings.add(path, message);
                }
            }
        }
        if self.assignments.is_empty() {
            findings.add("assignments", "no assignments, expected at least one");
        }
        for (m, servers) in self.assignments.iter().enumerate() {
            let path = format!("assignments[{m}]");
            findings.length(&path, servers.len(), shapes.len(), each);
            for (h, (counts, shape)) in servers.iter().zip(shapes).enumerate() {
                let path = format!("{path}[{h}]");
                let schedules = self.schedules.get(h).map_or(0, Vec::len);
                findings.length(&path, counts.len(), schedules, "schedule");
                let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
                if all != u64::from(shape.count()) {
                    findings.differs(path, format!("{all} servers in total"), shape.count());
                }
            }
        }
        let loops = self.assignments.len();
        findings.positive_shares("weights", &self.weights, loops, "assignment");
        match (self.switching_rate, loops > 1) {
            (Some(rate), true) => positive("switching_rate", rate, findings),
            (None, false) => {}
            (Some(_), false) => {
                let message = "expected none, because there is only one assignment";
                findings.add("switching_rate", message);
            }
            (None, true) => {
                let expected = "a rate, because there are several assignments";
                findings.differs("switching_rate", "absent", expected);
            }
        }
    }

    fn is_for_fleet(&self) -> bool {
        true
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.types().iter().all(JobType::is_memoryless) && workload.is_poisson()
    }
}
