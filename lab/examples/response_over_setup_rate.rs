//! This example shows the mean response time as a function of the setup rate γ, for the policy that
//! is selected by synth, for sMSR, and for the selection without preemption and with preemption at
//! no cost. For a system with two types, it also shows the optimum (with an error of at most 1 %).
//!
//!     cargo run --release -p synth-lab --example response_over_setup_rate [PICTURE.svg]
//!
//! This takes twenty minutes on two cores.
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use synth::multiresource::artifact::Preemption;
use synth::multiresource::optimum::{OptimumLimits, Problem, optimum};
use synth::multiresource::simulator::{Contender, Estimate, Settings};
use synth::multiresource::synthesis::{
    ChoiceOptions, Families, SynthesisOptions, SynthesisOutcome, choose, synthesize,
};
use synth::multiresource::workload::Workload;
use synth::report::plot::{Axis, Chart, Curve, Point, Scale, Sheet, Style};

const BLUE: usize = 0;
const VERMILLION: usize = 1;
const GREEN: usize = 2;
const PURPLE: usize = 3;
const GREY: usize = 5;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RATES: [f64; 11] = [0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0];

const LIGHT_AND_HEAVY: &str = "kind: multiresource
time_unit: s
server: {capacity: {servers: 4}}
jobs:
  - {name: light, demand: {servers: 1}, arrival_rate: 1.6, mean_size: 1}
  - {name: heavy, demand: {servers: 4}, arrival_rate: .4, mean_size: 1}
";

fn measured(
    workload: &Workload,
    options: &SynthesisOptions,
    chooses: bool,
) -> Result<Option<Estimate>> {
    let SynthesisOutcome::Policy(synthesis) = synthesize(workload, options)? else {
        return Err("there is no policy that is stable for this workload".into());
    };
    let mut rule = synthesis.artifact.policy.clone();
    if chooses {
        let choice = ChoiceOptions::new(Families::All, 400_000_000, 1);
        let fleet = workload.clone().into();
        let chosen = choose(&fleet, options, &choice, synthesis, |_| ())?;
        rule = chosen.artifact.policy;
    }
    let settings = Settings {
        events: 40_000_000,
        seed: 3,
        ..Settings::default()
    };
    let name = rule.followed().name();
    let run = Contender::from(rule).simulate(workload, &settings, |_| ())?;
    let mean = match &run.mean_response {
        Some(e) => format!("{:.3} ± {:.3}", e.mean, e.half_width),
        None => format!("{:?}", run.health),
    };
    let (preemption, rate) = (options.preemption, options.setup_rate);
    println!("{preemption:?} {rate:?} {name} {mean}");
    Ok(run.mean_response)
}

fn with_setups(rate: f64) -> SynthesisOptions {
    SynthesisOptions {
        setup_rate: Some(rate),
        ..SynthesisOptions::new(Preemption::Setup)
    }
}

fn curves(workload: &Workload, with_optimum: bool) -> Result<Vec<Curve>> {
    let mut curves = Vec::new();
    let ends = [RATES[0], RATES[RATES.len() - 1]];
    for (preemption, look) in [(Preemption::None, VERMILLION), (Preemption::Full, GREEN)] {
        if let Some(e) = measured(workload, &SynthesisOptions::new(preemption), true)? {
            let points = ends.map(|rate| Point::exact(rate, e.mean));
            curves.push(curve(look, Style::Dashes, points.into()));
        }
    }
    if with_optimum {
        let mut points = Vec::new();
        for rate in RATES {
            let limits = OptimumLimits {
                tolerance: 0.01,
                ..OptimumLimits::default()
            };
            let sought = Problem {
                setup_rate: Some(rate),
                ..Problem::mean(Preemption::Setup)
            };
            let found = optimum(workload, sought, &limits, &AtomicBool::new(false), |_| ())?;
            println!("optimum {rate} {:.3} {:?}", found.lower, found.ended);
            points.push(Point::exact(rate, found.lower));
        }
        curves.push(curve(GREY, Style::Line, points));
    }
    for (look, chooses) in [(PURPLE, false), (BLUE, true)] {
        let mut points = Vec::new();
        for rate in RATES {
            let mean = measured(workload, &with_setups(rate), chooses)?;
            points.extend(mean.map(|e| Point::new(rate, e)));
        }
        curves.push(curve(look, Style::Joined, points));
    }
    Ok(curves)
}

fn curve(look: usize, style: Style, points: Vec<Point>) -> Curve {
    Curve {
        style,
        ..Curve::new(look, "", points)
    }
}

fn chart(title: &str, top: f64, bottom: f64, curves: Vec<Curve>) -> Chart {
    let across = "setup rate γ [1/s] (mean size 1 s)";
    let up = "mean response time [s]";
    Chart {
        title: title.into(),
        across: Axis::around(across, Scale::Log, RATES.into_iter()),
        up: Axis::new(up, Scale::Log, bottom, top),
        curves,
        lines: Vec::new(),
    }
}

fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or("docs/response_over_setup_rate.svg".into());
    let three = Workload::read(Path::new("models/section7.yaml"))?.workload;
    let two = Workload::parse(LIGHT_AND_HEAVY, "light and heavy")?.workload;
    let sheet = Sheet {
        size: (500, 460),
        columns: 2,
        charts: vec![
            chart("section 7, ρ = 0.9", 60.0, 2.8, curves(&three, false)?),
            chart("light and heavy, ρ = 0.8", 40.0, 2.2, curves(&two, true)?),
        ],
        legend: [
            ("selected by synth, with setups", BLUE, Style::Joined),
            ("sMSR", PURPLE, Style::Joined),
            ("lower bound with setups", GREY, Style::Line),
            ("selected without preemption", VERMILLION, Style::Dashes),
            ("selected with free preemption", GREEN, Style::Dashes),
        ]
        .map(|(label, look, style)| (label.into(), look, style))
        .into(),
    };
    std::fs::write(&path, sheet.svg())?;
    println!("wrote {path}");
    Ok(())
}
