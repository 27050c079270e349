//! Figures of results, as SVG without its outer element: curves with intervals.
//!
//! Everything is drawn in few colours that a style sheet can find by their hex code and replace, for a dark background
//! or for print.

mod axis;
mod marks;
mod sheet;

use itertools::Itertools as _;

use crate::report::{fitting, number};
use marks::{COLORS, DASHES, MOST, SHAPES};
use synth_simulation::Estimate;

pub use axis::{Axis, Scale, short};
pub use sheet::Sheet;

/// Colour of text.
const INK: &str = "#222222";
/// Colour of the lines behind.
const GRID: &str = "#E0E0E0";

/// Width of a figure, in units of which a letter is `LETTER` high.
const WIDTH: u32 = 480;
/// A telephone shows the 480 units of a figure on about 360 pixels, and so a letter 10.3 pixels high.
const LETTER: f64 = 13.7;
/// How far below the middle of a line of text its letters stand.
const BELOW_MIDDLE: f64 = 4.6;

/// The content of an SVG element, with its size.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Width, in the units of what is inside.
    pub width: u32,
    /// Height, in the same units.
    pub height: u32,
    /// The elements.
    pub body: String,
}

/// A picture with what a page shows next to it.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// Its content for readers who do not see it.
    pub description: String,
    /// A remark below it; may be empty.
    pub note: String,
    /// The legend: each label with its key.
    pub keys: Vec<(String, Picture)>,
    /// The picture.
    pub picture: Picture,
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The place on the horizontal axis.
    pub at: f64,
    /// The value.
    pub value: f64,
    /// Half the width of its interval; 0 if it is not known.
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
}

/// The points of one series.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its label in the legend.
    pub label: String,
    /// The number of its colour and its mark, below 8.
    pub look: usize,
    /// How its points are drawn.
    pub style: Style,
    /// Its points, ascending in `at`.
    pub points: Vec<Point>,
    /// Places without a value, because a policy is unstable there.
    pub unstable: Vec<f64>,
}

impl Curve {
    /// Returns the curve of the n-th series: joined marks.
    pub fn new(n: usize, label: impl Into<String>, points: Vec<Point>) -> Self {
        Curve {
            label: label.into(),
            look: n % MOST,
            style: Style::Joined,
            points,
            unstable: Vec::new(),
        }
    }

    /// Returns the n-th series as a line.
    pub fn line(n: usize, label: impl Into<String>, points: Vec<Point>) -> Self {
        Curve {
            style: Style::Line,
            ..Curve::new(n, label, points)
        }
    }

    /// Describes its points, at most a dozen of them.
    fn description(&self) -> String {
        let step = self.points.len().div_ceil(12).max(1);
        let points = self.points.iter().step_by(step);
        let points = points.map(|p| format!("{} at {}", number(p.value), number(p.at)));
        let unstable = self.unstable.iter();
        let unstable = unstable.map(|at| format!("unstable at {}", number(*at)));
        format!("{}: {}.", self.label, points.chain(unstable).join(", "))
    }
}

/// Curves between two axes.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub across: Axis,
    /// The vertical axis.
    pub up: Axis,
    /// The curves, of which the first is below the others.
    pub curves: Vec<Curve>,
    /// Vertical lines with their labels.
    pub lines: Vec<(f64, String)>,
}

impl Chart {
    /// Returns a chart around its points, with axes of these names and scales. The interval of a logarithmic value widens its
    /// axis by a factor of 3 at most.
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

    /// Returns the chart as a figure of a page, with its first eight series; `None` if it has no point.
    pub fn figure(mut self) -> Option<Figure> {
        let count = self.curves.len();
        self.curves.truncate(MOST);
        if self.curves.iter().all(|curve| curve.points.is_empty()) {
            return None;
        }
        let mut frame = Frame::new((WIDTH, 300), crosses(&self.curves), &self.across, &self.up);
        frame.chart(&self);
        let curves = self.curves.iter().filter(|own| !own.points.is_empty());
        let keys = curves
            .clone()
            .map(|own| (own.label.clone(), key(own.look, own.style)));
        let more = (count > MOST).then(|| format!("{} more are in the table.", count - MOST));
        Some(Figure {
            picture: frame.picture(),
            keys: keys.collect(),
            description: curves.map(Curve::description).join(" "),
            note: more.unwrap_or_default(),
            title: self.title,
        })
    }
}

/// Returns the height of the rows of crosses above curves.
fn crosses(curves: &[Curve]) -> u32 {
    let unstable = curves.iter().filter(|own| !own.unstable.is_empty());
    unstable.count() as u32 * CROSS
}

/// Draws one time of policies over another, both linear, with these names: the label of each policy and both times, in this
/// unit.
pub fn front([x, y]: [&str; 2], unit: &str, times: &[(String, f64, f64)]) -> Option<Figure> {
    let longest = |of: fn(&(String, f64, f64)) -> f64| times.iter().map(of).fold(0.0, f64::max);
    let (across, of_x) = fitting(longest(|own| own.1), unit);
    let (up, of_y) = fitting(longest(|own| own.2), unit);
    let curves = times.iter().enumerate().map(|(n, (label, x, y))| {
        let point = Point::exact(of_x * x, of_y * y);
        Curve::new(n, label, vec![point])
    });
    let x = format!("{x} [{across}]");
    let title = format!("{y} [{up}] over {x}");
    Chart::around(&title, [&x, ""], [Scale::Linear; 2], curves.collect()).figure()
}

/// Returns a piece of a curve, for a legend.
fn key(look: usize, style: Style) -> Picture {
    let across = [(1.0, 8.0), (43.0, 8.0)];
    let mut body = match style {
        Style::Band => path(
            &shade(look),
            [(1.0, 1.0), (43.0, 1.0), (43.0, 15.0), (1.0, 15.0)],
        ),
        Style::Dashes => path(&dashed(COLORS[look]), across),
        Style::Marks => path(&stroke(COLORS[look], 2), [(22.0, 0.0), (22.0, 16.0)]),
        Style::Joined | Style::Line => path(&line(look), across),
    };
    if style.has_marks() {
        body += &symbol(look, (22.0, 8.0));
    }
    Picture {
        width: 44,
        height: 16,
        body,
    }
}

/// A place: across and up on the axes, or across and down in the picture.
type Place = (f64, f64);

/// Axes, and what is drawn between them.
struct Frame<'a> {
    axes: (&'a Axis, &'a Axis),
    size: (u32, u32),
    /// Where the axes begin and end in the picture.
    across: [f64; 2],
    up: [f64; 2],
    body: String,
}

impl<'a> Frame<'a> {
    /// Returns axes with some space above them.
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

    /// Returns where something is in the picture that is there on the axes.
    fn at(&self, (x, y): Place) -> Place {
        let (across, up) = self.axes;
        (across.place(x, self.across), up.place(y, self.up))
    }

    /// Draws a line, or the outline of what is filled.
    fn line(&mut self, attributes: &str, places: impl IntoIterator<Item = Place>) {
        let places = places.into_iter().map(|place| self.at(place));
        let places = places.collect_vec();
        self.body += &path(attributes, places);
    }

    /// Writes text next to a place.
    fn text(&mut self, place: Place, (right, down): Place, anchor: &str, content: &str) {
        let (x, y) = self.at(place);
        self.body += &text((x + right, y + down), anchor, content);
    }

    /// Draws the curves of a chart: lines first, so that marks are above them; above the axes a row of crosses for each policy
    /// that is unstable somewhere.
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
            let down = f64::from(16 + 20 * row);
            self.text(ends[1], (6.0, down), "start", label);
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
        Picture {
            width: self.size.0,
            height: self.size.1,
            body: format!("<g font-size=\"{LETTER}\">\n{}</g>", self.body),
        }
    }
}

/// Height of a row of crosses.
const CROSS: u32 = 13;

/// Returns a path through these places of a picture; nothing if there are none.
fn path(attributes: &str, places: impl IntoIterator<Item = Place>) -> String {
    let places = places.into_iter().map(|(x, y)| format!("{x:.1} {y:.1}"));
    match places.collect_vec().as_slice() {
        [] => String::new(),
        places => format!("<path {attributes} d=\"M{}\"/>\n", places.join("L")),
    }
}

/// Returns a line of text that stands there in a picture.
fn text((x, y): Place, anchor: &str, content: &str) -> String {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{content}</text>\n"
    )
}

fn stroke(color: &str, width: u32) -> String {
    format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"")
}

/// Returns how the line of a series is drawn.
fn line(look: usize) -> String {
    format!(
        "{} stroke-dasharray=\"{}\"",
        stroke(COLORS[look], 2),
        DASHES[look]
    )
}

fn dashed(color: &str) -> String {
    stroke(color, 1) + " stroke-dasharray=\"5 4\""
}

fn filled(look: usize) -> String {
    format!("fill=\"{}\"", COLORS[look])
}

/// Returns how a band is filled.
fn shade(look: usize) -> String {
    filled(look) + " fill-opacity=\"0.2\""
}

/// Returns the mark of a series at a place of a picture.
fn symbol(look: usize, (x, y): Place) -> String {
    let corners = SHAPES[look].iter();
    let corners = corners.map(|(right, down)| (x + f64::from(*right), y + f64::from(*down)));
    path(&filled(look), corners)
}
