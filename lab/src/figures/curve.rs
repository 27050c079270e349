//! Figures as tables: panels of curves of points; and as pictures.
use std::error::Error;
use std::path::Path;

use itertools::Itertools as _;
use synth::report::plot::{self, Axis, Chart, Point, Scale, Sheet, Style};
use synth::simulation::Estimate;

pub(super) const BLUE: usize = 0;
pub(super) const VERMILLION: usize = 1;
pub(super) const GREEN: usize = 2;
pub(super) const PURPLE: usize = 3;
pub(super) const ORANGE: usize = 4;
pub(super) const GREY: usize = 5;
pub(super) const SKY: usize = 6;
pub(super) const VIOLET: usize = 7;

/// Returns an axis with this title and range.
pub(super) fn axis(title: &str, (low, high): (f64, f64), log: bool) -> Axis {
    let scale = if log { Scale::Log } else { Scale::Linear };
    Axis::new(title, scale, low, high)
}

/// What was drawn, or why it could not be.
pub(super) type Done<T> = Result<T, Box<dyn Error>>;

/// What a curve is, and so how it is drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A line.
    Exact,
    /// A dashed line.
    Approximation,
    /// Points, joined.
    Simulated,
    /// Points beside an exact curve.
    Check,
    /// A line that shows one run, or what a paper has.
    Path,
    /// What lies between two bounds: their middle, and half of what is between.
    Bounds,
}

impl Kind {
    /// Returns its name in tables, how it is drawn, and what the legend says: behind the label of the curve, or, where it is said of
    /// several curves at once, in place of it.
    fn traits(self) -> (&'static str, Style, &'static str) {
        match self {
            Kind::Exact => ("exact", Style::Line, ", exact"),
            Kind::Path => ("path", Style::Line, ""),
            Kind::Simulated => ("simulated", Style::Joined, ", simulated"),
            Kind::Check => ("simulated", Style::Marks, "simulated, 95 % interval"),
            Kind::Approximation => ("approximation", Style::Dashes, "the paper's approximation"),
            Kind::Bounds => ("bounds", Style::Band, "the paper's bounds"),
        }
    }
}

pub(super) struct Curve {
    pub label: String,
    pub color: usize,
    pub kind: Kind,
    /// None where there is no mean.
    pub points: Vec<(f64, Option<Estimate>)>,
}

impl Curve {
    pub(super) fn new(
        label: impl Into<String>,
        color: usize,
        kind: Kind,
        points: Vec<(f64, Option<Estimate>)>,
    ) -> Self {
        let label = label.into();
        Curve {
            label,
            color,
            kind,
            points,
        }
    }

    /// Of numbers that are known, or do not exist.
    pub(super) fn known(
        label: impl Into<String>,
        color: usize,
        kind: Kind,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        let points = points.into_iter().map(|(x, y)| (x, y.map(Estimate::exact)));
        Curve::new(label, color, kind, points.collect())
    }

    pub(super) fn at(&self, x: f64) -> Option<Estimate> {
        let found = self.points.iter().find(|p| (p.0 - x).abs() < 1e-9);
        found.and_then(|p| p.1)
    }

    /// From where on there is no mean.
    fn end(&self) -> Option<f64> {
        let missing = self.points.iter().rev().take_while(|p| p.1.is_none());
        missing.last().map(|p| p.0)
    }

    /// Returns the part that lies within the vertical axis.
    fn drawn(&self, up: &Axis) -> plot::Curve {
        let met = self.points.iter();
        let met = met.filter_map(|(at, value)| Some(Point::new(*at, (*value)?)));
        let is_shown =
            |own: &Point| self.kind == Kind::Bounds || own.value > up.low && own.value < up.high;
        let look = match self.kind {
            Kind::Approximation => GREY,
            _ => self.color,
        };
        plot::Curve {
            style: self.kind.traits().1,
            ..plot::Curve::new(look, &self.label, met.filter(is_shown).collect())
        }
    }

    /// Returns its line of the legend. What is said of several curves has no color of its own.
    fn entry(&self) -> (String, usize, Style) {
        let (_, style, words) = self.kind.traits();
        match is_common(style) {
            true => (words.into(), GREY, style),
            false => (format!("{}{words}", self.label), self.color, style),
        }
    }
}

/// Returns whether one line of the legend is for all curves that are drawn so.
fn is_common(style: Style) -> bool {
    matches!(style, Style::Marks | Style::Dashes | Style::Band)
}

/// A chart, with the curves that it is drawn from.
pub(super) struct Panel {
    pub chart: Chart,
    curves: Vec<Curve>,
}

impl Panel {
    pub(super) fn new(
        title: impl Into<String>,
        across: Axis,
        up: Axis,
        curves: Vec<Curve>,
    ) -> Self {
        let chart = Chart {
            title: title.into(),
            curves: curves.iter().map(|own| own.drawn(&up)).collect(),
            across,
            up,
            lines: Vec::new(),
        };
        Panel { chart, curves }
    }

    /// Returns the value of a curve at a place; not a number if it has none there.
    pub(super) fn at(&self, label: &str, kind: Kind, x: f64) -> Done<f64> {
        let mut curves = self.curves.iter();
        let found = curves.find(|own| own.label == label && own.kind == kind);
        let found = found.ok_or_else(|| format!("{} has no curve {label}", self.chart.title))?;
        Ok(found.at(x).map_or(f64::NAN, |own| own.mean))
    }
}

/// A figure: the name of its files, such as `figure2`, and a table beside its picture.
pub(super) struct Figure {
    pub name: String,
    table: String,
    sheet: Sheet,
}

impl Figure {
    /// Returns the figure of this number, of panels of this size, so many of them in a row.
    pub(super) fn new(number: u32, size: (u32, u32), columns: u32, panels: Vec<Panel>) -> Self {
        let table = table(&panels);
        let sheet = Sheet {
            size,
            columns,
            legend: legend(panels.iter().flat_map(|own| &own.curves)),
            charts: panels.into_iter().map(|own| own.chart).collect(),
        };
        let name = format!("figure{number}");
        Figure { name, table, sheet }
    }

    /// Writes table and picture to a folder.
    pub(super) fn write(&self, folder: &Path) -> Done<()> {
        let path = |end: &str| folder.join(format!("{}.{end}", self.name));
        std::fs::write(path("csv"), &self.table)?;
        Ok(std::fs::write(path("svg"), self.sheet.svg())?)
    }
}

fn table(panels: &[Panel]) -> String {
    let mut text = "panel,curve,kind,x,y,half_width\n".to_string();
    for panel in panels {
        for curve in &panel.curves {
            let (title, label) = (&panel.chart.title, &curve.label);
            for (x, y) in &curve.points {
                let (kind, [mean, half]) = (curve.kind.traits().0, cells(curve.kind, *y));
                text += &format!("\"{title}\",\"{label}\",{kind},{x:.6},{mean},{half}\n");
            }
        }
    }
    text
}

/// Returns each label once, with the place from which its first curve has no mean.
fn legend<'a>(curves: impl Iterator<Item = &'a Curve>) -> Vec<(String, usize, Style)> {
    let mut entries: Vec<(String, usize, Style)> = Vec::new();
    for (mut entry, curve) in curves
        .map(|own| (own.entry(), own))
        .unique_by(|own| own.0.0.clone())
    {
        if let Some(end) = curve.end().filter(|_| curve.kind == Kind::Simulated) {
            entry.0 += &format!(" (no mean from {end} on)");
        }
        entries.push(entry);
    }
    // Entries that hold for all curves are last.
    entries.sort_by_key(|(_, _, style)| is_common(*style));
    entries
}

/// A mean and half the width of its interval.
fn cells(kind: Kind, y: Option<Estimate>) -> [String; 2] {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
    let drawn = matches!(kind, Kind::Simulated | Kind::Check | Kind::Bounds);
    let half = y.filter(|_| drawn).map(|e| e.half_width);
    [number(y.map(|e| e.mean)), number(half)]
}
