//! The knobs of TDC, and what is said of it.

use super::Tdc;
use crate::multiresource::artifact::{TdcKnobs, TdcOrder, TdcPolicy};
use crate::multiresource::policy::{FamilyRule, KnobRange, along};
use crate::multiresource::workload::Workload;

const EXPONENT: [f64; 12] = [
    0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0,
];
const FAVOUR: [f64; 9] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0];
const RESERVE: [f64; 11] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2];
const MARGIN: [f64; 11] = [0.0, 0.02, 0.04, 0.07, 0.1, 0.2, 0.4, 0.8, 1.5, 2.5, 4.0];
const LET_IN: [f64; 11] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0, 16.0];
const LASTS: [f64; 11] = [0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0];

impl FamilyRule for TdcPolicy {
    type Rule = Tdc;

    fn rule(&self, workload: &Workload) -> Tdc {
        Tdc::new(self, workload)
    }

    fn work(&self, workload: &Workload) -> f64 {
        6.0 + 0.15 * (workload.types().len() as f64).powi(2)
    }

    fn words(&self, _: &Workload) -> String {
        let TdcKnobs {
            exponent,
            favour,
            reserve,
            margin,
            let_in,
            patience,
            order,
        } = self.knobs;
        let first = match order {
            TdcOrder::Worth => "those of the most urgent type first",
            TdcOrder::Age => "the oldest first",
        };
        format!(
            "TDC (targets, drain, commitment), without preemption: of the sets of jobs that might run it goes to the one that earns most a time, the way there included. A job in service earns its price times the {exponent}th power of the number of its type in the system (exponent), less for large and long jobs (favour {favour}). A set counts for {patience} times as long as the jobs that room is made for last (patience), and another one has to be better by {:.0} % (margin). Jobs start, {first}, if they leave room for {reserve} times what shorter ones bring while they run (reserve), or room is made for them; during a drain, if their mean size is at most {let_in} times what is left of it (let in).",
            100.0 * margin
        )
    }

    fn axes(&self, _: &KnobRange<'_>) -> usize {
        7
    }

    fn stepped(&self, axis: usize, up: bool, _: &KnobRange<'_>) -> Option<Self> {
        let mut stepped = self.clone();
        let knobs = &mut stepped.knobs;
        match axis {
            0 => knobs.reserve = along(&RESERVE, knobs.reserve, up)?,
            1 => knobs.let_in = along(&LET_IN, knobs.let_in, up)?,
            2 => knobs.patience = along(&LASTS, knobs.patience, up)?,
            3 => knobs.exponent = along(&EXPONENT, knobs.exponent, up)?,
            4 => knobs.favour = along(&FAVOUR, knobs.favour, up)?,
            5 => knobs.margin = along(&MARGIN, knobs.margin, up)?,
            _ => {
                knobs.order = match (knobs.order, up) {
                    (TdcOrder::Worth, true) => TdcOrder::Age,
                    (TdcOrder::Age, false) => TdcOrder::Worth,
                    _ => return None,
                }
            }
        }
        Some(stepped)
    }
}
