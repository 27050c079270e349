//! What Slurm knows of a job beside its demand, its limit and its submission.

use std::sync::Arc;

use crate::configuration::Site;

/// Where a job belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// Its partition, a place in [`Site::partitions`].
    pub partition: u32,
    /// Its user, any number for each.
    pub user: u32,
    /// Its account, any number for each.
    pub account: u32,
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

/// The amounts that a job holds, or running jobs together, in the terms of limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Amounts {
    /// The number of jobs.
    pub jobs: f64,
    pub cpus: f64,
    /// \[MiB\]
    pub memory: f64,
    pub nodes: f64,
    /// By place in [`Amounts::gres_of`]'s names.
    pub gres: Vec<f64>,
}

impl Amounts {
    /// Returns the generic resources among these resources, which are neither CPUs nor memory, and their places.
    pub fn gres_of<'a>(resources: impl Iterator<Item = &'a str>) -> Vec<(String, usize)> {
        let others = resources.enumerate();
        let others = others.filter(|(_, own)| !matches!(*own, "cpu" | "memory" | "node"));
        others.map(|(j, own)| (own.to_owned(), j)).collect()
    }

    /// Returns the amounts that a job holds which has these resources, in this order, on each of its nodes.
    pub fn of<'a>(
        resources: impl Iterator<Item = &'a str> + Clone,
        demand: impl Fn(usize) -> f64,
        nodes: f64,
    ) -> Self {
        let of = |name: &str| {
            let place = resources.clone().position(|own| own == name);
            place.map_or(0.0, |j| nodes * demand(j))
        };
        let gres = Self::gres_of(resources.clone()).into_iter();
        Amounts {
            jobs: 1.0,
            cpus: of("cpu"),
            memory: 1024.0 * of("memory"),
            nodes,
            gres: gres.map(|(_, j)| nodes * demand(j)).collect(),
        }
    }

    /// Returns the amount by its name in limits; `gres` are the names of the generic resources.
    pub fn get(&self, name: &str, gres: &[(String, usize)]) -> f64 {
        let place = || gres.iter().position(|(own, _)| own == name);
        match name {
            "" => self.jobs,
            "cpu" => self.cpus,
            "mem" => self.memory,
            "node" => self.nodes,
            _ => place()
                .and_then(|n| self.gres.get(n).copied())
                .unwrap_or(0.0),
        }
    }

    /// Adds as much, times a sign.
    pub fn add(&mut self, other: &Amounts, sign: f64) {
        self.jobs += sign * other.jobs;
        self.cpus += sign * other.cpus;
        self.memory += sign * other.memory;
        self.nodes += sign * other.nodes;
        self.gres.resize(other.gres.len(), 0.0);
        let pairs = self.gres.iter_mut().zip(&other.gres);
        pairs.for_each(|(own, other)| *own += sign * other);
    }
}

/// Returns the servers of each partition where the site's nodes are the servers of a fleet: `servers[n]` is that of node n.
pub(super) fn members(site: &Site, servers: &[Option<usize>]) -> Vec<Vec<usize>> {
    // What is down now was up for the jobs of the past.
    let of = |nodes: &Vec<usize>| nodes.iter().filter_map(|n| servers[*n]).collect();
    site.partitions.iter().map(|own| of(&own.nodes)).collect()
}
