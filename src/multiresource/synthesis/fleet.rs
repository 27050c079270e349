//! The program of a fleet, and whether the fleet can be stabilized.

use super::{Options, SynthesisError, check_options};
use crate::multiresource::program::{self, FleetCertificate, FleetSolution, LOAD_MARGIN};
use crate::multiresource::workload::Fleet;

/// What came of it. All of these are answers; none is an error.
#[derive(Debug)]
pub enum FleetOutcome<T> {
    /// A policy that stabilizes the fleet.
    Policy(Box<T>),
    /// No policy can stabilize the fleet, and why.
    Overloaded(FleetOverload),
    /// The limits ended the search before the load was known to be below or above 1.
    Undecided(FleetOverload),
}

/// A fleet at or beyond capacity.
#[derive(Debug)]
pub struct FleetOverload {
    /// The load, and the prices that prove it.
    pub certificate: FleetCertificate,
}

/// The program's solution, if the fleet can be stabilized.
pub(super) fn solved(
    fleet: &Fleet,
    options: &Options,
) -> Result<FleetOutcome<FleetSolution>, SynthesisError> {
    check_options(fleet.envelope(), options)?;
    let solution = program::solve_fleet(fleet, &options.limits_now())?;
    let certificate = &solution.certificate;
    if certificate.load < 1.0 - LOAD_MARGIN {
        return Ok(FleetOutcome::Policy(Box::new(solution)));
    }
    let decided = certificate.bound >= 1.0 - 2.0 * LOAD_MARGIN;
    let overload = FleetOverload {
        certificate: solution.certificate,
    };
    Ok(match decided {
        true => FleetOutcome::Overloaded(overload),
        false => FleetOutcome::Undecided(overload),
    })
}
