//! Which mix the policy takes: that of the least load, or one that is best for something else.

use super::Options;
use super::exact::{self, Settled};
use crate::multiresource::artifact::{
    BalanceRecord, CertificateRecord, Mix, SearchNode, SearchRecord,
};
use crate::multiresource::program::{
    self, Balanced, Balancing, Certificate, Exact, ProgramError, Solution, Tree,
};
use crate::multiresource::workload::Workload;

/// The solved program, and what the artifact says of it.
pub(super) struct Solved {
    /// The certificate of the load, with the mix that the policy takes.
    pub solution: Solution,
    /// The mix of the least load in fractions, where there are any.
    pub exact: Option<Exact>,
    /// The certificate, with the mix of the least load where the policy takes another.
    pub record: CertificateRecord,
}

impl Solved {
    /// With the mix of the least load, or where the load leaves room for it and another is asked
    /// for, with that.
    pub fn new(
        workload: &Workload,
        options: &Options,
        settled: Settled,
    ) -> Result<Self, ProgramError> {
        let mut solved = Solved::plain(settled.solution);
        solved.record.exact = settled.exact.as_ref().and_then(exact::record);
        solved.exact = settled.exact;
        let Some(balancing) = &options.balance else {
            return Ok(solved);
        };
        let solution = &mut solved.solution;
        let balanced = program::balance(workload, balancing, solution, &options.limits_now())?;
        solved.record.balance = Some(evidence(balancing, &balanced));
        let least = std::mem::replace(&mut solution.mix, balanced.mix);
        solved.record.mix = Some(Mix {
            schedules: least.schedules,
            weights: least.weights,
        });
        Ok(solved)
    }

    /// The policy takes the mix of the least load, of which there are no fractions.
    pub fn plain(solution: Solution) -> Self {
        Solved {
            record: record(&solution.certificate),
            exact: None,
            solution,
        }
    }
}

fn record(certificate: &Certificate) -> CertificateRecord {
    CertificateRecord {
        load: certificate.load,
        prices: certificate.prices.clone(),
        resource_prices: certificate.resource_prices.clone(),
        bound: certificate.bound,
        search: certificate.tree.as_ref().map(search_record),
        gap: certificate.gap(),
        proven: certificate.proven(),
        exact: None,
        mix: None,
        balance: None,
    }
}

/// The tree with each branch before the two nodes below it, the one with fewer jobs first.
pub(super) fn search_record(tree: &Tree) -> SearchRecord {
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

fn evidence(balancing: &Balancing, balanced: &Balanced) -> BalanceRecord {
    BalanceRecord {
        aim: balancing.aim,
        weights: balancing.weights.clone(),
        value: balanced.value,
        bound: balanced.bound,
        gap: balanced.gap(),
        proven: balanced.proven(),
        prices: balanced.prices.clone(),
        resource_prices: balanced.resource_prices.clone(),
        search: balanced.tree.as_ref().map(search_record),
    }
}
