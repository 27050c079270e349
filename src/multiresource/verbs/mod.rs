//! What can be asked of multiresource jobs, one file a verb. Each is a function that returns values:
//! nothing is printed here, and progress goes to a callback.

mod compare;
mod enter;
mod optimum;
pub mod replay;
mod room;
mod simulate;
mod synthesize;

pub use compare::{Comparison, compare};
pub use enter::against;
pub use optimum::{Asking, Distance, Least, least};
pub use room::{demand, room};
pub use simulate::{Simulated, simulate};
pub use synthesize::{Answer, How, Request, Stability, Synthesized, synthesize};

use std::sync::atomic::Ordering;
use std::time::Duration;

pub use crate::kind::VerbError;

use crate::kind::refuse;
use crate::multiresource::program::{self, Limits};
use crate::multiresource::simulator::{Run, Settings};
use crate::multiresource::workload::Fleet;
use crate::report::number;
use crate::simulation::Ending;

/// How far from its bound a load may be that arrival rates are scaled by.
const SCALED_BY: f64 = 0.01;

/// Solves in no more than this time for the load ρ by which arrival rates are scaled.
fn own_load(time: Option<Duration>, fleet: &Fleet) -> Result<f64, VerbError> {
    let usual = Limits::default();
    let limits = Limits {
        time: time.map_or(usual.time, |time| time.min(usual.time)),
        face: 0,
        ..usual
    };
    let certificate = program::solve(fleet, &limits)?.certificate;
    known_load(certificate.load, certificate.bound)
}

fn known_load(load: f64, bound: f64) -> Result<f64, VerbError> {
    if load > bound * (1.0 + SCALED_BY) {
        let [bound, load] = [bound, load].map(number);
        return refuse(format!(
            "its load ρ is from {bound} to {load}: too little is known of it to scale by. Leave out the types with the least load, or give more time where that is limited"
        ));
    }
    Ok(load)
}

/// Marks a run that was cut short: it may by chance be precise enough, and still is not the whole run.
fn marked(mut run: Run, settings: &Settings) -> Run {
    if settings.interrupt.load(Ordering::Relaxed) {
        run.ending = Ending::Interrupted;
    }
    run
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// What is not known well enough is not used.
    #[test]
    fn loads_are_scaled_by_what_is_known_alone() {
        assert!(matches!(known_load(0.8, 0.7999), Ok(load) if load == 0.8));
        let unknown = known_load(0.8, 0.7).map_err(|why| why.to_string());
        let refusal = unknown.unwrap_err();
        assert!(refusal.contains("from 0.7000 to 0.8000"), "{refusal}");
    }
}
