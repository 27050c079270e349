//! What the page draws: makespans by batch, what they cost the volunteers, and the front that the
//! parameters were chosen from.

use super::headed;
use crate::artifact::Quantity as _;
use crate::report::plot::{self, Axis, Curve, Look, Panel, Point, Scale};
use crate::report::{Section, number};
use crate::volunteer::artifact::{Mean, Quantity, Tried};
use crate::volunteer::verbs::{Entry, Tournament};

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// Batches that are drawn.
const MOST: usize = 24;

/// All pictures that there is data for.
pub fn sections(tournament: &Tournament) -> Drawn<Vec<Section>> {
    let mut sections = Vec::new();
    sections.extend(makespans(tournament)?);
    sections.extend(prices(tournament)?);
    for entry in &tournament.entries {
        sections.extend(front(tournament, entry)?);
    }
    Ok(sections)
}

fn keys(tournament: &Tournament) -> Drawn<Vec<(String, plot::Picture)>> {
    Section::keys(tournament.entries.iter().map(|own| own.name.as_str()))
}

/// The makespan of each batch.
fn makespans(tournament: &Tournament) -> Drawn<Option<Section>> {
    let campaign = &tournament.campaign;
    let batches: Vec<usize> = (0..campaign.batches().len())
        .filter(|n| !campaign.batches()[*n].is_stream())
        .take(MOST)
        .collect();
    let labels: Vec<String> = batches
        .iter()
        .map(|n| campaign.batches()[*n].name.clone())
        .collect();
    let curve = |(n, entry): (usize, &Entry)| {
        let rows = batches.iter().enumerate();
        let point = |(row, batch): (usize, &usize)| {
            let found = entry.run.makespan(*batch)?;
            Some(Point {
                at: row as f64,
                value: found.mean,
                half_width: found.half_width.min(found.mean * 0.999),
            })
        };
        Curve {
            look: Look::new(n),
            points: rows.filter_map(point).collect(),
            unstable: Vec::new(),
        }
    };
    let curves: Vec<Curve> = tournament.entries.iter().enumerate().map(curve).collect();
    if curves.iter().all(|curve| curve.points.is_empty()) {
        return Ok(None);
    }
    let values = curves.iter().flat_map(|c| &c.points).flat_map(|p| {
        [
            p.value,
            (p.value - p.half_width).max(p.value / 10.0),
            p.value + p.half_width,
        ]
    });
    let title = format!("makespan [{}], log scale", campaign.time_unit());
    let x = Axis::around(&title, Scale::Log, values);
    Ok(Some(Section {
        title: "How long batches take".into(),
        text: "From the submission of a batch to its last job, mean over campaigns with its interval. A policy that did not end a batch in all campaigns has no point there.".into(),
        keys: keys(tournament)?,
        panels: vec![Panel {
            id: String::new(),
            description: format!("{title}, of each batch. {}", described(tournament)),
            title: format!("Makespan of each batch [{}], log scale", campaign.time_unit()),
            picture: plot::rows(&labels, &x, &curves)?,
        }],
    }))
}

fn described(tournament: &Tournament) -> String {
    let lines = tournament.entries.iter().map(|entry| {
        let found = entry
            .run
            .estimate(&tournament.campaign, Quantity::MedianMakespan);
        let found = found.map_or("not all done".into(), |own| number(own.mean));
        format!("{}: {found} in the median.", entry.name)
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// What makespans cost.
const PRICES: [Quantity; 6] = [
    Quantity::Instances,
    Quantity::Tight,
    Quantity::Stopped,
    Quantity::Delay,
    Quantity::ShortBatches,
    Quantity::LongBatches,
];

fn prices(tournament: &Tournament) -> Drawn<Option<Section>> {
    let campaign = &tournament.campaign;
    let labels: Vec<String> = tournament
        .entries
        .iter()
        .map(|own| own.name.clone())
        .collect();
    let mut panels = Vec::new();
    for quantity in PRICES {
        let curve = |(n, entry): (usize, &Entry)| {
            let found = entry.run.estimate(campaign, quantity)?;
            Some(Curve {
                look: Look::new(n),
                points: vec![Point {
                    at: n as f64,
                    value: found.mean,
                    half_width: found.half_width,
                }],
                unstable: Vec::new(),
            })
        };
        let curves: Vec<Curve> = tournament
            .entries
            .iter()
            .enumerate()
            .filter_map(curve)
            .collect();
        let values = curves
            .iter()
            .flat_map(|c| &c.points)
            .flat_map(|p| [p.value - p.half_width, p.value + p.half_width]);
        let values: Vec<f64> = values.collect();
        if values.is_empty() || values.iter().all(|value| *value == 0.0) {
            continue;
        }
        let title = headed(quantity, campaign.time_unit());
        let x = Axis::around("", Scale::Linear, values.into_iter().chain([0.0]));
        let said = curves
            .iter()
            .flat_map(|c| &c.points)
            .map(|p| format!("{}: {}", labels[p.at as usize], number(p.value)));
        panels.push(Panel {
            id: String::new(),
            description: format!(
                "{}. {}.",
                quantity.row().label,
                said.collect::<Vec<_>>().join(", ")
            ),
            title,
            picture: plot::rows(&labels, &x, &curves)?,
        });
    }
    Ok((!panels.is_empty()).then_some(Section {
        title: "What it costs volunteers and the server".into(),
        text: "Instances are work done more than once; tight dispatches and stopped jobs are what irritates volunteers, and so is the time from a result to its validation. Parts of batches with deadlines that were done in time.".into(),
        keys: keys(tournament)?,
        panels,
    }))
}

/// What a choice costs, and its name.
type Price = (fn(&Tried) -> Option<Mean>, &'static str);

/// The front that a policy file was chosen from.
fn front(tournament: &Tournament, entry: &Entry) -> Drawn<Option<Section>> {
    let Some(taken) = entry.taken.map(|n| &entry.tried[n]) else {
        return Ok(None);
    };
    let time = tournament.campaign.time_unit();
    // The makespan is drawn over what is told apart best.
    let prices: [Price; 2] = [
        (|own| own.stopped, "jobs stopped for others"),
        (|own| own.tight, "tight dispatches a job"),
    ];
    let mut panels = Vec::new();
    for (of, what) in prices {
        let points = |wanted: &dyn Fn(&Tried) -> bool| {
            let own = entry.tried.iter().filter(|own| wanted(own));
            let own = own.filter_map(|own| {
                let (x, y) = (of(own)?, own.makespan?);
                Some(Point {
                    at: x.value,
                    value: y.value,
                    half_width: y.half_width.min(y.value * 0.9),
                })
            });
            let mut points: Vec<Point> = own.collect();
            points.sort_by(|a, b| a.at.total_cmp(&b.at));
            points
        };
        let is_taken = |own: &Tried| own.dispatch == taken.dispatch;
        let all = [
            points(&|own| own.front && !is_taken(own)),
            points(&|own| !own.front),
            points(&is_taken),
        ];
        let spread: Vec<f64> = all.iter().flatten().map(|p| p.at).collect();
        let (low, high) = spread
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
                (l.min(*x), h.max(*x))
            });
        if spread.len() < 2 || high <= low {
            continue;
        }
        let values = all
            .iter()
            .flatten()
            .flat_map(|p| [p.value - p.half_width, p.value + p.half_width]);
        let y = Axis::around("", Scale::Log, values);
        let x = Axis::around(what, Scale::Linear, spread.into_iter());
        let marks = all.into_iter().enumerate().flat_map(|(n, points)| {
            // Each point for itself: nothing lies between two of them.
            points.into_iter().map(move |point| Curve {
                look: Look::new(n),
                points: vec![point],
                unstable: Vec::new(),
            })
        });
        let curves: Vec<Curve> = marks.collect();
        let title = format!("Median makespan [{time}], log scale, over {what}");
        panels.push(Panel {
            id: String::new(),
            description: format!(
                "{title}, for {} parameters that were tried, {} of them on the front.",
                entry.tried.len(),
                entry.tried.iter().filter(|own| own.front).count()
            ),
            title,
            picture: plot::curves(&x, &y, &curves)?,
        });
    }
    Ok((!panels.is_empty()).then_some(Section {
        title: format!("What {} was chosen from", entry.name),
        text: "Each mark is a choice of percentiles and quantile that was simulated. On the front is what nothing surely beats: nothing is better in one thing beyond the interval of the difference and not surely worse in another.".into(),
        keys: Section::keys(["on the front", "surely beaten", "taken"].into_iter())?,
        panels,
    }))
}
