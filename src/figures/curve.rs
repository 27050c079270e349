//! Figures as tables: panels of curves of points; and as pictures.
use std::error::Error;
use std::path::Path;

use plotters::style::RGBColor;

use super::picture::{self, Axis, Entry, GREY, INK, Layer, Mark, Picture, Shape, Swatch};
use crate::simulation::Estimate;

/// What was drawn, or why it could not be.
pub type Done<T> = Result<T, Box<dyn Error>>;

/// What a curve is, and so how it is drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
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
    pub fn name(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Approximation => "approximation",
            Kind::Simulated | Kind::Check => "simulated",
            Kind::Path => "path",
            Kind::Bounds => "bounds",
        }
    }
}

pub struct Curve {
    pub label: String,
    pub color: RGBColor,
    pub kind: Kind,
    /// None where there is no mean.
    pub points: Vec<(f64, Option<Estimate>)>,
}

/// A number that is known.
pub fn exactly(mean: f64) -> Estimate {
    Estimate {
        mean,
        half_width: 0.0,
        standard_error: 0.0,
        freedom: f64::INFINITY,
    }
}

impl Curve {
    pub fn new(
        label: impl Into<String>,
        color: RGBColor,
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
    pub fn known(
        label: impl Into<String>,
        color: RGBColor,
        kind: Kind,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        let points = points.into_iter().map(|(x, y)| (x, y.map(exactly)));
        Curve::new(label, color, kind, points.collect())
    }

    pub fn at(&self, x: f64) -> Option<Estimate> {
        let found = self.points.iter().find(|p| (p.0 - x).abs() < 1e-9);
        found.and_then(|p| p.1)
    }

    /// From where on there is no mean.
    fn end(&self) -> Option<f64> {
        let missing = self.points.iter().rev().take_while(|p| p.1.is_none());
        missing.last().map(|p| p.0)
    }

    fn layers(&self) -> Vec<Layer> {
        let met = || self.points.iter().filter_map(|(x, y)| Some((*x, (*y)?)));
        let means = || met().map(|(x, e)| (x, e.mean)).collect();
        let dots = || Shape::Dots(met().map(|(x, e)| (x, e.mean, e.half_width)).collect());
        let (color, shapes) = match self.kind {
            Kind::Exact => (self.color, vec![Shape::Line(2, means())]),
            Kind::Path => (self.color, vec![Shape::Line(1, means())]),
            Kind::Approximation => (INK, vec![Shape::Dashes(means())]),
            Kind::Check => (self.color, vec![dots()]),
            Kind::Bounds => {
                let ends = met().map(|(x, e)| (x, [e.mean - e.half_width, e.mean + e.half_width]));
                (self.color, vec![Shape::Band(ends.collect())])
            }
            Kind::Simulated => (self.color, vec![Shape::Line(1, means()), dots()]),
        };
        let layer = |shape| Layer { color, shape };
        shapes.into_iter().map(layer).collect()
    }

    fn entry(&self) -> Entry {
        let (label, color) = (&self.label, self.color);
        let (swatch, color, label) = match self.kind {
            Kind::Exact => (Swatch::Line(2), color, format!("{label}, exact")),
            Kind::Path => (Swatch::Line(1), color, label.clone()),
            Kind::Approximation => (Swatch::Dashes, GREY, "the paper's approximation".into()),
            Kind::Check => (Swatch::Dot, GREY, "simulated, 95 % interval".into()),
            Kind::Bounds => (Swatch::Band, GREY, "the paper's bounds".into()),
            Kind::Simulated => (Swatch::Joined, color, format!("{label}, simulated")),
        };
        Entry {
            swatch,
            color,
            label,
        }
    }
}

pub struct Panel {
    pub title: String,
    pub across: Axis,
    pub up: Axis,
    pub curves: Vec<Curve>,
    pub marks: Vec<Mark>,
}

impl Panel {
    pub fn new(title: impl Into<String>, across: Axis, up: Axis, curves: Vec<Curve>) -> Self {
        let (title, marks) = (title.into(), Vec::new());
        Panel {
            title,
            across,
            up,
            curves,
            marks,
        }
    }

    pub fn curve(&self, label: &str, kind: Kind) -> Done<&Curve> {
        let mut curves = self.curves.iter();
        let found = curves.find(|c| c.label == label && c.kind == kind);
        found.ok_or_else(|| format!("{} has no curve {label}", self.title).into())
    }
}

pub struct Figure {
    /// As its files are called: `figure2`.
    pub name: &'static str,
    pub size: (u32, u32),
    pub grid: (usize, usize),
    pub panels: Vec<Panel>,
}

impl Figure {
    fn table(&self) -> String {
        let mut text = "panel,curve,kind,x,y,half_width\n".to_string();
        for panel in &self.panels {
            for curve in &panel.curves {
                let (title, label) = (&panel.title, &curve.label);
                for (x, y) in &curve.points {
                    let (kind, [mean, half]) = (curve.kind.name(), cells(curve.kind, *y));
                    text += &format!("\"{title}\",\"{label}\",{kind},{x:.6},{mean},{half}\n");
                }
            }
        }
        text
    }

    /// Each label once, with where its first curve ends.
    fn legend(&self) -> Vec<Entry> {
        let mut entries: Vec<(String, Entry)> = Vec::new();
        for curve in self.panels.iter().flat_map(|p| &p.curves) {
            let mut entry = curve.entry();
            if entries.iter().any(|known| known.0 == entry.label) {
                continue;
            }
            let plain = entry.label.clone();
            if let Some(end) = curve.end().filter(|_| curve.kind == Kind::Simulated) {
                entry.label += &format!(" (no mean from {end} on)");
            }
            entries.push((plain, entry));
        }
        // What holds of all curves stands last.
        entries.sort_by_key(|(_, entry)| {
            matches!(entry.swatch, Swatch::Dot | Swatch::Dashes | Swatch::Band)
        });
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Writes table and picture to a folder.
    pub(super) fn write(&self, folder: &Path) -> Done<()> {
        let path = |end: &str| folder.join(format!("{}.{end}", self.name));
        let panel = |panel: &Panel| picture::Panel {
            title: panel.title.clone(),
            across: panel.across,
            up: panel.up,
            layers: panel.curves.iter().flat_map(Curve::layers).collect(),
            marks: panel.marks.clone(),
        };
        let picture = Picture {
            size: self.size,
            grid: self.grid,
            panels: self.panels.iter().map(panel).collect(),
            legend: self.legend(),
        };
        std::fs::write(path("csv"), self.table())?;
        picture.draw(&path("svg"))
    }
}

/// A mean and half the width of its interval.
fn cells(kind: Kind, y: Option<Estimate>) -> [String; 2] {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
    let drawn = matches!(kind, Kind::Simulated | Kind::Check | Kind::Bounds);
    let half = y.filter(|_| drawn).map(|e| e.half_width);
    [number(y.map(|e| e.mean)), number(half)]
}
