//! Whether a policy goes with a workload, and what is known of the workload's load.

use std::time::Duration;

use crate::kind::{NamedPolicy, VerbResult, refuse};
use crate::multiresource::MultiresourceKind;
use crate::multiresource::program::{self, SolveLimits};
use crate::multiresource::workload::Fleet;
use crate::report::number;

/// Checks that a policy file is for types that are known; takes its own where none are.
pub(super) fn has_types_of(
    policy: &NamedPolicy<MultiresourceKind>,
    types: &mut Option<Fleet>,
) -> VerbResult<()> {
    let Some(file) = &policy.file else {
        return Ok(());
    };
    let types = types.get_or_insert_with(|| file.workload().clone());
    same_servers(file.workload(), types).or_else(|why| refuse(format!("{}: {why}", policy.name)))
}

/// Checks that a policy runs on another workload: the types, the servers and the time unit are the same.
///
/// # Errors
/// What is another.
pub fn same_servers(own: &Fleet, other: &Fleet) -> Result<(), String> {
    let demands = |fleet: &Fleet| {
        let types = fleet.types().iter();
        let types = types.map(|own| (own.name().to_owned(), own.units().to_vec()));
        let servers = fleet.shapes().iter().enumerate();
        let servers = servers.map(|(h, shape)| (shape.count(), fleet.units(h)));
        (types.collect::<Vec<_>>(), servers.collect::<Vec<_>>())
    };
    if demands(own) == demands(other) && own.devices() == other.devices() {
        if own.time_unit() != other.time_unit() {
            return Err(format!(
                "the policy's rates are per {}, the workload's per {}; write the workload in the policy's time unit",
                own.time_unit(),
                other.time_unit()
            ));
        }
        return Ok(());
    }
    Err(match (own.servers(), other.servers()) {
        (1, 2..) => "this is the policy of one server, and the workload is a fleet",
        (2.., 1) => "this is the policy of a fleet, and the workload is one server",
        _ => "the policy was made for other job types or other servers; synthesize one for this workload",
    }
    .into())
}

/// How far from its bound a load may be that arrival rates are scaled by.
const SCALED_BY: f64 = 0.01;

/// Solves in no more than this time for the load ρ by which arrival rates are scaled.
///
/// # Errors
/// When too little is known of it, or the solver fails.
pub fn own_load(time: Option<Duration>, fleet: &Fleet) -> VerbResult<f64> {
    let usual = SolveLimits::default();
    let limits = SolveLimits {
        time: time.map_or(usual.time, |time| time.min(usual.time)),
        face: 0,
        ..usual
    };
    let certificate = program::solve(fleet, &limits)?.certificate;
    known_load(certificate.load, certificate.bound)
}

fn known_load(load: f64, bound: f64) -> VerbResult<f64> {
    if load > bound * (1.0 + SCALED_BY) {
        let [bound, load] = [bound, load].map(number);
        return refuse(format!(
            "its load ρ is from {bound} to {load}: too little is known of it to scale by. Leave out the types with the least load, or give more time where that is limited"
        ));
    }
    Ok(load)
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
