//! What the page draws: costs over the exponent (figure 4 of the heSRPT paper), remaining sizes and servers over time (figure 3).

use super::areas::{groups, heights};
use super::made::times;
use crate::malleable::verbs::{Column, Entry, Tournament};
use crate::report::plot::{self, Axis, Curve, Look, Panel, Picture, Point, Scale, short};
use crate::report::{Section, number};

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// Jobs, or groups of jobs, that are drawn apart.
pub const GROUPS: usize = 12;

/// All pictures that there is data for.
pub fn sections(tournament: &Tournament) -> Drawn<Vec<Section>> {
    let mut sections = Vec::new();
    sections.extend(over_exponents(tournament)?);
    sections.extend(over_time(tournament)?);
    Ok(sections)
}

/// How many times the least each policy costs, over p.
fn over_exponents(tournament: &Tournament) -> Drawn<Option<Section>> {
    let mut columns: Vec<(f64, &Column)> = tournament
        .columns
        .iter()
        .filter_map(|column| Some((column.exponent?, column)))
        .collect();
    columns.sort_by(|a, b| a.0.total_cmp(&b.0));
    if columns.len() < 2 {
        return Ok(None);
    }
    let curve = |n: usize| Curve {
        look: Look::new(n),
        points: columns
            .iter()
            .filter_map(|(p, column)| {
                let entry = column.entries[n].as_ref().ok()?;
                let value = entry.cost / column.least;
                value.is_finite().then_some(Point {
                    at: *p,
                    value,
                    half_width: 0.0,
                })
            })
            .collect(),
        unstable: Vec::new(),
    };
    let curves: Vec<Curve> = (0..tournament.policies.len()).map(curve).collect();
    let values = curves.iter().flat_map(|c| c.points.iter().map(|p| p.value));
    let y = Axis::around("", Scale::Log, values);
    let x = Axis::around("exponent p", Scale::Linear, columns.iter().map(|c| c.0));
    let told = tournament
        .policies
        .iter()
        .zip(&curves)
        .map(|(name, curve)| {
            let points = curve.points.iter();
            let points = points.map(|p| format!("{} at p = {}", times(p.value), short(p.at)));
            format!("{name}: {}.", points.collect::<Vec<_>>().join(", "))
        });
    let title = "Cost over the least that any policy can have, log scale";
    Ok(Some(Section {
        title: "How far speedups matter".into(),
        text: "A job on k servers runs k^p times as fast as on one: with p near 0 servers are of no use to it, p = 1 is perfect.".into(),
        keys: Section::keys(tournament.policies.iter().map(String::as_str))?,
        panels: vec![Panel {
            id: String::new(),
            title: title.into(),
            description: format!("{title}, over p. {}", told.collect::<Vec<_>>().join(" ")),
            picture: plot::curves(&x, &y, &curves)?,
        }],
    }))
}

/// What is left of jobs, and their servers, for each policy.
fn over_time(tournament: &Tournament) -> Drawn<Option<Section>> {
    // The speedup in the middle of those that were compared.
    let middle = tournament.columns.len() / 2;
    let Some(column) = tournament.columns.get(middle) else {
        return Ok(None);
    };
    let groups = groups(&column.pool, GROUPS);
    let names = groups.iter().map(|group| {
        let name = |i: usize| column.pool.jobs()[i].name.as_str();
        match group.as_slice() {
            [] => String::new(),
            [one] => name(*one).to_owned(),
            [first, .., last] => {
                format!("{} to {} ({} jobs)", name(*first), name(*last), group.len())
            }
        }
    });
    let names: Vec<String> = names.collect();
    let mut panels = Vec::new();
    for (name, entry) in tournament.policies.iter().zip(&column.entries) {
        let Ok(entry) = entry else { continue };
        if !entry.course.stages.is_empty() && entry.makespan.is_finite() {
            panels.extend(of_policy(column, name, entry, &groups)?);
        }
    }
    let at = column
        .exponent
        .map_or(String::new(), |p| format!(" at p = {p}"));
    Ok((!panels.is_empty()).then_some(Section {
        title: format!("Jobs and servers over time{at}"),
        text: "What is left of each job (or of neighbours in the order of sizes together), the largest first, and how the servers are divided among them.".into(),
        keys: Section::keys(names.iter().map(String::as_str))?,
        panels,
    }))
}

fn of_policy(
    column: &Column,
    name: &str,
    entry: &Entry,
    groups: &[Vec<usize>],
) -> Drawn<[Panel; 2]> {
    let (pool, course) = (&column.pool, &entry.course);
    let time = pool.time_unit();
    let x = Axis::new(
        &format!("time [{time}]"),
        Scale::Linear,
        0.0,
        entry.makespan,
    );
    let left = |group: &[usize], n: usize| -> f64 {
        let jobs = course.stages[n].jobs.iter();
        jobs.filter(|own| group.contains(&own.0))
            .map(|own| own.2)
            .sum()
    };
    let curve = |(n, group): (usize, &Vec<usize>)| {
        let stages = course.stages.iter().enumerate();
        let mut points: Vec<Point> = stages
            .map(|(m, stage)| Point {
                at: stage.from,
                value: left(group, m),
                half_width: 0.0,
            })
            .collect();
        let gone = points.iter().position(|point| point.value == 0.0);
        points.truncate(gone.map_or(points.len(), |n| n + 1));
        if gone.is_none() {
            points.push(Point {
                at: entry.makespan,
                value: 0.0,
                half_width: 0.0,
            });
        }
        Curve {
            look: Look::new(n),
            points,
            unstable: Vec::new(),
        }
    };
    let curves: Vec<Curve> = groups.iter().enumerate().map(curve).collect();
    let most = curves.iter().flat_map(|c| &c.points).map(|p| p.value);
    let y = Axis::new("", Scale::Linear, 0.0, most.fold(0.0, f64::max));
    let mut times: Vec<f64> = course.stages.iter().map(|stage| stage.from).collect();
    times.push(entry.makespan);
    let middles = times.windows(2).map(|two| f64::midpoint(two[0], two[1]));
    let of_stage: Vec<Vec<f64>> = middles
        .map(|at| heights(course, groups, pool.jobs().len(), at))
        .collect();
    let layers: Vec<Vec<f64>> = (0..groups.len())
        .map(|n| of_stage.iter().map(|stage| stage[n]).collect())
        .collect();
    let servers = Axis::new("", Scale::Linear, 0.0, pool.servers());
    let ends = format!(
        "All jobs have ended after {} {time}.",
        number(entry.makespan)
    );
    let panel = |title: String, picture: Picture| Panel {
        id: String::new(),
        description: format!("{title}, over time. {ends}"),
        title,
        picture,
    };
    Ok([
        panel(
            format!("{name}: what is left [work]"),
            plot::courses(&x, &y, &curves)?,
        ),
        panel(
            format!("{name}: servers"),
            plot::areas(&x, &servers, &times, &layers)?,
        ),
    ])
}
