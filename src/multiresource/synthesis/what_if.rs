//! The effect of changes of the workload or of the server: what operators ask first.

use super::exact::Settled;
use super::growth;
use super::{Options, PHASE_LIMIT, SynthesisError, all_exponential, policy_of};
use crate::multiresource::analysis::{self, Cost, TypeQueue};
use crate::multiresource::artifact::{
    Crossing, Growth, MoreArrivals, MsrPolicy, Preemption, WhatIf,
};
use crate::multiresource::modulation::Modulation;
use crate::multiresource::program::Solution;
use crate::multiresource::workload::{Fleet, JobType, Workload};

/// Work that goes into these answers at effort 1, roughly in nanoseconds.
const WHAT_IF: f64 = 1e9;

/// Exact evaluations that a coarse tuning of all routes takes, and those that a root takes.
const TUNING: f64 = 60.0;
const ROOT: f64 = 12.0;

/// ln α is found this well where only the objective's value counts, which is flat there.
const COARSE: f64 = 1e-2;

/// Answers what can be answered within the effort; what is left out is absent.
pub(super) fn what_if(
    workload: &Workload,
    options: &Options,
    policy: &MsrPolicy,
    modulation: &Modulation,
    solution: &Solution,
) -> Result<(WhatIf, Growth), SynthesisError> {
    let budget = options.work(WHAT_IF);
    let work = analysis::work(workload, modulation, policy.preemption, budget);
    let question = Question {
        workload,
        options,
        policy,
        modulation,
        solution,
    };
    let affordable = |evaluations: f64| evaluations * work <= budget;
    let now = match affordable(2.0) {
        true => question.cost(),
        false => None,
    };
    let resources = workload.resources().len() as f64;
    let tuned = now.as_ref().filter(|_| affordable(resources * TUNING));
    let memoryless = all_exponential(workload) && workload.is_poisson();
    let free = policy.preemption == Preemption::Full && policy.order.len() > 1;
    let growth = question.growth(tuned);
    let what_if = WhatIf {
        more_arrivals: question.more_arrivals(now.as_ref()),
        more_resource: Vec::new(),
        load_of_twice_the_response: now
            .as_ref()
            .filter(|_| affordable(ROOT))
            .and_then(|now| question.load_of_twice(now)),
        response_at_twice_the_switching_rate: match free && now.is_some() {
            true => question.response_at(2.0 * policy.switching_rate),
            false => None,
        },
        // A comparison of two policies, made only where neither is approximated.
        setups: match now.is_some() && affordable(ROOT * TUNING) && memoryless {
            true => question.setups()?,
            false => None,
        },
    };
    Ok((what_if, growth))
}

struct Question<'a> {
    workload: &'a Workload,
    options: &'a Options,
    policy: &'a MsrPolicy,
    modulation: &'a Modulation,
    solution: &'a Solution,
}

impl Question<'_> {
    fn type_queue(&self, i: usize) -> TypeQueue<'_> {
        TypeQueue::new(self.workload, self.modulation, self.policy.preemption, i)
    }

    fn cost(&self) -> Option<Cost> {
        let preemption = self.policy.preemption;
        analysis::exact(self.workload, self.modulation, preemption, f64::INFINITY).ok()
    }

    fn response_at(&self, rate: f64) -> Option<f64> {
        let modulation = self.modulation.at(rate);
        let preemption = self.policy.preemption;
        let cost = analysis::exact(self.workload, &modulation, preemption, f64::INFINITY);
        Some(cost.ok()?.mean_response(self.workload))
    }

    /// ρ by the type's price; `E[T]` from the type's own queue, since the others do not see it.
    fn more_arrivals(&self, now: Option<&Cost>) -> Vec<MoreArrivals> {
        let certificate = &self.solution.certificate;
        let types = self.workload.types().iter().enumerate();
        let of_type = |(i, job_type): (usize, &JobType)| {
            let response = || {
                let now = now?;
                let number = self
                    .type_queue(i)
                    .busier(1.01)
                    .mean_number(f64::INFINITY)
                    .ok()?;
                let total: f64 = now.numbers.iter().sum();
                let arrivals = self.workload.total_arrival_rate() + 0.01 * job_type.arrival_rate();
                Some((total - now.numbers[i] + number) / arrivals)
            };
            MoreArrivals {
                job_type: job_type.name().into(),
                load: certificate.load * (1.0 + 0.01 * certificate.prices[i]),
                mean_response: response(),
            }
        };
        types.map(of_type).collect()
    }

    /// The program anew for each step that can be bought; and a policy from it, where that can be afforded.
    fn growth(&self, now: Option<&Cost>) -> Growth {
        let now = now.map(|now| now.mean_response(self.workload));
        let fleet = Fleet::from(self.workload.clone());
        growth::growth(&fleet, self.options, |larger, options| {
            let larger = larger.envelope();
            // What fits now fits then.
            let options = Options {
                known: [&options.known[..], &self.policy.schedules].concat(),
                ..options.clone()
            };
            let solution = Settled::in_doubles(larger, &options)?.solution;
            let proof = growth::of_one(&solution);
            let anew = match now {
                Some(now) => Some(now.min(self.anew(larger, &solution)?)),
                None => None,
            };
            Ok((proof, anew))
        })
    }

    /// `E[T]` of a policy made for a larger server, all found that was found here.
    fn anew(&self, larger: &Workload, solution: &Solution) -> Result<f64, SynthesisError> {
        let options = Options {
            route: Some(self.policy.route).filter(|_| self.policy.preemption != Preemption::Full),
            ..self.options.clone()
        };
        let (policy, _) = policy_of(larger, &options, solution, COARSE)?;
        let modulation = Modulation::new(larger, &policy, PHASE_LIMIT)?;
        let most = self.options.work(WHAT_IF / TUNING);
        if analysis::work(larger, &modulation, policy.preemption, most) > most {
            return Ok(f64::INFINITY);
        }
        let cost = analysis::exact(larger, &modulation, policy.preemption, f64::INFINITY);
        Ok(cost.map_or(f64::INFINITY, |cost| cost.mean_response(larger)))
    }

    /// The root of `1/E[T]`, which is nearly linear in the load.
    fn load_of_twice(&self, now: &Cost) -> Option<f64> {
        let twice = 2.0 * now.mean_response(self.workload);
        let loads = self.modulation.loads(self.workload);
        let most = 1.0 / loads.into_iter().fold(0.0, f64::max);
        let speed = |factor: f64| {
            let number = |i| self.type_queue(i).busier(factor).mean_number(f64::INFINITY);
            let numbers: Result<Vec<f64>, _> =
                (0..self.workload.types().len()).map(number).collect();
            let total: f64 = numbers.ok()?.iter().sum();
            Some(factor * self.workload.total_arrival_rate() / total)
        };
        let excess = |factor: f64| match factor < most {
            true => speed(factor).map(|s| s * twice - 1.0),
            false => Some(-1.0),
        };
        let factor = root(excess, (1.0, 1.0), (most, -1.0), 1e-7)?;
        Some(factor * self.solution.certificate.load)
    }

    /// γ from which on setups beat no preemption, both tuned for the objective.
    fn setups(&self) -> Result<Option<Crossing>, SynthesisError> {
        if self.policy.preemption == Preemption::Full || self.policy.order.len() == 1 {
            return Ok(None);
        }
        let tuned = |preemption, setup_rate| -> Result<f64, SynthesisError> {
            let options = Options {
                preemption,
                setup_rate,
                route: None,
                switching_rate: None,
                ..self.options.clone()
            };
            let (_, routes) = policy_of(self.workload, &options, self.solution, COARSE)?;
            let values = routes
                .iter()
                .filter_map(|r| Some(r.outlook.as_ref()?.value));
            Ok(values.fold(f64::INFINITY, f64::min))
        };
        let without_preemption = tuned(Preemption::None, None)?;
        let gain = |ln_rate: f64| {
            let value = tuned(Preemption::Setup, Some(ln_rate.exp())).ok()?;
            Some((value / without_preemption).ln().clamp(-50.0, 50.0))
        };
        let unit = super::mean_size(self.workload);
        let (low, high) = ((1e-3 / unit).ln(), (1e6 / unit).ln());
        let (at_low, at_high) = (gain(low), gain(high));
        let crossing = match (at_low, at_high) {
            (Some(worse), Some(better)) if worse > 0.0 && better < 0.0 => {
                root(gain, (low, worse), (high, better), 1e-3)
            }
            _ => None,
        };
        Ok(Some(Crossing {
            setup_rate: crossing.map(f64::exp),
            without_preemption,
        }))
    }
}

/// A root between two points of opposite sign, by the Illinois variant of regula falsi, to an
/// absolute tolerance; `None` where the function has no value.
fn root(
    function: impl Fn(f64) -> Option<f64>,
    mut a: (f64, f64),
    mut b: (f64, f64),
    tolerance: f64,
) -> Option<f64> {
    for _ in 0..60 {
        let x = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
        let value = function(x)?;
        let moved = (x - b.0).abs();
        if (value > 0.0) == (b.1 > 0.0) {
            a.1 *= 0.5;
        } else {
            a = b;
        }
        b = (x, value);
        if value == 0.0 || moved <= tolerance || (b.0 - a.0).abs() <= tolerance {
            break;
        }
    }
    Some(b.0)
}
