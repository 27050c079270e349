use itertools::Itertools as _;
use synth::kind::VerbResult;
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

pub(super) fn axis(title: &str, (low, high): (f64, f64), log: bool) -> Axis {
    let scale = if log { Scale::Log } else { Scale::Linear };
    Axis::new(title, scale, low, high)
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Exact,
    Approximation,
    Simulated,
    Check,
    /// A single run, or a result that is copied from a paper.
    Path,
    /// The area between two bounds, which is given by its middle and its half-width.
    Bounds,
}

impl Kind {
    /// Returns the name in a table, the style, and the text in the legend, which is added to the
    /// label of the curve. If multiple curves use the same text, it replaces the label.
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
    /// The value of a point is `None` if there is no mean.
    pub points: Vec<(f64, Option<Estimate>)>,
}

impl Curve {
    pub(super) fn new(
        label: impl Into<String>,
        color: usize,
        kind: Kind,
        points: Vec<(f64, Option<Estimate>)>,
    ) -> Self {
        Curve {
            label: label.into(),
            color,
            kind,
            points,
        }
    }

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

    fn end(&self) -> Option<f64> {
        let missing = self.points.iter().rev().take_while(|p| p.1.is_none());
        missing.last().map(|p| p.0)
    }

    fn drawn(&self, up: &Axis) -> plot::Curve {
        let met = self.points.iter();
        let met = met.filter_map(|(at, value)| Some(Point::new(*at, (*value)?)));
        let is_shown =
            |own: &Point| self.kind == Kind::Bounds || own.value > up.low && own.value < up.high;
        let is_grey = self.kind == Kind::Approximation;
        let color = if is_grey { GREY } else { self.color };
        plot::Curve {
            style: self.kind.traits().1,
            ..plot::Curve::new(color, &self.label, met.filter(is_shown).collect())
        }
    }

    fn entry(&self) -> (String, usize, Style) {
        let (_, style, words) = self.kind.traits();
        match is_common(style) {
            true => (words.into(), GREY, style),
            false => (format!("{}{words}", self.label), self.color, style),
        }
    }
}

fn is_common(style: Style) -> bool {
    matches!(style, Style::Marks | Style::Dashes | Style::Band)
}

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

    pub(super) fn at(&self, label: &str, kind: Kind, x: f64) -> VerbResult<f64> {
        let mut curves = self.curves.iter();
        let found = curves.find(|own| own.label == label && own.kind == kind);
        let title = &self.chart.title;
        let found = found.ok_or_else(|| format!("{title} does not have a curve {label}"))?;
        Ok(found.at(x).map_or(f64::NAN, |own| own.mean))
    }
}

/// The name of a figure, its numbers as CSV, and its picture as SVG.
pub(super) type Figure = (String, String, String);

pub(super) fn sheet(number: u32, size: (u32, u32), columns: u32, panels: Vec<Panel>) -> Figure {
    let table = table(&panels);
    let sheet = Sheet {
        size,
        columns,
        legend: legend(panels.iter().flat_map(|own| &own.curves)),
        charts: panels.into_iter().map(|own| own.chart).collect(),
    };
    (format!("figure{number}"), table, sheet.svg())
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

fn legend<'a>(curves: impl Iterator<Item = &'a Curve>) -> Vec<(String, usize, Style)> {
    let mut entries: Vec<(String, usize, Style)> = Vec::new();
    let curves = curves.map(|own| (own.entry(), own));
    for (mut entry, curve) in curves.unique_by(|own| own.0.0.clone()) {
        if let Some(end) = curve.end().filter(|_| curve.kind == Kind::Simulated) {
            entry.0 += &format!(" (no mean from {end} on)");
        }
        entries.push(entry);
    }
    entries.sort_by_key(|(_, _, style)| is_common(*style));
    entries
}

fn cells(kind: Kind, y: Option<Estimate>) -> [String; 2] {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
    let drawn = matches!(kind, Kind::Simulated | Kind::Check | Kind::Bounds);
    let half = y.filter(|_| drawn).map(|e| e.half_width);
    [number(y.map(|e| e.mean)), number(half)]
}
