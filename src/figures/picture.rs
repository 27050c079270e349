//! A picture of panels with one legend below them, as SVG.

#![allow(missing_docs, reason = "the fields of a picture say what they are")]
use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

// Okabe and Ito's colours, which the colour-blind can tell apart.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
pub const GREEN: RGBColor = RGBColor(0, 138, 100);
pub const VERMILLION: RGBColor = RGBColor(213, 94, 0);
pub const PURPLE: RGBColor = RGBColor(190, 90, 150);
pub const ORANGE: RGBColor = RGBColor(215, 145, 0);
pub const SKY: RGBColor = RGBColor(60, 160, 215);
pub const GREY: RGBColor = RGBColor(110, 110, 110);
pub const INK: RGBColor = RGBColor(40, 40, 40);

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b, X, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>;

/// Panels in a grid, and the legend below them.
pub struct Picture {
    /// Without the legend.
    pub size: (u32, u32),
    pub grid: (usize, usize),
    pub panels: Vec<Panel>,
    pub legend: Vec<Entry>,
}

pub struct Panel {
    pub title: String,
    pub across: Axis,
    pub up: Axis,
    /// The first lies lowest.
    pub layers: Vec<Layer>,
    pub marks: Vec<Mark>,
}

#[derive(Clone, Copy)]
pub struct Axis {
    pub label: &'static str,
    pub range: (f64, f64),
    pub log: bool,
}

impl Axis {
    fn shows(&self, x: f64) -> bool {
        x > self.range.0 && x < self.range.1
    }

    fn clamp(&self, x: f64) -> f64 {
        x.clamp(self.range.0, self.range.1)
    }

    /// The place at this fraction of the way from the high end to the low one.
    fn at_depth(&self, fraction: f64) -> f64 {
        let (low, high) = self.range;
        match self.log {
            true => high * (low / high).powf(fraction),
            false => high + (low - high) * fraction,
        }
    }

    /// Numbers for a logarithmic axis: 1, 2, 5, 10, …, or powers of ten where these are many.
    fn key_points(&self) -> Vec<f64> {
        let digits: &[f64] = match self.range.1 / self.range.0 > 3e4 {
            true => &[1.0],
            false => &[1.0, 2.0, 5.0],
        };
        let all = (-3..9).flat_map(|n| digits.iter().map(move |d| d * 10_f64.powi(n)));
        all.filter(|y| *y >= self.range.0 && *y <= self.range.1)
            .collect()
    }
}

pub struct Layer {
    pub color: RGBColor,
    pub shape: Shape,
}

pub enum Shape {
    Band(Vec<(f64, [f64; 2])>),
    /// Of this width.
    Line(u32, Vec<(f64, f64)>),
    Dashes(Vec<(f64, f64)>),
    /// With half the width of their intervals.
    Dots(Vec<(f64, f64, f64)>),
}

/// A vertical line in a panel.
#[derive(Clone)]
pub struct Mark {
    pub at: f64,
    pub dashed: bool,
    pub label: String,
    /// Where the label stands: fraction of the height from the top; and whether left of the line.
    pub height: f64,
    pub left: bool,
}

/// A line of the legend.
pub struct Entry {
    pub swatch: Swatch,
    pub color: RGBColor,
    pub label: String,
}

#[derive(Clone, Copy)]
pub enum Swatch {
    Line(u32),
    /// A line of width 1 through a dot.
    Joined,
    Dashes,
    Band,
    Dot,
}

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

impl Picture {
    /// Writes it as SVG.
    ///
    /// # Errors
    /// When it cannot be drawn or written.
    pub fn draw(&self, path: &Path) -> Result<()> {
        let (width, height) = self.size;
        let rows = self.legend.len().div_ceil(2);
        let root = SVGBackend::new(path, (width, height + 24 * rows as u32 + 18));
        let root = root.into_drawing_area();
        root.fill(&WHITE)?;
        let (panels, below) = root.split_vertically(height);
        for (panel, area) in self.panels.iter().zip(panels.split_evenly(self.grid)) {
            panel.draw(&area)?;
        }
        for (k, entry) in self.legend.iter().enumerate() {
            let x = 76 + (width as i32 / 2 - 20) * (k / rows) as i32;
            entry.draw(&below, (x, 14 + 24 * (k % rows) as i32))?;
        }
        root.present()?;
        Ok(())
    }
}

impl Entry {
    fn draw(&self, area: &Area<'_>, (x, y): (i32, i32)) -> Result<()> {
        let color = self.color;
        let line = |from: i32, to: i32, width: u32| {
            PathElement::new([(x + from, y), (x + to, y)], color.stroke_width(width))
        };
        let dot = || Circle::new((x + 15, y), 4, color.filled());
        match self.swatch {
            Swatch::Line(width) => area.draw(&line(0, 30, width))?,
            Swatch::Joined => {
                area.draw(&line(0, 30, 1))?;
                area.draw(&dot())?;
            }
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
                area.draw(&dot())?;
                let ends = [(x + 15, y - 9), (x + 15, y + 9)];
                area.draw(&PathElement::new(ends, color.stroke_width(1)))?;
            }
        }
        area.draw(&Text::new(self.label.clone(), (x + 40, y - 7), font(16)))?;
        Ok(())
    }
}

impl Panel {
    fn draw(&self, area: &Area<'_>) -> Result<()> {
        let across = self.across.range.0..self.across.range.1;
        match self.across.log {
            true => self.draw_over(area, across.log_scale()),
            false => self.draw_over(area, across),
        }
    }

    fn draw_over<X>(&self, area: &Area<'_>, across: X) -> Result<()>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
    {
        let up = self.up.range.0..self.up.range.1;
        let points = self.up.key_points();
        match self.up.log {
            true => self.draw_in(area, across, up.log_scale().with_key_points(points)),
            false => self.draw_in(area, across, up),
        }
    }

    fn draw_in<X, Y>(&self, area: &Area<'_>, across: X, up: Y) -> Result<()>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let number = |x: &f64| match *x {
            x if x < 1e5 => format!("{}", (x * 1e6).round() / 1e6),
            x => format!("{x:e}"),
        };
        let mut chart = ChartBuilder::on(area)
            .margin(14)
            .x_label_area_size(50)
            .y_label_area_size(64)
            .caption(&self.title, font(18))
            .build_cartesian_2d(across, up)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(228, 228, 228))
            .x_labels(8)
            .x_desc(self.across.label)
            .y_desc(self.up.label)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .label_style(font(15))
            .axis_desc_style(font(16))
            .draw()?;
        for layer in &self.layers {
            layer.draw(&mut chart, &self.up)?;
        }
        for mark in &self.marks {
            mark.draw(&mut chart, &self.up)?;
        }
        Ok(())
    }
}

impl Layer {
    fn draw<X, Y>(&self, chart: &mut Chart<'_, '_, X, Y>, up: &Axis) -> Result<()>
    where
        X: Ranged<ValueType = f64>,
        Y: Ranged<ValueType = f64>,
    {
        let color = self.color;
        let visible = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let seen = points.iter().filter(|p| up.shows(p.1));
            seen.copied().collect()
        };
        match &self.shape {
            Shape::Band(ends) => {
                let above = ends.iter().map(|(x, y)| (*x, up.clamp(y[1])));
                let below = ends.iter().rev().map(|(x, y)| (*x, up.clamp(y[0])));
                let band: Vec<_> = above.chain(below).collect();
                chart.draw_series([Polygon::new(band, color.mix(0.2))])?;
            }
            Shape::Line(width, points) => {
                let style = color.stroke_width(*width);
                chart.draw_series(LineSeries::new(visible(points), style))?;
            }
            Shape::Dashes(points) => {
                let style = color.stroke_width(1);
                chart.draw_series(DashedLineSeries::new(visible(points), 5, 4, style))?;
            }
            Shape::Dots(points) => {
                let met = || points.iter().filter(|(_, mean, _)| up.shows(*mean));
                chart.draw_series(met().map(|(x, mean, half)| {
                    let [low, high] = [mean - half, mean + half].map(|y| up.clamp(y));
                    ErrorBar::new_vertical(*x, low, *mean, high, color.filled(), 7)
                }))?;
                let dot = |(x, mean, _): &_| Circle::new((*x, *mean), 4, color.filled());
                chart.draw_series(met().map(dot))?;
            }
        }
        Ok(())
    }
}

impl Mark {
    fn draw<X, Y>(&self, chart: &mut Chart<'_, '_, X, Y>, up: &Axis) -> Result<()>
    where
        X: Ranged<ValueType = f64>,
        Y: Ranged<ValueType = f64>,
    {
        let style = INK.stroke_width(1);
        let ends = vec![(self.at, up.range.0), (self.at, up.range.1)];
        match self.dashed {
            true => chart.draw_series(DashedLineSeries::new(ends, 5, 4, style))?,
            false => chart.draw_series(LineSeries::new(ends, style))?,
        };
        // The width of the text is a guess: the reader's browser chooses the font.
        let width = 8 * self.label.chars().count() as i32;
        let shift = if self.left { -width - 6 } else { 6 };
        let text = Text::new(self.label.clone(), (shift, 0), font(15));
        let place = (self.at, up.at_depth(self.height));
        chart.draw_series([EmptyElement::at(place) + text])?;
        Ok(())
    }
}
