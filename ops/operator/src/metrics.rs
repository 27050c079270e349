//! Metrics as text that Prometheus reads (the exposition format 0.0.4).

use std::collections::BTreeMap;

/// The metrics of an operator; one whose name ends with `_total` is a counter, and others are gauges.
#[derive(Debug)]
pub struct Metrics {
    prefix: &'static str,
    /// A line for each metric: `name: help`.
    help: &'static str,
    labels: String,
    /// By name, and by further labels.
    values: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

impl Metrics {
    /// Returns metrics without values. All names begin with `prefix`; `help` has a line `name: help` for each metric.
    pub fn new(prefix: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Self {
        Metrics {
            prefix,
            help,
            labels: written(labels),
            values: BTreeMap::new(),
        }
    }

    /// Returns the value of a metric with these labels, which is 0 at first.
    pub fn value(&mut self, name: &'static str, labels: &[(&str, &str)]) -> &mut f64 {
        let labels = format!("{}{}", self.labels, written(labels));
        let values = self.values.entry(name).or_default();
        values.entry(labels).or_default()
    }

    /// Sets a metric to one value.
    pub fn set(&mut self, name: &'static str, value: f64) {
        *self.value(name, &[]) = value;
    }

    /// Removes the values of a metric.
    pub fn clear(&mut self, name: &'static str) {
        self.values.remove(name);
    }

    /// Returns all metrics.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let lines = self.help.lines();
        for (name, help) in lines.filter_map(|line| line.split_once(": ")) {
            let is_total = name.ends_with("_total");
            let kind = if is_total { "counter" } else { "gauge" };
            let full = format!("{}{name}", self.prefix);
            text += &format!("# HELP {full} {help}\n# TYPE {full} {kind}\n");
            for (labels, value) in self.values.get(name).into_iter().flatten() {
                // The first label has no comma before it, and without labels there are no braces.
                let braces = labels
                    .strip_prefix(',')
                    .map(|labels| format!("{{{labels}}}"));
                text += &format!("{full}{} {value}\n", braces.unwrap_or_default());
            }
        }
        text
    }
}

/// Returns labels, each with a comma before it.
fn written(labels: &[(&str, &str)]) -> String {
    let label = |(key, value): &(&str, &str)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!(",{key}=\"{}\"", value.replace('\n', "\\n"))
    };
    labels.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_braces_and_other_braces_stay() {
        for (labels, expected) in [
            (&[][..], "p_n 2\np_n{of=\"a {} {,b}\"} 1\n"),
            (
                &[("at", "x")],
                "p_n{at=\"x\"} 2\np_n{at=\"x\",of=\"a {} {,b}\"} 1\n",
            ),
        ] {
            let mut metrics = Metrics::new("p_", "n: What {} and {, are.", labels);
            *metrics.value("n", &[("of", "a {} {,b}")]) += 1.0;
            metrics.set("n", 2.0);
            let head = "# HELP p_n What {} and {, are.\n# TYPE p_n gauge\n";
            assert_eq!(metrics.text(), format!("{head}{expected}"));
        }
    }
}
