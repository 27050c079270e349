//! Synthesis through the library: draws the mean response time over the load of what synth chooses
//! for models/section7.yaml without preemption, beside three rules and a bound that no policy without
//! preemption can beat.
//!
//!     cargo run --release --example response_over_load [PICTURE.svg]
//!
//! Writes docs/response_over_load.svg where no file is named, in some eight minutes of one core, and
//! prints the points.
//!
//! # Points
//! Each has a 95 % interval of at most 1 %, or as many events as allowed. A run that is too short is
//! made again with more events: where switching costs nothing, at low load, nMSR switches a thousand
//! times a second, and nearly all events are switches. A point without a steady state
//! is left out, and only that one; the legend says where.
//!
//! # The bound
//! That of [`optimum`]'s dynamic program, on boxes of limited size. It holds wherever the program
//! ends, but is near the optimum only where the box is large enough (drawn solid). Beyond (dashed), the
//! bound of a lower load holds too, and the larger of the two is drawn: the optimum is monotone in the
//! load. For let a policy be given for a load ρ' > ρ. At load ρ, let it run with phantom
//! jobs that arrive as Poisson streams and fill each type's rate up to that of ρ'; it cannot tell them from
//! the others, so that both have the same mean response time of their type, and the types' shares
//! are the same at both loads. The real jobs have the mean response time of ρ', without preemption.
use std::sync::atomic::AtomicBool;
use std::{error::Error, path::Path, time::Duration};

use plotters::coord::combinators::{LogCoord, WithKeyPoints};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::TextStyle;
use synth::multiresource::artifact::Preemption;
use synth::multiresource::optimum::{Ended, OptimumLimits, Problem, optimum};
use synth::multiresource::simulator::{Contender, Ending, Estimate, Health, Run, Settings};
use synth::multiresource::synthesis::{
    ChoiceOptions, Families, SynthesisOptions, SynthesisOutcome, choose, synthesize,
};
use synth::multiresource::workload::Workload;

const LOADS: [f64; 16] = [
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95,
];

/// Events of a run \[at first, of one that has a mean, of one that has none\]; four times as many from
/// one to the next.
const EVENTS: [u64; 3] = [20_000_000, 80_000_000, 320_000_000];

const BOUND_COLOR: RGBColor = RGBColor(110, 110, 110);

#[derive(Clone)]
enum Rule {
    /// A rule by name.
    Named(Contender),
    /// nMSR, synthesized for each load.
    Msr,
    /// What `synth --preemption none` makes for each load.
    Chosen,
}

/// What is drawn, and how.
struct Curve {
    label: &'static str,
    color: RGBColor,
    rule: Rule,
}

/// A mean at each load; none without a steady state.
type Points = Vec<(f64, Option<Estimate>)>;

/// A load, the bound there, and whether the dynamic program ended with the optimum known to .5 %.
type Bound = (f64, f64, bool);

/// Whether an interval is narrow enough to be drawn: a queue that fills for as long as the run lasts may
/// still look settled.
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
            return Err("no policy can stabilize this workload".into());
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

impl Curve {
    /// Simulates at each load, on arrivals and sizes that no policy was chosen on.
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

/// The workload at another load: the document's own is .9 exactly.
fn at(workload: &Workload, load: f64) -> Result<Workload, Box<dyn Error>> {
    Ok(workload.scaled(load / 0.9)?)
}

/// A run that is long enough to have a precise mean, if the policy has a steady state.
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

/// The bound at each load.
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

/// The curve's line in the legend, with the loads where it has no point.
fn legend(curve: &Curve, points: &Points) -> String {
    let drawn = points.iter().rposition(|(_, point)| point.is_some());
    let (first, rest) = points.split_at(drawn.map_or(0, |last| last + 1));
    let gaps = first.iter().filter(|(_, point)| point.is_none());
    let gaps: Vec<String> = gaps.map(|(load, _)| number(*load)).collect();
    let mut missing = Vec::new();
    if !gaps.is_empty() {
        missing.push(format!("no mean at ρ = {}", gaps.join(", ")));
    }
    if let Some((load, _)) = rest.first() {
        missing.push(format!("no steady state from ρ = {} on", number(*load)));
    }
    match missing.is_empty() {
        true => curve.label.into(),
        false => format!("{} ({})", curve.label, missing.join("; ")),
    }
}

fn number(x: f64) -> String {
    x.to_string().trim_start_matches('0').into()
}

type Chart<'a> =
    ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, WithKeyPoints<LogCoord<f64>>>>;

/// The bottom of the picture \[s\].
const LOWEST: f64 = 0.9;

fn font(size: u32) -> TextStyle<'static> {
    let font = ("sans-serif", size).into_font();
    font.color(&RGBColor(40, 40, 40))
}

fn draw(path: &Path, curves: &[(Curve, Points)], bounds: &[Bound]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (800, 520)).into_drawing_area();
    root.fill(&WHITE)?;
    let times = (LOWEST..60.0_f64).log_scale();
    let times = times.with_key_points(vec![1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
    let mut chart = ChartBuilder::on(&root)
        .margin(18)
        .x_label_area_size(52)
        .y_label_area_size(62)
        .build_cartesian_2d(0.05..1.0_f64, times)?;
    let ends = [bounds.last(), bounds.first()].into_iter().flatten();
    let corners = ends.map(|&(load, ..)| (load, LOWEST));
    let line = bounds.iter().map(|&(load, value, _)| (load, value));
    let below: Vec<(f64, f64)> = line.chain(corners).collect();
    chart.draw_series([Polygon::new(below, RGBColor(238, 238, 238))])?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(224, 224, 224))
        .x_desc("load ρ (at 1 no policy can keep up)")
        .y_desc("mean response time [s], log scale")
        .x_label_formatter(&|x| format!("{x:.1}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(font(15))
        .axis_desc_style(font(16))
        .draw()?;
    for (curve, points) in curves {
        draw_curve(&mut chart, curve, points)?;
    }
    draw_bound(&mut chart, bounds)?;
    name_curves(&mut chart, curves, bounds)?;
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

/// A missing point breaks the line.
fn draw_curve(chart: &mut Chart<'_>, curve: &Curve, points: &Points) -> Result<(), Box<dyn Error>> {
    let color = curve.color;
    let width = if let Rule::Chosen = curve.rule { 4 } else { 2 };
    for segment in points.split(|(_, point)| point.is_none()) {
        let means = segment
            .iter()
            .filter_map(|(load, point)| Some((*load, point.as_ref()?.mean)));
        chart.draw_series(LineSeries::new(means, color.stroke_width(width)))?;
    }
    let settled = points
        .iter()
        .filter_map(|(load, point)| Some((*load, point.as_ref()?)));
    chart.draw_series(settled.map(|(load, e)| {
        let (low, high) = (e.mean - e.half_width, e.mean + e.half_width);
        ErrorBar::new_vertical(load, low, e.mean, high, color.filled(), 7)
    }))?;
    Ok(())
}

/// Solid where the dynamic program is solved, dashed beyond.
fn draw_bound(chart: &mut Chart<'_>, bounds: &[Bound]) -> Result<(), Box<dyn Error>> {
    let solved = bounds.iter().take_while(|(_, _, solved)| *solved).count();
    let points: Vec<(f64, f64)> = bounds
        .iter()
        .map(|&(load, value, _)| (load, value))
        .collect();
    let line = BOUND_COLOR.stroke_width(2);
    chart.draw_series(LineSeries::new(points[..solved].iter().copied(), line))?;
    let rest = points[solved.saturating_sub(1)..].iter().copied();
    chart.draw_series(DashedLineSeries::new(rest, 6, 4, line))?;
    let dots = points
        .iter()
        .map(|&at| Circle::new(at, 2, BOUND_COLOR.filled()));
    chart.draw_series(dots)?;
    Ok(())
}

/// The legend: what is on top first.
fn name_curves(
    chart: &mut Chart<'_>,
    curves: &[(Curve, Points)],
    bounds: &[Bound],
) -> Result<(), Box<dyn Error>> {
    let bound_label = match bounds.iter().find(|(_, _, solved)| !solved) {
        Some((load, ..)) => format!(
            "no policy without preemption is below (dashed from ρ = {} on: loose)",
            number(*load)
        ),
        None => "no policy without preemption is below".into(),
    };
    let entries = curves.iter().rev().map(|(curve, points)| {
        let width = if let Rule::Chosen = curve.rule { 4 } else { 3 };
        (legend(curve, points), curve.color, width)
    });
    for (label, color, width) in entries.chain([(bound_label, BOUND_COLOR, 2)]) {
        let key = move |(x, y)| PathElement::new([(x, y), (x + 24, y)], color.stroke_width(width));
        let nothing = LineSeries::new(std::iter::empty(), color);
        chart.draw_series(nothing)?.label(label).legend(key);
    }
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
            "First-Fit",
            RGBColor(213, 94, 0),
            Rule::Named(Contender::parse("first-fit")?),
        ),
        curve(
            "EASY backfilling",
            RGBColor(170, 80, 160),
            Rule::Named(Contender::parse("easy-backfill")?),
        ),
        curve("nMSR (--family msr)", RGBColor(0, 138, 100), Rule::Msr),
        curve("what synth chooses", RGBColor(0, 114, 178), Rule::Chosen),
    ];
    let bounds = bounds(&workload)?;
    let mut drawn = Vec::new();
    for curve in curves {
        let points = curve.points(&workload)?;
        drawn.push((curve, points));
    }
    draw(Path::new(&path), &drawn, &bounds)?;
    println!("wrote {path}");
    Ok(())
}
