//! What can be turned at a policy of each family, in steps.

use crate::multiresource::artifact::{Family, MsrPolicy, StaticQuickswapPolicy, Switching};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

const WASTE: [f64; 11] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.65, 0.8, 0.95];
const MARGIN: [f64; 6] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
const FLOOR: [f64; 16] = [
    0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 36.0, 60.0, 100.0, 160.0, 250.0, 500.0, 1e3, 4e3, 1e5,
];
const PATIENCE: [f64; 12] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0, 16.0, 1e6];

/// A step of the switching rate.
const RATE: f64 = 1.5;

/// The knobs of policies for one workload.
pub(super) struct Knobs<'a> {
    workload: &'a Workload,
    /// The most jobs of each type that fit.
    most: Vec<u32>,
    /// Supremum of the stable switching rates \[1/time\].
    largest_rate: f64,
    /// Types of which several fit, those with most work first.
    several: Vec<usize>,
}

impl<'a> Knobs<'a> {
    pub fn new(workload: &'a Workload, largest_rate: f64) -> Self {
        let packing = Packing::new(workload);
        let types = 0..packing.types();
        let most: Vec<u32> = types
            .clone()
            .map(|i| packing.most(i, packing.capacity()))
            .collect();
        let shares = workload.load_shares();
        let mut several: Vec<usize> = types.filter(|i| most[*i] > 1).collect();
        several.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        Knobs {
            workload,
            most,
            largest_rate,
            several,
        }
    }

    /// How many knobs the policy has.
    pub fn axes(&self, policy: &Family) -> usize {
        match policy {
            Family::Msr(_) => 1,
            // Overlap, all thresholds together, each of them, each two that follow each other.
            Family::StaticQuickswap(policy) => 1 + self.several.len() + policy.cycle.len(),
            Family::AdaptiveMsr(_) => 4,
            Family::AdaptiveQuickswap(_) | Family::Optimal(_) => 0,
        }
    }

    /// The policy with one knob a step up or down; none at its end.
    pub fn step(&self, policy: &Family, axis: usize, up: bool) -> Option<Family> {
        match policy {
            Family::Msr(policy) => self.faster(policy, up).map(Family::Msr),
            Family::StaticQuickswap(policy) => {
                let stepped = self.turns(policy, axis, up);
                stepped.map(Family::StaticQuickswap)
            }
            Family::AdaptiveMsr(policy) => {
                let mut stepped = policy.clone();
                let Switching {
                    waste,
                    margin,
                    floor,
                    patience,
                } = &mut stepped.switching;
                match axis {
                    0 => *floor = along(&FLOOR, *floor, up)?,
                    1 => *patience = along(&PATIENCE, *patience, up)?,
                    2 => *margin = along(&MARGIN, *margin, up)?,
                    _ => *waste = along(&WASTE, *waste, up)?,
                }
                Some(Family::AdaptiveMsr(stepped))
            }
            Family::AdaptiveQuickswap(_) | Family::Optimal(_) => None,
        }
    }

    fn faster(&self, policy: &MsrPolicy, up: bool) -> Option<MsrPolicy> {
        let factor = if up { RATE } else { 1.0 / RATE };
        let switching_rate = policy.switching_rate * factor;
        (policy.order.len() > 1 && switching_rate < 0.98 * self.largest_rate).then(|| MsrPolicy {
            switching_rate,
            ..policy.clone()
        })
    }

    fn turns(
        &self,
        policy: &StaticQuickswapPolicy,
        axis: usize,
        up: bool,
    ) -> Option<StaticQuickswapPolicy> {
        let mut stepped = policy.clone();
        let turned = |i: usize, l: u32| match up {
            true => (2 * l + 1).min(self.most[i] - 1),
            false => l / 2,
        };
        match axis {
            0 => stepped.overlap = up,
            1 => {
                let thresholds = stepped.thresholds.iter_mut().enumerate();
                thresholds.for_each(|(i, l)| *l = turned(i, *l));
            }
            axis if axis - 2 < self.several.len() => {
                let i = self.several[axis - 2];
                stepped.thresholds[i] = turned(i, stepped.thresholds[i]);
            }
            axis if up => {
                let place = axis - 2 - self.several.len();
                // A cycle of two has one order.
                if self.workload.types().len() < 3 {
                    return None;
                }
                stepped.cycle.swap(place, place + 1);
            }
            _ => return None,
        }
        (stepped != *policy).then_some(stepped)
    }
}

/// The next value of a grid.
fn along(grid: &[f64], value: f64, up: bool) -> Option<f64> {
    let mut grid = grid.iter().copied();
    match up {
        true => grid.find(|x| *x > value),
        false => grid.rfind(|x| *x < value),
    }
}
