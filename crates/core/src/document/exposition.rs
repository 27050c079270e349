//! Metrics as text that Prometheus reads: node_exporter's textfile collector takes it from a file.

/// Metrics of one thing, one after the other.
pub struct Exposition {
    /// What was added so far.
    pub text: String,
    prefix: &'static str,
    help: &'static str,
    labels: String,
}

impl Exposition {
    /// Returns no metrics yet: all have this prefix and these labels, and what each is, `help` says in lines of `name: words`.
    pub fn new(prefix: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Self {
        let labels: String = labels
            .iter()
            .map(|(key, value)| label(key, value))
            .collect();
        Exposition {
            text: String::new(),
            prefix,
            help,
            labels: labels.trim_start_matches(',').to_owned(),
        }
    }

    /// Adds a metric with its values by further labels; one that counts from a start on ends with `_total`.
    pub fn add(&mut self, name: &str, values: impl IntoIterator<Item = (String, f64)>) {
        let is_total = name.ends_with("_total");
        let kind = if is_total { "counter" } else { "gauge" };
        let mut help = self.help.lines().filter_map(|line| line.split_once(": "));
        let help = help
            .find(|(own, _)| *own == name)
            .map_or("", |(_, help)| help);
        let (name, all) = (format!("{}{name}", self.prefix), &self.labels);
        let mut add = |line: String| self.text.extend([&*line, "\n"]);
        add(format!("# HELP {name} {help}\n# TYPE {name} {kind}"));
        for (labels, value) in values {
            add(format!("{name}{{{all}{labels}}} {value}"));
        }
    }

    /// Adds a metric with one value.
    pub fn one(&mut self, name: &str, value: f64) {
        self.add(name, [(String::new(), value)]);
    }
}

/// Returns a label, which is not the first.
pub fn label(key: &str, value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!(",{key}=\"{}\"", escaped.replace('\n', "\\n"))
}
