//! The policies that are compared, and their simulation over the arrival rate.
use plotters::style::RGBColor;
use synth::multiresource::artifact::{
    Backfill, EmptySlots, Family, MsrPolicy, Objective, Preemption, StaticQuickswapPolicy,
};
use synth::multiresource::simulator::{Contender, Estimate, Run, Settings, simulate};
use synth::multiresource::synthesis::{
    ChoiceOptions, Families, Options, Outcome, choose, synthesize,
};
use synth::multiresource::workload::Workload;

use crate::Result;
use crate::path::Strict;
use crate::table::{Curve, Kind};

pub enum Rule {
    Named(String),
    /// MSFQ(ℓ) as the paper words it.
    Strict(u32),
    /// Static Quickswap in which the next type starts while the last one drains.
    Overlapping,
    /// nMSR with backfilling, synthesized for each rate.
    Nmsr,
    /// Adaptive MSR, tuned at each rate for this, within so many events.
    Adaptive(Objective, u64),
}

/// A rule's runs.
pub struct Sweep {
    pub label: &'static str,
    pub color: RGBColor,
    /// By arrival rate.
    pub runs: Vec<(f64, Run)>,
}

impl Sweep {
    pub fn curve(&self, of: impl Fn(&Run) -> Option<Estimate>) -> Curve {
        let points = self.runs.iter().map(|(rate, run)| (*rate, of(run)));
        Curve::new(self.label, self.color, Kind::Simulated, points.collect())
    }
}

/// The model at this total arrival rate.
pub fn at_rate(model: &Workload, rate: f64) -> Result<Workload> {
    Ok(model.scaled(rate / model.total_arrival_rate())?)
}

/// Without backfilling, slots keep their clocks: what the analysis is exact for, and the paper's.
pub fn plain(options: Options) -> Options {
    Options {
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        ..options
    }
}

/// nMSR at its best switching rate and route. No percentiles, which take most of the work.
pub fn nmsr(workload: &Workload, options: impl Fn(Options) -> Options) -> Result<MsrPolicy> {
    let quick = Options {
        effort: 0.01,
        ..Options::new(Preemption::None)
    };
    match synthesize(workload, &options(quick))? {
        Outcome::Policy(made) => Ok(made.policy),
        _ => Err("no policy can stabilize this workload".into()),
    }
}

/// Adaptive MSR, tuned for this objective within so many events; none where it is not seen to settle.
fn adaptive_msr(workload: &Workload, of: Objective, budget: u64) -> Result<Option<Contender>> {
    let options = Options {
        effort: 0.01,
        objective: of,
        ..Options::new(Preemption::None)
    };
    let choice = ChoiceOptions::new(Families::Only(&["adaptive-msr"]), budget, 1);
    let Outcome::Policy(made) = synthesize(workload, &options)? else {
        return Err("no policy can stabilize this workload".into());
    };
    let chosen = choose(workload, &options, &choice, made, |_| ())?;
    let settled = chosen.basis.has_settled();
    Ok(settled.then(|| chosen.artifact.policy.into()))
}

pub fn settings(seed: u64, events: u64) -> Settings {
    Settings {
        seed,
        events,
        ..Settings::default()
    }
}

impl Rule {
    /// None where there is nothing to simulate.
    pub fn simulate(&self, workload: &Workload, settings: &Settings) -> Result<Option<Run>> {
        let policy = match self {
            Rule::Named(name) => Some(Contender::parse(name)?),
            Rule::Strict(threshold) => {
                let rule = Strict::new(workload, *threshold)?;
                return Ok(Some(simulate(workload, rule, settings, |_| ())?));
            }
            Rule::Overlapping => {
                let overlapping = StaticQuickswapPolicy {
                    overlap: true,
                    ..StaticQuickswapPolicy::published(workload)
                };
                Some(Family::StaticQuickswap(overlapping).into())
            }
            Rule::Nmsr => Some(Family::Msr(nmsr(workload, |options| options)?).into()),
            Rule::Adaptive(objective, budget) => adaptive_msr(workload, *objective, *budget)?,
        };
        let run = policy.map(|policy| policy.simulate(workload, settings, |_| ()));
        Ok(run.transpose()?)
    }
}

/// What to simulate of a rule, and how it is drawn.
pub type Plan = (&'static str, RGBColor, Rule);

/// All rules at all rates, a seed each: with one seed for all, those at the same rate would see the
/// same arrivals, and miss an exact value together.
pub fn sweep(
    model: &Workload,
    plans: Vec<Plan>,
    rates: &[f64],
    budget: &Settings,
) -> Result<Vec<Sweep>> {
    let mut seeds = 1..;
    let mut sweeps = Vec::new();
    for (label, color, rule) in plans {
        let mut runs = Vec::new();
        for &rate in rates {
            let settings = Settings {
                seed: seeds.next().unwrap_or(0),
                ..budget.clone()
            };
            if let Some(run) = rule.simulate(&at_rate(model, rate)?, &settings)? {
                report(label, rate, &run);
                runs.push((rate, run));
            }
        }
        sweeps.push(Sweep { label, color, runs });
    }
    Ok(sweeps)
}

fn report(label: &str, rate: f64, run: &Run) {
    let cell = |e: Option<Estimate>| match e {
        Some(e) => format!("{:.4} ± {:.4}", e.mean, e.half_width),
        None => format!("no mean, {:?}", run.health),
    };
    println!(
        "  {label}, λ = {rate}: E[T] {}; weighted {}; Jain {:.3?}; {:.1e} events",
        cell(run.mean_response),
        cell(run.weighted_response),
        run.fairness,
        run.events
    );
}
