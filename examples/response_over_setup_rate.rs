//! What is best with setups, from slow to fast: draws the mean response time over the rate γ of setups of what synth
//! chooses, beside sMSR, what it chooses without preemption and with preemption at no cost, and on a system of two
//! types the optimum.
//!
//!     cargo run --release --example response_over_setup_rate [PICTURE.svg]
//!
//! Writes docs/response_over_setup_rate.svg where no file is named, in some twenty minutes of two cores, and prints
//! the points.
//!
//! Points are from runs on arrivals and sizes that no policy was chosen on, with 95 % intervals. The optimum is that
//! of the dynamic program, up to 1 % as large as drawn.
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use plotters::style::RGBColor;
use synth::figures::picture::{
    Axis, BLUE, Entry, GREEN, GREY, Layer, PURPLE, Panel, Picture, Shape, Swatch, VERMILLION,
};
use synth::multiresource::artifact::Preemption;
use synth::multiresource::optimum::{Limits, Problem, optimum};
use synth::multiresource::simulator::{Contender, Estimate, Settings};
use synth::multiresource::synthesis::{
    ChoiceOptions, Families, Options, Outcome, choose, synthesize,
};
use synth::multiresource::workload::Workload;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RATES: [f64; 11] = [0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0];

/// A light job needs one server, a heavy one all.
const LIGHT_AND_HEAVY: &str = "kind: multiresource
time_unit: s
server: {capacity: {servers: 4}}
jobs:
  - {name: light, demand: {servers: 1}, arrival_rate: 1.6, mean_size: 1}
  - {name: heavy, demand: {servers: 4}, arrival_rate: .4, mean_size: 1}
";

/// What synth makes, on arrivals and sizes of its own.
fn measured(workload: &Workload, options: &Options, chooses: bool) -> Result<Option<Estimate>> {
    let Outcome::Policy(synthesis) = synthesize(workload, options)? else {
        return Err("no policy can stabilize this workload".into());
    };
    let mut rule = synthesis.artifact.policy.clone();
    if chooses {
        let choice = ChoiceOptions::new(Families::All, 400_000_000, 1);
        let chosen = choose(workload, options, &choice, synthesis, |_| ())?;
        rule = chosen.artifact.policy;
    }
    let settings = Settings {
        events: 40_000_000,
        seed: 3,
        ..Settings::default()
    };
    let name = rule.followed().name();
    let run = Contender::from(rule).simulate(workload, &settings, |_| ())?;
    match &run.mean_response {
        Some(e) => println!(
            "{:?} {:?} {name} {:.3} ± {:.3}",
            options.preemption, options.setup_rate, e.mean, e.half_width
        ),
        None => println!(
            "{:?} {:?} {name} {:?}",
            options.preemption, options.setup_rate, run.health
        ),
    }
    Ok(run.mean_response)
}

fn with_setups(rate: f64) -> Options {
    Options {
        setup_rate: Some(rate),
        ..Options::new(Preemption::Setup)
    }
}

/// What is drawn of one workload.
fn layers(workload: &Workload, with_optimum: bool) -> Result<Vec<Layer>> {
    let mut layers = Vec::new();
    let ends = [RATES[0], RATES[RATES.len() - 1]];
    for (preemption, color) in [(Preemption::None, VERMILLION), (Preemption::Full, GREEN)] {
        if let Some(e) = measured(workload, &Options::new(preemption), true)? {
            let shape = Shape::Dashes(ends.map(|rate| (rate, e.mean)).into());
            layers.push(Layer { color, shape });
        }
    }
    if with_optimum {
        let mut points = Vec::new();
        for rate in RATES {
            let limits = Limits {
                tolerance: 0.01,
                ..Limits::default()
            };
            let sought = Problem {
                setup_rate: Some(rate),
                ..Problem::mean(Preemption::Setup)
            };
            let found = optimum(workload, sought, &limits, &AtomicBool::new(false), |_| ())?;
            println!("optimum {rate} {:.3} {:?}", found.lower, found.ended);
            points.push((rate, found.lower));
        }
        layers.push(line(GREY, 2, points));
    }
    for (color, chooses) in [(PURPLE, false), (BLUE, true)] {
        let mut points = Vec::new();
        for rate in RATES {
            let mean = measured(workload, &with_setups(rate), chooses)?;
            points.extend(mean.map(|e| (rate, e.mean, e.half_width)));
        }
        let means = points.iter().map(|(rate, mean, _)| (*rate, *mean));
        layers.push(line(color, 2, means.collect()));
        let shape = Shape::Dots(points);
        layers.push(Layer { color, shape });
    }
    Ok(layers)
}

fn line(color: RGBColor, width: u32, points: Vec<(f64, f64)>) -> Layer {
    let shape = Shape::Line(width, points);
    Layer { color, shape }
}

fn panel(title: &str, top: f64, bottom: f64, layers: Vec<Layer>) -> Panel {
    Panel {
        title: title.into(),
        across: Axis {
            label: "rate γ of setups [1/s] (jobs take 1 s)",
            range: (RATES[0] / 1.2, RATES[RATES.len() - 1] * 1.2),
            log: true,
        },
        up: Axis {
            label: "mean response time [s]",
            range: (bottom, top),
            log: true,
        },
        layers,
        marks: Vec::new(),
    }
}

fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or("docs/response_over_setup_rate.svg".into());
    let three = Workload::read(Path::new("models/section7.yaml"))?.workload;
    let two = Workload::parse(LIGHT_AND_HEAVY, "light and heavy")?.workload;
    let entry = |swatch, color, label: &str| Entry {
        swatch,
        color,
        label: label.into(),
    };
    let picture = Picture {
        size: (1000, 460),
        grid: (1, 2),
        panels: vec![
            panel("section 7, ρ = .9", 60.0, 2.8, layers(&three, false)?),
            panel("light and heavy, ρ = .8", 40.0, 2.2, layers(&two, true)?),
        ],
        legend: vec![
            entry(Swatch::Joined, BLUE, "what synth chooses with setups"),
            entry(Swatch::Joined, PURPLE, "sMSR"),
            entry(Swatch::Line(2), GREY, "no policy with setups is below"),
            entry(Swatch::Dashes, VERMILLION, "chosen without preemption"),
            entry(Swatch::Dashes, GREEN, "chosen with preemption at no cost"),
        ],
    };
    picture.draw(Path::new(&path))?;
    println!("wrote {path}");
    Ok(())
}
