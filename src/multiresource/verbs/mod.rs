//! What can be asked of multiresource jobs, one file a verb. Each is a function that returns values:
//! nothing is printed here, and progress goes to a callback.

mod compare;
mod enter;
mod fleet;
mod optimum;
pub mod replay;
mod room;
mod simulate;
mod synthesize;

pub use compare::{Compared, compare};
pub use enter::{Entered, against, enter};
pub use fleet::{FleetAnswer, FleetRefusal, PooledMade, synthesize_pooled};
pub use optimum::{Asking, Distance, Least, least};
pub use room::{Room, room};
pub use simulate::{Simulated, Unjudged, Ways, simulate};
pub use synthesize::{
    Answer, How, Knowledge, Made, Refusal, Request, Schedules, Stability, Wanted, synthesize,
};

use std::sync::atomic::Ordering;
use std::time::Duration;

pub use crate::kind::VerbError;

use crate::kind::refuse;
use crate::multiresource::optimum::Step;
use crate::multiresource::program::{Limits, ProgramError};
use crate::multiresource::simulator::{Run, Settings};
use crate::multiresource::synthesis::Stage;
use crate::report::number;
use crate::simulation::Ending;

/// What goes on.
#[derive(Clone, Debug)]
pub enum Doing {
    /// The program and the exact analysis.
    Program,
    /// The dynamic program; no step at its beginning.
    Dynamic(Option<Step>),
    /// Candidates are simulated; no stage at the beginning.
    Candidates(Option<Stage>),
    /// The policy of this name is simulated.
    Simulating(String),
}

/// How far from its bound a load may be that arrival rates are scaled by.
const SCALED_BY: f64 = 0.01;

/// The load ρ that the arrival rates of loads that were asked for are scaled by, of the load and its bound that the
/// program finds in no more than this time.
fn own_load(
    time: Option<Duration>,
    solve: impl FnOnce(&Limits) -> Result<(f64, f64), ProgramError>,
) -> Result<f64, VerbError> {
    let usual = Limits::default();
    let limits = Limits {
        time: time.map_or(usual.time, |time| time.min(usual.time)),
        face: 0,
        ..usual
    };
    let (load, bound) = solve(&limits)?;
    if load > bound * (1.0 + SCALED_BY) {
        let [bound, load] = [bound, load].map(number);
        return refuse(format!(
            "its load ρ is from {bound} to {load}: too little is known of it to scale by. Leave out the types with the least load, or give more time where that is limited"
        ));
    }
    Ok(load)
}

/// A run that was cut short may by chance be precise enough; it still is not the whole run.
fn marked(mut run: Run, settings: &Settings) -> Run {
    if settings.interrupt.load(Ordering::Relaxed) {
        run.ending = Ending::Interrupted;
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is not known well enough is not used, and the time that was given is what the program gets.
    #[test]
    fn loads_are_scaled_by_what_is_known_alone() {
        let second = Some(Duration::from_secs(1));
        let known = own_load(second, |limits| {
            assert_eq!(limits.time, Duration::from_secs(1));
            Ok((0.8, 0.7999))
        });
        assert!(matches!(known, Ok(load) if load == 0.8));
        let unknown = own_load(None, |_| Ok((0.8, 0.7)));
        let told = unknown.map_or_else(|why| why.to_string(), |_| String::new());
        assert!(told.contains("from 0.7000 to 0.8000"), "{told}");
    }
}
