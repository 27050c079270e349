//! TDC (targets, drain, commitment). The valid range of a parameter
//! ([`TdcConfig::check`](PolicyConfig::check)), its grid below, and the points where tuning starts
//! (`synthesis/choice/candidates.rs` in `synth-make`), also between grid points, differ on purpose.

mod target;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::{PackedDemand, Words};
use super::drain::DrainEstimator;
use super::rule::{PolicyConfig, TuningContext, describe_settings};
use super::{Event, Policy, System, check};
use crate::schedule::Packing;
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;
use target::{DecisionState, DrainMode, Fixed, Lead, Target};

/// The settings of TDC (targets, drain, commitment), without preemption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcConfig {
    /// The schedules of the program (N × K): the number of jobs of each type.
    pub schedules: Vec<Vec<u32>>,
    /// The value of a running job of each type (K), at least 0. A schedule is worth at most 1.
    pub prices: Vec<f64>,
    /// The tuning parameters.
    pub knobs: TdcParameters,
}

/// The tuning parameters of TDC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdcParameters {
    /// The exponent `a`, at least 0. The urgency of a type is its number of jobs to this power.
    pub exponent: f64,
    /// The exponent `β`, at least 0, of price times mean size. It is used to prefer small and short
    /// jobs.
    pub favour: f64,
    /// The fraction `ζ`, at least 0, of arriving shorter jobs for which longer jobs leave capacity.
    pub reserve: f64,
    /// The fraction `δ`, at least 0, by which another target must be better than the current one.
    pub margin: f64,
    /// The factor `κ`, which must be at least 0. During a drain, a job can start if its mean size
    /// is at most `κ` times the remaining time of the drain.
    pub let_in: f64,
    /// The factor `η`, which must be positive. The earnings of a target count for the time until
    /// the backlog of its lead is done, multiplied by `η`.
    pub patience: f64,
    /// The order in which jobs start.
    pub order: TdcOrder,
}

/// The order in which TDC starts jobs on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TdcOrder {
    /// The most urgent type first.
    Worth,
    /// The oldest first.
    Age,
}

/// Targets, drain, commitment (TDC), without preemption. Among the sets of jobs that could run
/// together, it moves to the set that earns the most per time, including the time of the drain.
///
/// Let `Q_i` be the number of jobs of type `i` in the system. With the [`TdcParameters`], the value
/// of a job in service is `v_i = p_i g_i Q_i^a`, where
/// `g_i = (p_i E[S_i] / their geometric mean)^−β`.
///
/// - *Commitment.* A job of type `i` can only start on its own if, next to it and the running jobs
///   of types that are at least as long, each resource has enough capacity for the shorter jobs
///   that arrive while it runs: `ζ Σ_k (1 − E[S_k]/E[S_i]) λ_k E[S_k] d_k` over all shorter types
///   `k`.
/// - *Targets.* The candidates are the running jobs with waiting jobs that fit, three sets for each
///   waiting type that contain more of its jobs (`DrainMode`), and the schedules of the program.
///   The lead of a target is the waiting type, or the type of which the schedule lacks most jobs.
///   Each target is filled with running jobs, the longest first, and then with waiting jobs that
///   can start on their own.
/// - *Drain.* Until one more job of the lead `j` fits, a target `u` earns the value of the jobs
///   that continue to run and that are leaving, for the time `D`. After that, it earns `Σ v_i u_i`
///   for the time `F = η Q_j E[S_j] / u_j`. The sum is divided by `D + F`, and multiplied by
///   `1 + δ` for the last selection. During a drain, a job can start if it is not longer than `κ`
///   times the remaining time, as if all running jobs that are not longer had already left.
///
/// Targets are compared if a job completed or the first job of a type waits, in `O((K + N) K)` for
/// `N` schedules. This rule was created for this project. No proof of its stability is known.
#[derive(Clone, Debug)]
struct Tdc<U> {
    fixed: Fixed<U>,
    state: DecisionState<U>,
    lead: Lead,
    leads: Option<usize>,
    target: Target<U>,
    other: Target<U>,
    drains: DrainEstimator,
}

impl PolicyConfig for TdcConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let workload = fleet.envelope();
        match PackedDemand::new(&Packing::new(workload)).words() {
            1 => Box::new(Tdc::<[u64; 1]>::new(self, workload)),
            _ => Box::new(Tdc::<Vec<u64>>::new(self, workload)),
        }
    }

    fn describe(&self, _: &Workload) -> String {
        let knobs = self.knobs;
        let (exponent, favour, reserve) = (knobs.exponent, knobs.favour, knobs.reserve);
        let (let_in, patience) = (knobs.let_in, knobs.patience);
        let first = match knobs.order {
            TdcOrder::Worth => "the most urgent type first",
            TdcOrder::Age => "the oldest first",
        };
        format!(
            "TDC (targets, drain, commitment), without preemption: the policy moves to the set of jobs that earns the most per time, including the time of the drain. If there are Q jobs of a type in the system, each of them in service earns its price times Q^{exponent} (exponent), and less if the jobs are large and long (favour {favour}). The earnings of a set count for {patience} times the time until the jobs for which it drains are done (patience), and another set must be better by {:.0} % (margin). Jobs are started, {first}, if they leave enough capacity for {reserve} times the work of the shorter jobs that arrive while they run (reserve), or if the policy drains for them. During a drain, a job can start if its mean size is at most {let_in} times the remaining time of the drain (let in).",
            100.0 * knobs.margin
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        check::priced(&self.schedules, &self.prices, fleet.envelope(), findings);
        findings.within("knobs", |f| check::numbers(&self.knobs, &["patience"], f));
    }

    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        6.0 + 0.15 * (workload.types().len() as f64).powi(2)
    }

    fn describe_parameters(&self, _: &Workload) -> Option<String> {
        describe_settings(self)
    }

    fn grids(&mut self, _: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        let knobs = &mut self.knobs;
        vec![
            (&mut knobs.reserve, RESERVE),
            (&mut knobs.let_in, LET_IN),
            (&mut knobs.patience, PATIENCE),
            (&mut knobs.exponent, EXPONENT),
            (&mut knobs.favour, FAVOUR),
            (&mut knobs.margin, MARGIN),
        ]
    }

    fn other_axes(&self, _: &TuningContext<'_>) -> usize {
        1
    }

    fn step(&mut self, _: usize, up: bool, _: &TuningContext<'_>) -> Option<()> {
        self.knobs.order = match (self.knobs.order, up) {
            (TdcOrder::Worth, true) => TdcOrder::Age,
            (TdcOrder::Age, false) => TdcOrder::Worth,
            _ => return None,
        };
        Some(())
    }
}

const EXPONENT: &[f64] = &[
    0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0,
];
const FAVOUR: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0];
const RESERVE: &[f64] = &[0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2];
const MARGIN: &[f64] = &[0.0, 0.02, 0.04, 0.07, 0.1, 0.2, 0.4, 0.8, 1.5, 2.5, 4.0];
// The grids of other rules end at 4. Here, `κ` also determines which jobs count as working during
// the whole drain (see `earns`): nearly all jobs if it is large, so that a drain has a low cost.
const LET_IN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0, 16.0];
const PATIENCE: &[f64] = &[0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0];

impl<U: Words> Policy for Tdc<U> {
    fn react(&mut self, event: Event, system: &mut System) {
        // A job behind other jobs of its type changes little: it is checked at the next completion.
        if !matches!(event, Event::Arrival(i) if system.waiting(i) > 1) {
            self.state.look(&self.fixed, system);
            let before = self.lead;
            self.choose(system);
            if before != self.lead && self.lead != Lead::None {
                system.count_switch();
            }
            self.start(system);
        }
    }
}

impl<U: Words> Tdc<U> {
    fn new(policy: &TdcConfig, workload: &Workload) -> Self {
        let fixed = Fixed::new(policy, workload);
        Tdc {
            state: DecisionState::new(&fixed),
            lead: Lead::None,
            leads: None,
            target: Target::new(&fixed),
            other: Target::new(&fixed),
            drains: DrainEstimator::new(workload),
            fixed,
        }
    }

    fn choose(&mut self, system: &System) {
        let (fixed, state) = (&self.fixed, &self.state);
        let last = self.lead;
        self.target.stay(fixed, state);
        let all_run = self.target.jobs == state.there;
        let mut most = self.target.worth;
        if last == Lead::None {
            most *= 1.0 + self.fixed.knobs.margin;
        }
        (self.lead, self.leads) = (Lead::None, None);
        if all_run {
            return;
        }
        // The last selection comes first, because a high value skips more targets.
        self.consider(last, 1.0 + self.fixed.knobs.margin, &mut most, system);
        let mut consider = |lead: Lead, rule: &mut Self| {
            if lead != last {
                rule.consider(lead, 1.0, &mut most, system);
            }
        };
        for n in 0..self.state.waiting.len() {
            for mode in DrainMode::ALL {
                consider(Lead::Type(self.state.waiting[n], mode), self);
            }
        }
        (0..self.fixed.schedules.len()).for_each(|s| consider(Lead::Schedule(s), self));
    }

    fn consider(&mut self, lead: Lead, bonus: f64, most: &mut f64, system: &System) {
        let Some(leads) = self.other.aim(lead, &self.fixed, &self.state) else {
            return;
        };
        // It cannot win: the drain earns no more than the running jobs, which earn at most `most`.
        if self.other.worth * bonus <= *most {
            return;
        }
        let earns = bonus * self.earns(leads, system);
        if earns > *most {
            *most = earns;
            (self.lead, self.leads) = (lead, Some(leads));
            std::mem::swap(&mut self.target, &mut self.other);
        }
    }

    /// Returns the earnings per time until the waiting jobs of the lead are done.
    fn earns(&mut self, leads: usize, system: &System) -> f64 {
        let (target, fixed, state) = (&self.other, &self.fixed, &self.state);
        let drain = self.drains.wait(leads, &target.jobs, 0.0, system);
        if drain <= 0.0 {
            return target.worth;
        }
        let lets_in = self.fixed.knobs.let_in * drain;
        let mut earned = 0.0;
        for &k in &state.long {
            let own = &fixed.types[k];
            let stay = state.running[k].min(target.jobs[k]);
            let leave = f64::from(state.running[k] - stay);
            let time = match own.mean <= lets_in {
                true => drain,
                false => self.drains.works(k, drain),
            };
            earned += state.value[k] * (f64::from(stay) * drain + leave * time);
        }
        let backlog = system.present(leads) as f64 * fixed.types[leads].mean;
        let lasts = self.fixed.knobs.patience * backlog / f64::from(target.jobs[leads]);
        (earned + lasts * target.worth) / (drain + lasts)
    }

    fn start(&mut self, system: &mut System) {
        let jobs = &self.target.jobs;
        for &i in self.leads.iter().chain(&self.state.waiting) {
            while jobs[i] > system.running(i) && system.waiting(i) > 0 && system.fits(i) {
                system.start(i);
            }
        }
        let Some(lead) = self.leads.filter(|i| jobs[*i] > system.running(*i)) else {
            return;
        };
        for &i in &self.state.waiting {
            if i == lead || system.waiting(i) == 0 || !system.fits(i) {
                continue;
            }
            let mean = self.fixed.types[i].mean;
            let left = self.drains.wait(lead, jobs, mean, system);
            if mean <= self.fixed.knobs.let_in * left {
                while system.waiting(i) > 0 && system.fits(i) {
                    system.start(i);
                }
            }
        }
    }
}
