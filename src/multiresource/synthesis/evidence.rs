//! Solutions of the program as the artifact has them.

use super::exact;
use crate::multiresource::artifact::{Evidence, Mix, SearchNode, SearchRecord, ShapeWorth};
use crate::multiresource::program::{Exact, Solution, Tree};

/// Returns what proves the load, with the fractions where there are any. The mixes are those of the solution, unless
/// they stand in the policy.
pub(super) fn evidence(
    solution: &Solution,
    fractions: Option<&Exact>,
    in_policy: bool,
) -> Evidence {
    let certificate = &solution.certificate;
    let shapes = certificate.servers.iter().zip(&solution.mixes);
    let servers = shapes.map(|(server, own)| ShapeWorth {
        resource_prices: server.resource_prices.clone(),
        worth: server.worth,
        mix: (!in_policy).then(|| Mix {
            schedules: own.schedules.clone(),
            weights: own.weights.clone(),
        }),
        search: server.tree.as_ref().map(search),
    });
    Evidence {
        load: certificate.load,
        prices: certificate.prices.clone(),
        servers: servers.collect(),
        bound: certificate.bound,
        gap: certificate.gap(),
        proven: certificate.proven(),
        exact: fractions.and_then(exact::record),
        simulation: None,
    }
}

/// The tree with each branch before the two nodes below it, the one with fewer jobs first.
fn search(tree: &Tree) -> SearchRecord {
    let mut nodes = Vec::with_capacity(tree.nodes.len());
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let node = &tree.nodes[at];
        open.extend(node.branch.iter().flat_map(|b| b.children.iter().rev()));
        nodes.push(SearchNode {
            prices: node.prices.clone(),
            branch: node.branch.map(|b| (b.job_type, b.most)),
        });
    }
    SearchRecord {
        types: tree.types.clone(),
        nodes,
    }
}
