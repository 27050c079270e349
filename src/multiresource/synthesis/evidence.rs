//! Solutions of the program as the artifact has them.

use super::exact;
use crate::multiresource::artifact::{Evidence, Mix, SearchNode, SearchRecord, ShapeWorth};
use crate::multiresource::program::{self, Exact, FleetSolution, Solution, Tree};

/// Of one server whose policy is the mix, with the fractions where there are any.
pub(super) fn of_one(solution: &Solution, fractions: Option<&Exact>) -> Evidence {
    let certificate = &solution.certificate;
    Evidence {
        load: certificate.load,
        prices: certificate.prices.clone(),
        servers: vec![ShapeWorth {
            resource_prices: certificate.resource_prices.clone(),
            worth: 1.0 / certificate.bound,
            mix: None,
            search: certificate.tree.as_ref().map(search),
        }],
        bound: certificate.bound,
        gap: certificate.gap(),
        proven: certificate.proven(),
        exact: fractions.and_then(exact::record),
        simulation: None,
    }
}

/// Of a fleet, with the mix of each shape.
pub(super) fn of_fleet(solution: &FleetSolution) -> Evidence {
    let certificate = &solution.certificate;
    let shapes = certificate.servers.iter().zip(&solution.mixes);
    let servers = shapes.map(|(server, own)| ShapeWorth {
        resource_prices: server.resource_prices.clone(),
        worth: server.worth,
        mix: Some(mix(own)),
        search: server.tree.as_ref().map(search),
    });
    Evidence {
        load: certificate.load,
        prices: certificate.prices.clone(),
        servers: servers.collect(),
        bound: certificate.bound,
        gap: certificate.gap(),
        proven: certificate.proven(),
        exact: None,
        simulation: None,
    }
}

/// Schedules with the fraction of time of each.
pub(super) fn mix(of: &program::Mix) -> Mix {
    Mix {
        schedules: of.schedules.clone(),
        weights: of.weights.clone(),
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
