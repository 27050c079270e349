//! This module compares a replay of the current configuration with the log.
//!
//! A replay can have the right mean wait although each class of jobs waits for the wrong time, so
//! the waits are also compared by class, by partition and by user.

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::classes::classes;
use synth_traces::replay::Log;
use synth_traces::trace::Observed;
use synth_verb::report::{counted, length};

/// A comparison of the replay of the current configuration with the log. All times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Agreement {
    /// The mean wait of the jobs in the log.
    pub recorded: f64,
    /// The mean wait of the same jobs in the replay.
    pub replayed: f64,
    /// The jobs that were still waiting at the end of the log, which are included in both means
    /// with their waits up to then.
    pub pending: Option<GroupWait>,
    /// A comparison of groups of jobs.
    pub groupings: Vec<GroupedAgreement>,
}

/// A comparison of the replay with the log for all groups of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupedAgreement {
    /// What the jobs are grouped by.
    pub by: Grouping,
    /// The number of groups that have enough jobs for a comparison.
    pub groups: usize,
    /// The fraction of the jobs in these groups for which the mean wait of the group agrees.
    pub agreeing: f64,
    /// The group that differs most, if there is one that differs.
    pub worst: Option<GroupWait>,
}

/// What jobs are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// The class, which consists of the width and the limit.
    Class,
    /// The partition.
    Partition,
    /// The user.
    User,
}

/// The mean waits of a group of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupWait {
    /// The name of the group.
    pub name: String,
    /// The number of jobs.
    pub jobs: u64,
    /// The mean wait in the log.
    pub recorded: f64,
    /// The mean wait in the replay.
    pub replayed: f64,
}

/// The maximum ratio of two mean waits that agree.
const FACTOR: f64 = 2.0;

/// The time that is added to both means before they are compared \[s\]. If no job waits for longer
/// than this on average, nobody waits.
const NEGLIGIBLE: f64 = 60.0;

/// For a group, at least this fraction of the mean wait of all jobs is added, because the waits of
/// a group that hardly waits are random.
const SMALL: f64 = 0.1;

/// The minimum number of jobs of a group that is compared.
const FEWEST: usize = 20;

/// The minimum fraction of the jobs that must be in groups whose waits agree.
const MOST: f64 = 0.75;

fn differ(own: &GroupWait, added: f64) -> f64 {
    let ratio = (own.replayed + added) / (own.recorded + added);
    ratio.max(1.0 / ratio)
}

impl Agreement {
    /// Compares the jobs from the `first` on. `wait` is the wait of a job in the replay in seconds.
    /// Returns `None` if no start is recorded.
    pub(crate) fn of(log: &Log, first: usize, wait: impl Fn(usize) -> f64) -> Option<Self> {
        let per_second = log.tick.per_second() as f64;
        let recorded = |n: usize| log.jobs[n].waited / per_second;
        let known = (first..log.jobs.len()).filter(|n| !recorded(*n).is_nan());
        let known = known.collect_vec();
        let group = |name: String, jobs: &[usize]| {
            let mean = |of: &dyn Fn(usize) -> f64| {
                jobs.iter().map(|n| of(*n)).sum::<f64>() / jobs.len() as f64
            };
            GroupWait {
                name,
                jobs: jobs.len() as u64,
                recorded: mean(&recorded),
                replayed: mean(&wait),
            }
        };
        if known.is_empty() {
            return None;
        }
        let all = group(String::new(), &known);
        let added = (SMALL * all.recorded).max(NEGLIGIBLE);
        let class_of = classes(log);
        let destinations = &log.account.classes;
        let name = |by: Grouping, n: usize| {
            let job = &log.jobs[n];
            match by {
                Grouping::Class => Some(class_of[n].clone()),
                Grouping::Partition => {
                    let own = destinations.get(job.class as usize)?;
                    Some(own.partition.clone()).filter(|name| !name.is_empty())
                }
                Grouping::User => log.account.users.get(&job.user).cloned(),
            }
        };
        let grouping = |by: Grouping| {
            let named = known.iter().filter_map(|n| Some((name(by, *n)?, *n)));
            let groups = named.into_group_map().into_iter();
            let groups = groups.filter(|(_, jobs)| jobs.len() >= FEWEST);
            let groups = groups.map(|(name, jobs)| group(name, &jobs));
            let groups = groups.sorted_by(|a, b| a.name.cmp(&b.name)).collect_vec();
            let jobs = |of: &[&GroupWait]| of.iter().map(|own| own.jobs).sum::<u64>() as f64;
            let (differing, agreeing): (Vec<&GroupWait>, Vec<&GroupWait>) =
                (groups.iter()).partition(|own| differ(own, added) > FACTOR);
            let total = jobs(&differing) + jobs(&agreeing);
            let worst = differing.into_iter();
            let worst = worst.max_by(|a, b| differ(a, added).total_cmp(&differ(b, added)));
            (groups.len() > 1).then(|| GroupedAgreement {
                by,
                groups: groups.len(),
                agreeing: jobs(&agreeing) / total,
                worst: worst.cloned(),
            })
        };
        let groupings = [Grouping::Class, Grouping::Partition, Grouping::User];
        let pending = known.iter().copied();
        let pending = pending.filter(|n| log.jobs[*n].seen == Observed::Pending);
        let pending = pending.collect_vec();
        Some(Agreement {
            recorded: all.recorded,
            replayed: all.replayed,
            pending: (!pending.is_empty()).then(|| group("still waiting".into(), &pending)),
            groupings: groupings.into_iter().filter_map(grouping).collect(),
        })
    }

    /// Returns `true` if nobody waits, in the log and in the replay.
    pub(crate) fn is_quiet(&self) -> bool {
        self.recorded.max(self.replayed) < NEGLIGIBLE
    }

    /// Returns `true` if the replay is close enough to the log to give advice.
    pub(crate) fn is_near(&self) -> bool {
        self.mean_is_near() && self.groupings.iter().all(|own| own.agreeing >= MOST)
    }

    fn mean_is_near(&self) -> bool {
        let all = GroupWait {
            name: String::new(),
            jobs: 0,
            recorded: self.recorded,
            replayed: self.replayed,
        };
        differ(&all, NEGLIGIBLE) <= FACTOR
    }

    /// Describes how close the replay is to the log, and a possible reason if it is not.
    /// `has_configuration` is whether the replay uses the configuration of the site.
    pub(crate) fn describe(&self, has_configuration: bool) -> String {
        let [recorded, replayed] = [self.recorded, self.replayed].map(length);
        let mut text = format!(
            "The mean wait is {recorded} in the log, and {replayed} in the replay of the current {}.",
            if has_configuration {
                "configuration"
            } else {
                "rule"
            }
        );
        if let Some(own) = &self.pending {
            text += &format!(
                " This includes {} still waiting at the end, for {} so far on average ({} in the replay).",
                counted(own.jobs as f64, "job"),
                length(own.recorded),
                length(own.replayed)
            );
        }
        let parts = self.groupings.iter().map(|own| {
            let [_, many] = own.by.words();
            format!("{:.0} % by {many}", 100.0 * own.agreeing)
        });
        let parts = parts.collect_vec();
        if !parts.is_empty() && !self.is_quiet() {
            text += &format!(
                " Share of the jobs in groups whose mean waits agree within a factor of {FACTOR}: {}.",
                parts.join(", ")
            );
        }
        if self.is_near() {
            return text;
        }
        let worst = self.groupings.iter();
        let worst = worst.filter(|own| own.agreeing < MOST);
        let worst = worst.filter_map(|own| Some((own.by, own.worst.as_ref()?)));
        for (by, own) in worst {
            let [one, _] = by.words();
            text += &format!(
                " The {one} {} waited {} in the log, and {} in the replay.",
                own.name,
                length(own.recorded),
                length(own.replayed)
            );
        }
        let why = match (self.mean_is_near(), self.replayed < self.recorded) {
            _ if !has_configuration => {
                "the site uses another rule (see --now), or has priorities, limits or other servers; for a Slurm site, use `--slurm` to replay its configuration"
            }
            (true, _) => {
                "priorities or limits that are not in these files, such as fair share, decide who waits"
            }
            (_, true) => {
                "some jobs had to wait for a reason that is not included in the replay (such as dependencies, reservations, constraints, nodes that were down, or limits that are not in these files)"
            }
            _ => {
                "the number of nodes or the limits are not the same as in these files, or some of the start times in the log are wrong"
            }
        };
        text + &format!(
            " The difference is too large to give advice. A possible reason is that {why}."
        )
    }
}

impl Grouping {
    fn words(self) -> [&'static str; 2] {
        match self {
            Grouping::Class => ["class", "classes"],
            Grouping::Partition => ["partition", "partitions"],
            Grouping::User => ["user", "users"],
        }
    }
}
