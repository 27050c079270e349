use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Returns the index of the shape and the index of the schedule of each server (length N) in
    /// assignment `m`. The servers are sorted by shape.
    pub fn places(&self, m: usize) -> Vec<(usize, usize)> {
        let shapes = self.assignments[m].iter().enumerate();
        let each = shapes.flat_map(|(h, servers)| servers.iter().enumerate().map(move |s| (h, s)));
        each.flat_map(|(h, (s, count))| std::iter::repeat_n((h, s), *count as usize))
            .collect()
    }

    /// Returns the number of slots of each type (length K) in assignment `m`.
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

    /// Returns the number of jobs of each type (K) that can run at the same time in assignment `m`.
    /// If a job needs one server, this is the number of slots. If it needs several servers (see
    /// `nodes`), it is the number of disjoint sets of slots that are on different servers.
    pub fn jobs(&self, m: usize, nodes: &[u32]) -> Vec<u64> {
        let mut jobs = self.slots(m);
        for (i, jobs) in jobs.iter_mut().enumerate() {
            if nodes[i] > 1 {
                *jobs = self.gangs(m, i, nodes[i].into());
            }
        }
        jobs
    }

    /// Returns the largest `G` for which `Σ_n min(p_n, G) ≥ g G`, where `g` is `nodes` and `p_n` is
    /// the number of type-i slots of server `n`. The slots, sorted by server, can then be given to
    /// `G` jobs in turn.
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
