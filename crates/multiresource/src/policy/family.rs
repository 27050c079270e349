//! The list of all rules. Each rule has a line here and everything else in its own file.

use std::ops::{Deref, DerefMut};

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::rule::{NamedRule, PolicyConfig, TuningContext};
use super::*;
use crate::workload::{Fleet, Workload};

macro_rules! rules {
    ($($(#[$doc:meta])* $Variant:ident($Policy:ty): $name:literal;)+) => {
        /// The parameters of the online rule.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Family {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $Variant($Policy),
            )+
        }

        $(
            impl From<$Policy> for Family {
                fn from(policy: $Policy) -> Self {
                    Family::$Variant(policy)
                }
            }
        )+

        impl Family {
            /// Returns the name of the rule in policy files and comparisons.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Family::$Variant(_) => $name,)+
                }
            }
        }

        impl Deref for Family {
            type Target = dyn PolicyConfig;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Family::$Variant(policy) => policy,)+
                }
            }
        }

        impl DerefMut for Family {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $(Family::$Variant(policy) => policy,)+
                }
            }
        }
    };
}

rules! {
    /// Backfilling: first-fit, FCFS, best-fit, EASY, conservative, and other orders of the queue.
    Backfilling(BackfillingConfig): "backfilling";
    /// Randomized Timers.
    RandomizedTimers(RandomizedTimersConfig): "randomized-timers";
    /// A Markovian Service Rate policy, which uses a clock to switch between working schedules.
    Msr(MsrConfig): "msr";
    /// Static Quickswap, which serves one type after the other.
    StaticQuickswap(StaticQuickswapConfig): "static-quickswap";
    /// Adaptive Quickswap, which starts the largest jobs first until a waiting type cannot start.
    AdaptiveQuickswap(AdaptiveQuickswapConfig): "adaptive-quickswap";
    /// Adaptive MSR, which switches between working schedules based on the queue lengths.
    AdaptiveMsr(AdaptiveMsrConfig): "adaptive-msr";
    /// First-fit with a reservation, which is only made if it is worth the cost of the drain.
    Reserving(ReservingConfig): "reserving";
    /// TDC (targets, drain, commitment), which selects the most valuable set of jobs and takes the
    /// time of the drain into account.
    Tdc(TdcConfig): "tdc";
    /// MaxWeight, which always runs the schedule with the maximum weight and uses preemption.
    MaxWeight(MaxWeightConfig): "max-weight";
    /// MaxWeight with setup times.
    MaxWeightSetup(MaxWeightSetupConfig): "max-weight-setup";
    /// ServerFilling, with preemption.
    ServerFilling(ServerFillingConfig): "server-filling";
    /// A partition of a fleet. Each type has its own slots on each server.
    Partition(PartitionConfig): "partition";
    /// A rule with a guard: if there are too many jobs, a policy that is proved stable is used.
    Guarded(GuardedConfig): "guarded";
}

pub(crate) const NAMED_RULES: &[NamedRule] = &[
    backfilling::named::FIRST_FIT,
    backfilling::named::FCFS,
    backfilling::named::BEST_FIT,
    backfilling::named::MOST_SERVERS_FIRST,
    backfilling::named::LEAST_SERVERS_FIRST,
    backfilling::named::PRIORITY,
    backfilling::named::STRICT_PRIORITY,
    backfilling::named::EASY_BACKFILL,
    backfilling::named::EASY_BY_MEAN,
    backfilling::named::CONSERVATIVE_BACKFILL,
    randomized_timers::NAMED,
    max_weight::NAMED,
    server_filling::NAMED,
    least_left::NAMED,
    quickswap::MSFQ,
    quickswap::MSFQ_STRICT,
    quickswap::STATIC_QUICKSWAP,
    quickswap::ADAPTIVE_QUICKSWAP,
];

impl Family {
    /// Returns the common name of the rule: its alias, or else the name of its family.
    pub fn called(&self) -> &'static str {
        self.alias().unwrap_or(self.name())
    }

    /// Returns the rule that runs while the guard is inactive: the guarded rule, or else `self`.
    pub fn followed(&self) -> &Family {
        match self {
            Family::Guarded(policy) => &policy.rule,
            _ => self,
        }
    }

    /// Returns the settings of backfilling if the queue has an order of individual jobs.
    pub fn job_order_mut(&mut self) -> Option<&mut BackfillingConfig> {
        match self {
            Family::Backfilling(policy) if policy.priority().is_some() => Some(policy),
            Family::Guarded(policy) => policy.rule.job_order_mut(),
            _ => None,
        }
    }

    /// Returns the Markovian Service Rate policy, if it is one.
    pub fn msr(&self) -> Option<&MsrConfig> {
        match self {
            Family::Msr(policy) => Some(policy),
            _ => None,
        }
    }

    /// Returns the work per event, where an event of First-Fit with a few types is 1.
    pub fn work(&self, workload: &Workload) -> f64 {
        let types = workload.types().len() as f64;
        (0.8 + 0.07 * types).max(1.0) + self.extra_work_per_event(workload)
    }

    /// Returns the number of tuning parameters.
    pub fn axes(&self, context: &TuningContext<'_>) -> usize {
        self.clone().grids(context).len() + self.other_axes(context)
    }

    /// Returns the policy with one parameter moved a step. `None` at the end of its range.
    pub fn stepped(&self, axis: usize, up: bool, context: &TuningContext<'_>) -> Option<Family> {
        let mut stepped = self.clone();
        let mut grids = stepped.grids(context);
        if axis < grids.len() {
            let (value, grid) = grids.swap_remove(axis);
            let old = *value;
            *value = if up {
                *grid.iter().find(|x| **x > old)?
            } else {
                *grid.iter().rfind(|x| **x < old)?
            };
        } else {
            let axis = axis - grids.len();
            drop(grids);
            stepped.step(axis, up, context)?;
        }
        Some(stepped)
    }
}

/// A rule with a guard, for rules for which no proof of stability is known. If there are too many
/// jobs in the system, a policy that is proved to be stable is used until there are only a few jobs
/// left. Together, they are stable for any rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardedConfig {
    /// The rule that is used normally. It must not be MSR, a partition, Randomized Timers or a rule
    /// with a guard.
    pub rule: Box<Family>,
    /// The policy that is used if there are too many jobs: on one server, a Markovian Service Rate
    /// policy with the same kind of preemption as the rule and without backfilling; on a fleet, a
    /// partition.
    pub guard: Guard,
    /// The guard is used as soon as the number of jobs in the system is at least this value, `B`.
    pub from: u64,
    /// The guard is used until the number of jobs is less than this value, `b`, where `1 ≤ b < B`.
    pub until: u64,
}

/// The policy that is used by a guard.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Guard {
    /// The policy for one server.
    Msr(MsrConfig),
    /// The policy for a fleet, which is recognized by its field `assignments`.
    Partition(PartitionConfig),
}

impl<'de> Deserialize<'de> for Guard {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let guard = if value.get("assignments").is_some() {
            serde_json::from_value(value).map(Guard::Partition)
        } else {
            serde_json::from_value(value).map(Guard::Msr)
        };
        guard.map_err(D::Error::custom)
    }
}

impl Deref for Guard {
    type Target = dyn PolicyConfig;

    fn deref(&self) -> &Self::Target {
        match self {
            Guard::Msr(policy) => policy,
            Guard::Partition(policy) => policy,
        }
    }
}

impl Guard {
    /// Returns the Markovian Service Rate policy, if it is one.
    pub fn msr(&self) -> Option<&MsrConfig> {
        match self {
            Guard::Msr(policy) => Some(policy),
            Guard::Partition(_) => None,
        }
    }
}

impl PolicyConfig for GuardedConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Guarded {
            rule: self.rule.build(fleet),
            guard: self.guard.build(fleet),
            from: self.from,
            until: self.until,
            guarding: false,
        })
    }

    fn describe(&self, workload: &Workload) -> String {
        format!(
            "{}\nGuard: if there are at least {} jobs in the system, a policy that is proved to be stable is used until there are fewer than {} jobs. {}",
            self.rule.describe(workload),
            self.from,
            self.until,
            self.guard.describe(workload)
        )
    }

    fn preempts(&self) -> bool {
        self.rule.preempts() || self.guard.preempts()
    }

    fn is_for_fleet(&self) -> bool {
        self.rule.is_for_fleet()
    }

    fn setup_rate(&self) -> Option<f64> {
        self.rule.setup_rate()
    }

    fn needs_limits(&self) -> bool {
        self.rule.needs_limits()
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.is_poisson() && self.guard.is_proved_stable(workload)
    }

    fn describe_parameters(&self, workload: &Workload) -> Option<String> {
        self.rule.describe_parameters(workload)
    }
}
