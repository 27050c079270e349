//! A policy for a fleet, checked.

use std::sync::Arc;
use std::time::Instant;

use super::synthesize::{Answer, Request, Stability, Wanted, checked, prices, stability, taken};
use super::{Doing, VerbError};
use crate::multiresource::artifact::{Artifact, Growth};
use crate::multiresource::synthesis::{
    self, ChoiceError, ChoiceOptions, Families, FleetOutcome, FleetOverload, FleetSynthesis, OneOf,
    Options, PooledSynthesis, Pooling, Stage, Synthesis,
};
use crate::multiresource::workload::Fleet;

/// What came of a fleet.
pub type FleetAnswer<M = FleetMade> = Answer<M, FleetRefusal>;

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

/// A rule over a fleet, and what is told of it.
#[derive(Debug)]
pub struct PooledMade {
    /// The policy, with what was learned on the way.
    pub synthesis: PooledSynthesis,
    /// What is known of its stability.
    pub stability: Stability,
    /// As for [`FleetMade`].
    pub demand: Vec<f64>,
    /// As for [`FleetMade`].
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
    /// What could be bought, and the load then.
    pub growth: Growth,
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
    mut progress: impl FnMut(Doing),
) -> Result<FleetAnswer, VerbError> {
    progress(Doing::Program);
    let mut done = 0.0;
    let choose = |server: OneOf<'_>, made: Box<Synthesis>| {
        let mut hears = |doing: Doing| match doing {
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
            Err(error) => Err(error),
        }
    };
    let outcome = synthesis::choose_fleet(fleet, &request.options, choose)?;
    let (overload, decided) = match outcome {
        FleetOutcome::Policy(mut synthesis) => {
            if request.wanted != Wanted::Msr {
                let told = synthesis::told(request.seed, request.budget);
                synthesis.artifact.provenance.options.extend(told);
            }
            synthesis.artifact = checked(synthesis.artifact, request)?;
            return Ok(Answer::Policy(Box::new(FleetMade {
                demand: demand(fleet),
                served: synthesis.solution.served(fleet),
                worth: worth(fleet, &synthesis.artifact),
                synthesis: *synthesis,
            })));
        }
        FleetOutcome::Overloaded(overload) => (overload, true),
        FleetOutcome::Undecided(overload) => (overload, false),
    };
    let refusal = refusal(fleet, overload, decided, &request.options);
    Ok(Answer::Refused(Box::new(refusal)))
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
) -> Result<FleetAnswer<PooledMade>, VerbError> {
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
            if request.wanted != Wanted::Partition {
                let told = synthesis::told(request.seed, request.budget);
                synthesis.artifact.provenance.options.extend(told);
            }
            synthesis.artifact = checked(synthesis.artifact, request)?;
            let rule = synthesis.artifact.policy.queue.as_ref();
            return Ok(Answer::Policy(Box::new(PooledMade {
                stability: rule.map_or(Stability::Seen, |rule| stability(fleet.envelope(), rule)),
                demand: demand(fleet),
                worth: worth(fleet, &synthesis.artifact),
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
        growth: synthesis::growth_of_overloaded(fleet, options),
        demand: demand(fleet),
        prices: prices(fleet.types(), &overload.certificate.prices),
        overload,
    }
}

impl Request {
    /// What is asked for one server of a shape: its part of the budget, and of the time that is left, and a seed of its own;
    /// a choice takes two.
    fn of(&self, server: &OneOf<'_>) -> Self {
        Request {
            end: self
                .end
                .map(|end| Instant::now() + synthesis::left(Some(end)).mul_f64(server.part)),
            budget: (server.part * self.budget as f64) as u64,
            seed: self.seed.wrapping_add(2 * server.place as u64),
            ..self.clone()
        }
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
    let Some(certificate) = &artifact.evidence.fleet else {
        return vec![1.0];
    };
    let shapes = fleet.shapes().iter().zip(&certificate.servers);
    shapes
        .map(|(shape, at)| f64::from(shape.count()) * at.worth * certificate.bound)
        .collect()
}
