use super::{VerbError, refuse};
use crate::multiresource::artifact::{CheckedPolicy, Finding, check_against, check_fleet_against};
use crate::multiresource::workload::Described;

/// Where the workload that a policy was made for differs from this one.
///
/// # Errors
/// When one is of a fleet, and the other of one server.
pub fn against(policy: &CheckedPolicy, workload: &Described) -> Result<Vec<Finding>, VerbError> {
    match (policy, workload) {
        (CheckedPolicy::Server(checked), Described::Server(workload)) => {
            Ok(check_against(checked.artifact(), workload))
        }
        (CheckedPolicy::Fleet(checked), Described::Fleet(fleet)) => {
            Ok(check_fleet_against(checked.fleet(), fleet))
        }
        (CheckedPolicy::Server(_), Described::Fleet(_)) => refuse(
            "the policy is of one server, and the workload is a fleet: give that of one server",
        ),
        (CheckedPolicy::Fleet(_), Described::Server(_)) => refuse(
            "the policy is of a fleet, and the workload of one server: give that of the fleet",
        ),
    }
}
