use std::fmt::Display;

use serde::Serialize;

use crate::document::{Fault, Place, WorkloadDocument};

/// The reason why the checker accepted a statement of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "grounds", content = "by")]
pub enum Grounds {
    /// The checker derived the statement again by this method, and the result agrees.
    Derived(&'static str),
    /// The checker used this criterion to decide that the statement is plausible.
    Judged(&'static str),
    /// The checker did not check the statement, for this reason.
    Trusted(&'static str),
}

impl Grounds {
    /// Returns the weaker of the two, which applies to a conclusion from both statements.
    pub fn and(self, other: Grounds) -> Grounds {
        let rank = |grounds: &Grounds| match grounds {
            Grounds::Derived(_) => 0,
            Grounds::Judged(_) => 1,
            Grounds::Trusted(_) => 2,
        };
        std::cmp::max_by_key(other, self, rank)
    }
}

/// A statement of a document and the reason why it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// The JSON path of the statement.
    pub path: String,
    /// The reason why it was accepted.
    #[serde(flatten)]
    pub grounds: Grounds,
}

/// A fault that was found in an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The JSON path of the field.
    pub path: String,
    /// The value that was found and the value that was expected.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Collects faults and grounds. All paths are relative to the part that is checked, which is "".
#[derive(Debug, Default)]
pub struct Findings {
    pub(super) list: Vec<Finding>,
    pub(super) examined: Vec<Examined>,
    part: String,
}

impl Findings {
    /// Calls `check` with paths that are relative to `path`.
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

    /// Adds a fault.
    pub fn add(&mut self, path: impl AsRef<str>, message: impl Into<String>) {
        self.list.push(Finding {
            path: self.absolute(path.as_ref()),
            message: in_words(&message.into()),
        });
    }

    /// Adds a fault with the value found and the value expected.
    pub fn differs(&mut self, path: impl AsRef<str>, found: impl Display, expected: impl Display) {
        self.add(path, format!("{found}, expected {expected}"));
    }

    /// Adds the reason why a statement was accepted.
    pub fn stands(&mut self, path: impl AsRef<str>, grounds: Grounds) {
        let path = self.absolute(path.as_ref());
        self.examined.push(Examined { path, grounds });
    }

    /// Returns `true` if no fault has been found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns `true` if no fault has been found at `path` or below it.
    pub fn is_clear(&self, path: &str) -> bool {
        let path = self.absolute(path);
        !self.list.iter().any(|f| f.path.starts_with(&path))
    }

    /// Returns the first fault.
    pub fn first(&self) -> Option<&Finding> {
        self.list.first()
    }

    /// Checks that a list has `expected` entries, one for each `each`.
    pub fn length(&mut self, path: &str, found: usize, expected: usize, each: &str) {
        if found != expected {
            let message = format!("{found} entries, expected {expected}, one for each {each}");
            self.add(path, message);
        }
    }

    /// Checks that a list contains each index below `count` exactly once.
    pub fn permutation(&mut self, path: &str, order: &[usize], count: usize, each: &str) {
        self.length(path, order.len(), count, each);
        let mut visited = vec![false; count];
        for (n, s) in order.iter().enumerate() {
            let here = || format!("{path}[{n}]");
            match visited.get_mut(*s) {
                None => self.add(here(), format!("{s}, expected an index below {count}")),
                Some(true) => self.add(here(), format!("{s} appears twice")),
                Some(seen) => *seen = true,
            }
        }
    }

    /// Checks that a list has `count` entries, which must be finite and ≥ 0.
    pub fn all_nonnegative(&mut self, path: &str, found: &[f64], count: usize, each: &str) {
        self.length(path, found.len(), count, each);
        for (n, price) in found.iter().enumerate() {
            nonnegative(format!("{path}[{n}]"), *price, self);
        }
    }

    /// Checks that a list has `count` positive weights and that their sum is 1.
    pub fn positive_shares(&mut self, path: &str, found: &[f64], count: usize, each: &str) {
        self.length(path, found.len(), count, each);
        for (n, weight) in found.iter().enumerate() {
            positive(format!("{path}[{n}]"), *weight, self);
        }
        sums_to_one(path, found, self);
    }

    pub(crate) fn workload<D: WorkloadDocument>(
        &mut self,
        record: &D,
        digest: &str,
    ) -> Option<D::Checked> {
        let add = |fault: Fault| match fault.place == Place::DOCUMENT {
            true => self.add("workload_digest", fault.message),
            false => self.add(format!("workload.{}", fault.place), fault.message),
        };
        let checked = record.recorded(digest);
        checked
            .map_err(|faults| faults.into_iter().for_each(add))
            .ok()
    }

    /// Marks the statements at these paths as remarks that are not checked.
    pub fn remarks(&mut self, paths: &[&str]) {
        for path in paths {
            self.stands(*path, Grounds::Trusted("remarks; no claim depends on them"));
        }
    }

    /// Returns all faults in the order in which they were found.
    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }
}

fn in_words(message: &str) -> String {
    let readable = |word: &str| {
        let number = word.trim_end_matches([' ', ',', ';', ':']);
        let after = &word[number.len()..];
        match number {
            "inf" => format!("∞{after}"),
            "-inf" => format!("-∞{after}"),
            "NaN" => format!("not a number{after}"),
            _ => word.to_owned(),
        }
    };
    message.split_inclusive(' ').map(readable).collect()
}

/// Returns a value as JSON. If it is a string, it has no quotation marks.
pub fn written(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    json.trim_matches('"').into()
}

/// Returns `true` if both numbers are finite and their relative difference is at most `relative`.
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

/// Checks that the sum of the shares is 1, with a tolerance of 1e-9.
pub fn sums_to_one(path: &str, shares: &[f64], findings: &mut Findings) {
    let sum: f64 = shares.iter().sum();
    let is_one = (sum - 1.0).abs() <= 1e-9;
    if !is_one {
        findings.add(path, format!("they sum to {sum}, expected 1"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_non_finite_numbers_readably() {
        let mut findings = Findings::default();
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        findings.add("load", format!("{nan}, expected {inf}, {} of `inf`", -inf));
        let messages = findings.into_list().into_iter().map(|found| found.message);
        let messages: Vec<String> = messages.collect();
        assert_eq!(messages, ["not a number, expected ∞, -∞ of `inf`"]);
    }

    #[test]
    fn paths_are_relative_to_the_part_checked() {
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
