use std::collections::HashMap;
use std::sync::Arc;

use super::facts::Facts;
use crate::configuration::{Association, LimitSet, SlurmSite, scope};
use synth_core::number::format_number;

#[derive(Clone, Debug)]
pub(super) struct Limits {
    site: Arc<SlurmSite>,
    /// The amounts that are used by running jobs, by the holder of the limits (each QOS, then each
    /// association), the scope, and the user or account.
    pub running: HashMap<(usize, usize, u32), Vec<f64>>,
    parents: Vec<Option<usize>>,
    of_partition: Vec<Option<usize>>,
    /// The names of the amounts: jobs, nodes, CPUs, memory \[MiB\] and generic resources.
    names: Vec<String>,
    pub types: Vec<Vec<f64>>,
}

pub(super) const NODES: usize = 1;
pub(super) const CPUS: usize = 2;
const MEMORY: usize = 3;

/// The holder, scope, resource and amount of a limit that is exceeded.
type Exceeded<'a> = (usize, usize, &'a str, u64);

/// The tolerance of the comparisons, because the amounts are converted from other units.
const TOLERANCE: f64 = 1e-6;
pub(super) const MINUTE: f64 = 60.0;

impl Limits {
    /// Returns the limits if no jobs run. A type is a demand per node and a number of nodes.
    pub(super) fn new<'a>(
        site: &Arc<SlurmSite>,
        resources: impl Iterator<Item = &'a str>,
        types: impl Iterator<Item = (impl AsRef<[f64]>, u32)>,
    ) -> Self {
        let resources: Vec<&str> = resources.collect();
        let others = resources.iter().copied();
        let others = others.filter(|own| !["cpu", "memory", "node"].contains(own));
        let names = ["", "node", "cpu", "mem"].into_iter().chain(others);
        let names: Vec<&str> = names.collect();
        let amounts = |demand: &[f64], nodes: u32| {
            let of = |resource: &str| {
                let place = resources.iter().position(|own| *own == resource);
                place.map_or(0.0, |j| f64::from(nodes) * demand[j])
            };
            let amounts = names.iter().map(|name| match *name {
                "" => 1.0,
                "node" => f64::from(nodes),
                "mem" => 1024.0 * of("memory"),
                name => of(name),
            });
            amounts.collect::<Vec<f64>>()
        };
        let qos_of = |name: &String| site.qos.iter().position(|own| own.name == *name);
        let partitions = site.partitions.iter();
        let of_partition = partitions.map(|own| own.qos.as_ref().and_then(qos_of));
        Limits {
            running: HashMap::new(),
            parents: Association::parents(&site.associations),
            of_partition: of_partition.collect(),
            types: types.map(|own| amounts(own.0.as_ref(), own.1)).collect(),
            names: names.into_iter().map(str::to_owned).collect(),
            site: Arc::clone(site),
        }
    }

    /// Counts a job of type `i` that starts (`sign` is 1) or has ended (`sign` is −1).
    pub(super) fn count(&mut self, i: usize, facts: &Facts, sign: f64) {
        let holders: Vec<usize> = self.holders(facts, false).collect();
        for n in holders {
            for (scope, key) in keys(facts).into_iter().enumerate() {
                let none = || vec![0.0; self.names.len()];
                let running = self.running.entry((n, scope, key)).or_insert_with(none);
                let pairs = running.iter_mut().zip(&self.types[i]);
                pairs.for_each(|(running, own)| *running += sign * own);
            }
        }
    }

    /// Returns the holders of the limits of a job: the QOS of the partition, the QOS of the job
    /// (which precedes it if `own_first`), the association, and the accounts above it.
    fn holders(&self, facts: &Facts, own_first: bool) -> impl Iterator<Item = usize> + '_ {
        let partition = self.of_partition[facts.partition as usize];
        let job = facts.qos.map(|n| n as usize);
        let job = job.filter(|n| partition != Some(*n));
        let mut qos = [partition, job];
        if own_first {
            qos.reverse();
        }
        let first = facts.association.map(|n| n as usize);
        let accounts = std::iter::successors(first, |n| self.parents[*n]);
        let accounts = accounts.map(|n| self.site.qos.len() + n);
        qos.into_iter().flatten().chain(accounts)
    }

    pub(super) fn allow(&self, job: &[f64], facts: &Facts) -> bool {
        self.exceeded(job, None, facts).is_none()
    }

    /// Returns the first limit that is exceeded by a job together with the running jobs, or also on
    /// its own if its time limit `minutes` is given. If a QOS has a limit, the same limit of the
    /// holders after it is ignored (`acct_policy.c`).
    fn exceeded(&self, job: &[f64], minutes: Option<f64>, facts: &Facts) -> Option<Exceeded<'_>> {
        let mut limited: Vec<(usize, &str)> = Vec::new();
        let qos = facts.qos.map(|n| &self.site.qos[n as usize]);
        let own_first = qos.is_some_and(|own| own.has("OverPartQOS"));
        for n in self.holders(facts, own_first) {
            let is_qos = n < self.site.qos.len();
            // The other limits have already been inherited from the parents.
            let is_above = !is_qos && facts.association != Some((n - self.site.qos.len()) as u32);
            for scope in 0..minutes.map_or(scope::JOB, |_| scope::MINIMUM) + 1 {
                if is_above && scope != scope::GROUP {
                    continue;
                }
                let limits = &self.limits_of_holder(n)[scope].0;
                if limits.is_empty() {
                    continue;
                }
                let key = keys(facts).get(scope).copied();
                let running = key.and_then(|key| self.running.get(&(n, scope, key)));
                for (name, most) in limits {
                    let (name, most) = (name.as_str(), *most);
                    let is_limited = |scope: usize| limited.contains(&(scope, name));
                    let of_users = !is_qos && scope == scope::USER;
                    if is_limited(scope) || of_users && is_limited(scope::ACCOUNT) {
                        continue;
                    }
                    if is_qos {
                        limited.push((scope, name));
                    }
                    let own = running.map_or(0.0, |running| self.amount(running, name));
                    let more = self.amount(job, name);
                    let is_within =
                        |more: f64| more == 0.0 || own + more <= most as f64 + TOLERANCE;
                    let is_within = match scope {
                        scope::NODE => is_within((more / job[NODES].max(1.0)).floor()),
                        scope::MINUTES => is_within(more * minutes.unwrap_or(0.0)),
                        scope::MINIMUM => more + TOLERANCE >= most as f64,
                        _ => is_within(more),
                    };
                    if !is_within {
                        return Some((n, scope, name, most));
                    }
                }
            }
        }
        None
    }

    fn amount(&self, amounts: &[f64], name: &str) -> f64 {
        let place = self.names.iter().position(|own| own == name);
        let amount = place.and_then(|place| amounts.get(place));
        amount.copied().unwrap_or(0.0)
    }

    /// Returns the limit that prevents a job of type `i` from ever starting.
    pub(super) fn limit_that_prevents_start(
        &self,
        i: usize,
        minutes: f64,
        facts: &Facts,
    ) -> Option<String> {
        let site = &self.site;
        let nodes = self.types[i][NODES];
        let own = &site.partitions[facts.partition as usize];
        let most = own.max_nodes.map_or(f64::INFINITY, |most| most as f64);
        let longest = own.max_time.unwrap_or(f64::INFINITY) / MINUTE;
        let qos = facts.qos.map(|n| &site.qos[n as usize]);
        let passes = |flag: &str| qos.is_some_and(|qos| qos.has(flag));
        let setting = if own.state != "UP" {
            Some(format!("State={}", own.state))
        } else if nodes > most && !passes("PartitionMaxNodes") {
            Some(format!("MaxNodes={most}"))
        } else if nodes < own.min_nodes as f64 && !passes("PartitionMinNodes") {
            Some(format!("MinNodes={}", own.min_nodes))
        } else if minutes > longest + TOLERANCE && !passes("PartitionTimeLimit") {
            Some(format!("MaxTime={longest} min"))
        } else {
            None
        };
        if let Some(setting) = setting {
            return Some(format!("{setting} of partition {}", own.name));
        }
        let (n, scope, resource, most) = self.exceeded(&self.types[i], Some(minutes), facts)?;
        let (columns, owner) = match site.qos.get(n) {
            Some(qos) => (scope::OF_QOS, format!("QOS {}", qos.name)),
            None => {
                let owner = site.associations[n - site.qos.len()].describe();
                (scope::OF_ASSOCIATION, owner)
            }
        };
        let columns = columns.split(';').nth(scope).unwrap_or_default();
        let (jobs, tres) = columns.split_once(' ').unwrap_or_default();
        Some(match resource {
            "" if scope == scope::MINUTES => format!("{jobs}={most} min of {owner}"),
            "" => format!("{jobs}={most} of {owner}"),
            "mem" => format!("{tres} mem={most}M of {owner}"),
            "cpu" | "node" => format!("{tres} {resource}={most} of {owner}"),
            gres => format!("{tres} gres/{gres}={most} of {owner}"),
        })
    }

    pub(super) fn describe(&self, i: usize, minutes: f64) -> String {
        let rounded = |number: f64| (number * 100.0).round() / 100.0;
        let amount = |place: usize| {
            let count = rounded(self.types[i][place]);
            let name = match (place, count == 1.0) {
                (CPUS, true) => "CPU",
                (CPUS, false) => "CPUs",
                (NODES, false) => "nodes",
                (MEMORY, _) => "MiB",
                _ => &self.names[place],
            };
            (count > 0.0).then(|| format!("{} {name}, ", format_number(count)))
        };
        let places = [CPUS, NODES].into_iter().chain(MEMORY..self.names.len());
        let amounts: String = places.filter_map(amount).collect();
        format!(
            "{amounts}limit {} min",
            format_number(rounded(minutes.max(0.0)))
        )
    }

    /// Returns the maximum time limit of a job \[s\].
    pub(super) fn max_wall(&self, facts: &Facts) -> Option<f64> {
        let of = |n: usize| self.limits_of_holder(n)[scope::MINUTES].get("");
        let minutes = self.holders(facts, false).find_map(of)?;
        Some(minutes as f64 * MINUTE)
    }

    fn limits_of_holder(&self, n: usize) -> &LimitSet {
        match self.site.qos.get(n) {
            Some(qos) => &qos.limits,
            None => &self.site.associations[n - self.site.qos.len()].limits,
        }
    }
}

/// Returns the keys that are used to count a job, for each scope of running jobs.
fn keys(facts: &Facts) -> [u32; 3] {
    [0, facts.user, facts.account]
}
