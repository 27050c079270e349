use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Choice, Growth, Tuning, WhatIf};

/// How the artifact was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Tool and version.
    pub tool: String,
    /// The options in force, as typed or by default.
    pub options: Vec<String>,
    /// The solver of the linear programs.
    pub solver: String,
    /// Rounds of column generation.
    pub rounds: usize,
    /// Columns in the last master program, of all shapes together.
    pub columns: usize,
    /// For each shape, how the policy of its servers was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Making>,
    /// How the rule over all servers was chosen, where jobs wait in one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// What could be bought, and the load then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// How the policy of the servers of one shape was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Making {
    /// Completions that one round of the loop waits for, where there is a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drains: Option<u64>,
    /// Phases of the modulating chain, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<usize>,
    /// How route and switching rate were chosen; absent where there is nothing to choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// How it was chosen among families; absent where the family was given, with nothing to tune.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// What a change of the workload or of the server would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
}
