use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{MsrPolicy, PartitionPolicy, PooledEasyPolicy, PooledPolicy};
use crate::schedule::Packing;
use crate::workload::Workload;

/// Makes the enum of the families from their table, a row a family: its shape in documents, and its
/// name there.
macro_rules! families {
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
    };
}

families! {
    /// First-Fit: the oldest job that fits.
    FirstFit(FirstFitPolicy): "first-fit";
    /// Most Servers First: the largest job that fits.
    MostServersFirst(MostServersFirstPolicy): "most-servers-first";
    /// Least Servers First: the smallest job that fits.
    LeastServersFirst(LeastServersFirstPolicy): "least-servers-first";
    /// EASY backfilling, which takes each job to be as long as its type's mean.
    EasyByMean(EasyByMeanPolicy): "easy-by-mean";
    /// EASY backfilling by the limits of jobs.
    EasyBackfill(EasyBackfillPolicy): "easy-backfill";
    /// A Markovian Service Rate policy: a clock moves it between working schedules.
    Msr(MsrPolicy): "msr";
    /// Static Quickswap: the types in turn.
    StaticQuickswap(StaticQuickswapPolicy): "static-quickswap";
    /// Adaptive Quickswap: the largest jobs first, until others wait in vain.
    AdaptiveQuickswap(AdaptiveQuickswapPolicy): "adaptive-quickswap";
    /// Adaptive MSR: working schedules left and chosen by queue lengths.
    AdaptiveMsr(AdaptiveMsrPolicy): "adaptive-msr";
    /// First-Fit with a reservation that opens when it is worth the drain.
    Reserving(ReservingPolicy): "reserving";
    /// Targets, drain, commitment: what is worth most, with the price of getting there.
    Tdc(TdcPolicy): "tdc";
    /// MaxWeight: the schedule of most weight, with preemption.
    MaxWeight(MaxWeightPolicy): "max-weight";
    /// MaxWeight with setups.
    MaxWeightSetup(MaxWeightSetupPolicy): "max-weight-setup";
    /// ServerFilling, with preemption.
    ServerFilling(ServerFillingPolicy): "server-filling";
    /// Over a fleet: who starts next, where, and for whom room is kept.
    Pooled(PooledPolicy): "pooled";
    /// EASY backfilling over a fleet.
    PooledEasy(PooledEasyPolicy): "pooled-easy";
    /// Over a fleet: each type has slots of its own.
    Partition(PartitionPolicy): "partition";
    /// One of the others, and a policy with proved stability that takes over when jobs pile up.
    Guarded(GuardedPolicy): "guarded";
}

impl Family {
    /// Returns whether it may stop running jobs.
    pub fn preempts(&self) -> bool {
        match self {
            Family::Msr(policy) => policy.preemption != super::Preemption::None,
            Family::Guarded(policy) => {
                policy.rule.preempts() || Family::from(policy.guard.clone()).preempts()
            }
            Family::MaxWeight(_) | Family::MaxWeightSetup(_) | Family::ServerFilling(_) => true,
            _ => false,
        }
    }

    /// Returns whether it decides over the servers of a fleet.
    pub fn pools(&self) -> bool {
        matches!(
            self.followed(),
            Family::Pooled(_) | Family::PooledEasy(_) | Family::Partition(_)
        )
    }

    /// γ, where the room of jobs that are stopped is held for a setup \[1/time\].
    pub fn setup_rate(&self) -> Option<f64> {
        match self {
            Family::Msr(policy) => policy.setup_rate,
            Family::MaxWeightSetup(policy) => Some(policy.setup_rate),
            Family::Guarded(policy) => policy.rule.setup_rate(),
            _ => None,
        }
    }

    /// What people call it, where they do not know the family.
    pub fn called(&self) -> &'static str {
        match self {
            Family::Pooled(policy) => policy.called(),
            Family::PooledEasy(PooledEasyPolicy { limits: true }) => "easy-backfill",
            Family::PooledEasy(_) => "easy-by-mean",
            other => other.name(),
        }
    }

    /// Returns the rule that is followed while nothing is amiss: that under guard, or else itself.
    pub fn followed(&self) -> &Family {
        match self {
            Family::Guarded(policy) => &policy.rule,
            _ => self,
        }
    }

    /// Returns whether it asks for a limit on the size of each job as it comes.
    pub fn needs_limits(&self) -> bool {
        match self {
            Family::EasyBackfill(_) => true,
            Family::AdaptiveMsr(policy) => policy.limits,
            Family::Reserving(policy) => policy.limits,
            Family::PooledEasy(policy) => policy.limits,
            Family::Guarded(policy) => policy.rule.needs_limits(),
            _ => false,
        }
    }

    /// Returns its knobs in words, as the record of a choice has them.
    pub fn knobs(&self, workload: &Workload) -> Option<String> {
        match self {
            Family::Msr(policy) => Some(policy.knobs(workload)),
            Family::StaticQuickswap(policy) => Some(policy.knobs(workload)),
            Family::AdaptiveMsr(policy) => Some(in_words(policy)),
            Family::Reserving(policy) => Some(in_words(policy)),
            Family::Tdc(policy) => Some(in_words(policy)),
            Family::MaxWeight(policy) => Some(in_words(policy)),
            Family::MaxWeightSetup(policy) => Some(in_words(policy)),
            Family::Pooled(policy) if policy.called() == "pooled" => Some(in_words(policy)),
            Family::Guarded(policy) => policy.rule.knobs(workload),
            _ => None,
        }
    }

    /// Returns the Markovian Service Rate policy, if it is one.
    pub fn msr(&self) -> Option<&MsrPolicy> {
        match self {
            Family::Msr(policy) => Some(policy),
            _ => None,
        }
    }
}

/// Returns the numbers and words of a policy with their names, and what is switched on; what there is for each type,
/// schedule or server is left out.
fn in_words(policy: &impl Serialize) -> String {
    let mut words = Vec::new();
    list_words(
        &serde_json::to_value(policy).unwrap_or_default(),
        &mut words,
    );
    words.join(", ")
}

fn list_words(policy: &Value, words: &mut Vec<String>) {
    for (name, field) in policy.as_object().into_iter().flatten() {
        let name = name.replace('_', " ");
        match field {
            Value::Object(_) => list_words(field, words),
            Value::Bool(true) => words.push(name),
            Value::String(word) => words.push(format!("{name} {word}")),
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                words.push(format!("{name} {number}"));
            }
            _ => {}
        }
    }
}

/// The types in a fixed cycle, one at a time, without preemption (Quickswap paper, section 4.3). On
/// a one-or-all system with the heavy type's threshold 0 it is MSFQ(ℓ), ℓ the light type's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticQuickswapPolicy {
    /// All types, in the order of their turns, as indices into the workload's.
    pub cycle: Vec<usize>,
    /// ℓ_i by type, below the number of its jobs that fit: its turn is over once no more are left, all
    /// in service, and another type waits.
    pub thresholds: Vec<u32>,
    /// Whether the next type starts as soon as it fits, while the last one drains.
    pub overlap: bool,
}

impl StaticQuickswapPolicy {
    /// Returns the paper's policy: the largest need (dominant share) first, of equals the first type; ℓ_i = c_i − 1.
    pub fn published(workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let threshold = |i| packing.most(i, packing.capacity()).saturating_sub(1);
        let needs = workload.dominant_shares();
        let mut cycle: Vec<usize> = (0..needs.len()).collect();
        cycle.sort_by(|&a, &b| needs[b].total_cmp(&needs[a]));
        StaticQuickswapPolicy {
            cycle,
            thresholds: (0..packing.types()).map(threshold).collect(),
            overlap: false,
        }
    }

    fn knobs(&self, workload: &Workload) -> String {
        let published = StaticQuickswapPolicy {
            overlap: self.overlap,
            ..StaticQuickswapPolicy::published(workload)
        };
        let turn = |i: &usize| {
            let name = workload.types()[*i].name();
            format!("{name} ℓ = {}", self.thresholds[*i])
        };
        let turns = if *self == published {
            "as published".into()
        } else if self.cycle.len() <= LISTED {
            self.cycle.iter().map(turn).collect::<Vec<_>>().join(", ")
        } else {
            "other thresholds or turns than published".into()
        };
        turns + if self.overlap { ", overlapping" } else { "" }
    }
}

/// The most types whose turns are listed one by one.
const LISTED: usize = 5;

/// Rules with nothing to set.
macro_rules! plain {
    ($($(#[$doc:meta])* $Policy:ident;)+) => {
        $(
            $(#[$doc])*
            #[derive(
                Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
            )]
            #[serde(deny_unknown_fields)]
            pub struct $Policy {}
        )+
    };
}

plain! {
    /// First-Fit.
    FirstFitPolicy;
    /// Most Servers First.
    MostServersFirstPolicy;
    /// Least Servers First.
    LeastServersFirstPolicy;
    /// EASY backfilling by the types' mean sizes.
    EasyByMeanPolicy;
    /// EASY backfilling by the limits of jobs.
    EasyBackfillPolicy;
    /// Adaptive Quickswap.
    AdaptiveQuickswapPolicy;
    /// ServerFilling.
    ServerFillingPolicy;
}

/// Working schedules that are left and chosen by queue lengths, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMsrPolicy {
    /// The working schedules (N × K): jobs of each type, in the workload's type order.
    pub schedules: Vec<Vec<u32>>,
    /// What a running job of each type is worth (K): nonnegative, and a working schedule 1 at most.
    pub prices: Vec<f64>,
    /// When a schedule is left.
    pub switching: Switching,
    /// Whether jobs are let in during a drain by their limits instead of their mean sizes: those that are over
    /// before κ times what is left of the drain, which ends when all limits say that there is room.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// When Adaptive MSR leaves a schedule, and what may start beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switching {
    /// The schedule is left when it uses no more than this part of what it could: in \[0, 1\].
    pub waste: f64,
    /// And when another one weighs more than 1 + this times as much plus the floor: ≥ 0; 0 to 2 are
    /// best as far as is known.
    pub margin: f64,
    /// See the margin: ≥ 0 \[jobs\]; best between a third of the most jobs of a schedule, at low load,
    /// and twice as many. From some thousands on no schedule is left by weight.
    pub floor: f64,
    /// Room may stay idle for jobs that wait up to this weight: ≥ 0 \[jobs\]. At 0 all room is held for
    /// the schedule's jobs, and without end none; best about 1 at low load and less than a third near
    /// 1, and 0 where jobs that hold a whole server wait for many small ones.
    pub patience: f64,
    /// Another schedule weighs less by the factor F/(F + this times D), if room for what it lacks most takes D and
    /// its jobs last for F: ≥ 0. At 0, as where it is not given, a schedule weighs all it has once one of its jobs
    /// can start, and nothing before.
    #[serde(default, skip_serializing_if = "is_off")]
    pub drain: f64,
    /// κ: while a job of the schedule waits for room, those start whose mean size is at most this part of what
    /// is left of that wait, and those that fit beside the whole schedule: ≥ 0. At 0, as where it is not
    /// given, neither do.
    #[serde(default, skip_serializing_if = "is_off")]
    pub let_in: f64,
}

fn is_off(knob: &f64) -> bool {
    *knob == 0.0
}

/// First-Fit with one reservation at a time, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReservingPolicy {
    /// What a running job of each type is worth (K): nonnegative.
    pub prices: Vec<f64>,
    /// c: a reservation opens for a type when the work of it that waits is worth so many times what the
    /// drain for it wastes: ≥ 0.
    pub worth: f64,
    /// h: jobs of the type go on taking each other's places, until so many times the work that waits of it waits
    /// of another type with a reservation: ≥ 0.
    pub exhaust: f64,
    /// κ: meanwhile jobs start whose mean size is at most this part of what is left of the drain: ≥ 0.
    pub let_in: f64,
    /// Whether that is by the limits of jobs instead of their mean sizes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

/// Targets, drain, commitment, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcPolicy {
    /// Schedules of the program (N × K): jobs of each type, in the workload's type order.
    pub schedules: Vec<Vec<u32>>,
    /// What a running job of each type is worth (K): nonnegative, and a schedule 1 at most.
    pub prices: Vec<f64>,
    /// What it weighs by.
    pub knobs: TdcKnobs,
}

/// What TDC weighs by; see its rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcKnobs {
    /// a: urgency grows as this power of the number in system: ≥ 0.
    pub exponent: f64,
    /// β: small and short jobs are favoured by this power of their price times their mean size: ≥ 0.
    pub favour: f64,
    /// ζ: the part of what shorter jobs bring that longer ones leave room for: ≥ 0.
    pub reserve: f64,
    /// δ: another target has to be better than the present one by this part: ≥ 0.
    pub margin: f64,
    /// κ: during a drain jobs start whose mean size is at most this part of what is left of it: ≥ 0.
    pub let_in: f64,
    /// η: for so long does a target count as the backlog of its lead lasts, times this: > 0.
    pub patience: f64,
    /// Who starts first.
    pub order: TdcOrder,
}

/// In which order TDC starts jobs of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TdcOrder {
    /// By urgency.
    Worth,
    /// The oldest first.
    Age,
}

/// MaxWeight with full preemption: of the schedules that there are jobs for, one with the largest `Σ c_i Q_i^a u_i`
/// is served, Q_i the jobs of type i in the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightPolicy {
    /// c_i (K): 1e-6 at least, at most 1.
    pub worths: Vec<f64>,
    /// a: positive, at most 2.
    pub exponent: f64,
}

/// MaxWeight with setups: the schedule of most weight, as under [`MaxWeightPolicy`], is gone to where the gain outlasts
/// the way there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightSetupPolicy {
    /// What running jobs weigh.
    pub weights: MaxWeightPolicy,
    /// γ: room of a job that is stopped is held for a setup at this rate \[1/time\].
    pub setup_rate: f64,
    /// How much a gain counts beside what is lost on the way: ≥ 0.
    pub eagerness: f64,
    /// How much is lost at least by waiting for jobs to end beside what is lost by stopping them, for jobs to be
    /// stopped: ≥ 0, and 0 stops none.
    pub haste: f64,
}

/// A rule of which nothing is proved, under guard: a policy that is proved to be stable takes over
/// when too many jobs are in the system, until few are. Then the whole is stable, whatever the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardedPolicy {
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
    Msr(MsrPolicy),
    /// On a fleet: the one that has `assignments`.
    Partition(PartitionPolicy),
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

impl From<Guard> for Family {
    fn from(guard: Guard) -> Self {
        match guard {
            Guard::Msr(policy) => policy.into(),
            Guard::Partition(policy) => policy.into(),
        }
    }
}

impl Guard {
    /// Returns the Markovian Service Rate policy, if it is one.
    pub fn msr(&self) -> Option<&MsrPolicy> {
        match self {
            Guard::Msr(policy) => Some(policy),
            Guard::Partition(_) => None,
        }
    }
}
