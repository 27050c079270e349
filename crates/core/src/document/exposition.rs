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
        let labels = labels.iter().map(|(key, value)| label(key, value));
        Exposition {
            text: String::new(),
            prefix,
            help,
            labels: labels.collect(),
        }
    }

    /// Adds a metric with its values by further labels; one that counts from a start on ends with `_total`.
    pub fn add(&mut self, name: &str, values: impl IntoIterator<Item = (String, f64)>) {
        let is_total = name.ends_with("_total");
        let kind = if is_total { "counter" } else { "gauge" };
        let own = |line: &'static str| line.strip_prefix(name)?.strip_prefix(": ");
        let help = self.help.lines().find_map(own).unwrap_or_default();
        let name = format!("{}{name}", self.prefix);
        let mut add = |line: String| self.text.extend([&*line, "\n"]);
        add(format!("# HELP {name} {help}\n# TYPE {name} {kind}"));
        for (labels, value) in values {
            let labels = format!("{}{labels}", self.labels);
            // The first label has no comma before it, and without labels there are no braces.
            match labels.strip_prefix(',') {
                Some(labels) => add(format!("{name}{{{labels}}} {value}")),
                None => add(format!("{name} {value}")),
            }
        }
    }

    /// Adds a metric with a count for each value of a label.
    pub fn counts<'a, K: ToString>(
        &mut self,
        name: &str,
        key: &str,
        counts: impl IntoIterator<Item = (K, &'a u64)>,
    ) {
        let count = |(own, n): (K, &u64)| (label(key, &own.to_string()), *n as f64);
        self.add(name, counts.into_iter().map(count));
    }

    /// Adds a metric with two counts for each of some labels: those that wait and those that run.
    pub fn states(&mut self, name: &str, counts: impl IntoIterator<Item = (String, [u64; 2])>) {
        let values = counts.into_iter().flat_map(|(own, [waiting, running])| {
            let of = |state: &str, n: u64| (format!("{own}{}", label("state", state)), n as f64);
            [of("waiting", waiting), of("running", running)]
        });
        self.add(name, values);
    }

    /// Adds a metric with one value.
    pub fn one(&mut self, name: &str, value: f64) {
        self.add(name, [(String::new(), value)]);
    }
}

/// Returns a label with a comma before it.
pub fn label(key: &str, value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!(",{key}=\"{}\"", escaped.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_braces_and_other_braces_stay() {
        for (labels, expected) in [
            (&[][..], "{of=\"a {} {,b}\"} 1\np_n 2\n"),
            (
                &[("at", "x")],
                "{at=\"x\",of=\"a {} {,b}\"} 1\np_n{at=\"x\"} 2\n",
            ),
        ] {
            let mut text = Exposition::new("p_", "n: What {} and {, are.", labels);
            text.add("n", [(label("of", "a {} {,b}"), 1.0), (String::new(), 2.0)]);
            let head = "# HELP p_n What {} and {, are.\n# TYPE p_n gauge\np_n";
            assert_eq!(text.text, format!("{head}{expected}"));
        }
    }
}
