//! This module checks that a policy can be used for a workload, and computes loads.

use std::time::Duration;

use crate::kind::{NamedPolicy, VerbResult, refuse};
use crate::multiresource::MultiresourceKind;
use crate::multiresource::program::{self, SolveLimits};
use crate::multiresource::workload::Fleet;
use crate::report::number;

/// Checks that a policy file is valid for the given types. If there are none, its own are used.
pub(super) fn check_same_types(
    policy: &NamedPolicy<MultiresourceKind>,
    types: &mut Option<Fleet>,
) -> VerbResult<()> {
    let Some(file) = &policy.file else {
        return Ok(());
    };
    let types = types.get_or_insert_with(|| file.workload().clone());
    same_servers(file.workload(), types).or_else(|why| refuse(format!("{}: {why}", policy.name)))
}

/// Checks that a policy for one of the workloads can be used for the other one, because they have
/// the same types, servers and time unit. If it cannot be used, the error describes the difference.
pub(crate) fn same_servers(own: &Fleet, other: &Fleet) -> Result<(), String> {
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
                "the time unit of the policy is {}, but the time unit of the workload is {}; use the time unit of the policy for the workload",
                own.time_unit(),
                other.time_unit()
            ));
        }
        return Ok(());
    }
    Err(match (own.servers(), other.servers()) {
        (1, 2..) => "the policy is for one server, but the workload is a fleet",
        (2.., 1) => "the policy is for a fleet, but the workload is one server",
        _ => "the policy was created for different job types or servers; create a new policy for this workload",
    }
    .into())
}

/// The maximum relative gap of a load that can be used to scale the arrival rates.
const SCALED_BY: f64 = 0.01;

/// Returns the load `ρ` that is used to scale the arrival rates.
///
/// # Errors
/// Returns an error if the gap is too large at the end of the time limit, or if the solver fails.
pub fn solve_load(time: Option<Duration>, fleet: &Fleet) -> VerbResult<f64> {
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
            "the load ρ is between {bound} and {load}, which is not precise enough to scale the arrival rates; remove the types with the smallest load, or increase the time limit"
        ));
    }
    Ok(load)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn rejects_imprecise_loads() {
        assert!(matches!(known_load(0.8, 0.7999), Ok(load) if load == 0.8));
        let unknown = known_load(0.8, 0.7).map_err(|why| why.to_string());
        let refusal = unknown.unwrap_err();
        assert!(refusal.contains("between 0.7000 and 0.8000"), "{refusal}");
    }
}
