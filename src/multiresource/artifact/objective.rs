use serde::Serialize;

/// What a policy is tuned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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

    /// The mean that this one does not look at, in which jobs count otherwise.
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
