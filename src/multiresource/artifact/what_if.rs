use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a change would do. Nothing here is claimed of the policy; each entry says what was
/// computed anew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhatIf {
    /// One percent more arrivals of one type, under this very policy.
    pub more_arrivals: Vec<MoreArrivals>,
    /// One more unit of a resource: the program solved anew, and the policy tuned anew. Where what could be bought is
    /// told for all servers, it stands there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_resource: Vec<MoreResource>,
    /// The load ρ at which the mean response time is twice what it is, all arrival rates scaled
    /// alike, under this very policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_of_twice_the_response: Option<f64>,
    /// The switching rate doubled: what remains of the mean response time \[time\], where
    /// preemption is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_at_twice_the_switching_rate: Option<f64>,
    /// Setups against no preemption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setups: Option<Crossing>,
}

/// One percent more arrivals of a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoreArrivals {
    /// The type.
    #[serde(rename = "type")]
    pub job_type: String,
    /// ρ of the workload then, to first order, from the type's price: `ρ (1 + y_i/100)`.
    pub load: f64,
    /// E\[T\] then \[time\]; absent where it was not computed, or the policy is unstable then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_response: Option<f64>,
}

/// One more unit of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoreResource {
    /// The resource.
    pub resource: String,
    /// How much more: the greatest common divisor of the demands.
    pub more: f64,
    /// ρ then.
    pub load: f64,
    /// E\[T\] of the better of this policy and one made anew \[time\]; absent where it was not
    /// computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_response: Option<f64>,
}

/// Where preemption with setups begins to beat no preemption at all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crossing {
    /// The setup rate γ from which on preempting has the lower objective, both tuned
    /// \[1/time\]; absent where it never has below a million times the rate of service, or
    /// always has from a millionth on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// The best objective without preemption \[time\].
    pub without_preemption: f64,
}
