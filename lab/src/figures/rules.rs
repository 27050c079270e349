use super::curve::{Curve, Kind, VERMILLION};
use synth::kind::{VerbResult, refuse};
use synth::multiresource::artifact::{
    Backfill, EmptySlots, Family, MsrConfig, Objective, Preemption, Route, StaticQuickswapConfig,
};
use synth::multiresource::simulator::{Contender, Run, Settings};
use synth::multiresource::synthesis::{
    ChoiceOptions, Families, Outlook, Synthesis, SynthesisOptions, SynthesisOutcome, choose,
    synthesize,
};
use synth::multiresource::workload::Workload;
use synth::simulation::Estimate;

macro_rules! model {
    ($name:literal) => {
        synth::multiresource::workload::Workload::parse(
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../models/",
                $name,
                ".yaml"
            )),
            $name,
        )?
        .workload
    };
}
pub(super) use model;

/// Returns the options for an exact analysis, which does not include backfilling and the release of
/// empty slots. The percentiles are not computed, because they need most of the time.
pub(super) fn plain(preemption: Preemption, route: Option<Route>) -> SynthesisOptions {
    SynthesisOptions {
        route,
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        effort: 0.01,
        ..SynthesisOptions::new(preemption)
    }
}

fn stable(workload: &Workload, options: &SynthesisOptions) -> VerbResult<Box<Synthesis>> {
    match synthesize(workload, options)? {
        SynthesisOutcome::Policy(synthesis) => Ok(synthesis),
        _ => refuse("there is no policy that is stable for this workload"),
    }
}

/// Returns the MSR policy with the best switching rate (2 for pMSR), and the outlook for its route.
pub(super) fn tuned(
    workload: &Workload,
    options: &SynthesisOptions,
) -> VerbResult<(MsrConfig, Outlook)> {
    let synthesis = stable(workload, options)?;
    let policy = synthesis.policy;
    let mut outlooks = synthesis.routes.into_iter();
    let outlook = outlooks.find(|own| own.route == policy.route);
    Ok((policy, outlook.ok_or("no route has an outlook")?))
}

pub(super) enum Rule {
    Named(String),
    /// Static Quickswap, where the next type is started while the current type is draining.
    Overlapping,
    /// An MSR policy with this preemption and with a fixed switching rate if it is given. The last
    /// value is `true` if the policy uses backfilling.
    Msr(Preemption, Option<f64>, bool),
    /// Adaptive MSR that is tuned for the objective, using this number of events.
    Adaptive(Objective, u64),
}

pub(super) fn named(name: &str) -> Rule {
    Rule::Named(name.into())
}

pub(super) fn first_fit() -> Plan {
    ("First-Fit", VERMILLION, named("first-fit"))
}

pub(super) fn nmsr_with_backfilling(color: usize) -> Plan {
    let rule = Rule::Msr(Preemption::None, None, true);
    ("nMSR with backfilling", color, rule)
}

pub(super) fn of_events(events: u64, seed: u64) -> Settings {
    Settings {
        events,
        seed,
        ..Settings::default()
    }
}

impl Rule {
    fn policy(&self, workload: &Workload) -> VerbResult<Option<Contender>> {
        Ok(Some(match self {
            Rule::Named(name) => Contender::parse(name)?,
            Rule::Overlapping => Contender::from(Family::StaticQuickswap(StaticQuickswapConfig {
                overlap: true,
                ..StaticQuickswapConfig::published(workload)
            })),
            Rule::Msr(preemption, switching_rate, backfills) => {
                let options = SynthesisOptions {
                    switching_rate: *switching_rate,
                    ..plain(*preemption, None)
                };
                let mut policy = tuned(workload, &options)?.0;
                if *backfills {
                    policy.backfill = Backfill::FirstFit;
                    policy.empty_slots = EmptySlots::Release;
                }
                Family::Msr(policy).into()
            }
            Rule::Adaptive(objective, budget) => {
                let options = SynthesisOptions {
                    effort: 0.01,
                    objective: *objective,
                    ..SynthesisOptions::new(Preemption::None)
                };
                let choice = ChoiceOptions::new(Families::Only(&["adaptive-msr"]), *budget, 1);
                let fleet = workload.clone().into();
                let synthesis = stable(workload, &options)?;
                let chosen = choose(&fleet, &options, &choice, synthesis, |_| ())?;
                if !chosen.basis.has_converged() {
                    return Ok(None);
                }
                chosen.artifact.policy.into()
            }
        }))
    }
}

pub(super) type Plan = (&'static str, usize, Rule);

pub(super) struct Sweep {
    pub label: &'static str,
    pub color: usize,
    pub runs: Vec<(f64, Option<Run>)>,
}

impl Sweep {
    pub(super) fn curve(&self, of: impl Fn(&Run) -> Option<Estimate>) -> Curve {
        let runs = self.runs.iter();
        let points = runs.map(|(at, run)| (*at, run.as_ref().and_then(&of)));
        Curve::new(self.label, self.color, Kind::Simulated, points.collect())
    }
}

/// Simulates all rules. Each run uses a different seed, so that the errors are independent.
pub(super) fn sweep(
    scene: impl Fn(f64) -> VerbResult<Workload>,
    plans: Vec<Plan>,
    places: &[f64],
    (events, replications): (u64, u32),
) -> VerbResult<Vec<Sweep>> {
    let mut seeds = 1..;
    let mut sweeps = Vec::new();
    for (label, color, rule) in plans {
        let mut runs = Vec::new();
        for &at in places {
            let settings = Settings {
                replications,
                ..of_events(events, seeds.next().unwrap_or(0))
            };
            let workload = scene(at)?;
            let policy = rule.policy(&workload)?;
            let run = policy.map(|policy| policy.simulate(&workload, &settings, |_| ()));
            runs.push((at, run.transpose()?));
        }
        sweeps.push(Sweep { label, color, runs });
    }
    Ok(sweeps)
}

pub(super) fn words(estimate: Option<Estimate>) -> String {
    match estimate {
        Some(own) => synth::report::within(own.mean, own.half_width),
        None => "no mean".into(),
    }
}
