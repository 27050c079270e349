use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Family, MsrPolicy, PartitionPolicy};

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
        let value = serde_json::Value::deserialize(from)?;
        let read = match value.get("assignments") {
            Some(_) => serde_json::from_value(value).map(Guard::Partition),
            None => serde_json::from_value(value).map(Guard::Msr),
        };
        read.map_err(D::Error::custom)
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
    /// The Markovian Service Rate policy, if it is one.
    pub fn msr(&self) -> Option<&MsrPolicy> {
        match self {
            Guard::Msr(policy) => Some(policy),
            Guard::Partition(_) => None,
        }
    }
}
