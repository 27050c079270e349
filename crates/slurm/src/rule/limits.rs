//! Limits of QOS and accounts on what runs at once, and limits that a job exceeds by itself.

use std::collections::HashMap;

use super::jobs::{Amounts, Facts};
use crate::configuration::{self, Association, Site, scope};

/// The running jobs of each user and each account, next to the limits.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// The running jobs by holder of limits, scope, and user or account: first the QOS of the site, then its associations.
    running: HashMap<(usize, usize, u32), Amounts>,
    parents: Vec<Option<usize>>,
    /// By partition: the QOS whose limits hold there.
    of_partition: Vec<Option<usize>>,
    /// The number of QOS.
    qos: usize,
    gres: Vec<(String, usize)>,
    /// By type: the amounts that a job holds.
    types: Vec<Amounts>,
}

/// A limit that a job exceeds: its holder, scope, resource and amount.
type Exceeded<'a> = (usize, usize, &'a str, u64);

/// Amounts are within a limit up to this, since they are computed in other units.
const TOLERANCE: f64 = 1e-6;
/// Seconds in a minute.
pub(super) const MINUTE: f64 = 60.0;

impl Limits {
    pub fn new(site: &Site, types: Vec<Amounts>, gres: Vec<(String, usize)>) -> Self {
        let qos_of = |name: &String| site.qos.iter().position(|own| own.name == *name);
        Limits {
            running: HashMap::new(),
            parents: Association::parents(&site.associations),
            of_partition: site
                .partitions
                .iter()
                .map(|own| own.qos.as_ref().and_then(qos_of))
                .collect(),
            qos: site.qos.len(),
            gres,
            types,
        }
    }

    /// Returns the amounts that a job of type i holds.
    pub fn amounts(&self, i: usize) -> &Amounts {
        &self.types[i]
    }

    /// A job of type i starts (1) or has ended (−1).
    pub fn count(&mut self, i: usize, facts: &Facts, sign: f64) {
        let holders: Vec<usize> = self.holders(facts, false).collect();
        for n in holders {
            for (scope, key) in keys(facts).into_iter().enumerate() {
                let running = self.running.entry((n, scope, key)).or_default();
                running.add(&self.types[i], sign);
            }
        }
    }

    /// Forgets all running jobs.
    pub fn clear(&mut self) {
        self.running.clear();
    }

    /// Returns the holders of limits that a job is subject to: the QOS of its partition, its own QOS, before that of the
    /// partition with `own_first`, its association, and the accounts above.
    fn holders(&self, facts: &Facts, own_first: bool) -> impl Iterator<Item = usize> + '_ {
        let partition = self.of_partition[facts.partition as usize];
        let job = facts
            .qos
            .map(|n| n as usize)
            .filter(|n| partition != Some(*n));
        let qos = if own_first {
            [job, partition]
        } else {
            [partition, job]
        };
        let first = facts.association.map(|n| n as usize);
        let accounts = std::iter::successors(first, |n| self.parents[*n]);
        qos.into_iter()
            .flatten()
            .chain(accounts.map(|n| self.qos + n))
    }

    /// Whether no limit on the number of jobs keeps one from starting now: Slurm checks these before it looks for nodes.
    pub fn allow_one(&self, facts: &Facts, site: &Site) -> bool {
        let one = Amounts {
            jobs: 1.0,
            ..Amounts::default()
        };
        self.allow(&one, facts, site)
    }

    /// Whether no limit keeps a job that holds these amounts from starting now.
    pub fn allow(&self, job: &Amounts, facts: &Facts, site: &Site) -> bool {
        self.exceeded(job, None, facts, site).is_none()
    }

    /// Returns the first limit that a job exceeds together with the running jobs; with its time limit \[min\] also limits
    /// on single jobs. A QOS takes precedence over accounts: what one of them limits, the next does not (`acct_policy.c`).
    fn exceeded<'a>(
        &self,
        job: &Amounts,
        minutes: Option<f64>,
        facts: &Facts,
        site: &'a Site,
    ) -> Option<Exceeded<'a>> {
        let mut limited: Vec<(usize, &str)> = Vec::new();
        let own_first = facts
            .qos
            .is_some_and(|n| site.qos[n as usize].has("OverPartQOS"));
        for n in self.holders(facts, own_first) {
            let is_qos = n < self.qos;
            // Limits on single jobs and on numbers of jobs were handed down from the accounts above.
            let is_above = !is_qos && facts.association != Some((n - self.qos) as u32);
            for scope in 0..minutes.map_or(scope::JOB, |_| scope::LEAST) + 1 {
                if is_above && scope != scope::GROUP {
                    continue;
                }
                let key = keys(facts).get(scope).copied();
                let running = || self.running.get(&(n, scope, key?));
                for (name, most) in limits_of(site, n)[scope].named() {
                    let is_limited = |scope: usize| limited.contains(&(scope, name));
                    let of_users = !is_qos && scope == scope::USER;
                    if is_limited(scope) || of_users && is_limited(scope::ACCOUNT) {
                        continue;
                    }
                    if is_qos {
                        limited.push((scope, name));
                    }
                    let own = running().map_or(0.0, |running| running.get(name, &self.gres));
                    let more = job.get(name, &self.gres);
                    let is_within =
                        |more: f64| more == 0.0 || own + more <= most as f64 + TOLERANCE;
                    let is_within = match scope {
                        scope::NODE => is_within((more / job.nodes.max(1.0)).floor()),
                        scope::MINUTES => is_within(more * minutes.unwrap_or(0.0)),
                        scope::LEAST => more + TOLERANCE >= most as f64,
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

    /// Returns the limit that keeps a job of type i with this time limit \[min\] from ever starting.
    pub fn never(&self, i: usize, minutes: f64, facts: &Facts, site: &Site) -> Option<String> {
        let job = &self.types[i];
        let own = &site.partitions[facts.partition as usize];
        let [most_nodes, longest] = [own.max_nodes.map(|most| most as f64), own.max_time];
        let longest = longest.map(|longest| longest / MINUTE);
        let is_over = |own: f64, most: Option<f64>| most.is_some_and(|most| own > most + TOLERANCE);
        let qos = facts.qos.map(|n| &site.qos[n as usize]);
        for (is_over, flag, setting) in [
            (own.state != "UP", "", format_args!("State={}", own.state)),
            (
                is_over(job.nodes, most_nodes),
                "PartitionMaxNodes",
                format_args!("MaxNodes={}", most_nodes.unwrap_or(0.0)),
            ),
            (
                job.nodes < own.min_nodes as f64,
                "PartitionMinNodes",
                format_args!("MinNodes={}", own.min_nodes),
            ),
            (
                is_over(minutes, longest),
                "PartitionTimeLimit",
                format_args!("MaxTime={} min", longest.unwrap_or(0.0)),
            ),
        ] {
            if is_over && !qos.is_some_and(|qos| qos.has(flag)) {
                return Some(format!("{setting} of partition {}", own.name));
            }
        }
        let (n, scope, resource, most) = self.exceeded(job, Some(minutes), facts, site)?;
        let (columns, owner) = match site.qos.get(n) {
            Some(qos) => (scope::OF_QOS, format!("QOS {}", qos.name)),
            None => (
                scope::OF_ASSOCIATION,
                site.associations[n - self.qos].describe(),
            ),
        };
        let columns = columns
            .split(';')
            .nth(scope)
            .and_then(|own| own.split_once(' '));
        let (jobs, tres) = columns.unwrap_or_default();
        Some(match resource {
            "" if scope == scope::MINUTES => format!("{jobs}={most} min of {owner}"),
            "" => format!("{jobs}={most} of {owner}"),
            "mem" => format!("{tres} mem={most}M of {owner}"),
            "cpu" | "node" => format!("{tres} {resource}={most} of {owner}"),
            gres => format!("{tres} gres/{gres}={most} of {owner}"),
        })
    }

    /// Returns a job of type i in a few words, with its time limit \[min\].
    pub fn describe(&self, i: usize, minutes: f64) -> String {
        let job = &self.types[i];
        let gres = self
            .gres
            .iter()
            .map(|(name, _)| (job.get(name, &self.gres), name.as_str(), ""));
        let counts = [
            (job.cpus, "CPU", "s"),
            (job.nodes, "node", "s"),
            (job.memory, "MiB", ""),
        ];
        let counts = counts.into_iter().chain(gres).filter(|own| own.0 > 0.0);
        let counts =
            counts.map(|(n, what, s)| format!("{n} {what}{}, ", if n == 1.0 { "" } else { s }));
        format!("{}limit {minutes} min", counts.collect::<String>())
    }

    /// Returns the longest time limit of a job \[s\].
    pub fn max_wall(&self, facts: &Facts, site: &Site) -> Option<f64> {
        let mut of = self
            .holders(facts, false)
            .map(|n| limits_of(site, n)[scope::MINUTES].jobs);
        of.find_map(|minutes| Some(minutes? as f64 * MINUTE))
    }
}

/// Returns the limits of a holder: a QOS of the site, or an association.
fn limits_of(site: &Site, n: usize) -> &configuration::Limits {
    match site.qos.get(n) {
        Some(qos) => &qos.limits,
        None => &site.associations[n - site.qos.len()].limits,
    }
}

/// The keys by which a job counts, by the scopes that count running jobs.
fn keys(facts: &Facts) -> [u32; 3] {
    [0, facts.user, facts.account]
}
