use super::backfill::BackfillRule;
use super::drain::prices;
use super::rule::{LET_IN, PolicyConfig, TuningContext, describe_settings};
use super::{Event, Information, Policy, System, check};
use crate::workload::{Fleet, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synth_core::artifact::Findings;

/// First-fit with at most one reservation at a time, without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReservingConfig {
    /// The value of a running job of each type (length K), which must not be negative.
    pub prices: Vec<f64>,
    /// The factor `c`, at least 0. A type gets a reservation if the value of its waiting work is at
    /// least `c` times the cost of the drain.
    pub worth: f64,
    /// The factor `h`, at least 0. The jobs of a type replace each other until another type with a
    /// reservation has `h` times as much waiting work.
    pub exhaust: f64,
    /// The factor `κ`, at least 0. During a drain, a job can start if its mean size is at most `κ`
    /// times the remaining time of the drain.
    pub let_in: f64,
    /// If `true`, `κ` is used for the limits of jobs instead of their mean sizes, and the remaining
    /// time is also based on limits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits: bool,
}

impl PolicyConfig for ReservingConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Reserving::new(self, fleet.envelope()))
    }

    fn describe(&self, _: &Workload) -> String {
        format!(
            "First-fit with a reservation, without preemption: the oldest waiting job that fits is started. If a type does not fit, and the value of its waiting work is at least {} times the value of the capacity that is not used while waiting for it, capacity is reserved for one job of this type (worth). Until this job is started, another job can start if it fits next to it, or if its {} is at most {} times the remaining waiting time (let in). After that, each job of this type that ends is replaced by another one, until another type with a reservation has {} times as much waiting work (exhaust).",
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

    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        0.4 + 0.02 * (workload.types().len() as f64).powi(2)
    }

    fn describe_parameters(&self, _: &Workload) -> Option<String> {
        describe_settings(self)
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

/// First-fit with at most one reservation at a time, without preemption.
///
/// A type that does not fit can get a reservation if the value of its waiting work is at least `c`
/// times the value that is lost until one of its jobs fits: `p_i E[S_i] q_i ≥ c W_i`. With `D_i` as
/// the time of the drain, this is `W_i = Σ_k p_k x_k (D_i − E[S_k] (1 − e^{−D_i/E[S_k]}))` over the
/// `x_k` jobs that leave, without the types that can start during the drain, plus `D_i` times the
/// price of the free capacity. Of several such types, the one with the most waiting work gets it.
/// Until its job is started, other jobs can pass it ([`BackfillRule`]), next to the capacity for
/// the job and for the longest running jobs that can stay. After that, a job of this type that ends
/// is replaced by another one, because the drain has already been paid for, until none is waiting
/// or another type with a reservation has `h` times as much waiting work.
/// This is similar to EASY backfilling, but it uses types instead of sizes and only makes a
/// reservation if it is worth the cost. A decision takes `O(K)`, or `O(K² R)` with a reservation.
/// This rule was created for this project. No proof of its stability is known.
#[derive(Clone, Debug)]
pub struct Reserving {
    worth: f64,
    exhaust: f64,
    prices: Vec<f64>,
    backfill: BackfillRule,
    reserved: Option<usize>,
    /// The type of the last reservation, while its jobs replace each other.
    turn: Option<usize>,
    staying: Vec<u32>,
}

impl Reserving {
    pub(super) fn new(policy: &ReservingConfig, workload: &Workload) -> Self {
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

    fn keep_with(&mut self, i: usize, system: &System) {
        self.backfill.keep_nothing();
        self.backfill.keep(i, 1);
        for n in 0..self.staying.len() {
            let k = self.backfill.drains.longest[n];
            self.staying[k] = self.backfill.keep(k, system.running(k).into());
        }
    }

    fn waits(&self, i: usize, system: &System) -> f64 {
        self.prices[i] * self.backfill.drains.means[i] * f64::from(system.waiting(i))
    }

    fn wasted(&mut self, i: usize, system: &System) -> f64 {
        self.keep_with(i, system);
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

    fn reserve(&mut self, system: &System) {
        let of_turn = |turn| self.exhaust * self.waits(turn, system);
        let mut most = self.turn.map_or(0.0, of_turn);
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
            // If the server is full, the cost of a reservation is as low as possible.
            self.backfill.start_all_that_fit(system);
            return self.reserve(system);
        };
        self.keep_with(reserved, system);
        let backfill = |own: &mut Self, system: &mut System| {
            own.backfill.start_one_past(reserved, &own.staying, system)
        };
        while backfill(self, system) {
            self.keep_with(reserved, system);
        }
    }
}

impl Policy for Reserving {
    fn information(&self) -> Information {
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
        // A job behind other jobs of its type changes little: it is checked at the next completion.
        if matches!(event, Event::Arrival(i) if system.waiting(i) > 1) {
            return;
        }
        self.start(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.backfill.take_over(system);
        self.decide(system);
    }

    fn describe_state(&self, names: &[&str], _: &System) -> Option<String> {
        let name = names[self.reserved?];
        Some(format!(
            "keeps capacity for the oldest job of {name}; other jobs can start if they fit next to it or if they are short enough"
        ))
    }

    fn changed(&mut self, system: &mut System) {
        (self.reserved, self.turn) = (None, None);
        self.take_over(system);
    }
}
