//! What Slurm knows of a job beside its demand, its limit and its submission.

use std::sync::Arc;

use crate::configuration::{Site, Tres};
use synth_cluster::workload::Fleet;

/// Where a job belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Its partition, a place in [`Site::partitions`].
    pub partition: u32,
    /// Its user, any number for each.
    pub user: u32,
    /// Its association, a place in [`Site::associations`].
    pub association: Option<u32>,
    /// Its quality of service, a place in [`Site::qos`].
    pub qos: Option<u32>,
    /// What a submit script adds to its priority.
    pub site_factor: f64,
}

/// The facts of all jobs that come.
#[derive(Clone, Debug)]
pub enum Jobs {
    /// By number: of jobs that are known before.
    ByNumber(Arc<[Facts]>),
    /// By type.
    ByType(Arc<[Facts]>),
}

impl Jobs {
    pub(super) fn of(&self, i: usize, number: u64) -> Facts {
        match self {
            Jobs::ByNumber(facts) => facts.get(number as usize).copied().unwrap_or_default(),
            Jobs::ByType(facts) => facts.get(i).copied().unwrap_or_default(),
        }
    }
}

/// What jobs of a type hold, or running jobs together, in the terms of limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Amounts {
    pub cpus: f64,
    /// \[MiB\]
    pub memory: f64,
    pub nodes: f64,
    /// By place in [`Amounts::gres_of`]'s names.
    pub gres: Vec<f64>,
}

impl Amounts {
    /// Returns the generic resources of a fleet: those that are neither CPUs nor memory, and their places.
    pub fn gres_of(fleet: &Fleet) -> Vec<(String, usize)> {
        let resources = fleet.envelope().resources().iter().enumerate();
        let others = resources.filter(|(_, own)| !matches!(own.name(), "cpu" | "memory" | "node"));
        others.map(|(j, own)| (own.name().to_owned(), j)).collect()
    }

    /// Returns what a job of each type holds.
    pub fn of_types(fleet: &Fleet) -> Vec<Self> {
        let gres = Self::gres_of(fleet);
        let place = |name: &str| {
            let mut resources = fleet.envelope().resources().iter();
            resources.position(|own| own.name() == name)
        };
        let (cpu, memory) = (place("cpu"), place("memory"));
        let types = fleet.types().iter().map(|job| {
            let nodes = f64::from(job.nodes());
            let of = |j: Option<usize>| j.map_or(0.0, |j| nodes * job.demand()[j].value());
            Amounts {
                cpus: of(cpu),
                memory: 1024.0 * of(memory),
                nodes,
                gres: gres.iter().map(|(_, j)| of(Some(*j))).collect(),
            }
        });
        types.collect()
    }

    /// Adds as much, times a sign.
    pub fn add(&mut self, other: &Amounts, sign: f64) {
        self.cpus += sign * other.cpus;
        self.memory += sign * other.memory;
        self.nodes += sign * other.nodes;
        self.gres.resize(other.gres.len(), 0.0);
        let pairs = self.gres.iter_mut().zip(&other.gres);
        pairs.for_each(|(own, other)| *own += sign * other);
    }

    /// Whether this and one job more are within a limit; `gres` are the names of the generic resources.
    pub fn allows(&self, job: &Amounts, limit: &Tres, gres: &[(String, usize)]) -> bool {
        let within = |limit: Option<u64>, own: f64, more: f64| {
            limit.is_none_or(|limit| more == 0.0 || own + more <= limit as f64)
        };
        let of = |amounts: &Amounts, name: &str| {
            let place = gres.iter().position(|(own, _)| own == name);
            place
                .and_then(|place| amounts.gres.get(place).copied())
                .unwrap_or(0.0)
        };
        within(limit.cpus, self.cpus, job.cpus)
            && within(limit.memory, self.memory, job.memory)
            && within(limit.nodes, self.nodes, job.nodes)
            && limit
                .gres
                .iter()
                .all(|(name, most)| within(Some(*most), of(self, name), of(job, name)))
    }
}

/// Returns the servers of each partition where the site's nodes are the servers of a fleet: `servers[n]` is that of node n.
pub(super) fn members(site: &Site, servers: &[Option<usize>]) -> Vec<Vec<usize>> {
    // What is down now was up for the jobs of the past.
    let of = |nodes: &Vec<usize>| nodes.iter().filter_map(|n| servers[*n]).collect();
    site.partitions.iter().map(|own| of(&own.nodes)).collect()
}
