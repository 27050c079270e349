use std::sync::Arc;

use super::facts::Facts;
use super::fair_share::FairShare;
use super::limits::{CPUS, MINUTE, NODES};
use crate::configuration::SlurmSite;

/// The factors of the priority of a job (`priority_multifactor.c`).
#[derive(Clone, Debug)]
pub(super) struct Factors {
    site: Arc<SlurmSite>,
    nodes: f64,
    cpus: f64,
    partitions: Vec<f64>,
    qos: Vec<f64>,
    associations: Vec<f64>,
    shares: FairShare,
    fair: Vec<f64>,
    /// The time for which the decay of the usage was last computed \[s\].
    faded: Option<f64>,
}

/// The minimum and the maximum priority of a job that is not held.
const RANGE: [f64; 2] = [1.0, u32::MAX as f64];

impl Factors {
    pub(super) fn new(site: &Arc<SlurmSite>, cpus: f64, nodes: usize) -> Self {
        let over_largest = |all: Vec<u32>| {
            let most = all.iter().copied().max().unwrap_or(0).max(1);
            let of = |own: u32| f64::from(own) / f64::from(most);
            all.into_iter().map(of).collect()
        };
        let shares = FairShare::new(&site.associations);
        Factors {
            nodes: nodes as f64,
            cpus: cpus.max(1.0),
            partitions: over_largest(site.partitions.iter().map(|p| p.job_factor).collect()),
            qos: over_largest(site.qos.iter().map(|q| q.priority).collect()),
            associations: over_largest(site.associations.iter().map(|a| a.priority).collect()),
            fair: shares.factors(&site.priority),
            shares,
            faded: None,
            site: Arc::clone(site),
        }
    }

    pub(super) fn used(&mut self, usage: Option<(u32, f64)>, now: f64) {
        self.fade(now);
        if let Some((association, used)) = usage {
            self.shares.add(association as usize, used);
        }
    }

    pub(super) fn settle(&mut self, now: f64) {
        self.fade(now);
        self.fair = self.shares.factors(&self.site.priority);
    }

    fn fade(&mut self, now: f64) {
        let passed = now - self.faded.replace(now).unwrap_or(now);
        let half = self.site.priority.decay_half_life;
        if let Some(half) = half.filter(|_| passed > 0.0) {
            self.shares.fade(0.5_f64.powf(passed / half));
        }
    }

    pub(super) fn priority(&self, facts: &Facts, job: &[f64], waited: f64, limit: f64) -> f64 {
        let of = |factors: &[f64], n: Option<u32>| {
            let factor = n.and_then(|n| factors.get(n as usize));
            factor.copied().unwrap_or(0.0)
        };
        let factors = [
            match self.site.priority.max_age {
                most if most > 0.0 => (waited / most).min(1.0),
                _ => 1.0,
            },
            of(&self.fair, facts.association),
            self.size(job, limit),
            of(&self.partitions, Some(facts.partition)),
            of(&self.qos, facts.qos),
            of(&self.associations, facts.association),
        ];
        let weighted = self.site.priority.weights.iter().zip(factors);
        let sum: f64 = weighted.map(|(weight, factor)| weight * factor).sum();
        (sum + facts.site_factor).floor().clamp(RANGE[0], RANGE[1])
    }

    fn size(&self, job: &[f64], limit: f64) -> f64 {
        let favors_small = self.site.priority.favors_small;
        let (nodes, cpus) = (job[NODES], job[CPUS]);
        let factor = if self.site.priority.small_relative_to_time {
            let per_node = nodes * self.cpus / self.nodes;
            // The time limits in Slurm are whole minutes.
            let minutes = (limit / MINUTE).floor().max(1.0);
            let factor = per_node.max(cpus) / minutes / self.cpus;
            if favors_small { 1.0 - factor } else { factor }
        } else {
            let large = |part: f64| if favors_small { 1.0 - part } else { part };
            let of_nodes = large(nodes / self.nodes);
            match cpus > 0.0 {
                true => (of_nodes + large(cpus / self.cpus)) / 2.0,
                false => of_nodes,
            }
        };
        factor.clamp(0.0, 1.0)
    }
}
