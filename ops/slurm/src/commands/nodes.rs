use super::amounts::{gres_of_node, whole};
use super::columns::{Cells, ColumnTable, Layout, layout};
use super::{Slurm, SlurmError, is_plain};
use synth_operator::Amounts;

/// All nodes of a partition. The key of a node that could not be parsed is its name.
pub type Nodes = ColumnTable<NodeRow, String>;

/// A row that is printed by `sinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// The name.
    pub name: String,
    /// Whether jobs can be started on the node.
    pub state: NodeState,
    /// The state as printed by Slurm, such as `mixed+drain`.
    pub words: String,
    /// The reason why the node is down or drained, which may be truncated.
    pub reason: String,
    /// The total resources of the node.
    pub capacity: Amounts,
    /// The resources that are allocated to jobs of any partition.
    pub allocated: Amounts,
}

/// Whether jobs can be started on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Jobs can be started.
    Up,
    /// Running jobs continue, but no new jobs can be started.
    Drained,
    /// The node is down, has failed, or does not respond.
    Down,
    /// The state is not supported by this version.
    Unknown,
}

const DRAINED: &str =
    "drain maintenance reboot_issued reboot_requested powering_down power_down blocked";

const DOWN: &str = "fail not_responding invalid_reg";

impl NodeState {
    /// Parses a state such as `mixed+drain+completing`, where unknown flags are ignored.
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
    /// Reads the nodes of the partition. If the partition does not exist, the table is empty.
    pub fn nodes(&self) -> Result<Nodes, SlurmError> {
        Ok(Nodes::parse(&self.print(&LAYOUT, false)?))
    }
}

impl Nodes {
    /// Returns the name, title and width \[bytes\] of each column that is requested from `sinfo`.
    pub fn columns() -> &'static [(&'static str, &'static str, usize)] {
        LAYOUT.columns
    }

    pub(super) fn parse(bytes: &[u8]) -> Self {
        LAYOUT.read(bytes, |cells| {
            let name = cells.cell(NAME);
            let name = name.filter(|cell| !cell.is_full && is_plain(cell.text));
            let name = name.ok_or_else(|| (String::from("not a node name"), None))?;
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
        let [allocated, _, _, all] = cells.read(CPUS, |text| {
            let counts: Vec<u64> = text.split('/').map(whole).collect::<Option<_>>()?;
            <[u64; 4]>::try_from(counts).ok()
        })?;
        let words = cells.read(STATE, |text| Some(text.to_owned()))?;
        let reason = Some(cells.free(REASON)).filter(|reason| reason != "none");
        Ok(NodeRow {
            name: name.to_owned(),
            state: NodeState::of(&words),
            words,
            reason: reason.unwrap_or_default(),
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
