use super::super::curve::{
    BLUE, Curve, GREEN, GREY, Kind, ORANGE, PURPLE, Panel, SKY, VERMILLION, axis, sheet,
};
use super::super::rules::{
    Plan, Rule, Sweep, first_fit, model, named, nmsr_with_backfilling, plain, sweep, tuned, words,
};
use super::super::{Drawn, PaperFinding};
use super::jobs;
use super::theory::{Placed, at_load, full, total};
use synth::kind::VerbResult;
use synth::multiresource::artifact::Preemption;
use synth::multiresource::workload::Workload;

const LOADS: [f64; 12] = [
    0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.88, 0.9, 0.91, 0.92, 0.935, 0.95,
];

fn pmsr_with_backfilling(switching_rate: Option<f64>) -> Plan {
    let rule = Rule::Msr(Preemption::Full, switching_rate, true);
    ("pMSR with backfilling", SKY, rule)
}

pub(in crate::figures) fn figure4(events: u64) -> VerbResult<Drawn> {
    let of_msr = |preemption| -> VerbResult<Vec<Placed>> {
        let placed = LOADS.map(|load| -> VerbResult<Placed> {
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
        pmsr_with_backfilling(None),
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
        let across = axis("load ρ (no policy is stable at 1)", (0.38, 0.98), false);
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
    let at = |load, of: &[Placed]| -> VerbResult<f64> {
        let found = of.iter().find(|own| own.0 == load).ok_or("no such load")?;
        Ok(total(&found.1, &found.2)?.exact)
    };
    let findings = vec![
        PaperFinding {
            place: "7.4",
            says: "First-Fit is not stable if the load is larger than about 0.9",
            found: missing.map_or("there is a mean for each load".into(), |load| {
                format!("there is no mean if the load is {load} or more")
            }),
            holds: missing
                .filter(|load| **load >= 0.88)
                .map(|load| *load < 0.93),
        },
        PaperFinding {
            place: "7.4",
            says: "First-Fit performs well if the load is less than 0.9",
            found: format!(
                "at a load of 0.8, the mean number is {} for First-Fit, {:.1} for pMSR and {:.1} for nMSR, both without backfilling",
                words(first_fit.at(0.8)),
                at(0.8, &preemptive)?,
                at(0.8, &patient)?
            ),
            holds: first_fit.at(0.8).map(|_| true),
        },
        PaperFinding {
            place: "7.4",
            says: "nMSR is the best policy without preemption if the load is high",
            found: format!(
                "at a load of 0.9, the mean number is {} for First-Fit, {:.1} for nMSR, and {} for nMSR with backfilling",
                words(first_fit.at(0.9)),
                at(0.9, &patient)?,
                words(backfilling.at(0.9))
            ),
            holds: (first_fit.at(0.9).zip(backfilling.at(0.9))).map(|(f, n)| n.mean < f.mean),
        },
    ];
    let figure = sheet(4, (500, 640), 2, panels);
    Ok((vec![figure], findings))
}

/// The mean response times of figure 5 in seconds, computed from the results that the authors
/// saved. Each line is a rule with its values for the downsampling factors from 0.1 to 0.9.
const PUBLISHED: &str = include_str!("borg.csv");

const COLORS: [usize; 6] = [VERMILLION, SKY, GREEN, ORANGE, PURPLE, GREY];

const SIMULATED: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 0.9];

/// On average, the arrival rate is ten times as high for ten minutes in every hour.
const BURSTS: &str =
    "modulation: {factors: [1, 10], switching: [[0, 3.3e-4], [1.67e-3, 0]]}\nserver:";

fn published() -> VerbResult<Vec<Curve>> {
    let curve = |(line, color): (&str, usize)| {
        let (label, means) = line.split_once(',').ok_or("a rule without means")?;
        let points = means.split(',').zip(1..).map(|(mean, tenths)| {
            let mean: f64 = mean.parse()?;
            Ok((0.1 * f64::from(tenths), Some(mean)))
        });
        let points = points.collect::<VerbResult<Vec<_>>>()?;
        let label = format!("{label}, published");
        Ok(Curve::known(label, color, Kind::Path, points))
    };
    PUBLISHED.lines().zip(COLORS).map(curve).collect()
}

pub(in crate::figures) fn figure5(events: u64) -> VerbResult<Drawn> {
    let steady = model!("borg_top10");
    let text = include_str!("../../../../models/borg_top10.yaml");
    let bursty = Workload::parse(&text.replace("server:", BURSTS), "bursts")?.workload;
    let plans = || -> Vec<Plan> {
        vec![
            first_fit(),
            pmsr_with_backfilling(Some(0.1)),
            ("pMSR", GREEN, Rule::Msr(Preemption::Full, Some(0.1), false)),
            ("MaxWeight", PURPLE, named("max-weight")),
        ]
    };
    let over = |model: &Workload| {
        let scene = |load: f64| Ok(model.scaled(load / 0.907_665)?);
        sweep(scene, plans(), &SIMULATED, (events / 5, 8))
    };
    let (steady, bursty) = (over(&steady)?, over(&bursty)?);
    let published = published()?;
    let panel = |title: &str, curves: Vec<Curve>| {
        let up = axis("mean response time [s]", (200.0, 2e5), true);
        Panel::new(title, axis("load ρ", (0.05, 0.95), false), up, curves)
    };
    let curve = |own: &Sweep| own.curve(|run| run.mean_response);
    let of = |sweeps: &[Sweep]| sweeps.iter().map(curve).collect();
    let mean = |sweeps: &[Sweep], n: usize| curve(&sweeps[n]).at(0.8);
    let three = |sweeps: &[Sweep]| {
        let [first_fit, pmsr, max_weight] = [0, 2, 3].map(|n| words(mean(sweeps, n)));
        format!("{pmsr} compared with {first_fit} and {max_weight}")
    };
    let holds = |sweeps: &[Sweep]| {
        let [first_fit, pmsr, max_weight] = [0, 2, 3].map(|n| mean(sweeps, n).map(|own| own.mean));
        Some(pmsr? < first_fit?.min(max_weight?))
    };
    let own = |n: usize| published[n].at(0.8).map_or(f64::NAN, |own| own.mean);
    let [f, p, m] = [0, 2, 4].map(own);
    let [less, less_than_m] = [f, m].map(|other| 100.0 * (1.0 - p / other));
    let saved = format!(
        "in the results of the authors, this is {p} compared with {f} and {m} s, which is {less:.0} and {less_than_m:.0} % less"
    );
    let poisson = format!("if the arrivals are Poisson, this is {} s", three(&steady));
    let in_bursts = format!("if there are bursts, this is {} s", three(&bursty));
    let found = [
        (saved, Some(true)),
        (poisson, holds(&steady)),
        (in_bursts, holds(&bursty)),
    ];
    let findings = found.map(|(found, holds)| PaperFinding {
        place: "8.3, figure 5",
        says: "at a load of 0.8, pMSR is better than First-Fit by 40 % and better than MaxWeight by 15 %",
        found,
        holds,
    });
    let findings = findings.into();
    let panels = vec![
        panel("as published, on the trace", published),
        panel("stationary: Poisson arrivals", of(&steady)),
        panel("in bursts of ten minutes", of(&bursty)),
    ];
    let figure = sheet(5, (440, 600), 3, panels);
    Ok((vec![figure], findings))
}
