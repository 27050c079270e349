//! A figure as a picture: panels, and one legend below them.
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::combinators::WithKeyPoints;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use synth::simulator::Estimate;

use crate::Result;
use crate::table::{Curve, Figure, Look, Mark, Panel};
use crate::theory::Theory;

const GREY: RGBColor = RGBColor(110, 110, 110);
const INK: RGBColor = RGBColor(40, 40, 40);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

pub fn draw(figure: &Figure, path: &Path) -> Result<()> {
    let entries = legend(figure);
    let (width, height) = figure.size;
    let strip = 24 * entries.len().div_ceil(2) as u32 + 18;
    let root = SVGBackend::new(path, (width, height + strip)).into_drawing_area();
    root.fill(&WHITE)?;
    let (panels, below) = root.split_vertically(height);
    for (panel, area) in figure.panels.iter().zip(panels.split_evenly(figure.grid)) {
        draw_panel(panel, &area)?;
    }
    for (k, (swatch, color, label)) in entries.iter().enumerate() {
        let rows = entries.len().div_ceil(2);
        let x = 76 + (width as i32 / 2 - 20) * (k / rows) as i32;
        draw_entry(
            &below,
            (x, 14 + 24 * (k % rows) as i32),
            *swatch,
            *color,
            label,
        )?;
    }
    root.present()?;
    Ok(())
}

#[derive(Clone, Copy)]
enum Swatch {
    Line(u32),
    Dashes,
    Band,
    Dot,
}

fn legend(figure: &Figure) -> Vec<(Swatch, RGBColor, String)> {
    let mut entries: Vec<(Swatch, RGBColor, String)> = Vec::new();
    for curve in figure.panels.iter().flat_map(|p| p.curves.iter().rev()) {
        let swatch = match curve.look {
            Look::Full => (Swatch::Line(3), ", exact"),
            Look::Thin => (Swatch::Line(2), ", exact"),
            Look::Points => (Swatch::Line(1), ", simulated"),
        };
        let end = curve.rows.iter().find(|r| r.simulated.is_none());
        let label = curve.label.clone() + swatch.1;
        let label = match end.filter(|_| curve.look == Look::Points) {
            Some(row) => format!("{label} (no mean from ρ = {} on)", row.load),
            None => label,
        };
        if !entries.iter().any(|(_, _, known)| *known == label) {
            entries.push((swatch.0, curve.color, label));
        }
    }
    entries.push((Swatch::Band, GREY, "theorem 8's bounds".into()));
    entries.push((Swatch::Dashes, GREY, "section 6.4's approximation".into()));
    entries.push((Swatch::Dot, GREY, "simulated, 95 % interval".into()));
    entries
}

fn draw_entry(
    area: &Area<'_>,
    (x, y): (i32, i32),
    swatch: Swatch,
    color: RGBColor,
    label: &str,
) -> Result<()> {
    let line = |from: i32, to: i32, width: u32| {
        PathElement::new([(x + from, y), (x + to, y)], color.stroke_width(width))
    };
    match swatch {
        Swatch::Line(width) => area.draw(&line(0, 30, width))?,
        Swatch::Dashes => {
            for k in 0..3 {
                area.draw(&line(12 * k, 12 * k + 7, 2))?;
            }
        }
        Swatch::Band => {
            let corners = [(x, y - 8), (x + 30, y + 8)];
            area.draw(&Rectangle::new(corners, color.mix(0.25).filled()))?;
        }
        Swatch::Dot => {
            area.draw(&Circle::new((x + 15, y), 4, color.filled()))?;
            area.draw(&PathElement::new(
                [(x + 15, y - 9), (x + 15, y + 9)],
                color.stroke_width(1),
            ))?;
        }
    }
    if matches!(swatch, Swatch::Line(1)) {
        area.draw(&Circle::new((x + 15, y), 4, color.filled()))?;
    }
    area.draw(&Text::new(label.to_string(), (x + 40, y - 7), font(16)))?;
    Ok(())
}

/// X is the horizontal coordinate: linear or logarithmic.
type Chart<'a, 'b, X> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, WithKeyPoints<LogCoord<f64>>>>;

fn draw_panel(panel: &Panel, area: &Area<'_>) -> Result<()> {
    let (low, high) = panel.axis.range;
    match panel.axis.log {
        true => draw_chart(panel, area, (low..high).log_scale()),
        false => draw_chart(panel, area, low..high),
    }
}

fn draw_chart<X>(panel: &Panel, area: &Area<'_>, across: X) -> Result<()>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let up = (panel.heights.0..panel.heights.1).log_scale();
    let all = (0..5).flat_map(|n| [1.0, 2.0, 5.0].map(|d| d * 10_f64.powi(n)));
    let shown = all.filter(|y| *y >= panel.heights.0 && *y <= panel.heights.1);
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(50)
        .y_label_area_size(64)
        .caption(&panel.title, font(18))
        .build_cartesian_2d(across, up.with_key_points(shown.collect()))?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(228, 228, 228))
        .x_labels(8)
        .x_desc(panel.axis.label)
        .y_desc("mean number in system E[Q] [jobs]")
        .x_label_formatter(&|x| format!("{}", (x * 1e6).round() / 1e6))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(font(15))
        .axis_desc_style(font(16))
        .draw()?;
    for curve in &panel.curves {
        draw_curve(&mut chart, panel, curve)?;
    }
    for mark in &panel.marks {
        draw_mark(&mut chart, panel, mark)?;
    }
    Ok(())
}

fn draw_curve<X>(chart: &mut Chart<'_, '_, X>, panel: &Panel, curve: &Curve) -> Result<()>
where
    X: Ranged<ValueType = f64>,
{
    let color = curve.color;
    let known: Vec<(f64, Theory)> = curve
        .rows
        .iter()
        .filter_map(|row| Some(((panel.axis.of)(row), row.theory?)))
        .collect();
    let inside = |y: f64| y.clamp(panel.heights.0, panel.heights.1);
    let visible = |points: Vec<(f64, f64)>| {
        let (low, high) = panel.heights;
        let seen = points.into_iter().filter(move |p| p.1 > low && p.1 < high);
        seen.collect::<Vec<_>>()
    };
    if curve.look == Look::Full {
        let above = known.iter().map(|(x, t)| (*x, inside(t.upper)));
        let below = known.iter().rev().map(|(x, t)| (*x, inside(t.lower)));
        let band: Vec<_> = above.chain(below).collect();
        chart.draw_series([Polygon::new(band, color.mix(0.2))])?;
        let guess = known.iter().map(|(x, t)| (*x, t.approximation)).collect();
        let style = INK.stroke_width(1);
        chart.draw_series(DashedLineSeries::new(visible(guess), 5, 4, style))?;
    }
    let exact = visible(known.iter().map(|(x, t)| (*x, t.exact)).collect());
    let width = if curve.look == Look::Full { 3 } else { 2 };
    chart.draw_series(LineSeries::new(exact, color.stroke_width(width)))?;
    let met = curve.rows.iter().filter_map(|row| {
        let x = (panel.axis.of)(row);
        let e = row.simulated?;
        (e.mean < panel.heights.1).then_some((x, e))
    });
    let met: Vec<(f64, Estimate)> = met.collect();
    if curve.look == Look::Points {
        let joined = met.iter().map(|(x, e)| (*x, e.mean));
        chart.draw_series(LineSeries::new(joined, color.stroke_width(1)))?;
    }
    chart.draw_series(met.iter().map(|(x, e)| {
        let (low, high) = (inside(e.mean - e.half_width), inside(e.mean + e.half_width));
        ErrorBar::new_vertical(*x, low, e.mean, high, color.filled(), 7)
    }))?;
    let dot = |(x, e): &(f64, Estimate)| Circle::new((*x, e.mean), 4, color.filled());
    chart.draw_series(met.iter().map(dot))?;
    Ok(())
}

fn draw_mark<X>(chart: &mut Chart<'_, '_, X>, panel: &Panel, mark: &Mark) -> Result<()>
where
    X: Ranged<ValueType = f64>,
{
    let x = mark.at;
    let (low, high) = panel.heights;
    let style = INK.stroke_width(1);
    let ends = vec![(x, low), (x, high)];
    match mark.dashed {
        true => chart.draw_series(DashedLineSeries::new(ends, 5, 4, style))?,
        false => chart.draw_series(LineSeries::new(ends, style))?,
    };
    let y = high * (low / high).powf(mark.height);
    // The width of the text is a guess: the reader's browser chooses the font.
    let width = 8 * mark.label.chars().count() as i32;
    let shift = if mark.left { -width - 6 } else { 6 };
    let text = Text::new(mark.label.clone(), (shift, 0), font(15));
    chart.draw_series([EmptyElement::at((x, y)) + text])?;
    Ok(())
}
