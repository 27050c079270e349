//! The policies that are compared, and their simulation over the arrival rate.
use plotters::style::RGBColor;
use synth::artifact::{Backfill, EmptySlots, MsrPolicy, Objective, Preemption};
use synth::policy::{AdaptiveMsr, Switching};
use synth::program::{Limits, solve};
use synth::simulator::{Contender, Estimate, Run, Settings, simulate};
use synth::synthesis::{Options, Outcome, synthesize};
use synth::workload::{JobType, Workload};

use crate::Result;
use crate::table::{Curve, Kind};

pub enum Rule {
    Named(String),
    /// nMSR with backfilling, synthesized for each rate.
    Nmsr,
    /// Adaptive MSR, with the best of these knobs at each rate.
    Adaptive(Vec<Switching>, Objective),
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
        Outcome::Policy(made) => Ok(made.artifact.policy),
        _ => Err("no policy can stabilize this workload".into()),
    }
}

/// Adaptive MSR on the program's schedules, priced so that a full one has 1; of several knobs with
/// those that do best in a short run each, on the same arrivals.
fn adaptive_msr(workload: &Workload, knobs: &[Switching], of: Objective) -> Result<AdaptiveMsr> {
    let solution = solve(workload, &Limits::default())?;
    let certificate = &solution.certificate;
    let priced = certificate.prices.iter().zip(workload.types());
    let price = |(price, kind): (&f64, &JobType)| price / kind.offered_load() * certificate.bound;
    let prices: Vec<f64> = priced.map(price).collect();
    let with =
        |knob: &Switching| AdaptiveMsr::new(solution.mix.schedules.clone(), prices.clone(), *knob);
    let mut best = (f64::INFINITY, knobs.first().ok_or("no knobs")?);
    for knob in knobs.iter().filter(|_| knobs.len() > 1) {
        let run = simulate(workload, with(knob), &settings(1, PILOT), |_| ())?;
        let found = match of {
            Objective::Mean => run.mean_response,
            Objective::Weighted => run.weighted_response,
        };
        let mean = found.map_or(f64::INFINITY, |e| e.mean);
        if mean < best.0 {
            best = (mean, knob);
        }
    }
    println!("  adaptive MSR with {:?}", best.1);
    Ok(with(best.1))
}

/// Events of a run that chooses knobs.
const PILOT: u64 = 1_000_000;

/// What adaptive MSR chooses from.
pub fn knobs() -> Vec<Switching> {
    let of = |margin| {
        [0.15, 0.5, 0.9].map(|waste| Switching {
            waste,
            margin,
            floor: 36.0,
        })
    };
    [0.5, 2.0, 8.0, 1e6].into_iter().flat_map(of).collect()
}

pub fn settings(seed: u64, events: u64) -> Settings {
    Settings {
        seed,
        events,
        ..Settings::default()
    }
}

impl Rule {
    pub fn simulate(&self, workload: &Workload, settings: &Settings) -> Result<Run> {
        Ok(match self {
            Rule::Named(name) => Contender::parse(name)?.simulate(workload, settings, |_| ())?,
            Rule::Nmsr => {
                let policy = Contender::Msr(Box::new(nmsr(workload, |options| options)?));
                policy.simulate(workload, settings, |_| ())?
            }
            Rule::Adaptive(knobs, objective) => {
                let policy = adaptive_msr(workload, knobs, *objective)?;
                simulate(workload, policy, settings, |_| ())?
            }
        })
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
            let run = rule.simulate(&at_rate(model, rate)?, &settings)?;
            report(label, rate, &run);
            runs.push((rate, run));
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
