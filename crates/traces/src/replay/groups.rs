use schemars::JsonSchema;
use serde::Serialize;

use super::log::{Log, ReplayJob};
use super::measured::{Visit, percentiles};
use super::scene::DemandKinds;

/// The results for the jobs in a group that are measured. All times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupResult {
    /// The property that all of its jobs have in common, such as `nodes 5 to 16`.
    pub name: String,
    /// The number of jobs.
    pub jobs: u64,
    /// The share of the work, which is the size times the largest fraction of a resource.
    pub work: f64,
    /// The mean wait.
    pub mean_wait: f64,
    /// The 95th percentile of the wait.
    pub wait_p95: f64,
    /// The mean of the response times.
    pub mean_response: f64,
}

/// The groups of jobs in a log, which are formed in several ways.
#[derive(Clone, Debug)]
pub struct Groups {
    /// For each criterion, the names of the groups, and the group of each job.
    ways: Vec<(Vec<String>, Vec<u8>)>,
    work: Vec<f64>,
}

const LENGTHS: [(f64, &str); 4] = [
    (0.0, "size below 1 min"),
    (60.0, "size 1 min to 1 h"),
    (3600.0, "size 1 h to 1 day"),
    (86_400.0, "size 1 day and more"),
];
/// If there are more different amounts, each group spans a factor of four.
const AMOUNTS: usize = 6;
/// The number of users with a group of their own: the users with the most work.
const USERS: usize = 5;

impl Groups {
    /// Creates the groups for the jobs of a log, which have the given kinds.
    pub fn of(log: &Log, kinds: &DemandKinds) -> Self {
        let work = |job: &ReplayJob| job.size * kinds.most_held(job.kind);
        let work: Vec<f64> = log.jobs.iter().map(work).collect();
        let length = |job: &ReplayJob| {
            let seconds = job.size / log.tick.per_second() as f64;
            LENGTHS.partition_point(|(least, _)| *least <= seconds) - 1
        };
        let lengths = LENGTHS.map(|(_, name)| name.to_owned()).to_vec();
        let (amounts, amount_of) = amounts(log);
        let amount_of = log.jobs.iter().map(|job| amount_of[job.kind as usize]);
        let length_of = log.jobs.iter().map(|job| length(job) as u8);
        let ways: [(Vec<String>, Vec<u8>); 3] = [
            (amounts, amount_of.collect()),
            (lengths, length_of.collect()),
            users(log, &work),
        ];
        let differ = |of: &[u8]| of.iter().any(|own| *own != of[0]);
        let ways = ways.into_iter().filter(|(_, of)| differ(of)).collect();
        Groups { ways, work }
    }

    /// Returns the groups and the group of each job by the first criterion that distinguishes jobs.
    pub fn first_way(&self) -> (&[String], &[u8]) {
        let first = self.ways.first();
        first.map_or((&[], &[]), |(names, of)| (names, of))
    }

    /// Returns the results of each group for the jobs submitted in this range of seconds. `visits`
    /// must contain all jobs of the log.
    pub fn means(&self, visits: &[Visit], within: [f64; 2]) -> Vec<GroupResult> {
        let measured = || (0..visits.len()).filter(|n| visits[*n].is_within(within));
        let total: f64 = measured().map(|n| self.work[n]).sum();
        let mut found = Vec::new();
        for (names, of_jobs) in &self.ways {
            for (group, name) in (0_u8..).zip(names) {
                let own: Vec<usize> = measured().filter(|n| of_jobs[*n] == group).collect();
                if own.is_empty() {
                    continue;
                }
                let jobs = own.len() as f64;
                let sum = |of: &dyn Fn(usize) -> f64| own.iter().map(|n| of(*n)).sum::<f64>();
                let waits = own.iter().map(|n| visits[*n].wait);
                found.push(GroupResult {
                    name: name.clone(),
                    jobs: own.len() as u64,
                    work: sum(&|n| self.work[n] / total),
                    mean_wait: sum(&|n| visits[n].wait) / jobs,
                    mean_response: sum(&|n| visits[n].response()) / jobs,
                    wait_p95: percentiles(waits)[1],
                });
            }
        }
        found
    }
}

fn amounts(log: &Log) -> (Vec<String>, Vec<u8>) {
    let (name, amounts): (&str, Vec<f64>) = if log.nodes.iter().any(|nodes| *nodes > 1) {
        ("nodes", log.nodes.iter().copied().map(f64::from).collect())
    } else {
        let used = log.work().into_iter().zip(log.servers.total());
        let used = used.map(|(work, total)| work / total).enumerate();
        let used = used.filter(|(_, used)| !used.is_nan());
        let most = used.max_by(|a, b| a.1.total_cmp(&b.1));
        let most = most.map_or(0, |(r, _)| r);
        let amounts = log.vectors.iter().map(|vector| vector[most]);
        (&log.servers.resources[most], amounts.collect())
    };
    let mut tops = amounts.clone();
    tops.sort_by(f64::total_cmp);
    tops.dedup();
    if tops.len() > AMOUNTS {
        let top = |amount: &f64| 4_f64.powf((amount.max(1e-9).log2() / 2.0 - 1e-9).ceil());
        tops = tops.iter().map(top).collect();
        tops.dedup();
    }
    let group = |amount: &f64| tops.partition_point(|top| top < amount).min(tops.len() - 1);
    let mut ends = vec![[f64::INFINITY, 0.0]; tops.len()];
    for amount in &amounts {
        let [least, most] = &mut ends[group(amount)];
        (*least, *most) = (least.min(*amount), most.max(*amount));
    }
    let named = |[least, most]: [f64; 2]| match least == most {
        true => format!("{name} {least}"),
        false => format!("{name} {least} to {most}"),
    };
    let names = ends.into_iter().map(named).collect();
    let groups = amounts.iter().map(|amount| group(amount) as u8);
    (names, groups.collect())
}

fn users(log: &Log, work: &[f64]) -> (Vec<String>, Vec<u8>) {
    let mut sums = std::collections::BTreeMap::<u32, f64>::new();
    for (job, work) in log.jobs.iter().zip(work) {
        *sums.entry(job.user).or_default() += work;
    }
    let mut first: Vec<(u32, f64)> = sums.into_iter().collect();
    first.sort_by(|a, b| b.1.total_cmp(&a.1));
    let others = first.split_off(first.len().min(USERS)).len();
    let name = |(user, _): &(u32, f64)| match log.account.users.get(user) {
        Some(name) => format!("user {name}"),
        None => "unknown user".into(),
    };
    let mut names: Vec<String> = first.iter().map(name).collect();
    names.push(format!("{others} other users"));
    let group = |job: &ReplayJob| {
        let place = first.iter().position(|(user, _)| *user == job.user);
        place.unwrap_or(first.len()) as u8
    };
    (names, log.jobs.iter().map(group).collect())
}
