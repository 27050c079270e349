use std::collections::HashMap;

use super::TypeMap;
use synth_operator::Amounts;
use synth_slurm::commands::{JobKey, NodeRow, NodeState, Nodes, SlurmQueue};

/// The capacity of each server that is not available to the policy, because it is used by others or
/// the node is down or drained. If a node has more capacity than the server of the policy, the
/// additional capacity is used first.
#[derive(Default)]
pub(super) struct Usage {
    nodes: Vec<NodeRow>,
    /// The amounts of each node that do not belong to jobs in the queue, and their minimum in the
    /// last two readings. A single difference may be due to a job that has just started or ended.
    unaccounted: HashMap<String, [Amounts; 2]>,
}

impl Usage {
    pub(crate) fn look(&mut self, nodes: &Nodes, queue: &SlurmQueue, notes: &mut Vec<String>) {
        notes.extend(nodes.unread.note("sinfo"));
        for node in &nodes.rows {
            let was = self.nodes.iter().find(|was| was.name == node.name);
            let was_up = was.is_none_or(|was| was.state == NodeState::Up);
            let is_up = node.state == NodeState::Up;
            let NodeRow { name, words, .. } = node;
            if was_up && !is_up {
                let reason = match &*node.reason {
                    "" => "no reason given",
                    reason => reason,
                };
                let until = match node.state {
                    NodeState::Unknown => "its state is known".into(),
                    _ => format!("`scontrol update nodename={name} state=resume`"),
                };
                notes.push(format!(
                    "node {name} is {words} ({reason}): no jobs are started there until {until}"
                ));
            } else if !was_up && is_up {
                notes.push(format!("node {name} is back"));
            }
        }
        // If a row cannot be parsed, the previous state of the node is kept.
        let unread = |was: &NodeRow| nodes.unread.known.contains(&was.name);
        self.nodes.retain(unread);
        self.nodes.splice(0..0, nodes.rows.iter().cloned());
        let accounted = queue.by_node(|_| true);
        let before = std::mem::take(&mut self.unaccounted);
        let none = Amounts::default();
        for node in &self.nodes {
            let accounted = accounted.get(&node.name).unwrap_or(&none);
            let others = node.allocated.clone().less(accounted);
            let last = before.get(&node.name).map_or(&none, |[last, _]| last);
            let steady = others.clone().least(last);
            self.unaccounted.insert(node.name.clone(), [others, steady]);
        }
    }

    /// Returns the amounts that others leave on each server, or nothing before the nodes are read.
    pub(crate) fn left(
        &self,
        queue: &SlurmQueue,
        map: &TypeMap,
        is_own: impl Fn(&JobKey) -> bool,
    ) -> Vec<Amounts> {
        if self.nodes.is_empty() {
            return Vec::new();
        }
        let mut left = vec![Amounts::default(); map.nodes.of_servers().len().max(1)];
        let mut used = queue.by_node(|row| !is_own(&row.key));
        for node in self.nodes.iter().filter(|node| node.state == NodeState::Up) {
            if let Some(n) = map.nodes.server(&node.name) {
                let mut foreign = used.remove(&node.name).unwrap_or_default();
                if let Some([_, steady]) = self.unaccounted.get(&node.name) {
                    foreign.add(steady);
                }
                left[n].add(&node.capacity.clone().less(&foreign));
            }
        }
        left
    }
}
