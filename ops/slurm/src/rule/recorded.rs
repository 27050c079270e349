use std::collections::HashMap;
use std::sync::Arc;

use super::{Facts, Running, SlurmPolicy};
use itertools::Itertools as _;
use synth_multiresource::policy::System;

impl SlurmPolicy {
    /// Starts the jobs whose recorded start is not later than now, if they fit.
    pub(super) fn follow_record(&mut self, system: &mut System) {
        let now = system.now();
        if self.order_changes_with_time() {
            self.count_usage(self.now(system));
        }
        let recorded = Arc::clone(&self.recorded);
        let starts = self.waiting.iter();
        let starts = starts.map(|own| recorded[own.job.number as usize]);
        let next = starts.clone().filter(|start| *start > now);
        system.wake_at(next.fold(f64::INFINITY, f64::min));
        let due = starts.enumerate().filter(|(_, start)| *start <= now);
        let due = due.sorted_by(|a, b| a.1.total_cmp(&b.1)).collect_vec();
        for (place, _) in due {
            let own = &self.waiting[place];
            let members = &self.members[own.facts.partition as usize];
            if let Some(servers) = self.nodes.servers_free_now(own.i, members, system) {
                self.start(place, &servers, system);
            }
        }
        self.waiting.retain(|own| !own.has_started);
    }

    /// Job `n` is now the job that had the number `before[n]`, and the scheduler makes decisions.
    pub(super) fn use_jobs(&mut self, before: &[usize]) {
        self.recorded = Arc::default();
        let facts = before.iter().map(|n| self.facts(*n as u64));
        self.jobs = facts.collect::<Vec<Facts>>().into();
        let running = self.running.drain(..).map(|own| (own.number, own));
        let mut running: HashMap<u64, Running> = running.collect();
        for (n, number) in before.iter().zip(0..) {
            if running.is_empty() {
                break;
            }
            let own = running.remove(&(*n as u64));
            self.running
                .extend(own.map(|own| Running { number, ..own }));
        }
    }
}
