//! Figure 5: Google's Borg trace.

use super::super::curve::{
    Curve, Figure, GREEN, GREY, Kind, ORANGE, PURPLE, Panel, SKY, VERMILLION, axis,
};
use super::super::rules::{Plan, Rule, Sweep, model, sweep, words};
use super::super::{Done, Drawn, Finding};
use crate::multiresource::artifact::Preemption;
use crate::multiresource::workload::Workload;
use crate::report::plot::Look;

/// Mean response times \[s\] behind Figure 5, at downsampling factors .1 to .9 of the trace; reduced from the saved outputs of the
/// authors' program.
const PUBLISHED: [(&str, Look, [f64; 9]); 6] = [
    (
        "First-Fit",
        VERMILLION,
        [
            268.4, 339.1, 1173.0, 5538.0, 12209.0, 21883.0, 49100.0, 69602.0, 95834.0,
        ],
    ),
    (
        "pMSR with backfilling",
        SKY,
        [
            268.6, 300.1, 713.5, 3059.0, 6488.0, 11283.0, 18492.0, 26740.0, 38930.0,
        ],
    ),
    (
        "pMSR",
        GREEN,
        [
            882.7, 1344.0, 4496.0, 8900.0, 15954.0, 24182.0, 33966.0, 47940.0, 69567.0,
        ],
    ),
    (
        "nMSR with backfilling",
        ORANGE,
        [
            297.6, 352.4, 832.4, 3055.0, 6398.0, 10979.0, 17605.0, 24968.0, 33279.0,
        ],
    ),
    (
        "MaxWeight",
        PURPLE,
        [
            268.4, 344.1, 1241.0, 6092.0, 13820.0, 24497.0, 41068.0, 58523.0, 79047.0,
        ],
    ),
    (
        "Randomized Timers",
        GREY,
        [
            16502.0, 15490.0, 27163.0, 36758.0, 45219.0, 47116.0, 50845.0, 61092.0, 53438.0,
        ],
    ),
];

/// Loads that are simulated.
const SIMULATED: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 0.9];

/// What makes a workload one with bursts of ours: ten minutes an hour arrivals are ten times as many as else.
const BURSTS: &str =
    "modulation: {factors: [1, 10], switching: [[0, 3.3e-4], [1.67e-3, 0]]}\nserver:";

/// Figure 5: the Borg trace as it was published; its ten types as a stationary workload; and the same in bursts.
pub(in crate::figures) fn figure5(events: u64) -> Done<Drawn> {
    let loads = PUBLISHED[0]
        .2
        .iter()
        .enumerate()
        .map(|(n, _)| 0.1 * (n + 1) as f64);
    let loads: Vec<f64> = loads.collect();
    let (steady, text) = (
        model!("borg_top10"),
        include_str!("../../../models/borg_top10.yaml"),
    );
    let bursty = Workload::parse(&text.replace("server:", BURSTS), "bursts")?.workload;
    let plans = || -> Vec<Plan> {
        vec![
            ("First-Fit", VERMILLION, Rule::named("first-fit")),
            (
                "pMSR with backfilling",
                SKY,
                Rule::Msr(Preemption::Full, Some(0.1), true),
            ),
            ("pMSR", GREEN, Rule::Msr(Preemption::Full, Some(0.1), false)),
            ("MaxWeight", PURPLE, Rule::named("max-weight")),
        ]
    };
    let over = |model: &Workload| {
        let scene = |load: f64| Ok(model.scaled(load / 0.907_665)?);
        sweep(scene, plans(), &SIMULATED, (events / 5, 8))
    };
    let (steady, bursty) = (over(&steady)?, over(&bursty)?);
    let published = PUBLISHED.map(|(label, color, means)| {
        let points = loads.iter().copied().zip(means.map(Some));
        Curve::known(format!("{label}, published"), color, Kind::Path, points)
    });
    let panel = |title: &str, curves: Vec<Curve>| {
        let up = axis("mean response time [s]", (200.0, 2e5), true);
        Panel::new(title, axis("load ρ", (0.05, 0.95), false), up, curves)
    };
    let of = |sweeps: &[Sweep]| {
        sweeps
            .iter()
            .map(|own| own.curve(|run| run.mean_response))
            .collect()
    };
    let mean = |sweeps: &[Sweep], n: usize| sweeps[n].curve(|run| run.mean_response).at(0.8);
    let three = |sweeps: &[Sweep]| {
        let [first_fit, pmsr, max_weight] = [0, 2, 3].map(|n| words(mean(sweeps, n)));
        format!("{pmsr} against {first_fit} and {max_weight}")
    };
    let holds = |sweeps: &[Sweep]| {
        let [first_fit, pmsr, max_weight] = [0, 2, 3].map(|n| mean(sweeps, n).map(|own| own.mean));
        Some(pmsr? < first_fit?.min(max_weight?))
    };
    let (f, p, m) = (PUBLISHED[0].2[7], PUBLISHED[2].2[7], PUBLISHED[4].2[7]);
    let says = "pMSR is 40 % and 15 % better than First-Fit and MaxWeight at .8";
    let finding = |found: String, holds| Finding {
        place: "8.3, figure 5",
        says,
        found,
        holds,
    };
    let findings = vec![
        finding(
            format!(
                "their saved outputs: {p} against {f} and {m} s, {:.0} and {:.0} % less",
                100.0 * (1.0 - p / f),
                100.0 * (1.0 - p / m)
            ),
            Some(true),
        ),
        finding(
            format!("stationary, Poisson: {} s", three(&steady)),
            holds(&steady),
        ),
        finding(
            format!("in bursts of ten minutes: {} s", three(&bursty)),
            holds(&bursty),
        ),
    ];
    let panels = vec![
        panel("as published, on the trace", published.into()),
        panel("stationary: Poisson arrivals", of(&steady)),
        panel("in bursts of ten minutes", of(&bursty)),
    ];
    let figure = Figure {
        name: "figure5",
        size: (440, 600),
        columns: 3,
        panels,
    };
    Ok(Drawn {
        figures: vec![figure],
        findings,
    })
}
