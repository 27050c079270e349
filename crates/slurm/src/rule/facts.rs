//! Where the jobs of a log belong on a site.

use std::collections::HashMap;

use super::jobs::Facts;
use crate::configuration::{Partition, Site};
use synth_trace::replay::Log;

/// The facts of a log's jobs, by number, and what had to be supposed.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// By job.
    pub facts: Vec<Facts>,
    /// Sentences on what the site does not have, or the log does not tell.
    pub remarks: Vec<String>,
}

/// What the clock shows at the first submission of a log \[s of a day\].
pub fn clock_of(log: &Log) -> f64 {
    let per_second = i64::try_from(log.tick.per_second()).unwrap_or(1);
    log.begin.rem_euclid(86_400 * per_second) as f64 / per_second as f64
}

/// Leaves out the jobs that no partition of a site holds; says so if there are some.
pub fn leave_out(site: &Site, log: &mut Log) -> Option<String> {
    let capacities = Capacities::new(site, &site.servers().0.resources);
    let holds = |kind: usize| {
        let (demand, nodes) = (&log.vectors[kind], log.nodes[kind]);
        (0..site.partitions.len()).any(|p| capacities.hold(site, p, demand, nodes))
    };
    let held: Vec<bool> = (0..log.vectors.len()).map(holds).collect();
    let before = log.jobs.len();
    log.jobs.retain(|job| held[job.kind as usize]);
    let out = before - log.jobs.len();
    (out > 0).then(|| {
        format!("{out} of {before} jobs fit into no partition of the site as it is now: they are left out")
    })
}

/// Returns where each job of a log belongs.
pub fn facts(site: &Site, log: &Log) -> Sent {
    let places = Places::new(site);
    let shapes = site.servers().0;
    let (mut unknown, mut moved) = (0_usize, 0_usize);
    let mut known: HashMap<(u32, u32), Facts> = HashMap::new();
    let mut sent = Sent::default();
    let capacities = Capacities::new(site, &shapes.resources);
    for job in &log.jobs {
        let class = log.account.classes.get(job.class as usize);
        let names = class.map_or(["", "", ""], |class| {
            [&*class.partition, &*class.account, &*class.qos]
        });
        let mut facts = *known.entry((job.class, job.user)).or_insert_with(|| {
            let user = log.account.users.get(&job.user);
            places.of(names, user.map_or("", String::as_str), job.user)
        });
        let [partition, ..] = names;
        unknown += usize::from(!partition.is_empty() && places.partition(partition).is_none());
        let kind = job.kind as usize;
        let holds = |p: usize| capacities.hold(site, p, &log.vectors[kind], log.nodes[kind]);
        if !holds(facts.partition as usize) {
            let other = (0..site.partitions.len()).find(|p| holds(*p));
            facts.partition = other.map_or(facts.partition, |p| p as u32);
            moved += 1;
        }
        sent.facts.push(facts);
    }
    let count = log.jobs.len();
    if unknown > 0 {
        sent.remarks.push(format!(
            "{unknown} of {count} jobs were sent to partitions that the site does not have: they are taken to go to the default one"
        ));
    }
    if moved > 0 {
        sent.remarks.push(format!(
            "{moved} of {count} jobs do not fit into their partition as it is now: they are taken to go to one where they do"
        ));
    }
    if !site.associations.is_empty() {
        let without = sent.facts.iter().filter(|own| own.association.is_none());
        let without = without.count();
        if without > 0 {
            sent.remarks.push(format!(
                "{without} of {count} jobs are of accounts or users that the site does not have: they have no fair share and no limits of accounts"
            ));
        }
    }
    sent
}

/// The places of names in a site.
struct Places<'a> {
    site: &'a Site,
    partitions: HashMap<&'a str, u32>,
    qos: HashMap<&'a str, u32>,
    associations: HashMap<(&'a str, &'a str), u32>,
    default: u32,
}

impl<'a> Places<'a> {
    fn new(site: &'a Site) -> Self {
        let numbered = |n: usize| n as u32;
        let associations = site.associations.iter().enumerate();
        Places {
            partitions: (site.partitions.iter().enumerate())
                .map(|(n, own)| (own.name.as_str(), numbered(n)))
                .collect(),
            qos: (site.qos.iter().enumerate())
                .map(|(n, own)| (own.name.as_str(), numbered(n)))
                .collect(),
            associations: associations
                .map(|(n, own)| {
                    (
                        (own.account.as_str(), own.user.as_deref().unwrap_or("")),
                        numbered(n),
                    )
                })
                .collect(),
            default: site.default_partition().map_or(0, numbered),
            site,
        }
    }

    /// The first of these partitions that the site has; jobs of several count to it.
    fn partition(&self, names: &str) -> Option<u32> {
        let mut names = names.split(',');
        names.find_map(|name| self.partitions.get(name).copied())
    }

    fn of(&self, [partition, account, qos]: [&str; 3], user: &str, number: u32) -> Facts {
        let of_user = self.associations.get(&(account, user));
        let association = of_user.or_else(|| self.associations.get(&(account, "")));
        let default_qos = || {
            let own = &self.site.associations[*association? as usize];
            self.qos.get(own.default_qos.as_deref()?)
        };
        Facts {
            partition: self.partition(partition).unwrap_or(self.default),
            user: number,
            association: association.copied(),
            qos: self.qos.get(qos).or_else(default_qos).copied(),
            site_factor: 0.0,
        }
    }
}

/// What the nodes of each partition have, in the order of a log's resources.
struct Capacities {
    nodes: Vec<Vec<f64>>,
}

impl Capacities {
    fn new(site: &Site, resources: &[String]) -> Self {
        let of = |node: &crate::configuration::Node| {
            let of = |name: &String| match name.as_str() {
                "cpu" => node.has.cpus.unwrap_or(0) as f64,
                "memory" => node.has.memory.unwrap_or(0) as f64 / 1024.0,
                gres => {
                    let own = node.has.gres.iter().filter(|(own, _)| own == gres);
                    own.map(|(_, count)| *count as f64).sum()
                }
            };
            resources.iter().map(of).collect()
        };
        Capacities {
            nodes: site.nodes.iter().map(of).collect(),
        }
    }

    /// Whether a partition has so many nodes that hold this demand.
    fn hold(&self, site: &Site, p: usize, demand: &[f64], nodes: u32) -> bool {
        let own: &Partition = &site.partitions[p];
        let fits = |n: &&usize| {
            let mut pairs = demand.iter().zip(&self.nodes[**n]);
            pairs.all(|(demand, has)| *demand <= *has + 1e-9)
        };
        own.nodes.iter().filter(fits).take(nodes as usize).count() == nodes as usize
    }
}
