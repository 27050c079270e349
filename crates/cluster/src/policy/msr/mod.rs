//! Markovian Service Rate policies: a clock moves them between working schedules.

mod online;
mod settings;
mod slots;

pub use online::Msr;
#[doc(hidden)]
pub use settings::section_seven;
pub use settings::{Admission, Backfill, Drain, EmptySlots, MsrPolicy, Preemption, Route};

use super::rule::{Rule, TuningContext};
use super::{Policy, check};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::{Findings, positive};

/// A step of the switching rate.
const RATE: f64 = 1.5;

impl Rule for MsrPolicy {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Msr::new(self, fleet.envelope()))
    }

    fn words(&self, workload: &Workload) -> String {
        let way = match self.preemption {
            Preemption::None => {
                "jobs run to their end, and those that the next schedule has no place for are waited for"
            }
            Preemption::Setup => "jobs are preempted, and their room is held for a setup time",
            Preemption::Full => "jobs are preempted at no cost",
        };
        let left = match self.backfill {
            Backfill::None => "",
            Backfill::FirstFit => "; room that is left is offered to other waiting jobs",
        };
        match self.order.len() {
            1 => format!("MSR: one schedule serves all types, and is never left{left}."),
            count => format!(
                "MSR: it works on {count} schedules in turn. A clock ends each after an exponential time, on average after {:.4} {} of work; {way}{left}.",
                1.0 / self.switching_rate,
                workload.time_unit()
            ),
        }
    }

    /// All of a loop that can be said without a look at its round.
    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let count = self.schedules.len();
        check::schedules(&self.schedules, fleet.envelope(), findings);
        check::all_served(&self.schedules, fleet.envelope(), findings);
        findings.positive_shares("weights", &self.weights, count, "schedule");
        findings.permutation("loop", &self.order, count, "schedule");
        positive("switching_rate", self.switching_rate, findings);
        let leaving = |weight: &f64| self.switching_rate / (count as f64 * weight);
        let usable = |rate: f64| rate > 0.0 && rate.is_finite();
        // A rate beyond the range of numbers would make zero or infinite timers.
        if findings.is_clear("") && !self.weights.iter().map(leaving).all(usable) {
            let message = "a schedule would be left at a rate out of the range of numbers";
            findings.add(
                "switching_rate",
                format!("{}: {message}", self.switching_rate),
            );
        }
        match (self.preemption == Preemption::Setup, self.setup_rate) {
            (true, Some(rate)) => positive("setup_rate", rate, findings),
            (true, None) => {
                findings.differs(
                    "setup_rate",
                    "absent",
                    "a rate, since preemption is `setup`",
                );
            }
            (false, Some(rate)) => {
                findings.differs("setup_rate", rate, "none, since preemption is not `setup`");
            }
            (false, None) => {}
        }
    }

    fn preempts(&self) -> bool {
        self.preemption != Preemption::None
    }

    fn setup_rate(&self) -> Option<f64> {
        self.setup_rate
    }

    /// By the loads ρ_i < 1, independent of each other.
    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.types().iter().all(JobType::is_memoryless)
    }

    fn added_work(&self, workload: &Workload) -> f64 {
        0.3 * (workload.types().len() as f64).powi(2)
    }

    fn knobs_in_words(&self, workload: &Workload) -> Option<String> {
        let (rate, unit) = (self.switching_rate, workload.time_unit());
        Some(format!("α = {rate:.3e} /{unit}, route {}", self.route))
    }

    fn other_axes(&self, _: &TuningContext<'_>) -> usize {
        1
    }

    fn step(&mut self, _: usize, up: bool, context: &TuningContext<'_>) -> Option<()> {
        self.switching_rate *= if up { RATE } else { 1.0 / RATE };
        let is_stable = self.switching_rate < 0.98 * context.largest_rate;
        (self.order.len() > 1 && is_stable).then_some(())
    }
}
