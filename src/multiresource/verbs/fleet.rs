//! A policy for a fleet, checked.

use super::VerbError;
use crate::multiresource::synthesis::{self, FleetOutcome, FleetOverload, FleetSynthesis, Options};
use crate::multiresource::workload::Fleet;

/// What came of it.
#[derive(Debug)]
pub enum FleetAnswer {
    /// A policy that passed the checker.
    Policy(Box<FleetMade>),
    /// There is none, or none was found.
    Refused(FleetRefusal),
}

/// A fleet's policy, and what is told of it.
#[derive(Debug)]
pub struct FleetMade {
    /// The policy, with what was learned on the way.
    pub synthesis: FleetSynthesis,
    /// What part of all that there is of each resource (R) the jobs need, whatever the shapes.
    pub demand: Vec<f64>,
    /// The most jobs of each type (K) that are served in the mean.
    pub served: Vec<f64>,
    /// What all servers of each shape (H) are worth, as a fraction of the whole fleet's worth.
    pub worth: Vec<f64>,
}

/// Why a fleet has no policy.
#[derive(Debug)]
pub struct FleetRefusal {
    /// The load, and the prices that prove it.
    pub overload: FleetOverload,
    /// Whether it is known that there is none.
    pub decided: bool,
    /// As for [`FleetMade`].
    pub demand: Vec<f64>,
    /// What one running job of each type (K) is worth.
    pub prices: Vec<f64>,
}

/// Synthesizes a policy for each shape of a fleet, and has every number of it derived anew.
///
/// # Errors
/// As [`synthesis::synthesize_fleet`]; and when the checker finds fault with the policy.
pub fn synthesize_fleet(fleet: &Fleet, options: &Options) -> Result<FleetAnswer, VerbError> {
    let demand = demand(fleet);
    let (overload, decided) = match synthesis::synthesize_fleet(fleet, options)? {
        FleetOutcome::Policy(mut synthesis) => {
            synthesis.artifact = super::synthesize::checked(synthesis.artifact)?;
            return Ok(FleetAnswer::Policy(Box::new(FleetMade {
                demand,
                served: synthesis.solution.served(fleet),
                worth: worth(fleet, &synthesis),
                synthesis: *synthesis,
            })));
        }
        FleetOutcome::Overloaded(overload) => (overload, true),
        FleetOutcome::Undecided(overload) => (overload, false),
    };
    Ok(FleetAnswer::Refused(FleetRefusal {
        decided,
        demand,
        prices: super::synthesize::prices(fleet.types(), &overload.certificate.prices),
        overload,
    }))
}

fn demand(fleet: &Fleet) -> Vec<f64> {
    let used = |j: usize| -> f64 {
        let types = fleet.types().iter();
        types
            .map(|t| t.offered_load() * t.demand()[j].value())
            .sum()
    };
    let capacity = fleet.capacity().into_iter().enumerate();
    capacity.map(|(j, capacity)| used(j) / capacity).collect()
}

fn worth(fleet: &Fleet, made: &FleetSynthesis) -> Vec<f64> {
    let Some(certificate) = &made.artifact.evidence.fleet else {
        return vec![1.0];
    };
    let shapes = fleet.shapes().iter().zip(&certificate.servers);
    shapes
        .map(|(shape, at)| f64::from(shape.count()) * at.worth * certificate.bound)
        .collect()
}
