//! Figures 5 to 7: four types, and cell B of Google's Borg trace.
use std::path::Path;

use synth::multiresource::artifact::Objective;
use synth::multiresource::simulator::{Estimate, Run, Settings};
use synth::multiresource::workload::Workload;

use crate::Result;
use crate::picture::{Axis, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION};
use crate::rules::{Plan, Rule, Sweep, settings, sweep};
use crate::table::{Curve, Figure, Panel, exactly};

pub const BORG: &str = "models/borg_cell_b.yaml";

/// Arrival rates of Figure 5, of which 5 is the limit, and of Figures 6 and 7, where it is 4.96.
const FOUR_RATES: [f64; 8] = [1.0, 2.0, 3.0, 3.5, 4.0, 4.25, 4.5, 4.75];
const BORG_RATES: [f64; 6] = [1.0, 2.0, 3.0, 3.5, 4.0, 4.46];
/// Events of a simulation, at most; it ends earlier at a precision of 1 %.
const FOUR_EVENTS: u64 = 20_000_000;
const BORG_EVENTS: u64 = 60_000_000;
/// Events that tune adaptive MSR at a rate, at most.
const FOUR_TUNING: u64 = 30_000_000;
const BORG_TUNING: u64 = 100_000_000;

fn plans(tuning: u64) -> Vec<Plan> {
    let named = |name: &str| Rule::Named(name.into());
    vec![
        ("MSF", ORANGE, named("most-servers-first")),
        ("First-Fit", VERMILLION, named("first-fit")),
        ("Static Quickswap", BLUE, named("static-quickswap")),
        ("Static Quickswap, overlapping", SKY, Rule::Overlapping),
        ("Adaptive Quickswap", PURPLE, named("adaptive-quickswap")),
        ("nMSR with backfilling", GREY, Rule::Nmsr),
        (
            "adaptive MSR",
            GREEN,
            Rule::Adaptive(Objective::Weighted, tuning),
        ),
    ]
}

pub fn figures(folder: &Path) -> Result<Vec<Figure>> {
    let four = Workload::read(Path::new("models/four_types.yaml"))?.workload;
    let four = sweep(
        &four,
        plans(FOUR_TUNING),
        &FOUR_RATES,
        &settings(1, FOUR_EVENTS),
    )?;
    let figure5 = figure5(&four).finish(folder)?;
    let borg = Workload::read(Path::new(BORG))?.workload;
    // Sizes of 14 000, and turns of 100 000: few runs, and those long.
    let budget = Settings {
        replications: 2,
        ..settings(1, BORG_EVENTS)
    };
    let borg = sweep(&borg, plans(BORG_TUNING), &BORG_RATES, &budget)?;
    Ok(vec![
        figure5,
        figure6(&borg).finish(folder)?,
        figure7(&borg).finish(folder)?,
    ])
}

type Part = fn(&Run) -> Option<Estimate>;

fn panel(title: &str, sweeps: &[Sweep], axes: (Axis, Axis), part: Part) -> Panel {
    let curves: Vec<Curve> = sweeps.iter().map(|s| s.curve(part)).collect();
    Panel::new(title, axes.0, axes.1, curves)
}

fn rates(label: &'static str, high: f64) -> Axis {
    Axis {
        label,
        range: (0.8, high),
        log: false,
    }
}

fn borg_rates() -> Axis {
    rates("total arrival rate λ [1/trace unit]", 4.7)
}

fn times(label: &'static str, range: (f64, f64)) -> Axis {
    Axis {
        label,
        range,
        log: true,
    }
}

fn figure5(four: &[Sweep]) -> Figure {
    let axes = || {
        (
            rates("total arrival rate λ [1/s]", 5.0),
            times("mean response time [s]", (1.0, 200.0)),
        )
    };
    Figure {
        name: "figure5",
        size: (1100, 560),
        grid: (1, 2),
        panels: vec![
            panel("weighted by load", four, axes(), |run| {
                run.weighted_response
            }),
            panel("all jobs", four, axes(), |run| run.mean_response),
        ],
    }
}

fn figure6(borg: &[Sweep]) -> Figure {
    let up = times("weighted mean response time [trace units]", (3000.0, 1e6));
    Figure {
        name: "figure6",
        size: (900, 620),
        grid: (1, 1),
        panels: vec![panel(
            "Borg, cell B: weighted by load",
            borg,
            (borg_rates(), up),
            |run| run.weighted_response,
        )],
    }
}

/// The lightest type, and the heaviest.
const ENDS: [usize; 2] = [0, 25];

fn figure7(borg: &[Sweep]) -> Figure {
    let up = || times("mean response time [trace units]", (1.0, 1e7));
    let jain = Axis {
        label: "Jain's index of E[T_i]",
        range: (0.0, 1.02),
        log: false,
    };
    Figure {
        name: "figure7",
        size: (1100, 1000),
        grid: (2, 2),
        panels: vec![
            panel("(a) all jobs", borg, (borg_rates(), up()), |run| {
                run.mean_response
            }),
            panel(
                "(b) jobs that need 1 server",
                borg,
                (borg_rates(), up()),
                |run| run.types[ENDS[0]].mean_response,
            ),
            panel(
                "(b) jobs that need 2000 servers",
                borg,
                (borg_rates(), up()),
                |run| run.types[ENDS[1]].mean_response,
            ),
            panel(
                "(c) fairness: 1 is equal",
                borg,
                (borg_rates(), jain),
                |run| run.fairness.map(exactly),
            ),
        ],
    }
}
