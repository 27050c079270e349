//! Where the search begins: policies of each family, with knobs that were good somewhere.

use super::super::{MsfqOutlook, Options, Synthesis};
use super::chosen::ChoiceOptions;
use synth_multiresource::artifact::{
    AdaptiveMsrConfig, AdaptiveQuickswapConfig, EasyBackfillConfig, EasyByMeanConfig, Family,
    FirstFitConfig, LeastServersFirstConfig, MaxWeightConfig, MaxWeightSetupConfig,
    MostServersFirstConfig, Objective, Preemption, ReservingConfig, ServerFillingConfig,
    StaticQuickswapConfig, Switching, TdcConfig, TdcKnobs, TdcOrder,
};
use synth_multiresource::policy::{
    BackfillingConfig, Estimate, Learned, Placement, Priority, Reservations, ServerFilling,
    has_lengths, time_of_turns,
};
use synth_multiresource::schedule::worth;
use synth_multiresource::workload::Workload;

/// Servers up to which the best threshold is computed.
const AFFORDABLE: u32 = 128;

/// All of them with the preemption of the options, and what is not considered.
pub(super) fn all(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    msr: &Synthesis,
) -> (Vec<Family>, Vec<String>) {
    let (mut all, skipped) = match options.preemption {
        // Rules that stop jobs do not look at sizes: where these are known, one that stops none may do better.
        Preemption::Full => {
            let blind = full(workload, msr);
            let all = blind.into_iter().chain(by_priority(workload, None));
            (all.collect(), Vec::new())
        }
        Preemption::None | Preemption::Setup => draining(workload, options, choice, msr),
    };
    if let (Preemption::Setup, Some(rate)) = (options.preemption, options.setup_rate) {
        all.extend(with_setups(workload, rate, msr));
    }
    all.retain(|policy| choice.families.have(policy.name()));
    (all, skipped)
}

/// Those without preemption, and what is not considered.
fn draining(
    workload: &Workload,
    options: &Options,
    choice: &ChoiceOptions,
    msr: &Synthesis,
) -> (Vec<Family>, Vec<String>) {
    let mut starts: Vec<Family> = [
        Family::FirstFit(FirstFitConfig {}),
        Family::MostServersFirst(MostServersFirstConfig {}),
        Family::LeastServersFirst(LeastServersFirstConfig {}),
        Family::EasyByMean(EasyByMeanConfig {}),
        Family::AdaptiveQuickswap(AdaptiveQuickswapConfig {}),
        Family::Msr(msr.policy.clone()),
    ]
    .into();
    if workload.has_limits() {
        starts.push(Family::EasyBackfill(EasyBackfillConfig {}));
    }
    starts.extend(by_priority(workload, None));
    let mut skipped = Vec::new();
    starts.extend(adaptive_msr(workload, msr));
    starts.extend(tdc(workload, msr));
    starts.extend(reserving(workload, msr));
    match time_of_turns(workload) {
        time if time < 1.0 => starts.extend(static_quickswap(workload, options.objective)),
        time if choice.families.have("static-quickswap") => skipped.push(format!(
            "static-quickswap: its turns would take Σ λ_i/(μ_i c_i) = {time:.3} of the time, and only below 1 it is known to be stable"
        )),
        _ => {}
    }
    (starts, skipped)
}

/// Orders by what each job promises, where something is known of it; over a fleet with a placement. Ages count from a mean
/// size on.
pub(super) fn by_priority(workload: &Workload, placement: Option<Placement>) -> Vec<Family> {
    if !workload.has_limits() {
        return Vec::new();
    }
    let sizes = workload
        .types()
        .iter()
        .map(|t| t.arrival_rate() * t.mean_size());
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
            Family::Backfilling(BackfillingConfig {
                order,
                estimate: Estimate::Limit,
                learned: Learned::default(),
                reservations,
                longest_wait: None,
                placement,
            })
        })
    };
    [with(Reservations::First), with(Reservations::None)].concat()
}

/// The prices of the program's proof, such that the dearest of these schedules is worth 1.
fn prices(workload: &Workload, msr: &Synthesis) -> Vec<f64> {
    let prices = msr.solution.certificate.values(workload.types());
    let worths = msr.policy.schedules.iter().map(|u| worth(u, &prices));
    let dearest = worths.fold(0.0, f64::max);
    prices.iter().map(|p| p / dearest).collect()
}

/// Reservations that open early and late.
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

/// TDC with knobs that were good where sizes are alike, and where they are not. Tuning begins at the best of them. They are
/// within what `TdcConfig::check` accepts, some between two points of the grids of tuning (both in `policy/tdc`).
fn tdc(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let with = |(exponent, favour, reserve, margin, let_in, patience, order)| {
        Family::Tdc(TdcConfig {
            schedules: msr.policy.schedules.clone(),
            prices: prices(workload, msr),
            knobs: TdcKnobs {
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

/// The working schedules of the program, priced so that the most valuable is worth 1, with knobs that
/// were good on section 7 of the MSR paper at high and at low load, and on one-or-all for the mean and
/// for the weighted mean; and where some jobs take longer than others, with a price of drains: for the mean
/// where sizes spread widely and where they do not, and for the weighted mean.
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
    if has_lengths(workload) {
        starts.extend(draining.map(|knobs| with(false, knobs)));
    }
    if workload.has_limits() {
        starts.extend(by_limits.map(|knobs| with(true, knobs)));
    }
    starts
}

/// The published policy; and on a one-or-all system the one with the best threshold by exact analysis,
/// where that is affordable.
fn static_quickswap(workload: &Workload, objective: Objective) -> Vec<Family> {
    let published = StaticQuickswapConfig::published(workload);
    let mut starts = vec![Family::StaticQuickswap(published.clone())];
    let exact = MsfqOutlook::new(workload, objective);
    if let Some(outlook) = exact.filter(|o| o.system.servers <= AFFORDABLE)
        && let Some(threshold) = outlook.best()
    {
        let mut policy = published;
        policy.thresholds[outlook.system.light] = threshold as u32;
        starts.push(Family::StaticQuickswap(policy));
    }
    starts
}

/// Exponents a, and powers b of the service rates, that were good somewhere.
const WEIGHTS: [(f64, f64); 7] = [
    (0.25, 0.0),
    (0.25, 0.25),
    (0.5, 0.0),
    (0.5, 0.5),
    (0.1, 0.25),
    (0.25, 0.75),
    (1.0, 1.0),
];

/// Returns the candidates with full preemption.
fn full(workload: &Workload, msr: &Synthesis) -> Vec<Family> {
    let plain = MaxWeightConfig::plain(workload.types().len());
    let mut starts: Vec<Family> = vec![msr.policy.clone().into(), plain.into()];
    if workload.start_latency().is_none() && ServerFilling::new(workload).is_ok() {
        starts.push(ServerFillingConfig {}.into());
    }
    starts.extend(WEIGHTS.map(|weights| weighted(workload, msr, weights).into()));
    starts
}

/// At the prices of the program.
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

/// Eagerness and haste that were good somewhere.
const SETUPS: [(f64, f64); 3] = [(0.5, 0.35), (1.0, 0.2), (0.3, 1.0)];

/// With setups at this rate: those that preempt, beside all that do not.
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
