//! Where the search begins with preemption.

use crate::multiresource::artifact::{
    Family, MaxWeightPolicy, MaxWeightSetupPolicy, ServerFillingPolicy,
};
use crate::multiresource::policy::ServerFilling;
use crate::multiresource::synthesis::Synthesis;
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

/// All of them with full preemption.
pub(super) fn full(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let mut starts: Vec<Family> = vec![msr.policy.clone().into(), max_weight(workload).into()];
    if workload.start_latency().is_none() && ServerFilling::new(workload).is_ok() {
        starts.push(ServerFillingPolicy {}.into());
    }
    starts.extend(WEIGHTS.map(|weights| weighted(workload, msr, weights).into()));
    starts
}

/// At the prices of the program.
fn weighted(
    workload: &Workload,
    msr: &Synthesis,
    (exponent, power): (f64, f64),
) -> MaxWeightPolicy {
    let prices = MaxWeightPolicy {
        worths: super::candidates::prices(workload, msr),
        exponent,
    };
    let speeds = workload.types().iter();
    prices.times(speeds.map(|t| t.service_rate().powf(power)))
}

/// Eagerness and haste that were good somewhere.
const SETUPS: [(f64, f64); 3] = [(0.5, 0.35), (1.0, 0.2), (0.3, 1.0)];

/// With setups at this rate: those that preempt, beside all that do not.
pub(super) fn with_setups(workload: &Workload, setup_rate: f64, msr: &Synthesis) -> Vec<Family> {
    let starts = SETUPS.iter().flat_map(|(eagerness, haste)| {
        WEIGHTS[..4].iter().map(|weights| MaxWeightSetupPolicy {
            weights: weighted(workload, msr, *weights),
            setup_rate,
            eagerness: *eagerness,
            haste: *haste,
        })
    });
    starts.map(Family::from).collect()
}

/// The rule as it is published.
pub(super) fn max_weight(workload: &Workload) -> MaxWeightPolicy {
    MaxWeightPolicy {
        worths: vec![1.0; workload.types().len()],
        exponent: 1.0,
    }
}
