use std::collections::{HashMap, HashSet};

use super::amounts::{add_gres, bytes, instant, time_limit, tres, whole};
use super::columns::{Cells, ColumnTable, Layout, STATES, layout};
use super::{JobId, JobKey, Slurm, SlurmError, expand};
use synth_operator::Amounts;

/// All waiting and running jobs of a partition. Each job has a different key.
pub type SlurmQueue = ColumnTable<QueueRow, JobKey>;

impl Slurm {
    /// Reads the queue. If the partition does not exist, the queue is empty.
    pub fn queue(&self) -> Result<SlurmQueue, SlurmError> {
        Ok(SlurmQueue::parse(&self.print(&LAYOUT, false)?))
    }

    /// Returns the number of each job or array that is waiting or running in any partition.
    pub fn present(&self) -> Result<HashSet<u32>, SlurmError> {
        let text = self.ask_text("squeue", &["-h", "-a", "-t", STATES, "-o", "%F"])?;
        let numbers = text.lines().filter_map(|line| line.trim().parse().ok());
        Ok(numbers.collect())
    }

    /// Returns the start time of each job with nodes \[s since 1970, UTC\].
    pub fn starts(&self) -> Result<HashMap<JobId, i64>, SlurmError> {
        let of_partition = ["-h", "-r", "-a", "-p", &*self.partition];
        let with_nodes = ["-t", "R,CF,CG,S", "-O", "JobArrayID:24,StartTime:20"];
        let text = self.ask_text("squeue", &[&of_partition[..], &with_nodes].concat())?;
        let start = |line: &str| {
            let mut cells = line.split_whitespace();
            Some((cells.next()?.parse().ok()?, instant(cells.next()?)?))
        };
        Ok(text.lines().filter_map(start).collect())
    }
}

impl SlurmQueue {
    /// Returns the name, title and width \[bytes\] of each column that is requested from `squeue`.
    pub fn columns() -> &'static [(&'static str, &'static str, usize)] {
        LAYOUT.columns
    }

    /// Returns the resources used on each node by the running jobs that are accepted by `counts`.
    pub fn by_node(&self, counts: impl Fn(&QueueRow) -> bool) -> HashMap<String, Amounts> {
        let mut used: HashMap<String, Amounts> = HashMap::new();
        let rows = self.rows.iter();
        for row in rows.filter(|row| row.has_nodes() && counts(row)) {
            // If a list cannot be parsed, more resources of its nodes are in use than shown here.
            for node in expand(&row.node_list).unwrap_or_default() {
                let used = used.entry(node).or_default();
                used.add(&row.amounts.part(row.nodes));
            }
        }
        used
    }

    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut seen = HashSet::new();
        LAYOUT.read(bytes, |cells| {
            let unknown = |fault| (fault, None);
            let submitted = cells.read(SUBMITTED, instant).map_err(unknown)?;
            let id = cells.read(ID, |text| text.parse().ok()).map_err(unknown)?;
            let key = JobKey { submitted, id };
            let row = QueueRow::of(key, cells).map_err(|fault| (fault, Some(key)))?;
            match seen.insert(id) {
                true => Ok(row),
                false => Err(("a second row of the same job".into(), Some(key))),
            }
        })
    }
}

/// A row that is printed by `squeue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// The key.
    pub key: JobKey,
    /// The state.
    pub state: JobState,
    /// The reason why the job is held, if it is pending.
    pub hold: Hold,
    /// The reason why the job waits, as printed by Slurm (such as `None`). It may be truncated.
    pub reason: String,
    /// Whether the job depends on other jobs. Slurm 22.05 does not update this for held jobs.
    pub depends: bool,
    /// The jobs or arrays that must end before this job can start. The list may be truncated.
    pub waits_for: Vec<u32>,
    /// The earliest start time of the job \[s since 1970, UTC\], or `None` if it is not set.
    pub eligible: Option<i64>,
    /// The number of allocated nodes, or the minimum number that is requested. It is at least 1.
    pub nodes: u32,
    /// The maximum number of nodes. If it is larger than `nodes`, Slurm chooses the number.
    pub most_nodes: u32,
    /// The minimum amount of each resource on each node.
    pub per_node: Amounts,
    /// Whether nodes are requested by name or by feature. `squeue` does not show excluded nodes.
    pub names_nodes: bool,
    /// Whether whole nodes are allocated to the job (`--exclusive`).
    pub is_exclusive: bool,
    /// The total amount of each resource that is allocated or requested.
    pub amounts: Amounts,
    /// Whether the job requests generic resources whose amounts are unknown before it starts.
    pub has_unknown_gres: bool,
    /// The time limit of the job \[s\], or `None` if it is unlimited.
    pub time_limit: Option<u64>,
    /// The requested partitions, or the partition in which the job is running.
    pub partition: String,
    /// The quality of service, or an empty string.
    pub qos: String,
    /// The account, or an empty string.
    pub account: String,
    /// The owner.
    pub user: String,
    /// The comment, which can be changed by the owner. It may be truncated.
    pub comment: String,
    /// The job name, which may be truncated.
    pub name: String,
    /// The allocated nodes as a host list, or an empty string if no nodes are allocated.
    pub node_list: String,
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// The job is waiting (PD).
    Pending,
    /// The nodes of the job are being prepared (CF).
    Configuring,
    /// The job is running (R).
    Running,
    /// The job is ending (CG).
    Completing,
    /// The job is suspended, but its memory is still in use (S).
    Suspended,
    /// The code of an unknown state. The job exists.
    Unknown(String),
}

/// The reason why a pending job is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The job is not held.
    None,
    /// The job was held at submission or by its owner, who can also release it (`JobHeldUser`).
    User,
    /// The job was held by an operator (`JobHeldAdmin`).
    Admin,
    /// The job was held by Slurm, for example because its launch has failed.
    Other,
}

/// Returns the jobs that must end, from a list of dependencies such as
/// `afterok:17(unfulfilled):18_3(unfulfilled),after:5+10?afterany:20`.
fn waited_for(text: &str) -> Vec<u32> {
    let mut jobs = Vec::new();
    for part in text.split([',', '?']) {
        let mut words = part.split(':');
        let kind = words.next().unwrap_or_default();
        if kind == "after" || !kind.starts_with("after") {
            continue;
        }
        // A truncated number is not followed by a closing bracket.
        for word in words.filter(|word| word.ends_with(')')) {
            let number = word.split(['_', '+', '(']).next();
            jobs.extend(number.and_then(|number| number.parse::<u32>().ok()));
        }
    }
    jobs
}

impl JobState {
    fn of(text: &str) -> Self {
        match text {
            "PD" => JobState::Pending,
            "CF" => JobState::Configuring,
            "R" => JobState::Running,
            "CG" => JobState::Completing,
            "S" => JobState::Suspended,
            other => JobState::Unknown(other.to_owned()),
        }
    }
}

impl QueueRow {
    /// Returns `true` if nodes are allocated to the job.
    pub fn has_nodes(&self) -> bool {
        !matches!(self.state, JobState::Pending | JobState::Unknown(_))
    }

    /// Returns the amounts on each node if this number of nodes is allocated.
    pub fn on_each(&self, nodes: u32) -> Amounts {
        self.amounts.part(nodes).most(&self.per_node)
    }

    fn of(key: JobKey, cells: &Cells<'_>) -> Result<Self, String> {
        let state = JobState::of(&word(cells, STATE)?);
        let reason = cells.free(REASON);
        let priority = cells.read(PRIORITY, whole::<u64>)?;
        let (amounts, has_unknown_gres) = amounts(cells)?;
        let (nodes, most_nodes, per_node) = match state {
            JobState::Pending => requested(cells, &amounts)?,
            _ => {
                let nodes = cells.read(NODES, whole::<u32>)?;
                (nodes.max(1), nodes.max(1), Amounts::default())
            }
        };
        let node_list = word(cells, NODE_LIST)?;
        if node_list.contains(' ') {
            return Err(cells.wrong(NODE_LIST, &node_list));
        }
        let is_there = |column| requested_of(cells, column).is_some();
        Ok(QueueRow {
            key,
            hold: match (&state, &*reason) {
                (JobState::Pending, "JobHeldUser") => Hold::User,
                (JobState::Pending, "JobHeldAdmin") => Hold::Admin,
                (JobState::Pending, _) if priority == 0 => Hold::Other,
                _ => Hold::None,
            },
            state,
            reason,
            depends: is_there(DEPENDENCY),
            waits_for: waited_for(&cells.free(DEPENDENCY)),
            names_nodes: is_there(REQUIRED) || is_there(FEATURES),
            is_exclusive: cells.free(SHARING) == "NO",
            eligible: cells.read(ELIGIBLE, |text| match text {
                "N/A" | "Unknown" => Some(None),
                text => instant(text).map(Some),
            })?,
            nodes,
            most_nodes,
            per_node,
            amounts,
            has_unknown_gres,
            time_limit: cells.read(LIMIT, time_limit)?,
            partition: word(cells, PARTITION)?,
            qos: word(cells, QOS)?,
            account: word(cells, ACCOUNT)?,
            user: word(cells, USER)?,
            comment: cells.free(COMMENT),
            name: cells.free(NAME),
            node_list,
        })
    }
}

fn amounts(cells: &Cells<'_>) -> Result<(Amounts, bool), String> {
    let mut amounts = cells.read(TRES, tres)?;
    if amounts.0.keys().any(|name| name.starts_with("gres/")) {
        return Ok((amounts, false));
    }
    // Resources that are not tracked by the accounting are only shown in the request.
    let number = |column| cells.read(column, whole::<u64>);
    let mut is_known = true;
    for (column, times) in [
        (PER_NODE, number(NODES)?),
        (PER_JOB, 1),
        (PER_TASK, number(TASKS)?),
    ] {
        if let Some(request) = requested_of(cells, column) {
            let is_whole = cells.cell(column).is_some_and(|cell| !cell.is_full);
            is_known &= is_whole && add_gres(&mut amounts, &request, times).is_some();
        }
    }
    is_known &= requested_of(cells, PER_SOCKET).is_none();
    Ok((amounts, !is_known))
}

/// Returns the minimum and the maximum number of nodes, and the minimum amounts on each node.
/// NumNodes is only an estimate (2 for `-n4 -c3`), and the minimum in TRES ignores tasks per node.
fn requested(cells: &Cells<'_>, amounts: &Amounts) -> Result<(u32, u32, Amounts), String> {
    let number = |column| cells.free(column).parse::<u32>().ok().filter(|n| *n > 0);
    let tres = cells.free(TRES);
    let mut parts = tres.split(',');
    let named = parts.find_map(|part| part.strip_prefix("node=")?.parse().ok());
    let estimate = cells.read(NODES, whole::<u32>)?;
    let least: u32 = named.unwrap_or(estimate).max(1);
    let (tasks, on_each) = (number(TASKS), number(TASKS_ON_NODE));
    let (mut nodes, mut per_node) = (least, Amounts::default());
    if let (Some(tasks), Some(on_each)) = (tasks, on_each) {
        // If there are fewer tasks than NTPerNode, a node has at most all of them.
        nodes = nodes.max(tasks.div_ceil(on_each));
        let cpus = amounts.get("cpu") * u128::from(on_each.min(tasks));
        per_node.set("cpu", cpus.div_ceil(tasks.into()));
    }
    // MinMemory is given per node or per CPU.
    let memory = bytes(&cells.free(MEMORY)).unwrap_or(0);
    if u128::from(memory) * u128::from(least) == amounts.get("mem") {
        per_node.set("mem", memory);
    }
    if let Some(request) = requested_of(cells, PER_NODE) {
        // A request that cannot be parsed was already reported by `amounts` as unknown.
        let _ = add_gres(&mut per_node, &request, 1);
    }
    let most = number(MOST_NODES).unwrap_or(nodes).max(nodes);
    Ok((nodes, most, per_node))
}

fn requested_of(cells: &Cells<'_>, column: usize) -> Option<String> {
    Some(cells.free(column)).filter(|text| !matches!(&**text, "" | "N/A"))
}

fn word(cells: &Cells<'_>, column: usize) -> Result<String, String> {
    let cell = cells.cell(column).filter(|cell| {
        let is_cut = cell.is_full && column != NODE_LIST;
        !is_cut && !cell.text.contains(char::is_control)
    });
    match cell.map(|cell| cell.text) {
        None => Err(cells.wrong(column, &cells.free(column))),
        Some("(null)" | "N/A") => Ok(String::new()),
        Some(text) => Ok(text.to_owned()),
    }
}

// The nodes are the last column because their list may overflow.
layout! {
    "squeue", true;
    ID: "JobArrayID", "JOBID", 24;
    SUBMITTED: "SubmitTime", "SUBMIT_TIME", 20;
    ELIGIBLE: "EligibleTime", "ELIGIBLE_TIME", 20;
    STATE: "StateCompact", "ST", 8;
    PRIORITY: "PriorityLong", "PRIORITY", 12;
    REASON: "Reason", "REASON", 40;
    DEPENDENCY: "Dependency", "DEPENDENCY", 120;
    REQUIRED: "ReqNodes", "REQ_NODES", 40;
    FEATURES: "Feature", "FEATURES", 24;
    SHARING: "OverSubscribe", "OVER_SUBSCRIBE", 16;
    NODES: "NumNodes", "NODES", 8;
    TASKS: "NumTasks", "TASKS", 8;
    MOST_NODES: "MaxNodes", "MAX_NODES", 12;
    TASKS_ON_NODE: "NTPerNode", "NTASKS_PER_NODE", 16;
    MEMORY: "MinMemory", "MIN_MEMORY", 16;
    TRES: "tres-alloc", "TRES_ALLOC", 120;
    PER_NODE: "tres-per-node", "TRES_PER_NODE", 40;
    PER_JOB: "tres-per-job", "TRES_PER_JOB", 32;
    PER_TASK: "tres-per-task", "TRES_PER_TASK", 32;
    PER_SOCKET: "tres-per-socket", "TRES_PER_SOCKET", 16;
    LIMIT: "TimeLimit", "TIME_LIMIT", 16;
    PARTITION: "Partition", "PARTITION", 40;
    QOS: "QOS", "QOS", 40;
    ACCOUNT: "Account", "ACCOUNT", 40;
    USER: "UserName", "USER", 32;
    COMMENT: "Comment", "COMMENT", 64;
    NAME: "Name", "NAME", 64;
    NODE_LIST: "NodeList", "NODELIST", 24;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dependencies_on_job_ends() {
        for (text, jobs) in [
            ("(null)", vec![]),
            ("afterany:10(unfulfilled)", vec![10]),
            (
                "afterany:12(unfulfilled)?afterok:13_4(unfulfilled)",
                vec![12, 13],
            ),
            (
                "afternotok:12(unfulfilled),singleton(unfulfilled)",
                vec![12],
            ),
            ("after:7+5(unfulfilled),aftercorr:9_*(unfulfilled)", vec![9]),
            (
                "afterok:1(unfulfilled):2(unfulfilled):31(unfulf",
                vec![1, 2],
            ),
        ] {
            assert_eq!(waited_for(text), jobs, "{text}");
        }
    }
}
