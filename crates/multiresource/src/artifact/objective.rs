use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Claim, Quantity};
use crate::workload::Workload;
use synth_simulation::{Threshold, Watch};

/// What a policy is tuned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Objective {
    /// `E[T]`: the mean response time over all jobs.
    #[default]
    Mean,
    /// `Σ w_i E[T_i]`, w the share of the dominant load: a job counts as much as it takes.
    Weighted,
    /// The 99th percentile of the response times of all jobs.
    P99,
}

impl Objective {
    /// What is analysed for it: of a percentile over all jobs nothing is exact, and the mean stands for it.
    #[must_use]
    pub fn analysed(self) -> Self {
        match self {
            Objective::P99 => Objective::Mean,
            mean => mean,
        }
    }

    /// Returns the mean that this one does not look at, in which jobs count otherwise.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Objective::Mean | Objective::P99 => Objective::Weighted,
            Objective::Weighted => Objective::Mean,
        }
    }

    /// For tables.
    pub fn label(self) -> &'static str {
        match self {
            Objective::Mean => "E[T]",
            Objective::Weighted => "weighted E[T]",
            Objective::P99 => "P99 of T",
        }
    }
}

/// What is promised of the jobs of a type: this share of them wait, or stay, no longer than a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The job type.
    #[serde(rename = "type")]
    pub job_type: String,
    /// What is not to take longer.
    pub delay: Delay,
    /// Of which share of the jobs, in (0, 1).
    pub share: f64,
    /// Than this \[time\].
    pub within: f64,
    /// The same as it was typed, with its unit; empty where it was typed in none.
    #[serde(skip)]
    pub written: String,
}

/// What a promise is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// From arrival to the start.
    Waiting,
    /// From arrival to completion.
    Response,
}

impl Promise {
    /// What is claimed where it is kept: the fraction of jobs that take longer.
    pub fn quantity(&self) -> Quantity {
        match self.delay {
            Delay::Waiting => Quantity::WaitingAbove,
            Delay::Response => Quantity::ResponseAbove,
        }
    }

    /// Returns the claim of how many jobs take longer, if there is one.
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

    /// What a run has to watch; none where the workload does not have the type.
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

    /// Returns it as it is typed, in this unit of time unless it was typed in another: `g8: wait 95 % < 6 h`.
    pub fn words(&self, unit: &str) -> String {
        let delay = match self.delay {
            Delay::Waiting => "wait",
            Delay::Response => "response",
        };
        // Rounded, since .95 is no binary number.
        let percent = (1e10 * self.share).round() / 1e8;
        let time = match &*self.written {
            "" => format!("{} {unit}", self.within),
            written => written.to_owned(),
        };
        format!("{}: {delay} {percent} % < {time}", self.job_type)
    }
}
