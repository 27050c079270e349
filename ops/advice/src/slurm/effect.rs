use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AdvisedOrder, ChangedSettings, SiteChange, drift};
use crate::agreement::Agreement;
use synth_traces::replay::Interval;

/// The advice, and the data that it is based on. All times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// The name of the cluster.
    pub cluster: String,
    /// The number of jobs in the log.
    pub jobs: u64,
    /// The fraction of the time span that is used to select changes, and not for the results.
    pub past: f64,
    /// A comparison of the replay with the log, for the jobs that are evaluated.
    pub likeness: Option<Agreement>,
    /// The waits of the jobs that are evaluated, using the current configuration.
    pub today: GroupWaits,
    /// Whether the changes are advised, since they help and the replay is close to the log.
    pub is_advised: bool,
    /// The set of changes that helped the most in the first half, which may be empty.
    pub chosen: Vec<SiteChange>,
    /// The order of the queue, if it is part of the changes that are advised.
    pub order: Option<AdvisedOrder>,
    /// The new lines of the `slurm.conf`, which replace the lines with the same names. If no
    /// changes are advised, there are no lines.
    pub lines: Vec<String>,
    /// The lines that undo the changes. If a line must be removed, this is a comment.
    pub back: Vec<String>,
    /// The settings that are changed by all changes that were selected.
    pub changed: ChangedSettings,
    /// The names and values in the new lines.
    #[serde(skip)]
    pub(crate) settings: Vec<(String, String)>,
    /// The effect of all changes that were selected.
    pub gain: Option<Effect>,
    /// The effect of each change if it is the only one.
    pub tried: Vec<Effect>,
    /// The effect of adding more nodes.
    pub purchases: Vec<Effect>,
    /// The settings that may affect the start of jobs, but are not included in the replay.
    pub not_modeled: Vec<String>,
    /// The assumptions about the site that have an effect on the results.
    pub assumed: Vec<String>,
    /// Notes on how the log was read.
    pub remarks: Vec<String>,
    /// The maximum wait in the first half, as a multiple of the current longest wait.
    pub longest: Option<f64>,
    /// The seed for the random blocks.
    pub seed: u64,
}

impl Advice {
    /// Returns `true` if the replay is close to the log, or if this is not known.
    pub(crate) fn is_near(&self) -> bool {
        self.likeness.as_ref().is_none_or(Agreement::is_near)
    }

    pub(crate) fn is_checked(&self) -> bool {
        self.likeness.as_ref().is_some_and(Agreement::is_near)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.likeness.as_ref().is_some_and(Agreement::is_quiet)
    }

    /// Returns the effect of the changes if they are advised.
    pub(crate) fn significant_effect(&self) -> Option<&Effect> {
        let gain = self.gain.as_ref();
        gain.filter(|gain| self.is_checked() && !self.is_quiet() && gain.is_sure())
    }
}

/// The waits of a set of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupWaits {
    /// The number of jobs.
    pub jobs: u64,
    /// The mean of the waits.
    pub mean: f64,
    /// The mean of `max(1, response / max(size, 10 s))`.
    pub slowdown: f64,
    /// The longest wait of any job.
    pub longest: f64,
}

/// The effect of a change on the jobs that are evaluated.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// A description of the change.
    pub what: String,
    /// The waits of the jobs if the change is made.
    pub waits: GroupWaits,
    /// The mean wait divided by the mean wait with the current configuration.
    pub ratio: f64,
    /// The 95 % interval of the ratio in a following period as long as the evaluated one.
    pub interval: Option<Interval>,
    /// The 95 % confidence interval of the ratio for the jobs that are evaluated.
    pub within: Option<Interval>,
    /// The effect on each class of jobs, where the classes with the largest loss are first.
    pub classes: Vec<JobGroup>,
    /// The effect on each user. This only contains the users with the largest changes.
    pub users: Vec<JobGroup>,
}

impl Effect {
    /// Returns `true` if the mean wait becomes shorter with a probability of at least 95 %.
    pub(crate) fn is_sure(&self) -> bool {
        let upper = |own: Interval| self.ratio + drift::ONE_SIDED * (own.high - self.ratio);
        self.interval.is_some_and(|own| upper(own) < 1.0)
    }
}

/// The jobs of a class or of a user that are evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobGroup {
    /// The name of the class or of the user.
    pub name: String,
    /// The number of jobs.
    pub jobs: u64,
    /// The mean wait in the log, or `None` if it is not known for all jobs.
    pub recorded: Option<f64>,
    /// The mean wait with the current configuration.
    pub today: f64,
    /// The mean wait if the change is made.
    pub changed: f64,
    /// The 95 % interval of the ratio of these means in a following period as long as the evaluated
    /// one, or `None` if there are too few jobs.
    pub interval: Option<Interval>,
}
