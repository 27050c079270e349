//! What others use of a policy's servers.

use std::collections::HashMap;

use super::TypeMap;
use synth_operator::Amounts;
use synth_slurm::commands::{Key, NodeRow, NodeState, Nodes, SlurmQueue};

/// What of each server the policy does not have: other jobs use it, or its node is down or drained.
///
/// A node may have more than the policy counts on: that is used first.
#[derive(Default)]
pub(super) struct Usage {
    /// The nodes as they were last seen.
    nodes: Vec<NodeRow>,
    /// By node: what is allocated that no row of the queue accounted for when the nodes were last read, and the lesser
    /// of that and of what it was before. The queue and the nodes are not read at one moment: what was seen once only
    /// may be a job that had just started or ended.
    unaccounted: HashMap<String, [Amounts; 2]>,
}

impl Usage {
    /// Takes in the nodes; tells of those that are down or drained, and again up.
    pub(crate) fn look(&mut self, nodes: &Nodes, queue: &SlurmQueue, notes: &mut Vec<String>) {
        notes.extend(nodes.unread.note("sinfo"));
        for node in &nodes.rows {
            let was = self.nodes.iter().find(|was| was.name == node.name);
            let was_up = was.is_none_or(|was| was.state == NodeState::Up);
            let is_up = node.state == NodeState::Up;
            match (was_up, is_up) {
                (true, false) => {
                    let NodeRow { name, words, .. } = node;
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
        let unread = |was: &NodeRow| nodes.unread.known.contains(&was.name);
        self.nodes.retain(unread);
        self.nodes.splice(0..0, nodes.rows.iter().cloned());
        let accounted = queue.by_node(|_| true);
        let before = std::mem::take(&mut self.unaccounted);
        let none = Amounts::default();
        for node in &self.nodes {
            let accounted = accounted.get(&node.name).unwrap_or(&none);
            let others = node.allocated.clone().less(accounted);
            let steady = match before.get(&node.name) {
                Some([last, _]) => others.clone().least(last),
                None => none.clone(),
            };
            self.unaccounted.insert(node.name.clone(), [others, steady]);
        }
    }

    /// Returns the amounts that others leave of each server, once nodes were read. `is_own` says which jobs the rule has
    /// started.
    pub(crate) fn left(
        &self,
        queue: &SlurmQueue,
        map: &TypeMap,
        is_own: impl Fn(&Key) -> bool,
    ) -> Vec<Amounts> {
        if self.nodes.is_empty() {
            return Vec::new();
        }
        let mut left = vec![Amounts::default(); map.nodes.of_servers().len().max(1)];
        let mut used = queue.by_node(|row| !is_own(&row.key));
        for node in self.nodes.iter().filter(|node| node.state == NodeState::Up) {
            let Some(n) = map.nodes.server(&node.name) else {
                continue;
            };
            let mut foreign = used.remove(&node.name).unwrap_or_default();
            if let Some([_, steady]) = self.unaccounted.get(&node.name) {
                foreign.add(steady);
            }
            left[n].add(&node.capacity.clone().less(&foreign));
        }
        left
    }
}
