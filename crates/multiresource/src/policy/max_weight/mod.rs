mod online;
mod setups;

pub use online::MaxWeight;
pub use setups::MaxWeightSetups;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{NamedRule, PolicyConfig, TuningContext, describe_settings, mean_sizes_differ};
use super::{Policy, check};
use crate::schedule::Packing;
use crate::workload::{Fleet, JobType, Workload};
use online::few_maximal;
use synth_core::artifact::Findings;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "max-weight",
    description: "the schedule with the maximum weight, where the weight of a job is the number of jobs of its type",
    preempts: true,
    settings: |fleet, _| Ok(MaxWeightConfig::plain(fleet.types().len()).into()),
    ..NamedRule::PLAIN
};

/// MaxWeight with full preemption. Let `Q_i` be the number of jobs of type `i` in the system. Among
/// the schedules `u` for which there are enough jobs, it serves one with the maximum of
/// `Σ c_i Q_i^a u_i`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightConfig {
    /// The values `c_i` (length K), which must be between 1e-6 and 1.
    pub worths: Vec<f64>,
    /// The exponent `a`, which must be positive and at most 2.
    pub exponent: f64,
}

impl MaxWeightConfig {
    /// Returns the published rule.
    pub fn plain(types: usize) -> Self {
        MaxWeightConfig {
            worths: vec![1.0; types],
            exponent: 1.0,
        }
    }

    /// Multiplies the values by `factors`, scales the maximum to 1, and rounds up to six decimals.
    pub fn times(&self, factors: impl Iterator<Item = f64>) -> Self {
        let pairs = self.worths.iter().zip(factors);
        let mut worths: Vec<f64> = pairs.map(|(c, f)| c * f).collect();
        let most = worths.iter().copied().fold(0.0, f64::max);
        for c in &mut worths {
            // If the price of a type is 0, its weight must still be positive.
            *c = (*c / most * 1e6).ceil().max(1.0) / 1e6;
        }
        MaxWeightConfig {
            worths,
            exponent: self.exponent,
        }
    }

    pub(super) fn weights_in_words(&self, workload: &Workload) -> String {
        let pairs = workload.types().iter().zip(&self.worths);
        let worths: Vec<String> = pairs.map(|(t, c)| format!("{c:.3} {}", t.name())).collect();
        format!(
            "If there are Q jobs of a type, the weight of each of them is c Q^{}, with c = {}.",
            self.exponent,
            worths.join(", ")
        )
    }
}

/// MaxWeight with setups, which switches to the best schedule if the gain is large enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxWeightSetupConfig {
    /// The weights of running jobs.
    pub weights: MaxWeightConfig,
    /// The setup rate `γ` \[1/time\] at which the capacity of a stopped job is released.
    pub setup_rate: f64,
    /// The weight of a gain compared with the loss during the transition. Must be at least 0.
    pub eagerness: f64,
    /// A job is only stopped if the loss is less than this value times the loss of waiting for it.
    /// If the value is 0, jobs are never stopped. Must be at least 0.
    pub haste: f64,
}

impl PolicyConfig for MaxWeightConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(MaxWeight::weighted(fleet.envelope(), self))
    }

    fn describe(&self, workload: &Workload) -> String {
        format!(
            "MaxWeight, with preemption: the policy always uses the schedule with the maximum weight for the jobs in the system. {}",
            self.weights_in_words(workload)
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let (types, worths) = (fleet.types().len(), &self.worths);
        findings.length("worths", worths.len(), types, "job type");
        for (i, worth) in worths.iter().enumerate() {
            if !(LEAST_WORTH..=1.0).contains(worth) {
                let expected = format!("at least {LEAST_WORTH} and at most 1");
                findings.differs(format!("worths[{i}]"), worth, expected);
            }
        }
        let exponent = self.exponent;
        if !(exponent > 0.0 && exponent <= MOST_EXPONENT) {
            let expected = format!("above 0, at most {MOST_EXPONENT}");
            findings.differs("exponent", exponent, expected);
        }
    }

    fn preempts(&self) -> bool {
        true
    }

    /// The proof requires the maximum, which a search that is stopped early may miss.
    fn is_proved_stable(&self, workload: &Workload) -> bool {
        let is_memoryless = workload.types().iter().all(JobType::is_memoryless);
        is_memoryless && workload.is_poisson() && few_maximal(&Packing::new(workload)).is_some()
    }

    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        let types = workload.types().len();
        match few_maximal(&Packing::new(workload)) {
            Some(schedules) => (schedules.len() * types) as f64 / SCANNED,
            None => BOUNDED + types as f64 / 4.0,
        }
    }

    fn describe_parameters(&self, _: &Workload) -> Option<String> {
        describe_settings(self)
    }

    fn grids(&mut self, _: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        vec![(&mut self.exponent, EXPONENTS)]
    }

    fn other_axes(&self, _: &TuningContext<'_>) -> usize {
        let types = self.worths.len();
        1 + if types <= FEW_TYPES { types } else { 0 }
    }

    fn step(&mut self, axis: usize, up: bool, context: &TuningContext<'_>) -> Option<()> {
        let types = context.workload.types();
        let sign = if up { 1.0 } else { -1.0 };
        *self = match axis {
            0 if !mean_sizes_differ(context.workload) => return None,
            0 => self.times(types.iter().map(|t| t.service_rate().powf(sign * SPEED))),
            _ => {
                let own = |i: usize| if i + 1 == axis { ALONE.powf(sign) } else { 1.0 };
                self.times((0..types.len()).map(own))
            }
        };
        Some(())
    }
}

impl PolicyConfig for MaxWeightSetupConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(MaxWeightSetups::new(self, fleet.envelope()))
    }

    fn describe(&self, workload: &Workload) -> String {
        format!(
            "MaxWeight with setups: a job can be preempted, and its capacity is then held for a setup with a mean of {:.4} {}. The policy moves to the schedule with the maximum weight for the jobs in the system if the gain is larger than the cost of the transition (eagerness {}). It either stops jobs or waits until they have completed, whichever has the smaller cost (haste {}). Otherwise, waiting jobs are started if they fit. {}",
            1.0 / self.setup_rate,
            workload.time_unit(),
            self.eagerness,
            self.haste,
            self.weights.weights_in_words(workload)
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        findings.within("weights", |f| self.weights.check(fleet, f));
        check::numbers(self, &["setup_rate"], findings);
    }

    fn preempts(&self) -> bool {
        true
    }

    fn setup_rate(&self) -> Option<f64> {
        Some(self.setup_rate)
    }

    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        1.0 + self.weights.extra_work_per_event(workload)
    }

    fn describe_parameters(&self, _: &Workload) -> Option<String> {
        describe_settings(self)
    }

    fn grids(&mut self, _: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        vec![
            (&mut self.eagerness, EAGERNESS),
            (&mut self.haste, HASTE),
            (&mut self.weights.exponent, EXPONENTS),
        ]
    }

    fn other_axes(&self, context: &TuningContext<'_>) -> usize {
        self.weights.other_axes(context)
    }

    fn step(&mut self, axis: usize, up: bool, context: &TuningContext<'_>) -> Option<()> {
        self.weights.step(axis, up, context)
    }
}

const EXPONENTS: &[f64] = &[
    0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0, 1.25, 1.5, 2.0,
];
const EAGERNESS: &[f64] = &[0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0];
const HASTE: &[f64] = &[0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 3.0];

/// Counts scanned in the time of a simple decision, and simple decisions per branch and bound.
const SCANNED: f64 = 1_500.0;
const BOUNDED: f64 = 20.0;

/// The exponent of the service rates for a step of all values, and the factor for one value.
const SPEED: f64 = 0.125;
const ALONE: f64 = 1.25;
const FEW_TYPES: usize = 8;

/// Beyond these, the weights for a few thousand jobs can no longer be distinguished.
const LEAST_WORTH: f64 = 1e-6;
const MOST_EXPONENT: f64 = 2.0;
