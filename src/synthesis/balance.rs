//! Which mix the policy takes: that of the least load, or one that is best for something else.

use super::Options;
use crate::artifact::{BalanceRecord, CertificateRecord, Mix, RelaxedRecord};
use crate::program::{self, Balanced, Balancing, Certificate, LOAD_MARGIN, ProgramError, Solution};
use crate::workload::Workload;

/// The solved program, and what the artifact says of it.
pub(super) struct Solved {
    /// The certificate of the load, with the mix that the policy takes.
    pub solution: Solution,
    /// The certificate, with the mix of the least load where the policy takes another.
    pub record: CertificateRecord,
}

/// Solves the program, and where the load leaves room for it, the one that is asked for beside it.
pub(super) fn solve(workload: &Workload, options: &Options) -> Result<Solved, ProgramError> {
    let mut solution = program::solve(workload, &options.limits)?;
    let mut record = record(&solution.certificate);
    if let Some(balancing) = &options.balance
        && solution.certificate.load < 1.0 - LOAD_MARGIN
    {
        let balanced = program::balance(workload, balancing, &solution, &options.limits)?;
        record.balance = Some(evidence(balancing, &balanced));
        let least = std::mem::replace(&mut solution.mix, balanced.mix);
        record.mix = Some(Mix {
            schedules: least.schedules,
            weights: least.weights,
        });
    }
    Ok(Solved { solution, record })
}

impl Solved {
    /// The policy takes the mix of the least load.
    pub fn plain(solution: Solution) -> Self {
        Solved {
            record: record(&solution.certificate),
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
        relaxed: certificate.relaxed.as_ref().map(|relaxed| RelaxedRecord {
            whole: relaxed.whole.clone(),
            prices: relaxed.prices.clone(),
        }),
        gap: certificate.gap(),
        proven: certificate.proven(),
        mix: None,
        balance: None,
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
