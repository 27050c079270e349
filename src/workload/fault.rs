//! Faults of a workload: where, what was found, and the way out.

use std::fmt;

/// Which field of a workload a fault is about. Job types are counted from 0, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// The document as a whole, or a place that only its parser knows.
    Document,
    /// The unit of time.
    TimeUnit,
    /// The list of resources.
    Server,
    /// The capacity of the resource named.
    Capacity(String),
    /// The list of job types.
    Jobs,
    /// The job type at this index, and its name.
    Job(usize),
    /// The demand of the job type at this index for the resource named.
    Demand(usize, String),
    /// The arrival rate of the job type at this index.
    Rate(usize),
    /// The size law of the job type at this index.
    Size(usize),
    /// A parameter of the size law of the job type at this index, or an entry of one.
    Parameter(usize, &'static str, Option<usize>),
    /// A path within the [`Record`](super::Record) of an artifact.
    Record(String),
}

impl fmt::Display for Place {
    /// The path of the field in the document: `jobs[2].demand.cpu`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => f.write_str("document"),
            Self::TimeUnit => f.write_str("time_unit"),
            Self::Server => f.write_str("server.capacity"),
            Self::Capacity(resource) => write!(f, "server.capacity.{resource}"),
            Self::Jobs => f.write_str("jobs"),
            Self::Job(i) => write!(f, "jobs[{i}]"),
            Self::Demand(i, resource) => write!(f, "jobs[{i}].demand.{resource}"),
            Self::Rate(i) => write!(f, "jobs[{i}].arrival_rate"),
            Self::Size(i) => write!(f, "jobs[{i}].size"),
            Self::Parameter(i, key, None) => write!(f, "jobs[{i}].size.{key}"),
            Self::Parameter(i, key, Some(n)) => write!(f, "jobs[{i}].size.{key}[{n}]"),
            Self::Record(path) => f.write_str(path),
        }
    }
}

/// One fault of a workload; several are reported together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The field at fault.
    pub place: Place,
    /// What was found and what was expected, without a full stop.
    pub message: String,
    /// What to do next, without a full stop.
    pub help: String,
}

impl Fault {
    pub(super) fn new(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for Fault {
    /// Place, message and help in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (help: {})", self.place, self.message, self.help)
    }
}

/// "did you mean …" where one of the names known is near to the one found, else all of them.
pub(super) fn suggest(found: &str, kind: &str, known: &[&str]) -> String {
    const SHOWN: usize = 12;
    if let Some(name) = nearest(found, known) {
        return format!("did you mean `{name}`?");
    }
    let names: Vec<String> = known
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if known.len() > SHOWN {
        " and others"
    } else {
        ""
    };
    format!("{kind}: {}{more}", names.join(", "))
}

/// The one of the names known that is near to the one found, if any is.
pub(crate) fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known
        .iter()
        .map(|name| (edit_distance(found, name), *name))
        .filter(|(distance, name)| *distance <= name.chars().count().div_ceil(3))
        .min_by_key(|(distance, _)| *distance);
    near.map(|(_, name)| name)
}

/// Levenshtein's distance without regard to case: insertions, deletions and substitutions.
fn edit_distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|s| s.chars().flat_map(char::to_lowercase).collect::<Vec<_>>());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_as_a_path() {
        assert_eq!(
            Place::Demand(2, "cpu".into()).to_string(),
            "jobs[2].demand.cpu"
        );
        assert_eq!(
            Place::Capacity("memory".into()).to_string(),
            "server.capacity.memory"
        );
        assert_eq!(Place::Rate(0).to_string(), "jobs[0].arrival_rate");
        assert_eq!(
            Place::Parameter(1, "means", Some(0)).to_string(),
            "jobs[1].size.means[0]"
        );
    }

    #[test]
    fn distances_are_levenshteins() {
        for (a, b, distance) in [
            ("kitten", "sitting", 3),
            ("", "cpu", 3),
            ("cpu", "CPU", 0),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_lists_all() {
        assert_eq!(
            suggest("memroy", "resources", &["cpu", "memory"]),
            "did you mean `memory`?"
        );
        assert_eq!(
            suggest("gpu-memory", "resources", &["cpu", "disk"]),
            "resources: `cpu`, `disk`"
        );
    }
}
