use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Family, MsrPolicy};

/// A rule of which nothing is proved, under guard: a policy that is proved to be stable takes over
/// when too many jobs are in the system, until few are. Then the whole is stable, whatever the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardedPolicy {
    /// The rule that is followed; not under guard itself.
    pub rule: Box<Family>,
    /// What takes over, without preemption and without backfilling: its own schedules, loop and rate.
    pub guard: MsrPolicy,
    /// B: it takes over when so many jobs are in the system.
    pub from: u64,
    /// b: until fewer than these are; at least 1, and less than B.
    pub until: u64,
}
