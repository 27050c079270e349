use std::fmt::Display;

use serde::Serialize;

use crate::document::{Fault, Place, WorkloadDocument};

/// On which grounds a checker lets something stand that a document says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "grounds", content = "by")]
pub enum Grounds {
    /// It was derived anew, in this way, and agrees.
    Derived(&'static str),
    /// It was not derived; that it makes sense was judged, by this.
    Judged(&'static str),
    /// Nothing that was said of it was examined, for this reason.
    Trusted(&'static str),
}

impl Grounds {
    /// Returns the grounds of what follows from both: the worse of the two.
    pub fn and(self, other: Grounds) -> Grounds {
        let rank = |grounds: &Grounds| match grounds {
            Grounds::Derived(_) => 0,
            Grounds::Judged(_) => 1,
            Grounds::Trusted(_) => 2,
        };
        std::cmp::max_by_key(other, self, rank)
    }
}

/// Something that a document says, and why it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// JSON path.
    pub path: String,
    /// Why it stands.
    #[serde(flatten)]
    pub grounds: Grounds,
}

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

/// Collects what is wrong; and of what is not, on which grounds it stands. Paths are relative to the part of the
/// document that is being checked; "" is that part itself.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    examined: Vec<Examined>,
    /// The path of the part that is being checked; empty for the whole.
    part: String,
}

impl Findings {
    /// Checks a part of the document: in `check` paths are relative to `path`.
    pub fn within<T>(&mut self, path: impl AsRef<str>, check: impl FnOnce(&mut Self) -> T) -> T {
        let part = self.absolute(path.as_ref());
        let outer = std::mem::replace(&mut self.part, part);
        let checked = check(self);
        self.part = outer;
        checked
    }

    fn absolute(&self, path: &str) -> String {
        let joined = self.part.is_empty() || path.is_empty() || path.starts_with('[');
        format!("{}{}{path}", self.part, if joined { "" } else { "." })
    }

    /// Adds a finding at this path.
    pub fn add(&mut self, path: impl AsRef<str>, message: impl Into<String>) {
        self.list.push(Finding {
            path: self.absolute(path.as_ref()),
            message: in_words(&message.into()),
        });
    }

    /// Adds that something was found where something else was expected.
    pub fn differs(&mut self, path: impl AsRef<str>, found: impl Display, expected: impl Display) {
        self.add(path, format!("{found}, expected {expected}"));
    }

    /// Notes on which grounds something stands.
    pub fn stands(&mut self, path: impl AsRef<str>, grounds: Grounds) {
        let path = self.absolute(path.as_ref());
        self.examined.push(Examined { path, grounds });
    }

    /// Returns whether nothing wrong has been found at all.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether nothing wrong has been found below this path.
    pub fn is_clear(&self, path: &str) -> bool {
        let path = self.absolute(path);
        !self.list.iter().any(|f| f.path.starts_with(&path))
    }

    /// Returns the first thing that is wrong.
    pub fn first(&self) -> Option<&Finding> {
        self.list.first()
    }

    /// Checks that a list has one entry for each of these.
    pub fn length(&mut self, path: &str, found: usize, expected: usize, each: &str) {
        if found != expected {
            let message = format!("{found} entries, expected {expected}, one for each {each}");
            self.add(path, message);
        }
    }

    /// Checks that a list has each index below `count` once.
    pub fn permutation(&mut self, path: &str, order: &[usize], count: usize, each: &str) {
        self.length(path, order.len(), count, each);
        let mut visited = vec![false; count];
        for (n, s) in order.iter().enumerate() {
            let here = || format!("{path}[{n}]");
            match visited.get_mut(*s) {
                None => self.add(here(), format!("{s}, expected an index below {count}")),
                Some(true) => self.add(here(), format!("{s} stands there twice")),
                Some(seen) => *seen = true,
            }
        }
    }

    /// Checks a list of numbers, one for each of these, all finite and ≥ 0.
    pub fn all_nonnegative(&mut self, path: &str, found: &[f64], count: usize, each: &str) {
        self.length(path, found.len(), count, each);
        for (n, price) in found.iter().enumerate() {
            nonnegative(format!("{path}[{n}]"), *price, self);
        }
    }

    /// Checks weights, one for each of these, all > 0 and of sum 1.
    pub fn positive_shares(&mut self, path: &str, found: &[f64], count: usize, each: &str) {
        self.length(path, found.len(), count, each);
        for (n, weight) in found.iter().enumerate() {
            positive(format!("{path}[{n}]"), *weight, self);
        }
        sums_to_one(path, found, self);
    }

    /// Returns the workload of a record with this digest, or adds what is wrong with the two.
    pub(crate) fn workload<D: WorkloadDocument>(
        &mut self,
        record: &D,
        digest: &str,
    ) -> Option<D::Checked> {
        let add = |fault: Fault| {
            let path = match fault.place == Place::DOCUMENT {
                true => "workload_digest".to_owned(),
                false => format!("workload.{}", fault.place),
            };
            self.add(path, fault.message);
        };
        let checked = record.recorded(digest);
        let checked = checked.map_err(|faults| faults.into_iter().for_each(add));
        checked.ok()
    }

    /// Notes that nothing follows from what stands at these paths.
    pub fn remarks(&mut self, paths: &[&str]) {
        for path in paths {
            self.stands(*path, Grounds::Trusted("a remark: nothing follows from it"));
        }
    }

    /// Returns all that is wrong, in the order in which it was found.
    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }

    /// Returns all that is wrong, and on which grounds the rest stands.
    pub(crate) fn into_lists(self) -> (Vec<Finding>, Vec<Examined>) {
        (self.list, self.examined)
    }
}

/// Returns the message with its numbers that are not finite as people write them.
fn in_words(message: &str) -> String {
    let readable = |word: &str| {
        let number = word.trim_end_matches([' ', ',', ';', ':']);
        let after = &word[number.len()..];
        match number {
            "inf" => format!("∞{after}"),
            "-inf" => format!("-∞{after}"),
            "NaN" => format!("no number{after}"),
            _ => word.to_owned(),
        }
    };
    message.split_inclusive(' ').map(readable).collect()
}

/// Returns a value as documents have it, a name without its quotation marks.
pub fn written(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    json.trim_matches('"').into()
}

/// How far shares may be from their sum 1.
const SUM: f64 = 1e-9;

/// Returns whether a number is what was expected up to a relative error; never where one of them is not
/// finite.
pub fn is_close(found: f64, expected: f64, relative: f64) -> bool {
    expected.is_finite() && (found - expected).abs() <= relative * expected.abs()
}

/// Checks that a number is finite and > 0.
pub fn positive(path: impl AsRef<str>, found: f64, findings: &mut Findings) {
    if !(found > 0.0 && found.is_finite()) {
        findings.differs(path, found, "a finite number > 0");
    }
}

/// Checks that a number is finite and ≥ 0.
pub fn nonnegative(path: impl AsRef<str>, found: f64, findings: &mut Findings) {
    if !(found >= 0.0 && found.is_finite()) {
        findings.differs(path, found, "a finite number ≥ 0");
    }
}

/// Checks that shares sum to 1, up to 1e-9.
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
    fn what_is_not_finite_is_written_in_words() {
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

    #[test]
    fn paths_are_relative_to_the_part() {
        let mut findings = Findings::default();
        findings.within("policy", |f| {
            f.within("weights", |f| f.add("[0]", "a"));
            f.add("loop", "b");
            assert!(f.is_clear("rate") && !f.is_clear("weights"));
        });
        findings.within("claims[1]", |f| f.add("", "c"));
        let paths = findings.into_list().into_iter().map(|found| found.path);
        let paths: Vec<String> = paths.collect();
        assert_eq!(paths, ["policy.weights[0]", "policy.loop", "claims[1]"]);
    }
}
