//! Figures 2, 3 and 4 of the MSR paper: which policies, where.
use plotters::style::RGBColor;
use synth::multiresource::artifact::{Admission, Drain, Family, MsrPolicy, Route};
use synth::multiresource::simulator::Contender;
use synth::multiresource::workload::Workload;

use crate::Result;
use crate::picture::{Axis, BLUE, GREEN, GREY, Mark, ORANGE, PURPLE, SKY, VERMILLION};
use crate::table::{Curve, Figure, Look, Panel, Row, simulate};
use crate::theory::{Theory, at_load, at_rate, nmsr, pmsr, smsr, spread, total, with_backfilling};

/// The paper's α for pMSR.
pub const ALPHA: f64 = 2.0;
/// Stands for α → ∞.
pub const ENDLESS: f64 = 1e6;
/// Events of a simulation, at most; it ends earlier at a precision of 1 %.
pub const EVENTS: u64 = 20_000_000;

/// Exact rows, of which every `step`-th is simulated too.
pub fn swept(
    policies: impl Iterator<Item = (Workload, f64, MsrPolicy)>,
    step: usize,
) -> Result<Vec<Row>> {
    let row = |(k, (workload, load, policy)): (usize, (Workload, f64, MsrPolicy))| {
        let events = if step > 0 && k % step == step / 2 {
            EVENTS
        } else {
            0
        };
        let row = Row::exact(&workload, load, policy)?;
        Ok(Row { events, ..row })
    };
    policies.enumerate().map(row).collect()
}

pub fn over_alpha(
    workload: &Workload,
    load: f64,
    policy: &MsrPolicy,
    rates: Vec<f64>,
    step: usize,
) -> Result<Vec<Row>> {
    let at = |rate| (workload.clone(), load, at_rate(policy, rate));
    swept(rates.into_iter().map(at), step)
}

/// Figure 2 at one load: pMSR and nMSR over the switching rate.
pub fn figure2_pair(model: &Workload, load: f64, heights: [(f64, f64); 2]) -> Result<[Panel; 2]> {
    let workload = at_load(model, load)?;
    let axis = |range| Axis {
        label: "switching rate α [1/s]",
        range,
        log: true,
    };
    let rate = |row: &Row| row.policy().map_or(f64::NAN, |p| p.switching_rate);
    let rates = spread(0.01, 100.0, 61);
    let preemptive = Curve {
        label: "pMSR".into(),
        color: GREEN,
        look: Look::Full,
        rows: over_alpha(&workload, load, &pmsr(&workload)?, rates, 10)?,
    };
    let two = mark(ALPHA, true, "α = 2", 0.3, false);
    let best = nmsr(&workload, Some(Route::ALL[0]))?.1;
    let exact = format!("α* = {:.4}", best.rate);
    let guess = format!("predicted {:.4}", best.predicted.0);
    let marks = vec![
        mark(best.rate, false, &exact, 0.02, false),
        mark(best.predicted.0, true, &guess, 0.08, load < 0.8),
    ];
    let high = best.largest.min(100.0);
    Ok([
        Panel {
            title: format!("pMSR, ρ = {load}"),
            axis: axis((0.01, 100.0)),
            at: rate,
            heights: heights[0],
            curves: vec![preemptive],
            marks: vec![two],
        },
        Panel {
            title: format!("nMSR, ρ = {load}"),
            axis: axis((0.008, 2.0 * high)),
            at: rate,
            heights: heights[1],
            curves: routes(&workload, load)?,
            marks,
        },
    ])
}

/// nMSR on its four routes, the worst first so that the best lies on top.
pub fn routes(workload: &Workload, load: f64) -> Result<Vec<Curve>> {
    let colors = [BLUE, ORANGE, PURPLE, GREY];
    let curve = |(route, color): (Route, RGBColor)| {
        let (policy, outlook) = nmsr(workload, Some(route))?;
        let full = route == Route::ALL[0];
        let rates = spread(0.008, (0.97 * outlook.largest).min(100.0), 60);
        Ok(Curve {
            label: format!("nMSR, {route}"),
            color,
            look: if full { Look::Full } else { Look::Thin },
            rows: over_alpha(workload, load, &policy, rates, if full { 9 } else { 0 })?,
        })
    };
    let pairs = Route::ALL.into_iter().zip(colors).rev();
    pairs.map(curve).collect()
}

pub fn mark(at: f64, dashed: bool, label: &str, height: f64, left: bool) -> Mark {
    let label = label.into();
    Mark {
        at,
        dashed,
        label,
        height,
        left,
    }
}

pub fn figure2(model: &Workload) -> Result<Figure> {
    let high = figure2_pair(model, 0.9, [(20.0, 2000.0), (100.0, 5000.0)])?;
    let low = figure2_pair(model, 0.5, [(2.0, 300.0), (2.0, 300.0)])?;
    Ok(Figure {
        name: "figure2",
        size: (1000, 980),
        grid: (2, 2),
        panels: high.into_iter().chain(low).collect(),
    })
}

pub const LATE: Route = Route {
    drain: Drain::Concurrent,
    admission: Admission::Late,
};

/// Figure 3: sMSR over the setup rate, beside nMSR and pMSR, at ρ = .9.
pub fn figure3(model: &Workload) -> Result<Figure> {
    let load = 0.9;
    let gammas = spread(0.5, 3e4, 49);
    let best = nmsr(model, None)?.0;
    let over = |route, step| -> Result<Vec<Row>> {
        let made: Result<Vec<_>> = gammas.iter().map(|g| smsr(model, *g, route)).collect();
        swept(made?.into_iter().map(|p| (model.clone(), load, p)), step)
    };
    // What has no setups is the same at each γ; the field only gives it a place in the picture.
    let constant = |policy: &MsrPolicy| {
        let at = |gamma: &f64| MsrPolicy {
            setup_rate: Some(*gamma),
            ..policy.clone()
        };
        swept(gammas.iter().map(|g| (model.clone(), load, at(g))), 0)
    };
    let preemptive = pmsr(model)?;
    let crossing = crossing(model, None, total(model, &best)?.exact, |t| t.exact)?;
    let curves = vec![
        curve(
            "pMSR, α → ∞",
            SKY,
            Look::Thin,
            constant(&at_rate(&preemptive, ENDLESS))?,
        ),
        curve("pMSR, α = 2", GREEN, Look::Thin, constant(&preemptive)?),
        curve("nMSR at its α*", BLUE, Look::Thin, constant(&best)?),
        curve(
            "sMSR at its α*, concurrent-late",
            GREY,
            Look::Thin,
            over(Some(LATE), 0)?,
        ),
        curve(
            "sMSR at its α*, best route",
            VERMILLION,
            Look::Full,
            over(None, 7)?,
        ),
    ];
    Ok(Figure {
        name: "figure3",
        size: (800, 640),
        grid: (1, 1),
        panels: vec![Panel {
            title: format!("sMSR, ρ = {load}"),
            axis: Axis {
                label: "setup rate γ [1/s] (service rate μ = 1/s)",
                range: (0.5, 3e4),
                log: true,
            },
            at: |row| row.policy().and_then(|p| p.setup_rate).unwrap_or(f64::NAN),
            heights: (20.0, 2500.0),
            curves,
            marks: vec![mark(
                crossing,
                true,
                &format!("γ = {crossing:.2}"),
                0.1,
                false,
            )],
        }],
    })
}

pub fn curve(label: &str, color: RGBColor, look: Look, rows: Vec<Row>) -> Curve {
    let label = label.into();
    Curve {
        label,
        color,
        look,
        rows,
    }
}

/// The setup rate from which sMSR's mean, or what `of` takes for it, is below `number`.
pub fn crossing(
    workload: &Workload,
    route: Option<Route>,
    number: f64,
    of: fn(&Theory) -> f64,
) -> Result<f64> {
    let (mut low, mut high) = (0.5_f64, 1e4_f64);
    while high / low > 1.0005 {
        let middle = (low * high).sqrt();
        let found = of(&total(workload, &smsr(workload, middle, route)?)?);
        *(if found > number { &mut low } else { &mut high }) = middle;
    }
    Ok((low * high).sqrt())
}

/// Loads of Figure 4; more of them where First-Fit gives up.
pub const LOADS: [f64; 18] = [
    0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.825, 0.85, 0.87, 0.885, 0.9, 0.905, 0.91, 0.915, 0.92,
    0.935, 0.95,
];
/// Where curves in the full range have a simulated point.
pub const SPARSE: [f64; 9] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95];

/// Exact and simulated rows of an MSR policy chosen for each load.
pub fn over_load(model: &Workload, choose: fn(&Workload) -> Result<MsrPolicy>) -> Result<Vec<Row>> {
    let row = |load: f64| {
        let workload = at_load(model, load)?;
        let events = if SPARSE.contains(&load) { EVENTS } else { 0 };
        let row = Row::exact(&workload, load, choose(&workload)?)?;
        Ok(Row { events, ..row })
    };
    LOADS.into_iter().map(row).collect()
}

pub fn backfilled(rows: &[Row]) -> Vec<Row> {
    let simulated = rows.iter().filter(|row| row.events > 0);
    let rule = |row: &Row| row.policy().map(with_backfilling);
    let pairs = simulated.filter_map(|row| Some((row.load, rule(row)?)));
    pairs
        .map(|(load, policy)| Row::simulated(load, Contender::from(Family::Msr(policy)), EVENTS))
        .collect()
}

pub fn ruled(rule: &Contender, loads: &[f64]) -> Vec<Row> {
    // Close to where it gives up, a short run tells nothing.
    let events = |load: f64| if load < 0.89 { EVENTS } else { 4 * EVENTS };
    let row = |load: &f64| Row::simulated(*load, rule.clone(), events(*load));
    loads.iter().map(row).collect()
}

pub fn figure4(model: &Workload) -> Result<Figure> {
    let axis = |range| Axis {
        label: "load ρ (at 1 no policy can keep up)",
        range,
        log: false,
    };
    let mut first_fit = ruled(&Contender::parse("first-fit")?, &LOADS);
    simulate(model, first_fit.iter_mut().collect())?;
    first_fit.iter_mut().for_each(|row| row.events = 0);
    let fcfs = ruled(&Contender::parse("fcfs")?, &LOADS[..9]);
    let max_weight = ruled(&Contender::parse("max-weight")?, &SPARSE);
    let timers = ruled(&Contender::parse("randomized-timers")?, &SPARSE);
    let preemptive = over_load(model, pmsr)?;
    let patient = over_load(model, |workload| Ok(nmsr(workload, None)?.0))?;
    let panel = |title: &str, range, heights, curves| Panel {
        title: title.into(),
        axis: axis(range),
        at: |row| row.load,
        heights,
        curves,
        marks: Vec::new(),
    };
    Ok(Figure {
        name: "figure4",
        size: (1000, 640),
        grid: (1, 2),
        panels: vec![
            panel(
                "with preemption",
                (0.38, 0.98),
                (1.0, 300.0),
                vec![
                    curve("First-Fit", VERMILLION, Look::Points, first_fit.clone()),
                    curve(
                        "pMSR with backfilling",
                        SKY,
                        Look::Points,
                        backfilled(&preemptive),
                    ),
                    curve("pMSR, α = 2", GREEN, Look::Full, preemptive),
                    curve("MaxWeight", PURPLE, Look::Points, max_weight),
                ],
            ),
            panel(
                "without preemption",
                (0.38, 0.98),
                (1.0, 2000.0),
                vec![
                    curve("FCFS", GREY, Look::Points, fcfs),
                    curve("First-Fit", VERMILLION, Look::Points, first_fit.clone()),
                    curve(
                        "nMSR with backfilling",
                        ORANGE,
                        Look::Points,
                        backfilled(&patient),
                    ),
                    curve("nMSR at its α*", BLUE, Look::Full, patient),
                    curve("Randomized Timers", PURPLE, Look::Points, timers),
                ],
            ),
        ],
    })
}
