//! What an administrator has set: nodes, partitions, how jobs are scheduled and ranked, and who may have what.
//!
//! The defaults are those of Slurm 22.05 (slurm.conf(5), sacctmgr(1)). Times are in seconds, memory in MiB.

use std::collections::HashMap;

/// A cluster as it is set up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlurmSite {
    /// Its name.
    pub cluster: String,
    /// The nodes, in the order of the configuration.
    pub nodes: Vec<SiteNode>,
    /// The partitions, likewise.
    pub partitions: Vec<SitePartition>,
    /// When and how far jobs are looked at.
    pub scheduler: SchedulerSettings,
    /// What a job's place in the queue is computed from.
    pub priority: PrioritySettings,
    /// The qualities of service.
    pub qos: Vec<Qos>,
    /// Who shares with whom: accounts, and users in them; a parent stands before its children.
    pub associations: Vec<Association>,
    /// The options of slurm.conf for the whole cluster, with their values as they are written.
    pub options: Vec<(String, String)>,
    /// Assumptions that shape every result, in a sentence each: an answer begins with them.
    pub assumed: Vec<String>,
    /// What was read and is not understood, or not followed, in a sentence each.
    pub remarks: Vec<String>,
}

/// Amounts by the names that limits have for them, in the order in which they are written: `cpu`, `mem` \[MiB\], `node`, and
/// generic resources such as `gpu` and `gpu:a100`; the number of jobs has the empty name. A resource that is missing is 0 of a
/// node, and is not limited by a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tres(pub Vec<(String, u64)>);

impl Tres {
    /// Returns the amount of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        let found = self.0.iter().find(|own| own.0 == name);
        found.map(|own| own.1)
    }

    /// Sets the amount of this name, or removes it.
    pub fn set(&mut self, name: &str, amount: Option<u64>) {
        self.0.retain(|own| own.0 != name);
        self.0
            .extend(amount.map(|amount| (name.to_owned(), amount)));
    }
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteNode {
    /// Its name.
    pub name: String,
    /// What it has.
    pub has: Tres,
    /// Nodes of less weight are taken first.
    pub weight: u32,
    /// Whether jobs may start on it.
    pub is_up: bool,
}

impl SiteNode {
    /// Returns how much it has of a resource of logs; of memory in GiB.
    pub fn amount(&self, resource: &str) -> f64 {
        match resource {
            "memory" => self.has.get("mem").unwrap_or(0) as f64 / 1024.0,
            name => self.has.get(name).unwrap_or(0) as f64,
        }
    }
}

/// Declares structs with the default of each field.
macro_rules! with_defaults {
    ($($(#[$doc:meta])* $Name:ident { $($(#[$about:meta])* $field:ident: $Type:ty = $default:expr,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name { $($(#[$about])* pub $field: $Type,)* }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $($field: $default,)* }
            }
        }
    )*};
}

with_defaults! {
    /// A partition.
    SitePartition {
        /// Its name.
        name: String = String::new(),
        /// Its nodes, as indices of [`SlurmSite::nodes`], ascending.
        nodes: Vec<usize> = Vec::new(),
        /// Whether jobs that name no partition go to it.
        is_default: bool = false,
        /// Its state: jobs are accepted and started while it is `UP`.
        state: String = "UP".into(),
        /// The longest limit \[s\]; `None`: any.
        max_time: Option<f64> = None,
        /// The limit of jobs that name none \[s\].
        default_time: Option<f64> = None,
        /// The most nodes of a job.
        max_nodes: Option<u64> = None,
        /// The fewest nodes of a job.
        min_nodes: u64 = 0,
        /// Jobs of a higher tier come before all of a lower one.
        tier: u32 = 1,
        /// What the partition adds to priority, before it is divided by the largest of all partitions.
        job_factor: u32 = 1,
        /// Whether a job has its nodes for itself (`OverSubscribe=EXCLUSIVE`, `SelectType=select/linear`).
        is_exclusive: bool = false,
        /// A quality of service whose limits hold for all its jobs.
        qos: Option<String> = None,
    }

    /// `SchedulerType` and `SchedulerParameters`.
    SchedulerSettings {
        /// Whether jobs are backfilled (`sched/backfill`).
        backfills: bool = true,
        /// Whether a node's memory limits what runs there (`SelectTypeParameters=…_Memory`).
        counts_memory: bool = true,
        /// Between two passes of backfilling \[s\].
        bf_interval: f64 = 30.0,
        /// How far ahead reservations are planned \[s\].
        bf_window: f64 = 86_400.0,
        /// The steps of the plan \[s\].
        bf_resolution: f64 = 60.0,
        /// Jobs that a pass tests at most.
        bf_max_job_test: u32 = 500,
        /// The same of each user; 0: any number.
        bf_max_job_user: u32 = 0,
        /// The same of each partition; 0: any number.
        bf_max_job_part: u32 = 0,
        /// The same of each user in each partition; 0: any number.
        bf_max_job_user_part: u32 = 0,
        /// Jobs that a pass starts at most; 0: any number.
        bf_max_job_start: u32 = 0,
        /// Jobs of less priority get no reservation.
        bf_min_prio_reserve: u64 = 0,
        /// Jobs that have waited for less get no reservation \[s\].
        bf_min_age_reserve: f64 = 0.0,
        /// Reservations in each partition at most; 0: any number.
        bf_job_part_count_reserve: u32 = 0,
        /// Jobs that the main scheduler tests at an event.
        default_queue_depth: u32 = 100,
        /// The same of each partition; 0: any number.
        partition_job_depth: u32 = 0,
        /// Between two passes of the main scheduler over the whole queue \[s\]; `None`: never.
        sched_interval: Option<f64> = Some(60.0),
        /// The least time between two passes after submissions \[s\].
        batch_sched_delay: f64 = 3.0,
        /// Whether the ends of jobs are looked at no sooner than submissions: with `defer`, and without an `Epilog`, which nodes
        /// would report (`_rpc_terminate_job` in `src/slurmd/slurmd/req.c`).
        defers: bool = true,
        /// Jobs that are let past one whose user or account is at a limit: not with `assoc_limit_stop`.
        assoc_limit_stop: bool = false,
    }

    /// `PriorityType` and what belongs to it.
    PrioritySettings {
        /// Whether a job's priority is a sum of factors (`priority/multifactor`), and not its place in the order of submission.
        is_multifactor: bool = false,
        /// The weights of the factors, by [`factor`].
        weights: [f64; 6] = [0.0; 6],
        /// The wait from which age counts no more \[s\].
        max_age: f64 = 7.0 * 86_400.0,
        /// How often priorities are calculated anew \[s\].
        calc_period: f64 = 300.0,
        /// The half-life of what was used \[s\]; `None`: it does not fade.
        decay_half_life: Option<f64> = Some(7.0 * 86_400.0),
        /// Whether small jobs come first (`PriorityFavorSmall`).
        favors_small: bool = false,
        /// Whether size is divided by time (`SMALL_RELATIVE_TO_TIME`).
        small_relative_to_time: bool = false,
        /// Whether fair share goes down the tree of accounts (as by default), and not by each association's own usage.
        is_fair_tree: bool = true,
        /// What usage over shares is divided by where it does not.
        dampening: f64 = 1.0,
    }
}

/// The factors of a job's priority, by the place of their weights.
pub mod factor {
    /// The time in the queue.
    pub const AGE: usize = 0;
    /// The usage of the account and the user compared with their shares.
    pub const FAIR_SHARE: usize = 1;
    /// The partition.
    pub const PARTITION: usize = 3;
    /// The quality of service.
    pub const QOS: usize = 4;

    /// The names of the factors in slurm.conf, behind `PriorityWeight`.
    pub const NAMES: [&str; 6] = ["Age", "Fairshare", "JobSize", "Partition", "QOS", "Assoc"];
}

/// The limits of a QOS or an association, by [`scope`]: the jobs that may run at once, and the amounts that they may hold.
pub type LimitSet = [Tres; 7];

/// The jobs that count against a limit.
pub mod scope {
    /// All running jobs together.
    pub const GROUP: usize = 0;
    /// The running jobs of each user.
    pub const USER: usize = 1;
    /// The running jobs of each account.
    pub const ACCOUNT: usize = 2;
    /// A single job.
    pub const JOB: usize = 3;
    /// A single job, by node.
    pub const NODE: usize = 4;
    /// A single job: its time limit \[min\], and amounts times that.
    pub const MINUTES: usize = 5;
    /// A single job, which has this at least.
    pub const LEAST: usize = 6;

    /// The columns of `sacctmgr` with the limits of each scope of a QOS: the number of jobs and the amounts.
    pub(crate) const OF_QOS: &str = "GrpJobs GrpTRES;MaxJobsPU MaxTRESPU;MaxJobsPA MaxTRESPA;- MaxTRES;\
        - MaxTRESPerNode;MaxWall MaxTRESMins;- MinTRES";
    /// The same of an association.
    pub(crate) const OF_ASSOCIATION: &str =
        "GrpJobs GrpTRES;MaxJobs -;- -;- MaxTRES;- MaxTRESPerNode;MaxWall MaxTRESMins;- -";
}

/// A quality of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// Its name.
    pub name: String,
    /// What it adds to priority, before it is divided by the largest of all.
    pub priority: u32,
    /// The flags `DenyOnLimit`, `OverPartQOS` and the like.
    pub flags: Vec<String>,
    /// Its limits.
    pub limits: LimitSet,
}

impl Qos {
    /// Returns whether it has a flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own.eq_ignore_ascii_case(flag))
    }
}

/// An account, or a user in an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    /// The account.
    pub account: String,
    /// The user; `None`: the account itself.
    pub user: Option<String>,
    /// The account above, which of a user is the account; empty of the root.
    pub parent: String,
    /// Its shares among those of one parent; `None`: those of its parent (`fairshare=parent`).
    pub shares: Option<u64>,
    /// What was used so far, faded \[CPU seconds\], where that is known (sshare).
    pub usage: f64,
    /// What it adds to priority, before it is divided by the largest of all.
    pub priority: u32,
    /// Its limits: the group has all jobs below it, and the others are handed down the tree.
    pub limits: LimitSet,
    /// The quality of service of jobs that name none.
    pub default_qos: Option<String>,
}

impl Association {
    /// Returns the names of the user and the account.
    pub fn describe(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("user {user} in "));
        format!("{}account {}", user.unwrap_or_default(), self.account)
    }

    /// Returns the place of the account directly above each of these; none of roots.
    pub fn parents(all: &[Self]) -> Vec<Option<usize>> {
        let accounts = all.iter().enumerate().rev();
        let accounts = accounts.filter(|(_, own)| own.user.is_none());
        let places: HashMap<&str, usize> = accounts.map(|(n, own)| (&*own.account, n)).collect();
        let above = |own: &Self| match (&*own.parent, &own.user) {
            ("", None) => None,
            (parent, _) => places.get(parent).copied(),
        };
        all.iter().map(above).collect()
    }
}

impl SlurmSite {
    /// Reports an assumption, with which answers begin if `is_first`.
    pub(super) fn tell(&mut self, is_first: bool, what: String) {
        match is_first {
            true => self.assumed.push(what),
            false => self.remarks.push(what),
        }
    }

    /// Returns the partition of this name.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|own| own.name == name)
    }

    /// Returns the partition of jobs that name none.
    pub fn default_partition(&self) -> Option<usize> {
        self.partitions.iter().position(|own| own.is_default)
    }

    /// Returns the quality of service of this name.
    pub fn qos(&self, name: &str) -> Option<&Qos> {
        self.qos.iter().find(|own| own.name == name)
    }
}
