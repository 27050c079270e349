//! The initial candidates, with parameters that have worked well before.

use super::analysed::Analysed;
use super::options::{ChoiceOptions, Families};
use crate::synthesis::partition::Partitioned;
use crate::synthesis::{MsfqAnalysis, Synthesis, SynthesisOptions};
use synth_multiresource::artifact::{
    AdaptiveMsrConfig, AdaptiveQuickswapConfig, Family, MaxWeightConfig, MaxWeightSetupConfig,
    Objective, Preemption, ReservingConfig, ServerFillingConfig, StaticQuickswapConfig, Switching,
    TdcConfig, TdcOrder, TdcParameters, Zone,
};
use synth_multiresource::policy::{
    Backfilling, BackfillingConfig, Estimates, Priority, QueueOrder, Reservations, ServerFilling,
    TypeOrder, mean_sizes_differ, time_of_turns,
};
use synth_multiresource::schedule::{Packing, Schedule, schedule_value};
use synth_multiresource::workload::{Fleet, Workload};

/// The maximum number of servers for computing the best threshold.
const AFFORDABLE: u32 = 128;

/// Returns all candidates, and the families that are not considered, with reasons.
pub(super) fn all(
    fleet: &Fleet,
    options: &SynthesisOptions,
    choice: &ChoiceOptions,
    analysed: &Analysed,
) -> (Vec<Family>, Vec<String>) {
    if let Families::Fixed(policy) = &choice.families {
        return (vec![(**policy).clone()], Vec::new());
    }
    let (mut all, mut skipped) = (Vec::new(), Vec::new());
    let workload = fleet.envelope();
    let starts = match (analysed, options.preemption) {
        (Analysed::Fleet(_, slots), _) => pooled(fleet, slots.as_ref()),
        // Preemptive rules do not use sizes, so a nonpreemptive one may be better.
        (Analysed::Server(msr), Preemption::Full) => {
            [full(workload, msr), by_priority(workload, true)].concat()
        }
        (Analysed::Server(msr), Preemption::None | Preemption::Setup) => {
            let mut starts = draining(workload, msr);
            match time_of_turns(workload) {
                time if time < 1.0 => starts.extend(static_quickswap(workload, options.objective)),
                time if choice.families.have("static-quickswap") => skipped.push(format!(
                    "static-quickswap: its turns would take a fraction Σ λ_i/(μ_i c_i) = {time:.3} of the time, but it is only known to be stable if this is less than 1"
                )),
                _ => {}
            }
            let has_setups = options.preemption == Preemption::Setup;
            let rate = options.setup_rate.filter(|_| has_setups);
            let setups = rate.map(|rate| with_setups(workload, rate, msr));
            starts.extend(setups.into_iter().flatten());
            starts
        }
    };
    for policy in starts {
        let mut names = [policy.name(), policy.called()].into_iter();
        if names.any(|name| choice.families.have(name)) && !all.contains(&policy) {
            all.push(policy);
        }
    }
    (all, skipped)
}

pub(super) fn current_rules(
    workload: &Workload,
    options: &SynthesisOptions,
    analysed: &Analysed,
) -> Vec<Family> {
    match (analysed, options.preemption) {
        (Analysed::Fleet(..), _) => vec![backfilling(false, Backfilling::FIRST_FIT)],
        (_, Preemption::Full) => vec![MaxWeightConfig::plain(workload.types().len()).into()],
        _ => vec![
            backfilling(true, Backfilling::FIRST_FIT),
            backfilling(true, Backfilling::MOST_SERVERS_FIRST),
        ],
    }
}

fn backfilling(is_one_server: bool, choices: Backfilling) -> Family {
    BackfillingConfig::new(choices, is_one_server).into()
}

fn ordered(order: TypeOrder) -> Backfilling {
    Backfilling {
        order: QueueOrder::Types(order),
        ..Backfilling::MOST_SERVERS_FIRST
    }
}

/// Returns the nonpreemptive candidates, except Static Quickswap.
fn draining(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let mut starts = vec![
        backfilling(true, Backfilling::FIRST_FIT),
        backfilling(true, Backfilling::MOST_SERVERS_FIRST),
        backfilling(true, Backfilling::LEAST_SERVERS_FIRST),
        backfilling(true, Backfilling::easy(Estimates::Means)),
        Family::AdaptiveQuickswap(AdaptiveQuickswapConfig {}),
        Family::Msr(msr.policy.clone()),
    ];
    if workload.has_limits() {
        starts.push(backfilling(true, Backfilling::easy(Estimates::Limits)));
    }
    starts.extend(by_priority(workload, true));
    starts.extend(adaptive_msr(workload, msr));
    starts.extend(tdc(workload, msr));
    starts.extend(reserving(workload, msr));
    starts
}

fn by_priority(workload: &Workload, is_one_server: bool) -> Vec<Family> {
    if !workload.has_limits() {
        return Vec::new();
    }
    let types = workload.types().iter();
    let sizes = types.map(|t| t.arrival_rate() * t.mean_size());
    let offset = sizes.sum::<f64>() / workload.total_arrival_rate();
    let aging = |share| Priority {
        size: 1.0,
        share,
        age: 1.0,
        offset,
    };
    let orders = [
        Priority::SHORTEST,
        Priority::SMALLEST_AREA,
        aging(0.0),
        aging(1.0),
        Priority::wfp3(offset),
    ];
    let with = |reservations| {
        orders.map(|order| {
            let choices = Backfilling {
                order: QueueOrder::Jobs(order),
                reservations,
                ..Backfilling::easy(Estimates::Limits)
            };
            backfilling(is_one_server, choices)
        })
    };
    [with(Reservations::First), with(Reservations::None)].concat()
}

/// Scales the prices such that the worth of the most valuable schedule is 1.
fn prices(workload: &Workload, msr: &Synthesis) -> Vec<f64> {
    let prices = msr.solution.certificate.values(workload.types());
    let worth = |u: &Schedule| schedule_value(u, &prices);
    let dearest = msr.policy.schedules.iter().map(worth).fold(0.0, f64::max);
    prices.iter().map(|p| p / dearest).collect()
}

fn reserving(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let with = |limits, (worth, exhaust, let_in)| {
        Family::Reserving(ReservingConfig {
            prices: prices(workload, msr),
            worth,
            exhaust,
            let_in,
            limits,
        })
    };
    let by_means = [
        (1.0, 4.0, 0.3),
        (3.0, 4.0, 0.0),
        (3.0, 4.0, 1.3),
        (1.0, 100.0, 0.0),
        (9.0, 8.0, 0.3),
        (8.0, 100.0, 0.8),
    ];
    let by_limits = [(0.2, 1.0, 0.8), (1.0, 4.0, 0.8), (3.0, 4.0, 0.8)];
    let mut starts: Vec<Family> = by_means.map(|knobs| with(false, knobs)).into();
    if workload.has_limits() {
        starts.extend(by_limits.map(|knobs| with(true, knobs)));
    }
    starts
}

/// The parameters are within the ranges of `TdcConfig::check`.
fn tdc(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let with = |(exponent, favour, reserve, margin, let_in, patience, order)| {
        Family::Tdc(TdcConfig {
            schedules: msr.policy.schedules.clone(),
            prices: prices(workload, msr),
            knobs: TdcParameters {
                exponent,
                favour,
                reserve,
                margin,
                let_in,
                patience,
                order,
            },
        })
    };
    [
        (0.25, 0.0, 0.7, 0.1, 0.3, 1.0, TdcOrder::Worth),
        (0.3, 0.2, 0.85, 0.04, 1.3, 0.05, TdcOrder::Worth),
        (0.55, 0.46, 0.28, 0.07, 0.3, 0.1, TdcOrder::Worth),
        (0.6, 0.2, 0.0, 2.4, 0.5, 1.3, TdcOrder::Age),
        (1.0, 0.1, 0.0, 0.04, 1.3, 2.0, TdcOrder::Worth),
        (1.0, 0.0, 0.0, 2.4, 0.5, 1.0, TdcOrder::Age),
    ]
    .map(with)
    .into()
}

/// The parameters worked well for section 7 of the MSR paper and for one-or-all systems. If the
/// types have different sizes, there is also a price for drains.
fn adaptive_msr(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let most = msr.policy.schedules.iter().map(|u| u.iter().sum::<u32>());
    let most = f64::from(most.max().expect("a policy has a schedule"));
    let part = |of: f64| (10.0 * of * most).round() / 10.0;
    let with = |limits, [waste, margin, floor, patience, drain, let_in]: [f64; 6]| {
        Family::AdaptiveMsr(AdaptiveMsrConfig {
            limits,
            schedules: msr.policy.schedules.clone(),
            prices: prices(workload, msr),
            switching: Switching {
                waste,
                margin,
                floor,
                patience,
                drain,
                let_in,
            },
        })
    };
    let plain = [
        [0.5, 0.25, part(1.0), 0.5, 0.0, 0.0],
        [0.5, 0.0, part(0.4), 2.0, 0.0, 0.0],
        [0.2, 0.5, part(1.2), 0.0, 0.0, 0.0],
        [0.5, 0.5, 1e3, 0.0, 0.0, 0.0],
    ];
    let draining = [
        [0.5, 0.25, part(1.0), 0.0, 1.0, 0.3],
        [0.2, 0.5, part(1.2), 0.1, 3.0, 1.3],
        [0.5, 0.5, 1e3, 0.0, 1.0, 0.3],
    ];
    let by_limits = [
        [0.5, 0.25, part(1.0), 0.0, 0.0, 0.8],
        [0.5, 0.25, part(1.0), 0.0, 1.0, 0.8],
        [0.2, 0.5, part(1.2), 0.1, 3.0, 0.8],
    ];
    let mut starts: Vec<Family> = plain.map(|knobs| with(false, knobs)).into();
    if mean_sizes_differ(workload) {
        starts.extend(draining.map(|knobs| with(false, knobs)));
    }
    if workload.has_limits() {
        starts.extend(by_limits.map(|knobs| with(true, knobs)));
    }
    starts
}

fn static_quickswap(workload: &Workload, objective: Objective) -> Vec<Family> {
    let published = StaticQuickswapConfig::published(workload);
    let mut starts = vec![Family::StaticQuickswap(published.clone())];
    let exact = MsfqAnalysis::new(workload, objective);
    if let Some(outlook) = exact.filter(|o| o.system.servers <= AFFORDABLE)
        && let Some(threshold) = outlook.best()
    {
        let mut policy = published;
        policy.thresholds[outlook.system.light] = threshold as u32;
        starts.push(Family::StaticQuickswap(policy));
    }
    starts
}

const WEIGHTS: [(f64, f64); 7] = [
    (0.25, 0.0),
    (0.25, 0.25),
    (0.5, 0.0),
    (0.5, 0.5),
    (0.1, 0.25),
    (0.25, 0.75),
    (1.0, 1.0),
];

fn full(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let plain = MaxWeightConfig::plain(workload.types().len());
    let mut starts: Vec<Family> = vec![msr.policy.clone().into(), plain.into()];
    if workload.start_latency().is_none() && ServerFilling::new(workload).is_ok() {
        starts.push(ServerFillingConfig {}.into());
    }
    starts.extend(WEIGHTS.map(|weights| weighted(workload, msr, weights).into()));
    starts
}

fn weighted(
    workload: &Workload,
    msr: &Synthesis,
    (exponent, power): (f64, f64),
) -> MaxWeightConfig {
    let prices = MaxWeightConfig {
        worths: prices(workload, msr),
        exponent,
    };
    let speeds = workload.types().iter();
    prices.times(speeds.map(|t| t.service_rate().powf(power)))
}

const SETUPS: [(f64, f64); 3] = [(0.5, 0.35), (1.0, 0.2), (0.3, 1.0)];

fn with_setups(workload: &Workload, setup_rate: f64, msr: &Synthesis) -> Vec<Family> {
    let starts = SETUPS.iter().flat_map(|(eagerness, haste)| {
        WEIGHTS[..4].iter().map(|weights| MaxWeightSetupConfig {
            weights: weighted(workload, msr, *weights),
            setup_rate,
            eagerness: *eagerness,
            haste: *haste,
        })
    });
    starts.map(Family::from).collect()
}

fn pooled(fleet: &Fleet, slots: Option<&Partitioned>) -> Vec<Family> {
    let keeping = |order, reserve| BackfillingConfig {
        reserve,
        ..BackfillingConfig::new(ordered(order), false)
    };
    let mut starts: Vec<Family> = [
        Backfilling::FIRST_FIT,
        ordered(TypeOrder::Arrival),
        Backfilling::MOST_SERVERS_FIRST,
        Backfilling::LEAST_SERVERS_FIRST,
        Backfilling::FCFS,
    ]
    .map(|choices| backfilling(false, choices))
    .into();
    let reserves = [
        (TypeOrder::Arrival, 0.7),
        (TypeOrder::Arrival, 1.0),
        (TypeOrder::Arrival, 1.3),
        (TypeOrder::Arrival, 1.5),
        (TypeOrder::Largest, 0.85),
    ];
    starts.extend(reserves.map(|(order, reserve)| keeping(order, reserve).into()));
    for zone in zones(fleet) {
        let with_zone = |order| BackfillingConfig {
            zone: Some(zone.clone()),
            ..keeping(order, 0.0)
        };
        let orders = [TypeOrder::Arrival, TypeOrder::Largest];
        starts.extend(orders.map(|order| with_zone(order).into()));
    }
    starts.push(backfilling(false, Backfilling::easy(Estimates::Means)));
    if fleet.envelope().has_limits() {
        starts.push(backfilling(false, Backfilling::easy(Estimates::Limits)));
    }
    starts.extend(by_priority(fleet.envelope(), false));
    let exact = slots.filter(|own| own.numbers.is_some());
    starts.extend(exact.map(|own| own.policy.clone().into()));
    starts
}

const SPLITS: usize = 3;

/// The ratio of the number of servers in a zone to the mean number of busy servers.
const SPARE: f64 = 1.1;

/// Returns zones for the largest types, with a few spare servers, if the other types run longer. A
/// zone is on the shape with the most servers of all on which its types fit.
fn zones(fleet: &Fleet) -> Vec<Zone> {
    let types = fleet.types();
    let shares = fleet.envelope().dominant_shares();
    let size = |i: usize| f64::from(types[i].nodes()) * shares[i];
    let mut descending: Vec<usize> = (0..types.len()).collect();
    descending.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    let packing = Packing::new(fleet.envelope());
    let zone = |count: usize| {
        let (kept, others) = descending.split_at(count);
        let longest = |of: &[usize]| of.iter().map(|i| types[*i].mean_size()).fold(0.0, f64::max);
        let apart = size(kept[count - 1]) > size(others[0]) && longest(others) > longest(kept);
        let fitting = |h: usize, i: usize| packing.max_jobs_in(i, &fleet.units(h));
        let all_fit = |h: &usize| kept.iter().all(|i| fitting(*h, *i) > 0);
        let shapes = (0..fleet.shapes().len()).filter(all_fit);
        let largest = shapes.max_by_key(|h| fleet.shapes()[*h].count());
        let home = largest.filter(|_| apart)?;
        let busy = |i: &usize| types[*i].offered_tasks() / f64::from(fitting(home, *i));
        let busy: f64 = kept.iter().map(busy).sum();
        let mut servers = vec![0; fleet.shapes().len()];
        servers[home] = ((SPARE * busy).ceil() as u32).min(fleet.shapes()[home].count());
        Some(Zone {
            types: kept.to_vec(),
            servers,
        })
    };
    (1..types.len()).filter_map(zone).take(SPLITS).collect()
}
