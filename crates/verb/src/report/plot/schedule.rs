//! What ran when, as rectangles, and how many waited meanwhile.

use std::fmt::Write as _;

use super::marks::{COLORS, MOST};
use super::{Axis, Figure, Frame, INK, Picture, Scale, WIDTH, stroke};
use crate::report::{counted, fitting, number, percent, span};
use synth_simulation::{Stint, Stretch};

/// Where the line of waiting jobs is: below the rectangles, which are from 0 to 1.
const BELOW: [f64; 2] = [-0.5, -0.1];

/// Draws a stretch of time under a policy of this name: across time, and up what each job holds of the resource; a job may be
/// in several pieces. The time in which jobs wait is shaded, so that capacity that is idle meanwhile is seen; the job that was
/// [awaited](Stretch::awaited) is outlined. The line below is the number of waiting jobs, of at most `most`.
pub fn schedule(title: &str, stretch: &Stretch, unit: &str, most: f64) -> Figure {
    let (name, factor) = fitting(stretch.to - stretch.from, unit);
    let length = factor * (stretch.to - stretch.from);
    let (resource, capacity) = &stretch.resource;
    let resource: String = resource.chars().take(8).collect();
    let x = Axis::new(&format!("time [{name}]"), Scale::Linear, 0.0, length);
    let y = Axis::new("", Scale::Linear, BELOW[0], 1.0).with_ticks(vec![
        (BELOW[0], "0".into()),
        (BELOW[1], format!("{} wait", number_of(most))),
        (0.0, "0".into()),
        (0.5, number_of(0.5 * capacity)),
        (1.0, format!("{} {resource}", number_of(*capacity))),
    ]);
    let mut frame = Frame::new((WIDTH, 380), 0, true, (&x, &y));
    let shapes = shapes(&frame, stretch, factor, most);
    frame.body += &shapes;
    let awaited = stretch.awaited().map_or(String::new(), |job| {
        let class = &stretch.classes[job.class as usize];
        let waited = span((job.waited, 0.0), unit);
        format!(" The outlined job ({class}) had waited for {waited}.")
    });
    let note = format!(
        "At most {} waited at once; {} of the capacity was idle while jobs waited.{awaited}",
        counted(stretch.most_waiting(), "job"),
        percent(stretch.idle_while_waiting())
    );
    let is_drawn = |n: usize| stretch.stints.iter().any(|job| look(job.class) == n);
    let keys = (0..stretch.classes.len().min(MOST)).filter(|n| is_drawn(*n));
    let keys = keys.map(|n| {
        let class = &stretch.classes[n];
        let others = n + 1 == MOST && stretch.classes.len() > MOST;
        (if others { "others" } else { class }.to_owned(), swatch(n))
    });
    Figure {
        title: title.into(),
        description: format!("What ran when under {title}. {note}"),
        note,
        keys: keys.collect(),
        picture: frame.picture(),
    }
}

/// Returns the number of the colour of a class of jobs; the classes from the eighth on have one.
fn look(class: u32) -> usize {
    (class as usize).min(MOST - 1)
}

/// Returns a filled piece for a legend.
fn swatch(look: usize) -> Picture {
    Picture {
        width: 44,
        height: 16,
        body: format!(
            "<path class=\"bar\" fill=\"{}\" d=\"M8 1h28v14H8z\"/>",
            COLORS[look]
        ),
    }
}

fn number_of(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e6 {
        value.to_string()
    } else {
        number(value)
    }
}

/// Returns what is drawn between these axes; times are multiplied by `factor` on the first one.
fn shapes(frame: &Frame<'_>, stretch: &Stretch, factor: f64, most: f64) -> String {
    let Stretch { from, to, .. } = *stretch;
    let x = |time: f64| frame.at((factor * (time - from), 0.0)).0;
    let y = |part: f64| frame.at((0.0, part)).1;
    let rectangle = |[start, end]: [f64; 2], [low, high]: [f64; 2]| {
        let (left, top) = (x(start), y(high));
        format!(
            "M{left:.1} {top:.1}h{:.1}v{:.1}H{left:.1}z",
            x(end) - left,
            y(low) - top
        )
    };
    let ends = stretch.waiting.iter().map(|own| own.0).skip(1).chain([to]);
    let waits = || stretch.waiting.iter().copied().zip(ends.clone());
    let mut body = String::new();
    let mut path = |attributes: &str, d: &str| {
        let _ = write!(body, "\n<path {attributes} d=\"{d}\"/>");
    };
    let shaded = waits().filter(|((_, count), _)| *count > 0.0);
    let shaded = shaded.map(|((since, _), end)| rectangle([since, end], [0.0, 1.0]));
    path(
        "class=\"shade\" fill=\"#9B2C00\" fill-opacity=\".25\"",
        &shaded.collect::<String>(),
    );
    let awaited = stretch.awaited();
    let mut drawn = [const { String::new() }; MOST];
    let mut outline = String::new();
    for (own, pieces) in packed(stretch) {
        for piece in pieces {
            let piece = rectangle([own.start, own.end], piece);
            drawn[look(own.class)] += &piece;
            if Some(own) == awaited {
                outline += &piece;
            }
        }
    }
    let drawn = drawn.iter().zip(COLORS).filter(|(d, _)| !d.is_empty());
    for (d, color) in drawn {
        path(&format!("class=\"bar\" fill=\"{color}\""), d);
    }
    path(&stroke(INK, 3), &outline);
    let height = |count: f64| y(BELOW[0] + (BELOW[1] - BELOW[0]) * count / most.max(1.0));
    let steps = waits().map(|((since, count), end)| {
        format!("L{:.1} {:.1}H{:.1}", x(since), height(count), x(end))
    });
    let line = steps.collect::<String>().replacen('L', "M", 1);
    path(&stroke(INK, 2), &line);
    body
}

/// Room is dealt in so many parts: sums of them are exact.
const PARTS: f64 = 1e6;

/// Returns what each job holds, from low to high: the lowest gap that has room for it, or else pieces of the lowest gaps.
fn packed(stretch: &Stretch) -> Vec<(&Stint, Vec<[f64; 2]>)> {
    let mut held: Vec<(f64, [u64; 2])> = Vec::new();
    let place = |own| {
        let &Stint {
            part, start, end, ..
        } = own;
        held.retain(|(until, _)| *until > start);
        held.sort_by_key(|(_, piece)| *piece);
        let tops = held.iter().map(|(_, [_, high])| *high);
        let bottoms = held.iter().map(|(_, [low, _])| *low).chain([PARTS as u64]);
        let gaps = [0].into_iter().chain(tops).zip(bottoms);
        let gaps: Vec<[u64; 2]> = gaps.filter(|(a, b)| a < b).map(|(a, b)| [a, b]).collect();
        // What is held together of all there is must not be above it by rounding.
        let mut left = (part * PARTS) as u64;
        let whole = gaps.iter().find(|[low, high]| high - low >= left);
        let chosen = whole.map_or(&gaps[..], std::slice::from_ref);
        let mut pieces = Vec::new();
        for [low, high] in chosen {
            let size = left.min(high - low);
            if size > 0 {
                pieces.push([*low, low + size]);
                left -= size;
            }
        }
        held.extend(pieces.iter().map(|piece| (end, *piece)));
        let parts = pieces.into_iter();
        let parts = parts.map(|piece: [u64; 2]| piece.map(|own| own as f64 / PARTS));
        (own, parts.collect())
    };
    stretch.stints.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stint(start: f64, end: f64, part: f64) -> Stint {
        Stint {
            class: 0,
            part,
            start,
            end,
            waited: 0.0,
        }
    }

    /// No two jobs that run at once hold the same part, each holds what it does, and none is above all there is.
    #[test]
    fn rectangles_do_not_overlap() {
        let stretch = Stretch {
            from: 0.0,
            to: 10.0,
            classes: vec!["a".into()],
            stints: vec![
                stint(0.0, 4.0, 0.25),
                stint(0.0, 9.0, 0.5),
                stint(1.0, 6.0, 0.25),
                // Into two gaps: below and above the second.
                stint(6.0, 8.0, 0.5),
                stint(8.0, 10.0, 1.0 / 3.0),
            ],
            ..Stretch::default()
        };
        let found: Vec<Vec<[f64; 2]>> = packed(&stretch).into_iter().map(|own| own.1).collect();
        assert_eq!(found[3], [[0.0, 0.25], [0.75, 1.0]]);
        assert_eq!(found[4], [[0.0, 0.25], [0.75, 0.833_333]]);
        assert_eq!(found[..3], [[[0.0, 0.25]], [[0.25, 0.75]], [[0.75, 1.0]]]);
    }
}
