//! The lines of slurm.conf that a change writes, and those that take it back.

use crate::configuration::Site;

/// The options of slurm.conf with their values as they are written.
#[derive(Clone)]
pub(super) struct Lines(Vec<(String, String)>);

const PARAMETERS: &str = "SchedulerParameters";

impl Lines {
    /// Returns the options of a site as it is set up now.
    pub fn of(site: &Site) -> Self {
        Lines(site.options.clone().unwrap_or_default())
    }

    /// Returns the value that holds, which is the last one; `None` if the option is not set.
    fn value(&self, key: &str) -> Option<&str> {
        let mut pairs = self.0.iter().rev();
        let pair = pairs.find(|(own, _)| own.eq_ignore_ascii_case(key));
        let value = pair.map(|(_, value)| value.as_str());
        value.filter(|value| !matches!(*value, "" | "(null)"))
    }

    /// Sets an option.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.0.push((key.to_owned(), value.into()));
    }

    /// Appends a plugin to a list of them, unless the list has it already.
    pub fn add_plugin(&mut self, key: &str, plugin: &str) {
        if !self.has_plugin(key, plugin) {
            let before = self
                .value(key)
                .map_or(String::new(), |own| own.to_owned() + ",");
            self.set(key, before + plugin);
        }
    }

    /// Returns whether a list of plugins, such as `lua` or `job_submit/lua`, has this one.
    pub fn has_plugin(&self, key: &str, plugin: &str) -> bool {
        let mut plugins = self.value(key).unwrap_or_default().split(',');
        plugins.any(|own| own.trim().rsplit('/').next() == Some(plugin))
    }

    /// Returns whether the parameters of the scheduler have this text.
    pub fn has_parameter(&self, text: &str) -> bool {
        self.value(PARAMETERS).is_some_and(|own| own.contains(text))
    }

    /// Sets a parameter of the scheduler: where it is already, else behind all others. Slurm follows the first of several.
    pub fn set_parameter(&mut self, name: &str, value: f64) {
        let is_it = |part: &&str| {
            let own = part.split('=').next().unwrap_or_default().trim();
            let own = if own.eq_ignore_ascii_case("max_job_bf") {
                "bf_max_job_test"
            } else {
                own
            };
            own.eq_ignore_ascii_case(name)
        };
        let old = self
            .value(PARAMETERS)
            .unwrap_or_default()
            .split(',')
            .map(str::trim);
        let mut parts: Vec<&str> = old.filter(|part| !part.is_empty()).collect();
        let place = parts.iter().position(is_it).unwrap_or(parts.len());
        parts.retain(|part| !is_it(&part));
        let own = format!("{name}={value:.0}");
        parts.insert(place, &own);
        let all = parts.join(",");
        self.set(PARAMETERS, all);
    }

    /// Returns the lines that turn a site with other options into one with these, and the lines that turn it back.
    pub fn instead_of(&self, before: &Lines, is_known: bool) -> (Vec<String>, Vec<String>) {
        let (mut new, mut old) = (Vec::new(), Vec::new());
        let changed = &self.0[before.0.len()..];
        for (n, (key, _)) in changed.iter().enumerate() {
            if changed[..n].iter().any(|(own, _)| own == key) {
                continue;
            }
            let [own, was] = [self, before].map(|lines| lines.value(key));
            let (Some(own), true) = (own, own != was) else {
                continue;
            };
            new.push(match was {
                Some(was) if !was.contains([',', '=']) => {
                    format!("{}  # was {was}", line(key, own))
                }
                _ => line(key, own),
            });
            old.push(match was {
                Some(was) => line(key, was),
                None if is_known => format!("# {key}: there was no such line: delete the new one"),
                None => format!("# {key}: slurm.conf was not read: save its line before"),
            });
        }
        (new, old)
    }
}

/// Returns a line as Slurm reads it.
fn line(key: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('#', "\\#");
    if value.contains(char::is_whitespace) {
        format!("{key}=\"{value}\"")
    } else {
        format!("{key}={value}")
    }
}
