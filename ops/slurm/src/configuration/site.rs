use std::collections::HashMap;

use crate::commands::Text;
use itertools::Itertools as _;

/// The configuration of a cluster, with the defaults of Slurm 22.05 (slurm.conf(5), sacctmgr(1)).
/// Times are in seconds, and memory is in MiB.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlurmSite {
    /// The cluster name.
    pub cluster: String,
    /// The nodes, in the order in which they are configured.
    pub nodes: Vec<SiteNode>,
    /// The partitions, in the order in which they are configured.
    pub partitions: Vec<SitePartition>,
    /// The settings of both schedulers.
    pub scheduler: SchedulerSettings,
    /// The settings of the priority of jobs.
    pub priority: PrioritySettings,
    pub(crate) qos: Vec<Qos>,
    /// The accounts and their users. Each parent is listed before its children.
    pub associations: Vec<Association>,
    /// The options of slurm.conf for the whole cluster, as they were written.
    pub options: Vec<(String, String)>,
    /// The name of the file and the index of the line of each option.
    pub places: Vec<(String, usize)>,
    /// The files from which the options were read, starting with slurm.conf. This is empty if they
    /// were printed by `scontrol show config`.
    pub files: Vec<Text>,
    /// The assumptions that affect all results. They are reported first, each as a sentence.
    pub assumed: Vec<String>,
    /// The settings that may affect the start of jobs, but are not modeled, such as
    /// `PreemptType=preempt/qos`. They are reported before any result.
    pub not_modeled: Vec<String>,
    /// The settings that are unknown or are not modeled. Each remark is a sentence.
    pub remarks: Vec<String>,
}

/// The amount of each resource in the order in which it was written: `cpu`, `mem` \[MiB\], `node`,
/// the empty name for the number of jobs, and generic resources such as `gpu` and `gpu:a100`. If a
/// resource is missing, its amount is 0 for a node and unlimited for a limit.
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
        let own = amount.map(|amount| (name.to_owned(), amount));
        self.0.extend(own);
    }
}

impl SlurmSite {
    /// Returns the site with only some of its partitions, and their nodes. Returns the names of all
    /// partitions if one of them does not exist.
    pub fn with_partitions(mut self, names: &[String]) -> Result<Self, String> {
        let is_known = |name: &String| self.partitions.iter().any(|own| own.name == *name);
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            let known = self.partitions.iter().map(|own| &own.name).join(", ");
            return Err(format!(
                "--partition {unknown}: the configuration has no such partition; it has {known}"
            ));
        }
        let others = self.partitions.iter();
        let others = others.filter(|own| !names.contains(&own.name));
        let others = others.map(|own| &own.name).join(", ");
        if !others.is_empty() {
            let others = format!("the jobs of other partitions ({others})");
            self.not_modeled.push(others);
        }
        self.partitions.retain(|own| names.contains(&own.name));
        let mut places = vec![None; self.nodes.len()];
        let used = self.partitions.iter().flat_map(|own| &own.nodes);
        for (place, n) in used.copied().sorted().dedup().enumerate() {
            places[n] = Some(place);
        }
        let mut is_used = places.iter().map(Option::is_some);
        self.nodes.retain(|_| is_used.next() == Some(true));
        for partition in &mut self.partitions {
            partition.nodes = partition.nodes.iter().filter_map(|n| places[*n]).collect();
        }
        Ok(self)
    }
}

impl SiteNode {
    /// Returns the amount of a resource by its name in logs. Memory is in GiB.
    pub fn amount(&self, resource: &str) -> f64 {
        let (name, unit) = match resource {
            "memory" => ("mem", 1024.0),
            name => (name, 1.0),
        };
        self.capacity.get(name).unwrap_or(0) as f64 / unit
    }
}

macro_rules! with_defaults {
    ($($(#[$doc:meta])* $Name:ident { $($(#[$about:meta])* $vis:vis $field:ident: $Type:ty = $default:expr,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name { $($(#[$about])* $vis $field: $Type,)* }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $($field: $default,)* }
            }
        }
    )*};
}

with_defaults! {
    /// A node of the cluster.
    SiteNode {
        /// The node name.
        pub name: String = String::new(),
        /// The amount of each resource of the node.
        pub capacity: Tres = Tres::default(),
        /// The weight of the node. Nodes with a lower weight are selected first.
        pub weight: u32 = 1,
        /// Whether jobs can be started on the node.
        pub is_up: bool = true,
    }

    /// A partition of the cluster.
    SitePartition {
        /// The partition name.
        pub name: String = String::new(),
        /// The indices of the nodes in [`SlurmSite::nodes`], in ascending order.
        pub nodes: Vec<usize> = Vec::new(),
        pub(crate) is_default: bool = false,
        /// The state of the partition. Jobs are accepted and started if it is `UP`.
        pub(crate) state: String = "UP".into(),
        /// The maximum time limit of a job \[s\], or `None` if it is unlimited.
        pub(crate) max_time: Option<f64> = None,
        /// The time limit of a job that does not specify one \[s\].
        pub(crate) default_time: Option<f64> = None,
        pub(crate) max_nodes: Option<u64> = None,
        pub(crate) min_nodes: u64 = 0,
        /// The priority tier, where jobs of a higher tier precede all others.
        pub(crate) tier: u32 = 1,
        /// The contribution to the priority, relative to the largest of all partitions.
        pub(crate) job_factor: u32 = 1,
        /// Whether jobs get whole nodes (`OverSubscribe=EXCLUSIVE`, `SelectType=select/linear`).
        pub(crate) is_exclusive: bool = false,
        /// The QOS whose limits apply to all jobs in the partition.
        pub(crate) qos: Option<String> = None,
    }

    /// `SchedulerType` and `SchedulerParameters`, with the names of slurm.conf(5). Times are in
    /// seconds, and a maximum of 0 is no limit.
    SchedulerSettings {
        /// Whether jobs are backfilled (`sched/backfill`).
        pub backfills: bool = true,
        /// Whether memory is allocated to jobs (`SelectTypeParameters=…_Memory`).
        pub(crate) counts_memory: bool = true,
        /// The time between the passes of the backfill scheduler \[s\].
        pub bf_interval: f64 = 30.0,
        /// The maximum time in the future for which reservations are made \[s\].
        pub bf_window: f64 = 86_400.0,
        pub(crate) bf_resolution: f64 = 60.0,
        /// The maximum number of jobs that are tested in a pass.
        pub bf_max_job_test: u32 = 500,
        /// The maximum number of jobs per user that are tested in a pass, or 0 if unlimited.
        pub bf_max_job_user: u32 = 0,
        pub(crate) bf_max_job_part: u32 = 0,
        pub(crate) bf_max_job_user_part: u32 = 0,
        pub(crate) bf_max_job_start: u32 = 0,
        pub(crate) bf_min_prio_reserve: u64 = 0,
        pub(crate) bf_min_age_reserve: f64 = 0.0,
        pub(crate) bf_job_part_count_reserve: u32 = 0,
        pub(crate) default_queue_depth: u32 = 100,
        pub(crate) partition_job_depth: u32 = 0,
        /// The time between passes of the main scheduler over the whole queue \[s\], or `None`.
        pub(crate) sched_interval: Option<f64> = Some(60.0),
        pub(crate) batch_sched_delay: f64 = 3.0,
        /// Whether the main scheduler is also delayed after the end of a job. This is the case with
        /// `defer` or without `Epilog` (`_rpc_terminate_job` in `src/slurmd/slurmd/req.c`).
        pub(crate) defers: bool = true,
        /// Whether a job at a limit of its user or account blocks later jobs (`assoc_limit_stop`).
        pub(crate) assoc_limit_stop: bool = false,
    }

    /// The settings that belong to `PriorityType`.
    PrioritySettings {
        /// Whether the priority is a sum of factors, and not the order of submission.
        pub is_multifactor: bool = false,
        /// The weight of each factor, indexed by [`factor`].
        pub weights: [f64; 6] = [0.0; 6],
        /// The waiting time at which the age factor reaches its maximum \[s\].
        pub max_age: f64 = 7.0 * 86_400.0,
        pub(crate) calc_period: f64 = 300.0,
        /// The half-life of past usage \[s\], or `None` if it does not decay.
        pub(crate) decay_half_life: Option<f64> = Some(7.0 * 86_400.0),
        pub(crate) favors_small: bool = false,
        /// Whether the size of a job is divided by its time limit (`SMALL_RELATIVE_TO_TIME`).
        pub(crate) small_relative_to_time: bool = false,
        /// Whether the fair-share factor is that of the Fair Tree, and not of the effective usage.
        pub(crate) is_fair_tree: bool = true,
        /// The divisor of effective usage over shares (`FairShareDampeningFactor`).
        pub(crate) dampening: f64 = 1.0,
    }
}

/// The factors of the priority of a job, as indices of weights.
pub mod factor {
    /// The time in the queue.
    pub const AGE: usize = 0;
    pub(crate) const FAIR_SHARE: usize = 1;
    pub(crate) const PARTITION: usize = 3;

    /// The names of the factors after `PriorityWeight` in slurm.conf.
    pub const NAMES: [&str; 6] = ["Age", "Fairshare", "JobSize", "Partition", "QOS", "Assoc"];
}

/// The limits of a QOS or an association on running jobs and their amounts, indexed by [`scope`].
pub(crate) type LimitSet = [Tres; 7];

/// The jobs to which a limit applies: all running jobs, those of a user or of an account, or each
/// job on its own.
pub(crate) mod scope {
    pub(crate) const GROUP: usize = 0;
    pub(crate) const USER: usize = 1;
    pub(crate) const ACCOUNT: usize = 2;
    pub(crate) const JOB: usize = 3;
    /// The amounts of a job on each node.
    pub(crate) const NODE: usize = 4;
    /// The time limit of a job \[min\], and its amounts multiplied by the time limit.
    pub(crate) const MINUTES: usize = 5;
    /// The minimum amounts of a job.
    pub(crate) const MINIMUM: usize = 6;

    /// For each scope, the columns of `sacctmgr` with the number of jobs and the amounts of a QOS.
    pub(crate) const OF_QOS: &str = "GrpJobs GrpTRES;MaxJobsPU MaxTRESPU;MaxJobsPA MaxTRESPA;- MaxTRES;\
        - MaxTRESPerNode;MaxWall MaxTRESMins;- MinTRES";
    pub(crate) const OF_ASSOCIATION: &str =
        "GrpJobs GrpTRES;MaxJobs -;- -;- MaxTRES;- MaxTRESPerNode;MaxWall MaxTRESMins;- -";
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Qos {
    pub name: String,
    /// The priority, relative to the highest of all QOS.
    pub priority: u32,
    /// Flags such as `DenyOnLimit` and `OverPartQOS`.
    pub flags: Vec<String>,
    pub limits: LimitSet,
}

impl Qos {
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own.eq_ignore_ascii_case(flag))
    }
}

/// An account, or a user of an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    pub(crate) account: String,
    /// The user, or `None` for the account itself.
    pub(crate) user: Option<String>,
    /// The parent account. For a user this is `account`, and for the root account it is empty.
    pub(crate) parent: String,
    /// The shares relative to its siblings, or `None` for those of the parent (`fairshare=parent`).
    pub(crate) shares: Option<u64>,
    /// The past usage after the decay \[CPU seconds\], as printed by `sshare`.
    pub usage: f64,
    /// The priority, relative to the highest of all associations.
    pub(crate) priority: u32,
    /// Group limits apply to all jobs below this association, and other limits are inherited.
    pub(crate) limits: LimitSet,
    pub(crate) default_qos: Option<String>,
}

impl Association {
    /// Returns a description such as `user ann in account physics`.
    pub(crate) fn describe(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("user {user} in "));
        format!("{}account {}", user.unwrap_or_default(), self.account)
    }

    /// Returns the index of the parent account of each association, or `None` for a root.
    pub(crate) fn parents(all: &[Self]) -> Vec<Option<usize>> {
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

    pub(crate) fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|own| own.name == name)
    }

    pub(super) fn qos(&self, name: &str) -> Option<&Qos> {
        self.qos.iter().find(|own| own.name == name)
    }
}
