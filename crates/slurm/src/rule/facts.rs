//! Where the jobs of a log belong on a site.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::jobs::{Amounts, Facts};
use super::limits::{Limits, MINUTE};
use crate::configuration::{Association, Partition, Site};
use itertools::Itertools as _;
use synth_core::document::number_of;
use synth_trace::replay::Log;
use synth_trace::trace::{Class, Reason};

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

/// Prepares a site and a log for a replay: completes the site with assumptions where data for its priorities are missing,
/// and leaves out the jobs that its present limits or nodes would never let start. Returns a remark on these.
///
/// # Errors
/// When no job is left.
pub fn prepare(site: &mut Site, log: &mut Log) -> Result<Option<String>, String> {
    assume(site, log);
    let kept = log.jobs.len();
    let (lines, above) = above(site, log);
    log.leave_out(Reason::AboveLimit, |job| lines.contains(&job.line));
    let left_out = kept - log.jobs.len();
    let describe = |(limit, own): (&String, &Above)| {
        let jobs = if own.jobs == 1 {
            String::new()
        } else {
            format!(", first of {} jobs", own.jobs)
        };
        format!("{limit}: line {} ({}){jobs}", own.line, own.what)
    };
    let named: Vec<String> = above.iter().map(describe).take(MOST_LIMITS).collect();
    let more = match above.len() - named.len() {
        0 => String::new(),
        more => format!("; and {more} more limits"),
    };
    let remark = format!(
        "{left_out} of {kept} jobs are left out: the site as it is now would never start them, so its limits are newer than \
         these jobs. {}{more}. To replay them, raise the limits in the files of --slurm",
        named.join("; ")
    );
    match (left_out, log.jobs.is_empty()) {
        (_, true) => Err(format!("no job is left to replay: {remark}")),
        (0, _) => Ok(None),
        _ => Ok(Some(remark)),
    }
}

/// At most this many limits are named.
const MOST_LIMITS: usize = 8;
/// A job without a known limit may have run this much longer than its limit \[min\]: Slurm ends jobs a little later.
const OVERRUN: f64 = 2.0;

/// Jobs above a limit: their number, the first line, and its job.
#[derive(Default)]
struct Above {
    jobs: usize,
    line: u32,
    what: String,
}

/// Returns the lines of jobs that exceed a limit by themselves, and these limits.
fn above(site: &Site, log: &Log) -> (HashSet<u32>, BTreeMap<String, Above>) {
    let resources = || log.servers.resources.iter().map(String::as_str);
    let kinds = log.vectors.iter().zip(&log.nodes);
    let amounts = kinds.map(|(own, nodes)| Amounts::of(resources(), |j| own[j], f64::from(*nodes)));
    let limits = Limits::new(site, amounts.collect(), Amounts::gres_of(resources()));
    let capacities = Capacities::new(site, &log.servers.resources);
    let minute = MINUTE * log.tick.per_second() as f64;
    let (mut lines, mut above) = (HashSet::new(), BTreeMap::<String, Above>::new());
    for (job, facts) in log.jobs.iter().zip(facts(site, log).facts) {
        let (kind, p) = (job.kind as usize, facts.partition as usize);
        let passed = log.account.passed_limits.get(&job.line);
        let known = passed.map_or(job.promised, |limit| *limit as f64) / minute;
        let limit = if known.is_finite() {
            known
        } else {
            job.size / minute - OVERRUN
        };
        let exceeded = match capacities.hold(site, p, &log.vectors[kind], log.nodes[kind]) {
            true => limits.never(kind, limit, &facts, site),
            false => Some("the nodes of each partition".into()),
        };
        if let Some(exceeded) = exceeded {
            lines.insert(job.line);
            let own = above.entry(exceeded).or_default();
            own.jobs += 1;
            if own.jobs == 1 || job.line < own.line {
                (own.line, own.what) = (job.line, limits.describe(kind, limit));
            }
        }
    }
    (lines, above)
}

/// Assumes equal shares where a site gives none, and names weights and columns whose data are missing.
fn assume(site: &mut Site, log: &Log) {
    let tells =
        |of: fn(&Class) -> &String| log.account.classes.iter().any(|own| !of(own).is_empty());
    let has_users = log.jobs.iter().any(|job| job.user != 0);
    let has_accounts = tells(|own| &own.account);
    let own = &site.priority.weights;
    let part = f64::from(u8::from(site.priority.is_multifactor));
    let [fair_share, qos, assoc] = [own.fair_share, own.qos, own.assoc].map(|own| own * part);
    let has_shares = !site.associations.is_empty();
    let by_account = has_shares || fair_share > 0.0;
    let has_several = site.partitions.len() > 1;
    let is_missing = [
        ("Partition", has_several && !tells(|own| &own.partition)),
        ("QOS", !site.qos.is_empty() && !tells(|own| &own.qos)),
        ("Account", by_account && !has_accounts),
        ("User", (by_account || !site.qos.is_empty()) && !has_users),
    ];
    let missing = is_missing
        .iter()
        .filter(|own| own.1)
        .map(|own| own.0)
        .join(", ");
    let mut assumed = Vec::new();
    if !missing.is_empty() {
        assumed.push(format!(
            "the log does not tell {missing} of its jobs, so that priorities and limits by these are not followed: export \
             these columns, too"
        ));
    }
    let assoc_txt = "`sacctmgr -P show assoc tree` prints into assoc.txt";
    if fair_share > 0.0 && !has_shares && (has_users || has_accounts) {
        site.associations = equal_shares(log);
        assumed.push(format!(
            "PriorityWeightFairshare={fair_share}, but shares are unknown: fair share is computed as if all accounts of the \
             log had equal shares, and all users equal shares of their account. For the real ones put what {assoc_txt} {FOLDER}"
        ));
    }
    let has_priority = site.associations.iter().any(|own| own.priority > 0);
    for (name, weight, is_known, file) in [
        (
            "QOS",
            qos,
            !site.qos.is_empty(),
            "`sacctmgr -P show qos` prints into qos.txt",
        ),
        ("Assoc", assoc, has_priority, assoc_txt),
    ] {
        if weight > 0.0 && !is_known {
            assumed.push(format!(
                "PriorityWeight{name}={weight} is not followed, since these priorities are unknown: put what {file} {FOLDER}"
            ));
        }
    }
    site.assumed.extend(assumed);
}

/// Where the files that describe a site are.
const FOLDER: &str = "in the folder of --slurm, next to slurm.conf";

/// Returns the accounts and users of a log, with equal shares.
fn equal_shares(log: &Log) -> Vec<Association> {
    let association = |account: &str, user: Option<&str>, parent: &str| Association {
        account: account.to_owned(),
        user: user.map(str::to_owned),
        parent: parent.to_owned(),
        shares: Some(1),
        ..Association::default()
    };
    let pairs: HashSet<(u32, u32)> = log.jobs.iter().map(|job| (job.class, job.user)).collect();
    let (classes, names) = (&log.account.classes, &log.account.users);
    let account = |class: u32| {
        classes
            .get(class as usize)
            .map_or("", |own| own.account.as_str())
    };
    let user = |user: u32| names.get(&user).map_or("", String::as_str);
    let pairs: BTreeSet<_> = pairs
        .into_iter()
        .map(|own| (account(own.0), user(own.1)))
        .collect();
    let accounts = pairs
        .iter()
        .map(|own| own.0)
        .filter(|own| *own != ROOT)
        .dedup();
    let accounts = accounts.map(|own| association(own, None, ROOT));
    let users = pairs
        .iter()
        .map(|(account, user)| association(account, Some(*user), account));
    std::iter::once(association(ROOT, None, ""))
        .chain(accounts)
        .chain(users)
        .collect()
}

/// The account above all others.
const ROOT: &str = "root";

/// Returns where each job of a log belongs.
pub fn facts(site: &Site, log: &Log) -> Sent {
    let places = Places::new(site);
    let [mut unknown, mut moved, mut other_qos, mut part] = [0_usize; 4];
    let mut known: HashMap<(u32, u32), Facts> = HashMap::new();
    let mut sent = Sent::default();
    let capacities = Capacities::new(site, &site.servers().0.resources);
    for job in &log.jobs {
        let class = log.account.classes.get(job.class as usize);
        let names = class.map_or(["", "", ""], |class| {
            [&*class.partition, &*class.account, &*class.qos]
        });
        let mut facts = *known.entry((job.class, job.user)).or_insert_with(|| {
            let user = log.account.users.get(&job.user);
            places.of(names, user.map_or("", String::as_str), job.user)
        });
        let [partition, _, qos] = names;
        unknown += usize::from(!partition.is_empty() && places.partition(partition).is_none());
        other_qos += usize::from(!qos.is_empty() && !places.qos.contains_key(qos));
        let kind = job.kind as usize;
        let holds = |p: usize| capacities.hold(site, p, &log.vectors[kind], log.nodes[kind]);
        if !holds(facts.partition as usize) {
            let other = (0..site.partitions.len()).find(|p| holds(*p));
            facts.partition = other.map_or(facts.partition, |p| p as u32);
            moved += 1;
        }
        let own = &site.partitions[facts.partition as usize];
        let has_less = |n: &usize| log.vectors[kind][0] < capacities.nodes[*n][0];
        part += usize::from(own.is_exclusive && own.nodes.iter().all(has_less));
        sent.facts.push(facts);
    }
    let is_user = |n: u32| site.associations[n as usize].user.is_some();
    let without = sent
        .facts
        .iter()
        .filter(|own| !own.association.is_some_and(is_user));
    let without = if site.associations.is_empty() {
        0
    } else {
        without.count()
    };
    let other_qos = if site.qos.is_empty() { 0 } else { other_qos };
    let count = log.jobs.len();
    let remarks = [
        (
            unknown,
            "name partitions that the site does not have: they go to the default one",
        ),
        (
            moved,
            "do not fit into their partition as it is now: they go to one that has nodes",
        ),
        (
            part,
            "hold less than a node, though their partition gives whole nodes: nodes are shared",
        ),
        (
            other_qos,
            "have a QOS that the site does not have: that of their association counts",
        ),
        (
            without,
            "are of users that the site does not have: they have no fair share of their own",
        ),
    ];
    let remarks = remarks.into_iter().filter(|own| own.0 > 0);
    sent.remarks = remarks
        .map(|(jobs, what)| format!("{jobs} of {count} jobs {what}"))
        .collect();
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
            account: number_of(account.as_bytes()),
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
