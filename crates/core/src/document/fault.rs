use std::collections::HashSet;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;

use super::names::{SUPPORTED_RANGE, name_problem};
use crate::number::Decimal;

/// A step of a path in a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The value of this key of a map.
    Key(String),
    /// The entry of a list at this index, starting at 0.
    Index(usize),
}

impl<S: AsRef<str> + ?Sized> From<&S> for Step {
    fn from(key: &S) -> Self {
        Self::Key(key.as_ref().to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A path in a document, such as `jobs[2].demand.cpu`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(Vec<Step>);

/// Creates a [`Place`](crate::document::Place) from steps: `place!("jobs", 2, "demand", "cpu")`.
#[macro_export]
macro_rules! place {
    ($($step:expr),+ $(,)?) => {
        $crate::document::Place::from_iter([$($crate::document::Step::from($step)),+])
    };
}
pub use place;

impl Place {
    /// The whole document, or a place that is not known.
    pub const DOCUMENT: Self = Self(Vec::new());

    /// Returns the steps of the path.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns the place that is one step below.
    pub fn then(&self, step: impl Into<Step>) -> Self {
        let step = [step.into()];
        self.0.iter().chain(&step).cloned().collect()
    }
}

impl FromIterator<Step> for Place {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("document");
        }
        for (n, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if n == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A fault of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place of the fault.
    pub place: Place,
    /// The value that was found and the value that was expected, without a full stop.
    pub message: String,
    /// A description of what the user can do, without a full stop.
    pub help: String,
    pub(super) at_key: bool,
}

impl Fault {
    /// Creates a fault.
    pub fn new(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            help: help.into(),
            at_key: false,
        }
    }

    /// Moves the fault from the value to its key.
    pub fn at_key(mut self) -> Self {
        self.at_key = true;
        self
    }

    /// Adds `place` to the start of the place of the fault.
    pub fn within(self, place: &Place) -> Self {
        let steps = place.steps().iter().chain(self.place.steps());
        let place = steps.cloned().collect();
        Self { place, ..self }
    }
}

/// Collects the faults of a part of a document.
pub struct FaultsAt<'a> {
    place: Place,
    all: &'a mut Vec<Fault>,
}

impl<'a> FaultsAt<'a> {
    /// Creates a collector for the whole document.
    pub fn document(all: &'a mut Vec<Fault>) -> Self {
        let place = Place::DOCUMENT;
        FaultsAt { place, all }
    }

    /// Returns a collector for the value of a key or for the entry of a list.
    pub fn below(&mut self, step: impl Into<Step>) -> FaultsAt<'_> {
        let place = self.place.then(step);
        let all = &mut *self.all;
        FaultsAt { place, all }
    }

    /// Returns a collector for an entry of the list with this key.
    pub fn entry(&mut self, list: &str, n: usize) -> FaultsAt<'_> {
        let place = self.place.then(list).then(n);
        let all = &mut *self.all;
        FaultsAt { place, all }
    }

    /// Returns `true` if no fault has been found in the whole document.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the faults that have been found in the whole document.
    pub fn all(&self) -> &[Fault] {
        self.all
    }

    /// Returns `true` if there is a fault in the value of a key, which is then not missing.
    pub fn has_fault(&self, key: &str) -> bool {
        let place = self.place.then(key);
        let is_below = |fault: &Fault| fault.place.steps().starts_with(place.steps());
        self.all.iter().any(is_below)
    }

    /// Adds a fault to this part.
    pub fn refuse(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.all.push(Fault::new(self.place.clone(), message, help));
    }

    /// Adds a fault to the value of a key or to an entry of a list.
    pub fn add(
        &mut self,
        step: impl Into<Step>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.below(step).refuse(message, help);
    }

    /// Adds faults whose places are relative to this part.
    pub fn extend(&mut self, faults: impl IntoIterator<Item = Fault>) {
        let place = &self.place;
        let faults = faults.into_iter().map(|fault| fault.within(place));
        self.all.extend(faults);
    }

    /// Checks that a number (NaN if it is missing) is in its range. `expected` is `range: help`.
    pub fn number(&mut self, key: &str, value: f64, range: RangeInclusive<f64>, expected: &str) {
        if !value.is_nan() && !range.contains(&value) {
            let (expected, help) = expected.split_once(": ").unwrap_or((expected, ""));
            let message = format!("{key} is {value}, expected {expected}");
            self.add(key, message, help);
        }
    }

    /// Checks that a number is positive and in [`SUPPORTED_RANGE`] if it is given.
    pub fn positive(&mut self, key: &str, value: impl Into<Option<Decimal>>, help: &str) {
        if let Some(value) = value.into()
            && !SUPPORTED_RANGE.contains(&value.value())
        {
            let message = match value > Decimal::ZERO {
                true => format!("{key} is {value}, outside of the supported range 1e-60 to 1e60"),
                false => format!("{key} is {value}, expected a number > 0"),
            };
            self.add(key, message, help);
        }
    }

    /// Checks that either both of the keys are given or none of them.
    pub fn both(&mut self, owner: &str, keys: [&str; 2], has: [bool; 2], help: &str) {
        if has[0] != has[1] && !keys.iter().any(|key| self.has_fault(key)) {
            let [one, other] = keys;
            let message = format!("{owner} has only one of `{one}` and `{other}`, expected both");
            self.add(one, message, help);
        }
    }

    /// Expands a short form such as `mean_size: 1` to the long form, and checks that exactly one of
    /// the two is given. A value with a fault is not reported as missing.
    pub fn one_of<S, T>(
        &mut self,
        owner: &str,
        (short, brief): (&str, &mut Option<S>),
        (long, full): (&str, &mut Option<T>),
        of: impl FnOnce(S) -> T,
        help: &str,
    ) {
        let is_faulty = self.has_fault(short) || self.has_fault(long);
        match (brief.take(), full.is_some()) {
            (Some(own), false) => *full = Some(of(own)),
            (Some(_), true) => {
                let message = format!("{owner} has both `{short}` and `{long}`");
                self.add(long, message, "keep one of them");
            }
            (None, false) if !is_faulty => {
                self.add(long, format!("{owner} has no {long}"), help);
            }
            (None, _) => {}
        }
    }

    /// Checks that the unit of time can be displayed.
    pub fn unit(&mut self, unit: &str) {
        if let Some(message) = name_problem("the unit of time", unit) {
            let help = "name the unit, for instance `time_unit: s`";
            self.add("time_unit", message, help);
        }
    }

    /// Checks that the names in a list are unique and can be displayed.
    pub fn names<'n>(
        &mut self,
        list: &str,
        what: &str,
        names: impl IntoIterator<Item = &'n String>,
    ) {
        let mut seen = HashSet::new();
        for (i, name) in names.into_iter().enumerate() {
            let mut at = self.entry(list, i);
            if let Some(message) = name_problem(&format!("the name of a {what}"), name) {
                at.refuse(message, "give each a unique name, such as `a`");
            } else if !seen.insert(name) {
                let help = "rename one of them: results are reported by name";
                at.refuse(format!("a second {what} is named `{name}`"), help);
            }
        }
    }
}

/// Adds `place` to the start of the places of all faults.
pub fn within(faults: Vec<Fault>, place: &Place) -> Vec<Fault> {
    let faults = faults.into_iter();
    faults.map(|fault| fault.within(place)).collect()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (help: {})", self.place, self.message, self.help)
    }
}

/// The reason why a document could not be read, which can be printed to standard error.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file with this name could not be read.
    #[error(
        "error: cannot read the workload {0}: {1}\n = help: check the path and the file's permissions"
    )]
    Io(String, #[source] io::Error),
    /// The file is a different kind of file.
    #[error("{0}; a workload is expected here")]
    OtherKind(String),
    /// The document has faults.
    #[error("{report}")]
    Faults {
        /// A text with all faults, which contains the lines of the document.
        report: String,
        /// The faults.
        faults: Vec<Fault>,
    },
}

impl DocumentError {
    /// Creates the error for the faults of a value that was not read from a text.
    pub fn without_text(faults: Vec<Fault>) -> Self {
        let line = |own: &Fault| {
            let (message, place, help) = (&own.message, &own.place, &own.help);
            format!("error: {message}\n --> {place}\n = help: {help}")
        };
        let report = faults.iter().map(line).collect::<Vec<_>>().join("\n\n");
        Self::Faults { report, faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_displayed_as_paths() {
        for (place, path) in [
            (Place::DOCUMENT, "document"),
            (place!("jobs", 2, "demand", "cpu"), "jobs[2].demand.cpu"),
            (place!("server", "capacity"), "server.capacity"),
            (place!("rows", 0, 2), "rows[0][2]"),
        ] {
            assert_eq!(place.to_string(), path);
        }
        let fault = Fault::new(place!("means", 1), "m", "h").within(&place!("jobs", 0, "size"));
        assert_eq!(fault.to_string(), "jobs[0].size.means[1]: m (help: h)");
    }
}
