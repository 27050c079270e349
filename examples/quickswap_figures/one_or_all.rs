//! Figures 1 to 4: one-or-all.
use std::path::Path;

use synth::multiresource::analysis::TypeQueue;
use synth::multiresource::analysis::one_or_all::{MsfqQueue, Stream};
use synth::multiresource::artifact::{Objective, Preemption};
use synth::multiresource::modulation::Modulation;
use synth::multiresource::policy::OneOrAll;
use synth::multiresource::simulator::{Estimate, Run};
use synth::multiresource::synthesis::PHASE_LIMIT;
use synth::multiresource::workload::Workload;

use crate::Result;
use crate::path::{path, phases};
use crate::picture::{Axis, BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILLION};
use crate::rules::{Plan, Rule, at_rate, nmsr, plain, settings, sweep};
use crate::table::{Curve, Figure, Kind, Panel};

/// Events that tune adaptive MSR at a rate, at most.
const TUNING: u64 = 30_000_000;
const MODEL: &str = "models/one_or_all.yaml";
/// The threshold of the paper: k − 1.
const MOST: usize = 31;
/// Arrival rates of Figure 3; 7.805 is the limit.
const RATES: [f64; 10] = [2.0, 3.0, 4.0, 5.0, 5.5, 6.0, 6.5, 7.0, 7.25, 7.5];
/// Rates of exact curves, in quarters.
const FINE: std::ops::RangeInclusive<i32> = 8..=30;
/// Events of a simulation, at most; it ends earlier at a precision of 1 %.
const EVENTS: u64 = 20_000_000;
const ACROSS: &str = "total arrival rate λ [1/s]";

pub fn figures(folder: &Path) -> Result<Vec<Figure>> {
    let model = Workload::read(Path::new(MODEL))?.workload;
    let make = [figure1, figure2, figure3, figure4];
    let made = make.into_iter().map(|make| make(&model)?.finish(folder));
    made.collect()
}

/// Figure 1: the same arrivals under MSF and under MSFQ.
fn figure1(model: &Workload) -> Result<Figure> {
    let panel = |rate: f64, high| -> Result<Panel> {
        let workload = at_rate(model, rate)?;
        let of = |label: &str, color, threshold| -> Result<Curve> {
            let points = path(&workload, threshold, 1, (LENGTH, 2000))?;
            let points = points.into_iter().map(|(t, n)| (t, Some(n)));
            Ok(Curve::known(label, color, Kind::Path, points))
        };
        let across = axis("time [s]", (0.0, LENGTH), false);
        let up = axis("number in system [jobs]", (0.0, high), false);
        let curves = vec![
            of("MSF", ORANGE, 0)?,
            of("MSFQ, ℓ = 31", BLUE, MOST as u32)?,
        ];
        Ok(Panel::new(format!("λ = {rate}"), across, up, curves))
    };
    Ok(Figure {
        name: "figure1",
        size: (1000, 640),
        grid: (2, 1),
        panels: vec![panel(6.0, 1500.0)?, panel(7.5, 10_000.0)?],
    })
}

const LENGTH: f64 = 4000.0;

fn axis(label: &'static str, range: (f64, f64), log: bool) -> Axis {
    Axis { label, range, log }
}

/// MSFQ(ℓ), strict.
fn queue(model: &Workload, rate: f64, threshold: usize) -> Result<MsfqQueue> {
    let workload = at_rate(model, rate)?;
    let of = OneOrAll::new(&workload)?;
    let stream = |i: usize| Stream {
        arrival_rate: workload.types()[i].arrival_rate(),
        service_rate: workload.types()[i].service_rate(),
    };
    let (light, heavy) = (stream(of.light), stream(of.heavy));
    Ok(MsfqQueue::new(
        of.servers as usize,
        threshold,
        light,
        heavy,
    )?)
}

/// E\[T\] under MSFQ(ℓ), exact and approximated, for each ℓ.
fn over_threshold(model: &Workload, rate: f64) -> Result<Vec<(f64, [Option<f64>; 2])>> {
    let of = |threshold| -> Result<_> {
        let queue = queue(model, rate, threshold)?;
        let exact = queue.means()?.mean_response(&queue);
        let guess = queue.approximation().map(|a| a.mean_response(&queue));
        Ok((threshold as f64, [Some(exact), guess]))
    };
    (0..=MOST).map(of).collect()
}

/// Figure 2: the threshold.
fn figure2(model: &Workload) -> Result<Figure> {
    let colors = [(7.5, VERMILLION), (7.0, ORANGE), (6.0, BLUE), (5.0, GREEN)];
    let mut curves = Vec::new();
    for (rate, color) in colors {
        let known = over_threshold(model, rate)?;
        let part = |n: usize| known.iter().map(move |(l, of)| (*l, of[n]));
        let label = format!("λ = {rate}, strict");
        curves.push(Curve::known(&label, color, Kind::Approximation, part(1)));
        curves.push(Curve::known(&label, color, Kind::Exact, part(0)));
        let few = [0, 1, 2, 4, 8, 16, 24, 31];
        let strict = simulated(model, rate, Rule::Strict, &few)?;
        curves.push(Curve::new(&label, color, Kind::Check, strict));
    }
    let lazy = simulated(
        model,
        5.0,
        |threshold| Rule::Named(format!("msfq:{threshold}")),
        &[0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 31],
    )?;
    curves.push(Curve::new("λ = 5, lazy", GREY, Kind::Simulated, lazy));
    let across = axis("threshold ℓ [jobs]", (-0.5, 31.5), false);
    let up = axis("mean response time E[T] [s]", (5.0, 2000.0), true);
    let title = "MSFQ over its threshold; ℓ = 0 is MSF";
    Ok(Figure {
        name: "figure2",
        size: (900, 620),
        grid: (1, 1),
        panels: vec![Panel::new(title, across, up, curves)],
    })
}

type Points = Vec<(f64, Option<Estimate>)>;

/// E\[T\] at these thresholds.
fn simulated(
    model: &Workload,
    rate: f64,
    rule: fn(u32) -> Rule,
    thresholds: &[u32],
) -> Result<Points> {
    let workload = at_rate(model, rate)?;
    let run = |(seed, threshold): (u64, &u32)| -> Result<_> {
        let run =
            rule(*threshold).simulate(&workload, &settings(100 * rate as u64 + seed, EVENTS))?;
        Ok((f64::from(*threshold), run.and_then(|run| run.mean_response)))
    };
    (1..).zip(thresholds).map(run).collect()
}

/// Mean response time of all jobs, weighted by load, and of light and of heavy ones.
fn four(workload: &Workload, response: [f64; 2]) -> [f64; 4] {
    let sum = |weights: [f64; 2]| weights[0] * response[0] + weights[1] * response[1];
    let types = workload.types();
    let rates = [0, 1].map(|i| types[i].arrival_rate() / workload.total_arrival_rate());
    let shares = workload.load_shares();
    [
        sum(rates),
        sum([shares[0], shares[1]]),
        response[0],
        response[1],
    ]
}

fn four_of_run(run: &Run, n: usize) -> Option<Estimate> {
    match n {
        0 => run.mean_response,
        1 => run.weighted_response,
        n => run.types[n - 2].mean_response,
    }
}

/// nMSR without backfilling, at its best switching rate: exact.
fn plain_nmsr(workload: &Workload) -> Result<[f64; 4]> {
    let policy = nmsr(workload, plain)?;
    let modulation = Modulation::new(workload, &policy, PHASE_LIMIT)?;
    let mut response = [0.0; 2];
    for (i, response) in response.iter_mut().enumerate() {
        let queue = TypeQueue::new(workload, &modulation, Preemption::None, i);
        *response = queue.mean_number(f64::INFINITY)? / workload.types()[i].arrival_rate();
    }
    Ok(four(workload, response))
}

/// The threshold of least E\[T\].
fn best_threshold(model: &Workload, rate: f64) -> Result<usize> {
    let known = over_threshold(model, rate)?.into_iter().enumerate();
    let means = known.map(|(l, (_, of))| (l, of[0].unwrap_or(f64::INFINITY)));
    let best = means.min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(l, _)| l).ok_or_else(|| "no threshold".into())
}

/// What is known of one rate.
struct Known {
    rate: f64,
    msf: [f64; 4],
    msfq: [f64; 4],
    guess: Option<[f64; 4]>,
    best: [f64; 4],
    nmsr: [f64; 4],
}

fn known(model: &Workload, rate: f64) -> Result<Known> {
    let workload = at_rate(model, rate)?;
    let exact = |threshold| -> Result<_> {
        let means = queue(model, rate, threshold)?.means()?;
        Ok(four(&workload, means.response))
    };
    let guess = queue(model, rate, MOST)?.approximation();
    Ok(Known {
        rate,
        msf: exact(0)?,
        msfq: exact(MOST)?,
        guess: guess.map(|a| four(&workload, a.response)),
        best: exact(best_threshold(model, rate)?)?,
        nmsr: plain_nmsr(&workload)?,
    })
}

/// Figure 3: all and each of the types over the arrival rate.
fn figure3(model: &Workload) -> Result<Figure> {
    let rates = FINE.map(|n| 0.25 * f64::from(n));
    let all: Result<Vec<Known>> = rates.map(|rate| known(model, rate)).collect();
    let (all, runs) = (all?, sweep(model, rivals(), &RATES, &settings(1, EVENTS))?);
    let titles = [
        "(a) all jobs",
        "(b) weighted by load",
        "(c) light jobs",
        "(d) heavy jobs",
    ];
    let panel = |(n, title): (usize, &str)| {
        let of = |label: &str, color, part: &dyn Fn(&Known) -> Option<[f64; 4]>, kind| {
            let points = all.iter().map(|k| (k.rate, part(k).map(|x| x[n])));
            Curve::known(label, color, kind, points)
        };
        let mut curves = vec![
            of("MSF", ORANGE, &|k| Some(k.msf), Kind::Exact),
            of("nMSR", GREY, &|k| Some(k.nmsr), Kind::Exact),
            of(MSFQ, BLUE, &|k| Some(k.msfq), Kind::Exact),
            of(
                "MSFQ at its best ℓ, strict",
                SKY,
                &|k| Some(k.best),
                Kind::Exact,
            ),
            of(MSFQ, INK, &|k| k.guess, Kind::Approximation),
        ];
        curves.extend(runs.iter().map(|s| s.curve(|run| four_of_run(run, n))));
        let up = axis("mean response time [s]", (1.0, 5000.0), true);
        Panel::new(title, axis(ACROSS, (1.8, 7.8), false), up, curves)
    };
    Ok(Figure {
        name: "figure3",
        size: (1100, 1000),
        grid: (2, 2),
        panels: titles.into_iter().enumerate().map(panel).collect(),
    })
}

pub const MSFQ: &str = "MSFQ, ℓ = 31, strict";

fn rivals() -> Vec<Plan> {
    vec![
        ("First-Fit", VERMILLION, Rule::Named("first-fit".into())),
        ("nMSR with backfilling", GREY, Rule::Nmsr),
        ("MSFQ, ℓ = 31, lazy", PURPLE, Rule::Named("msfq:31".into())),
        (
            "adaptive MSR",
            GREEN,
            Rule::Adaptive(Objective::Mean, TUNING),
        ),
    ]
}

/// Figure 4: how long the phases are.
fn figure4(model: &Workload) -> Result<Figure> {
    Ok(Figure {
        name: "figure4",
        size: (1100, 560),
        grid: (1, 2),
        panels: vec![
            phase_panel(model, "MSF", 0)?,
            phase_panel(model, "MSFQ, ℓ = 31", MOST)?,
        ],
    })
}

/// Events of a run in which phases are measured; there are eight.
const PHASE_EVENTS: u64 = 1_500_000;
/// A phase that is shorter than this is none.
const NO_PHASE: f64 = 1e-9;

fn phase_panel(model: &Workload, title: &str, threshold: usize) -> Result<Panel> {
    let parts = [
        ("phase 1: heavy jobs", BLUE),
        ("phase 2: all servers serve light jobs", VERMILLION),
        ("phase 3: fewer do, down to ℓ", ORANGE),
        ("phase 4: the last ℓ end", GREEN),
    ];
    let rates: Vec<f64> = FINE.map(|n| 0.25 * f64::from(n)).collect();
    let mut exact: Vec<Vec<(f64, Option<f64>)>> = vec![Vec::new(); 3];
    let mut guesses = vec![Vec::new(); 4];
    for rate in rates {
        let queue = queue(model, rate, threshold)?;
        for (points, phase) in exact.iter_mut().zip(queue.means()?.phases) {
            points.push((rate, Some(phase).filter(|x| *x > NO_PHASE)));
        }
        let guess = queue.approximation().map(|a| a.phases);
        for (n, points) in guesses.iter_mut().enumerate() {
            points.push((rate, guess.map(|g| g[n]).filter(|x| *x > NO_PHASE)));
        }
    }
    let mut curves = Vec::new();
    let names = ["phase 1: heavy jobs", "phases 2 and 3 together", parts[3].0];
    for ((name, color), points) in names.into_iter().zip([BLUE, PURPLE, GREEN]).zip(exact) {
        curves.push(Curve::known(name, color, Kind::Exact, points));
    }
    for ((name, color), points) in parts.into_iter().zip(guesses) {
        curves.push(Curve::known(name, color, Kind::Approximation, points));
    }
    let mut measured = vec![Points::new(); 4];
    for rate in &RATES[1..] {
        let found = phases(&at_rate(model, *rate)?, threshold as u32, PHASE_EVENTS)?;
        for (points, phase) in measured.iter_mut().zip(found) {
            points.push((*rate, Some(phase).filter(|e| e.mean > NO_PHASE)));
        }
    }
    for ((name, color), points) in parts.into_iter().zip(measured) {
        if points.iter().any(|p| p.1.is_some()) {
            curves.push(Curve::new(name, color, Kind::Simulated, points));
        }
    }
    let up = axis("mean length of a phase [s]", (0.01, 5000.0), true);
    Ok(Panel::new(
        title,
        axis(ACROSS, (1.8, 7.8), false),
        up,
        curves,
    ))
}
