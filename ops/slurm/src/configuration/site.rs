//! The configuration of a cluster, with defaults of Slurm 22.05 (slurm.conf(5), sacctmgr(1)). Times
//! are in seconds, memory in MiB.

use std::collections::HashMap;

/// The configuration of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlurmSite {
    /// The cluster name.
    pub cluster: String,
    /// The nodes, in the order of the configuration.
    pub nodes: Vec<SiteNode>,
    /// The partitions, in the order of the configuration.
    pub partitions: Vec<SitePartition>,
    /// Settings of the two schedulers.
    pub scheduler: SchedulerSettings,
    /// Settings of the job priority.
    pub priority: PrioritySettings,
    /// The qualities of service.
    pub qos: Vec<Qos>,
    /// The accounts and their users, with each parent before its children.
    pub associations: Vec<Association>,
    /// The cluster-wide options of slurm.conf, with their values as written.
    pub options: Vec<(String, String)>,
    /// Assumptions that affect all results, one sentence each. Reports begin with them.
    pub assumed: Vec<String>,
    /// Settings that are not understood or not modeled, one sentence each.
    pub remarks: Vec<String>,
}

/// Amounts in the order in which they are written: `cpu`, `mem` \[MiB\], `node`, and generic
/// resources such as `gpu` and `gpu:a100`. The number of jobs has the empty name. A missing
/// resource is 0 in a node and unlimited in a limit.
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
    /// The node name.
    pub name: String,
    /// The amounts of the node's resources.
    pub has: Tres,
    /// The weight. Nodes with a lower weight are chosen first.
    pub weight: u32,
    /// Whether jobs may start on it.
    pub is_up: bool,
}

impl SiteNode {
    /// Returns the amount of a resource as named in logs; memory is in GiB.
    pub fn amount(&self, resource: &str) -> f64 {
        match resource {
            "memory" => self.has.get("mem").unwrap_or(0) as f64 / 1024.0,
            name => self.has.get(name).unwrap_or(0) as f64,
        }
    }
}

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
        /// The partition name.
        name: String = String::new(),
        /// Indices into [`SlurmSite::nodes`], ascending.
        nodes: Vec<usize> = Vec::new(),
        /// Whether this is the partition of jobs that do not name one.
        is_default: bool = false,
        /// The state; jobs are accepted and started while it is `UP`.
        state: String = "UP".into(),
        /// The maximum time limit \[s\], or `None` if there is none.
        max_time: Option<f64> = None,
        /// The time limit of jobs that do not set one \[s\].
        default_time: Option<f64> = None,
        /// The maximum number of nodes per job.
        max_nodes: Option<u64> = None,
        /// The minimum number of nodes per job.
        min_nodes: u64 = 0,
        /// The priority tier: all jobs of a higher tier come before those of a lower one.
        tier: u32 = 1,
        /// The contribution to the priority, which is divided by the largest of all partitions.
        job_factor: u32 = 1,
        /// Whether jobs get whole nodes (`OverSubscribe=EXCLUSIVE`, `SelectType=select/linear`).
        is_exclusive: bool = false,
        /// The QOS whose limits apply to all jobs of the partition.
        qos: Option<String> = None,
    }

    /// `SchedulerType` and `SchedulerParameters`.
    SchedulerSettings {
        /// Whether jobs are backfilled (`sched/backfill`).
        backfills: bool = true,
        /// Whether memory is allocated (`SelectTypeParameters=…_Memory`).
        counts_memory: bool = true,
        /// The interval between backfilling passes \[s\].
        bf_interval: f64 = 30.0,
        /// How far ahead reservations are planned \[s\].
        bf_window: f64 = 86_400.0,
        /// The time resolution of the plan \[s\].
        bf_resolution: f64 = 60.0,
        /// The maximum number of jobs that a pass tests.
        bf_max_job_test: u32 = 500,
        /// The maximum number of jobs per user that a pass tests, or 0 if unlimited.
        bf_max_job_user: u32 = 0,
        /// The maximum number of jobs per partition that a pass tests, or 0 if unlimited.
        bf_max_job_part: u32 = 0,
        /// The maximum number of jobs per user and partition that a pass tests, or 0 if unlimited.
        bf_max_job_user_part: u32 = 0,
        /// The maximum number of jobs that a pass starts, or 0 if unlimited.
        bf_max_job_start: u32 = 0,
        /// The minimum priority of a job that gets a reservation.
        bf_min_prio_reserve: u64 = 0,
        /// The minimum wait of a job that gets a reservation \[s\].
        bf_min_age_reserve: f64 = 0.0,
        /// The maximum number of reservations per partition, or 0 if unlimited.
        bf_job_part_count_reserve: u32 = 0,
        /// The maximum number of jobs that the main scheduler tests after an event.
        default_queue_depth: u32 = 100,
        /// The maximum number of jobs per partition that the main scheduler tests, or 0 if
        /// unlimited.
        partition_job_depth: u32 = 0,
        /// The interval between passes of the main scheduler over the whole queue \[s\], or `None`
        /// if there are none.
        sched_interval: Option<f64> = Some(60.0),
        /// The minimum time between passes after submissions \[s\].
        batch_sched_delay: f64 = 3.0,
        /// Whether the main scheduler reacts to the end of a job as late as to a submission. This
        /// is the case with `defer`, or without an `Epilog` (`_rpc_terminate_job` in
        /// `src/slurmd/slurmd/req.c`).
        defers: bool = true,
        /// Whether a job whose user or account has reached a limit blocks later jobs
        /// (`assoc_limit_stop`).
        assoc_limit_stop: bool = false,
    }

    /// `PriorityType` and the related options.
    PrioritySettings {
        /// Whether the priority is a sum of factors, instead of being given by the order of
        /// submission.
        is_multifactor: bool = false,
        /// The weights of the factors, indexed by [`factor`].
        weights: [f64; 6] = [0.0; 6],
        /// The wait at which the age factor reaches its maximum \[s\].
        max_age: f64 = 7.0 * 86_400.0,
        /// The interval at which priorities are recalculated \[s\].
        calc_period: f64 = 300.0,
        /// The half-life of past usage \[s\], or `None` if it does not decay.
        decay_half_life: Option<f64> = Some(7.0 * 86_400.0),
        /// Whether small jobs are favored (`PriorityFavorSmall`).
        favors_small: bool = false,
        /// Whether job size is divided by time (`SMALL_RELATIVE_TO_TIME`).
        small_relative_to_time: bool = false,
        /// Whether fair share is computed by the Fair Tree algorithm, instead of from the effective
        /// usage.
        is_fair_tree: bool = true,
        /// The `FairShareDampeningFactor`, used without the Fair Tree.
        dampening: f64 = 1.0,
    }
}

/// The factors of a job's priority, as indices of their weights.
pub mod factor {
    /// The time in the queue.
    pub const AGE: usize = 0;
    /// The past usage compared with the shares.
    pub const FAIR_SHARE: usize = 1;
    /// The partition.
    pub const PARTITION: usize = 3;
    /// The quality of service.
    pub const QOS: usize = 4;

    /// The names of the factors after `PriorityWeight` in slurm.conf.
    pub const NAMES: [&str; 6] = ["Age", "Fairshare", "JobSize", "Partition", "QOS", "Assoc"];
}

/// The limits of a QOS or an association, indexed by [`scope`].
pub type LimitSet = [Tres; 7];

/// The jobs that count toward a limit.
pub mod scope {
    /// All running jobs together.
    pub const GROUP: usize = 0;
    /// The running jobs of each user.
    pub const USER: usize = 1;
    /// The running jobs of each account.
    pub const ACCOUNT: usize = 2;
    /// A single job.
    pub const JOB: usize = 3;
    /// A single job, per node.
    pub const NODE: usize = 4;
    /// A single job: its time limit \[min\], and amounts multiplied by it.
    pub const MINUTES: usize = 5;
    /// The minimum amounts of a single job.
    pub const LEAST: usize = 6;

    /// The columns of `sacctmgr` with the limits of a QOS, by scope: the number of jobs and the
    /// amounts.
    pub(crate) const OF_QOS: &str = "GrpJobs GrpTRES;MaxJobsPU MaxTRESPU;MaxJobsPA MaxTRESPA;- MaxTRES;\
        - MaxTRESPerNode;MaxWall MaxTRESMins;- MinTRES";
    pub(crate) const OF_ASSOCIATION: &str =
        "GrpJobs GrpTRES;MaxJobs -;- -;- MaxTRES;- MaxTRESPerNode;MaxWall MaxTRESMins;- -";
}

/// A quality of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// The QOS name.
    pub name: String,
    /// Its contribution to priority, before division by the largest of all.
    pub priority: u32,
    /// Flags such as `DenyOnLimit` and `OverPartQOS`.
    pub flags: Vec<String>,
    /// The limits.
    pub limits: LimitSet,
}

impl Qos {
    /// Returns `true` if the QOS has this flag, ignoring case.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own.eq_ignore_ascii_case(flag))
    }
}

/// An account, or a user in an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    /// The account name.
    pub account: String,
    /// The user; `None` for the account itself.
    pub user: Option<String>,
    /// The parent account, which is `account` itself for users; empty for the root.
    pub parent: String,
    /// The shares relative to the siblings, or `None` to use those of the parent
    /// (`fairshare=parent`).
    pub shares: Option<u64>,
    /// The decayed past usage \[CPU seconds\], if `sshare` provides it.
    pub usage: f64,
    /// The contribution to priority, before division by the largest of all.
    pub priority: u32,
    /// The limits. Group limits apply to all jobs below this association, and other limits are
    /// inherited.
    pub limits: LimitSet,
    /// The QOS of jobs that do not set one.
    pub default_qos: Option<String>,
}

impl Association {
    /// Returns a description such as `user ann in account physics`.
    pub fn describe(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("user {user} in "));
        format!("{}account {}", user.unwrap_or_default(), self.account)
    }

    /// Returns the index of the parent account of each association; `None` for roots.
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
    pub(super) fn tell(&mut self, is_first: bool, what: String) {
        match is_first {
            true => self.assumed.push(what),
            false => self.remarks.push(what),
        }
    }

    /// Returns the index of the partition of this name.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|own| own.name == name)
    }

    /// Returns the index of the partition for jobs that name none.
    pub fn default_partition(&self) -> Option<usize> {
        self.partitions.iter().position(|own| own.is_default)
    }

    /// Returns the quality of service of this name.
    pub fn qos(&self, name: &str) -> Option<&Qos> {
        self.qos.iter().find(|own| own.name == name)
    }
}
