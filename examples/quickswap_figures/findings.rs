//! What the paper says in words, measured: the numbers of docs/quickswap.md.
use std::path::Path;

use synth::multiresource::simulator::Estimate;
use synth::multiresource::workload::Workload;

use crate::Result;
use crate::table::{Curve, Figure, Kind, Panel};

pub fn findings(figures: &[Figure]) -> Result<()> {
    let [_, threshold, rates, phases, four, borg, fairness] = figures else {
        return Err("there are seven figures".into());
    };
    thresholds(&threshold.panels[0]);
    for figure in [rates, phases, four, borg, fairness] {
        for panel in &figure.panels {
            println!("{}, {}:", figure.name, panel.title);
            panel.curves.iter().for_each(tell);
        }
    }
    approximation(rates)?;
    heavy_share()?;
    coverage(&threshold.panels[0], "E[T] of MSFQ");
    Ok(())
}

/// The best threshold, and what others cost.
fn thresholds(panel: &Panel) {
    for curve in panel.curves.iter().filter(|c| c.kind == Kind::Exact) {
        let known = || {
            curve
                .points
                .iter()
                .filter_map(|(l, e)| Some((*l, e.as_ref()?.mean)))
        };
        let Some(best) = known().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            continue;
        };
        print!("{}: best ℓ = {} with {:.4};", curve.label, best.0, best.1);
        for (l, mean) in known().filter(|(l, _)| [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 31.0].contains(l))
        {
            print!(
                " ℓ = {l} {mean:.4} ({:+.1} %)",
                100.0 * (mean / best.1 - 1.0)
            );
        }
        println!();
    }
}

/// A curve in one line.
fn tell(curve: &Curve) {
    let cell = |(x, e): &(f64, Option<Estimate>)| match e {
        Some(e) if e.half_width > 0.0 => format!("{x:.2}: {:.4} ± {:.4}", e.mean, e.half_width),
        Some(e) => format!("{x:.2}: {:.4}", e.mean),
        None => format!("{x:.2}: –"),
    };
    let cells: Vec<String> = curve.points.iter().map(cell).collect();
    println!(
        "  {}, {}: {}",
        curve.label,
        curve.kind.name(),
        cells.join("; ")
    );
}

/// How far the paper's approximation is from what it approximates.
fn approximation(rates: &Figure) -> Result<()> {
    for panel in &rates.panels {
        let of = |kind| panel.curve(crate::one_or_all::MSFQ, kind);
        let (guess, exact) = (of(Kind::Approximation)?, of(Kind::Exact)?);
        print!("approximation beside exact, {}:", panel.title);
        for ((rate, guess), (_, exact)) in guess.points.iter().zip(&exact.points) {
            if let (Some(guess), Some(exact)) = (guess, exact) {
                print!(
                    " λ = {rate:.2} {:+.1} %;",
                    100.0 * (guess.mean / exact.mean - 1.0)
                );
            }
        }
        println!();
    }
    Ok(())
}

/// Section 6.1: few jobs of the Borg cell bring most of the load.
fn heavy_share() -> Result<()> {
    let borg = Workload::read(Path::new(crate::many_types::BORG))?.workload;
    let mut shares: Vec<(f64, f64)> = borg
        .types()
        .iter()
        .map(|t| t.arrival_rate() / borg.total_arrival_rate())
        .zip(borg.load_shares())
        .collect();
    shares.sort_by(|a, b| (b.1 / b.0).total_cmp(&(a.1 / a.0)));
    let (mut jobs, mut load) = (0.0, 0.0);
    for (more_jobs, more_load) in shares {
        jobs += more_jobs;
        load += more_load;
        if (0.5..0.95).contains(&load) {
            println!(
                "Borg: {:.3} % of the jobs bring {:.2} % of the load",
                100.0 * jobs,
                100.0 * load
            );
        }
    }
    Ok(())
}

fn coverage(panel: &Panel, what: &str) {
    let exact = |check: &Curve, x: f64| panel.curve(&check.label, Kind::Exact).ok()?.at(x);
    let checks = panel.curves.iter().filter(|c| c.kind == Kind::Check);
    let pairs = checks.flat_map(|c| {
        c.points
            .iter()
            .filter_map(move |(x, e)| Some(((*e)?, exact(c, *x)?)))
    });
    let hits: Vec<bool> = pairs
        .map(|(found, exact)| found.covers(exact.mean, 0.95))
        .collect();
    let covered = hits.iter().filter(|hit| **hit).count();
    println!(
        "{covered} of {} simulated 95 % intervals cover the exact {what}",
        hits.len()
    );
}
