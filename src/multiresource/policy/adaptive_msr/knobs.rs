//! The knobs of adaptive MSR, and what is said of it.

use super::AdaptiveMsr;
use crate::multiresource::artifact::{AdaptiveMsrPolicy, Switching};
use crate::multiresource::policy::{FamilyRule, KnobRange, along, has_lengths};
use crate::multiresource::workload::Workload;

const WASTE: [f64; 11] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.65, 0.8, 0.95];
const MARGIN: [f64; 6] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0];
const FLOOR: [f64; 16] = [
    0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 36.0, 60.0, 100.0, 160.0, 250.0, 500.0, 1e3, 4e3, 1e5,
];
const PATIENCE: [f64; 12] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0, 16.0, 1e6];
const DRAIN: [f64; 10] = [0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];
const LET_IN: [f64; 10] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0];

impl FamilyRule for AdaptiveMsrPolicy {
    type Rule = AdaptiveMsr;

    fn rule(&self, workload: &Workload) -> AdaptiveMsr {
        AdaptiveMsr::new(self, workload)
    }

    fn work(&self, workload: &Workload) -> f64 {
        0.3 + 0.12 * workload.types().len() as f64
    }

    fn words(&self, _: &Workload) -> String {
        let Switching {
            waste,
            margin,
            floor,
            patience,
            drain,
            let_in,
        } = self.switching;
        let ready = match drain > 0.0 {
            true => format!(
                "; a schedule weighs less by F/(F + {drain} D), where room for what it lacks most takes D and its jobs last for F (drain)"
            ),
            false => " and can start a job at once".into(),
        };
        let beside = match let_in > 0.0 {
            true if self.limits => format!(
                ", or they fit beside all of the schedule, or their limit is at most {let_in} times what is left of the wait by the limits of those that run (let in)"
            ),
            true => format!(
                ", or they fit beside all of the schedule, or their mean size is at most {let_in} times what is left of the wait (let in)"
            ),
            false => String::new(),
        };
        format!(
            "Adaptive MSR, without preemption: it works on one schedule of the mix below at a time. It leaves it for the schedule that weighs most by queue lengths when the present one uses no more than {:.0} % of what it could (waste), or when the other weighs more than {} times as much plus {floor} jobs (margin, floor){ready}. While jobs of the schedule wait for room, others start only if what would stay idle weighs less than {patience} jobs (patience){beside}.",
            100.0 * waste,
            1.0 + margin
        )
    }

    fn axes(&self, range: &KnobRange<'_>) -> usize {
        match self.limits || has_lengths(range.workload) {
            true => 6,
            false => 4,
        }
    }

    fn stepped(&self, axis: usize, up: bool, _: &KnobRange<'_>) -> Option<Self> {
        let mut stepped = self.clone();
        let Switching {
            waste,
            margin,
            floor,
            patience,
            drain,
            let_in,
        } = &mut stepped.switching;
        match axis {
            0 => *floor = along(&FLOOR, *floor, up)?,
            1 => *patience = along(&PATIENCE, *patience, up)?,
            2 => *margin = along(&MARGIN, *margin, up)?,
            3 => *waste = along(&WASTE, *waste, up)?,
            4 => *drain = along(&DRAIN, *drain, up)?,
            _ => *let_in = along(&LET_IN, *let_in, up)?,
        }
        Some(stepped)
    }
}
