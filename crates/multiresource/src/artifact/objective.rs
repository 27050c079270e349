use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Claim, Quantity};
use crate::workload::Workload;
use synth_simulation::{Threshold, Watch};

/// The objective that is used to choose a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Objective {
    /// The mean response time of all jobs, `E[T]`.
    #[default]
    Mean,
    /// The weighted mean response time `Σ w_i E[T_i]`, where w_i is the share of the dominant load.
    Weighted,
    /// The 99th percentile of the response times of all jobs.
    P99,
}

impl Objective {
    /// Returns the objective that is analysed for it, as there is no exact analysis of percentiles.
    #[must_use]
    pub fn analysed(self) -> Self {
        match self {
            Objective::P99 => Objective::Mean,
            mean => mean,
        }
    }

    /// Returns the other mean.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Objective::Mean | Objective::P99 => Objective::Weighted,
            Objective::Weighted => Objective::Mean,
        }
    }

    /// Returns the label for tables.
    pub fn label(self) -> &'static str {
        match self {
            Objective::Mean => "E[T]",
            Objective::Weighted => "weighted E[T]",
            Objective::P99 => "P99 of T",
        }
    }
}

/// A guarantee that at least this share of the jobs of a type wait, or stay, no longer than a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// The job type.
    #[serde(rename = "type")]
    pub job_type: String,
    /// The delay that is bounded.
    pub delay: Delay,
    /// The guaranteed share of the jobs, in (0, 1).
    pub share: f64,
    /// The bound on the delay \[time\].
    pub within: f64,
    /// The time as typed, with its unit; empty if it was typed without one.
    #[serde(skip)]
    pub written: String,
}

/// The delay that a guarantee bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// The time between the arrival and the start.
    Waiting,
    /// The time between the arrival and the completion.
    Response,
}

impl Guarantee {
    /// Returns the quantity of the claim, which is the fraction of the jobs that take longer.
    pub fn quantity(&self) -> Quantity {
        match self.delay {
            Delay::Waiting => Quantity::WaitingAbove,
            Delay::Response => Quantity::ResponseAbove,
        }
    }

    /// Returns the claim about this delay, if there is one.
    pub fn claimed<'a>(&self, claims: impl IntoIterator<Item = &'a Claim>) -> Option<&'a Claim> {
        claims.into_iter().find(|claim| {
            claim.quantity == self.quantity()
                && claim.job_type.as_deref() == Some(&self.job_type)
                && claim.longer_than == Some(self.within)
        })
    }

    /// Returns the fraction of jobs that may take longer.
    pub fn allowed(&self) -> f64 {
        1.0 - self.share
    }

    /// Returns the measurement for a run; `None` if the workload does not have the type.
    pub fn watch(&self, workload: &Workload) -> Option<Watch> {
        let mut types = workload.types().iter();
        Some(Watch {
            job_type: types.position(|t| t.name() == self.job_type)?,
            threshold: match self.delay {
                Delay::Waiting => Threshold::Waiting(self.within),
                Delay::Response => Threshold::Response(self.within),
            },
        })
    }

    /// Returns the guarantee as typed, such as `g8: wait 95 % < 6 h`, with `unit` as the default.
    pub fn describe(&self, unit: &str) -> String {
        let delay = match self.delay {
            Delay::Waiting => "wait",
            Delay::Response => "response",
        };
        // Rounded, since 0.95 is not a binary number.
        let percent = (1e10 * self.share).round() / 1e8;
        let time = match &*self.written {
            "" => format!("{} {unit}", self.within),
            written => written.to_owned(),
        };
        format!("{}: {delay} {percent} % < {time}", self.job_type)
    }
}
