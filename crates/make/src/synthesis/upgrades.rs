//! The load after an upgrade, for which program (7) is solved again.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::SynthesisOptions;
use crate::program::{self, SolveLimits};
use synth_multiresource::schedule::{Schedule, smallest_step};
use synth_multiresource::workload::Fleet;

/// All upgrades together get `1/PART` of the work, and of the remaining time if this is limited.
const PART: u32 = 10;

/// The loads after upgrades do not need to be proven, so a search is only repeated once.
const LONGER: usize = 1;

/// The possible upgrades and the load after each of them. The policy does not claim these values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Upgrades {
    /// An upgrade by one step of each resource for each shape and, if there are several servers, by
    /// one server of each shape. The most effective upgrade is the first one.
    pub found: Vec<Upgrade>,
    /// The number of upgrades that were not evaluated, because there was no time left or the
    /// program could not be solved.
    pub skipped: usize,
}

/// An upgrade, and the load with it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Upgrade {
    /// The shape of the server that is upgraded, or of the server that is added.
    pub shape: String,
    /// The resource; absent if a server is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The smallest increase for each server that has an effect. This is 1 if a server is added.
    pub more: f64,
    /// The resulting load, or an upper bound if it is not proven.
    pub load: f64,
    /// Whether the load is proven to be minimal.
    pub proven: bool,
}

/// Returns the load for each upgrade. `known` lists schedules over all types for each shape (H).
pub fn upgrades(fleet: &Fleet, options: &SynthesisOptions, known: &[Vec<Schedule>]) -> Upgrades {
    let all = purchases(fleet);
    let end = options.end.map(|_| Instant::now() + options.left() / PART);
    let options = SynthesisOptions {
        limits: SolveLimits {
            longer: LONGER,
            work: options.limits.work / u64::from(PART) / all.len().max(1) as u64,
            ..options.limits.clone()
        },
        end,
        ..options.clone()
    };
    let mut upgrades = Upgrades::default();
    for (mut upgrade, larger) in all {
        let solve = || program::solve_from(&larger, &options.limits_now(), known).ok();
        let is_in_time = !options.left().is_zero();
        let Some(solved) = is_in_time.then(solve).flatten() else {
            upgrades.skipped += 1;
            continue;
        };
        upgrade.load = solved.certificate.load;
        upgrade.proven = solved.certificate.proven();
        upgrades.found.push(upgrade);
    }
    upgrades.found.sort_by(|a, b| a.load.total_cmp(&b.load));
    upgrades
}

fn purchases(fleet: &Fleet) -> Vec<(Upgrade, Fleet)> {
    let resources = fleet.envelope().resources();
    let mut all = Vec::new();
    for (h, shape) in fleet.shapes().iter().enumerate() {
        let upgrade = |resource: Option<usize>, more| Upgrade {
            shape: shape.name().into(),
            resource: resource.map(|j| resources[j].name().into()),
            more,
            load: f64::NAN,
            proven: false,
        };
        for j in 0..resources.len() {
            let step = smallest_step(fleet, h, j);
            let larger = step.and_then(|more| Some((more, fleet.with_more(h, j, more)?)));
            all.extend(larger.map(|(more, larger)| (upgrade(Some(j), more.value()), larger)));
        }
        if !fleet.is_one_server() {
            let larger = fleet.with_servers(h, shape.count().saturating_add(1));
            all.extend(larger.ok().map(|larger| (upgrade(None, 1.0), larger)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::synthesis::tests::section7;
    use synth_multiresource::artifact::Preemption;
    use synth_multiresource::workload::Workload;

    #[test]
    fn upgrades_match_the_program_of_larger_servers() {
        let options = SynthesisOptions::new(Preemption::None);
        let found = upgrades(&section7(0.8).into(), &options, &[]);
        assert_eq!((found.found.len(), found.skipped), (3, 0));
        let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/section7.yaml");
        let text = std::fs::read_to_string(text).unwrap();
        for (resource, from, to) in [
            ("cpu", "cpu: 20", "cpu: 21"),
            ("memory", "memory: 15", "memory: 16"),
        ] {
            let step = found.found.iter();
            let mut step = step.filter(|s| s.resource.as_deref() == Some(resource));
            let step = step.next().unwrap();
            assert!(step.more == 1.0 && step.proven && text.contains(from));
            let larger = Workload::parse(&text.replace(from, to), "larger")
                .unwrap()
                .workload;
            let larger = larger.scaled(0.8 / 0.9).unwrap();
            let expected = program::solve(&larger, &SolveLimits::default()).unwrap();
            assert!(
                (step.load / expected.certificate.load - 1.0).abs() < 1e-9,
                "{resource}"
            );
        }
    }
}
