//! TDC (targets, drain, commitment). The ranges of a tuning parameter differ on purpose between
//! [`TdcConfig::check`](PolicyConfig::check), the tuning grids, and the starting points of tuning
//! (`synthesis/choice/candidates.rs` in `synth-make`).

mod settings;
mod target;

pub use settings::{TdcConfig, TdcKnobs, TdcOrder};

use super::drain::Drains;
use super::room::{Packed, Words};
use super::rule::{PolicyConfig, TuningContext, settings_in_words};
use super::{Event, Policy, System, check};
use crate::schedule::Packing;
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;
use target::{DecisionState, Fixed, Lead, Making, Target};

/// Targets, drain, commitment (TDC), without preemption: moves to the set of jobs with the highest
/// rate of earnings, including the drain.
///
/// With Q_i jobs of type `i` in the system, one in service is worth `v_i = p_i g_i Q_i^a`, where
/// `g_i = (p_i E[S_i] / their geometric mean)^−β`. [`TdcKnobs`] defines a, β, ζ, η, δ, κ.
///
/// - *Commitment.* A job starts on its own only if it and the running jobs of types at least as
///   long leave enough capacity, of each resource, for the shorter jobs that arrive while it runs:
///   `ζ Σ_k (1 − E[S_k]/E[S_i]) λ_k E[S_k] d_k` over the shorter types k.
/// - *Targets.* The candidates are the running jobs filled up with waiting ones; for each waiting
///   type as the lead, three sets with more of its jobs (`Making`); and the schedules of the
///   program, whose lead is the type that they lack most. Each is filled with running jobs, the
///   longest first, then with waiting jobs that may start on their own.
/// - *Drain.* If one more job of the lead j fits after D, a target u earns what the remaining and
///   the leaving jobs earn during D, and then `Σ v_i u_i` for `F = η Q_j E[S_j] / u_j`, divided by
///   D + F. The last selection is favored by the factor 1 + δ. During the drain, jobs start that
///   are no longer than κ times the remaining drain if all running jobs no longer than they had
///   left.
///
/// Targets are compared at each completion and when a type starts to wait, in `O((K + N) K)` with N
/// schedules. The rule is original to this project; no proof of stability is known.
#[derive(Clone, Debug)]
struct Tdc<U> {
    fixed: Fixed<U>,
    state: DecisionState<U>,
    lead: Lead,
    leads: Option<usize>,
    target: Target<U>,
    other: Target<U>,
    drains: Drains,
}

impl PolicyConfig for TdcConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let workload = fleet.envelope();
        match Packed::new(&Packing::new(workload)).words() {
            1 => Box::new(Tdc::<[u64; 1]>::new(self, workload)),
            _ => Box::new(Tdc::<Vec<u64>>::new(self, workload)),
        }
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
            TdcOrder::Worth => "the most urgent type first",
            TdcOrder::Age => "the oldest first",
        };
        format!(
            "TDC (targets, drain, commitment), without preemption: moves to the set of jobs with the highest rate of earnings, including the drain. A job in service earns its price times the {exponent}th power of the number of its type in the system (exponent), less for large and long jobs (favour {favour}). A set counts for {patience} times as long as the backlog for which it drains lasts (patience), and another set must be better by {:.0} % (margin). Jobs start, {first}, if they leave capacity for {reserve} times the work of shorter jobs that arrive while they run (reserve), or if the rule drains for them; during a drain, if their mean size is at most {let_in} times the remaining drain (let in).",
            100.0 * margin
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        check::priced(&self.schedules, &self.prices, fleet.envelope(), findings);
        findings.within("knobs", |f| check::numbers(&self.knobs, &["patience"], f));
    }

    fn added_work(&self, workload: &Workload) -> f64 {
        6.0 + 0.15 * (workload.types().len() as f64).powi(2)
    }

    fn knobs_in_words(&self, _: &Workload) -> Option<String> {
        settings_in_words(self)
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

// Tuning grids, in steps that change the mean response time little.
const EXPONENT: &[f64] = &[
    0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0,
];
const FAVOUR: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0];
const RESERVE: &[f64] = &[0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2];
const MARGIN: &[f64] = &[0.0, 0.02, 0.04, 0.07, 0.1, 0.2, 0.4, 0.8, 1.5, 2.5, 4.0];
// Longer than for other rules: with a large κ most jobs count as working through a drain (`earns`).
const LET_IN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0, 16.0];
const PATIENCE: &[f64] = &[0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0];

impl<U: Words> Policy for Tdc<U> {
    fn react(&mut self, event: Event, system: &mut System) {
        // A job behind others of its type changes little, so it is weighed at the next completion.
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
            drains: Drains::new(workload),
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
        // The last selection comes first: a high bound to beat saves pricing other targets.
        self.consider(last, 1.0 + self.fixed.knobs.margin, &mut most, system);
        let mut consider = |lead: Lead, rule: &mut Self| {
            if lead != last {
                rule.consider(lead, 1.0, &mut most, system);
            }
        };
        for n in 0..self.state.waiting.len() {
            for way in Making::WAYS {
                consider(Lead::Type(self.state.waiting[n], way), self);
            }
        }
        (0..self.fixed.schedules.len()).for_each(|s| consider(Lead::Schedule(s), self));
    }

    fn consider(&mut self, lead: Lead, bonus: f64, most: &mut f64, system: &System) {
        let Some(leads) = self.other.aim(lead, &self.fixed, &self.state) else {
            return;
        };
        // A drain earns no more than the target, so this one cannot win.
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

    /// Returns the rate of earnings of the candidate until the waiting jobs of its lead are done.
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
            let time = if own.mean <= lets_in {
                drain
            } else {
                self.drains.works(k, drain)
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
