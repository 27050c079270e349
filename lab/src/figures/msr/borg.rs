//! Figure 5: Google's Borg trace.

use super::super::curve::{
    Curve, Figure, GREEN, GREY, Kind, ORANGE, PURPLE, Panel, SKY, VERMILLION, axis,
};
use super::super::rules::{Plan, Rule, Sweep, first_fit, model, named, sweep, words};
use super::super::{Done, DrawnFigures, PaperFinding};
use synth::multiresource::artifact::Preemption;
use synth::multiresource::workload::Workload;
use synth::report::plot::Look;

/// Mean response times \[s\] behind Figure 5: a rule in each line, at downsampling factors 0.1 to 0.9 of the trace. They are
/// reduced from the saved outputs of the authors' program.
const PUBLISHED: &str = include_str!("borg.csv");

/// The colors of these rules.
const COLORS: [Look; 6] = [VERMILLION, SKY, GREEN, ORANGE, PURPLE, GREY];

/// Loads that are simulated.
const SIMULATED: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 0.9];

/// What makes a workload one with bursts of ours: ten minutes an hour arrivals are ten times as many as else.
const BURSTS: &str =
    "modulation: {factors: [1, 10], switching: [[0, 3.3e-4], [1.67e-3, 0]]}\nserver:";

/// Reads the published curves.
fn published() -> Done<Vec<Curve>> {
    let curve = |(line, color): (&str, Look)| {
        let (label, means) = line.split_once(',').ok_or("a rule without means")?;
        let points = means.split(',').zip(1..).map(|(mean, tenths)| {
            let mean: f64 = mean.parse()?;
            Ok((0.1 * f64::from(tenths), Some(mean)))
        });
        let points = points.collect::<Done<Vec<_>>>()?;
        let label = format!("{label}, published");
        Ok(Curve::known(label, color, Kind::Path, points))
    };
    PUBLISHED.lines().zip(COLORS).map(curve).collect()
}

/// Figure 5: the Borg trace as it was published; its ten types as a stationary workload; and the same in bursts.
pub(in crate::figures) fn figure5(events: u64) -> Done<DrawnFigures> {
    let (steady, text) = (
        model!("borg_top10"),
        include_str!("../../../../models/borg_top10.yaml"),
    );
    let bursty = Workload::parse(&text.replace("server:", BURSTS), "bursts")?.workload;
    let plans = || -> Vec<Plan> {
        vec![
            first_fit(),
            (
                "pMSR with backfilling",
                SKY,
                Rule::Msr(Preemption::Full, Some(0.1), true),
            ),
            ("pMSR", GREEN, Rule::Msr(Preemption::Full, Some(0.1), false)),
            ("MaxWeight", PURPLE, named("max-weight")),
        ]
    };
    let over = |model: &Workload| {
        let scene = |load: f64| Ok(model.scaled(load / 0.907_665)?);
        sweep(scene, plans(), &SIMULATED, (events / 5, 8))
    };
    let (steady, bursty) = (over(&steady)?, over(&bursty)?);
    let published = published()?;
    let panel = |title: &str, curves: Vec<Curve>| {
        let up = axis("mean response time [s]", (200.0, 2e5), true);
        Panel::new(title, axis("load ρ", (0.05, 0.95), false), up, curves)
    };
    let curve = |own: &Sweep| own.curve(|run| run.mean_response);
    let of = |sweeps: &[Sweep]| sweeps.iter().map(curve).collect();
    let mean = |sweeps: &[Sweep], n: usize| curve(&sweeps[n]).at(0.8);
    let three = |sweeps: &[Sweep]| {
        let [first_fit, pmsr, max_weight] = [0, 2, 3].map(|n| words(mean(sweeps, n)));
        format!("{pmsr} against {first_fit} and {max_weight}")
    };
    let holds = |sweeps: &[Sweep]| {
        let [first_fit, pmsr, max_weight] = [0, 2, 3].map(|n| mean(sweeps, n).map(|own| own.mean));
        Some(pmsr? < first_fit?.min(max_weight?))
    };
    let own = |n: usize| published[n].at(0.8).map_or(f64::NAN, |own| own.mean);
    let [f, p, m] = [0, 2, 4].map(own);
    let [less, less_than_m] = [f, m].map(|other| 100.0 * (1.0 - p / other));
    let saved = format!(
        "their saved outputs: {p} against {f} and {m} s, {less:.0} and {less_than_m:.0} % less"
    );
    let stationary = format!("stationary, Poisson: {} s", three(&steady));
    let in_bursts = format!("in bursts of ten minutes: {} s", three(&bursty));
    let found = [
        (saved, Some(true)),
        (stationary, holds(&steady)),
        (in_bursts, holds(&bursty)),
    ];
    let findings = found.map(|(found, holds)| PaperFinding {
        place: "8.3, figure 5",
        says: "pMSR is 40 % and 15 % better than First-Fit and MaxWeight at .8",
        found,
        holds,
    });
    let panels = vec![
        panel("as published, on the trace", published),
        panel("stationary: Poisson arrivals", of(&steady)),
        panel("in bursts of ten minutes", of(&bursty)),
    ];
    let figure = Figure::new("figure5", (440, 600), 3, panels);
    Ok(DrawnFigures::new([figure], findings))
}
