//! Figures 5 to 8: four types, and cell B of Google's Borg trace.

use super::super::curve::{
    BLUE, Figure, GREEN, GREY, ORANGE, PURPLE, Panel, SKY, VERMILLION, VIOLET, axis,
};
use super::super::rules::{Plan, Rule, Sweep, model, sweep, words};
use super::super::{Done, Drawn, Finding};
use super::{ACROSS, at_rate};
use synth::multiresource::artifact::{Objective, Preemption};
use synth::multiresource::simulator::Run;
use synth::report::plot::Axis;
use synth::simulation::Estimate;

/// The rules of Figures 5 to 8, adaptive MSR tuned within so many events.
fn rivals(tuning: u64) -> Vec<Plan> {
    vec![
        ("MSF", ORANGE, Rule::named("most-servers-first")),
        ("First-Fit", VERMILLION, Rule::named("first-fit")),
        ("Static Quickswap", BLUE, Rule::named("static-quickswap")),
        ("Static Quickswap, overlapping", SKY, Rule::Overlapping),
        (
            "Adaptive Quickswap",
            PURPLE,
            Rule::named("adaptive-quickswap"),
        ),
        (
            "nMSR with backfilling",
            GREY,
            Rule::Msr(Preemption::None, None, true),
        ),
        (
            "adaptive MSR",
            GREEN,
            Rule::Adaptive(Objective::Weighted, tuning),
        ),
    ]
}

type Part = fn(&Run) -> Option<Estimate>;

fn panel(title: &str, sweeps: &[&Sweep], (across, up): (Axis, Axis), part: Part) -> Panel {
    Panel::new(
        title,
        across,
        up,
        sweeps.iter().map(|own| own.curve(part)).collect(),
    )
}

/// Figure 5: four types; and Figure 8: ServerFilling, which preempts, beside those that do not.
pub(in crate::figures) fn figure5_and_8(events: u64) -> Done<Drawn> {
    let rates = [1.0, 2.0, 3.0, 3.5, 4.0, 4.25, 4.5, 4.75];
    let scene = |rate| at_rate(&model!("four_types"), rate);
    let runs = sweep(scene, rivals(events + events / 2), &rates, (events, 8))?;
    let plan = vec![(
        "ServerFilling, preempts",
        VIOLET,
        Rule::named("server-filling"),
    )];
    let filling = sweep(scene, plan, &rates, (events, 8))?;
    let axes = |low| {
        let up = axis("mean response time [s]", (low, 200.0), true);
        (axis(ACROSS, (0.8, 5.0), false), up)
    };
    let both = |sweeps: &[&Sweep], low| {
        let weighted = panel("weighted by load", sweeps, axes(low), |run| {
            run.weighted_response
        });
        let all = panel("all jobs", sweeps, axes(low), |run| run.mean_response);
        vec![weighted, all]
    };
    let five: Vec<&Sweep> = runs.iter().collect();
    // The paper has those of Figure 5 that are its own or older, and ServerFilling.
    let eight: Vec<&Sweep> = runs[..5].iter().chain(&filling).collect();
    let at = |own: &Sweep, part: Part, rate| own.curve(part).at(rate);
    let weighted: Part = |run| run.weighted_response;
    // What has no mean is taken as slow, but the first of two that are compared has one.
    let mean = |found: Option<Estimate>| found.map_or(f64::INFINITY, |own| own.mean);
    let faster = |own: Option<Estimate>, other: Option<Estimate>, by: f64| {
        own.zip(other)
            .map(|(own, other)| own.mean < by * other.mean)
    };
    let [msf, first_fit, full, overlap, adaptive] =
        [0, 1, 2, 3, 4].map(|n| at(&runs[n], weighted, 4.75));
    let least = |part: Part| {
        let others = runs[..5].iter().map(|own| at(own, part, 4.75));
        others
            .min_by(|a, b| mean(*a).total_cmp(&mean(*b)))
            .flatten()
    };
    let filled = [weighted, |run: &Run| run.mean_response]
        .map(|part| (at(&filling[0], part, 4.75), least(part)));
    let findings = vec![
        Finding {
            place: "6.3, figure 5",
            says: "Static and Adaptive Quickswap beat MSF and First-Fit",
            found: format!(
                "weighted at λ = 4.75: Adaptive {}, Static {} (overlapping {}), MSF {}, First-Fit {}",
                words(adaptive),
                words(full),
                words(overlap),
                words(msf),
                words(first_fit)
            ),
            holds: [adaptive, full].iter().try_fold(true, |all, own| {
                let both = [msf, first_fit].map(|other| faster(*own, other, 1.0));
                Some(all && both[0]? && both[1]?)
            }),
        },
        Finding {
            place: "D, figure 8",
            says: "ServerFilling greatly outperforms all non-preemptive policies, weighted and unweighted",
            found: format!(
                "λ = 4.75: weighted {} against {} of the best of them, all jobs {} against {}",
                words(filled[0].0),
                words(filled[0].1),
                words(filled[1].0),
                words(filled[1].1)
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
    Ok(Drawn::new(figures, findings))
}

/// Figures 6 and 7: Borg, cell B. Sizes are up to 14 000 time units and turns 100 000: few runs, and those long.
pub(in crate::figures) fn figure6_and_7(events: u64) -> Done<Drawn> {
    let rates = [1.0, 2.0, 3.0, 3.5, 4.0, 4.46];
    let scene = |rate| at_rate(&model!("borg_cell_b"), rate);
    let runs = sweep(scene, rivals(5 * events), &rates, (3 * events, 2))?;
    let runs: Vec<&Sweep> = runs.iter().collect();
    let axes = |label, range, log| {
        let across = axis("total arrival rate λ [1/trace unit]", (0.8, 4.7), false);
        (across, axis(label, range, log))
    };
    let weighted: Part = |run| run.weighted_response;
    let up = axes(
        "weighted mean response time [trace units]",
        (3000.0, 3e6),
        true,
    );
    let six = panel("Borg, cell B: weighted by load", &runs, up, weighted);
    let times = || axes("mean response time [trace units]", (1.0, 1e7), true);
    let jain = axes("Jain's index of E[T_i]", (0.0, 1.02), false);
    // The lightest type, and the heaviest.
    let seven = vec![
        panel("(a) all jobs", &runs, times(), |run| run.mean_response),
        panel("(b) jobs that need 1 server", &runs, times(), |run| {
            run.types[0].mean_response
        }),
        panel("(b) jobs that need 2000 servers", &runs, times(), |run| {
            run.types[25].mean_response
        }),
        panel("(c) fairness: 1 is equal", &runs, jain, |run| {
            run.fairness.map(Estimate::exact)
        }),
    ];
    let at = |n: usize, rate| words(runs[n].curve(weighted).at(rate));
    let ratio = |n: usize| {
        let mean = |n: usize| runs[n].curve(weighted).at(4.0).map(|own| own.mean);
        Some(mean(n)? / mean(4)?)
    };
    let finding = Finding {
        place: "6.4",
        says: "on Borg Adaptive and Static win by two orders of magnitude at high λ",
        found: format!(
            "weighted at λ = 4: Adaptive {}, Static {}, MSF {}, First-Fit {}; runs of ordinary length are too short for MSF and First-Fit",
            at(4, 4.0),
            at(2, 4.0),
            at(0, 4.0),
            at(1, 4.0)
        ),
        holds: ratio(0).map(|times| times > 50.0),
    };
    let figures = [
        Figure::new("figure6", (900, 620), 1, vec![six]),
        Figure::new("figure7", (550, 500), 2, seven),
    ];
    Ok(Drawn::new(figures, [finding]))
}
