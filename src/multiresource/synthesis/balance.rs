//! Which mix the policy takes: that of the least load, or one that is best for something else.

use super::Options;
use super::exact::{self, Settled};
use crate::multiresource::artifact::{BalanceRecord, CertificateRecord, Mix, RelaxedRecord};
use crate::multiresource::program::{
    self, Balanced, Balancing, Certificate, Exact, ProgramError, Relaxed, Solution,
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
        let balanced = program::balance(workload, balancing, solution, &options.limits)?;
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
        relaxed: certificate.relaxed.as_ref().map(relaxed_record),
        gap: certificate.gap(),
        proven: certificate.proven(),
        exact: None,
        mix: None,
        balance: None,
    }
}

pub(super) fn relaxed_record(relaxed: &Relaxed) -> RelaxedRecord {
    RelaxedRecord {
        whole: relaxed.whole.clone(),
        prices: relaxed.prices.clone(),
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
    }
}
