//! What the paper says in words, measured: the numbers of docs/section7.md.
use synth::multiresource::artifact::{MsrPolicy, Route};
use synth::multiresource::workload::Workload;

use crate::Result;
use crate::figures::{ALPHA, ENDLESS, LATE, crossing};
use crate::table::Figure;
use crate::theory::{Theory, at_load, at_rate, by_type, nmsr, pmsr, smsr, spread, total, weighted};

pub fn findings(model: &Workload, figures: &[Figure]) -> Result<()> {
    switching_is_worth(model)?;
    predictions(model)?;
    minima(model)?;
    setups(model)?;
    rivals(&figures[2]);
    letter_of_theorem_8(model)?;
    coverage(figures);
    Ok(())
}

fn switching_is_worth(model: &Workload) -> Result<()> {
    for load in [0.5, 0.9, 0.95] {
        let workload = at_load(model, load)?;
        let policy = pmsr(&workload)?;
        let at = |rate| -> Result<f64> { Ok(total(&workload, &at_rate(&policy, rate))?.exact) };
        let limit = at(ENDLESS)?;
        print!("pMSR at ρ = {load}: α → ∞ {limit:.4}");
        for rate in [0.1, 0.5, ALPHA, 8.0, 32.0] {
            print!(
                "; α = {rate} {:.4} ({:+.1} %)",
                at(rate)?,
                100.0 * (at(rate)? / limit - 1.0)
            );
        }
        println!();
    }
    Ok(())
}

fn predictions(model: &Workload) -> Result<()> {
    for load in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
        let workload = at_load(model, load)?;
        for route in Route::ALL {
            let (policy, found) = nmsr(&workload, Some(route))?;
            let best = total(&workload, &policy)?.exact;
            let cost = |rate| -> Result<f64> {
                Ok(total(&workload, &at_rate(&policy, rate))?.exact / best)
            };
            println!(
                "nMSR at ρ = {load}, {route}: α* = {:.5}, E[Q] {best:.3}; predicted α {:+.1} %, E[Q] {:+.2} %; \
                 stable below α = {:.4}; at α*/10 E[Q] × {:.1}, at α*/20 × {:.1}",
                found.rate,
                100.0 * (found.predicted.0 / found.rate - 1.0),
                100.0 * (cost(found.predicted.0)? - 1.0),
                found.largest,
                cost(found.rate / 10.0)?,
                cost(found.rate / 20.0)?,
            );
        }
    }
    Ok(())
}

/// How far the least upper bound is above the least lower bound, over all α.
fn minima(model: &Workload) -> Result<()> {
    type Sum = fn(&Workload, &MsrPolicy) -> Result<Theory>;
    let sums: [(&str, Sum); 2] = [("total", total), ("λ-weighted", weighted)];
    for (name, sum) in sums {
        for route in Route::ALL {
            let (policy, found) = nmsr(model, Some(route))?;
            let rates = spread(0.3 * found.rate, 0.97 * found.largest, 300);
            let all: Result<Vec<_>> = rates
                .iter()
                .map(|r| sum(model, &at_rate(&policy, *r)))
                .collect();
            let all = all?;
            let least = |of: fn(&Theory) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
            let gap = |lower, upper| 100.0 * (upper / lower - 1.0);
            println!(
                "minima of the bounds, nMSR, {route}, {name}: {:.2} and {:.2}, apart {:.2} % (as printed {:.2} %)",
                least(|t| t.lower),
                least(|t| t.upper),
                gap(least(|t| t.lower), least(|t| t.upper)),
                gap(least(|t| t.printed[0]), least(|t| t.printed[2])),
            );
        }
    }
    Ok(())
}

fn setups(model: &Workload) -> Result<()> {
    for route in Route::ALL {
        let rival = total(model, &nmsr(model, Some(route))?.0)?;
        let from = crossing(model, Some(route), rival.exact, |t| t.exact)?;
        println!("sMSR beats nMSR from γ = {from:.2} on, both {route}");
    }
    let rival = total(model, &nmsr(model, None)?.0)?;
    println!(
        "sMSR, each on its best route: exact {:.2}; by the approximation {:.2}; bounds leave open {:.2} to {:.2}; concurrent-late {:.2}",
        crossing(model, None, rival.exact, |t| t.exact)?,
        crossing(model, None, rival.approximation, |t| t.approximation)?,
        crossing(model, None, rival.upper, |t| t.lower)?,
        crossing(model, None, rival.lower, |t| t.upper)?,
        crossing(model, Some(LATE), rival.exact, |t| t.exact)?,
    );
    for gamma in [100.0, 1e3, 1e4, 1e5] {
        let policy = smsr(model, gamma, None)?;
        let mean = total(model, &policy)?.exact;
        let (rate, route) = (policy.switching_rate, policy.route);
        println!("sMSR at γ = {gamma}: α* = {rate:.3}, {mean:.3}, {route}");
    }
    let limit = total(model, &at_rate(&pmsr(model)?, ALPHA))?.exact;
    let from = crossing(model, None, limit, |t| t.exact)?;
    println!("sMSR beats pMSR at α = 2 from γ = {from:.0} on");
    Ok(())
}

/// First-Fit beside the others, from Figure 4.
fn rivals(figure: &Figure) {
    let Some(first_fit) = figure.curve(1, "First-Fit") else {
        return;
    };
    for row in &first_fit.rows {
        let exact = |panel, label| {
            let curve = figure.curve(panel, label)?;
            let same = curve
                .rows
                .iter()
                .find(|r| r.load == row.load && r.theory.is_some());
            Some(same?.theory?.exact)
        };
        let number = |x: Option<f64>| x.map_or("no mean".into(), |x| format!("{x:.3}"));
        println!(
            "ρ = {}: First-Fit {}, pMSR {}, nMSR {}",
            row.load,
            number(row.simulated.map(|e| e.mean)),
            number(exact(0, "pMSR, α = 2")),
            number(exact(1, "nMSR at")),
        );
    }
}

/// Counts where bounds exclude the exact mean of a type: by load, over routes, rates and types.
fn letter_of_theorem_8(model: &Workload) -> Result<()> {
    for load in [0.5, 0.7, 0.9] {
        let workload = at_load(model, load)?;
        let (mut all, mut wrong, mut corrected) = (0, 0, 0);
        let mut worst = (0.0, String::new());
        for route in Route::ALL {
            let (policy, found) = nmsr(&workload, Some(route))?;
            for rate in spread(0.01, (0.97 * found.largest).min(100.0), 41) {
                let types = by_type(&workload, &at_rate(&policy, rate))?;
                for (i, t) in types.iter().enumerate() {
                    all += 1;
                    wrong += usize::from(outside(t.exact, t.printed[0], t.printed[2]));
                    corrected += usize::from(outside(t.exact, t.lower, t.upper));
                    if t.printed[0] / t.exact > worst.0 {
                        let place = format!("{route}, α = {rate:.3}, type {}", i + 1);
                        worst = (t.printed[0] / t.exact, place + &beside(t));
                    }
                }
            }
        }
        println!(
            "theorem 8, nMSR, ρ = {load}: of {all} means {wrong} lie outside of the printed bounds and \
             {corrected} outside of the corrected ones; worst {}",
            worst.1
        );
    }
    Ok(())
}

fn outside(exact: f64, lower: f64, upper: f64) -> bool {
    let slack = 1e-9 * exact;
    lower > exact + slack || upper < exact - slack
}

fn beside(t: &Theory) -> String {
    let (printed, exact, lower) = (t.printed[0], t.exact, t.lower);
    format!(
        ": printed lower bound {printed:.4}, exact {exact:.4}, corrected lower bound {lower:.4}"
    )
}

fn coverage(figures: &[Figure]) {
    let rows = figures
        .iter()
        .flat_map(|f| &f.panels)
        .flat_map(|p| &p.curves);
    let pairs = rows
        .flat_map(|c| &c.rows)
        .filter_map(|r| Some((r.simulated?, r.theory?.exact)));
    let covered: Vec<bool> = pairs.map(|(e, exact)| e.covers(exact, 0.95)).collect();
    let hits = covered.iter().filter(|hit| **hit).count();
    println!(
        "{hits} of {} simulated 95 % intervals cover the exact mean",
        covered.len()
    );
}
