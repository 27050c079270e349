//! This module draws bars for values that have labels, and heat maps.

use super::{Figure, INK, LETTER, MOST, WIDTH, path, picture, stroke, text};
use crate::report::{number, readable, wrap_all};

/// The color of a bar, and of ratios below 1.
const GOOD: &str = "#008A64";
/// The color of the bar that the others are compared with.
const PLAIN: &str = "#505050";
const BAR: &str = "#0072B2";
/// The color of ratios above 1.
const BAD: &str = "#D55E00";

/// The number of letters in a line of a label that have space in the width of a picture.
const LETTERS: usize = 54;
/// The height of a line of a label.
const LINE: f64 = 17.0;

/// A value with a label, which is drawn as a bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The label, which is shown above the bar.
    pub label: String,
    /// The value, which must not be negative.
    pub value: f64,
    /// The ends of the interval.
    pub ends: Option<[f64; 2]>,
    /// `true` if the bar is a baseline, which has another color.
    pub is_baseline: bool,
}

/// Draws a bar for each of the first eight values, or returns `None` if there are none.
pub fn bars(title: &str, bars: &[Bar]) -> Option<Figure> {
    let shown = &bars[..bars.len().min(MOST)];
    // Long intervals are cut off, so that they do not make the bars short.
    let end = |bar: &Bar| match bar.ends {
        Some([_, high]) => high.min(1.5 * bar.value),
        None => bar.value,
    };
    let longest = shown.iter().map(end).fold(0.0, f64::max);
    if !(longest > 0.0 && longest.is_finite()) {
        return None;
    }
    let scale = f64::from(WIDTH - 84) / longest;
    let (mut body, mut top) = (String::new(), 14.0);
    for bar in shown {
        let color = if bar.is_baseline { PLAIN } else { BAR };
        for line in wrap_all(&bar.label, LETTERS).lines() {
            body += &text((2.0, top), "start", line);
            top += LINE;
        }
        let middle = top - 6.0;
        body += &area(color, 0.85, [2.0, middle - 6.0, scale * bar.value, 12.0]);
        if let Some([low, _]) = bar.ends {
            let (from, to) = (2.0 + scale * low.max(0.0), 2.0 + scale * end(bar));
            body += &path(&stroke(INK, 2), [(from, middle), (to, middle)]);
        }
        let at = (10.0 + scale * end(bar), middle + 5.0);
        body += &text(at, "start", &number(bar.value));
        top += 19.0;
    }
    let described = shown.iter();
    let described = described.map(|bar| format!("{}: {}.", bar.label, number(bar.value)));
    let more = bars.len() - shown.len();
    Some(Figure {
        title: title.into(),
        description: described.collect::<Vec<_>>().join(" "),
        note: match more {
            0 => String::new(),
            more => format!("{more} more are in the table."),
        },
        keys: Vec::new(),
        picture: picture((WIDTH, top as u32 - 10), &body),
    })
}

/// Draws the mean and the longest wait \[s\] of each policy, which are given in this order.
pub fn waits(policies: &[(String, [f64; 2])]) -> Vec<Figure> {
    let draw = |(title, n): (&str, usize)| {
        let values = policies.iter().map(|(_, waits)| waits[n]);
        let (unit, factor) = readable("s", values);
        let rows = policies.iter().map(|(label, waits)| Bar {
            label: label.clone(),
            value: factor * waits[n],
            ends: None,
            is_baseline: false,
        });
        let mut figure = bars(&format!("{title} [{unit}]"), &rows.collect::<Vec<_>>())?;
        figure.note.insert_str(0, "Shorter is better. ");
        Some(figure)
    };
    let all = [("Mean wait", 0), ("Longest wait", 1)];
    all.into_iter().filter_map(draw).collect()
}

/// The label of a row of a heat map, and its cells. Each cell has a value, the ratio that determines
/// its color (below 1 is good, and a factor of 4 is the strongest), and a label.
type HeatRow = (String, Vec<(String, f64, String)>);

/// Draws a table where colors show which values are good.
pub fn heat_map(title: &str, heads: &[&str], rows: &[HeatRow]) -> Option<Figure> {
    const ROW: u32 = 48;
    const LEFT: f64 = 122.0;
    let width = (f64::from(WIDTH) - LEFT) / heads.len().max(1) as f64;
    let mut body = String::new();
    let mut described = String::new();
    for (n, head) in heads.iter().enumerate() {
        body += &text((LEFT + width * (n as f64 + 0.5), 16.0), "middle", head);
    }
    for (n, (label, cells)) in rows.iter().enumerate() {
        let top = 24.0 + f64::from(ROW) * n as f64;
        body += &text((2.0, top + 28.0), "start", label);
        for (k, (value, shade, cell)) in cells.iter().enumerate() {
            let left = LEFT + width * k as f64;
            let color = if *shade < 1.0 { GOOD } else { BAD };
            let strength = (shade.ln().abs() / 4_f64.ln()).clamp(0.0, 1.0);
            let inside = [left + 1.0, top + 1.0, width - 2.0, f64::from(ROW) - 2.0];
            body += &area(color, 0.55 * strength, inside);
            let middle = left + 0.5 * width;
            body += &text((middle, top + 20.0), "middle", value);
            body += &format!(
                "<g font-size=\"{}\">{}</g>",
                0.7 * LETTER,
                text((middle, top + 38.0), "middle", cell)
            );
            described += &format!("{label}, {cell}: {value}. ");
        }
    }
    (!rows.is_empty()).then(|| Figure {
        title: title.into(),
        description: described,
        picture: picture((WIDTH, ROW * rows.len() as u32 + 26), &body),
        ..Figure::default()
    })
}

fn area(color: &str, opacity: f64, [left, top, width, height]: [f64; 4]) -> String {
    format!(
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\" fill-opacity=\"{opacity:.2}\"/>\n"
    )
}
