//! What others use of a policy's servers.

use std::collections::HashMap;

use super::TypeMap;
use crate::multiresource::workload::Fleet;
use crate::slurm::{Amounts, Key, Node, NodeState, Nodes, Queue, Row, expand};

/// What of each server the policy does not have: other jobs use it, or its node is down or drained.
///
/// A node may have more than the policy counts on: that is used first.
pub(super) struct Usage {
    /// By server: capacity in whole units and as written (R).
    servers: Vec<(Vec<u64>, Vec<f64>)>,
    /// The nodes as they were last seen.
    nodes: Vec<Node>,
    /// By node: what is allocated that no row of the queue accounted for when the nodes were last read, and the lesser
    /// of that and of what it was before. The queue and the nodes are not read at one moment: what was seen once only
    /// may be a job that had just started or ended.
    unaccounted: HashMap<String, [Amounts; 2]>,
    /// By server: units that are not there for the policy (R), as they were last told.
    told: Vec<Vec<u64>>,
}

impl Usage {
    pub fn new(fleet: &Fleet) -> Self {
        let mut servers = Vec::new();
        for (h, shape) in fleet.shapes().iter().enumerate() {
            let amounts: Vec<f64> = shape.capacity().iter().map(|c| c.value()).collect();
            for _ in 0..shape.count() {
                servers.push((fleet.units(h), amounts.clone()));
            }
        }
        Usage {
            told: servers
                .iter()
                .map(|(units, _)| vec![0; units.len()])
                .collect(),
            nodes: Vec::new(),
            unaccounted: HashMap::new(),
            servers,
        }
    }

    /// Nothing has been told: a scheduler begins.
    pub fn forget(&mut self) {
        self.told.iter_mut().for_each(|units| units.fill(0));
    }

    /// Takes in the nodes; tells of those that are down or drained, and again up.
    pub fn look(&mut self, nodes: &Nodes, queue: &Queue, notes: &mut Vec<String>) {
        if nodes.unread.count > 0 {
            let example = nodes.unread.example.clone().unwrap_or_default();
            notes.push(format!(
                "{} rows of sinfo are not understood, for instance: {example}",
                nodes.unread.count
            ));
        }
        for node in &nodes.rows {
            let was = self.nodes.iter().find(|was| was.name == node.name);
            let was_up = was.is_none_or(|was| was.state == NodeState::Up);
            let is_up = node.state == NodeState::Up;
            match (was_up, is_up) {
                (true, false) => {
                    let Node { name, words, .. } = node;
                    let reason = match &*node.reason {
                        "" => "no reason is given",
                        reason => reason,
                    };
                    let until = match node.state {
                        NodeState::Unknown => "it is known again".into(),
                        _ => format!("`scontrol update nodename={name} state=resume`"),
                    };
                    notes.push(format!(
                        "node {name} is {words} ({reason}): nothing starts there until {until}"
                    ));
                }
                (false, true) => notes.push(format!("node {} is back", node.name)),
                _ => {}
            }
        }
        // A node that was not understood stays what it was.
        let unread = self
            .nodes
            .iter()
            .filter(|was| nodes.unread.known.contains(&was.name))
            .cloned();
        let unread: Vec<Node> = unread.collect();
        self.nodes.clone_from(&nodes.rows);
        self.nodes.extend(unread);
        let rows = by_node(queue);
        let before = std::mem::take(&mut self.unaccounted);
        for node in &self.nodes {
            let accounted =
                on(&rows, node).fold(Amounts::default(), |sum, row| sum.plus(&part(row)));
            let others = node.allocated.clone().less(&accounted);
            let steady = match before.get(&node.name) {
                Some([last, _]) => others.clone().least(last),
                None => Amounts::default(),
            };
            self.unaccounted.insert(node.name.clone(), [others, steady]);
        }
    }

    /// Returns the servers where what others use has changed. `is_own` says which jobs the rule has started.
    pub fn count(
        &mut self,
        queue: &Queue,
        map: &TypeMap,
        is_own: impl Fn(&Key) -> bool,
    ) -> Vec<usize> {
        let mut left: Vec<Amounts> = vec![Amounts::default(); self.servers.len()];
        let rows = by_node(queue);
        for node in self.nodes.iter().filter(|node| node.state == NodeState::Up) {
            let Some(n) = map.servers.of_node(&node.name) else {
                continue;
            };
            let steady = self
                .unaccounted
                .get(&node.name)
                .map(|[_, steady]| steady.clone());
            let foreign = on(&rows, node).filter(|row| !is_own(&row.key));
            let foreign = foreign.fold(steady.unwrap_or_default(), |sum, row| sum.plus(&part(row)));
            let free = node.capacity.clone().less(&foreign);
            left[n] = std::mem::take(&mut left[n]).plus(&free);
        }
        let mut changed = Vec::new();
        for (n, (units, _)) in self
            .servers
            .iter()
            .enumerate()
            .filter(|_| !self.nodes.is_empty())
        {
            let within = map.resources.units_within(&left[n]);
            let gone = units
                .iter()
                .zip(&within)
                .map(|(all, left)| all.saturating_sub(*left));
            let gone: Vec<u64> = gone.collect();
            if gone != self.told[n] {
                self.told[n] = gone;
                changed.push(n);
            }
        }
        changed
    }

    /// Returns what was last told of server n, by resource.
    pub fn amounts(&self, n: usize) -> impl Iterator<Item = f64> + '_ {
        let (units, amounts) = &self.servers[n];
        let pairs = self.told[n].iter().zip(units).zip(amounts);
        pairs.map(|((gone, units), amount)| match *units {
            0 => 0.0,
            units => amount * (*gone as f64 / units as f64),
        })
    }
}

/// Returns the running jobs of each node.
fn by_node(queue: &Queue) -> HashMap<String, Vec<&Row>> {
    let mut all: HashMap<String, Vec<&Row>> = HashMap::new();
    for row in queue.rows.iter().filter(|row| row.has_nodes()) {
        // A list that cannot be read is of nodes that then have more in use than rows account for.
        for node in expand(&row.node_list).unwrap_or_default() {
            all.entry(node).or_default().push(row);
        }
    }
    all
}

fn on<'a>(rows: &'a HashMap<String, Vec<&'a Row>>, node: &Node) -> impl Iterator<Item = &'a Row> {
    rows.get(&node.name).into_iter().flatten().copied()
}

/// Returns what a job has on one of its nodes.
fn part(row: &Row) -> Amounts {
    row.amounts.part(row.nodes)
}
