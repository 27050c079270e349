use num_rational::BigRational;
use num_traits::One;

use super::{
    Overload, SynthesisError, SynthesisOptions, SynthesisOutcome, check_options, claims, refused,
};
use crate::modulation;
use crate::program::{self, ExactLoad, Knapsack, LOAD_MARGIN, Mix, Solution, nearest};
use synth_multiresource::artifact::{
    Artifact, Claim, Evidence, ExactRecord, Family, Fraction, MAX_DIGITS, Preemption, Proven,
};
use synth_multiresource::schedule::{Packing, Schedule};
use synth_multiresource::workload::{Fleet, Workload};

const NODES: u64 = 2_000_000;

/// Solves program (7) and decides whether a policy can carry the load. For one server, the mix has
/// few drains, and is the rounded exact one, if any.
pub(super) fn solved(
    fleet: &Fleet,
    options: &SynthesisOptions,
) -> Result<SynthesisOutcome<Solution>, SynthesisError> {
    check_options(fleet.envelope(), options)?;
    let mut solution = program::solve(fleet, &options.limits_now())?;
    if let Some(workload) = fleet.one_server() {
        if options.preemption != Preemption::Full {
            let (mix, face) = (solution.mixes.remove(0), std::mem::take(&mut solution.face));
            let mix = modulation::reduce_drains(workload, mix, &face);
            solution.certificate.load = mix.load(workload);
            solution.mixes = vec![mix];
        }
        if let Some(exact) = program::exact(workload, &solution, NODES) {
            adopt(workload, exact, &mut solution);
        }
    }
    let certificate = &solution.certificate;
    // This is the exact load, if known.
    if certificate.load < 1.0 - LOAD_MARGIN {
        return Ok(SynthesisOutcome::Policy(Box::new(solution)));
    }
    let exact = solution.exact;
    let is_below = |exact: &ExactLoad| exact.load < BigRational::one();
    if exact.as_ref().is_some_and(is_below) {
        return refused(format!(
            "the exact load is below 1, but the difference is less than {LOAD_MARGIN:e}. There is a policy that can stabilize this workload, but it cannot be tuned or analysed in double precision. Multiply the arrival rates by a factor of about 1 - 1e-10"
        ));
    }
    Ok(SynthesisOutcome::Overloaded(Overload {
        is_proven: exact.as_ref().is_some_and(ExactLoad::is_proven)
            || certificate.bound >= 1.0 - 2.0 * LOAD_MARGIN,
        certificate: solution.certificate,
        exact,
    }))
}

fn adopt(workload: &Workload, exact: ExactLoad, solution: &mut Solution) {
    solution.mixes = vec![Mix {
        schedules: exact.schedules.clone(),
        weights: exact.weights.iter().map(nearest).collect(),
    }];
    let certificate = &mut solution.certificate;
    certificate.load = nearest(&exact.load);
    let exact = solution.exact.insert(exact);
    let Some(prices) = &exact.prices else { return };
    if !certificate.proven() {
        certificate.prices = prices.iter().map(nearest).collect();
        // The cost of a job is at least its value `y_i/b_i`, and the cost of the server is minimal.
        let values = certificate.values(workload.types());
        certificate.servers[0].resource_prices =
            Knapsack::new(&Packing::new(workload), &values).prices;
        certificate.servers[0].search = None;
    }
    certificate.bound = certificate.load;
    certificate.servers[0].worth = 1.0 / certificate.bound;
}

pub(super) fn evidence(solution: &Solution) -> Evidence {
    let certificate = &solution.certificate;
    Evidence {
        load: certificate.load,
        prices: certificate.prices.clone(),
        servers: certificate.servers.clone(),
        bound: certificate.bound,
        gap: certificate.gap(),
        proven: certificate.proven(),
        exact: solution.exact.as_ref().and_then(record),
        simulation: None,
    }
}

pub(super) fn artifact(
    fleet: &Fleet,
    solution: &Solution,
    policy: Family,
    own: Vec<Claim>,
) -> Artifact {
    let mut evidence = evidence(solution);
    let servers = evidence.servers.iter_mut().zip(&solution.mixes);
    for ((server, mix), shape) in servers.zip(fleet.shapes()) {
        let own = |all: &Schedule| shape.types().iter().map(|i| all[*i]).collect();
        server.mix = Some(Mix {
            schedules: mix.schedules.iter().map(own).collect(),
            weights: mix.weights.clone(),
        });
    }
    // With gangs, the load is only a lower bound.
    let is_claimed = evidence.proven && fleet.gangs().next().is_none();
    let load = is_claimed.then(|| claims::load(fleet.envelope(), evidence.load));
    let all = load.into_iter().chain(own).collect();
    Artifact::new(fleet.record(), policy, all, evidence)
}

/// Returns the fractions in the form of the policy file, or `None` if they are too long.
fn record(exact: &ExactLoad) -> Option<ExactRecord> {
    let fractions = |all: &Vec<BigRational>| -> Option<Vec<Fraction>> {
        all.iter().cloned().map(Fraction::new).collect()
    };
    let (proven, prices) = match &exact.prices {
        Some(prices) => (Proven::Optimum, Some(fractions(prices)?)),
        None => (Proven::Mix, None),
    };
    let record = ExactRecord {
        load: Fraction::new(exact.load.clone())?,
        weights: fractions(&exact.weights)?,
        proven,
        prices,
    };
    (record.digits() <= MAX_DIGITS).then_some(record)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::program::SolveLimits;
    use std::time::Duration;

    #[test]
    fn exact_proof_replaces_an_unproven_one() {
        let workload = crate::tests::model("section7");
        let sound = program::solve(&workload, &SolveLimits::default()).unwrap();
        let exact = program::exact(&workload, &sound, 1_000_000).unwrap();
        let limits = SolveLimits {
            time: Duration::ZERO,
            ..SolveLimits::default()
        };
        let mut solution = program::solve(&workload, &limits).unwrap();
        assert!(!solution.certificate.proven());
        adopt(&workload, exact.clone(), &mut solution);
        let certificate = &solution.certificate;
        assert!(certificate.proven() && certificate.gap() == 0.0);
        let prices: Vec<f64> = exact.prices.unwrap().iter().map(nearest).collect();
        assert_eq!(certificate.prices, prices);
        for (job_type, y) in workload.types().iter().zip(&prices) {
            let prices = &certificate.servers[0].resource_prices;
            let pairs = job_type.units().iter().zip(prices);
            let cost: f64 = pairs.map(|(d, w)| *d as f64 * w).sum();
            assert!(cost >= y / job_type.offered_load() * (1.0 - 1e-12));
        }
    }
}
