use itertools::Itertools as _;

#[derive(Clone)]
pub(super) struct Lines(pub Vec<(String, String)>);

pub(super) const PLUGINS: &str = "JobSubmitPlugins";
const PARAMETERS: &str = "SchedulerParameters";

impl Lines {
    /// Returns the value that is used, which is the last one, or an empty string if it is not set.
    fn value(&self, key: &str) -> &str {
        let mut pairs = self.0.iter().rev();
        let pair = pairs.find(|(own, _)| own.eq_ignore_ascii_case(key));
        let value = pair.map(|own| own.1.as_str());
        value.filter(|own| *own != "(null)").unwrap_or_default()
    }

    fn parts(&self, key: &str) -> Vec<&str> {
        let parts = self.value(key).split(',').map(str::trim);
        parts.filter(|part| !part.is_empty()).collect()
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<String>) {
        self.0.push((key.to_owned(), value.into()));
    }

    pub(super) fn has_plugin(&self, key: &str, plugin: &str) -> bool {
        let mut plugins = self.parts(key).into_iter();
        plugins.any(|own| own.rsplit('/').next() == Some(plugin))
    }

    /// Returns `true` if job_submit.lua is used with these options.
    pub(super) fn has_script(options: &[(String, String)]) -> bool {
        Lines(options.to_vec()).has_plugin(PLUGINS, "lua")
    }

    pub(super) fn add_plugin(&mut self, key: &str, plugin: &str) {
        if !self.has_plugin(key, plugin) {
            let all = self.parts(key).into_iter().chain([plugin]).join(",");
            self.set(key, all);
        }
    }

    /// Sets a scheduler parameter. If there are multiple values, Slurm uses the first one.
    pub(super) fn set_parameter(&mut self, name: &str, value: f64) {
        let is_it = |part: &&str| {
            let own = part.split('=').next().unwrap_or_default();
            let is_old = name == "bf_max_job_test" && own.eq_ignore_ascii_case("max_job_bf");
            own.eq_ignore_ascii_case(name) || is_old
        };
        let mut parts = self.parts(PARAMETERS);
        let place = parts.iter().position(is_it).unwrap_or(parts.len());
        parts.retain(|part| !is_it(part));
        let own = format!("{name}={value:.0}");
        parts.insert(place, &own);
        let all = parts.join(",");
        self.set(PARAMETERS, all);
    }

    /// Returns the options that change `before` to this configuration.
    pub(super) fn changes_from(&self, before: &Lines) -> Vec<ChangedOption> {
        let keys = self.0[before.0.len()..].iter().map(|own| &own.0).unique();
        let changes = keys.map(|key| ChangedOption {
            key: key.clone(),
            value: self.value(key).to_owned(),
            before: before.value(key).to_owned(),
        });
        changes.filter(|own| own.value != own.before).collect()
    }
}

/// An option of slurm.conf that is changed. An empty value means that it is not set.
pub(super) struct ChangedOption {
    pub key: String,
    pub value: String,
    before: String,
}

impl ChangedOption {
    /// Returns the line that sets the option, and the line that undoes this.
    pub(super) fn lines(&self) -> (String, String) {
        let (key, was) = (&self.key, self.before.as_str());
        let is_plain = !was.is_empty() && !was.contains(['=', ',']);
        let comment = is_plain.then(|| format!("  # was {was}"));
        let back = match was {
            "" => format!("# {key}: remove the new line, because there was no such line before"),
            was => line(key, was),
        };
        (line(key, &self.value) + &comment.unwrap_or_default(), back)
    }
}

fn line(key: &str, value: &str) -> String {
    let quote = if value.contains(' ') { "\"" } else { "" };
    format!("{key}={quote}{value}{quote}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pairs: &[(&str, &str)]) -> Lines {
        let own = pairs.iter();
        Lines(
            own.map(|(key, value)| ((*key).into(), (*value).into()))
                .collect(),
        )
    }

    #[test]
    fn parameters_are_merged_in_order() {
        for (old, new) in [
            ("", "bf_max_job_test=2000"),
            ("bf_continue", "bf_continue,bf_max_job_test=2000"),
            (
                "bf_interval=60,bf_max_job_test=10,bf_max_job_user=3,BF_MAX_JOB_TEST=5",
                "bf_interval=60,bf_max_job_test=2000,bf_max_job_user=3",
            ),
            ("max_job_bf=10, defer", "bf_max_job_test=2000,defer"),
        ] {
            let mut own = lines(&[("schedulerparameters", "x"), (PARAMETERS, old)]);
            own.set_parameter("bf_max_job_test", 2000.0);
            assert_eq!(own.value(PARAMETERS), new, "{old}");
        }
    }

    #[test]
    fn changes_can_be_reverted() {
        let before = lines(&[
            ("PriorityWeightAge", "500"),
            ("PriorityWeightAge", "1000"),
            ("PriorityWeightFairshare", "2000"),
            ("JobSubmitPlugins", "lua,require_timelimit"),
            (PARAMETERS, "bf_interval=60"),
            ("SchedulerType", "a b"),
        ]);
        let mut after = before.clone();
        after.set("PriorityWeightAge", "300");
        after.set("PriorityWeightFairshare", "2000");
        after.set("PriorityMaxAge", "7-0");
        after.add_plugin("JobSubmitPlugins", "lua");
        after.set_parameter("bf_interval", 10.0);
        after.set_parameter("bf_window", 2880.0);
        after.set("SchedulerType", "sched/backfill");
        let changes = after.changes_from(&before);
        let (new, old): (Vec<_>, Vec<_>) = changes.iter().map(ChangedOption::lines).unzip();
        assert_eq!(
            new,
            [
                "PriorityWeightAge=300  # was 1000",
                "PriorityMaxAge=7-0",
                "SchedulerParameters=bf_interval=10,bf_window=2880",
                "SchedulerType=sched/backfill  # was a b",
            ]
        );
        assert_eq!(
            old,
            [
                "PriorityWeightAge=1000",
                "# PriorityMaxAge: remove the new line, because there was no such line before",
                "SchedulerParameters=bf_interval=60",
                "SchedulerType=\"a b\"",
            ]
        );
        let mut own = lines(&[("JobSubmitPlugins", "require_timelimit")]);
        own.add_plugin("jobsubmitplugins", "lua");
        assert_eq!(own.value("JobSubmitPlugins"), "require_timelimit,lua");
    }
}
