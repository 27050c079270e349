//! What policy files have of a partition.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each server of a fleet works on a schedule that it keeps, or is led from one to the next: type i has
/// so many slots in all, and its jobs wait for one of them. Where an assignment is left, servers with another schedule
/// in the next one start nothing until they are empty; where jobs take several servers at once, all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionConfig {
    /// For each shape (H): the schedules of its servers (N_h × K), over all types of the fleet.
    pub schedules: Vec<Vec<Vec<u32>>>,
    /// The assignments of the loop (M ≥ 1): for each shape how many servers work on each of its schedules,
    /// in their order (M × H × N_h).
    pub assignments: Vec<Vec<Vec<u32>>>,
    /// The fraction of working time of each assignment (M): positive, of sum 1.
    pub weights: Vec<f64>,
    /// α \[1/time\]: assignment m is left at rate α / (M w_m); none where there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switching_rate: Option<f64>,
}

impl PartitionConfig {
    /// Returns for each server (N), shape by shape, its shape and the place among its schedules of the one that it works
    /// on in assignment m.
    pub fn places(&self, m: usize) -> Vec<(usize, usize)> {
        let shapes = self.assignments[m].iter().enumerate();
        let each = shapes.flat_map(|(h, servers)| servers.iter().enumerate().map(move |s| (h, s)));
        each.flat_map(|(h, (s, count))| std::iter::repeat_n((h, s), *count as usize))
            .collect()
    }

    /// Returns the slots of each type (K) in assignment m.
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

    /// Of types whose jobs take so many servers at once (K), the jobs that may run together in assignment m: where
    /// they take one, as many as there are slots, else as many as have slots on servers of their own each.
    pub fn jobs(&self, m: usize, nodes: &[u32]) -> Vec<u64> {
        let mut jobs = self.slots(m);
        for (i, jobs) in jobs.iter_mut().enumerate() {
            if nodes[i] > 1 {
                *jobs = self.gangs(m, i, nodes[i].into());
            }
        }
        jobs
    }

    /// Returns the most G with `Σ_n min(p_n, G) ≥ g G`, p_n being the slots of the type on server n: then the slots of the
    /// servers, one server after the other, can be dealt to G jobs in turn.
    fn gangs(&self, m: usize, i: usize, nodes: u64) -> u64 {
        let shapes = self.schedules.iter().zip(&self.assignments[m]);
        let servers = shapes.flat_map(|(schedules, counts)| schedules.iter().zip(counts));
        let servers: Vec<(u64, u64)> = servers
            .map(|(schedule, count)| (u64::from(schedule[i]), u64::from(*count)))
            .collect();
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

    /// For each of the jobs of type i that may run together in assignment m, on which servers.
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

    /// Returns the rate \[1/time\] at which assignment m is left; 0 where there is no other.
    pub fn leaving_rate(&self, m: usize) -> f64 {
        let rate = self.switching_rate.unwrap_or(0.0);
        rate / (self.assignments.len() as f64 * self.weights[m])
    }
}
