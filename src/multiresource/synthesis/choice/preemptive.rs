//! Where the search begins with preemption.

use super::ChoiceOptions;
use crate::multiresource::artifact::{
    Family, MaxWeightPolicy, MaxWeightSetupPolicy, PresentTablePolicy, ServerFillingPolicy,
    TablePolicy,
};
use crate::multiresource::optimum::{self, Ended};
use crate::multiresource::simulator::Contender;
use crate::multiresource::synthesis::{Options, Synthesis};
use crate::multiresource::workload::Workload;

/// Exponents a, and powers b of the service rates, that were good somewhere.
const WEIGHTS: [(f64, f64); 7] = [
    (0.25, 0.0),
    (0.25, 0.25),
    (0.5, 0.0),
    (0.5, 0.5),
    (0.1, 0.25),
    (0.25, 0.75),
    (1.0, 1.0),
];

/// All of them with full preemption, and what no policy can beat where that is known.
pub(super) fn full(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    made: &Synthesis,
) -> (Vec<Family>, Option<f64>) {
    let have = |name: &str| choice.families.have(name);
    let mut starts: Vec<Family> = vec![made.policy.clone().into(), max_weight(workload).into()];
    let weighted = WEIGHTS.map(|weights| weighted(workload, made, weights));
    if Contender::ServerFilling.suits(workload).is_ok() {
        starts.push(ServerFillingPolicy {}.into());
    }
    let own: Vec<Family> = weighted.map(Family::from).into();
    let (table, least) = table(workload, options, choice, &own).unzip();
    starts.extend(own);
    starts.extend(table);
    starts.retain(|policy| have(policy.name()));
    (starts, least.flatten())
}

/// The table of the dynamic program, where that may be taken and is solved in passing, which goes on as one of these
/// beyond; and what no policy can beat where that is known.
fn table(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    beyond: &[Family],
) -> Option<(Family, Option<f64>)> {
    if !choice.families.have("optimal") {
        return None;
    }
    let limits = optimum::Limits::for_a_table(options.effort).within(options.left());
    let interrupt = &choice.interrupt;
    let found = optimum::optimum(workload, options.sought(), &limits, interrupt, |_| ());
    // Cut short it would be no optimum.
    let found = found.ok().filter(|found| found.ended != Ended::Cut)?;
    let least = Some(found.lower).filter(|_| found.ended == Ended::Close);
    Some((going_on(found.policy, beyond), least))
}

/// At the prices of the program.
fn weighted(
    workload: &Workload,
    made: &Synthesis,
    (exponent, power): (f64, f64),
) -> MaxWeightPolicy {
    let prices = MaxWeightPolicy {
        worths: super::candidates::prices(workload, made),
        exponent,
    };
    let speeds = workload.types().iter();
    prices.times(speeds.map(|t| t.service_rate().powf(power)))
}

/// Eagerness and haste that were good somewhere.
const SETUPS: [(f64, f64); 3] = [(0.5, 0.35), (1.0, 0.2), (0.3, 1.0)];

/// With setups: those that preempt, beside all that do not; and what no policy can beat where that is known.
pub(super) fn with_setups(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    made: &Synthesis,
) -> (Vec<Family>, Option<f64>) {
    let have = |name: &str| choice.families.have(name);
    let Some(setup_rate) = options.setup_rate.filter(|_| have("max-weight-setup")) else {
        return (Vec::new(), None);
    };
    let starts = SETUPS.iter().flat_map(|(eagerness, haste)| {
        WEIGHTS[..4].iter().map(|weights| MaxWeightSetupPolicy {
            weights: weighted(workload, made, *weights),
            setup_rate,
            eagerness: *eagerness,
            haste: *haste,
        })
    });
    let mut starts: Vec<Family> = starts.map(Family::from).collect();
    let (table, least) = table(workload, options, choice, &starts).unzip();
    starts.extend(table);
    (starts, least.flatten())
}

/// Beyond its table the optimum goes on as the best weights among these policies.
pub(super) fn going_on(policy: Family, tuned: &[Family]) -> Family {
    let weights = tuned.iter().find_map(|policy| match policy {
        Family::MaxWeight(weights) => Some(weights),
        _ => None,
    });
    let with_setups = tuned.iter().find_map(|policy| match policy {
        Family::MaxWeightSetup(weights) => Some(weights),
        _ => None,
    });
    match (policy, weights, with_setups) {
        (Family::OptimalPreemptive(table), Some(beyond), _) => PresentTablePolicy {
            beyond: beyond.clone(),
            ..table
        }
        .into(),
        (Family::Optimal(table), _, Some(beyond)) if table.beyond.is_some() => TablePolicy {
            beyond: Some(beyond.clone()),
            ..table
        }
        .into(),
        (other, ..) => other,
    }
}

/// The rule as it is published.
pub(super) fn max_weight(workload: &Workload) -> MaxWeightPolicy {
    MaxWeightPolicy {
        worths: vec![1.0; workload.types().len()],
        exponent: 1.0,
    }
}
