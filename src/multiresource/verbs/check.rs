use super::{VerbError, refuse};
use crate::multiresource::artifact::{Checked, Finding, check_against};
use crate::multiresource::workload::Described;

/// Where the workload that a policy was made for differs from this one.
///
/// # Errors
/// When one is of a fleet, and the other of one server.
pub fn against(policy: &Checked, workload: &Described) -> Result<Vec<Finding>, VerbError> {
    let given = match workload {
        Described::Server(workload) => workload.record(),
        Described::Fleet(fleet) => fleet.record(),
    };
    let made_for = &policy.artifact().workload;
    match (made_for.is_of_one_server(), given.is_of_one_server()) {
        (true, false) => refuse(
            "the policy is of one server, and the workload is a fleet: give that of one server",
        ),
        (false, true) => refuse(
            "the policy is of a fleet, and the workload of one server: give that of the fleet",
        ),
        _ => Ok(check_against(made_for, &given)),
    }
}
