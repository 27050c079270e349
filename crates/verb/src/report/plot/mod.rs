//! Pictures of results, as SVG without its outer element: points with intervals over a load, rows
//! of points, and lines over time.
//!
//! Everything is drawn in few colours that a style sheet can find by their hex code and replace,
//! for dark ground or for print; see `INK`, `GRID`, `marks`.

mod axis;
mod marks;
mod schedule;
mod sheet;

use plotters::chart::ChartContext;
use plotters::prelude::*;

use crate::report::{fitting, span};
use synth_simulation::Estimate;

pub use axis::{Axis, Scale, short};
pub use marks::{Look, rules};
pub use schedule::{schedule, swatch};
pub use sheet::{Chart, Sheet};

/// Colour of text.
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Colour of the lines behind.
const GRID: RGBColor = RGBColor(0xe0, 0xe0, 0xe0);

/// Width of a picture, in units of which a letter is `LETTER` high.
pub const WIDTH: u32 = 480;
/// A telephone shows the 480 units of a picture on about 360 pixels. The library writes 17 as 13.7
/// units, 10.2 pixels there.
const LETTER: u32 = 17;

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

/// What is drawn, or why it cannot be.
pub type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// A picture on a page.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Unique on the page, which gives it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its content for readers who do not see it.
    pub description: String,
    /// What stands below it.
    pub note: String,
    /// The picture.
    pub picture: Picture,
}

impl Panel {
    /// Returns a panel that no page has named yet.
    pub fn new(title: String, description: String, picture: Picture) -> Self {
        Panel {
            id: String::new(),
            title,
            description,
            note: String::new(),
            picture,
        }
    }
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

impl Point {
    /// Returns a value without an interval.
    pub fn exact(at: f64, value: f64) -> Self {
        Point::new(at, Estimate::exact(value))
    }

    /// Returns a value with its interval.
    pub fn new(at: f64, estimate: Estimate) -> Self {
        Point {
            at,
            value: estimate.mean,
            half_width: estimate.half_width,
        }
    }

    fn interval(&self) -> [f64; 2] {
        [self.value - self.half_width, self.value + self.half_width]
    }
}

/// How the points of a curve are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Marks with their intervals, joined by a line.
    Joined,
    /// A line.
    Line,
    /// A thin dashed line.
    Dashes,
    /// Marks with their intervals.
    Marks,
    /// The area between the ends of the intervals.
    Band,
}

impl Style {
    fn has_marks(self) -> bool {
        matches!(self, Style::Joined | Style::Marks)
    }

    fn stroke(self, look: Look) -> ShapeStyle {
        look.line()
            .stroke_width(if self == Style::Dashes { 1 } else { 2 })
    }
}

/// Opacity of a band.
const SHADE: f64 = 0.2;

/// One policy's points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// How it looks.
    pub look: Look,
    /// How its points are drawn.
    pub style: Style,
    /// Its points, ascending in `at`.
    pub points: Vec<Point>,
    /// Where it has no value, because it is unstable.
    pub unstable: Vec<f64>,
}

impl Curve {
    /// Returns the curve of the n-th policy.
    pub fn new(n: usize, points: Vec<Point>) -> Self {
        Curve {
            look: Look::new(n),
            style: Style::Joined,
            points,
            unstable: Vec::new(),
        }
    }
}

type Canvas<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// Curves over an axis, with marks and vertical intervals. Above them a row of crosses for each
/// policy that is unstable somewhere.
pub fn curves(x: &Axis, y: &Axis, curves: &[Curve]) -> Drawn<Picture> {
    let unstable: Vec<&Curve> = curves.iter().filter(|c| !c.unstable.is_empty()).collect();
    let above = unstable.len() as u32 * CROSS;
    picture((WIDTH, 300), above, true, (x, y), |chart| {
        draw(chart, curves)?;
        for (n, curve) in unstable.iter().enumerate() {
            for &load in &curve.unstable {
                cross(chart, curve.look, (load, y.high()), n)?;
            }
        }
        Ok(())
    })
}

/// One time of policies over another, both linear, with these names: the place of each policy and both times, in this unit.
pub fn front([x, y]: [&str; 2], unit: &str, times: &[(usize, f64, f64)]) -> Drawn<Panel> {
    let fitting = |of: fn(&(usize, f64, f64)) -> f64| {
        let longest = times.iter().map(of).fold(0.0, f64::max);
        fitting(longest, unit)
    };
    let ((across, of_x), (up, of_y)) = (fitting(|own| own.1), fitting(|own| own.2));
    let point = |x: &f64, y: &f64| Point::exact(of_x * x, of_y * y);
    let curves_of = times
        .iter()
        .map(|(n, x, y)| Curve::new(*n, vec![point(x, y)]));
    let all: Vec<Curve> = curves_of.collect();
    let points = || all.iter().flat_map(|curve| &curve.points);
    let x = format!("{x} [{across}]");
    let x = Axis::around(&x, Scale::Linear, points().map(|own| own.at));
    let title = format!("{y} [{up}] over {}", x.title);
    let up = Axis::around("", Scale::Linear, points().map(|own| own.value));
    let description = format!("One mark a policy: {title}");
    Ok(Panel::new(title, description, curves(&x, &up, &all)?))
}

/// Rows of points with horizontal intervals: row r at `r`, from above, one curve a policy; `at` of
/// a point is its row.
pub fn rows(labels: &[String], x: &Axis, all: &[Curve]) -> Drawn<Picture> {
    let curves: Vec<&Curve> = all.iter().filter(|c| !c.points.is_empty()).collect();
    let count = labels.len();
    let y = axis_of_rows(labels.iter());
    let height = (16 + 7 * curves.len() as u32).clamp(24, 56) * count as u32 + 60;
    picture((WIDTH, height), 0, false, (x, &y), |chart| {
        for row in 1..count {
            let between = 0.5 - row as f64;
            let ends = [(x.low(), between), (x.high(), between)];
            chart.draw_series([PathElement::new(ends, GRID)])?;
        }
        for (n, curve) in curves.iter().enumerate() {
            // Side by side, so that points of the same value are all seen.
            let aside = 0.7 * ((n as f64 + 0.5) / curves.len() as f64 - 0.5);
            for p in &curve.points {
                let row = -(p.at + aside);
                let [low, high] = p.interval().map(|value| (value, row));
                mark(chart, curve.look, (p.value, row), [low, high])?;
            }
        }
        Ok(())
    })
}

/// Lines without marks.
pub fn lines(x: &Axis, y: &Axis, curves: &[Curve]) -> Drawn<Picture> {
    picture((WIDTH, 240), 0, true, (x, y), |chart| {
        curves.iter().try_for_each(|curve| line(chart, curve))
    })
}

/// Draws times of policies as horizontal bars with intervals, from above: the place of each, its label, and its time with half
/// the width of the interval, in this unit.
pub fn bars(title: &str, unit: &str, times: &[(usize, String, [f64; 2])]) -> Drawn<Panel> {
    let (unit, factor) = fitting(times.iter().map(|own| own.2[0]).fold(0.0, f64::max), unit);
    let shown = |time: f64| span((factor * time, 0.0), unit);
    let (mut said, mut longest) = (Vec::new(), 0.0_f64);
    for (_, label, [time, half_width]) in times {
        said.push(format!("{label} {}", shown(*time)));
        longest = longest.max(factor * (time + half_width));
    }
    let description = format!("{title}: {}", said.join(", "));
    // The text behind the longest bar needs some space.
    let end = if longest > 0.0 { 1.4 * longest } else { 1.0 };
    let x = Axis::new(&format!("[{unit}]"), Scale::Linear, 0.0, end);
    let y = axis_of_rows(times.iter().map(|own| &own.1));
    let height = 36 * times.len() as u32 + 60;
    let picture = picture((WIDTH, height), 0, false, (&x, &y), |chart| {
        for (n, (place, _, time)) in times.iter().enumerate() {
            let row = -(n as f64);
            let [value, half_width] = time.map(|own| factor * own);
            let corners = [(0.0, row - 0.32), (value, row + 0.32)];
            chart.draw_series([Rectangle::new(corners, Look::new(*place).mark().filled())])?;
            let ends = [
                ((value - half_width).max(0.0), row),
                (value + half_width, row),
            ];
            chart.draw_series([PathElement::new(ends, INK.stroke_width(2))])?;
            let text = Text::new(shown(time[0]), (7, -9), font());
            chart.draw_series([EmptyElement::at(ends[1]) + text])?;
        }
        Ok(())
    })?;
    let has_intervals = times.iter().any(|own| own.2[1] > 0.0);
    let note = "Lines are 95 % intervals, drawn symmetrically.".to_owned();
    Ok(Panel {
        note: Some(note).filter(|_| has_intervals).unwrap_or_default(),
        ..Panel::new(title.into(), description, picture)
    })
}

/// Returns the vertical axis of rows with these labels, from above.
fn axis_of_rows<'a>(labels: impl ExactSizeIterator<Item = &'a String>) -> Axis {
    let axis = Axis::new("", Scale::Linear, 0.5 - labels.len() as f64, 0.5);
    let ticks = labels.enumerate();
    axis.with_ticks(
        ticks
            .map(|(row, label)| (-(row as f64), cut(label)))
            .collect(),
    )
}

/// Draws a piece of a curve, for a legend.
pub fn key(look: Look, style: Style) -> Drawn<Picture> {
    let (width, height) = (44, 16);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        let stroke = |from, to| PathElement::new([from, to], style.stroke(look));
        match style {
            Style::Band => {
                let corners = [(1, 1), (43, 15)];
                root.draw(&Rectangle::new(corners, look.mark().mix(SHADE).filled()))?;
            }
            Style::Dashes => {
                for x in [1, 13, 25, 37] {
                    root.draw(&stroke((x, 8), (x + 6, 8)))?;
                }
            }
            Style::Marks => root.draw(&stroke((22, 0), (22, 16)))?,
            Style::Joined | Style::Line => root.draw(&stroke((1, 8), (43, 8)))?,
        }
        if style.has_marks() {
            root.draw(&(EmptyElement::at((22, 8)) + Polygon::new(look.corners(), look.mark())))?;
        }
        root.present()?;
    }
    Ok(Picture {
        width,
        height,
        body: inside(&svg),
    })
}

/// Longest label of a row; the rest is cut off.
const LONGEST: usize = 18;

fn cut(label: &str) -> String {
    let end = label.char_indices().nth(LONGEST);
    end.map_or(label.into(), |(end, _)| format!("{}…", &label[..end]))
}

/// Draws on axes, with so much room above them; `across` tells whether the ticks of the vertical axis have lines.
fn picture(
    size: (u32, u32),
    above: u32,
    across: bool,
    (x, y): (&Axis, &Axis),
    draw: impl FnOnce(&mut Canvas<'_, '_>) -> Drawn<()>,
) -> Drawn<Picture> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let longest = y.labels().map(|label| label.chars().count()).max();
        let mut chart = ChartBuilder::on(&root)
            .margin_top(10 + above)
            .margin_right(16)
            .x_label_area_size(if x.title.is_empty() { 26 } else { 44 })
            .y_label_area_size(18 + LETTER * 6 / 10 * longest.unwrap_or(0) as u32)
            .build_cartesian_2d(x.clone(), y.clone())?;
        mesh(&mut chart, x, y, across)?;
        draw(&mut chart)?;
        root.present()?;
    }
    Ok(Picture {
        width: size.0,
        height: size.1,
        body: inside(&svg),
    })
}

fn font() -> TextStyle<'static> {
    ("sans-serif", LETTER).into_font().color(&INK)
}

fn mesh(chart: &mut Canvas<'_, '_>, x: &Axis, y: &Axis, across: bool) -> Drawn<()> {
    let mut mesh = chart.configure_mesh();
    if !across {
        mesh.disable_y_mesh();
    }
    mesh.light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .x_desc(x.title.as_str())
        .x_labels(x.labels().count())
        .y_labels(y.labels().count())
        .x_label_formatter(&|value| x.label(*value))
        .y_label_formatter(&|value| y.label(*value))
        .label_style(font())
        .axis_desc_style(font())
        .draw()?;
    Ok(())
}

type Place = (f64, f64);

/// Draws curves: lines first, so that marks are above them.
fn draw(chart: &mut Canvas<'_, '_>, curves: &[Curve]) -> Drawn<()> {
    curves.iter().try_for_each(|curve| line(chart, curve))?;
    for curve in curves.iter().filter(|curve| curve.style.has_marks()) {
        for p in &curve.points {
            let [low, high] = p.interval().map(|value| (p.at, value));
            mark(chart, curve.look, (p.at, p.value), [low, high])?;
        }
    }
    Ok(())
}

fn line(chart: &mut Canvas<'_, '_>, curve: &Curve) -> Drawn<()> {
    let stroke = curve.style.stroke(curve.look);
    let points = curve.points.iter().map(|p| (p.at, p.value));
    match curve.style {
        Style::Joined | Style::Line => {
            chart.draw_series(LineSeries::new(points, stroke))?;
        }
        Style::Dashes => {
            chart.draw_series(DashedLineSeries::new(points, 5, 4, stroke))?;
        }
        Style::Band => {
            let end = |n: usize| curve.points.iter().map(move |p| (p.at, p.interval()[n]));
            let (low, high) = (end(0), end(1));
            let outline: Vec<Place> = high.chain(low.rev()).collect();
            chart.draw_series([Polygon::new(outline, curve.look.mark().mix(SHADE))])?;
        }
        Style::Marks => {}
    }
    Ok(())
}

/// Draws a mark with its interval.
fn mark(chart: &mut Canvas<'_, '_>, look: Look, at: Place, interval: [Place; 2]) -> Drawn<()> {
    let style = look.mark().stroke_width(2);
    chart.draw_series([PathElement::new(interval, style)])?;
    let shape = EmptyElement::at(at) + Polygon::new(look.corners(), look.mark());
    chart.draw_series([shape])?;
    Ok(())
}

/// Height of a row of crosses.
const CROSS: u32 = 13;

/// Draws a cross above the axes, in the n-th row of them.
fn cross(chart: &mut Canvas<'_, '_>, look: Look, at: Place, n: usize) -> Drawn<()> {
    let above = -10 - (CROSS as usize * n) as i32;
    let style = look.mark().stroke_width(3);
    let stroke = |down: i32| PathElement::new([(-4, above - down), (4, above + down)], style);
    chart.draw_series([EmptyElement::at(at) + stroke(4) + stroke(-4)])?;
    Ok(())
}

/// Returns what stands inside of the outer element.
fn inside(svg: &str) -> String {
    let start = svg.find('>').map_or(0, |end| end + 1);
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg[start..end].trim().to_string()
}
