//! The rule of BOINC (2025) for batches that are almost done, from `html/ops/batch_stats.php`,
//! `html/ops/batch_accel.php` and `sched/sched_score.cpp`.
//!
//! The *normalized* turnaround of a host is the mean over its results, each divided by the median
//! of its batch (with at least 100 results), or ten if it is missing. A host is fast if its mean is
//! less than 1. An application is accelerated if more than 100 hosts have been used for it, and
//! more than a quarter of them are fast. If more than 85 % of a batch is done, or if fewer than 20
//! jobs are left, its jobs are only sent to fast hosts, and another instance is added to a job if
//! none of its instances waits to be sent or was sent within the median turnaround.

use std::collections::{BTreeMap, HashSet};

use super::batch::State;
use super::engine::Engine;

const DONE: f64 = 0.85;

const LEFT: u32 = 20;

const ENOUGH: usize = 100;

const MISSED: f64 = 10.0;

impl Engine<'_> {
    pub(super) fn accelerate(&mut self) {
        let median = |state: &State| {
            let mut took: Vec<f64> = state.turnarounds.iter().map(|(took, _)| *took).collect();
            took.sort_by(f64::total_cmp);
            (took.len() >= ENOUGH).then(|| took[took.len() / 2])
        };
        let medians: Vec<Option<f64>> = self.batches.iter().map(median).collect();
        let mut sums = vec![(0.0, 0_u32); self.hosts.len()];
        let applications = self.campaign.record.applications.len();
        let mut users = vec![HashSet::new(); applications];
        for (b, state) in self.batches.iter().enumerate() {
            let Some(median) = medians[b] else { continue };
            let users = &mut users[self.campaign.batches[b].application];
            users.extend(state.turnarounds.iter().map(|(_, host)| *host));
            let came = state.turnarounds.iter();
            let came = came.map(|(took, host)| (*host, took / median));
            let missed = state.missed.iter().map(|host| (*host, MISSED));
            for (host, own) in came.chain(missed) {
                let (sum, count) = &mut sums[host as usize];
                (*sum, *count) = (*sum + own, *count + 1);
            }
        }
        let is_fast = |(sum, count): &(f64, u32)| *count > 0 && *sum < f64::from(*count);
        self.fast = sums.iter().map(is_fast).collect();
        for (b, median) in medians.into_iter().enumerate() {
            let batch = &self.campaign.batches[b];
            let users = &users[batch.application];
            let of_fast = users.iter().filter(|host| self.fast[**host as usize]);
            let able = users.len() > ENOUGH && of_fast.count() * 4 > users.len();
            let state = &mut self.batches[b];
            let is_underway = state.left > 0 && state.result.sent > 0;
            let Some(jobs) = batch.jobs.filter(|_| is_underway) else {
                continue;
            };
            let done = f64::from(state.result.done);
            let is_nearly_done = done > DONE * f64::from(jobs) || state.left < LEFT;
            state.prior = able && (is_nearly_done || state.prior);
            if is_nearly_done && able {
                self.send_again(b, median.unwrap_or(0.0));
            }
        }
    }

    /// Adds an instance to each slow job, and to its maximum, which is no limit here.
    fn send_again(&mut self, b: usize, median: f64) {
        let mut newest = BTreeMap::new();
        for n in &self.batches[b].outstanding {
            let instance = &self.store.instances[*n as usize];
            if !instance.late {
                let own = newest.entry(instance.job).or_insert(f64::NEG_INFINITY);
                *own = own.max(instance.sent);
            }
        }
        for (job, sent) in newest {
            let own = &self.store.jobs[job as usize];
            if own.done || own.unsent > 0 || self.now - sent < median || own.total >= own.most {
                continue;
            }
            self.change(job, |store| {
                let own = &mut store.jobs[job as usize];
                own.most += 1;
                own.total += 1;
                own.unsent += 1;
            });
        }
    }
}
