//! In the Quickswap paper, the figures 1 to 4 are for one-or-all systems, 5 and 8 are for four
//! types, and 6 and 7 are for cell B of Borg.

use super::curve::{
    BLUE, Curve, GREEN, GREY, Kind, ORANGE, PURPLE, Panel, SKY, VERMILLION, VIOLET, axis, sheet,
};
use super::path::path;
use super::rules::{
    Plan, Rule, Sweep, first_fit, model, named, nmsr_with_backfilling, plain, sweep, tuned, words,
};
use super::{Drawn, PaperFinding};
use itertools::{Itertools as _, izip};
use synth::kind::VerbResult;
use synth::multiresource::analysis::TypeQueue;
use synth::multiresource::analysis::one_or_all::MsfqQueue;
use synth::multiresource::artifact::{Objective, Preemption};
use synth::multiresource::modulation::Modulation;
use synth::multiresource::simulator::Run;
use synth::multiresource::synthesis::{MsfqAnalysis, PHASE_LIMIT};
use synth::multiresource::workload::Workload;
use synth::report::plot::Axis;
use synth::simulation::Estimate;

/// The paper uses the threshold `k − 1`.
const MOST: usize = 31;
/// The arrival rates of figure 3, which must be less than 7.805.
const RATES: [f64; 10] = [2.0, 3.0, 4.0, 5.0, 5.5, 6.0, 6.5, 7.0, 7.25, 7.5];
/// The arrival rates of the exact curves, multiplied by 4.
const FINE: std::ops::RangeInclusive<i32> = 8..=30;
const ACROSS: &str = "total arrival rate λ [1/s]";

fn at_rate(model: &Workload, rate: f64) -> VerbResult<Workload> {
    Ok(model.scaled(rate / model.total_arrival_rate())?)
}

fn one_or_all(rate: f64) -> VerbResult<Workload> {
    at_rate(&model!("one_or_all"), rate)
}

fn queue(rate: f64, threshold: usize) -> VerbResult<MsfqQueue> {
    let outlook = MsfqAnalysis::new(&one_or_all(rate)?, Objective::Mean);
    Ok(outlook.ok_or("no one-or-all system")?.queue(threshold)?)
}

fn over_threshold(rate: f64) -> VerbResult<Vec<(f64, [Option<f64>; 2])>> {
    let of = |threshold| -> VerbResult<_> {
        let queue = queue(rate, threshold)?;
        let exact = queue.means()?.mean_response(&queue);
        let guess = queue.approximation().map(|a| a.mean_response(&queue));
        Ok((threshold as f64, [Some(exact), guess]))
    };
    (0..=MOST).map(of).collect()
}

pub(super) fn figure1(events: u64) -> VerbResult<Drawn> {
    let length = (events as f64 / 15.0).min(4000.0);
    let panel = |rate: f64, high| -> VerbResult<Panel> {
        let workload = one_or_all(rate)?;
        let of = |label: &str, color, threshold| -> VerbResult<Curve> {
            let points = path(&workload, threshold, (length, 2000))?;
            let points = points.into_iter().map(|(t, n)| (t, Some(n)));
            Ok(Curve::known(label, color, Kind::Path, points))
        };
        let across = axis("time [s]", (0.0, length), false);
        let up = axis("number in system [jobs]", (0.0, high), false);
        let msfq = of("MSFQ, ℓ = 31", BLUE, MOST as u32)?;
        let curves = vec![of("MSF", ORANGE, 0)?, msfq];
        Ok(Panel::new(format!("λ = {rate}"), across, up, curves))
    };
    let panels = vec![panel(6.0, 1500.0)?, panel(7.5, 10_000.0)?];
    let figure = sheet(1, (1000, 320), 1, panels);
    Ok((vec![figure], Vec::new()))
}

pub(super) fn figure2(events: u64) -> VerbResult<Drawn> {
    let colors = [(7.5, VERMILLION), (7.0, ORANGE), (6.0, BLUE), (5.0, GREEN)];
    let few: [u32; 8] = [0, 1, 2, 4, 8, 16, 24, 31];
    let (mut curves, mut cost, mut gain) = (Vec::new(), Vec::new(), String::new());
    for (rate, color) in colors {
        let known = over_threshold(rate)?;
        let part = |n: usize| known.iter().map(move |(l, of)| (*l, of[n]));
        let label = format!("λ = {rate}, strict");
        curves.push(Curve::known(&label, color, Kind::Approximation, part(1)));
        curves.push(Curve::known(&label, color, Kind::Exact, part(0)));
        let mut checks = Vec::new();
        for threshold in few {
            let plan = vec![("", color, named(&format!("msfq-strict:{threshold}")))];
            let runs = sweep(one_or_all, plan, &[rate], (events, 8))?;
            let mean = runs[0].curve(|run| run.mean_response).at(rate);
            checks.push((f64::from(threshold), mean));
        }
        curves.push(Curve::new(&label, color, Kind::Check, checks));
        let means: Vec<f64> = known.iter().filter_map(|(_, of)| of[0]).collect();
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let best = means.iter().position(|mean| *mean == least).unwrap_or(0);
        cost.push((rate, 100.0 * (means[MOST] / least - 1.0), best));
        if rate == 7.5 {
            gain = format!(
                "at λ = 7.5, the mean is {:.1} for ℓ = 0, {:.1} for ℓ = 1, and {:.1} for ℓ = 8",
                means[0], means[1], means[8]
            );
        }
    }
    let costs = cost.iter().map(|(rate, cost, best)| {
        format!("{cost:.1} % at λ = {rate}, where the best value of ℓ is {best}")
    });
    let findings = vec![
        PaperFinding {
            place: "6.2",
            says: "there is a large benefit if ℓ is greater than 0",
            found: gain,
            holds: Some(true),
        },
        PaperFinding {
            place: "6.2",
            says: "ℓ = k − 1 is a good heuristic",
            found: format!("the mean is larger by {}", costs.format("; ")),
            holds: Some(cost.iter().all(|own| own.1 < 5.0)),
        },
    ];
    let across = axis("threshold ℓ [jobs]", (-0.5, 31.5), false);
    let up = axis("mean response time E[T] [s]", (5.0, 2000.0), true);
    let panel = Panel::new("MSFQ over its threshold; ℓ = 0 is MSF", across, up, curves);
    let figure = sheet(2, (900, 620), 1, vec![panel]);
    Ok((vec![figure], findings))
}

/// Returns the mean of all jobs, the mean that is weighted by load, and the mean of the light jobs
/// and of the heavy jobs.
fn four(workload: &Workload, response: [f64; 2]) -> [f64; 4] {
    let sum = |weights: [f64; 2]| weights[0] * response[0] + weights[1] * response[1];
    let types = workload.types();
    let rates = [0, 1].map(|i| types[i].arrival_rate() / workload.total_arrival_rate());
    let shares = workload.load_shares();
    let [light, heavy] = response;
    [sum(rates), sum([shares[0], shares[1]]), light, heavy]
}

fn four_of_run(run: &Run, n: usize) -> Option<Estimate> {
    match n {
        0 => run.mean_response,
        1 => run.weighted_response,
        n => run.types[n - 2].mean_response,
    }
}

/// Returns the means for MSF, nMSR, MSFQ with the threshold `k − 1`, and MSFQ with the best
/// threshold, and the approximation.
fn known(rate: f64) -> VerbResult<[Option<[f64; 4]>; 5]> {
    let workload = one_or_all(rate)?;
    let exact = |threshold| -> VerbResult<_> {
        let means = queue(rate, threshold)?.means()?;
        Ok(Some(four(&workload, means.response)))
    };
    let outlook = MsfqAnalysis::new(&workload, Objective::Mean).ok_or("no one-or-all system")?;
    let policy = tuned(&workload, &plain(Preemption::None, None))?.0;
    let modulation = Modulation::new(&workload, &policy, PHASE_LIMIT)?;
    let mut response = [0.0; 2];
    for (i, response) in response.iter_mut().enumerate() {
        let queue = TypeQueue::new(&workload, &modulation, Preemption::None, i);
        *response = queue.mean_number(f64::INFINITY)? / workload.types()[i].arrival_rate();
    }
    let guess = queue(rate, MOST)?.approximation();
    Ok([
        exact(0)?,
        Some(four(&workload, response)),
        exact(MOST)?,
        exact(outlook.best().ok_or("no threshold")?)?,
        guess.map(|own| four(&workload, own.response)),
    ])
}

const MSFQ: &str = "MSFQ, ℓ = 31, strict";

pub(super) fn figure3(events: u64) -> VerbResult<Drawn> {
    let rates = FINE.map(|n| 0.25 * f64::from(n));
    let all = rates.map(|rate| Ok((rate, known(rate)?)));
    let all = all.collect::<VerbResult<Vec<_>>>()?;
    let adaptive = Rule::Adaptive(Objective::Mean, events + events / 2);
    let plans: Vec<Plan> = vec![
        first_fit(),
        nmsr_with_backfilling(GREY),
        ("MSFQ, ℓ = 31, lazy", PURPLE, named("msfq:31")),
        ("adaptive MSR", GREEN, adaptive),
    ];
    let runs = sweep(one_or_all, plans, &RATES, (events, 8))?;
    let lines = [
        ("MSF", ORANGE, Kind::Exact),
        ("nMSR", GREY, Kind::Exact),
        (MSFQ, BLUE, Kind::Exact),
        ("MSFQ at its best ℓ, strict", SKY, Kind::Exact),
        (MSFQ, GREY, Kind::Approximation),
    ];
    let panel = |(n, title): (usize, &str)| {
        let exact = lines.into_iter().enumerate();
        let exact = exact.map(|(m, (label, color, kind))| {
            let points = all.iter();
            let points = points.map(|(rate, own)| (*rate, own[m].map(|four| four[n])));
            Curve::known(label, color, kind, points)
        });
        let simulated = runs.iter().map(|own| own.curve(|run| four_of_run(run, n)));
        let up = axis("mean response time [s]", (1.0, 5000.0), true);
        let curves = exact.chain(simulated).collect();
        Panel::new(title, axis(ACROSS, (1.8, 7.8), false), up, curves)
    };
    let titles = [
        "(a) all jobs",
        "(b) weighted by load",
        "(c) light jobs",
        "(d) heavy jobs",
    ];
    let panels: Vec<Panel> = titles.into_iter().enumerate().map(panel).collect();
    let first_fit = runs[0].curve(|run| run.mean_response).at(7.5);
    let findings = of_rates(&panels[0], first_fit)?;
    let figure = sheet(3, (550, 500), 2, panels);
    Ok((vec![figure], findings))
}

fn of_rates(panel: &Panel, first_fit: Option<Estimate>) -> VerbResult<Vec<PaperFinding>> {
    let exact = |label: &str, rate| panel.at(label, Kind::Exact, rate);
    let (msf, msfq) = (exact("MSF", 7.5)?, exact(MSFQ, 7.5)?);
    let early = (exact("MSF", 2.0)?, exact(MSFQ, 2.0)?);
    let off = |rate| -> VerbResult<f64> {
        let guess = panel.at(MSFQ, Kind::Approximation, rate)?;
        Ok(100.0 * (guess / exact(MSFQ, rate)? - 1.0))
    };
    let (five, six, seven) = (off(5.0)?, off(6.0)?, off(7.0)?);
    Ok(vec![
        PaperFinding {
            place: "6.2",
            says: "if λ is high, MSFQ is better than all other policies by two orders of magnitude",
            found: format!(
                "at λ = 7.5, the mean is {msfq:.1} for MSFQ, {msf:.1} for MSF, and {} for First-Fit",
                words(first_fit)
            ),
            holds: Some(msf > 50.0 * msfq),
        },
        PaperFinding {
            place: "6.2",
            says: "MSFQ has the best mean in all cases",
            found: format!(
                "at λ = 2, the mean is {:.3} for MSFQ and {:.3} for MSF",
                early.1, early.0
            ),
            holds: Some(early.1 <= early.0),
        },
        PaperFinding {
            place: "6.2",
            says: "the analysis is very accurate",
            found: format!(
                "the error is {five:+.1} % at λ = 5, {six:+.1} % at λ = 6, and {seven:+.1} % at λ = 7"
            ),
            holds: Some(six.abs() < 2.0 && five.abs() < 2.0),
        },
    ])
}

pub(super) fn figure4(_: u64) -> VerbResult<Drawn> {
    let names = [
        "phase 1: heavy jobs",
        "phases 2 and 3 together",
        "phase 4: the last ℓ end",
    ];
    let parts = ["phase 1", "phase 2", "phase 3", "phase 4"];
    // A phase that is shorter than this does not exist.
    let some = |length: f64| Some(length).filter(|length| *length > 1e-9);
    let panel = |title: &str, threshold: usize| -> VerbResult<Panel> {
        let (mut exact, mut guesses) = (vec![Vec::new(); 3], vec![Vec::new(); 4]);
        for rate in FINE.map(|n| 0.25 * f64::from(n)) {
            let queue = queue(rate, threshold)?;
            for (points, phase) in exact.iter_mut().zip(queue.means()?.phases) {
                points.push((rate, some(phase)));
            }
            let guess = queue.approximation().map(|own| own.phases);
            for (n, points) in guesses.iter_mut().enumerate() {
                points.push((rate, guess.and_then(|own| some(own[n]))));
            }
        }
        let exact = izip!(names, [BLUE, PURPLE, GREEN], [Kind::Exact; 3], exact);
        let colors = [BLUE, VERMILLION, ORANGE, GREEN];
        let guesses = izip!(parts, colors, [Kind::Approximation; 4], guesses);
        let curves = exact.chain(guesses);
        let curves =
            curves.map(|(name, color, kind, points)| Curve::known(name, color, kind, points));
        let up = axis("mean length of a phase [s]", (0.01, 5000.0), true);
        let across = axis(ACROSS, (1.8, 7.8), false);
        Ok(Panel::new(title, across, up, curves.collect()))
    };
    let panels = vec![panel("MSF", 0)?, panel("MSFQ, ℓ = 31", MOST)?];
    let at = |n: usize, name| -> VerbResult<f64> {
        let length = panels[n].at(name, Kind::Exact, 7.5)?;
        Ok(if length.is_nan() { 0.0 } else { length })
    };
    let (msf, msfq) = (at(0, names[0])?, at(1, names[0])?);
    let finding = PaperFinding {
        place: "6.2",
        says: "if the phases for switching are shorter, the phases 1 and 2 are also much shorter",
        found: format!(
            "at λ = 7.5, the length of phase 1 is {msf:.0} s for MSF and {msfq:.1} s for MSFQ, and the length of the phases 2 and 3 is {:.0} s and {:.1} s",
            at(0, names[1])?,
            at(1, names[1])?
        ),
        holds: Some(msf > 10.0 * msfq),
    };
    let figure = sheet(4, (550, 560), 2, panels);
    Ok((vec![figure], vec![finding]))
}

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

const WEIGHTED: Part = |run| run.weighted_response;
const ALL: Part = |run| run.mean_response;

pub(super) fn figure5_and_8(events: u64) -> VerbResult<Drawn> {
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
    // As in the paper, figure 8 does not contain nMSR and adaptive MSR.
    let eight: Vec<&Sweep> = runs[..5].iter().chain(&filling).collect();
    let at = |own: &Sweep, part: Part| own.curve(part).at(4.75);
    // If there is no mean for a policy, it is slow. At least one of the policies has a mean.
    let mean = |found: Option<Estimate>| found.map_or(f64::INFINITY, |own| own.mean);
    let faster = |own: Option<Estimate>, other: Option<Estimate>, by: f64| {
        Some(own?.mean < by * other?.mean)
    };
    let [msf, first_fit, full, overlap, adaptive] = [0, 1, 2, 3, 4].map(|n| at(&runs[n], WEIGHTED));
    let least = |part: Part| {
        let others = runs[..5].iter().map(|own| at(own, part));
        others
            .min_by(|a, b| mean(*a).total_cmp(&mean(*b)))
            .flatten()
    };
    let filled = [WEIGHTED, ALL].map(|part| (at(&filling[0], part), least(part)));
    let [of_msf, of_first_fit, of_full, of_overlap, of_adaptive] =
        [msf, first_fit, full, overlap, adaptive].map(words);
    let [weighted, all] = filled.map(|(own, others)| (words(own), words(others)));
    let findings = vec![
        PaperFinding {
            place: "6.3, figure 5",
            says: "Static Quickswap and Adaptive Quickswap are better than MSF and First-Fit",
            found: format!(
                "at λ = 4.75, the weighted mean is {of_adaptive} for Adaptive Quickswap, {of_full} for Static Quickswap ({of_overlap} if the types overlap), {of_msf} for MSF, and {of_first_fit} for First-Fit"
            ),
            holds: [adaptive, full].iter().try_fold(true, |all, own| {
                let both = [msf, first_fit].map(|other| faster(*own, other, 1.0));
                Some(all && both[0]? && both[1]?)
            }),
        },
        PaperFinding {
            place: "D, figure 8",
            says: "ServerFilling is much better than all policies without preemption, with and without weights",
            found: format!(
                "at λ = 4.75, the weighted mean is {} compared with {} for the best of the other policies, and the mean of all jobs is {} compared with {}",
                weighted.0, weighted.1, all.0, all.1
            ),
            holds: filled.iter().try_fold(true, |all, (own, others)| {
                Some(all && faster(*own, *others, 0.8)?)
            }),
        },
    ];
    let figures = vec![
        sheet(5, (550, 560), 2, both(&five, 1.0)),
        sheet(8, (550, 560), 2, both(&eight, 0.8)),
    ];
    Ok((figures, findings))
}

/// There are only a few runs, but they are long, because a size can be up to 14 000 time units, and
/// a cycle can be up to 100 000 time units.
pub(super) fn figure6_and_7(events: u64) -> VerbResult<Drawn> {
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
        says: "if λ is high, Adaptive Quickswap and Static Quickswap are better by two orders of magnitude",
        found: format!(
            "at λ = 4, the weighted mean is {adaptive} for Adaptive Quickswap, {static_quickswap} for Static Quickswap, {msf} for MSF, and {first_fit} for First-Fit; the usual number of events is too small for MSF and First-Fit"
        ),
        holds: ratio.map(|(msf, adaptive)| msf.mean / adaptive.mean > 50.0),
    };
    let figures = vec![
        sheet(6, (900, 620), 1, vec![six]),
        sheet(7, (550, 500), 2, seven),
    ];
    Ok((figures, vec![finding]))
}
