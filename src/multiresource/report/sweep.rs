//! The cost over the switching rate, as CSV and as a picture.

use std::fmt::Write as _;

use itertools::Itertools;
use plotters::prelude::*;

use crate::multiresource::artifact::Route;
use crate::multiresource::synthesis::SweepPoint;
use crate::multiresource::workload::Workload;

/// One line a point; empty where there is no exact value.
pub fn sweep_csv(workload: &Workload, swept: &[SweepPoint]) -> String {
    let unit = workload.time_unit();
    let mut text = format!(
        "route,switching_rate [1/{unit}],mean_response [{unit}],weighted_response [{unit}],lower_bound [{unit}],approximation [{unit}],upper_bound [{unit}]\n"
    );
    let exact = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    for point in swept {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{}",
            point.route,
            point.switching_rate,
            exact(point.mean_response),
            exact(point.weighted_response),
            point.lower,
            point.approximation,
            point.upper
        );
    }
    text
}

/// Colours that differ without hue, too.
const COLORS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(110, 110, 110),
];

/// Mean response time over the switching rate, a curve for each route: exact, or the
/// approximation (which the legend says) where a point has no exact value; the bounds shaded.
///
/// # Errors
/// When the picture cannot be drawn.
pub fn sweep_plot(
    workload: &Workload,
    swept: &[SweepPoint],
) -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    draw(workload, swept, &mut svg).map_err(|e| format!("cannot draw the curves: {e}"))?;
    Ok(svg)
}

fn value(point: &SweepPoint) -> f64 {
    point.mean_response.unwrap_or(point.approximation)
}

/// Rates and times that are shown: of times, up to some multiple of the least.
fn ranges(swept: &[SweepPoint]) -> (std::ops::Range<f64>, std::ops::Range<f64>) {
    let rates = swept.iter().map(|p| p.switching_rate);
    let (low, high) = rates.fold((f64::MAX, 0.0), |(a, b), r| {
        (f64::min(a, r), f64::max(b, r))
    });
    let least = swept.iter().map(value).fold(f64::MAX, f64::min);
    let most = swept.iter().map(value).fold(0.0, f64::max);
    (low..high, least / 1.5..(most * 1.2).min(least * 300.0))
}

/// A number for an axis: four significant digits, no trailing zeros.
fn short(value: f64) -> String {
    let digits = 10_f64.powf(3.0 - value.abs().log10().floor());
    format!("{}", (value * digits).round() / digits)
}

fn draw(
    workload: &Workload,
    swept: &[SweepPoint],
    svg: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let unit = workload.time_unit();
    let root = SVGBackend::with_string(svg, (800, 520)).into_drawing_area();
    root.fill(&WHITE)?;
    let (rates, times) = ranges(swept);
    let mut chart = ChartBuilder::on(&root)
        .margin(18)
        .x_label_area_size(52)
        .y_label_area_size(72)
        .build_cartesian_2d(rates.clone().log_scale(), times.clone().log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(228, 228, 228))
        .x_desc(format!("switching rate [1/{unit}], log scale"))
        .y_desc(format!("mean response time [{unit}], log scale"))
        .y_labels(7)
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&|y| short(*y))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 16))
        .draw()?;
    let inside = |y: f64| y.clamp(times.start, times.end);
    let by_route = swept.iter().chunk_by(|point| point.route);
    let curves: Vec<(Route, Vec<&SweepPoint>)> = by_route
        .into_iter()
        .map(|(r, points)| (r, points.collect()))
        .collect();
    for (n, (route, points)) in curves.iter().enumerate() {
        let color = COLORS[n % COLORS.len()];
        let upper = points.iter().map(|p| (p.switching_rate, inside(p.upper)));
        let lower = points
            .iter()
            .rev()
            .map(|p| (p.switching_rate, inside(p.lower)));
        let band: Vec<(f64, f64)> = upper.chain(lower).collect();
        chart.draw_series([Polygon::new(band, color.mix(0.1))])?;
        let exact = points.iter().all(|p| p.mean_response.is_some());
        let told = if exact { "" } else { " (approximation)" };
        let best = points.iter().map(|p| value(p)).fold(f64::MAX, f64::min);
        let line = points.iter().map(|p| (p.switching_rate, value(p)));
        let shown = line.filter(|(_, y)| *y <= times.end);
        chart
            .draw_series(LineSeries::new(shown, color.stroke_width(2)))?
            .label(format!(
                "{route}{told}, least {} {unit}",
                super::number(best)
            ))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], color.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperMiddle)
        .background_style(WHITE)
        .margin(12)
        .legend_area_size(32)
        .label_font(("sans-serif", 15))
        .draw()?;
    root.present()?;
    Ok(())
}
