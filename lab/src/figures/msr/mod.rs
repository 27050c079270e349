//! These are the figures 2 to 4 in section 7 of the MSR paper, and figure 5 in section 8.

mod loads;
mod theory;

pub(super) use loads::{figure4, figure5};

use super::curve::{
    BLUE, Curve, GREEN, GREY, Kind, ORANGE, PURPLE, Panel, SKY, VERMILLION, axis, sheet,
};
use super::rules::{plain, tuned};
use super::{Drawn, PaperFinding};
use synth::kind::VerbResult;
use synth::multiresource::artifact::{MsrConfig, Preemption, Route};
use synth::multiresource::workload::Workload;
use synth::report::plot::Axis;
use theory::{Placed, at_load, at_rate, exact, full, smsr, spread, theorem8, total};

/// The value of α for pMSR in the paper, and the value that is used instead of infinity.
const ALPHA: f64 = 2.0;
const ENDLESS: f64 = 1e6;

fn jobs(range: (f64, f64)) -> Axis {
    axis("mean number in system E[Q] [jobs]", range, true)
}

pub(super) fn figure2(events: u64) -> VerbResult<Drawn> {
    let (mut panels, mut findings) = (Vec::new(), Vec::new());
    for (load, heights) in [
        (0.9, [(20.0, 2000.0), (100.0, 5000.0)]),
        (0.5, [(2.0, 300.0); 2]),
    ] {
        let (panel, found) = preemptive(load, heights[0], events)?;
        panels.push(panel);
        findings.push(found);
        let (panel, found) = draining(load, heights[1], events)?;
        panels.push(panel);
        findings.extend(found);
        findings.push(theorem8(&at_load(load)?, load)?);
    }
    let figure = sheet(2, (500, 490), 2, panels);
    Ok((vec![figure], findings))
}

fn over(workload: &Workload, policy: &MsrConfig, rates: Vec<f64>) -> Vec<Placed> {
    let placed = |rate| (rate, workload.clone(), at_rate(policy, rate));
    rates.into_iter().map(placed).collect()
}

fn switching(high: f64) -> Axis {
    axis("switching rate α [1/s]", (0.008, high), true)
}

fn preemptive(load: f64, heights: (f64, f64), events: u64) -> VerbResult<(Panel, PaperFinding)> {
    let workload = at_load(load)?;
    let (policy, _) = tuned(&workload, &plain(Preemption::Full, None))?;
    let placed = over(&workload, &policy, spread(0.01, 100.0, 61));
    let curves = full("pMSR", GREEN, &placed, (10, events))?;
    let title = format!("pMSR, ρ = {load}");
    let mut panel = Panel::new(title, switching(100.0), jobs(heights), curves);
    panel.chart.lines = vec![(ALPHA, "α = 2".into())];
    let at = |rate| -> VerbResult<f64> { Ok(total(&workload, &at_rate(&policy, rate))?.exact) };
    let (slow, two, limit) = (at(0.1)?, at(ALPHA)?, at(ENDLESS)?);
    let finding = PaperFinding {
        place: "7.1",
        says: "if α is at least 2, pMSR has most of the benefit of switching",
        found: format!(
            "at a load of {load}, the mean number is {slow:.2} for α = 0.1, {two:.2} for α = 2, and {limit:.2} in the limit"
        ),
        holds: Some(slow - two > 0.9 * (slow - limit)),
    };
    Ok((panel, finding))
}

/// Draws nMSR with each of its four routes. The best route is the last one, so that it is visible.
fn draining(load: f64, heights: (f64, f64), events: u64) -> VerbResult<(Panel, [PaperFinding; 2])> {
    let workload = at_load(load)?;
    let (mut curves, mut best, mut largest) = (Vec::new(), Vec::new(), 0.0_f64);
    let colors = [BLUE, ORANGE, PURPLE, GREY];
    for (n, (route, color)) in Route::ALL.into_iter().zip(colors).enumerate().rev() {
        let (policy, found) = tuned(&workload, &plain(Preemption::None, Some(route)))?;
        let high = (0.97 * found.largest).min(100.0);
        let placed = over(&workload, &policy, spread(0.008, high, 60));
        let label = format!("nMSR, {route}");
        match n {
            0 => curves.extend(full(&label, color, &placed, (9, events))?),
            _ => curves.push(exact(&label, color, &placed)?),
        }
        largest = largest.max(high);
        let mean = total(&workload, &policy)?.exact;
        best.push((mean, found.rate, found.predicted.0));
    }
    let (means, last) = (best.iter().map(|own| own.0), best[best.len() - 1]);
    let (least, most) = means.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    let title = format!("nMSR, ρ = {load}");
    let mut panel = Panel::new(title, switching(2.0 * largest), jobs(heights), curves);
    panel.chart.lines = vec![
        (last.1, format!("α* = {:.4}", last.1)),
        (last.2, format!("predicted {:.4}", last.2)),
    ];
    let off = last.2 / last.1 - 1.0;
    let findings = [
        PaperFinding {
            place: "7.2",
            says: "the predicted α is within 2.1 % of α*",
            found: format!(
                "at a load of {load}, the difference is {:+.1} % for the route {}",
                100.0 * off,
                Route::ALL[0]
            ),
            holds: Some(off.abs() < 0.021),
        },
        PaperFinding {
            place: "7.2",
            says: "the route has only a small effect",
            found: format!(
                "at a load of {load}, the best mean of each route is between {least:.1} and {most:.1}"
            ),
            holds: Some(most < 1.1 * least),
        },
    ];
    Ok((panel, findings))
}

pub(super) fn figure3(events: u64) -> VerbResult<Drawn> {
    let workload = at_load(0.9)?;
    let gammas = spread(0.5, 3e4, 49);
    let (patient, _) = tuned(&workload, &plain(Preemption::None, None))?;
    let (preemptive, _) = tuned(&workload, &plain(Preemption::Full, None))?;
    let constant = |label: &str, color, policy: &MsrConfig| -> VerbResult<Curve> {
        let mean = total(&workload, policy)?.exact;
        let points = gammas.iter().map(|gamma| (*gamma, Some(mean)));
        Ok(Curve::known(label, color, Kind::Exact, points))
    };
    let placed = |gamma: &f64| Ok((*gamma, workload.clone(), smsr(&workload, *gamma)?));
    let placed = gammas.iter().map(placed);
    let placed = placed.collect::<VerbResult<Vec<Placed>>>()?;
    let rival = total(&workload, &patient)?.exact;
    let (mut low, mut high) = (0.5_f64, 1e4_f64);
    while high / low > 1.001 {
        let middle = (low * high).sqrt();
        let found = total(&workload, &smsr(&workload, middle)?)?.exact;
        *(if found > rival { &mut low } else { &mut high }) = middle;
    }
    let mut curves = vec![
        constant("pMSR, α → ∞", SKY, &at_rate(&preemptive, ENDLESS))?,
        constant("pMSR, α = 2", GREEN, &preemptive)?,
        constant("nMSR at its α*", BLUE, &patient)?,
    ];
    curves.extend(full("sMSR at its α*", VERMILLION, &placed, (7, events))?);
    let title = "setup rate γ [1/s] (service rate μ = 1/s)";
    let across = axis(title, (0.5, 3e4), true);
    let mut panel = Panel::new("sMSR, ρ = 0.9", across, jobs((20.0, 2500.0)), curves);
    panel.chart.lines = vec![(low, format!("γ = {low:.2}"))];
    let finding = PaperFinding {
        place: "7.3",
        says: "sMSR is better than nMSR if γ is significantly larger than μ",
        found: format!("this is the case if γ is at least {low:.1} μ and both use the best route"),
        holds: Some(low > 2.0),
    };
    let figure = sheet(3, (800, 640), 1, vec![panel]);
    Ok((vec![figure], vec![finding]))
}
