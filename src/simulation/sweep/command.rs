//! The command of a comparison, to be typed again.

use super::{Budgets, Comparing, Header};

impl Header {
    /// The command that compares the same, with all settings.
    #[must_use]
    pub fn command(&self) -> String {
        let names = self.policies.iter().map(|policy| policy.name.as_str());
        let arguments = arguments(&self.workload.file, names, &self.loads, &self.settings);
        format!("synth {arguments}")
    }
}

impl Comparing<'_> {
    /// What has to be typed behind `synth` to compare the same, with all settings.
    #[must_use]
    pub fn arguments(&self) -> String {
        let names = self.policies.iter().map(String::as_str);
        arguments(self.file, names, self.loads(), &self.settings.into())
    }
}

fn arguments<'a>(
    file: &str,
    policies: impl Iterator<Item = &'a str>,
    loads: &[f64],
    settings: &Budgets,
) -> String {
    let names: Vec<&str> = policies.collect();
    let loads: Vec<String> = loads.iter().map(f64::to_string).collect();
    let time = settings.time_seconds;
    let time = time.map_or(String::new(), |t| format!(" --time {t}"));
    format!(
        "compare --workload {} --policies {} --loads {} --seed {} --replications {} --precision {} --events {}{time}",
        quoted(file),
        quoted(&names.join(",")),
        loads.join(","),
        settings.seed,
        settings.replications,
        settings.precision,
        settings.events,
    )
}

/// As a shell takes it.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
