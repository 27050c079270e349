//! This module draws figures as SVG elements.
//!
//! Only a few colors are used, so that a style sheet can replace each of them by its hex code.

mod axis;
mod bars;
mod marks;
mod sheet;

use itertools::Itertools as _;

use crate::report::number;
use marks::{COLORS, DASHES, MOST, SHAPES};
use synth_simulation::Estimate;

pub use axis::{Axis, Scale, short};
pub use bars::{Bar, bars, heat_map, waits};
pub use sheet::Sheet;

const INK: &str = "#222222";
const GRID: &str = "#E0E0E0";

const WIDTH: u32 = 480;
/// On a phone, a figure is about 360 pixels wide, so a letter is 10.3 pixels high.
const LETTER: f64 = 13.7;
const BELOW_MIDDLE: f64 = 4.6;

/// The content of an SVG element, and its size.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) body: String,
}

/// A picture with its title, its legend and its description.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    pub(crate) title: String,
    pub(crate) description: String,
    /// A note that is shown below the picture. It can be empty.
    pub note: String,
    pub(crate) keys: Vec<(String, Picture)>,
    pub(crate) picture: Picture,
}

/// A value and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The position on the horizontal axis.
    pub at: f64,
    /// The value.
    pub value: f64,
    /// Half of the width of the interval, or 0 if it is not known.
    pub half_width: f64,
}

impl Point {
    /// Creates a point without an interval.
    pub fn exact(at: f64, value: f64) -> Self {
        Point::new(at, Estimate::exact(value))
    }

    /// Creates a point with an interval.
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

/// The style that is used to draw the points of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Marks with intervals that are connected by a line.
    Joined,
    /// A line.
    Line,
    /// A thin dashed line.
    Dashes,
    /// Marks with intervals.
    Marks,
    /// The area between the ends of the intervals.
    Band,
}

impl Style {
    fn has_marks(self) -> bool {
        matches!(self, Style::Joined | Style::Marks)
    }
}

/// The points of a series.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The label that is shown in the legend.
    pub label: String,
    /// The index of the color and the mark, which must be less than 8.
    pub look: usize,
    /// The style that is used to draw the points.
    pub style: Style,
    /// The points, which must be sorted by `at`.
    pub points: Vec<Point>,
    /// The positions where a policy is unstable and there is no value.
    pub unstable: Vec<f64>,
}

impl Curve {
    /// Creates the curve of the `n`-th series, which is drawn with marks and lines.
    pub fn new(n: usize, label: impl Into<String>, points: Vec<Point>) -> Self {
        Curve {
            label: label.into(),
            look: n % MOST,
            style: Style::Joined,
            points,
            unstable: Vec::new(),
        }
    }

    /// Creates the curve of the `n`-th series, which is drawn as a line.
    pub fn line(n: usize, label: impl Into<String>, points: Vec<Point>) -> Self {
        Curve {
            style: Style::Line,
            ..Curve::new(n, label, points)
        }
    }

    fn description(&self) -> String {
        let step = self.points.len().div_ceil(12).max(1);
        let points = self.points.iter().step_by(step);
        let points = points.map(|p| format!("{} at {}", number(p.value), number(p.at)));
        let unstable = self.unstable.iter();
        let unstable = unstable.map(|at| format!("unstable at {}", number(*at)));
        format!("{}: {}.", self.label, points.chain(unstable).join(", "))
    }
}

/// A set of curves and two axes.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub across: Axis,
    /// The vertical axis.
    pub up: Axis,
    /// The curves, from bottom to top.
    pub curves: Vec<Curve>,
    /// The vertical lines and their labels.
    pub lines: Vec<(f64, String)>,
}

impl Chart {
    /// Creates a chart that contains all points. Intervals extend a logarithmic axis by at most 3×.
    pub fn around(title: &str, names: [&str; 2], scales: [Scale; 2], curves: Vec<Curve>) -> Self {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let unstable = curves.iter().flat_map(|curve| curve.unstable.clone());
        let places = points().map(|p| p.at).chain(unstable);
        let ends = points().flat_map(|p| match (scales[1], p.interval()) {
            (Scale::Linear, ends) => ends,
            (Scale::Log, [low, high]) => [low.max(p.value / 3.0), high.min(3.0 * p.value)],
        });
        Chart {
            title: title.into(),
            across: Axis::around(names[0], scales[0], places),
            up: Axis::around(names[1], scales[1], ends),
            curves,
            lines: Vec::new(),
        }
    }

    /// Returns a figure with the first eight series, or `None` if there are no points.
    pub fn figure(mut self) -> Option<Figure> {
        let count = self.curves.len();
        self.curves.truncate(MOST);
        if self.curves.iter().all(|curve| curve.points.is_empty()) {
            return None;
        }
        let unstable = self.curves.iter().filter(|own| !own.unstable.is_empty());
        let crosses = CROSS * unstable.count() as u32;
        let mut frame = Frame::new((WIDTH, 300), crosses, &self.across, &self.up);
        frame.chart(&self);
        let curves = self.curves.iter().filter(|own| !own.points.is_empty());
        let key = |own: &Curve| (own.label.clone(), key(own.look, own.style));
        let more = (count > MOST).then(|| format!("{} more are in the table.", count - MOST));
        Some(Figure {
            picture: frame.picture(),
            keys: curves.clone().map(key).collect(),
            description: curves.map(Curve::description).join(" "),
            note: more.unwrap_or_default(),
            title: self.title,
        })
    }
}

fn key(look: usize, style: Style) -> Picture {
    let across = [(1.0, 8.0), (43.0, 8.0)];
    let area = [(1.0, 1.0), (43.0, 1.0), (43.0, 15.0), (1.0, 15.0)];
    let mut body = match style {
        Style::Band => path(&shade(look), area),
        Style::Dashes => path(&dashed(COLORS[look]), across),
        Style::Marks => path(&stroke(COLORS[look], 2), [(22.0, 0.0), (22.0, 16.0)]),
        Style::Joined | Style::Line => path(&line(look), across),
    };
    if style.has_marks() {
        body += &symbol(look, (22.0, 8.0));
    }
    let (width, height) = (44, 16);
    Picture {
        width,
        height,
        body,
    }
}

type Place = (f64, f64);

struct Frame<'a> {
    axes: (&'a Axis, &'a Axis),
    size: (u32, u32),
    across: [f64; 2],
    up: [f64; 2],
    body: String,
}

impl<'a> Frame<'a> {
    fn new(size: (u32, u32), above: u32, x: &'a Axis, y: &'a Axis) -> Self {
        let longest = y.ticks.iter().map(|(_, label)| label.chars().count()).max();
        let left = f64::from(18 + 10 * longest.unwrap_or(0) as u32);
        let (right, top) = (f64::from(size.0 - 16), f64::from(10 + above));
        let bottom = f64::from(size.1 - if x.title.is_empty() { 26 } else { 44 });
        let mut frame = Frame {
            axes: (x, y),
            size,
            across: [left, right],
            up: [bottom, top],
            body: String::new(),
        };
        let mut lines = vec![
            [(left, top), (left, bottom)],
            [(left, bottom), (right, bottom)],
        ];
        for (value, label) in &x.ticks {
            let at = frame.at((*value, y.low)).0;
            lines.push([(at, top), (at, bottom + 5.0)]);
            frame.body += &text((at, bottom + 21.0), "middle", label);
        }
        for (value, label) in &y.ticks {
            let at = frame.at((x.low, *value)).1;
            lines.push([(left - 5.0, at), (right, at)]);
            frame.body += &text((left - 10.0, at + BELOW_MIDDLE), "end", label);
        }
        let title = (0.5 * (left + right), f64::from(size.1) - 4.0);
        frame.body += &text(title, "middle", &x.title);
        let lines = lines.into_iter().map(|line| path(&stroke(GRID, 1), line));
        frame.body.insert_str(0, &lines.collect::<String>());
        frame
    }

    fn at(&self, (x, y): Place) -> Place {
        let (across, up) = self.axes;
        (across.place(x, self.across), up.place(y, self.up))
    }

    fn line(&mut self, attributes: &str, places: impl IntoIterator<Item = Place>) {
        let places = places.into_iter().map(|place| self.at(place));
        self.body += &path(attributes, places);
    }

    fn chart(&mut self, chart: &Chart) {
        chart.curves.iter().for_each(|curve| self.curve(curve));
        for curve in chart.curves.iter().filter(|curve| curve.style.has_marks()) {
            for p in &curve.points {
                let interval = p.interval().map(|value| (p.at, value));
                self.line(&stroke(COLORS[curve.look], 2), interval);
                self.body += &symbol(curve.look, self.at((p.at, p.value)));
            }
        }
        let unstable = chart.curves.iter().filter(|own| !own.unstable.is_empty());
        for (n, curve) in unstable.enumerate() {
            for &place in &curve.unstable {
                let (x, top) = self.at((place, self.axes.1.high));
                let y = top - 10.0 - f64::from(CROSS) * n as f64;
                for down in [-4.0, 4.0] {
                    let ends = [(x - 4.0, y - down), (x + 4.0, y + down)];
                    self.body += &path(&stroke(COLORS[curve.look], 3), ends);
                }
            }
        }
        for ((at, label), row) in chart.lines.iter().zip(0..) {
            let ends = [chart.up.low, chart.up.high].map(|end| (*at, end));
            self.line(&dashed(INK), ends);
            let (x, y) = self.at(ends[1]);
            self.body += &text((x + 6.0, y + f64::from(16 + 20 * row)), "start", label);
        }
    }

    fn curve(&mut self, curve: &Curve) {
        let points = curve.points.iter().map(|p| (p.at, p.value));
        match curve.style {
            Style::Joined | Style::Line => self.line(&line(curve.look), points),
            Style::Dashes => self.line(&dashed(COLORS[curve.look]), points),
            Style::Band => {
                let end = |n: usize| curve.points.iter().map(move |p| (p.at, p.interval()[n]));
                self.line(&shade(curve.look), end(1).chain(end(0).rev()));
            }
            Style::Marks => {}
        }
    }

    fn picture(self) -> Picture {
        picture(self.size, &self.body)
    }
}

fn picture((width, height): (u32, u32), body: &str) -> Picture {
    Picture {
        width,
        height,
        body: format!("<g font-size=\"{LETTER}\">\n{body}</g>"),
    }
}

const CROSS: u32 = 13;

fn path(attributes: &str, places: impl IntoIterator<Item = Place>) -> String {
    let places = places.into_iter().map(|(x, y)| format!("{x:.1} {y:.1}"));
    match places.collect_vec().as_slice() {
        [] => String::new(),
        places => format!("<path {attributes} d=\"M{}\"/>\n", places.join("L")),
    }
}

fn text((x, y): Place, anchor: &str, content: &str) -> String {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{content}</text>\n"
    )
}

fn stroke(color: &str, width: u32) -> String {
    format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"")
}

fn line(look: usize) -> String {
    let (stroke, dashes) = (stroke(COLORS[look], 2), DASHES[look]);
    format!("{stroke} stroke-dasharray=\"{dashes}\"")
}

fn dashed(color: &str) -> String {
    stroke(color, 1) + " stroke-dasharray=\"5 4\""
}

fn filled(look: usize) -> String {
    format!("fill=\"{}\"", COLORS[look])
}

fn shade(look: usize) -> String {
    filled(look) + " fill-opacity=\"0.2\""
}

fn symbol(look: usize, (x, y): Place) -> String {
    let corners = SHAPES[look].iter();
    let corners = corners.map(|(right, down)| (x + f64::from(*right), y + f64::from(*down)));
    path(&filled(look), corners)
}
