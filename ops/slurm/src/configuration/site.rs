//! The configuration of a cluster. The defaults are those of Slurm 22.05 (slurm.conf(5),
//! sacctmgr(1)). Times are in seconds, and memory is in MiB.

use std::collections::HashMap;

/// The configuration of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlurmSite {
    /// The cluster name.
    pub cluster: String,
    /// The nodes, in the order in which they are configured.
    pub nodes: Vec<SiteNode>,
    /// The partitions, in the order in which they are configured.
    pub partitions: Vec<SitePartition>,
    /// The settings of the main scheduler and the backfill scheduler.
    pub scheduler: SchedulerSettings,
    /// The settings that are used to compute the priority of a job.
    pub priority: PrioritySettings,
    /// The qualities of service.
    pub qos: Vec<Qos>,
    /// The accounts and their users. Each parent is listed before its children.
    pub associations: Vec<Association>,
    /// The options of slurm.conf for the whole cluster, with their values as they were written.
    pub options: Vec<(String, String)>,
    /// The assumptions that affect all results. They are reported first, each as a sentence.
    pub assumed: Vec<String>,
    /// The settings that are unknown or are not modeled. Each remark is a sentence.
    pub remarks: Vec<String>,
}

/// The amount of each resource, in the order in which the amounts were written. The names are
/// `cpu`, `mem` \[MiB\], `node`, and generic resources such as `gpu` and `gpu:a100`. The empty name
/// is used for the number of jobs. If a resource is missing, its amount is 0 for a node and
/// unlimited for a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tres(pub Vec<(String, u64)>);

impl Tres {
    /// Returns the amount of the resource with this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        let found = self.0.iter().find(|own| own.0 == name);
        found.map(|own| own.1)
    }

    /// Sets the amount of the resource with this name, or removes it if `amount` is `None`.
    pub fn set(&mut self, name: &str, amount: Option<u64>) {
        self.0.retain(|own| own.0 != name);
        self.0
            .extend(amount.map(|amount| (name.to_owned(), amount)));
    }
}

/// A node of the cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteNode {
    /// The node name.
    pub name: String,
    /// The amount of each resource of the node.
    pub capacity: Tres,
    /// The weight of the node. Nodes with a lower weight are selected first.
    pub weight: u32,
    /// Whether jobs can be started on the node.
    pub is_up: bool,
}

impl SiteNode {
    /// Returns the amount of a resource by its name in logs. Memory is in GiB.
    pub fn amount(&self, resource: &str) -> f64 {
        match resource {
            "memory" => self.capacity.get("mem").unwrap_or(0) as f64 / 1024.0,
            name => self.capacity.get(name).unwrap_or(0) as f64,
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
    /// A partition of the cluster.
    SitePartition {
        /// The partition name.
        name: String = String::new(),
        /// The indices of the nodes in [`SlurmSite::nodes`], in ascending order.
        nodes: Vec<usize> = Vec::new(),
        /// Whether this partition is used for jobs that do not specify a partition.
        is_default: bool = false,
        /// The state of the partition. Jobs are accepted and started if it is `UP`.
        state: String = "UP".into(),
        /// The maximum time limit of a job \[s\], or `None` if it is unlimited.
        max_time: Option<f64> = None,
        /// The time limit of a job that does not specify one \[s\].
        default_time: Option<f64> = None,
        /// The maximum number of nodes per job.
        max_nodes: Option<u64> = None,
        /// The minimum number of nodes per job.
        min_nodes: u64 = 0,
        /// The priority tier. Jobs of a higher tier precede all jobs of a lower tier.
        tier: u32 = 1,
        /// The contribution to the priority, before it is divided by the largest of all partitions.
        job_factor: u32 = 1,
        /// Whether jobs get whole nodes (`OverSubscribe=EXCLUSIVE`, `SelectType=select/linear`).
        is_exclusive: bool = false,
        /// The QOS whose limits apply to all jobs in the partition.
        qos: Option<String> = None,
    }

    /// `SchedulerType` and `SchedulerParameters`.
    SchedulerSettings {
        /// Whether jobs are backfilled (`sched/backfill`).
        backfills: bool = true,
        /// Whether memory is allocated to jobs (`SelectTypeParameters=…_Memory`).
        counts_memory: bool = true,
        /// The time between the passes of the backfill scheduler \[s\].
        bf_interval: f64 = 30.0,
        /// The maximum time in the future for which reservations are made \[s\].
        bf_window: f64 = 86_400.0,
        /// The time resolution of the plan \[s\].
        bf_resolution: f64 = 60.0,
        /// The maximum number of jobs that are tested in a pass.
        bf_max_job_test: u32 = 500,
        /// The maximum number of jobs per user that are tested in a pass, or 0 if unlimited.
        bf_max_job_user: u32 = 0,
        /// The maximum number of jobs per partition that are tested in a pass, or 0 if unlimited.
        bf_max_job_part: u32 = 0,
        /// The maximum number of jobs per user and partition that a pass tests, or 0 if unlimited.
        bf_max_job_user_part: u32 = 0,
        /// The maximum number of jobs that are started in a pass, or 0 if there is no limit.
        bf_max_job_start: u32 = 0,
        /// A reservation is only made for a job if its priority is at least this number.
        bf_min_prio_reserve: u64 = 0,
        /// A reservation is only made for a job that has waited for at least this time \[s\].
        bf_min_age_reserve: f64 = 0.0,
        /// The maximum number of reservations per partition, or 0 if there is no limit.
        bf_job_part_count_reserve: u32 = 0,
        /// The maximum number of jobs that are tested by the main scheduler after an event.
        default_queue_depth: u32 = 100,
        /// The maximum number of jobs per partition that are tested by the main scheduler, or 0 if
        /// there is no limit.
        partition_job_depth: u32 = 0,
        /// The time between the passes of the main scheduler over the whole queue \[s\], or `None`
        /// if there are none.
        sched_interval: Option<f64> = Some(60.0),
        /// The minimum time between two passes after submissions \[s\].
        batch_sched_delay: f64 = 3.0,
        /// Whether the main scheduler is delayed after the end of a job in the same way as after a
        /// submission. This is the case if `defer` is set or there is no `Epilog`
        /// (`_rpc_terminate_job` in `src/slurmd/slurmd/req.c`).
        defers: bool = true,
        /// Whether a job at a limit of its user or account blocks later jobs (`assoc_limit_stop`).
        assoc_limit_stop: bool = false,
    }

    /// The settings that belong to `PriorityType`.
    PrioritySettings {
        /// Whether the priority is a sum of factors (`priority/multifactor`) and not the order of
        /// submission.
        is_multifactor: bool = false,
        /// The weight of each factor, indexed by [`factor`].
        weights: [f64; 6] = [0.0; 6],
        /// The waiting time at which the age factor reaches its maximum \[s\].
        max_age: f64 = 7.0 * 86_400.0,
        /// The time between two calculations of the priorities \[s\].
        calc_period: f64 = 300.0,
        /// The half-life of past usage \[s\], or `None` if it does not decay.
        decay_half_life: Option<f64> = Some(7.0 * 86_400.0),
        /// Whether small jobs have a higher priority (`PriorityFavorSmall`).
        favors_small: bool = false,
        /// Whether the size of a job is divided by its time limit (`SMALL_RELATIVE_TO_TIME`).
        small_relative_to_time: bool = false,
        /// Whether the Fair Tree algorithm is used to compute the fair-share factor. If this is
        /// `false`, the factor is computed from the effective usage.
        is_fair_tree: bool = true,
        /// The divisor of usage over shares (`FairShareDampeningFactor`) if `is_fair_tree` is
        /// `false`.
        dampening: f64 = 1.0,
    }
}

/// The factors of the priority of a job. Each constant is the index of a weight.
pub mod factor {
    /// The time that the job has spent in the queue.
    pub const AGE: usize = 0;
    /// The past usage of the user and account, compared with their shares.
    pub const FAIR_SHARE: usize = 1;
    /// The partition.
    pub const PARTITION: usize = 3;
    /// The quality of service.
    pub const QOS: usize = 4;

    /// The name of each factor as it is written after `PriorityWeight` in slurm.conf.
    pub const NAMES: [&str; 6] = ["Age", "Fairshare", "JobSize", "Partition", "QOS", "Assoc"];
}

/// The limits of a QOS or an association, indexed by [`scope`]: the number of jobs that may run at
/// the same time, and the amounts that they may use.
pub type LimitSet = [Tres; 7];

/// The jobs that are counted for a limit.
pub mod scope {
    /// All running jobs are counted together.
    pub const GROUP: usize = 0;
    /// The running jobs of each user are counted.
    pub const USER: usize = 1;
    /// The running jobs of each account are counted.
    pub const ACCOUNT: usize = 2;
    /// The limit applies to a single job.
    pub const JOB: usize = 3;
    /// The limit applies to a single job on each node.
    pub const NODE: usize = 4;
    /// The time limit of a single job \[min\], and its amounts multiplied by the time limit.
    pub const MINUTES: usize = 5;
    /// The limit is the minimum amount of a single job.
    pub const MINIMUM: usize = 6;

    /// For each scope, the columns of `sacctmgr` with the number of jobs and the amounts of a QOS.
    pub(crate) const OF_QOS: &str = "GrpJobs GrpTRES;MaxJobsPU MaxTRESPU;MaxJobsPA MaxTRESPA;- MaxTRES;\
        - MaxTRESPerNode;MaxWall MaxTRESMins;- MinTRES";
    pub(crate) const OF_ASSOCIATION: &str =
        "GrpJobs GrpTRES;MaxJobs -;- -;- MaxTRES;- MaxTRESPerNode;MaxWall MaxTRESMins;- -";
}

/// A quality of service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qos {
    /// The name of the QOS.
    pub name: String,
    /// The priority of the QOS, before it is divided by the highest priority of all QOS.
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

/// An account, or a user of an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    /// The account name.
    pub account: String,
    /// The user, or `None` for the account itself.
    pub user: Option<String>,
    /// The parent account. For a user this is `account`, and for the root account it is empty.
    pub parent: String,
    /// The shares of this association in comparison with its siblings, or `None` if the shares of
    /// the parent are used (`fairshare=parent`).
    pub shares: Option<u64>,
    /// The past usage after the decay \[CPU seconds\], if it is printed by `sshare`.
    pub usage: f64,
    /// The priority of the association, before it is divided by the highest priority.
    pub priority: u32,
    /// The limits of the association. Group limits apply to all jobs below this association
    /// together, and the other limits are inherited.
    pub limits: LimitSet,
    /// The QOS of jobs that do not specify one.
    pub default_qos: Option<String>,
}

impl Association {
    /// Returns a description such as `user ann in account physics`.
    pub fn describe(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("user {user} in "));
        format!("{}account {}", user.unwrap_or_default(), self.account)
    }

    /// Returns the index of the parent account of each association, or `None` for a root.
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

    /// Returns the index of the partition with this name.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|own| own.name == name)
    }

    /// Returns the index of the partition that is used for jobs without a partition.
    pub fn default_partition(&self) -> Option<usize> {
        self.partitions.iter().position(|own| own.is_default)
    }

    /// Returns the QOS with this name.
    pub fn qos(&self, name: &str) -> Option<&Qos> {
        self.qos.iter().find(|own| own.name == name)
    }
}
