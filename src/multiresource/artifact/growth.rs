use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FleetCertificateRecord;

/// What could be bought, in steps as they can be bought, and the load then: each with the proof of it. Nothing here is
/// claimed of the policy but the mean response times, where there are any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// One step of each resource of each shape; and where there are several servers, one more of each shape. What helps
    /// most comes first.
    pub steps: Vec<Step>,
    /// Steps that were not looked at, since the time was over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: usize,
}

/// Something that can be bought, and the program solved anew with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The shape of servers: each of them gets more of the resource, or there is one more of them.
    pub shape: String,
    /// The resource; absent where it is one more server of the shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// How much more of it each server of the shape gets, > 0; 1 for one more server. Of a resource it is the least
    /// that can be bought and changes what can run together.
    pub more: f64,
    /// The load of the servers then, as the artifact's own: the mixes of all shapes have it, and the prices prove that
    /// no policy has less. Mixes that are very long are left out.
    pub proof: FleetCertificateRecord,
    /// E\[T\] \[time\] then, by the method and under the conditions of what is claimed of this policy: of a policy made
    /// anew for the larger servers in the same way, or of this one where that is better. Absent where it was not
    /// computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_response: Option<f64>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(count: &usize) -> bool {
    *count == 0
}
