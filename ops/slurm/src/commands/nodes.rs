//! The nodes of a partition.

use super::amounts::{gres_of_node, whole};
use super::columns::{Cells, ColumnTable, Layout, layout};
use super::{Slurm, SlurmError, is_plain};
use synth_operator::Amounts;

/// All nodes of a partition; those that were not understood with their names where these were.
pub type Nodes = ColumnTable<NodeRow, String>;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
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
const DRAINED: &str =
    "drain maintenance reboot_issued reboot_requested powering_down power_down blocked";

/// Marks of a node that cannot be used.
const DOWN: &str = "fail not_responding invalid_reg";

impl NodeState {
    /// Reads a base with its marks: `idle`, `mixed+drain+completing`. A mark that is not known is of what a node does
    /// besides; a base that is not known may be anything.
    fn of(words: &str) -> Self {
        let mut parts = words.split('+');
        let base = parts.next().unwrap_or_default();
        let marks: Vec<&str> = parts.collect();
        let has = |marked: &str| marked.split(' ').any(|mark| marks.contains(&mark));
        match base {
            "down" | "error" | "future" => NodeState::Down,
            _ if has(DOWN) => NodeState::Down,
            _ if has(DRAINED) => NodeState::Drained,
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
        Ok(Nodes::parse(&self.print(&LAYOUT, false)?))
    }
}

impl Nodes {
    /// Returns the columns that are requested of `sinfo`: name, title and width of each.
    pub fn columns() -> &'static [(&'static str, &'static str, usize)] {
        LAYOUT.columns
    }

    /// Reads what `sinfo` printed, whatever it is.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        LAYOUT.read(bytes, |cells| {
            let name = cells.cell(NAME);
            let name = name.filter(|cell| !cell.is_full && is_plain(cell.text));
            let name = name.ok_or_else(|| (String::from("no name of a node"), None))?;
            NodeRow::read(name.text, cells).map_err(|fault| (fault, Some(name.text.to_owned())))
        })
    }
}

impl NodeRow {
    fn read(name: &str, cells: &Cells<'_>) -> Result<Self, String> {
        let mebibytes = |text: &str| whole::<u64>(text)?.checked_mul(1 << 20);
        let amounts = |cpus: u64, memory, gres| {
            let mut amounts = cells.read(gres, gres_of_node)?;
            amounts.set("cpu", cpus);
            amounts.set("mem", cells.read(memory, mebibytes)?);
            Ok::<Amounts, String>(amounts)
        };
        let [allocated, all] = cells.read(CPUS, |text| {
            let counts: Vec<u64> = text.split('/').map(whole).collect::<Option<_>>()?;
            let [allocated, _, _, all] = counts[..] else {
                return None;
            };
            Some([allocated, all])
        })?;
        let words = cells.read(STATE, |text| Some(text.to_owned()))?;
        let mut reason = cells.free(REASON);
        if reason == "none" {
            reason.clear();
        }
        Ok(NodeRow {
            name: name.to_owned(),
            state: NodeState::of(&words),
            words,
            reason,
            capacity: amounts(all, MEMORY, GRES)?,
            allocated: amounts(allocated, ALLOCATED, USED)?,
        })
    }
}

layout! {
    "sinfo", false;
    NAME: "NodeList", "NODELIST", 64;
    STATE: "StateComplete", "STATECOMPLETE", 120;
    CPUS: "CPUsState", "CPUS(A/I/O/T)", 32;
    MEMORY: "Memory", "MEMORY", 24;
    ALLOCATED: "AllocMem", "ALLOCMEM", 24;
    GRES: "Gres", "GRES", 200;
    USED: "GresUsed", "GRES_USED", 200;
    REASON: "Reason", "REASON", 80;
}
