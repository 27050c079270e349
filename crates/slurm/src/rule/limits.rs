//! Limits of quality of service and of accounts on what runs at once.

use std::collections::HashMap;

use super::jobs::{Amounts, Facts};
use crate::configuration::{Association, Qos, Site, Tres};

/// What runs of each user and each account, beside what may.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// By quality of service: all its running jobs, and those of each user.
    qos: Vec<(Running, HashMap<u32, Running>)>,
    /// By association.
    associations: Vec<Running>,
    parents: Vec<Option<usize>>,
    /// By partition: the quality of service whose limits hold there.
    of_partition: Vec<Option<usize>>,
    gres: Vec<(String, usize)>,
    /// By type: what a job holds.
    types: Vec<Amounts>,
}

/// Jobs that run.
#[derive(Clone, Debug, Default)]
struct Running {
    jobs: u64,
    amounts: Amounts,
}

impl Running {
    fn add(&mut self, job: &Amounts, sign: f64) {
        self.jobs = self.jobs.saturating_add_signed(sign as i64);
        self.amounts.add(job, sign);
    }

    fn allows(
        &self,
        job: &Amounts,
        jobs: Option<u64>,
        tres: &Tres,
        gres: &[(String, usize)],
    ) -> bool {
        jobs.is_none_or(|most| self.jobs < most) && self.amounts.allows(job, tres, gres)
    }
}

impl Limits {
    pub fn new(site: &Site, types: Vec<Amounts>, gres: Vec<(String, usize)>) -> Self {
        let qos_of = |name: &String| site.qos.iter().position(|own| own.name == *name);
        Limits {
            qos: vec![Default::default(); site.qos.len()],
            associations: vec![Running::default(); site.associations.len()],
            parents: Association::parents(&site.associations),
            of_partition: site
                .partitions
                .iter()
                .map(|own| own.qos.as_ref().and_then(qos_of))
                .collect(),
            gres,
            types,
        }
    }

    /// Returns what a job of type i holds.
    pub fn amounts(&self, i: usize) -> &Amounts {
        &self.types[i]
    }

    /// A job of type i starts (1) or has ended (−1).
    pub fn count(&mut self, i: usize, facts: &Facts, sign: f64) {
        let job = &self.types[i];
        for n in both(self.of_partition[facts.partition as usize], facts.qos) {
            let (all, users) = &mut self.qos[n];
            all.add(job, sign);
            users.entry(facts.user).or_default().add(job, sign);
        }
        let mut at = facts.association.map(|n| n as usize);
        while let Some(n) = at {
            self.associations[n].add(job, sign);
            at = self.parents[n];
        }
    }

    /// Nothing runs.
    pub fn clear(&mut self) {
        self.qos.fill_with(Default::default);
        self.associations.fill_with(Default::default);
    }

    /// Whether no limit of numbers of jobs keeps one from starting now: these are looked at before room is.
    pub fn allow_one(&self, facts: &Facts, site: &Site) -> bool {
        self.allow(&Amounts::default(), facts, site)
    }

    /// Whether no limit keeps a job that holds this from starting now. The quality of service of the partition goes before that of
    /// the job, and both before accounts: what one of them limits, the others do not (`acct_policy.c`).
    pub fn allow(&self, job: &Amounts, facts: &Facts, site: &Site) -> bool {
        let none = Running::default();
        let (mut of_all, mut of_user) = (Said::default(), Said::default());
        for n in both(self.of_partition[facts.partition as usize], facts.qos) {
            let own: &Qos = &site.qos[n];
            let (all, users) = &self.qos[n];
            let user = users.get(&facts.user).unwrap_or(&none);
            let allows = of_all.allows(all, job, own.grp_jobs, &own.grp_tres, &self.gres)
                && of_user.allows(
                    user,
                    job,
                    own.max_jobs_per_user,
                    &own.max_tres_per_user,
                    &self.gres,
                )
                && none.allows(job, None, &own.max_tres_per_job, &self.gres);
            if !allows {
                return false;
            }
        }
        let mut at = facts.association.map(|n| n as usize);
        let own_most = self.most_jobs(facts.association, site);
        let mut most = own_most.filter(|_| !of_user.jobs);
        while let Some(n) = at {
            let limit = of_all.others(&site.associations[n].grp_tres);
            if !self.associations[n].allows(job, most, &limit, &self.gres) {
                return false;
            }
            (at, most) = (self.parents[n], None);
        }
        true
    }

    /// Returns how many jobs of an association may run: its own number, or that of the nearest account above it.
    fn most_jobs(&self, association: Option<u32>, site: &Site) -> Option<u64> {
        let first = association.map(|n| n as usize);
        let above = std::iter::successors(first, |n| self.parents[*n]);
        above.filter_map(|n| site.associations[n].max_jobs).next()
    }
}

/// What is limited already.
#[derive(Default)]
struct Said {
    jobs: bool,
    tres: Tres,
}

impl Said {
    /// Whether a limit allows one job more beside those that run, in what nothing before it limits.
    fn allows(
        &mut self,
        running: &Running,
        job: &Amounts,
        jobs: Option<u64>,
        tres: &Tres,
        gres: &[(String, usize)],
    ) -> bool {
        let limit = self.others(tres);
        let allows = running.allows(job, jobs.filter(|_| !self.jobs), &limit, gres);
        self.jobs |= jobs.is_some();
        self.tres.cpus = self.tres.cpus.or(tres.cpus);
        self.tres.memory = self.tres.memory.or(tres.memory);
        self.tres.nodes = self.tres.nodes.or(tres.nodes);
        self.tres.gres.extend(limit.gres);
        allows
    }

    /// Returns what of a limit nothing before it says.
    fn others(&self, limit: &Tres) -> Tres {
        let is_new = |own: &&(String, u64)| !self.tres.gres.iter().any(|said| said.0 == own.0);
        Tres {
            cpus: limit.cpus.filter(|_| self.tres.cpus.is_none()),
            memory: limit.memory.filter(|_| self.tres.memory.is_none()),
            nodes: limit.nodes.filter(|_| self.tres.nodes.is_none()),
            gres: limit.gres.iter().filter(is_new).cloned().collect(),
        }
    }
}

/// The quality of service of a partition, and that of a job where that is another one.
fn both(partition: Option<usize>, job: Option<u32>) -> impl Iterator<Item = usize> {
    let job = job.map(|n| n as usize).filter(|n| partition != Some(*n));
    partition.into_iter().chain(job)
}
