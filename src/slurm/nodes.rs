//! The nodes of a partition.

use super::amounts::whole;
use super::columns::{Cells, Layout};
use super::queue::unprinted;
use super::{Amounts, Slurm, SlurmError, Unread};

/// All nodes of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Those that were understood.
    pub nodes: Vec<Node>,
    /// Those that were not, with their names where these were.
    pub unread: Unread<String>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether jobs start on it.
    pub state: NodeState,
    /// Its state in Slurm's words, such as `mixed+drain`.
    pub words: String,
    /// Why it is down or drained, in an operator's or Slurm's words, perhaps cut; empty where nothing was said.
    pub reason: String,
    /// What it has.
    pub capacity: Amounts,
    /// What jobs of any partition have of it.
    pub allocated: Amounts,
}

/// Whether jobs start on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// They do.
    Up,
    /// Those that run go on, and none starts; or it is idle already.
    Drained,
    /// None runs: it is down, failed, or does not answer.
    Down,
    /// A state that is not known here.
    Unknown,
}

/// Marks of a node on which no job starts, which are not those of a failure.
const DRAINED: [&str; 7] = [
    "drain",
    "maintenance",
    "reboot_issued",
    "reboot_requested",
    "powering_down",
    "power_down",
    "blocked",
];

/// Marks of a node that cannot be used.
const DOWN: [&str; 3] = ["fail", "not_responding", "invalid_reg"];

impl NodeState {
    /// Reads a base with its marks: `idle`, `mixed+drain+completing`. A mark that is not known is of what a node does
    /// besides; a base that is not known may be anything.
    fn of(words: &str) -> Self {
        let mut parts = words.split('+');
        let base = parts.next().unwrap_or_default();
        let marks: Vec<&str> = parts.collect();
        let has = |marked: &[&str]| marks.iter().any(|mark| marked.contains(mark));
        match base {
            "down" | "error" | "future" => NodeState::Down,
            _ if has(&DOWN) => NodeState::Down,
            _ if has(&DRAINED) => NodeState::Drained,
            "idle" | "mixed" | "allocated" => NodeState::Up,
            _ => NodeState::Unknown,
        }
    }
}

impl Slurm {
    /// Reads the nodes of the partition.
    ///
    /// # Errors
    /// As [`SlurmError`] has it. An unknown partition is none: it has no nodes.
    pub fn nodes(&self) -> Result<Nodes, SlurmError> {
        let bytes = self.ask_nodes(&["-h"])?;
        Ok(Nodes::parse(&bytes))
    }

    /// Checks that this Slurm prints the columns that are read here; returns the nodes.
    pub(super) fn titled_nodes(&self) -> Result<Nodes, SlurmError> {
        let bytes = self
            .ask_nodes(&[])
            .map_err(|error| unprinted(&LAYOUT, error))?;
        Ok(Nodes::parse(LAYOUT.below_titles(&bytes)?))
    }

    fn ask_nodes(&self, words: &[&str]) -> Result<Vec<u8>, SlurmError> {
        let columns = LAYOUT.asked();
        let fixed = ["-N", "-p", &self.partition, "-O", &columns];
        self.ask("sinfo", &[words, &fixed].concat())
    }
}

impl Nodes {
    /// Returns the columns that `sinfo` is asked for: name, title and width of each.
    #[must_use]
    pub fn columns() -> &'static [(&'static str, &'static str, usize)] {
        LAYOUT.columns
    }

    /// Reads what `sinfo` printed, whatever it is.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let (nodes, unread) = LAYOUT.read(bytes, |cells| {
            let name = cells
                .cell(NAME)
                .filter(|cell| !cell.is_full && is_name(cell.text));
            let name = name
                .ok_or_else(|| (String::from("no name of a node"), None))?
                .text;
            Node::read(name, cells).map_err(|fault| (fault, Some(name.to_owned())))
        });
        Nodes { nodes, unread }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

impl Node {
    fn read(name: &str, cells: &Cells<'_>) -> Result<Self, String> {
        let text = |column: usize| {
            let cell = cells.cell(column).filter(|cell| !cell.is_full);
            let (name, ..) = LAYOUT.columns[column];
            cell.map(|cell| cell.text)
                .ok_or_else(|| format!("{name} is `{}`", cells.free(column)))
        };
        let wrong =
            |column: usize, found: &str| format!("{} is `{found}`", LAYOUT.columns[column].0);
        let mebibytes = |column| {
            let found = text(column)?;
            let bytes = whole(found).and_then(|memory| memory.checked_mul(1 << 20));
            bytes.ok_or_else(|| wrong(column, found))
        };
        let gres = |column| {
            let found = text(column)?;
            Amounts::gres_of_node(found).ok_or_else(|| wrong(column, found))
        };
        let cpus = text(CPUS)?;
        let counts: Option<Vec<u64>> = cpus.split('/').map(whole).collect();
        let Some([allocated, _, _, all]) = counts.as_deref() else {
            return Err(wrong(CPUS, cpus));
        };
        let words = text(STATE)?;
        let reason = cells.free(REASON);
        Ok(Node {
            name: name.to_owned(),
            state: NodeState::of(words),
            words: words.to_owned(),
            reason: if reason == "none" {
                String::new()
            } else {
                reason
            },
            capacity: Amounts {
                cpus: *all,
                memory: mebibytes(MEMORY)?,
                gres: gres(GRES)?,
            },
            allocated: Amounts {
                cpus: *allocated,
                memory: mebibytes(ALLOCATED)?,
                gres: gres(USED)?,
            },
        })
    }
}

const NAME: usize = 0;
const STATE: usize = 1;
const CPUS: usize = 2;
const MEMORY: usize = 3;
const ALLOCATED: usize = 4;
const GRES: usize = 5;
const USED: usize = 6;
const REASON: usize = 7;

/// The columns that `sinfo` is asked for; free text comes last.
static LAYOUT: Layout = Layout {
    program: "sinfo",
    columns: &[
        ("NodeList", "NODELIST", 64),
        ("StateComplete", "STATECOMPLETE", 120),
        ("CPUsState", "CPUS(A/I/O/T)", 32),
        ("Memory", "MEMORY", 24),
        ("AllocMem", "ALLOCMEM", 24),
        ("Gres", "GRES", 200),
        ("GresUsed", "GRES_USED", 200),
        ("Reason", "REASON", 80),
    ],
    overflows: false,
};
