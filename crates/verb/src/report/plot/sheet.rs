use super::{Chart, Frame, Style, key, text};

/// A grid of charts with a legend.
pub struct Sheet {
    /// The width and the height of each chart.
    pub size: (u32, u32),
    /// The number of charts in each row.
    pub columns: u32,
    /// The charts, in the order of the rows.
    pub charts: Vec<Chart>,
    /// The label of each curve, with the index of its color and its style.
    pub legend: Vec<(String, usize, Style)>,
}

const ROW: u32 = 24;
const TITLES: (u32, u32) = (24, 28);

impl Sheet {
    /// Returns the sheet as an SVG file.
    pub fn svg(&self) -> String {
        let (width, height) = self.size;
        let charts = (0_u32..).zip(&self.charts).map(|(n, chart)| {
            let place = (n % self.columns * width, n / self.columns * height);
            moved(place, &elements(chart, self.size))
        });
        let rows = (self.charts.len() as u32).div_ceil(self.columns);
        let (width, bottom) = (width * self.columns, height * rows);
        let keys = (0_u32..).zip(&self.legend);
        let keys = keys.map(|(n, (label, look, style))| {
            let place = (24 + n % 2 * (width / 2), bottom + ROW * (n / 2) + 6);
            let label = text((54.0, 13.0), "start", label);
            moved(place, &(key(*look, *style).body + &label))
        });
        let body: String = charts.chain(keys).collect();
        let height = bottom + ROW * (self.legend.len() as u32).div_ceil(2) + ROW / 2;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"15\">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{body}</svg>\n"
        )
    }
}

fn elements(chart: &Chart, (width, height): (u32, u32)) -> String {
    let (width, height) = (width - TITLES.0, height - TITLES.1);
    let mut frame = Frame::new((width, height), 0, &chart.across, &chart.up);
    frame.chart(chart);
    let above = text((f64::from(width / 2), 20.0), "middle", &chart.title);
    let aside = text((0.0, 0.0), "middle", &chart.up.title);
    format!(
        "<g font-size=\"17\">{above}</g>\n<g transform=\"translate(18 {}) rotate(-90)\">{aside}</g>\n{}",
        height / 2,
        moved(TITLES, &frame.picture().body)
    )
}

fn moved((x, y): (u32, u32), elements: &str) -> String {
    format!("<g transform=\"translate({x} {y})\">\n{elements}</g>\n")
}
