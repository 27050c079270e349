//! Pictures of results, as SVG without its outer element: points with intervals over a load, rows
//! of points, and lines over time.
//!
//! Everything is drawn in few colours that a style sheet can find by their hex code and replace,
//! for dark ground or for print; see `INK`, `GRID`, `marks`.

mod axis;
mod marks;
mod schedule;
mod sheet;

use itertools::Itertools as _;

use crate::report::{fitting, span};
use synth_simulation::Estimate;

pub use axis::{Axis, Scale, short};
pub use marks::{Look, rules};
pub use schedule::{schedule, swatch};
pub use sheet::{Chart, Sheet};

/// Colour of text.
const INK: &str = "#222222";
/// Colour of the lines behind.
const GRID: &str = "#E0E0E0";

/// Width of a picture, in units of which a letter is `LETTER` high.
pub const WIDTH: u32 = 480;
/// A telephone shows the 480 units of a picture on about 360 pixels, and so a letter 10.3 pixels high.
const LETTER: f64 = 13.7;
/// How far below the middle of a line of text its letters stand.
const BELOW_MIDDLE: f64 = 4.6;

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

/// A rendered page or table, or the reason why it cannot be rendered.
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
}

/// What is added to a line that is dashed.
const DASHED: &str = " stroke-dasharray=\"5 4\"";

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

/// Curves over an axis, with marks and vertical intervals. Above them a row of crosses for each
/// policy that is unstable somewhere.
pub fn curves(x: &Axis, y: &Axis, curves: &[Curve]) -> Picture {
    let unstable: Vec<&Curve> = curves.iter().filter(|c| !c.unstable.is_empty()).collect();
    let above = unstable.len() as u32 * CROSS;
    let mut frame = Frame::new((WIDTH, 300), above, true, (x, y));
    frame.curves(curves);
    for (n, curve) in unstable.iter().enumerate() {
        for &load in &curve.unstable {
            frame.cross(curve.look, load, n);
        }
    }
    frame.picture()
}

/// One time of policies over another, both linear, with these names: the place of each policy and both times, in this unit.
pub fn front([x, y]: [&str; 2], unit: &str, times: &[(usize, f64, f64)]) -> Panel {
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
    Panel::new(title, description, curves(&x, &up, &all))
}

/// Rows of points with horizontal intervals: row r at `r`, from above, one curve a policy; `at` of
/// a point is its row.
pub fn rows(labels: &[String], x: &Axis, all: &[Curve]) -> Picture {
    let curves: Vec<&Curve> = all.iter().filter(|c| !c.points.is_empty()).collect();
    let count = labels.len();
    let y = axis_of_rows(labels.iter());
    let height = (16 + 7 * curves.len() as u32).clamp(24, 56) * count as u32 + 60;
    let mut frame = Frame::new((WIDTH, height), 0, false, (x, &y));
    for row in 1..count {
        let between = 0.5 - row as f64;
        frame.line(&stroke(GRID, 1), [(x.low, between), (x.high, between)]);
    }
    for (n, curve) in curves.iter().enumerate() {
        // Side by side, so that points of the same value are all seen.
        let aside = 0.7 * ((n as f64 + 0.5) / curves.len() as f64 - 0.5);
        for p in &curve.points {
            let row = -(p.at + aside);
            let interval = p.interval().map(|value| (value, row));
            frame.mark(curve.look, (p.value, row), interval);
        }
    }
    frame.picture()
}

/// Lines without marks.
pub fn lines(x: &Axis, y: &Axis, curves: &[Curve]) -> Picture {
    let mut frame = Frame::new((WIDTH, 240), 0, true, (x, y));
    curves.iter().for_each(|curve| frame.curve(curve));
    frame.picture()
}

/// Draws times of policies as horizontal bars with intervals, from above: the place of each, its label, and its time with half
/// the width of the interval, in this unit.
pub fn bars(title: &str, unit: &str, times: &[(usize, String, [f64; 2])]) -> Panel {
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
    let mut frame = Frame::new((WIDTH, height), 0, false, (&x, &y));
    for (n, (place, _, time)) in times.iter().enumerate() {
        let row = -(n as f64);
        let [value, half_width] = time.map(|own| factor * own);
        let [top, bottom] = [row + 0.32, row - 0.32];
        let corners = [(0.0, top), (value, top), (value, bottom), (0.0, bottom)];
        frame.line(&filled(&Look::new(*place).mark()), corners);
        let end = (value + half_width, row);
        frame.line(&stroke(INK, 2), [((value - half_width).max(0.0), row), end]);
        frame.text(end, (7.0, BELOW_MIDDLE), "start", &shown(time[0]));
    }
    let has_intervals = times.iter().any(|own| own.2[1] > 0.0);
    let note = "Lines are 95 % intervals, drawn symmetrically.".to_owned();
    Panel {
        note: Some(note).filter(|_| has_intervals).unwrap_or_default(),
        ..Panel::new(title.into(), description, frame.picture())
    }
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
pub fn key(look: Look, style: Style) -> Picture {
    let across = [(1.0, 8.0), (43.0, 8.0)];
    let line = stroke(&look.line(), 2);
    let mut body = match style {
        Style::Band => path(
            &shade(look),
            [(1.0, 1.0), (43.0, 1.0), (43.0, 15.0), (1.0, 15.0)],
        ),
        Style::Dashes => path(&(stroke(&look.line(), 1) + DASHED), across),
        Style::Marks => path(&line, [(22.0, 0.0), (22.0, 16.0)]),
        Style::Joined | Style::Line => path(&line, across),
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

/// Longest label of a row; the rest is cut off.
const LONGEST: usize = 18;

fn cut(label: &str) -> String {
    let end = label.char_indices().nth(LONGEST);
    end.map_or(label.into(), |(end, _)| format!("{}…", &label[..end]))
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
    /// Returns axes with so much room above them; `has_lines` tells whether the ticks of the vertical axis have lines.
    fn new(size: (u32, u32), above: u32, has_lines: bool, axes: (&'a Axis, &'a Axis)) -> Self {
        let (x, y) = axes;
        let longest = y.ticks.iter().map(|(_, label)| label.chars().count()).max();
        let left = f64::from(18 + 10 * longest.unwrap_or(0) as u32);
        let (right, top) = (f64::from(size.0 - 16), f64::from(10 + above));
        let bottom = f64::from(size.1 - if x.title.is_empty() { 26 } else { 44 });
        let mut frame = Frame {
            axes,
            size,
            across: [left, right],
            up: [bottom, top],
            body: String::new(),
        };
        let grid = stroke(GRID, 1);
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
            lines.push([(left - 5.0, at), (if has_lines { right } else { left }, at)]);
            frame.body += &text((left - 10.0, at + BELOW_MIDDLE), "end", label);
        }
        let title = (0.5 * (left + right), f64::from(size.1) - 4.0);
        frame.body += &text(title, "middle", &x.title);
        let lines = lines.into_iter().map(|line| path(&grid, line));
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

    /// Writes text so far from a place.
    fn text(&mut self, place: Place, (right, down): Place, anchor: &str, content: &str) {
        let (x, y) = self.at(place);
        self.body += &text((x + right, y + down), anchor, content);
    }

    /// Draws curves: lines first, so that marks are above them.
    fn curves(&mut self, curves: &[Curve]) {
        curves.iter().for_each(|curve| self.curve(curve));
        for curve in curves.iter().filter(|curve| curve.style.has_marks()) {
            for p in &curve.points {
                let interval = p.interval().map(|value| (p.at, value));
                self.mark(curve.look, (p.at, p.value), interval);
            }
        }
    }

    fn curve(&mut self, curve: &Curve) {
        let (look, line) = (curve.look, curve.look.line());
        let points = curve.points.iter().map(|p| (p.at, p.value));
        match curve.style {
            Style::Joined | Style::Line => self.line(&stroke(&line, 2), points),
            Style::Dashes => self.line(&(stroke(&line, 1) + DASHED), points),
            Style::Band => {
                let end = |n: usize| curve.points.iter().map(move |p| (p.at, p.interval()[n]));
                self.line(&shade(look), end(1).chain(end(0).rev()));
            }
            Style::Marks => {}
        }
    }

    /// Draws a mark with its interval.
    fn mark(&mut self, look: Look, at: Place, interval: [Place; 2]) {
        self.line(&stroke(&look.mark(), 2), interval);
        self.body += &symbol(look, self.at(at));
    }

    /// Draws a cross above the axes, in the n-th row of them.
    fn cross(&mut self, look: Look, load: f64, n: usize) {
        let (x, top) = self.at((load, self.axes.1.high));
        let y = top - 10.0 - f64::from(CROSS) * n as f64;
        for down in [-4.0, 4.0] {
            let ends = [(x - 4.0, y - down), (x + 4.0, y + down)];
            self.body += &path(&stroke(&look.mark(), 3), ends);
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

/// Returns a path through these places of a picture; nothing where there are none.
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

fn filled(color: &str) -> String {
    format!("fill=\"{color}\"")
}

/// Returns how a band is filled.
fn shade(look: Look) -> String {
    filled(&look.mark()) + " fill-opacity=\"0.2\""
}

/// Returns the mark of a policy at a place of a picture.
fn symbol(look: Look, (x, y): Place) -> String {
    let corners = look.corners().iter();
    let corners = corners.map(|(right, down)| (x + f64::from(*right), y + f64::from(*down)));
    path(&filled(&look.mark()), corners)
}
