//! What is known of each family of policies beyond its shape in the artifact: its rule, the work of a decision, whether
//! it is proved to be stable, and how tuning turns its knobs. A new family has its rows here, in [`words`](super::words)
//! and in the table of families.

use super::max_weight::few_maximal;
use super::server_filling::fills;
use super::{
    AdaptiveMsr, AdaptiveQuickswap, Backfilling, Estimates, Guarded, MaxWeight, MaxWeightSetups,
    Msr, Partition, Policy, Pooled, Reserving, ServerFilling, StaticQuickswap, tdc, time_of_turns,
};
use crate::artifact::{Family, MaxWeightPolicy, StaticQuickswapPolicy, TdcOrder};
use crate::schedule::Packing;
use crate::workload::{Fleet, JobType, Workload};

impl Family {
    /// Returns the online rule of this policy, which has been checked against its servers.
    pub fn rule(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let (workload, servers) = (fleet.envelope(), fleet.servers());
        match self {
            Family::FirstFit(_) => Backfilling::FIRST_FIT.rule(workload, servers),
            Family::MostServersFirst(_) => Backfilling::MOST_SERVERS_FIRST.rule(workload, servers),
            Family::LeastServersFirst(_) => {
                Backfilling::LEAST_SERVERS_FIRST.rule(workload, servers)
            }
            Family::EasyByMean(_) => Backfilling::easy(Estimates::Means).rule(workload, servers),
            Family::EasyBackfill(_) => Backfilling::easy(Estimates::Limits).rule(workload, servers),
            Family::Msr(policy) => Box::new(Msr::new(policy, workload)),
            Family::StaticQuickswap(policy) => Box::new(StaticQuickswap::new(policy, workload)),
            Family::AdaptiveQuickswap(_) => Box::new(AdaptiveQuickswap::new(workload)),
            Family::AdaptiveMsr(policy) => Box::new(AdaptiveMsr::new(policy, workload)),
            Family::Reserving(policy) => Box::new(Reserving::new(policy, workload)),
            Family::Tdc(policy) => tdc::rule(policy, workload),
            Family::MaxWeight(policy) => Box::new(MaxWeight::weighted(workload, policy)),
            Family::MaxWeightSetup(policy) => Box::new(MaxWeightSetups::new(policy, workload)),
            Family::ServerFilling(_) => {
                let rule = ServerFilling::new(workload);
                Box::new(rule.expect("the policy was checked: there is one resource"))
            }
            Family::Pooled(policy) => Pooled::rule(policy, fleet),
            Family::PooledEasy(policy) => {
                let estimates = match policy.limits {
                    false => Estimates::Means,
                    true if workload.has_limits() => Estimates::Limits,
                    // Limits are sizes where nothing is said.
                    true => Estimates::Inflated(1.0),
                };
                Backfilling::easy(estimates).rule(workload, servers)
            }
            Family::Partition(policy) => Box::new(Partition::new(policy, fleet)),
            Family::Guarded(policy) => Box::new(Guarded::new(policy, fleet)),
        }
    }

    /// Whether a policy that synth made for this workload is known to be stable there.
    pub fn is_proved_stable(&self, workload: &Workload) -> bool {
        let is_memoryless = || workload.types().iter().all(JobType::is_memoryless);
        match self {
            // By the loads ρ_i < 1, independent of each other.
            Family::Msr(_) => is_memoryless(),
            Family::Partition(_) => is_memoryless() && workload.is_poisson(),
            // By the Lyapunov function, where the maximum is found: a search that was cut short may miss it.
            Family::MaxWeight(_) => {
                let is_markovian = is_memoryless() && workload.is_poisson();
                is_markovian && few_maximal(&Packing::new(workload)).is_some()
            }
            Family::ServerFilling(_) => fills(workload),
            Family::StaticQuickswap(policy) => !policy.overlap && time_of_turns(workload) < 1.0,
            Family::Guarded(policy) => {
                let guard = Family::from(policy.guard.clone());
                workload.is_poisson() && guard.is_proved_stable(workload)
            }
            _ => false,
        }
    }

    /// Returns the work of an event under the policy, in those of First-Fit with few types, some 70 ns each: by what was
    /// measured once, and the same on each machine.
    pub fn work(&self, workload: &Workload) -> f64 {
        let types = workload.types().len() as f64;
        let own = match self {
            Family::EasyByMean(_) | Family::EasyBackfill(_) => 2.0,
            Family::Msr(_) => 0.3 * types.powi(2),
            Family::AdaptiveQuickswap(_) => 0.1,
            Family::AdaptiveMsr(_) => 0.3 + 0.12 * types,
            Family::Reserving(_) => 0.4 + 0.02 * types.powi(2),
            Family::Tdc(_) => 6.0 + 0.15 * types.powi(2),
            Family::MaxWeight(_) => max_weight_work(workload),
            Family::MaxWeightSetup(_) => 1.0 + max_weight_work(workload),
            // A job leaves from the middle of those that run: where these are 30 000 a decision takes 35 times as long
            // as one of First-Fit.
            Family::ServerFilling(_) => {
                let running: f64 = workload.types().iter().map(|t| t.offered_load()).sum();
                running / 900.0
            }
            _ => 0.0,
        };
        (0.8 + 0.07 * types).max(1.0) + own
    }

    /// Returns the knobs that are turned along a grid, the first to be tuned first.
    fn on_grids(&mut self) -> Vec<(&mut f64, &'static [f64])> {
        match self {
            Family::AdaptiveMsr(policy) => {
                let knobs = &mut policy.switching;
                vec![
                    (&mut knobs.floor, FLOOR),
                    (&mut knobs.patience, PATIENCE),
                    (&mut knobs.margin, MARGIN),
                    (&mut knobs.waste, WASTE),
                    (&mut knobs.drain, DRAIN),
                    (&mut knobs.let_in, LET_IN),
                ]
            }
            Family::Reserving(policy) => vec![
                (&mut policy.worth, WORTH),
                (&mut policy.exhaust, EXHAUST),
                (&mut policy.let_in, LET_IN),
            ],
            Family::Tdc(policy) => {
                let knobs = &mut policy.knobs;
                vec![
                    (&mut knobs.reserve, TDC_RESERVE),
                    (&mut knobs.let_in, TDC_LET_IN),
                    (&mut knobs.patience, TDC_PATIENCE),
                    (&mut knobs.exponent, TDC_EXPONENT),
                    (&mut knobs.favour, TDC_FAVOUR),
                    (&mut knobs.margin, TDC_MARGIN),
                ]
            }
            Family::MaxWeight(policy) => vec![(&mut policy.exponent, EXPONENTS)],
            Family::MaxWeightSetup(policy) => vec![
                (&mut policy.eagerness, EAGERNESS),
                (&mut policy.haste, HASTE),
                (&mut policy.weights.exponent, EXPONENTS),
            ],
            Family::Pooled(policy) => {
                // Where nothing is reserved nothing is turned.
                let grid: &[f64] = if policy.reserve > 0.0 { RESERVES } else { &[] };
                vec![(&mut policy.reserve, grid)]
            }
            _ => Vec::new(),
        }
    }

    /// Returns how many knobs tuning can turn.
    pub fn axes(&self, range: &KnobRange<'_>) -> usize {
        let others = match self {
            // Drains are priced where lengths differ.
            Family::AdaptiveMsr(policy) if !policy.limits && !has_lengths(range.workload) => {
                return 4;
            }
            Family::Msr(_) | Family::Tdc(_) => 1,
            Family::StaticQuickswap(policy) => 1 + range.several.len() + policy.cycle.len(),
            Family::MaxWeight(policy) => worth_axes(policy),
            Family::MaxWeightSetup(policy) => worth_axes(&policy.weights),
            Family::Pooled(policy) => policy.zone.as_ref().map_or(0, |_| range.servers.len()),
            _ => 0,
        };
        self.clone().on_grids().len() + others
    }

    /// Returns the policy with one knob a step up or down; `None` at its end.
    pub fn stepped(&self, axis: usize, up: bool, range: &KnobRange<'_>) -> Option<Family> {
        let mut stepped = self.clone();
        let mut grids = stepped.on_grids();
        if axis < grids.len() {
            let (value, grid) = grids.swap_remove(axis);
            *value = along(grid, *value, up)?;
            return Some(stepped);
        }
        let axis = axis - grids.len();
        match &mut stepped {
            Family::Msr(policy) => {
                policy.switching_rate *= if up { RATE } else { 1.0 / RATE };
                let is_stable = policy.switching_rate < 0.98 * range.largest_rate;
                (policy.order.len() > 1 && is_stable).then_some(())?;
            }
            Family::StaticQuickswap(policy) => {
                step_turns(policy, axis, up, range)?;
                (stepped != *self).then_some(())?;
            }
            Family::Tdc(policy) => {
                policy.knobs.order = match (policy.knobs.order, up) {
                    (TdcOrder::Worth, true) => TdcOrder::Age,
                    (TdcOrder::Age, false) => TdcOrder::Worth,
                    _ => return None,
                }
            }
            Family::MaxWeight(policy) => step_worths(policy, axis, up, range)?,
            Family::MaxWeightSetup(policy) => step_worths(&mut policy.weights, axis, up, range)?,
            Family::Pooled(policy) => {
                let zone = policy.zone.as_mut()?;
                let (own, all) = (&mut zone.servers[axis], range.servers[axis]);
                let step = (all / 50).max(1);
                *own = if up {
                    Some(*own + step).filter(|more| *more <= all)?
                } else {
                    own.checked_sub(step)?
                };
                (zone.servers.iter().sum::<u32>() > 0).then_some(())?;
            }
            _ => return None,
        }
        Some(stepped)
    }
}

/// Counts that MaxWeight scans in the time that a simple rule takes for a decision, and how many times as long branch
/// and bound takes.
const SCANNED: f64 = 1_500.0;
const BOUNDED: f64 = 20.0;

fn max_weight_work(workload: &Workload) -> f64 {
    let types = workload.types().len();
    match few_maximal(&Packing::new(workload)) {
        Some(schedules) => (schedules.len() * types) as f64 / SCANNED,
        None => BOUNDED + types as f64 / 4.0,
    }
}

const WASTE: &[f64] = &[0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.65, 0.8, 0.95];
const MARGIN: &[f64] = &[0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
const FLOOR: &[f64] = &[
    0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 36.0, 60.0, 100.0, 160.0, 250.0, 500.0, 1e3, 4e3, 1e5,
];
const PATIENCE: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0, 16.0, 1e6];
const DRAIN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];
const LET_IN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0];
const WORTH: &[f64] = &[
    0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0,
];
const EXHAUST: &[f64] = &[1.0, 2.0, 4.0, 8.0, 20.0, 100.0, 1e6];
const TDC_EXPONENT: &[f64] = &[
    0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0,
];
const TDC_FAVOUR: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0];
const TDC_RESERVE: &[f64] = &[0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2];
const TDC_MARGIN: &[f64] = &[0.0, 0.02, 0.04, 0.07, 0.1, 0.2, 0.4, 0.8, 1.5, 2.5, 4.0];
const TDC_LET_IN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0, 16.0];
const TDC_PATIENCE: &[f64] = &[0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0];
const EXPONENTS: &[f64] = &[
    0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0, 1.25, 1.5, 2.0,
];
const EAGERNESS: &[f64] = &[0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0];
const HASTE: &[f64] = &[0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 3.0];
const RESERVES: &[f64] = &[0.3, 0.5, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0];

/// A step of the switching rate.
const RATE: f64 = 1.5;

/// How much a type's worth changes in a step: by its service rate, and alone. Worths are turned one by one of a few
/// types only.
const SPEED: f64 = 0.125;
const ALONE: f64 = 1.25;
const FEW_TYPES: usize = 8;

/// The next value of a grid.
fn along(grid: &[f64], value: f64, up: bool) -> Option<f64> {
    let mut grid = grid.iter().copied();
    if up {
        return grid.find(|x| *x > value);
    }
    grid.rfind(|x| *x < value)
}

/// All worths by service rates, and each alone.
fn worth_axes(policy: &MaxWeightPolicy) -> usize {
    let types = policy.worths.len();
    1 + if types <= FEW_TYPES { types } else { 0 }
}

fn step_worths(
    policy: &mut MaxWeightPolicy,
    axis: usize,
    up: bool,
    range: &KnobRange<'_>,
) -> Option<()> {
    let types = range.workload.types();
    let sign = if up { 1.0 } else { -1.0 };
    *policy = match axis {
        0 if !has_lengths(range.workload) => return None,
        0 => policy.times(types.iter().map(|t| t.service_rate().powf(sign * SPEED))),
        _ => {
            let own = |i: usize| if i + 1 == axis { ALONE.powf(sign) } else { 1.0 };
            policy.times((0..types.len()).map(own))
        }
    };
    Some(())
}

/// Overlap, all thresholds together, each of them, each two turns that follow each other.
fn step_turns(
    policy: &mut StaticQuickswapPolicy,
    axis: usize,
    up: bool,
    range: &KnobRange<'_>,
) -> Option<()> {
    let turned = |i: usize, l: u32| {
        if up {
            (2 * l + 1).min(range.most[i] - 1)
        } else {
            l / 2
        }
    };
    match axis {
        0 => policy.overlap = up,
        1 => {
            let thresholds = policy.thresholds.iter_mut().enumerate();
            thresholds.for_each(|(i, l)| *l = turned(i, *l));
        }
        axis if axis - 2 < range.several.len() => {
            let i = range.several[axis - 2];
            policy.thresholds[i] = turned(i, policy.thresholds[i]);
        }
        // A cycle of two has one order.
        axis if up && policy.cycle.len() > 2 => {
            let place = axis - 2 - range.several.len();
            policy.cycle.swap(place, place + 1);
        }
        _ => return None,
    }
    Some(())
}

/// Whether the jobs of some type take longer than those of another, by their means.
pub fn has_lengths(workload: &Workload) -> bool {
    let first = workload.types()[0].mean_size();
    workload.types().iter().any(|t| t.mean_size() != first)
}

/// How far the knobs of policies for one workload can be turned.
pub struct KnobRange<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// The most jobs of each type that fit (K).
    pub most: Vec<u32>,
    /// Supremum of the stable switching rates \[1/time\].
    pub largest_rate: f64,
    /// Types of which several fit, those with most work first.
    pub several: Vec<usize>,
    /// By shape of a fleet, for rules over all of its servers: how many there are.
    pub servers: Vec<u32>,
}

impl<'a> KnobRange<'a> {
    /// Returns the range for this workload, and switching rates below the largest.
    pub fn new(workload: &'a Workload, largest_rate: f64) -> Self {
        let packing = Packing::new(workload);
        let types = 0..packing.types();
        let most: Vec<u32> = types.map(|i| packing.most(i, packing.capacity())).collect();
        let shares = workload.load_shares();
        let mut several: Vec<usize> = (0..most.len()).filter(|i| most[*i] > 1).collect();
        several.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        KnobRange {
            workload,
            most,
            largest_rate,
            several,
            servers: Vec::new(),
        }
    }
}
