//! A policy for a fleet, checked.

use super::synthesize::{Request, Wanted, checked, prices, taken};
use super::{Doing, VerbError, refuse};
use crate::multiresource::synthesis::{
    self, ChoiceError, FleetOutcome, FleetOverload, FleetSynthesis, OneOf, Stage, Synthesis,
};
use crate::multiresource::workload::Fleet;

/// What came of it.
#[derive(Debug)]
pub enum FleetAnswer {
    /// A policy that passed the checker.
    Policy(Box<FleetMade>),
    /// There is none, or none was found.
    Refused(FleetRefusal),
    /// It was told to end before a policy was chosen.
    Interrupted,
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

/// Makes a policy for each shape of a fleet as for one server with what is sent there, and has it
/// checked. The budget of events is shared among the shapes; each has a seed of its
/// own, so that their estimates are independent. `progress` hears what goes on.
///
/// # Errors
/// As [`super::synthesize`]; and when no policy of some shape is seen to settle.
pub fn synthesize_fleet(
    fleet: &Fleet,
    request: &Request,
    mut progress: impl FnMut(Doing<'_>),
) -> Result<FleetAnswer, VerbError> {
    progress(Doing::Program);
    let mut done = 0.0;
    let choose = |server: OneOf<'_>, made: Box<Synthesis>| {
        let mut hears = |doing: Doing<'_>| match doing {
            Doing::Candidates(Some(stage)) => progress(Doing::Candidates(Some(Stage {
                what: format!("{}: {}", server.shape, stage.what),
                spent: done + server.part * stage.spent,
            }))),
            doing => progress(doing),
        };
        let how = taken(server.workload, &request.of(&server), made, &mut hears);
        done += server.part;
        match how {
            Ok(how) => Ok(how.artifact().clone()),
            Err(VerbError::Choice(error @ ChoiceError::NoneSettles(_))) => {
                refuse(format!("shape `{}`: {error}", server.shape))
            }
            Err(error) => Err(error),
        }
    };
    let outcome = match synthesis::choose_fleet(fleet, &request.options, choose) {
        Err(VerbError::Choice(ChoiceError::Interrupted)) => return Ok(FleetAnswer::Interrupted),
        outcome => outcome?,
    };
    let demand = demand(fleet);
    let (overload, decided) = match outcome {
        FleetOutcome::Policy(mut synthesis) => {
            if request.wanted != Wanted::Msr {
                let told = synthesis::told(request.seed, request.budget);
                synthesis.artifact.provenance.options.extend(told);
            }
            synthesis.artifact = checked(synthesis.artifact)?;
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
        prices: prices(fleet.types(), &overload.certificate.prices),
        overload,
    }))
}

impl Request {
    /// What is asked for one server of a shape: its part of the budget, and a seed of its own; a
    /// choice takes two.
    fn of(&self, server: &OneOf<'_>) -> Self {
        Request {
            budget: self.budget.part(server.part),
            seed: self.seed.wrapping_add(2 * server.place as u64),
            ..self.clone()
        }
    }
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
