//! Redraws figures 1 to 4 of the balanced-fairness paper (Bonald and Comte, Performance Evaluation 116, 2017): how far the
//! algorithm's mean service rate and mean delay depend on the law of sizes, with no interruption, one and five a job.
//!
//!     cargo run --release --example balanced_fairness_figures [FOLDER]
//!
//! Writes figure1.svg to figure4.svg into docs/balanced-fairness where no folder is named, in some five minutes of two
//! cores, and prints how far points are from balanced fairness, as docs/balanced-fairness.md has them.
use std::error::Error;
use std::path::Path;

#[expect(dead_code, reason = "no bands here, and no marks")]
#[path = "figures/picture.rs"]
mod picture;

use picture::{Axis, BLUE, Entry, GREEN, GREY, Layer, Panel, Picture, Shape, Swatch, VERMILLION};
use plotters::style::RGBColor;
use synth::compatibility::analysis;
use synth::compatibility::simulator::{Rule, simulate};
use synth::compatibility::workload::{Cluster, Trial};
use synth::simulation::Settings;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const LOADS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

/// Interruptions a job, and how they are drawn.
const INTERRUPTIONS: [(f64, RGBColor); 3] = [(0.0, VERMILLION), (1.0, BLUE), (5.0, GREEN)];

const THREE: &str = "kind: compatibility
servers: [{name: a, rate: 1}, {name: b, rate: 1}, {name: c, rate: 1}]
classes:
  - {name: class 1, servers: [a, c], arrival_rate: 1}
  - {name: class 2, servers: [b, c], arrival_rate: 1}
mean_size: 1
";

/// A system, and the greatest rate and delay that are drawn of it.
struct Figure {
    number: u32,
    title: &'static str,
    text: String,
    classes: usize,
    top: (f64, f64),
}

fn figures() -> [Figure; 4] {
    let drawn = |degree: u32| {
        format!(
            "kind: compatibility\nassignment: {{random: {{servers: 100, rate: 1, degree: {degree}}}, arrival_rate: 90}}\nmean_size: 1\n"
        )
    };
    let figure = |number, title, text, classes, top| Figure {
        number,
        title,
        text,
        classes,
        top,
    };
    let one_slow = THREE.replace("{name: b, rate: 1}", "{name: b, rate: 0}");
    [
        figure(1, "three servers", THREE.into(), 1, (2.0, 5.0)),
        figure(
            2,
            "two servers, class 2 (dashed) on one",
            one_slow,
            2,
            (2.0, 15.0),
        ),
        figure(3, "two of a hundred servers", drawn(2), 1, (2.0, 3.0)),
        figure(4, "three of a hundred servers", drawn(3), 1, (3.0, 2.0)),
    ]
}

/// What is drawn of a figure under one law: rates above, delays below.
fn panels(figure: &Figure, cluster: &Cluster, trial: Trial) -> Result<[Panel; 2]> {
    let (own, law) = (analysis::load(cluster).load, trial.name());
    let mut layers = [Vec::new(), Vec::new()];
    let mut exact = vec![Vec::new(); figure.classes];
    for load in (1..=97).map(|percent| f64::from(percent) / 100.0) {
        let scaled = cluster.scaled(load / own).ok_or("out of range")?;
        let means = analysis::means(&scaled)?;
        for (class, points) in exact.iter_mut().enumerate() {
            points.push((load, means.numbers[class] / scaled.arrival_rates()[class]));
        }
    }
    for (class, points) in exact.iter().enumerate() {
        let rates = points
            .iter()
            .map(|(load, delay)| (*load, 1.0 / delay))
            .collect();
        for (layers, points) in layers.iter_mut().zip([rates, points.clone()]) {
            let shape = match class {
                0 => Shape::Line(2, points),
                _ => Shape::Dashes(points),
            };
            layers.push(Layer { color: GREY, shape });
        }
    }
    for (m, color) in INTERRUPTIONS {
        let mut found = [Vec::new(), Vec::new()];
        for load in LOADS {
            let scaled = cluster.scaled(load / own).ok_or("out of range")?;
            let fair = analysis::means(&scaled)?;
            let settings = Settings {
                events: 16_000_000,
                seed: 4,
                ..Settings::default()
            };
            let run = simulate(
                &scaled.with_sizes(trial.law(scaled.size())),
                &Rule::Fair(m),
                &settings,
                |_| (),
            )?;
            for class in 0..figure.classes {
                let Some(delay) = run.types[class].mean_response else {
                    continue;
                };
                let rate = (
                    load,
                    1.0 / delay.mean,
                    delay.half_width / delay.mean.powi(2),
                );
                found[0].push(rate);
                found[1].push((load, delay.mean, delay.half_width));
                if [0.6, 0.9].contains(&load) {
                    let exact = fair.numbers[class] / scaled.arrival_rates()[class];
                    println!(
                        "figure {} {law} class {} m = {m} ρ = {load}: {:+.1} % ± {:.1}",
                        figure.number,
                        class + 1,
                        100.0 * (delay.mean / exact - 1.0),
                        100.0 * delay.half_width / exact
                    );
                }
            }
        }
        for (layers, points) in layers.iter_mut().zip(found) {
            let shape = Shape::Dots(points);
            layers.push(Layer { color, shape });
        }
    }
    let [rates, delays] = layers;
    let panel = |label, top, layers| Panel {
        title: format!("{}: {law}", figure.title),
        across: Axis {
            label: "load ρ",
            range: (0.0, 1.0),
            log: false,
        },
        up: Axis {
            label,
            range: (0.0, top),
            log: false,
        },
        layers,
        marks: Vec::new(),
    };
    Ok([
        panel("mean service rate", figure.top.0, rates),
        panel("mean delay", figure.top.1, delays),
    ])
}

fn main() -> Result<()> {
    let folder = std::env::args()
        .nth(1)
        .unwrap_or("docs/balanced-fairness".into());
    std::fs::create_dir_all(&folder)?;
    for figure in figures() {
        let cluster = Cluster::parse(&figure.text, "figure")?.workload;
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for trial in [Trial::Bimodal, Trial::Hyperexponential, Trial::Zipf] {
            let [rates, delays] = panels(&figure, &cluster, trial)?;
            above.push(rates);
            below.push(delays);
        }
        let entry = |swatch, color, label: &str| Entry {
            swatch,
            color,
            label: label.into(),
        };
        let picture = Picture {
            size: (1200, 760),
            grid: (2, 3),
            panels: above.into_iter().chain(below).collect(),
            legend: vec![
                entry(Swatch::Line(2), GREY, "balanced fairness, exactly"),
                entry(Swatch::Dot, VERMILLION, "first come, first served"),
                entry(Swatch::Dot, BLUE, "one interruption a job"),
                entry(Swatch::Dot, GREEN, "five"),
            ],
        };
        let path = Path::new(&folder).join(format!("figure{}.svg", figure.number));
        picture.draw(&path)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
