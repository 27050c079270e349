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
    /// The list of server shapes of a fleet.
    Servers,
    /// The server shape at this index, and its name.
    Shape(usize),
    /// The number of servers of the shape at this index.
    ShapeCount(usize),
    /// The capacity of the shape at this index for the resource named.
    ShapeCapacity(usize, String),
    /// The list of job types.
    Jobs,
    /// The job type at this index, and its name.
    Job(usize),
    /// The demand of the job type at this index for the resource named.
    Demand(usize, String),
    /// The arrival rate of the job type at this index.
    Rate(usize),
    /// A law of the job type at this index.
    Law(usize, Part),
    /// A parameter of a law of the job type at this index, or the entry of one at these indices.
    Parameter(usize, Part, &'static str, Vec<usize>),
    /// A path within the [`Record`](super::Record) of an artifact.
    Record(String),
}

/// The laws of a job type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The law of its sizes.
    Size,
    /// The process of its arrivals.
    Arrivals,
    /// The law of the times between its arrivals, where these are a renewal process.
    Interarrival,
}

impl Part {
    /// The last key on its path.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Arrivals => "arrivals",
            Self::Interarrival => "interarrival",
        }
    }

    /// What it is a law of, in the singular.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Arrivals => "arrival",
            Self::Interarrival => "interarrival time",
        }
    }

    /// Whose parameters they are, in messages.
    pub(super) fn of_type(self, name: &str) -> String {
        match self {
            Self::Size => format!("type `{name}`"),
            Self::Arrivals | Self::Interarrival => {
                format!("the {}s of type `{name}`", self.noun())
            }
        }
    }
}

impl fmt::Display for Part {
    /// Its path within the job type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interarrival => write!(f, "{}.{}", Self::Arrivals, self.key()),
            _ => f.write_str(self.key()),
        }
    }
}

impl fmt::Display for Place {
    /// The path of the field in the document: `jobs[2].demand.cpu`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => f.write_str("document"),
            Self::TimeUnit => f.write_str("time_unit"),
            Self::Server => f.write_str("server.capacity"),
            Self::Capacity(resource) => write!(f, "server.capacity.{resource}"),
            Self::Servers => f.write_str("servers"),
            Self::Shape(h) => write!(f, "servers[{h}]"),
            Self::ShapeCount(h) => write!(f, "servers[{h}].count"),
            Self::ShapeCapacity(h, resource) => write!(f, "servers[{h}].capacity.{resource}"),
            Self::Jobs => f.write_str("jobs"),
            Self::Job(i) => write!(f, "jobs[{i}]"),
            Self::Demand(i, resource) => write!(f, "jobs[{i}].demand.{resource}"),
            Self::Rate(i) => write!(f, "jobs[{i}].arrival_rate"),
            Self::Law(i, part) => write!(f, "jobs[{i}].{part}"),
            Self::Parameter(i, part, key, entry) => {
                write!(f, "jobs[{i}].{}", path(*part, key, entry))
            }
            Self::Record(path) => f.write_str(path),
        }
    }
}

/// The path of a parameter within its job type: `size.means[0]`.
pub(super) fn path(part: Part, key: &str, entry: &[usize]) -> String {
    let entry: String = entry.iter().map(|n| format!("[{n}]")).collect();
    format!("{part}.{key}{entry}")
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
            Place::Parameter(1, Part::Size, "means", vec![0]).to_string(),
            "jobs[1].size.means[0]"
        );
        assert_eq!(
            Place::Parameter(1, Part::Arrivals, "switching", vec![0, 2]).to_string(),
            "jobs[1].arrivals.switching[0][2]"
        );
        assert_eq!(
            Place::Law(3, Part::Interarrival).to_string(),
            "jobs[3].arrivals.interarrival"
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
