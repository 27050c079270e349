//! A policy for a fleet, checked.

use std::sync::Arc;

use super::synthesize::{Answer, Request, Stability, Wanted, checked, prices, stability};
use super::{Doing, VerbError};
use crate::multiresource::artifact::Artifact;
use crate::multiresource::schedule::Schedule;
use crate::multiresource::synthesis::{
    self, ChoiceError, ChoiceOptions, Families, FleetOutcome, FleetOverload, Log, Options,
    PooledSynthesis, Pooling, Upgrades,
};
use crate::multiresource::workload::Fleet;

/// What came of a fleet.
pub type FleetAnswer = Answer<PooledMade, FleetRefusal>;

/// A rule over a fleet, and what is told of it.
#[derive(Debug)]
pub struct PooledMade {
    /// The policy, with what was learned on the way.
    pub synthesis: PooledSynthesis,
    /// What is known of its stability.
    pub stability: Stability,
    /// What part of all that there is of each resource (R) the jobs need, whatever the shapes.
    pub demand: Vec<f64>,
    /// What all servers of each shape (H) are worth, as a fraction of the whole fleet's worth.
    pub worth: Vec<f64>,
    /// What was tried.
    pub log: Log,
}

/// Why a fleet has no policy.
#[derive(Debug)]
pub struct FleetRefusal {
    /// The load, and the prices that prove it.
    pub overload: FleetOverload,
    /// Whether it is known that there is none.
    pub decided: bool,
    /// As for [`PooledMade`].
    pub demand: Vec<f64>,
    /// What one running job of each type (K) is worth.
    pub prices: Vec<f64>,
    /// What could be bought, and the load then.
    pub upgrades: Upgrades,
}

/// Makes a rule over all servers of a fleet, whose jobs wait in one place, and has it checked: slots for each type
/// where the family is that, else the best by simulation. `progress` hears what goes on.
///
/// # Errors
/// As [`super::synthesize`].
pub fn synthesize_pooled(
    fleet: &Fleet,
    request: &Request,
    mut progress: impl FnMut(Doing),
) -> Result<FleetAnswer, VerbError> {
    progress(Doing::Program);
    let families = match &request.wanted {
        Wanted::Simulated(families) => families.clone(),
        _ => Families::All,
    };
    let choice = ChoiceOptions {
        promises: request.promises.clone(),
        end: request.end,
        interrupt: Arc::clone(&request.interrupt),
        ..ChoiceOptions::new(families, request.budget, request.seed)
    };
    let wanted = match request.wanted {
        Wanted::Partition => Pooling::Partition,
        _ => Pooling::Chosen(&choice),
    };
    let hears = |stage| progress(Doing::Candidates(Some(stage)));
    let outcome = match synthesis::pool(fleet, &request.options, wanted, hears) {
        Err(ChoiceError::Broken(why)) => return Ok(Answer::Broken(why)),
        outcome => outcome?,
    };
    let (overload, decided) = match outcome {
        FleetOutcome::Policy(mut synthesis) => {
            synthesis.artifact = checked(synthesis.artifact, request)?;
            return Ok(Answer::Policy(Box::new(PooledMade {
                stability: stability(fleet.envelope(), &synthesis.artifact.policy),
                demand: demand(fleet),
                worth: worth(fleet, &synthesis.artifact),
                log: Log {
                    rounds: synthesis.solution.rounds,
                    columns: synthesis.solution.columns,
                    choice: synthesis.choice.clone(),
                    upgrades: synthesis::upgrades(
                        fleet,
                        &request.options,
                        &known(fleet, &synthesis),
                    ),
                    ..Log::default()
                },
                synthesis: *synthesis,
            })));
        }
        FleetOutcome::Overloaded(overload) => (overload, true),
        FleetOutcome::Undecided(overload) => (overload, false),
    };
    let refusal = refusal(fleet, overload, decided, &request.options);
    Ok(Answer::Refused(Box::new(refusal)))
}

fn refusal(
    fleet: &Fleet,
    overload: FleetOverload,
    decided: bool,
    options: &Options,
) -> FleetRefusal {
    FleetRefusal {
        decided,
        upgrades: synthesis::upgrades(fleet, options, &[]),
        demand: demand(fleet),
        prices: prices(fleet.types(), &overload.certificate.prices),
        overload,
    }
}

pub(super) fn demand(fleet: &Fleet) -> Vec<f64> {
    let used = |j: usize| -> f64 {
        let types = fleet.types().iter();
        types
            .map(|t| t.offered_pieces() * t.demand()[j].value())
            .sum()
    };
    let capacity = fleet.capacity().into_iter().enumerate();
    capacity.map(|(j, capacity)| used(j) / capacity).collect()
}

fn worth(fleet: &Fleet, artifact: &Artifact) -> Vec<f64> {
    let evidence = &artifact.evidence;
    let shapes = fleet.shapes().iter().zip(&evidence.servers);
    shapes
        .map(|(shape, at)| f64::from(shape.count()) * at.worth * evidence.bound)
        .collect()
}

/// The schedules of the mixes of each shape (H), over all types.
fn known(fleet: &Fleet, synthesis: &PooledSynthesis) -> Vec<Vec<Schedule>> {
    let shapes = fleet.shapes().iter().zip(&synthesis.solution.mixes);
    let of_shape = shapes.map(|(shape, mix)| {
        let wide = |own: &Schedule| {
            let mut all = vec![0; fleet.types().len()];
            shape
                .types()
                .iter()
                .zip(own)
                .for_each(|(&i, u)| all[i] = *u);
            all
        };
        mix.schedules.iter().map(wide).collect()
    });
    of_shape.collect()
}
