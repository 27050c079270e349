use std::collections::HashMap;

use super::TypeMap;
use synth_operator::Amounts;
use synth_slurm::commands::{JobKey, NodeRow, NodeState, Nodes, SlurmQueue};

/// The nodes, and their use by jobs that the policy did not start. If a node has more capacity than
/// the server of the policy, the jobs of others are assumed to use it first.
#[derive(Default)]
pub(super) struct Usage {
    nodes: Vec<NodeRow>,
    /// The allocated amounts in `sinfo`, less the jobs in `squeue`: in the last reading, and the
    /// minimum of the last two (0 after the first), as a job may start between the two commands.
    unaccounted: HashMap<String, [Amounts; 2]>,
}

impl Usage {
    pub(crate) fn look(&mut self, nodes: &Nodes, queue: &SlurmQueue, notes: &mut Vec<String>) {
        notes.extend(nodes.unread.note("sinfo"));
        for node in &nodes.rows {
            let previous = self.nodes.iter().find(|own| own.name == node.name);
            let was_up = previous.is_none_or(|own| own.state == NodeState::Up);
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
        // If only the name in a row can be parsed, the previous row is kept, after the new rows.
        let unread = |own: &NodeRow| nodes.unread.known.contains(&own.name);
        self.nodes.retain(unread);
        self.nodes.splice(0..0, nodes.rows.iter().cloned());
        let accounted = queue.by_node(|_| true);
        let before = std::mem::take(&mut self.unaccounted);
        let none = Amounts::default();
        for node in &self.nodes {
            let accounted = accounted.get(&node.name).unwrap_or(&none);
            let unlisted = node.allocated.clone().less(accounted);
            let last = before.get(&node.name).map_or(&none, |[last, _]| last);
            let unlisted_twice = unlisted.clone().least(last);
            self.unaccounted
                .insert(node.name.clone(), [unlisted, unlisted_twice]);
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
        // Without a mapping, all nodes are one server.
        let mut left = vec![Amounts::default(); map.nodes.of_servers().len().max(1)];
        let mut used = queue.by_node(|row| !is_own(&row.key));
        for node in self.nodes.iter().filter(|node| node.state == NodeState::Up) {
            if let Some(n) = map.nodes.server(&node.name) {
                let mut foreign = used.remove(&node.name).unwrap_or_default();
                if let Some([_, unlisted_twice]) = self.unaccounted.get(&node.name) {
                    foreign.add(unlisted_twice);
                }
                left[n].add(&node.capacity.clone().less(&foreign));
            }
        }
        left
    }
}
