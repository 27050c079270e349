//! A figure as a picture: what of its rows is band, line or dot.
use crate::picture::{Axis, Entry, GREY, INK, Layer, Picture, Shape, Swatch};
use crate::table::{Curve, Figure, Look, Panel, Row};
use crate::theory::Theory;

pub fn picture(figure: &Figure) -> Picture {
    let panel = |panel: &Panel| crate::picture::Panel {
        title: panel.title.clone(),
        across: panel.axis,
        up: Axis {
            label: "mean number in system E[Q] [jobs]",
            range: panel.heights,
            log: true,
        },
        layers: panel.curves.iter().flat_map(|c| layers(panel, c)).collect(),
        marks: panel.marks.clone(),
    };
    Picture {
        size: figure.size,
        grid: figure.grid,
        panels: figure.panels.iter().map(panel).collect(),
        legend: legend(figure),
    }
}

fn legend(figure: &Figure) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for curve in figure.panels.iter().flat_map(|p| p.curves.iter().rev()) {
        let (swatch, how) = match curve.look {
            Look::Full => (Swatch::Line(3), ", exact"),
            Look::Thin => (Swatch::Line(2), ", exact"),
            Look::Points => (Swatch::Joined, ", simulated"),
        };
        let end = curve.rows.iter().find(|r| r.simulated.is_none());
        let label = curve.label.clone() + how;
        let label = match end.filter(|_| curve.look == Look::Points) {
            Some(row) => format!("{label} (no mean from ρ = {} on)", row.load),
            None => label,
        };
        let color = curve.color;
        if !entries.iter().any(|known| known.label == label) {
            entries.push(Entry {
                swatch,
                color,
                label,
            });
        }
    }
    let grey = [
        (Swatch::Band, "theorem 8's bounds"),
        (Swatch::Dashes, "section 6.4's approximation"),
        (Swatch::Dot, "simulated, 95 % interval"),
    ];
    let more = grey.map(|(swatch, label)| Entry {
        swatch,
        color: GREY,
        label: label.into(),
    });
    entries.extend(more);
    entries
}

fn layers(panel: &Panel, curve: &Curve) -> Vec<Layer> {
    let at = |row: &Row| (panel.at)(row);
    let known: Vec<(f64, Theory)> = curve
        .rows
        .iter()
        .filter_map(|row| Some((at(row), row.theory?)))
        .collect();
    let of = |f: fn(&Theory) -> f64| known.iter().map(|(x, t)| (*x, f(t))).collect();
    let layer = |shape| Layer {
        color: curve.color,
        shape,
    };
    let mut layers = Vec::new();
    if curve.look == Look::Full {
        let ends = known.iter().map(|(x, t)| (*x, [t.lower, t.upper]));
        layers.push(layer(Shape::Band(ends.collect())));
        layers.push(Layer {
            color: INK,
            shape: Shape::Dashes(of(|t| t.approximation)),
        });
    }
    let width = if curve.look == Look::Full { 3 } else { 2 };
    layers.push(layer(Shape::Line(width, of(|t| t.exact))));
    let met = curve.rows.iter();
    let met: Vec<_> = met.filter_map(|r| Some((at(r), r.simulated?))).collect();
    if curve.look == Look::Points {
        let means = met.iter().map(|(x, e)| (*x, e.mean)).collect();
        layers.push(layer(Shape::Line(1, means)));
    }
    let dots = met.iter().map(|(x, e)| (*x, e.mean, e.half_width));
    layers.push(layer(Shape::Dots(dots.collect())));
    layers
}
