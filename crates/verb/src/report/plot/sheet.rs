//! Several charts in one SVG file: a grid, with one legend below it.

use askama::Template;

use super::{Axis, Curve, DASHED, Drawn, Frame, INK, Look, Picture, Style, key, stroke};

/// Charts in a grid, and their legend.
pub struct Sheet {
    /// Width and height of a chart.
    pub size: (u32, u32),
    /// The number of charts in a row.
    pub columns: u32,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
    /// The label of each curve, with its look and its style.
    pub legend: Vec<(String, Look, Style)>,
}

/// A chart of a sheet.
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

/// A part of the file: its place, its picture, and the source of its texts.
type Placed<T> = (u32, u32, Picture, T);

#[derive(Template)]
#[template(path = "sheet.svg", escape = "html")]
struct File<'a> {
    width: u32,
    height: u32,
    charts: Vec<Placed<&'a Chart>>,
    keys: Vec<Placed<&'a str>>,
}

/// Height of a row of the legend, and its margin.
const ROW: u32 = 24;
/// Width of the vertical title, and height of the title above a chart.
const TITLES: (u32, u32) = (24, 28);

impl Sheet {
    /// Returns the sheet as an SVG file.
    ///
    /// # Errors
    /// When a chart cannot be drawn.
    pub fn svg(&self) -> Drawn<String> {
        let (width, height) = self.size;
        let charts = (0_u32..).zip(&self.charts).map(|(n, chart)| {
            let (row, column) = (n / self.columns, n % self.columns);
            let picture = chart.picture((width - TITLES.0, height - TITLES.1));
            (column * width, row * height, picture, chart)
        });
        let charts: Vec<_> = charts.collect();
        let (width, bottom) = (
            width * self.columns,
            height * (charts.len() as u32).div_ceil(self.columns),
        );
        let keys = (0_u32..).zip(&self.legend);
        let keys = keys.map(|(n, (label, look, style))| {
            let (x, y) = (24 + (n % 2) * (width / 2), bottom + ROW * (n / 2));
            (x, y + 6, key(*look, *style), &**label)
        });
        let file = File {
            width,
            height: bottom + ROW * (self.legend.len() as u32).div_ceil(2) + ROW / 2,
            keys: keys.collect(),
            charts,
        };
        Ok(file.render()? + "\n")
    }
}

impl Chart {
    fn picture(&self, size: (u32, u32)) -> Picture {
        let mut frame = Frame::new(size, 0, true, (&self.across, &self.up));
        frame.curves(&self.curves);
        for ((at, label), row) in self.lines.iter().zip(0..) {
            let ends = [self.up.low, self.up.high].map(|end| (*at, end));
            frame.line(&(stroke(INK, 1) + DASHED), ends);
            let down = f64::from(16 + 20 * row);
            frame.text(ends[1], (6.0, down), "start", label);
        }
        frame.picture()
    }
}
