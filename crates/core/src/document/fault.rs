//! Faults of a document: where, what was found, and the way out.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::file::called;

/// One step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To what stands after this key of a map.
    Key(String),
    /// To the entry of a list at this index, counted from 0.
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

/// A path into a document: `jobs[2].demand.cpu`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place(Vec<Step>);

/// The place at the end of these steps: `place!("jobs", 2, "demand", "cpu")`.
#[macro_export]
macro_rules! place {
    ($($step:expr),+ $(,)?) => {
        $crate::document::Place::from_iter([$($crate::document::Step::from($step)),+])
    };
}
pub use place;

impl Place {
    /// The document as a whole, or a place that only its parser knows.
    pub const DOCUMENT: Self = Self(Vec::new());

    /// Returns the steps that lead there.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns the place one step further.
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

/// One fault of a document; several are reported together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field at fault.
    pub place: Place,
    /// What was found and what was expected, without a full stop.
    pub message: String,
    /// What to do next, without a full stop.
    pub help: String,
    /// Whether the key of the field is at fault, not what stands after it.
    pub(super) of_key: bool,
}

impl Fault {
    /// Returns a fault at this place, with what is wrong and what to do.
    pub fn new(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            help: help.into(),
            of_key: false,
        }
    }

    /// Returns the same fault, of the key.
    pub fn of_key(self) -> Self {
        Self {
            of_key: true,
            ..self
        }
    }

    /// Returns the same fault, at another place.
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// Returns the same fault of what stands at `place` in something larger.
    pub fn within(self, place: &Place) -> Self {
        let steps = place.steps().iter().chain(self.place.steps());
        let place = steps.cloned().collect();
        self.at(place)
    }
}

/// Returns whether one of these faults is at a place or below it.
pub fn has_fault(faults: &[Fault], place: &Place) -> bool {
    let mut faults = faults.iter();
    faults.any(|fault| fault.place.steps().starts_with(place.steps()))
}

/// Returns the same faults of what stands at `place` in something larger.
pub fn within(faults: Vec<Fault>, place: &Place) -> Vec<Fault> {
    let faults = faults.into_iter();
    faults.map(|fault| fault.within(place)).collect()
}

impl fmt::Display for Fault {
    /// Place, message and help in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (help: {})", self.place, self.message, self.help)
    }
}

/// Why nothing was read. Displayed, it is ready for standard error.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file cannot be read.
    #[error(
        "error: cannot read the workload {}: {source}\n = help: check the path, and that the file may be read",
        called(path)
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is a file of another kind.
    #[error("{0}; a workload is expected here")]
    OtherKind(String),
    /// What was read has faults.
    #[error("{report}")]
    Faults {
        /// All faults as text, with the lines of the document that they stand in.
        report: String,
        /// The faults one by one.
        faults: Vec<Fault>,
    },
}

impl DocumentError {
    /// Faults of what has no document to quote.
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
    fn a_place_reads_as_a_path() {
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
