//! Where the search begins with full preemption.

use super::ChoiceOptions;
use crate::multiresource::artifact::{
    DivisorFillingPolicy, Family, MaxWeightPolicy, Preemption, PresentTablePolicy,
    ServerFillingPolicy, ServerFillingSrptPolicy,
};
use crate::multiresource::optimum::{self, Ended};
use crate::multiresource::simulator::Contender;
use crate::multiresource::synthesis::{Options, Synthesis};
use crate::multiresource::workload::{Known, Workload};

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

/// All of them, and what no policy can beat where that is known.
pub(super) fn preemptive(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    made: &Synthesis,
) -> (Vec<Family>, Option<f64>) {
    let have = |name: &str| choice.families.have(name);
    let mut starts: Vec<Family> = vec![made.policy.clone().into(), max_weight(workload).into()];
    let prices = MaxWeightPolicy {
        worths: super::starts::prices(workload, made),
        exponent: 1.0,
    };
    let weighted = WEIGHTS.map(|(exponent, power)| {
        let speeds = workload.types().iter();
        let weighted = prices.times(speeds.map(|t| t.service_rate().powf(power)));
        MaxWeightPolicy {
            exponent,
            ..weighted
        }
    });
    starts.extend(weighted.iter().cloned().map(Family::from));
    let by_name: [(Contender, Family); 3] = [
        (Contender::ServerFilling, ServerFillingPolicy {}.into()),
        (Contender::DivisorFilling, DivisorFillingPolicy {}.into()),
        (
            Contender::ServerFillingSrpt,
            ServerFillingSrptPolicy {}.into(),
        ),
    ];
    let knows_sizes = workload.known() == Some(&Known::Size);
    for (rule, family) in by_name {
        if rule.suits(workload).is_ok() && (knows_sizes || !family.needs_sizes()) {
            starts.push(family);
        }
    }
    let mut least = None;
    if have("optimal-preemptive") {
        let limits = optimum::Limits::for_a_table(options.effort);
        let (objective, interrupt) = (options.objective, &choice.interrupt);
        let found = optimum::optimum(
            workload,
            Preemption::Full,
            objective,
            &limits,
            interrupt,
            |_| (),
        );
        if let Ok(found) = found {
            least = Some(found.lower).filter(|_| found.ended == Ended::Close);
            starts.push(match found.policy {
                Family::OptimalPreemptive(table) => {
                    let [beyond, ..] = weighted;
                    PresentTablePolicy { beyond, ..table }.into()
                }
                other => other,
            });
        }
    }
    starts.retain(|policy| have(policy.name()));
    (starts, least)
}

/// The rule as it is published.
pub(super) fn max_weight(workload: &Workload) -> MaxWeightPolicy {
    MaxWeightPolicy {
        worths: vec![1.0; workload.types().len()],
        exponent: 1.0,
    }
}
