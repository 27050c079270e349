mod online;
mod slots;

pub use online::Msr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{PolicyConfig, TuningContext};
use super::{Policy, check};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::{Findings, is_close, positive, written};

const RATE: f64 = 1.5;

/// The type of preemption that is used if the schedule changes (the MSR paper, §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Preemption {
    /// Each job runs to completion (nMSR).
    None,
    /// A job can be preempted, and its capacity is held for a setup time (sMSR).
    Setup,
    /// A job can be preempted without any cost (pMSR).
    Full,
}

/// The order in which a route lowers the counts of types with too many slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// One type at a time, in type order. The slots of the other types are still filled until it is
    /// their turn.
    Sequential,
    /// All types at once.
    Concurrent,
}

/// The time at which a route increases the counts of types that do not have enough slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// Only at the end of the route.
    Late,
    /// As soon as there is enough capacity, in type order, with as many slots of each as possible.
    Eager,
}

/// The way in which a policy moves from one working schedule to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The order in which the types are drained, or put into setup if preemption needs a setup.
    pub drain: Drain,
    /// The time at which slots of the next schedule are admitted.
    pub admission: Admission,
}

impl Route {
    /// A list of all four routes. The first one is the default.
    pub const ALL: [Route; 4] = [
        Route::new(Drain::Sequential, Admission::Eager),
        Route::new(Drain::Concurrent, Admission::Eager),
        Route::new(Drain::Concurrent, Admission::Late),
        Route::new(Drain::Sequential, Admission::Late),
    ];

    const fn new(drain: Drain, admission: Admission) -> Self {
        Route { drain, admission }
    }
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", written(&self.drain), written(&self.admission))
    }
}

impl std::str::FromStr for Route {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Route::ALL.into_iter().find(|r| r.to_string() == text);
        named.ok_or_else(|| {
            let known = Route::ALL.map(|r| r.to_string()).join(", ");
            format!("unknown route `{text}`; the routes are {known}")
        })
    }
}

/// The jobs that can use the capacity that is not used by the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Backfill {
    /// The capacity is not used.
    None,
    /// The capacity can be used by waiting jobs in the order of arrival (the MSR paper, §8.2).
    FirstFit,
}

/// The behavior of a slot that is being drained and does not have a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptySlots {
    /// It keeps its clock, so that the chain is independent of the queue, as in the analysis.
    Phantom,
    /// It is freed at once, as in practice.
    Release,
}

/// The settings of a Markovian Service Rate policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MsrConfig {
    /// What may happen to a running job.
    pub preemption: Preemption,
    /// The working schedules (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The fraction of the working time of each schedule, which is positive. The sum is 1.
    pub weights: Vec<f64>,
    /// The order of the schedules in the loop, as indices into `schedules`.
    #[serde(rename = "loop")]
    pub order: Vec<usize>,
    /// The number of switches per working time, `α` \[1/time\]. Schedule `s` is left at the rate
    /// `α / (N · weight_s)`.
    pub switching_rate: f64,
    /// The rates `R` (N × N) of a chain of schedules. It moves from `s` to `t` at the rate
    /// `α R_st`. The weights are its stationary distribution, `Σ_s weight_s Σ_t R_st` is 1, and
    /// `loop`, which is not used, is 0, 1, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Vec<Vec<f64>>>,
    /// The rate `γ` \[1/time\] of the exponential setup time of a slot, only for `setup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_rate: Option<f64>,
    /// The route from one schedule to the next one. It is not used with full preemption.
    pub route: Route,
    /// The usage of the capacity that is not needed by the schedule.
    pub backfill: Backfill,
    /// The behavior of slots that are being drained and do not have a job.
    pub empty_slots: EmptySlots,
}

impl MsrConfig {
    /// Returns the n-th schedule of the loop (n < N).
    pub fn schedule(&self, n: usize) -> &[u32] {
        &self.schedules[self.order[n]]
    }

    /// Returns the positions in the loop that can follow the n-th one, and their rates [1/time]:
    /// `α / (N π)` in a loop, or those of the chain. It is empty if there is only one schedule.
    pub fn leaving(&self, n: usize) -> Vec<(usize, f64)> {
        let count = self.order.len();
        match &self.rates {
            _ if count == 1 => Vec::new(),
            None => {
                let often = count as f64 * self.weights[self.order[n]];
                vec![((n + 1) % count, self.switching_rate / often)]
            }
            Some(rates) => {
                let row = rates[n].iter().enumerate().filter(|(_, rate)| **rate > 0.0);
                let rates = row.map(|(to, rate)| (to, self.switching_rate * rate));
                rates.collect()
            }
        }
    }

    /// Checks that the chain (N × N) is irreducible and that the weights are stationary.
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

/// Returns the policy of section 7 of the MSR paper, whose loop is unique, for tests.
#[doc(hidden)]
pub fn section_seven(preemption: Preemption, route: Route, rate: f64) -> MsrConfig {
    MsrConfig {
        preemption,
        schedules: vec![vec![0, 0, 2], vec![1, 4, 0]],
        weights: vec![0.5, 0.5],
        order: vec![0, 1],
        switching_rate: rate,
        rates: None,
        setup_rate: (preemption == Preemption::Setup).then_some(10.0),
        route,
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
    }
}

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
        let chain = self.rates.as_ref();
        let order = chain.map_or(" in turn", |_| " in the order of a Markov chain");
        match self.order.len() {
            1 => format!("MSR: a single schedule is used for all types{left}."),
            count => format!(
                "MSR: the policy uses {count} schedules{}. A clock ends each schedule after an exponential time, on average once per {:.4} {} of work; {way}{left}.",
                order,
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
            let message = format!(
                "{}: the rate at which a schedule is left is too large or too small to be represented",
                self.switching_rate
            );
            findings.add("switching_rate", message);
        }
        match (self.preemption == Preemption::Setup, self.setup_rate) {
            (true, Some(rate)) => positive("setup_rate", rate, findings),
            (true, None) => {
                let expected = "a rate, because the preemption is `setup`";
                findings.differs("setup_rate", "absent", expected);
            }
            (false, Some(rate)) => {
                let expected = "no rate, because the preemption is not `setup`";
                findings.differs("setup_rate", rate, expected);
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

    /// All loads are `ρ_i < 1`, and the types do not depend on each other.
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
