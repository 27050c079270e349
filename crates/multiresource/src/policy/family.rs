//! The list of all rules. A new one has its line here, and all that is known of it in its own file.

use std::ops::{Deref, DerefMut};

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::rule::{NamedRule, PolicyConfig, TuningContext};
use super::*;
use crate::workload::{Fleet, Workload};

/// Makes the enum of the rules that policy files have from their list: the settings of each, and its name there. What a
/// rule knows of itself is behind the enum, as [`PolicyConfig`].
macro_rules! rules {
    ($($(#[$doc:meta])* $Variant:ident($Policy:ty): $name:literal;)+) => {
        /// All that the online rule needs beside the workload, in one shape a family.
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
            /// Returns the name that artifacts and comparisons have for it.
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
    /// Backfilling: First-Fit, first come first served, Best-Fit, EASY, conservative, and orders of one's own.
    Backfilling(BackfillingConfig): "backfilling";
    /// Randomized Timers.
    RandomizedTimers(RandomizedTimersConfig): "randomized-timers";
    /// A Markovian Service Rate policy: a clock moves it between working schedules.
    Msr(MsrConfig): "msr";
    /// Static Quickswap: the types in turn.
    StaticQuickswap(StaticQuickswapConfig): "static-quickswap";
    /// Adaptive Quickswap: the largest jobs first, until others wait in vain.
    AdaptiveQuickswap(AdaptiveQuickswapConfig): "adaptive-quickswap";
    /// Adaptive MSR: working schedules left and chosen by queue lengths.
    AdaptiveMsr(AdaptiveMsrConfig): "adaptive-msr";
    /// First-Fit with a reservation that opens when it is worth the drain.
    Reserving(ReservingConfig): "reserving";
    /// Targets, drain, commitment: what is worth most, with the price of getting there.
    Tdc(TdcConfig): "tdc";
    /// MaxWeight: the schedule of most weight, with preemption.
    MaxWeight(MaxWeightConfig): "max-weight";
    /// MaxWeight with setups.
    MaxWeightSetup(MaxWeightSetupConfig): "max-weight-setup";
    /// ServerFilling, with preemption.
    ServerFilling(ServerFillingConfig): "server-filling";
    /// Over a fleet: each type has slots of its own.
    Partition(PartitionConfig): "partition";
    /// One of the others, and a policy with proved stability that takes over when jobs pile up.
    Guarded(GuardedConfig): "guarded";
}

/// The rules that have names in `compare`.
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
    /// Returns what people call it, where they do not know the family.
    pub fn called(&self) -> &'static str {
        self.alias().unwrap_or(self.name())
    }

    /// Returns the rule that is followed while nothing is amiss: that under guard, or else itself.
    pub fn followed(&self) -> &Family {
        match self {
            Family::Guarded(policy) => &policy.rule,
            _ => self,
        }
    }

    /// Returns backfilling in an order of jobs, if that is followed while nothing is amiss.
    pub fn by_jobs(&mut self) -> Option<&mut BackfillingConfig> {
        match self {
            Family::Backfilling(policy) if policy.priority().is_some() => Some(policy),
            Family::Guarded(policy) => policy.rule.by_jobs(),
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

    /// Returns the work of an event under the policy, in those of First-Fit with few types.
    pub fn work(&self, workload: &Workload) -> f64 {
        let types = workload.types().len() as f64;
        (0.8 + 0.07 * types).max(1.0) + self.added_work(workload)
    }

    /// Returns how many knobs tuning can turn.
    pub fn axes(&self, context: &TuningContext<'_>) -> usize {
        self.clone().grids(context).len() + self.other_axes(context)
    }

    /// Returns the policy with one knob a step up or down; `None` at its end.
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

/// A rule of which nothing is proved, under guard: a policy that is proved to be stable takes over
/// when too many jobs are in the system, until few are. Then the whole is stable, whatever the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardedConfig {
    /// The rule that is followed; not under guard itself.
    pub rule: Box<Family>,
    /// What takes over: on one server a Markovian Service Rate policy without preemption and without
    /// backfilling, with schedules, loop and rate of its own; on a fleet a partition.
    pub guard: Guard,
    /// B: it takes over when so many jobs are in the system.
    pub from: u64,
    /// b: until fewer than these are; at least 1, and less than B.
    pub until: u64,
}

/// What takes over.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Guard {
    /// On one server.
    Msr(MsrConfig),
    /// On a fleet: the one that has `assignments`.
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
        let (rule, guard) = (self.rule.build(fleet), self.guard.build(fleet));
        Box::new(Guarded::new(rule, guard, self.from, self.until))
    }

    fn words(&self, workload: &Workload) -> String {
        format!(
            "{}\nUnder guard: from {} jobs in the system on, a policy whose stability is proved takes over, until fewer than {} remain. {}",
            self.rule.words(workload),
            self.from,
            self.until,
            self.guard.words(workload)
        )
    }

    fn preempts(&self) -> bool {
        self.rule.preempts() || self.guard.preempts()
    }

    fn pools(&self) -> bool {
        self.rule.pools()
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

    fn knobs_in_words(&self, workload: &Workload) -> Option<String> {
        self.rule.knobs_in_words(workload)
    }
}
