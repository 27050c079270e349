use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::limits::{Limits, MINUTE};
use crate::configuration::{Association, SlurmSite, factor};
use itertools::Itertools as _;
use synth_core::document::name_hash;
use synth_traces::replay::{Log, ReplayJob};
use synth_traces::trace::{Destination, Observed, Reason, TraceFormat};

/// The partition, owner and QOS of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// An index into [`SlurmSite::partitions`].
    pub(super) partition: u32,
    pub(super) user: u32,
    pub(super) account: u32,
    /// An index into [`SlurmSite::associations`].
    pub(super) association: Option<u32>,
    /// An index into the QOS of the site.
    pub(super) qos: Option<u32>,
    /// The number that a submit script adds to the priority of the job.
    pub(super) site_factor: f64,
}

/// Returns the time of day at which the first job of a log was submitted \[s\].
pub fn clock_of(log: &Log) -> f64 {
    let per_second = i64::try_from(log.tick.per_second()).unwrap_or(1);
    log.begin.rem_euclid(86_400 * per_second) as f64 / per_second as f64
}

/// Prepares a replay by adding assumptions for missing settings to the site, and by removing jobs
/// that could never start from the log. Returns a remark about these jobs, or an error if no jobs
/// remain.
pub fn prepare(site: &mut SlurmSite, log: &mut Log) -> Result<Option<String>, String> {
    check_cluster(site, log)?;
    assume(site, log);
    let kept = log.jobs.len();
    let above = jobs_above_limits(site, log);
    let lines: HashSet<u32> = above.values().flat_map(|own| own.keys().copied()).collect();
    log.leave_out(Reason::AboveLimit, |job| lines.contains(&job.line));
    let left_out = kept - log.jobs.len();
    let describe = |(limit, jobs): (&String, &BTreeMap<u32, String>)| {
        let (line, what) = jobs.first_key_value()?;
        let several = match jobs.len() {
            1 => String::new(),
            count => format!(", first of {count} jobs"),
        };
        Some(format!("{limit}: line {line} ({what}){several}"))
    };
    let mut limits = above.iter().filter_map(describe).take(MOST_LIMITS);
    let mut named = limits.join("; ");
    if above.len() > MOST_LIMITS {
        named += &format!("; and {} more limits", above.len() - MOST_LIMITS);
    }
    let help = match above.keys().any(|limit| limit.starts_with("State=")) {
        true => "set State=UP where nodes are down, and raise the other limits,",
        false => "raise the limits",
    };
    let remark = format!(
        "{left_out} of {kept} jobs are not replayed: they would never start with the current settings, so the settings are newer than \
         these jobs. {named}. To replay them, {help} in the files of --slurm"
    );
    let has_none = log.jobs.iter().all(|job| job.seen == Observed::Initial);
    match left_out {
        0 => Ok(None),
        _ if has_none => Err(format!("no jobs remain to replay: {remark}")),
        _ => Ok(Some(remark)),
    }
}

/// The maximum share of jobs in partitions that are not in the configuration.
const MOST_UNKNOWN: f64 = 0.05;

/// Returns an error if many jobs are from partitions that the configuration does not have.
fn check_cluster(site: &SlurmSite, log: &Log) -> Result<(), String> {
    let classes = &log.account.classes;
    let jobs = log.jobs.iter();
    let names = jobs.filter_map(|job| Some(&*classes.get(job.class as usize)?.partition));
    let is_unknown = |names: &&str| {
        let mut names = names.split(',');
        names.all(|name| !name.is_empty() && site.partition(name).is_none())
    };
    let unknown = names.filter(is_unknown).counts();
    let jobs = unknown.values().sum::<usize>();
    if log.format != TraceFormat::Sacct || jobs as f64 <= MOST_UNKNOWN * log.jobs.len() as f64 {
        return Ok(());
    }
    let names = unknown.keys().sorted().take(MOST_LIMITS).join(", ");
    let known = site.partitions.iter().map(|own| &own.name).join(", ");
    Err(format!(
        "{jobs} of {} jobs were sent to partitions that the configuration does not have ({names}; it has {known}), so it is probably that of another cluster: give the configuration that the jobs ran under, or use --partition to select jobs",
        log.jobs.len()
    ))
}

const MOST_LIMITS: usize = 8;
/// The time \[min\] by which a job may run longer than its limit until Slurm ends it.
const OVERRUN: f64 = 2.0;

/// Returns a description of each job that exceeds a limit on its own, by limit and by line.
fn jobs_above_limits(site: &SlurmSite, log: &Log) -> BTreeMap<String, BTreeMap<u32, String>> {
    let resources = log.servers.resources.iter().map(String::as_str);
    let kinds = log.vectors.iter().zip(log.nodes.iter().copied());
    let limits = Limits::new(&Arc::new(site.clone()), resources, kinds);
    let capacities = capacities(site, log);
    let minute = MINUTE * log.tick.per_second() as f64;
    let mut above = BTreeMap::<String, BTreeMap<u32, String>>::new();
    let jobs = log.jobs.iter().zip(facts(site, log).0);
    // The jobs that are already running are not started again.
    for (job, facts) in jobs.filter(|(job, _)| job.seen != Observed::Initial) {
        let (kind, p) = (job.kind as usize, facts.partition as usize);
        let passed = log.account.passed_limits.get(&job.line);
        let known = passed.map_or(job.promised, |limit| *limit as f64) / minute;
        let ran = job.size / minute - OVERRUN;
        let limit = if known.is_finite() { known } else { ran };
        let exceeded = match holds(site, &capacities, p, log, kind) {
            true => limits.limit_that_prevents_start(kind, limit, &facts),
            false => Some("the nodes of each partition".into()),
        };
        if let Some(exceeded) = exceeded {
            let jobs = above.entry(exceeded).or_default();
            jobs.insert(job.line, limits.describe(kind, limit));
        }
    }
    above
}

fn assume(site: &mut SlurmSite, log: &Log) {
    let classes = &log.account.classes;
    let tells = |of: fn(&Destination) -> &String| classes.iter().any(|own| !of(own).is_empty());
    let has_users = log.jobs.iter().any(|job| job.user != 0);
    let has_accounts = tells(|own| &own.account);
    let [_, fair_share, .., qos, assoc] = match site.priority.is_multifactor {
        true => site.priority.weights,
        false => [0.0; factor::NAMES.len()],
    };
    let (has_shares, has_qos) = (!site.associations.is_empty(), !site.qos.is_empty());
    let by_account = has_shares || fair_share > 0.0;
    let has_several = site.partitions.len() > 1;
    let is_missing = [
        ("Partition", has_several && !tells(|own| &own.partition)),
        ("QOS", has_qos && !tells(|own| &own.qos)),
        ("Account", by_account && !has_accounts),
        ("User", (by_account || has_qos) && !has_users),
    ];
    let missing = is_missing.iter().filter(|own| own.1);
    let missing = missing.map(|own| own.0).join(", ");
    if !missing.is_empty() {
        site.not_modeled.push(format!("what depends on {missing}"));
        site.assumed.push(format!(
            "the log does not contain {missing} of its jobs, so priorities and limits that depend on these are not modeled: export \
             these columns as well"
        ));
    }
    let assoc_txt = "`sacctmgr -P show assoc tree` as assoc.txt";
    if fair_share > 0.0 && !has_shares && (has_users || has_accounts) {
        site.associations = equal_shares(log);
        let shares = format!("the shares of PriorityWeightFairshare={fair_share}");
        site.not_modeled.push(shares);
        site.assumed.push(format!(
            "PriorityWeightFairshare={fair_share}, but shares are unknown: fair share is computed as if all accounts in the \
             log had equal shares, and all users equal shares of their account. To use the real shares, save {assoc_txt} {FOLDER}"
        ));
    }
    let qos_txt = "`sacctmgr -P show qos` as qos.txt";
    let has_priority = site.associations.iter().any(|own| own.priority > 0);
    for (name, weight, is_known, file) in [
        ("QOS", qos, has_qos, qos_txt),
        ("Assoc", assoc, has_priority, assoc_txt),
    ] {
        if weight > 0.0 && !is_known {
            site.not_modeled
                .push(format!("PriorityWeight{name}={weight}"));
            site.assumed.push(format!(
                "PriorityWeight{name}={weight} is not modeled, because these priorities are unknown: save {file} {FOLDER}"
            ));
        }
    }
}

const FOLDER: &str = "in the folder of --slurm, next to slurm.conf";

fn equal_shares(log: &Log) -> Vec<Association> {
    let association = |account: &str, user: Option<&str>, parent: &str| Association {
        account: account.to_owned(),
        user: user.map(str::to_owned),
        parent: parent.to_owned(),
        shares: Some(1),
        ..Association::default()
    };
    let classes = &log.account.classes;
    let names = |job: &ReplayJob| {
        let class = classes.get(job.class as usize);
        let user = log.account.users.get(&job.user);
        let account = class.map_or("", |own| &*own.account);
        (account, user.map_or("", |own| &**own))
    };
    let pairs: BTreeSet<(&str, &str)> = log.jobs.iter().map(names).collect();
    let accounts = pairs.iter().map(|own| own.0).dedup();
    let accounts = accounts.filter(|own| *own != ROOT);
    let accounts = accounts.map(|own| association(own, None, ROOT));
    let users = pairs.iter();
    let users = users.map(|(account, user)| association(account, Some(*user), account));
    let root = association(ROOT, None, "");
    std::iter::once(root).chain(accounts).chain(users).collect()
}

const ROOT: &str = "root";

/// Returns the facts of each job in a log, and remarks about data that is missing in the site.
pub fn facts(site: &SlurmSite, log: &Log) -> (Vec<Facts>, Vec<String>) {
    let associations = site.associations.iter();
    let names = associations.map(|own| (&*own.account, own.user.as_deref().unwrap_or("")));
    let associations: HashMap<(&str, &str), usize> = names.zip(0..).collect();
    let default = site.partitions.iter().position(|own| own.is_default);
    // A job can specify several partitions.
    let partition_of = |names: &str| names.split(',').find_map(|name| site.partition(name));
    let qos_of = |name: &str| site.qos.iter().position(|own| own.name == name);
    let facts_of = |class: &Destination, number: u32| {
        let (account, user) = (&*class.account, log.account.users.get(&number));
        let of_user = associations.get(&(account, user.map_or("", String::as_str)));
        let association = of_user.or_else(|| associations.get(&(account, "")));
        let default_qos = || qos_of(site.associations[*association?].default_qos.as_deref()?);
        Facts {
            partition: partition_of(&class.partition).or(default).unwrap_or(0) as u32,
            user: number,
            account: name_hash(account.as_bytes()),
            association: association.map(|n| *n as u32),
            qos: qos_of(&class.qos).or_else(default_qos).map(|n| n as u32),
            site_factor: 0.0,
        }
    };
    let no_class = Destination::default();
    let [mut unknown, mut moved, mut part, mut other_qos, mut without] = [0_usize; 5];
    let mut known = HashMap::new();
    let mut all = Vec::with_capacity(log.jobs.len());
    let capacities = capacities(site, log);
    let is_user = |n: u32| site.associations[n as usize].user.is_some();
    for job in &log.jobs {
        let class = log.account.classes.get(job.class as usize);
        let class = class.unwrap_or(&no_class);
        let known = known.entry((job.class, job.user)).or_insert_with(|| {
            let (partition, qos) = (&*class.partition, &*class.qos);
            let has_partition = partition.is_empty() || partition_of(partition).is_some();
            let has_qos = qos.is_empty() || site.qos.is_empty() || qos_of(qos).is_some();
            (facts_of(class, job.user), has_partition, has_qos)
        });
        let (mut facts, has_partition, has_qos) = *known;
        unknown += usize::from(!has_partition);
        other_qos += usize::from(!has_qos);
        let is_known = site.associations.is_empty() || facts.association.is_some_and(is_user);
        without += usize::from(!is_known);
        let kind = job.kind as usize;
        let holds = |p: usize| holds(site, &capacities, p, log, kind);
        if !holds(facts.partition as usize) {
            let other = (0..site.partitions.len()).find(|p| holds(*p));
            facts.partition = other.map_or(facts.partition, |p| p as u32);
            moved += 1;
        }
        let own = &site.partitions[facts.partition as usize];
        let has_less = |n: &usize| log.vectors[kind][0] < capacities[*n][0];
        part += usize::from(own.is_exclusive && own.nodes.iter().all(has_less));
        all.push(facts);
    }
    let remarks = [
        "specify partitions that do not exist in the site: the default partition is used",
        "do not fit into their current partition: a partition with suitable nodes is used",
        "use less than a node, but their partition allocates whole nodes: it is assumed that nodes are shared",
        "have a QOS that does not exist in the site: the QOS of their association is used",
        "belong to users that do not exist in the site: they do not have their own fair share",
    ];
    let counts = [unknown, moved, part, other_qos, without];
    let remarks = counts.iter().zip(remarks).filter(|own| *own.0 > 0);
    let remark = |(jobs, what)| format!("{jobs} of {} jobs {what}", log.jobs.len());
    (all, remarks.map(remark).collect())
}

fn capacities(site: &SlurmSite, log: &Log) -> Vec<Vec<f64>> {
    let nodes = site.nodes.iter().map(|node| {
        let amounts = log.servers.resources.iter().map(|name| node.amount(name));
        amounts.collect()
    });
    nodes.collect()
}

fn holds(site: &SlurmSite, capacities: &[Vec<f64>], p: usize, log: &Log, kind: usize) -> bool {
    let fits = |n: &&usize| {
        let mut pairs = log.vectors[kind].iter().zip(&capacities[**n]);
        pairs.all(|(demand, has)| *demand <= *has + 1e-9)
    };
    let count = log.nodes[kind] as usize;
    let nodes = site.partitions[p].nodes.iter();
    nodes.filter(fits).take(count).count() == count
}
