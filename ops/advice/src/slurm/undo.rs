use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lines::Lines;
use super::twin::Configuration;
use synth_multiresource::policy::Priority;
use synth_slurm::configuration::factor;

/// The settings that are changed by an advice, so that the change can be undone in a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedSettings {
    /// The order of the jobs that is set by `job_submit.lua`, if it is part of the change.
    pub order: Option<Priority>,
    /// The settings of the `slurm.conf`.
    pub settings: Vec<ChangedSetting>,
}

/// A setting of the `slurm.conf`, where times are in seconds. `PriorityType` is 1 for
/// `priority/multifactor`, and `SchedulerType` is 1 for `sched/backfill`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedSetting {
    /// The name of the option, or of the parameter in `SchedulerParameters`.
    pub name: String,
    /// The value without the change.
    pub before: f64,
    /// The value with the change.
    pub after: f64,
}

/// Returns the settings that can be changed by an advice.
fn settings(own: &Configuration) -> Vec<(String, f64)> {
    let (scheduler, priority) = (&own.site.scheduler, &own.site.priority);
    let others = [
        ("PriorityType", f64::from(priority.is_multifactor)),
        ("PriorityMaxAge", priority.max_age),
        ("SchedulerType", f64::from(scheduler.backfills)),
        ("bf_interval", scheduler.bf_interval),
        ("bf_window", scheduler.bf_window),
        ("bf_max_job_test", f64::from(scheduler.bf_max_job_test)),
        ("bf_max_job_user", f64::from(scheduler.bf_max_job_user)),
    ];
    let weights = factor::NAMES.iter().zip(priority.weights);
    let weights = weights.map(|(name, weight)| (format!("PriorityWeight{name}"), weight));
    let others = others.map(|(name, value)| (name.to_owned(), value));
    others.into_iter().chain(weights).collect()
}

fn set(own: &mut Configuration, name: &str, value: f64) {
    let (scheduler, priority) = (&mut own.site.scheduler, &mut own.site.priority);
    match name {
        "PriorityType" => priority.is_multifactor = value > 0.0,
        "PriorityMaxAge" => priority.max_age = value,
        "SchedulerType" => scheduler.backfills = value > 0.0,
        "bf_interval" => scheduler.bf_interval = value,
        "bf_window" => scheduler.bf_window = value,
        "bf_max_job_test" => scheduler.bf_max_job_test = value as u32,
        "bf_max_job_user" => scheduler.bf_max_job_user = value as u32,
        _ => {
            let own = name.strip_prefix("PriorityWeight");
            let place = factor::NAMES.iter().position(|name| own == Some(*name));
            place.into_iter().for_each(|n| priority.weights[n] = value);
        }
    }
}

impl ChangedSettings {
    pub(super) fn between(before: &Configuration, after: &Configuration) -> Self {
        let pairs = settings(before).into_iter().zip(settings(after));
        let changed = pairs.filter(|(was, then)| was != then);
        let changed = changed.map(|((name, before), (_, after))| ChangedSetting {
            name,
            before,
            after,
        });
        ChangedSettings {
            order: after.order,
            settings: changed.collect(),
        }
    }

    /// Returns the names of the settings that are missing in a configuration after the change, and
    /// `true` if all of them are missing. The order is in effect if `job_submit.lua` is used.
    pub(super) fn missing(&self, now: &Configuration) -> (Vec<String>, bool) {
        let set = settings(now);
        let is_missing = |own: &&ChangedSetting| !set.contains(&(own.name.clone(), own.after));
        let names = self.settings.iter().filter(is_missing);
        let mut missing: Vec<String> = names.map(|own| own.name.clone()).collect();
        if self.order.is_some() && !Lines::has_script(&now.site.options) {
            missing.push("JobSubmitPlugins=lua".into());
        }
        let all = self.settings.len() + usize::from(self.order.is_some());
        let is_all = missing.len() == all;
        (missing, is_all)
    }

    /// Adds the order to the configuration of a site if its script is used, and returns this
    /// configuration and the one without the change. Other settings may be newer than the advice.
    pub(super) fn undone(&self, mut now: Configuration) -> [Configuration; 2] {
        let mut without = now.clone();
        for own in &self.settings {
            set(&mut without, &own.name, own.before);
        }
        now.order = self.order.filter(|_| Lines::has_script(&now.site.options));
        [now, without]
    }
}
