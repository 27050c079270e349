//! The program solved, and settled in fractions where there are any.

use num_rational::BigRational;
use num_traits::{One, ToPrimitive};

use super::Options;
use crate::artifact::{ExactRecord, Fraction, MOST_DIGITS, Proven};
use crate::program::{self, Exact, LOAD_MARGIN, ProgramError, Solution};
use crate::workload::Workload;

/// Nodes that the exact proof may take, for one of the program's own.
const SHARE: u64 = 10;

/// A solved program; the doubles are the nearest to the fractions where there are any.
pub(super) struct Settled {
    pub solution: Solution,
    pub exact: Option<Exact>,
}

/// Where a load stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// Below 1, by enough for the analysis.
    Below,
    /// Below 1 exactly, but by less than what doubles can follow.
    JustBelow,
    /// At 1 or above; or, where there are no fractions, not to be told from 1.
    Beyond,
    /// Not known.
    Undecided,
}

impl Settled {
    pub fn new(workload: &Workload, options: &Options) -> Result<Self, ProgramError> {
        let mut solution = program::solve(workload, &options.limits)?;
        let exact = program::exact(workload, &solution, options.limits.nodes / SHARE).ok();
        if let Some(exact) = &exact {
            solution.mix = exact.mix();
            solution.certificate.load = exact.load.to_f64().unwrap_or(f64::INFINITY);
            if exact.is_proven() {
                solution.certificate.bound = solution.certificate.load;
            }
        }
        Ok(Settled { solution, exact })
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
}

/// The fractions as an artifact carries them; `None` where they are too long.
pub(super) fn record(exact: &Exact) -> Option<ExactRecord> {
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
