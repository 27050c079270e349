use crate::artifact::cost;
use crate::policy::Sharing;
use crate::simulator::{Dividing, execute};
use crate::workload::Pool;

/// A rule that has a tuning parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tunable {
    /// The KNEE rule, whose parameter is the slope.
    Knee,
    /// The heSRPT rule for `s(k) = k^p`, whose parameter is the exponent.
    Power,
}

impl Tunable {
    fn at(self, knob: f64) -> Sharing {
        match self {
            Tunable::Knee => Sharing::Knee(knob.exp()),
            Tunable::Power => Sharing::Power(1.0 / (1.0 + (-knob).exp())),
        }
    }

    /// Returns the initial parameter: for KNEE, about the time that the last server of an equal
    /// share saves for a job of mean size.
    fn typical(self, pool: &Pool) -> f64 {
        match self {
            Tunable::Power => 0.0,
            Tunable::Knee => {
                let jobs = pool.jobs();
                let mean = jobs.iter().map(|job| job.size).sum::<f64>() / jobs.len() as f64;
                let curve = &pool.curves()[0];
                let each = (pool.servers() / jobs.len() as f64).min(curve.cap);
                (mean / (each * curve.at(each))).ln()
            }
        }
    }
}

/// The number of steps in each direction, and their size on a logarithmic scale.
const STEPS: i32 = 24;
const STEP: f64 = 0.7;

/// Returns the rule with the parameter that is best for the objective.
pub fn tuned(pool: &Pool, rule: Tunable) -> Sharing {
    let objective = pool.objective().quantity();
    let cost_of = |knob: f64| {
        let ends = execute(pool, Dividing::Sharing(rule.at(knob)), false).ends;
        let cost = cost(pool, objective, &ends);
        if cost.is_nan() { f64::INFINITY } else { cost }
    };
    let typical = rule.typical(pool);
    let steps = (-STEPS..=STEPS).map(|n| typical + f64::from(n) * STEP);
    let costs = steps.map(|knob| (knob, cost_of(knob)));
    let least = costs.min_by(|a, b| a.1.total_cmp(&b.1));
    let mut found = least.unwrap_or((typical, f64::INFINITY));
    let (mut low, mut high) = (found.0 - STEP, found.0 + STEP);
    for _ in 0..24 {
        let inner = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        let costs = inner.map(cost_of);
        for (knob, cost) in inner.into_iter().zip(costs) {
            if cost < found.1 {
                found = (knob, cost);
            }
        }
        (low, high) = match costs[0] > costs[1] {
            true => (inner[0], high),
            false => (low, inner[1]),
        };
    }
    rule.at(found.0)
}
