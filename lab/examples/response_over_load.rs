//! This example shows the mean response time as a function of the load, for the policy that is
//! selected by synth for `models/section7.yaml` without preemption, for three rules, and for a
//! lower bound. It takes about eight minutes on a single core.
//!
//!     cargo run --release -p synth-lab --example response_over_load [PICTURE.svg]
//!
//! For each point, the 95 % interval is at most 1 %, unless the maximum number of events has been
//! reached. If there is no steady state, the point is not shown, but it is mentioned in the legend.
//!
//! The bound is the result of the dynamic program in [`optimum`] with a limited number of states.
//! The line is solid if the bound is close to the optimum. For higher loads, the dashed line is the
//! maximum for all lower loads, which is valid because the optimum is monotone in the load: a
//! policy for ρ' > ρ can be used at ρ if phantom jobs arrive as a Poisson process, so that the
//! rates are the same as for ρ'. The policy does not know which jobs are phantoms, so the mean
//! response time of each type is the same as for ρ'. The fraction of each type is the same for both
//! loads.
use std::sync::atomic::AtomicBool;
use std::{error::Error, path::Path, time::Duration};

use synth::multiresource::artifact::Preemption;
use synth::multiresource::optimum::{Ended, OptimumLimits, Problem, optimum};
use synth::multiresource::simulator::{Contender, Ending, Estimate, Health, Run, Settings};
use synth::multiresource::synthesis::{
    ChoiceOptions, Families, SynthesisOptions, SynthesisOutcome, choose, synthesize,
};
use synth::multiresource::workload::Workload;
use synth::report::plot::{Axis, Chart, Curve, Point, Scale, Sheet, Style};

const LOADS: [f64; 16] = [
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95,
];

/// The maximum number of events of the first run, of a run with a mean, and of a run without one.
const EVENTS: [u64; 3] = [20_000_000, 80_000_000, 320_000_000];

const GREY: usize = 5;

enum Rule {
    Named(Contender),
    Msr,
    Chosen,
}

struct Policy {
    label: &'static str,
    look: usize,
    rule: Rule,
}

type Points = Vec<(f64, Option<Estimate>)>;

/// The load, the bound, and whether the error of the bound is at most 0.5 %.
type Bound = (f64, f64, bool);

/// If a queue is growing, a run with a wide interval may still look as if it has converged.
fn is_telling(mean: &Estimate) -> bool {
    mean.half_width < 0.2 * mean.mean
}

impl Rule {
    fn contender(&self, workload: &Workload) -> Result<Contender, Box<dyn Error>> {
        if let Rule::Named(rule) = self {
            return Ok(rule.clone());
        }
        let options = SynthesisOptions::new(Preemption::None);
        let SynthesisOutcome::Policy(synthesis) = synthesize(workload, &options)? else {
            return Err("there is no policy that is stable for this workload".into());
        };
        if let Rule::Msr = self {
            return Ok(synthesis.artifact.policy.into());
        }
        let choice = ChoiceOptions::new(Families::All, 400_000_000, 1);
        let fleet = workload.clone().into();
        let chosen = choose(&fleet, &options, &choice, synthesis, |_| ())?;
        Ok(chosen.artifact.policy.into())
    }
}

impl Policy {
    fn points(&self, workload: &Workload) -> Result<Points, Box<dyn Error>> {
        let mut points = Points::new();
        for load in LOADS {
            let scaled = at(workload, load)?;
            let run = run(&self.rule.contender(&scaled)?, &scaled)?;
            let point = run.mean_response.filter(is_telling);
            match &point {
                Some(e) => println!("{} {load} {:.3} ± {:.3}", self.label, e.mean, e.half_width),
                None => println!("{} {load} {:?}", self.label, run.health),
            }
            points.push((load, point));
        }
        Ok(points)
    }
}

/// The load of the workload is 0.9.
fn at(workload: &Workload, load: f64) -> Result<Workload, Box<dyn Error>> {
    Ok(workload.scaled(load / 0.9)?)
}

fn run(contender: &Contender, workload: &Workload) -> Result<Run, Box<dyn Error>> {
    let [mut events, precise, most] = EVENTS;
    loop {
        let settings = Settings {
            events,
            seed: 3,
            ..Settings::default()
        };
        let run = contender.simulate(workload, &settings, |_| ())?;
        let enough = match run.health {
            Health::Settled => run.ending == Ending::Precision || events >= precise,
            Health::Unsettled => events >= most,
            Health::Unstable => true,
        };
        if enough {
            return Ok(run);
        }
        events *= 4;
    }
}

fn bounds(workload: &Workload) -> Result<Vec<Bound>, Box<dyn Error>> {
    let limits = OptimumLimits {
        states: 1_000_000,
        sweeps: 6_000,
        time: Duration::from_secs(60),
        ..OptimumLimits::default()
    };
    let mut bounds = Vec::new();
    let (mut best, mut solved) = (0.0_f64, true);
    for load in LOADS {
        let scaled = at(workload, load)?;
        let never = AtomicBool::new(false);
        let sought = Problem::mean(Preemption::None);
        let found = optimum(&scaled, sought, &limits, &never, |_| ())?;
        let close = found.upper_in_box - found.lower <= limits.tolerance * found.lower;
        solved &= close && found.ended != Ended::Cut && found.growth <= 2.0 * limits.tolerance;
        println!("bound {load} {:.3} solved {solved}", found.lower);
        best = best.max(found.lower);
        bounds.push((load, best, solved));
    }
    Ok(bounds)
}

fn legend(policy: &Policy, points: &Points) -> String {
    let drawn = points.iter().rposition(|(_, point)| point.is_some());
    let (first, rest) = points.split_at(drawn.map_or(0, |last| last + 1));
    let gaps = first.iter().filter(|(_, point)| point.is_none());
    let gaps: Vec<String> = gaps.map(|(load, _)| load.to_string()).collect();
    let mut missing = Vec::new();
    if !gaps.is_empty() {
        missing.push(format!("no mean at ρ = {}", gaps.join(", ")));
    }
    if let Some((load, _)) = rest.first() {
        missing.push(format!("no steady state from ρ = {load} on"));
    }
    match missing.is_empty() {
        true => policy.label.into(),
        false => format!("{} ({})", policy.label, missing.join("; ")),
    }
}

const LOWEST: f64 = 0.9;

fn curve(look: usize, style: Style, points: Vec<Point>) -> Curve {
    Curve {
        style,
        ..Curve::new(look, "", points)
    }
}

fn drawn_bound(bounds: &[Bound]) -> [Curve; 3] {
    let area = bounds.iter().map(|&(at, bound, _)| Point {
        at,
        value: 0.5 * (LOWEST + bound),
        half_width: 0.5 * (bound - LOWEST),
    });
    let points = bounds.iter().map(|&(at, bound, _)| Point::exact(at, bound));
    let points: Vec<Point> = points.collect();
    let solved = bounds.iter().take_while(|(_, _, solved)| *solved).count();
    let loose = points[solved.saturating_sub(1)..].to_vec();
    [
        curve(GREY, Style::Band, area.collect()),
        curve(GREY, Style::Line, points[..solved].to_vec()),
        curve(GREY, Style::Dashes, loose),
    ]
}

fn drawn((policy, points): &(Policy, Points)) -> Vec<Curve> {
    let whole = points.split(|(_, point)| point.is_none());
    let point = |(load, point): &(f64, Option<Estimate>)| Some(Point::new(*load, (*point)?));
    let whole = whole.map(|part| part.iter().filter_map(point).collect());
    whole
        .map(|part| curve(policy.look, Style::Joined, part))
        .collect()
}

fn sheet(policies: &[(Policy, Points)], bounds: &[Bound]) -> Sheet {
    let mut curves = drawn_bound(bounds).to_vec();
    curves.extend(policies.iter().flat_map(drawn));
    let across = "load ρ (no policy is stable at 1)";
    let up = "mean response time [s], log scale";
    let named = policies.iter().rev();
    let named = named.map(|(own, points)| (legend(own, points), own.look, Style::Joined));
    let mut entries: Vec<_> = named.collect();
    let below = "lower bound without preemption";
    entries.push((below.into(), GREY, Style::Line));
    if bounds.iter().any(|(_, _, solved)| !solved) {
        entries.push(("lower bound, loose".into(), GREY, Style::Dashes));
    }
    let chart = Chart {
        title: String::new(),
        across: Axis::new(across, Scale::Linear, 0.05, 1.0),
        up: Axis::new(up, Scale::Log, LOWEST, 60.0),
        curves,
        lines: Vec::new(),
    };
    Sheet {
        size: (900, 520),
        columns: 1,
        charts: vec![chart],
        legend: entries,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or("docs/response_over_load.svg".into());
    let workload = Workload::read(Path::new("models/section7.yaml"))?.workload;
    let policy = |label, look, rule| Policy { label, look, rule };
    let named =
        |label, look, name| Contender::parse(name).map(|own| policy(label, look, Rule::Named(own)));
    let policies = [
        named("First-Fit", 1, "first-fit")?,
        named("EASY backfilling", 3, "easy-backfill")?,
        policy("nMSR (--family msr)", 2, Rule::Msr),
        policy("selected by synth", 0, Rule::Chosen),
    ];
    let bounds = bounds(&workload)?;
    let mut measured = Vec::new();
    for policy in policies {
        let points = policy.points(&workload)?;
        measured.push((policy, points));
    }
    std::fs::write(&path, sheet(&measured, &bounds).svg())?;
    println!("wrote {path}");
    Ok(())
}
