use super::super::PaperFinding;
use super::super::curve::{Curve, Kind};
use super::super::rules::{model, of_events, plain, tuned};
use synth::ctmc::RelativeCompletions;
use synth::kind::VerbResult;
use synth::multiresource::analysis::TypeQueue;
use synth::multiresource::artifact::{Family, MsrConfig, Preemption, Route};
use synth::multiresource::modulation::Modulation;
use synth::multiresource::simulator::Contender;
use synth::multiresource::synthesis::{PHASE_LIMIT, SynthesisOptions};
use synth::multiresource::workload::Workload;
use synth::simulation::Estimate;

#[derive(Clone, Copy, Default)]
pub(super) struct Theory {
    pub lower: f64,
    pub exact: f64,
    pub approximation: f64,
    pub upper: f64,
}

pub(super) fn total(workload: &Workload, policy: &MsrConfig) -> VerbResult<Theory> {
    let modulation = Modulation::new(workload, policy, PHASE_LIMIT)?;
    let mut total = Theory::default();
    for i in 0..workload.types().len() {
        let queue = TypeQueue::new(workload, &modulation, policy.preemption, i);
        let bounds = queue.bounds();
        total.lower += bounds.lower;
        total.exact += queue.mean_number(f64::INFINITY)?;
        total.approximation += bounds.approximation;
        total.upper += bounds.upper;
    }
    Ok(total)
}

/// Scales the model, which has a load of 0.9.
pub(super) fn at_load(load: f64) -> VerbResult<Workload> {
    Ok(model!("section7").scaled(load / 0.9)?)
}

pub(super) fn at_rate(policy: &MsrConfig, switching_rate: f64) -> MsrConfig {
    MsrConfig {
        switching_rate,
        ..policy.clone()
    }
}

pub(super) fn smsr(workload: &Workload, gamma: f64) -> VerbResult<MsrConfig> {
    let options = SynthesisOptions {
        setup_rate: Some(gamma),
        ..plain(Preemption::Setup, None)
    };
    Ok(tuned(workload, &options)?.0)
}

pub(super) fn spread(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = (high / low).ln() / (count - 1) as f64;
    (0..count).map(|k| low * (step * k as f64).exp()).collect()
}

pub(super) type Placed = (f64, Workload, MsrConfig);

pub(super) fn exact(label: &str, color: usize, policies: &[Placed]) -> VerbResult<Curve> {
    let point = |(at, w, policy): &Placed| Ok((*at, Some(total(w, policy)?.exact)));
    let points = policies.iter().map(point).collect::<VerbResult<Vec<_>>>()?;
    Ok(Curve::known(label, color, Kind::Exact, points))
}

/// Every `step`-th policy is also simulated.
pub(super) fn full(
    label: &str,
    color: usize,
    policies: &[Placed],
    (step, events): (usize, u64),
) -> VerbResult<Vec<Curve>> {
    let theory = |(at, w, policy): &Placed| Ok((*at, total(w, policy)?));
    let theory = policies.iter().map(theory);
    let theory = theory.collect::<VerbResult<Vec<_>>>()?;
    let of = |kind, part: fn(&Theory) -> f64| {
        let points = theory.iter().map(|(at, own)| (*at, Some(part(own))));
        Curve::known(label, color, kind, points)
    };
    let bounds = theory.iter().map(|(at, own)| {
        let between = Estimate {
            half_width: 0.5 * (own.upper - own.lower),
            ..Estimate::exact(0.5 * (own.upper + own.lower))
        };
        (*at, Some(between))
    });
    let mut checks = Vec::new();
    for (n, (at, workload, policy)) in policies.iter().enumerate() {
        if n % step == step / 2 {
            let settings = of_events(events, n as u64 + 1);
            let rule = Contender::from(Family::Msr(policy.clone()));
            checks.push((*at, rule.simulate(workload, &settings, |_| ())?.mean_number));
        }
    }
    Ok(vec![
        Curve::new(label, color, Kind::Bounds, bounds.collect()),
        of(Kind::Approximation, |own| own.approximation),
        of(Kind::Exact, |own| own.exact),
        Curve::new(label, color, Kind::Check, checks),
    ])
}

/// Counts the means that are outside of the bounds in theorem 8, for all routes, 41 rates and all
/// types. In the paper, the theorem uses the distribution of the states *before* a completion.
pub(super) fn theorem8(workload: &Workload, load: f64) -> VerbResult<PaperFinding> {
    let (mut all, mut printed, mut corrected) = (0, 0, 0);
    for route in Route::ALL {
        let (policy, found) = tuned(workload, &plain(Preemption::None, Some(route)))?;
        for rate in spread(0.01, (0.97 * found.largest).min(100.0), 41) {
            let modulation = Modulation::new(workload, &at_rate(&policy, rate), PHASE_LIMIT)?;
            for i in 0..workload.types().len() {
                let own = TypeQueue::new(workload, &modulation, Preemption::None, i);
                let (queue, bounds) = (&own.queue, own.bounds());
                let ahead = RelativeCompletions::new(queue).relative;
                let states = queue.environment().stationary_distribution();
                let served = states.iter().zip(queue.servers());
                let flow = served.map(|(p, u)| p * f64::from(*u) * queue.service_rate());
                let before = flow.zip(&ahead).map(|(f, a)| f * a).sum::<f64>() / queue.capacity();
                let primary = (bounds.load + before) / (1.0 - bounds.load);
                let (least, most) = bounds.relative_range;
                let upper = primary - least + f64::from(queue.max_servers());
                let exact = own.mean_number(f64::INFINITY)?;
                let excludes = |lower: f64, upper: f64| {
                    lower > exact * (1.0 + 1e-9) || upper < exact * (1.0 - 1e-9)
                };
                all += 1;
                printed += u32::from(excludes(primary - most, upper));
                corrected += u32::from(excludes(bounds.lower, bounds.upper));
            }
        }
    }
    Ok(PaperFinding {
        place: "theorem 8",
        says: "these are bounds on E[Q_i] for nMSR",
        found: format!(
            "at a load of {load}, {printed} of {all} means are outside of the bounds in the paper, and {corrected} are outside of the corrected bounds"
        ),
        holds: Some(printed == 0),
    })
}
