//! Figure 4: rules over the load.

use super::super::curve::{BLUE, Curve, Figure, GREEN, GREY, ORANGE, PURPLE, Panel, SKY, axis};
use super::super::rules::{
    Plan, Rule, Sweep, first_fit, named, nmsr_with_backfilling, plain, sweep, tuned, words,
};
use super::super::{Done, DrawnFigures, PaperFinding};
use super::jobs;
use super::theory::{Placed, at_load, full, total};
use synth::multiresource::artifact::Preemption;

/// Loads of Figure 4; more of them where First-Fit gives up.
const LOADS: [f64; 12] = [
    0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.88, 0.9, 0.91, 0.92, 0.935, 0.95,
];

/// Figure 4: rules over the load.
pub(in crate::figures) fn figure4(events: u64) -> Done<DrawnFigures> {
    let of_msr = |preemption| -> Done<Vec<Placed>> {
        let placed = LOADS.map(|load| -> Done<Placed> {
            let workload = at_load(load)?;
            let policy = tuned(&workload, &plain(preemption, None))?.0;
            Ok((load, workload, policy))
        });
        placed.into_iter().collect()
    };
    let (preemptive, patient) = (of_msr(Preemption::Full)?, of_msr(Preemption::None)?);
    let plans = |plans: Vec<Plan>| sweep(at_load, plans, &LOADS, (events, 8));
    let number = |sweep: &Sweep| sweep.curve(|run| run.mean_number);
    let both = plans(vec![first_fit()])?;
    let with = plans(vec![
        (
            "pMSR with backfilling",
            SKY,
            Rule::Msr(Preemption::Full, None, true),
        ),
        ("MaxWeight", PURPLE, named("max-weight")),
    ])?;
    let without = plans(vec![
        ("FCFS", GREY, named("fcfs")),
        nmsr_with_backfilling(ORANGE),
        ("Randomized Timers", PURPLE, named("randomized-timers")),
    ])?;
    let panel = |title: &str, high, own: Vec<Curve>, others: &[Sweep]| {
        let mut curves: Vec<Curve> = both.iter().chain(others).map(number).collect();
        curves.extend(own);
        let across = axis("load ρ (at 1 no policy can keep up)", (0.38, 0.98), false);
        Panel::new(title, across, jobs((1.0, high)), curves)
    };
    let pmsr = full("pMSR, α = 2", GREEN, &preemptive, (3, events))?;
    let nmsr = full("nMSR at its α*", BLUE, &patient, (3, events))?;
    let panels = vec![
        panel("with preemption", 300.0, pmsr, &with),
        panel("without preemption", 2000.0, nmsr, &without),
    ];
    let (first_fit, backfilling) = (number(&both[0]), number(&without[1]));
    let missing = LOADS.iter().find(|load| first_fit.at(**load).is_none());
    let at = |load, of: &[Placed]| -> Done<f64> {
        let found = of.iter().find(|own| own.0 == load).ok_or("no such load")?;
        Ok(total(&found.1, &found.2)?.exact)
    };
    let findings = vec![
        PaperFinding {
            place: "7.4",
            says: "First-Fit becomes unstable around ρ = .9",
            found: missing.map_or("a mean at every load".into(), |load| {
                format!("no mean is seen from ρ = {load} on")
            }),
            holds: missing
                .filter(|load| **load >= 0.88)
                .map(|load| *load < 0.93),
        },
        PaperFinding {
            place: "7.4",
            says: "First-Fit performs well below .9",
            found: format!(
                "ρ = .8: {} against {:.1} of plain pMSR and {:.1} of plain nMSR",
                words(first_fit.at(0.8)),
                at(0.8, &preemptive)?,
                at(0.8, &patient)?
            ),
            holds: first_fit.at(0.8).map(|_| true),
        },
        PaperFinding {
            place: "7.4",
            says: "nMSR is the best nonpreemptive policy at high load",
            found: format!(
                "ρ = .9: First-Fit {}, nMSR {:.1}, with backfilling {}",
                words(first_fit.at(0.9)),
                at(0.9, &patient)?,
                words(backfilling.at(0.9))
            ),
            holds: (first_fit.at(0.9).zip(backfilling.at(0.9))).map(|(f, n)| n.mean < f.mean),
        },
    ];
    let figure = Figure::new("figure4", (500, 640), 2, panels);
    Ok(DrawnFigures::new([figure], findings))
}
