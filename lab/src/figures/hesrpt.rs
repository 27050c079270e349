//! Figure 4 of the heSRPT paper shows the median of the mean flow time for each exponent.

use std::ops::Range;

use itertools::Itertools as _;

use super::curve::{BLUE, Curve, GREEN, Kind, ORANGE, PURPLE, Panel, VERMILLION, axis, sheet};
use super::{Drawn, PaperFinding};
use synth::document::WorkloadDocument as _;
use synth::kind::{Rules as _, VerbResult};
use synth::malleable::Malleable;
use synth::malleable::artifact::{Quantity, cost};
use synth::malleable::workload::{Pool, PoolDocument, Workload};
use synth::simulation::median;

const EXPONENTS: [f64; 5] = [0.05, 0.3, 0.5, 0.9, 0.99];
const DRAWS: u64 = 10;
const EVENTS_OF_A_DRAW: u64 = 2_000_000;

pub(super) fn figure4(events: u64) -> VerbResult<Drawn> {
    let draws = (events / EVENTS_OF_A_DRAW).clamp(1, DRAWS);
    let text = include_str!("../../../models/five_hundred_pareto.yaml");
    let Workload::Pool(own) = PoolDocument::parse(text, "five_hundred_pareto")?.workload else {
        return Err("the model is not a pool of jobs".into());
    };
    let rules = [
        ("heSRPT", BLUE, "hesrpt"),
        ("EQUI", GREEN, "equi"),
        ("SRPT", VERMILLION, "srpt"),
        ("HELL", ORANGE, "hell"),
        ("KNEE, tuned", PURPLE, "knee"),
    ];
    let mut points = vec![Vec::new(); rules.len()];
    for p in EXPONENTS {
        let pools: Vec<Pool> = (0..draws).map(|n| own.redrawn(n).with_power(p)).collect();
        for (points, (_, _, name)) in points.iter_mut().zip(rules) {
            let rule = Malleable::rule(name, None)?;
            let flow = |pool: &Pool| -> VerbResult<f64> {
                let course = rule.execute(name, pool, false)?;
                Ok(cost(pool, Quantity::FlowTime, &course.ends))
            };
            let flows = pools.iter().map(flow).collect::<VerbResult<Vec<_>>>()?;
            points.push((p, median(flows).map(|flow| flow / own.jobs().len() as f64)));
        }
    }
    let findings = findings(&points);
    let curves = rules.into_iter().zip(points);
    let curves =
        curves.map(|((label, color, _), points)| Curve::known(label, color, Kind::Exact, points));
    let across = axis("exponent p of the speedup k^p", (0.0, 1.0), false);
    let up = axis("mean flow time", (1e-4, 1e3), true);
    let title = format!("500 jobs, Pareto sizes, a million servers; medians of {draws} draws");
    let panel = Panel::new(title, across, up, curves.collect());
    let figure = sheet(4, (900, 620), 1, vec![panel]);
    Ok((vec![figure], findings))
}

fn findings(points: &[Vec<(f64, Option<f64>)>]) -> Vec<PaperFinding> {
    let times = |n: usize, place: usize| {
        let mean = |n: usize| points[n][place].1.unwrap_or(f64::NAN);
        mean(n) / mean(0)
    };
    let over = |n: usize| {
        let all = EXPONENTS.iter().enumerate();
        let mut each = all.map(|(place, p)| format!("{:.3} at {p}", times(n, place)));
        format!("the ratio to heSRPT is {}", each.join(", "))
    };
    let finding = |(n, (says, place, within)): (usize, &Claimed)| PaperFinding {
        place: "4.2, figure 4",
        says,
        found: over(n + 1),
        holds: Some(within.contains(&times(n + 1, *place))),
    };
    CLAIMED.iter().enumerate().map(finding).collect()
}

/// The claim, the index of the exponent, and the range of values that are accepted for the ratio.
type Claimed = (&'static str, usize, Range<f64>);

const CLAIMED: [Claimed; 4] = [
    (
        "EQUI is worse by almost a factor of 2 at p = 0.99",
        4,
        1.8..2.0,
    ),
    (
        "SRPT is worse by a factor of about 10 at p = 0.05",
        0,
        5.0..20.0,
    ),
    ("HELL is only worse by 50 % at p = 0.05", 0, 1.4..1.6),
    (
        "KNEE is worse by 30 % at p = 0.3, the worst case",
        1,
        1.2..1.4,
    ),
];
