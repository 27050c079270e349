mod online;
mod settings;
mod slots;

pub use online::Msr;
#[doc(hidden)]
pub use settings::section_seven;
pub use settings::{Admission, Backfill, Drain, EmptySlots, MsrConfig, Preemption, Route};

use super::rule::{PolicyConfig, TuningContext};
use super::{Policy, check};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::{Findings, is_close, positive};

const RATE: f64 = 1.5;

impl PolicyConfig for MsrConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Msr::new(self, fleet.envelope()))
    }

    fn describe(&self, workload: &Workload) -> String {
        let way = match self.preemption {
            Preemption::None => {
                "each job runs to completion, and the policy waits for the jobs that do not have a slot in the next schedule"
            }
            Preemption::Setup => {
                "a job can be preempted, and its capacity is then held for a setup time"
            }
            Preemption::Full => "a job can be preempted without any cost",
        };
        let left = match self.backfill {
            Backfill::None => "",
            Backfill::FirstFit => {
                "; if the schedule does not use all of the capacity, other waiting jobs can use it"
            }
        };
        match self.order.len() {
            1 => format!("MSR: a single schedule is used for all types{left}."),
            count => format!(
                "MSR: the policy uses {count} schedules{}. A clock ends each schedule after an exponential time, on average once per {:.4} {} of work; {way}{left}.",
                if self.rates.is_some() {
                    " in the order of a Markov chain"
                } else {
                    " in turn"
                },
                1.0 / self.switching_rate,
                workload.time_unit()
            ),
        }
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let count = self.schedules.len();
        match &self.rates {
            None => check::schedules(&self.schedules, fleet.envelope(), findings),
            // Two states of a chain may have the same schedule.
            Some(_) => check::each_fits(&self.schedules, fleet.envelope(), findings),
        }
        check::all_served(&self.schedules, fleet.envelope(), findings);
        findings.positive_shares("weights", &self.weights, count, "schedule");
        findings.permutation("loop", &self.order, count, "schedule");
        positive("switching_rate", self.switching_rate, findings);
        if let Some(rates) = self.rates.as_ref().filter(|_| findings.is_clear("")) {
            self.check_chain(rates, findings);
        }
        let usable = |(_, rate): &(usize, f64)| *rate > 0.0 && rate.is_finite();
        let is_usable = |n: usize| self.leaving(n).iter().all(usable);
        // If the rate overflows, the length of a timer would be zero or infinite.
        if findings.is_clear("") && !(0..count).all(is_usable) {
            let message =
                "the rate at which a schedule is left is too large or too small to be represented";
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
                    "a rate, because the preemption is `setup`",
                );
            }
            (false, Some(rate)) => {
                findings.differs(
                    "setup_rate",
                    rate,
                    "no rate, because the preemption is not `setup`",
                );
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

    /// The policy is stable because all loads are `ρ_i < 1` and the types do not depend on each
    /// other.
    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.types().iter().all(JobType::is_memoryless)
    }

    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        0.3 * (workload.types().len() as f64).powi(2)
    }

    fn describe_parameters(&self, workload: &Workload) -> Option<String> {
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

impl MsrConfig {
    /// Checks that the chain (N × N) is irreducible and that the weights are its stationary
    /// distribution.
    fn check_chain(&self, rates: &[Vec<f64>], findings: &mut Findings) {
        let count = self.schedules.len();
        findings.length("rates", rates.len(), count, "schedule");
        for (s, row) in rates.iter().enumerate() {
            let path = format!("rates[{s}]");
            findings.all_nonnegative(&path, row, count, "schedule");
            if row.get(s).is_some_and(|own| *own != 0.0) {
                findings.differs(format!("{path}[{s}]"), row[s], "0 on the diagonal");
            }
            if self.order[s] != s {
                let expected = format!("{s}, because with `rates` the loop must be 0, 1, …");
                findings.differs(format!("loop[{s}]"), self.order[s], expected);
            }
        }
        if !findings.is_clear("") {
            return;
        }
        let flow = |s: usize, t: usize| self.weights[s] * rates[s][t];
        let left = |s: usize| (0..count).map(|t| flow(s, t)).sum::<f64>();
        for s in 0..count {
            let entered: f64 = (0..count).map(|r| flow(r, s)).sum();
            if !is_close(entered, left(s), check::ROUNDING) {
                let found = format!("entered {entered} times per switch");
                let expected = format!("{}, as often as it is left", left(s));
                findings.differs(format!("rates[{s}]"), found, expected);
            }
        }
        let all: f64 = (0..count).map(left).sum();
        if !is_close(all, 1.0, check::ROUNDING) {
            findings.differs("rates", format!("{all} switches per switch"), 1);
        }
        // If the flows are balanced, it is enough that all states can be reached from one state.
        let (mut reached, mut open) = (vec![false; count], vec![0]);
        while let Some(s) = open.pop() {
            if !std::mem::replace(&mut reached[s], true) {
                open.extend((0..count).filter(|t| rates[s][*t] > 0.0));
            }
        }
        if let Some(s) = reached.iter().position(|is_reached| !is_reached) {
            findings.add(format!("rates[{s}]"), "not reached from schedule 0");
        }
    }
}
