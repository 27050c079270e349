//! Synthesis through the library: draws the mean response time over the load for two
//! synthesized policies and two rules that people run, on models/section7.yaml.
//!
//!     cargo run --release --example response_over_load [PICTURE.svg]
//!
//! Writes docs/response_over_load.svg where no file is named, in a minute or less, and prints the
//! points; among them:
//!
//!     First-Fit 0.9 21.042 ± 2.429
//!     pMSR, synthesized 0.9 5.347 ± 0.066
use std::{error::Error, path::Path};

use plotters::prelude::*;
use synth::multiresource::artifact::Preemption;
use synth::multiresource::simulator::{Contender, Estimate, Settings};
use synth::multiresource::synthesis::{Options, Outcome, synthesize};
use synth::multiresource::workload::Workload;

const LOADS: [f64; 16] = [
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95,
];

enum Rule {
    Named(Contender),
    Synthesized(Preemption),
}

/// What is drawn, and how.
struct Curve {
    label: &'static str,
    color: RGBColor,
    rule: Rule,
}

type Points = Vec<(f64, Estimate)>;

impl Curve {
    fn contender(&self, workload: &Workload) -> Result<Contender, Box<dyn Error>> {
        let preemption = match &self.rule {
            Rule::Named(rule) => return Ok(rule.clone()),
            Rule::Synthesized(preemption) => *preemption,
        };
        match synthesize(workload, &Options::new(preemption))? {
            Outcome::Policy(made) => Ok(made.server().policy.rule.clone().into()),
            _ => Err("no policy can stabilize this workload".into()),
        }
    }

    /// Simulates at each load, up to the first without a steady state.
    fn points(&self, workload: &Workload) -> Result<Points, Box<dyn Error>> {
        let settings = Settings {
            events: 20_000_000,
            ..Settings::default()
        };
        let mut points = Points::new();
        for load in LOADS {
            // The document's own load is .9 exactly.
            let scaled = workload.scaled(load / 0.9)?;
            let run = self
                .contender(&scaled)?
                .simulate(&scaled, &settings, |_| ())?;
            let Some(mean) = run.mean_response else { break };
            println!(
                "{} {load} {:.3} ± {:.3}",
                self.label, mean.mean, mean.half_width
            );
            points.push((load, mean));
        }
        Ok(points)
    }
}

/// The curve's line in the legend, with the load where it ends, if it does.
fn legend(curve: &Curve, points: &Points) -> String {
    match LOADS.get(points.len()) {
        Some(load) => format!("{} (no steady state at ρ = {load})", curve.label),
        None => curve.label.into(),
    }
}

fn draw(path: &Path, curves: &[(Curve, Points)]) -> Result<(), Box<dyn Error>> {
    let font = |size: u32| {
        ("sans-serif", size)
            .into_font()
            .color(&RGBColor(40, 40, 40))
    };
    let root = SVGBackend::new(path, (760, 500)).into_drawing_area();
    root.fill(&WHITE)?;
    let times = (0.9..100.0_f64).log_scale();
    let times = times.with_key_points(vec![1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    let mut chart = ChartBuilder::on(&root)
        .margin(18)
        .x_label_area_size(52)
        .y_label_area_size(62)
        .build_cartesian_2d(0.0..1.0_f64, times)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(228, 228, 228))
        .x_desc("load ρ (at 1 no policy can keep up)")
        .y_desc("mean response time [s], log scale")
        .x_label_formatter(&|x| format!("{x:.1}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(font(15))
        .axis_desc_style(font(16))
        .draw()?;
    for (curve, points) in curves {
        let color = curve.color;
        let line = points.iter().map(|(load, e)| (*load, e.mean));
        let key = move |(x, y)| PathElement::new([(x, y), (x + 24, y)], color.stroke_width(3));
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(2)))?
            .label(legend(curve, points))
            .legend(key);
        chart.draw_series(points.iter().map(|(load, e)| {
            let (low, high) = (e.mean - e.half_width, e.mean + e.half_width);
            ErrorBar::new_vertical(*load, low, e.mean, high, color.filled(), 7)
        }))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .margin(16)
        .legend_area_size(32)
        .label_font(font(16))
        .draw()?;
    root.present()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or("docs/response_over_load.svg".into());
    let workload = Workload::read(Path::new("models/section7.yaml"))?.workload;
    let curve = |label, color, rule| Curve { label, color, rule };
    let curves = [
        curve(
            "FCFS",
            RGBColor(120, 120, 120),
            Rule::Named(Contender::Fcfs),
        ),
        curve(
            "First-Fit",
            RGBColor(213, 94, 0),
            Rule::Named(Contender::FirstFit),
        ),
        curve(
            "nMSR, synthesized",
            RGBColor(0, 114, 178),
            Rule::Synthesized(Preemption::None),
        ),
        curve(
            "pMSR, synthesized",
            RGBColor(0, 138, 100),
            Rule::Synthesized(Preemption::Full),
        ),
    ];
    let mut drawn = Vec::new();
    for curve in curves {
        let points = curve.points(&workload)?;
        drawn.push((curve, points));
    }
    draw(Path::new(&path), &drawn)?;
    println!("wrote {path}");
    Ok(())
}
