use std::collections::HashMap;

use super::plan::Plan;
use super::{SlurmPolicy, Waiting, set_of};
use fixedbitset::FixedBitSet;
use synth_multiresource::policy::System;

/// With `assoc_limit_stop`, the assumed start of a job at a limit whose nodes are free \[s\].
const UNKNOWN: f64 = 500.0;

#[derive(Default)]
struct Tested {
    all: u32,
    started: u32,
    counts: HashMap<[Option<u32>; 2], u32>,
    reserved: HashMap<u32, u32>,
}

impl SlurmPolicy {
    /// Starts jobs in order, in each partition until a job does not fit (`_schedule`). Returns
    /// `true` if jobs were started.
    pub(super) fn main(&mut self, whole_queue: bool, system: &mut System) -> bool {
        let (site, now) = (self.site.clone(), self.now(system));
        let scheduler = &site.scheduler;
        let mut open: Vec<bool> = self.members.iter().map(|own| !own.is_clear()).collect();
        let mut blocked = FixedBitSet::with_capacity(self.nodes.len());
        let mut tested = vec![0; open.len()];
        let depth = scheduler.default_queue_depth as usize + 1;
        let depth = if whole_queue { usize::MAX } else { depth };
        for place in 0..self.waiting.len().min(depth) {
            let own = self.waiting[place];
            let p = own.facts.partition as usize;
            if !open[p] {
                if open.iter().all(|open| !open) {
                    break;
                }
                continue;
            }
            tested[p] += 1;
            let most = scheduler.partition_job_depth;
            if most > 0 && tested[p] > most {
                continue;
            }
            let mut among = self.members[p].clone();
            among.difference_with(&blocked);
            // The limits on the number of jobs are checked before the free servers.
            let allowed = self.limits.allow(&[1.0], &own.facts);
            let servers = || self.nodes.servers_free_now(own.i, &among, system);
            let servers = allowed.then(servers).flatten();
            let allowed = allowed && (servers.is_none() || self.allows(&own));
            if !allowed && !scheduler.assoc_limit_stop {
                continue;
            }
            if let Some(servers) = servers.filter(|_| allowed) {
                self.start(place, &servers, system);
            } else if self.reserves(&own, now) {
                open[p] = false;
                blocked.union_with(&self.members[p]);
            }
        }
        let before = self.waiting.len();
        self.waiting.retain(|own| !own.has_started);
        self.waiting.len() < before
    }

    fn allows(&self, own: &Waiting) -> bool {
        self.limits.allow(&self.limits.types[own.i], &own.facts)
    }

    /// Returns `true` if other jobs must not overtake this job when it does not fit.
    fn reserves(&self, own: &Waiting, now: f64) -> bool {
        let scheduler = &self.site.scheduler;
        own.priority >= scheduler.bf_min_prio_reserve as f64
            && now - own.submit >= scheduler.bf_min_age_reserve
    }

    /// Plans the start of each job in order, and starts it if it can start now
    /// (`_attempt_backfill`). Returns `true` if jobs were started.
    pub(super) fn backfill(&mut self, system: &mut System) -> bool {
        let (site, now) = (self.site.clone(), self.now(system));
        let scheduler = &site.scheduler;
        let servers = self.nodes.len();
        let mut plan = Plan::new(now, scheduler.bf_window, scheduler.bf_resolution, servers);
        let mut tested = Tested::default();
        for place in 0..self.waiting.len() {
            let own = self.waiting[place];
            let most = scheduler.bf_max_job_start;
            if tested.all >= scheduler.bf_max_job_test || most > 0 && tested.started >= most {
                break;
            }
            let stops = scheduler.assoc_limit_stop;
            let allowed = stops || self.limits.allow(&[1.0], &own.facts);
            if !allowed || !self.is_tested(&own, &mut tested) {
                continue;
            }
            let reserved = tested.reserved.entry(own.facts.partition).or_default();
            let most = scheduler.bf_job_part_count_reserve;
            let reserves = self.reserves(&own, now) && (most == 0 || *reserved < most);
            tested.all += 1;
            let planned = self.planned(&own, now, reserves, &plan, system);
            let Some((mut start, chosen)) = planned else {
                continue;
            };
            if !self.allows(&own) {
                if !stops {
                    continue;
                }
                if start <= now {
                    start = now + UNKNOWN;
                }
            }
            if start <= now {
                self.start(place, &chosen, system);
                tested.started += 1;
            } else if reserves && start <= now + scheduler.bf_window {
                if plan.count >= scheduler.bf_max_job_test as usize {
                    break;
                }
                *reserved += 1;
                let chosen = set_of(servers, chosen);
                plan.reserve(start, start + own.limit, &chosen);
            }
        }
        self.waiting.retain(|own| !own.has_started);
        tested.started > 0
    }

    /// Returns `true` and counts the job if the limits on tests allow that it is tested.
    fn is_tested(&self, own: &Waiting, tested: &mut Tested) -> bool {
        let scheduler = &self.site.scheduler;
        let (user, partition) = (Some(own.facts.user), Some(own.facts.partition));
        let limits = [
            ([user, None], scheduler.bf_max_job_user),
            ([None, partition], scheduler.bf_max_job_part),
            ([user, partition], scheduler.bf_max_job_user_part),
        ];
        let count = |key| tested.counts.get(key).copied().unwrap_or(0);
        let mut all = limits.iter();
        let is_tested = all.all(|(key, most)| *most == 0 || count(key) < *most);
        for (key, _) in limits {
            *tested.counts.entry(key).or_default() += u32::from(is_tested);
        }
        is_tested
    }

    /// Returns the planned start \[s\] and the servers. Without `reserves`, this must be now.
    fn planned(
        &self,
        own: &Waiting,
        now: f64,
        reserves: bool,
        plan: &Plan,
        system: &System,
    ) -> Option<(f64, Vec<usize>)> {
        let members = &self.members[own.facts.partition as usize];
        let mut from = now;
        loop {
            let (left, mut later) = plan.left(from, from + own.limit, members);
            let found = self.nodes.earliest_start(own.i, &left, now, system);
            if let Some((start, servers)) = found {
                let start = start.max(from);
                if !reserves {
                    return (start <= now).then_some((start, servers));
                }
                let chosen = || set_of(self.nodes.len(), servers.iter().copied());
                if later.is_none_or(|later| start <= later) {
                    let end = start + own.limit;
                    if start <= now || !plan.overlaps(start, end, &chosen()) {
                        return Some((start, servers));
                    }
                    later = Some(start);
                }
            }
            from = later.filter(|later| reserves && *later > from)?;
        }
    }
}
