//! What to buy: the program solved again for servers that have one step more of something.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::SynthesisOptions;
use crate::program::{self, SolveLimits};
use synth_multiresource::schedule::{Schedule, smallest_step};
use synth_multiresource::workload::Fleet;

/// The part of the time, where it is limited, and of the work of the program that goes into these answers.
const PART: u32 = 10;

/// A program for larger servers is an answer beside others: its load need not be proven.
const LONGER: usize = 1;

/// What could be bought, and the load then. Nothing of it is claimed of the policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Upgrades {
    /// One step of each resource of each shape; and where there are several servers, one more of each shape. What helps
    /// most comes first.
    pub found: Vec<Upgrade>,
    /// Steps that were not looked at, since the time was over.
    pub skipped: usize,
}

/// Something that can be bought, and the load with it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Upgrade {
    /// The shape of servers: each of them gets more of the resource, or there is one more of them.
    pub shape: String,
    /// The resource; absent where it is one more server of the shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// How much more of it each server of the shape gets, > 0; 1 for one more server. Of a resource it is the least
    /// that can be bought and changes what can run together.
    pub more: f64,
    /// The load then; where it is not proven it may be less.
    pub load: f64,
    /// Whether no policy has less.
    pub proven: bool,
}

/// Returns what each step brings. A step that cannot be solved, or for which no time is left, is counted only. `known` are
/// schedules over all types for each shape (H), if any are: what fits now fits then.
pub fn upgrades(fleet: &Fleet, options: &SynthesisOptions, known: &[Vec<Schedule>]) -> Upgrades {
    let all = purchases(fleet);
    let end = options.end.map(|_| Instant::now() + options.left() / PART);
    let limits = SolveLimits {
        longer: LONGER,
        work: options.limits.work / u64::from(PART) / all.len().max(1) as u64,
        ..options.limits.clone()
    };
    let options = SynthesisOptions {
        limits,
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

/// One step of each resource that a shape has and some type demands; where there are several servers, also one more of
/// each shape: each with the larger servers, its load not known yet.
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

    /// What a step would bring is what the program says of the larger server.
    #[test]
    fn upgrades_are_solved_again() {
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
