use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lines::Lines;
use super::twin::Configuration;
use synth_multiresource::policy::Priority;
use synth_slurm::configuration::factor;

/// The settings that can be changed by an advice. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The order of the jobs that is set by job_submit.lua, if there is one.
    pub order: Option<Priority>,
    /// Whether PriorityType is priority/multifactor.
    pub is_multifactor: bool,
    /// The weights of age, fair share, job size, partition, QOS and association.
    pub weights: [f64; 6],
    /// PriorityMaxAge.
    pub max_age: f64,
    /// Whether SchedulerType is sched/backfill.
    pub backfills: bool,
    /// The time between the passes of the backfill scheduler.
    pub bf_interval: f64,
    /// The maximum time in the future for which reservations are made.
    pub bf_window: f64,
    /// The maximum number of jobs that are tested in a pass.
    pub bf_max_job_test: u32,
    /// The maximum number of jobs per user that are tested in a pass, or 0.
    pub bf_max_job_user: u32,
}

impl Settings {
    pub(super) fn of(own: &Configuration) -> Self {
        let (scheduler, priority) = (&own.site.scheduler, &own.site.priority);
        Settings {
            order: own.order,
            is_multifactor: priority.is_multifactor,
            weights: priority.weights,
            max_age: priority.max_age,
            backfills: scheduler.backfills,
            bf_interval: scheduler.bf_interval,
            bf_window: scheduler.bf_window,
            bf_max_job_test: scheduler.bf_max_job_test,
            bf_max_job_user: scheduler.bf_max_job_user,
        }
    }

    fn write(&self, own: &mut Configuration) {
        own.order = self.order;
        let priority = &mut own.site.priority;
        priority.is_multifactor = self.is_multifactor;
        priority.weights = self.weights;
        priority.max_age = self.max_age;
        let scheduler = &mut own.site.scheduler;
        scheduler.backfills = self.backfills;
        scheduler.bf_interval = self.bf_interval;
        scheduler.bf_window = self.bf_window;
        scheduler.bf_max_job_test = self.bf_max_job_test;
        scheduler.bf_max_job_user = self.bf_max_job_user;
    }

    /// Returns the settings in slurm.conf as lines.
    fn lines(&self) -> Vec<String> {
        let priority = if self.is_multifactor {
            "multifactor"
        } else {
            "basic"
        };
        let scheduler = if self.backfills {
            "backfill"
        } else {
            "builtin"
        };
        let mut lines = vec![
            format!("PriorityType=priority/{priority}"),
            format!("SchedulerType=sched/{scheduler}"),
            format!("PriorityMaxAge={:.0} min", self.max_age / 60.0),
            format!("bf_interval={:.0}", self.bf_interval),
            format!("bf_window={:.0}", self.bf_window / 60.0),
            format!("bf_max_job_test={}", self.bf_max_job_test),
            format!("bf_max_job_user={}", self.bf_max_job_user),
        ];
        let weights = factor::NAMES.iter().zip(self.weights);
        lines.extend(weights.map(|(name, weight)| format!("PriorityWeight{name}={weight:.0}")));
        lines
    }
}

/// The settings that are changed by an advice, before and after the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedSettings {
    /// The settings without the change.
    pub before: Settings,
    /// The settings with the change.
    pub after: Settings,
}

impl ChangedSettings {
    /// Returns the settings of the change that are in effect, and those that are missing. The order
    /// is in effect if `job_submit.lua` is used.
    pub(super) fn found(&self, now: &Configuration) -> [Vec<String>; 2] {
        let now_set = Settings::of(now).lines();
        let pairs = self.before.lines().into_iter().zip(self.after.lines());
        let changed = pairs.zip(now_set).filter(|((was, then), _)| was != then);
        let mut found = [Vec::new(), Vec::new()];
        for ((_, then), own) in changed {
            found[usize::from(own != then)].push(then);
        }
        if self.before.order != self.after.order {
            let has_script = Lines::has_script(&now.site.options);
            found[usize::from(!has_script)].push("JobSubmitPlugins=lua".into());
        }
        found
    }

    /// Adds the order to the configuration of a site if its script is used, and returns this
    /// configuration and the one without the change. Other settings may be newer than the advice.
    pub(super) fn undone(&self, mut now: Configuration) -> [Configuration; 2] {
        if Lines::has_script(&now.site.options) {
            now.order = self.after.order;
        }
        let (own, was, then) = (Settings::of(&now), &self.before, &self.after);
        let undone = Settings {
            order: restored(own.order, was.order, then.order),
            is_multifactor: restored(own.is_multifactor, was.is_multifactor, then.is_multifactor),
            weights: restored(own.weights, was.weights, then.weights),
            max_age: restored(own.max_age, was.max_age, then.max_age),
            backfills: restored(own.backfills, was.backfills, then.backfills),
            bf_interval: restored(own.bf_interval, was.bf_interval, then.bf_interval),
            bf_window: restored(own.bf_window, was.bf_window, then.bf_window),
            bf_max_job_test: restored(
                own.bf_max_job_test,
                was.bf_max_job_test,
                then.bf_max_job_test,
            ),
            bf_max_job_user: restored(
                own.bf_max_job_user,
                was.bf_max_job_user,
                then.bf_max_job_user,
            ),
        };
        let mut without = now.clone();
        undone.write(&mut without);
        [now, without]
    }
}

/// Returns the old value if the setting was changed.
fn restored<T: PartialEq>(own: T, was: T, then: T) -> T {
    if was == then { own } else { was }
}
