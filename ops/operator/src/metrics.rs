use std::collections::BTreeMap;

/// Metrics in the Prometheus text format 0.0.4. Each name that ends with `_total` is a counter.
#[derive(Debug)]
pub struct Metrics {
    prefix: &'static str,
    help: &'static str,
    labels: String,
    values: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

impl Metrics {
    /// Creates metrics without values from lines `name: help`. The `prefix` is added to each name.
    pub fn new(prefix: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Self {
        Metrics {
            prefix,
            help,
            labels: written(labels),
            values: BTreeMap::new(),
        }
    }

    /// Returns the value of a metric with these labels. The initial value is 0.
    pub fn value(&mut self, name: &'static str, labels: &[(&str, &str)]) -> &mut f64 {
        let labels = format!("{}{}", self.labels, written(labels));
        let values = self.values.entry(name).or_default();
        values.entry(labels).or_default()
    }

    /// Sets the value of a metric that has no other labels.
    pub fn set(&mut self, name: &'static str, value: f64) {
        *self.value(name, &[]) = value;
    }

    pub(super) fn clear(&mut self, name: &'static str) {
        self.values.remove(name);
    }

    /// Returns all metrics as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let lines = self.help.lines();
        for (name, help) in lines.filter_map(|line| line.split_once(": ")) {
            let is_total = name.ends_with("_total");
            let kind = if is_total { "counter" } else { "gauge" };
            let full = format!("{}{name}", self.prefix);
            text += &format!("# HELP {full} {help}\n# TYPE {full} {kind}\n");
            for (labels, value) in self.values.get(name).into_iter().flatten() {
                let labels = labels.strip_prefix(',');
                let braces = labels.map_or(String::new(), |own| format!("{{{own}}}"));
                text += &format!("{full}{braces} {value}\n");
            }
        }
        text
    }
}

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
    fn encloses_labels_in_braces() {
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
