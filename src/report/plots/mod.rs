//! Pictures of results, as SVG without its outer element: points with intervals over a load, rows
//! of points, and courses over time.
//!
//! Everything is drawn in few colours that a style sheet can find by their hex code and replace,
//! for dark ground or for print; see [`INK`], [`GRID`], [`marks`].

mod axis;
mod marks;

use plotters::chart::ChartContext;
use plotters::prelude::*;

pub use axis::{Axis, Scale, short};
pub use marks::{Look, rules};

/// Colour of text.
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Colour of the lines behind.
const GRID: RGBColor = RGBColor(0xe0, 0xe0, 0xe0);

/// Width of a picture, in units of which a letter is [`LETTER`] high.
pub const WIDTH: u32 = 480;
/// A telephone shows a picture of 480 on some 360 pixels: letters of 14 are then 10.5 high.
const LETTER: u32 = 14;

/// What stands between `<svg>` and `</svg>`, with its size.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Width, in the units of what is inside.
    pub width: u32,
    /// Height, in the same units.
    pub height: u32,
    /// The elements.
    pub body: String,
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where on the other axis.
    pub at: f64,
    /// The value.
    pub value: f64,
    /// Half the width of its interval; 0 where none is known.
    pub half_width: f64,
}

/// One policy's points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// How it looks.
    pub look: Look,
    /// Its points, ascending in `at`.
    pub points: Vec<Point>,
    /// Where it has no value, because it is unstable.
    pub unstable: Vec<f64>,
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;
type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// Curves over an axis, with marks and vertical intervals; crosses at the upper edge where a
/// policy is unstable.
pub fn curves(x: &Axis, y: &Axis, curves: &[Curve]) -> Drawn<Picture> {
    picture(300, x, y, |chart| {
        for curve in curves {
            let at = |p: &Point| (p.at, p.value);
            line(chart, curve.look, curve.points.iter().map(at))?;
        }
        for (n, curve) in curves.iter().enumerate() {
            for p in &curve.points {
                let [low, high] = [p.value - p.half_width, p.value + p.half_width];
                let end = |value: f64| (p.at, value);
                mark(chart, curve.look, end(p.value), [end(low), end(high)])?;
            }
            for &load in &curve.unstable {
                cross(chart, curve.look, (load, y.high()), n)?;
            }
        }
        Ok(())
    })
}

/// Rows of points with horizontal intervals: row r at `r`, from above, one curve a policy; `at` of
/// a point is its row.
pub fn rows(labels: &[String], x: &Axis, curves: &[Curve]) -> Drawn<Picture> {
    let count = labels.len();
    let height = (14 + 6 * curves.len() as u32).clamp(22, 50) * count as u32 + 60;
    let ticks = labels.iter().enumerate();
    let ticks = ticks.map(|(r, label)| (-(r as f64), cut(label))).collect();
    let y = Axis::new("", Scale::Linear, 0.5 - count as f64, 0.5).with_ticks(ticks);
    picture(height, x, &y, |chart| {
        for (n, curve) in curves.iter().enumerate() {
            // Side by side, so that points of the same value are all seen.
            let aside = (n as f64 + 0.5) / curves.len() as f64 - 0.5;
            for p in &curve.points {
                let row = -(p.at + 0.7 * aside);
                let [low, high] = [p.value - p.half_width, p.value + p.half_width];
                let end = |value: f64| (value, row);
                mark(chart, curve.look, end(p.value), [end(low), end(high)])?;
            }
        }
        Ok(())
    })
}

/// Courses over time: lines without marks.
pub fn courses(x: &Axis, y: &Axis, curves: &[Curve]) -> Drawn<Picture> {
    picture(240, x, y, |chart| {
        for curve in curves {
            let at = |p: &Point| (p.at, p.value);
            line(chart, curve.look, curve.points.iter().map(at))?;
        }
        Ok(())
    })
}

/// A piece of a policy's line with its mark, for a legend.
pub fn key(look: Look) -> Drawn<Picture> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (44, 16)).into_drawing_area();
        root.draw(&PathElement::new(
            [(1, 8), (43, 8)],
            look.line().stroke_width(2),
        ))?;
        root.draw(&(EmptyElement::at((22, 8)) + Polygon::new(look.corners(), look.mark())))?;
        root.present()?;
    }
    Ok(Picture {
        width: 44,
        height: 16,
        body: inside(&svg),
    })
}

/// Longest label of a row; the rest is cut off.
const LONGEST: usize = 16;

fn cut(label: &str) -> String {
    match label.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &label[..end]),
        None => label.into(),
    }
}

/// Draws on axes.
fn picture(
    height: u32,
    x: &Axis,
    y: &Axis,
    draw: impl FnOnce(&mut Chart<'_, '_>) -> Drawn<()>,
) -> Drawn<Picture> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin_top(10)
            .margin_right(16)
            .x_label_area_size(if x.title.is_empty() { 26 } else { 44 })
            .y_label_area_size(label_width(y))
            .build_cartesian_2d(x.clone(), y.clone())?;
        mesh(&mut chart, x, y)?;
        draw(&mut chart)?;
        root.present()?;
    }
    Ok(Picture {
        width: WIDTH,
        height,
        body: inside(&svg),
    })
}

/// Room for the labels of the vertical axis.
fn label_width(y: &Axis) -> u32 {
    let labels = y.labels();
    let longest = labels.map(|l| l.chars().count()).max().unwrap_or(0);
    18 + LETTER * 6 / 10 * longest as u32
}

fn mesh(chart: &mut Chart<'_, '_>, x: &Axis, y: &Axis) -> Drawn<()> {
    let font = |size: u32| ("sans-serif", size).into_font().color(&INK);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .x_desc(x.title.as_str())
        .x_labels(x.labels().count())
        .y_labels(y.labels().count())
        .x_label_formatter(&|value| x.label(*value))
        .y_label_formatter(&|value| y.label(*value))
        .label_style(font(LETTER))
        .axis_desc_style(font(LETTER))
        .draw()?;
    Ok(())
}

type Place = (f64, f64);

fn line(chart: &mut Chart<'_, '_>, look: Look, points: impl Iterator<Item = Place>) -> Drawn<()> {
    let style = look.line().stroke_width(2);
    chart.draw_series(LineSeries::new(points, style))?;
    Ok(())
}

/// A mark with its interval.
fn mark(chart: &mut Chart<'_, '_>, look: Look, at: Place, interval: [Place; 2]) -> Drawn<()> {
    let style = look.mark().stroke_width(2);
    chart.draw_series([PathElement::new(interval, style)])?;
    let shape = EmptyElement::at(at) + Polygon::new(look.corners(), look.mark());
    chart.draw_series([shape])?;
    Ok(())
}

/// A cross, the n-th beside the others.
fn cross(chart: &mut Chart<'_, '_>, look: Look, at: Place, n: usize) -> Drawn<()> {
    let aside = 12 * n as i32;
    let style = look.mark().stroke_width(3);
    let stroke =
        |down: i32| PathElement::new([(-aside - 4, 8 - down), (-aside + 4, 8 + down)], style);
    chart.draw_series([EmptyElement::at(at) + stroke(4) + stroke(-4)])?;
    Ok(())
}

/// What stands inside of the outer element.
fn inside(svg: &str) -> String {
    let start = svg.find('>').map_or(0, |end| end + 1);
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg[start..end].trim().to_string()
}
