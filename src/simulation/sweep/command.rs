//! The command of a comparison, to be typed again.

use super::Header;

impl Header {
    /// The command that compares the same, with all settings.
    #[must_use]
    pub fn command(&self) -> String {
        let s = &self.settings;
        let names: Vec<&str> = self.policies.iter().map(|p| p.name.as_str()).collect();
        let loads: Vec<String> = self.loads.iter().map(f64::to_string).collect();
        let time = s.time_seconds;
        let time = time.map_or(String::new(), |t| format!(" --time {t}"));
        format!(
            "synth compare --workload {} --policies {} --loads {} --seed {} --replications {} --precision {} --events {}{time}",
            quoted(&self.workload.file),
            quoted(&names.join(",")),
            loads.join(","),
            s.seed,
            s.replications,
            s.precision,
            s.events,
        )
    }
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
