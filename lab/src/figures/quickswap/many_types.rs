//! Figures 5 to 8: four types, and cell B of Google's Borg trace.

use super::super::curve::{BLUE, Figure, GREEN, GREY, ORANGE, PURPLE, Panel, SKY, VIOLET, axis};
use super::super::rules::{
    Plan, Rule, Sweep, first_fit, model, named, nmsr_with_backfilling, sweep, words,
};
use super::super::{Done, DrawnFigures, PaperFinding};
use super::{ACROSS, at_rate};
use synth::multiresource::artifact::Objective;
use synth::multiresource::simulator::Run;
use synth::report::plot::Axis;
use synth::simulation::Estimate;

/// The rules of Figures 5 to 8, adaptive MSR tuned within so many events.
fn rivals(tuning: u64) -> Vec<Plan> {
    let adaptive = Rule::Adaptive(Objective::Weighted, tuning);
    vec![
        ("MSF", ORANGE, named("most-servers-first")),
        first_fit(),
        ("Static Quickswap", BLUE, named("static-quickswap")),
        ("Static Quickswap, overlapping", SKY, Rule::Overlapping),
        ("Adaptive Quickswap", PURPLE, named("adaptive-quickswap")),
        nmsr_with_backfilling(GREY),
        ("adaptive MSR", GREEN, adaptive),
    ]
}

type Part = fn(&Run) -> Option<Estimate>;

fn panel(title: &str, sweeps: &[&Sweep], (across, up): (Axis, Axis), part: Part) -> Panel {
    let curves = sweeps.iter().map(|own| own.curve(part));
    Panel::new(title, across, up, curves.collect())
}

/// Mean response times weighted by load, and of all jobs.
const WEIGHTED: Part = |run| run.weighted_response;
const ALL: Part = |run| run.mean_response;

/// Figure 5: four types; and Figure 8: ServerFilling, which preempts, beside those that do not.
pub(in crate::figures) fn figure5_and_8(events: u64) -> Done<DrawnFigures> {
    let rates = [1.0, 2.0, 3.0, 3.5, 4.0, 4.25, 4.5, 4.75];
    let scene = |rate| at_rate(&model!("four_types"), rate);
    let runs = sweep(scene, rivals(events + events / 2), &rates, (events, 8))?;
    let filling = named("server-filling");
    let plan = vec![("ServerFilling, preempts", VIOLET, filling)];
    let filling = sweep(scene, plan, &rates, (events, 8))?;
    let axes = |low| {
        let up = axis("mean response time [s]", (low, 200.0), true);
        (axis(ACROSS, (0.8, 5.0), false), up)
    };
    let both = |sweeps: &[&Sweep], low| {
        let weighted = panel("weighted by load", sweeps, axes(low), WEIGHTED);
        vec![weighted, panel("all jobs", sweeps, axes(low), ALL)]
    };
    let five: Vec<&Sweep> = runs.iter().collect();
    // The paper has those of Figure 5 that are its own or older, and ServerFilling.
    let eight: Vec<&Sweep> = runs[..5].iter().chain(&filling).collect();
    let at = |own: &Sweep, part: Part| own.curve(part).at(4.75);
    // What has no mean is taken as slow, but the first of two that are compared has one.
    let mean = |found: Option<Estimate>| found.map_or(f64::INFINITY, |own| own.mean);
    let faster = |own: Option<Estimate>, other: Option<Estimate>, by: f64| {
        Some(own?.mean < by * other?.mean)
    };
    let [msf, first_fit, full, overlap, adaptive] = [0, 1, 2, 3, 4].map(|n| at(&runs[n], WEIGHTED));
    let least = |part: Part| {
        let others = runs[..5].iter().map(|own| at(own, part));
        let least = others.min_by(|a, b| mean(*a).total_cmp(&mean(*b)));
        least.flatten()
    };
    let filled = [WEIGHTED, ALL].map(|part| (at(&filling[0], part), least(part)));
    let [of_msf, of_first_fit, of_full, of_overlap, of_adaptive] =
        [msf, first_fit, full, overlap, adaptive].map(words);
    let [weighted, all] = filled.map(|(own, others)| (words(own), words(others)));
    let findings = vec![
        PaperFinding {
            place: "6.3, figure 5",
            says: "Static and Adaptive Quickswap beat MSF and First-Fit",
            found: format!(
                "weighted at λ = 4.75: Adaptive {of_adaptive}, Static {of_full} (overlapping {of_overlap}), MSF {of_msf}, First-Fit {of_first_fit}"
            ),
            holds: [adaptive, full].iter().try_fold(true, |all, own| {
                let both = [msf, first_fit].map(|other| faster(*own, other, 1.0));
                Some(all && both[0]? && both[1]?)
            }),
        },
        PaperFinding {
            place: "D, figure 8",
            says: "ServerFilling greatly outperforms all non-preemptive policies, weighted and unweighted",
            found: format!(
                "λ = 4.75: weighted {} against {} of the best of them, all jobs {} against {}",
                weighted.0, weighted.1, all.0, all.1
            ),
            holds: filled.iter().try_fold(true, |all, (own, others)| {
                Some(all && faster(*own, *others, 0.8)?)
            }),
        },
    ];
    let figures = vec![
        Figure::new("figure5", (550, 560), 2, both(&five, 1.0)),
        Figure::new("figure8", (550, 560), 2, both(&eight, 0.8)),
    ];
    Ok(DrawnFigures::new(figures, findings))
}

/// Figures 6 and 7: Borg, cell B. Sizes are up to 14 000 time units and turns 100 000: few runs, and those long.
pub(in crate::figures) fn figure6_and_7(events: u64) -> Done<DrawnFigures> {
    let rates = [1.0, 2.0, 3.0, 3.5, 4.0, 4.46];
    let scene = |rate| at_rate(&model!("borg_cell_b"), rate);
    let runs = sweep(scene, rivals(5 * events), &rates, (3 * events, 2))?;
    let runs: Vec<&Sweep> = runs.iter().collect();
    let axes = |label, range, log| {
        let across = axis("total arrival rate λ [1/trace unit]", (0.8, 4.7), false);
        (across, axis(label, range, log))
    };
    let title = "weighted mean response time [trace units]";
    let up = axes(title, (3000.0, 3e6), true);
    let six = panel("Borg, cell B: weighted by load", &runs, up, WEIGHTED);
    let times = || axes("mean response time [trace units]", (1.0, 1e7), true);
    let jain = axes("Jain's index of E[T_i]", (0.0, 1.02), false);
    let (lightest, heaviest): (Part, Part) = (
        |run| run.types[0].mean_response,
        |run| run.types[25].mean_response,
    );
    let fairness: Part = |run| run.fairness.map(Estimate::exact);
    let seven = vec![
        panel("(a) all jobs", &runs, times(), ALL),
        panel("(b) jobs that need 1 server", &runs, times(), lightest),
        panel("(b) jobs that need 2000 servers", &runs, times(), heaviest),
        panel("(c) fairness: 1 is equal", &runs, jain, fairness),
    ];
    let means = runs.iter().map(|own| own.curve(WEIGHTED).at(4.0));
    let means: Vec<Option<Estimate>> = means.collect();
    let [msf, first_fit, static_quickswap, adaptive] = [0, 1, 2, 4].map(|n| words(means[n]));
    let ratio = means[0].zip(means[4]);
    let finding = PaperFinding {
        place: "6.4",
        says: "on Borg Adaptive and Static win by two orders of magnitude at high λ",
        found: format!(
            "weighted at λ = 4: Adaptive {adaptive}, Static {static_quickswap}, MSF {msf}, First-Fit {first_fit}; runs of ordinary length are too short for MSF and First-Fit"
        ),
        holds: ratio.map(|(msf, adaptive)| msf.mean / adaptive.mean > 50.0),
    };
    let figures = [
        Figure::new("figure6", (900, 620), 1, vec![six]),
        Figure::new("figure7", (550, 500), 2, seven),
    ];
    Ok(DrawnFigures::new(figures, [finding]))
}
