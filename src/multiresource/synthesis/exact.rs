//! The program solved, and settled in fractions where there are any.

use num_rational::BigRational;
use num_traits::One;

use super::Options;
use crate::multiresource::artifact::{
    CertificateRecord, ExactRecord, Fraction, MOST_DIGITS, Preemption, Proven, SearchNode,
    SearchRecord,
};
use crate::multiresource::modulation;
use crate::multiresource::program::{
    self, Exact, Knapsack, LOAD_MARGIN, ProgramError, Solution, Tree, nearest,
};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// Nodes that the exact proof may take.
const NODES: u64 = 2_000_000;

/// A solved program; the doubles are the nearest to the fractions where there are any.
pub(super) struct Settled {
    pub solution: Solution,
    pub exact: Option<Exact>,
}

/// How a load compares with 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// Below 1, by enough for the analysis.
    Below,
    /// Below 1 exactly, but by less than doubles resolve.
    JustBelow,
    /// At 1 or above; or, where there are no fractions, not distinguishable from 1.
    Beyond,
    /// Not known.
    Undecided,
}

impl Settled {
    pub fn new(workload: &Workload, options: &Options) -> Result<Self, ProgramError> {
        let Settled { mut solution, .. } = Settled::in_doubles(workload, options)?;
        let exact = program::exact(workload, &solution, NODES).ok();
        if let Some(exact) = &exact {
            adopt(workload, exact, &mut solution)?;
        }
        Ok(Settled { solution, exact })
    }

    /// Without the fractions.
    pub fn in_doubles(workload: &Workload, options: &Options) -> Result<Self, ProgramError> {
        let mut solution = program::solve_from(workload, &options.limits_now(), &options.known)?;
        if options.preemption != Preemption::Full {
            let face = std::mem::take(&mut solution.face);
            solution.mix = modulation::fewer_drains(workload, solution.mix, &face);
            solution.certificate.load = solution.mix.load(workload);
        }
        Ok(Settled {
            solution,
            exact: None,
        })
    }

    /// Whether the load is below 1: decided in fractions where there are any, with a margin else.
    pub fn standing(&self) -> Standing {
        let certificate = &self.solution.certificate;
        let within_margin = certificate.load >= 1.0 - LOAD_MARGIN;
        match &self.exact {
            _ if !within_margin => Standing::Below,
            Some(exact) if exact.load < BigRational::one() => Standing::JustBelow,
            Some(exact) if exact.is_proven() => Standing::Beyond,
            _ if certificate.bound >= 1.0 - 2.0 * LOAD_MARGIN => Standing::Beyond,
            _ => Standing::Undecided,
        }
    }

    /// The certificate as an artifact carries it, whose policy takes the mix.
    pub fn record(&self) -> CertificateRecord {
        let certificate = &self.solution.certificate;
        CertificateRecord {
            load: certificate.load,
            prices: certificate.prices.clone(),
            resource_prices: certificate.resource_prices.clone(),
            bound: certificate.bound,
            search: certificate.tree.as_ref().map(search_record),
            gap: certificate.gap(),
            proven: certificate.proven(),
            exact: self.exact.as_ref().and_then(record),
            mix: None,
        }
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

/// Makes the doubles the nearest to the fractions.
fn adopt(workload: &Workload, exact: &Exact, solution: &mut Solution) -> Result<(), ProgramError> {
    solution.mix = exact.mix();
    let certificate = &mut solution.certificate;
    certificate.load = nearest(&exact.load);
    let Ok(prices) = &exact.proof else {
        return Ok(());
    };
    // Prices in doubles that have proved the load are as good, and nearer to those of the program.
    if !certificate.proven() {
        certificate.prices = prices.of_types.iter().map(nearest).collect();
        certificate.resource_prices = covering(workload, &certificate.prices);
        certificate.tree = None;
    }
    certificate.bound = certificate.load;
    Ok(())
}

/// Prices of the resources' units at which every job costs its value `y_i/b_i` at least, and the server
/// as little as can be.
fn covering(workload: &Workload, prices: &[f64]) -> Vec<f64> {
    let pairs = prices.iter().zip(workload.types());
    let values: Vec<f64> = pairs.map(|(y, t)| y / t.offered_load()).collect();
    Knapsack::new(&Packing::new(workload), &values).resource_prices()
}

/// The fractions as an artifact carries them; `None` where they are too long.
fn record(exact: &Exact) -> Option<ExactRecord> {
    let fractions = |all: &[BigRational]| -> Option<Vec<Fraction>> {
        all.iter().cloned().map(Fraction::new).collect()
    };
    let prices = exact.proof.as_ref().ok();
    let record = ExactRecord {
        load: Fraction::new(exact.load.clone())?,
        weights: fractions(&exact.weights)?,
        proven: if exact.is_proven() {
            Proven::Optimum
        } else {
            Proven::Mix
        },
        prices: match prices {
            Some(prices) => Some(fractions(&prices.of_types)?),
            None => None,
        },
    };
    (record.digits() <= MOST_DIGITS).then_some(record)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::multiresource::program::Limits;
    use std::time::Duration;

    /// Where the proof in doubles had no time, prices and mix are those of the fractions, every job
    /// costs its value, and both sides meet.
    #[test]
    fn a_proof_in_fractions_needs_none_in_doubles() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
        let workload = Workload::read(path.as_ref()).unwrap().workload;
        let sound = program::solve(&workload, &Limits::default()).unwrap();
        let exact = program::exact(&workload, &sound, 1_000_000).unwrap();
        let limits = Limits {
            time: Duration::ZERO,
            ..Limits::default()
        };
        let mut solution = program::solve(&workload, &limits).unwrap();
        assert!(!solution.certificate.proven());
        adopt(&workload, &exact, &mut solution).unwrap();
        let certificate = &solution.certificate;
        assert!(certificate.proven() && certificate.gap() == 0.0);
        let prices: Vec<f64> = exact.proof.unwrap().of_types.iter().map(nearest).collect();
        assert_eq!(certificate.prices, prices);
        for (job_type, y) in workload.types().iter().zip(&prices) {
            let pairs = job_type.units().iter().zip(&certificate.resource_prices);
            let cost: f64 = pairs.map(|(d, w)| *d as f64 * w).sum();
            assert!(cost >= y / job_type.offered_load() * (1.0 - 1e-12));
        }
    }
}
