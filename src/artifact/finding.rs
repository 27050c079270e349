use serde::Serialize;

use super::{Examined, Grounds};
use crate::document::Fault;

/// One thing that is wrong with an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// JSON path of the field.
    pub path: String,
    /// What is wrong with it: the value found, and what was expected.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// What has been found so far: what is wrong; and of what is not, on which grounds it stands.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    examined: Vec<Examined>,
}

impl Findings {
    /// Adds a finding at this path.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.list.push(Finding {
            path: path.into(),
            message: in_words(&message.into()),
        });
    }

    /// Notes on which grounds something stands.
    pub fn stands(&mut self, path: impl Into<String>, grounds: Grounds) {
        let path = path.into();
        self.examined.push(Examined { path, grounds });
    }

    /// Whether nothing wrong has been found at all.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether nothing wrong has been found below this path.
    pub fn is_clear(&self, path: &str) -> bool {
        !self.list.iter().any(|f| f.path.starts_with(path))
    }

    /// Adds what was found of a part of the document, at its paths in the whole.
    pub fn take(&mut self, part: Findings, path: impl Fn(&str) -> String) {
        let moved = part.list.into_iter().map(|finding| Finding {
            path: path(&finding.path),
            ..finding
        });
        self.list.extend(moved);
        let moved = part.examined.into_iter().map(|noted| Examined {
            path: path(&noted.path),
            ..noted
        });
        self.examined.extend(moved);
    }

    /// The workload of a document; what is wrong with it is added.
    pub fn workload<W>(&mut self, checked: Result<W, Vec<Fault>>) -> Option<W> {
        let add = |fault: Fault| self.add(format!("workload.{}", fault.place), fault.message);
        checked
            .map_err(|faults| faults.into_iter().for_each(add))
            .ok()
    }

    /// Notes that nothing follows from what stands at these paths.
    pub fn remarks(&mut self, paths: &[&str]) {
        for path in paths {
            self.stands(*path, Grounds::Trusted("a remark: nothing follows from it"));
        }
    }

    /// On which grounds this stands, as far as it was noted.
    pub fn grounds(&self, path: &str) -> Option<Grounds> {
        let noted = self.examined.iter().find(|noted| noted.path == path);
        noted.map(|noted| noted.grounds)
    }

    /// All that is wrong, in the order in which it was found.
    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }

    /// The same, and on which grounds the rest stands.
    pub fn into_lists(self) -> (Vec<Finding>, Vec<Examined>) {
        (self.list, self.examined)
    }
}

/// The message with its numbers that are not finite as people write them.
fn in_words(message: &str) -> String {
    let told = |word: &str| {
        let number = word.trim_end_matches([' ', ',', ';', ':']);
        let after = &word[number.len()..];
        match number {
            "inf" => format!("∞{after}"),
            "-inf" => format!("-∞{after}"),
            "NaN" => format!("no number{after}"),
            _ => word.to_owned(),
        }
    };
    message.split_inclusive(' ').map(told).collect()
}

/// As documents have it, a name without its quotation marks.
pub fn written(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    json.trim_matches('"').into()
}

/// How far shares may be from their sum 1.
const SUM: f64 = 1e-9;

/// Whether a number is what was expected up to a relative error; never where one of them is not
/// finite.
pub fn is_close(found: f64, expected: f64, relative: f64) -> bool {
    expected.is_finite() && (found - expected).abs() <= relative * expected.abs()
}

/// That a list has one entry for each of these.
pub fn length(path: &str, found: usize, expected: usize, each: &str, findings: &mut Findings) {
    if found != expected {
        let message = format!("{found} entries, expected {expected}, one for each {each}");
        findings.add(path, message);
    }
}

/// That a list has each index below `count` once.
pub fn permutation(path: &str, order: &[usize], count: usize, each: &str, findings: &mut Findings) {
    length(path, order.len(), count, each, findings);
    let mut visited = vec![false; count];
    for (n, s) in order.iter().enumerate() {
        let here = || format!("{path}[{n}]");
        match visited.get_mut(*s) {
            None => findings.add(here(), format!("{s}, expected an index below {count}")),
            Some(true) => findings.add(here(), format!("{s} stands there twice")),
            Some(seen) => *seen = true,
        }
    }
}

/// That a number is finite and > 0.
pub fn positive(path: impl Into<String>, found: f64, findings: &mut Findings) {
    if !(found > 0.0 && found.is_finite()) {
        findings.add(path, format!("{found}, expected a finite number > 0"));
    }
}

/// That a number is finite and ≥ 0.
pub fn nonnegative(path: impl Into<String>, found: f64, findings: &mut Findings) {
    if !(found >= 0.0 && found.is_finite()) {
        findings.add(path, format!("{found}, expected a finite number ≥ 0"));
    }
}

/// That shares sum to 1, up to 1e-9.
pub fn sums_to_one(path: &str, shares: &[f64], findings: &mut Findings) {
    let sum: f64 = shares.iter().sum();
    // A sum that is not a number is not close to 1 either.
    let is_one = (sum - 1.0).abs() <= SUM;
    if !is_one {
        findings.add(path, format!("they sum to {sum}, expected 1"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_told_in_words() {
        let mut findings = Findings::default();
        findings.add(
            "load",
            format!(
                "{}, expected {}, {} of `inf`",
                f64::NAN,
                f64::INFINITY,
                -f64::INFINITY
            ),
        );
        let [found] = &findings.into_list()[..] else {
            panic!("one finding");
        };
        assert_eq!(found.message, "no number, expected ∞, -∞ of `inf`");
    }
}
