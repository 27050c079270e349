//! Reserving: First-Fit with a reservation that opens when it is worth the drain.

use super::backfill::BackfillRule;
use super::drain::prices;
use super::rule::{LET_IN, PolicyConfig, TuningContext, settings_in_words};
use super::{Event, Knows, Policy, System, check};
use crate::workload::{Fleet, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synth_core::artifact::Findings;

/// First-Fit with one reservation at a time, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReservingConfig {
    /// What a running job of each type is worth (K): nonnegative.
    pub prices: Vec<f64>,
    /// c: a reservation opens for a type when the work of it that waits is worth so many times what the
    /// drain for it wastes: ≥ 0.
    pub worth: f64,
    /// h: jobs of the type go on taking each other's places, until so many times the work that waits of it waits
    /// of another type with a reservation: ≥ 0.
    pub exhaust: f64,
    /// κ: meanwhile jobs start whose mean size is at most this part of what is left of the drain: ≥ 0.
    pub let_in: f64,
    /// Whether that is by the limits of jobs instead of their mean sizes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

impl PolicyConfig for ReservingConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Reserving::new(self, fleet.envelope()))
    }

    fn words(&self, _: &Workload) -> String {
        format!(
            "First-Fit with a reservation, without preemption: the oldest waiting job that fits starts. Where the waiting work of a type that does not fit is worth {} times what is wasted until it does, room is kept for one job of it (worth); until that starts, others start that fit beside it, or whose {} is at most {} times what is left of the wait (let in). Then jobs of that type take the places of those that end, until {} times as much work waits of another type with a reservation (exhaust).",
            self.worth,
            if self.limits { "limit" } else { "mean size" },
            self.let_in,
            self.exhaust
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let types = fleet.types().len();
        findings.all_nonnegative("prices", &self.prices, types, "job type");
        check::numbers(self, &[], findings);
    }

    fn needs_limits(&self) -> bool {
        self.limits
    }

    fn added_work(&self, workload: &Workload) -> f64 {
        0.4 + 0.02 * (workload.types().len() as f64).powi(2)
    }

    fn knobs_in_words(&self, _: &Workload) -> Option<String> {
        settings_in_words(self)
    }

    fn grids(&mut self, _: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        vec![
            (&mut self.worth, WORTH),
            (&mut self.exhaust, EXHAUST),
            (&mut self.let_in, LET_IN),
        ]
    }
}

const WORTH: &[f64] = &[
    0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 16.0,
];
const EXHAUST: &[f64] = &[1.0, 2.0, 4.0, 8.0, 20.0, 100.0, 1e6];

/// First-Fit with one reservation at a time, without preemption.
///
/// Of the types that do not fit, those may have a reservation whose waiting work is worth c times what
/// would be wasted until a job of theirs fits: `p_i E[S_i] q_i ≥ c W_i`. The drain takes D_i, and
/// `W_i = Σ_k p_k x_k (D_i − E[S_k] (1 − e^{−D_i/E[S_k]}))` over the x_k jobs that leave, but for types that
/// are let in meanwhile, and D_i times the price of the free room. Of several the one with most waiting work has it.
///
/// Until its job starts, others may pass it ([`BackfillRule`]); room is kept for it and the longest running jobs that
/// can stay. Then jobs of its type take the places of those that end, as the drain is paid for:
/// until none waits, or there is a reservation for a type of which h times as much work waits.
///
/// EASY backfilling that knows types instead of sizes, and weighs whether to reserve. O(K) a decision
/// without a reservation, O(K² R) with. Ours; it has no proof of stability.
#[derive(Clone, Debug)]
pub struct Reserving {
    worth: f64,
    exhaust: f64,
    prices: Vec<f64>,
    backfill: BackfillRule,
    /// The type that there is a reservation for.
    reserved: Option<usize>,
    /// The type of the last one, as long as others of it take the place of those that end.
    turn: Option<usize>,
    /// The running jobs that stay.
    staying: Vec<u32>,
}

impl Reserving {
    /// The rule of a policy for this workload.
    pub fn new(policy: &ReservingConfig, workload: &Workload) -> Self {
        Reserving {
            worth: policy.worth,
            exhaust: policy.exhaust,
            prices: prices(&policy.prices, workload),
            backfill: BackfillRule::new(policy.let_in, policy.limits, workload),
            staying: vec![0; workload.types().len()],
            reserved: None,
            turn: None,
        }
    }

    /// The longest running jobs, as long as one of type i fits beside them.
    fn keep_beside(&mut self, i: usize, system: &System) {
        self.backfill.keep_nothing();
        self.backfill.keep(i, 1);
        for n in 0..self.staying.len() {
            let k = self.backfill.drains.longest[n];
            self.staying[k] = self.backfill.keep(k, system.running(k).into());
        }
    }

    /// The work of type i that waits.
    fn waits(&self, i: usize, system: &System) -> f64 {
        self.prices[i] * self.backfill.drains.means[i] * f64::from(system.waiting(i))
    }

    /// What is wasted until one more job of type i fits, if those that would be let in keep their room in use.
    fn wasted(&mut self, i: usize, system: &System) -> f64 {
        self.keep_beside(i, system);
        let BackfillRule { drains, let_in, .. } = &mut self.backfill;
        let drain = drains.wait(i, &self.staying, 0.0, system);
        let mut in_use = 0.0;
        let mut wasted = 0.0;
        for (k, price) in self.prices.iter().enumerate() {
            let running = f64::from(system.running(k));
            let leave = running - f64::from(self.staying[k]);
            in_use += price * running;
            if drains.means[k] > *let_in * drain {
                wasted += price * leave * (drain - drains.works(k, drain));
            }
        }
        wasted + (1.0 - in_use).max(0.0) * drain
    }

    /// Opens a reservation, if one is worth it: of those where most work waits.
    fn reserve(&mut self, system: &System) {
        let mut most = self
            .turn
            .map_or(0.0, |turn| self.exhaust * self.waits(turn, system));
        for i in 0..self.prices.len() {
            if system.waiting(i) > 0 && !system.fits(i) {
                let waits = self.waits(i, system);
                if waits > most && waits >= self.worth * self.wasted(i, system) {
                    most = waits;
                    (self.reserved, self.turn) = (Some(i), None);
                }
            }
        }
    }

    fn start(&mut self, system: &mut System) {
        if let Some(reserved) = self.reserved
            && (system.waiting(reserved) == 0 || system.fits(reserved))
        {
            self.reserved = None;
            if system.waiting(reserved) > 0 {
                self.backfill.start(reserved, system);
                system.count_switch();
                self.turn = Some(reserved);
            }
        }
        let Some(reserved) = self.reserved else {
            // A server that is full has the least to lose by a drain.
            self.backfill.start_all_that_fit(system);
            return self.reserve(system);
        };
        self.keep_beside(reserved, system);
        while self.backfill.pass(reserved, &self.staying, system) {
            self.keep_beside(reserved, system);
        }
    }
}

impl Policy for Reserving {
    fn knows(&self) -> Knows {
        self.backfill.knows()
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.backfill.look(event, system);
        if let (Some(turn), Event::Completion(i)) = (self.turn, event)
            && turn == i
        {
            if system.waiting(i) > 0 && system.fits(i) {
                self.backfill.start(i, system)
            } else {
                self.turn = None
            }
        }
        // One more behind others of its type changes little: it is weighed at the next completion.
        if matches!(event, Event::Arrival(i) if system.waiting(i) > 1) {
            return;
        }
        self.start(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.backfill.take_over(system);
        self.react(Event::Clock(usize::MAX), system);
    }

    fn doing(&self, names: &[&str], _: &System) -> Option<String> {
        let name = names[self.reserved?];
        Some(format!(
            "room is kept for the oldest job of {name}: others start beside it, or are so short that they pass"
        ))
    }

    /// Whether there is a reservation is weighed anew: its job may have gone, or others have its room.
    fn changed(&mut self, system: &mut System) {
        (self.reserved, self.turn) = (None, None);
        self.take_over(system);
    }
}
