use std::sync::atomic::{AtomicBool, Ordering};

use super::proof::solved;
use super::route_and_rate::{self, RateSearch};
use super::{
    PHASE_LIMIT, SynthesisError, SynthesisOptions, SynthesisOutcome, first_draft, refused,
};
use crate::analysis::{self, AnalysisError, Cost, PaperBounds, TypeQueue};
use synth_multiresource::artifact::Route;
use synth_multiresource::workload::Workload;

/// A policy's cost at one switching rate on one route: mean response times \[time\].
#[derive(Clone, Copy, Debug)]
pub struct SweepPoint {
    /// The route.
    pub route: Route,
    /// α [1/time].
    pub switching_rate: f64,
    /// `E[T]`, exactly; `None` where the chain is too large.
    pub mean_response: Option<f64>,
    /// `Σ w_i E[T_i]`, exactly.
    pub weighted_response: Option<f64>,
    /// `E[T]` at theorem 8's lower bounds, corrected.
    pub lower: f64,
    /// `E[T]` by section 6.4's approximation.
    pub approximation: f64,
    /// `E[T]` at theorem 8's upper bounds, corrected.
    pub upper: f64,
}

/// The cost over the switching rate, `points` rates for each route that the options leave, on a
/// logarithmic scale around the best, and the best itself as a synthesis finds it; none where one schedule serves all types. Once the flag is set, or the time is
/// over that the options give, those that were evaluated: `begun` is called when the program is solved, before which there are none.
///
/// # Errors
/// As [`super::synthesize`], and where no policy can stabilize the workload.
pub fn sweep(
    workload: &Workload,
    options: &SynthesisOptions,
    points: usize,
    interrupt: &AtomicBool,
    begun: impl FnOnce(),
) -> Result<Vec<SweepPoint>, SynthesisError> {
    let solution = match solved(&workload.clone().into(), options)? {
        SynthesisOutcome::Policy(solution) => solution,
        SynthesisOutcome::Overloaded(overload) => {
            return refused(format!(
                "no policy can be said to stabilize this workload: load ρ = {}, and it must be below 1; `synth --workload FILE --preemption full` has the proof",
                overload.certificate.load
            ));
        }
    };
    let draft = first_draft(workload, options, &solution);
    if draft.order.len() == 1 {
        return Ok(Vec::new());
    }
    begun();
    let mut swept = Vec::new();
    for route in route_and_rate::candidates(options) {
        let search = RateSearch::new(workload, options, &draft, route, PHASE_LIMIT)?;
        let Some(mut search) = search else { continue };
        let (low, high) = search.range();
        let rate = |k: usize| low * (high / low).powf(k as f64 / (points - 1).max(1) as f64);
        let best = search.best_rate()?;
        let mut rates = Vec::from_iter((0..points).map(rate).chain(best));
        rates.sort_by(f64::total_cmp);
        for switching_rate in rates {
            if interrupt.load(Ordering::Relaxed) || options.left().is_zero() {
                return Ok(swept);
            }
            let modulation = search.modulation.at(switching_rate);
            let types = 0..workload.types().len();
            let queue = |i| TypeQueue::new(workload, &modulation, options.preemption, i);
            let bounds: Vec<_> = types.map(|i| queue(i).bounds()).collect();
            let budget = options.work(POINT);
            let exact = match analysis::exact(workload, &modulation, options.preemption, budget) {
                Ok(cost) => Some(cost),
                Err(error @ AnalysisError::Unstable(_)) => return Err(error.into()),
                Err(_) => None,
            };
            let response = |number: fn(&PaperBounds) -> f64| {
                let numbers = bounds.iter().map(number).collect();
                Cost { numbers }.mean_response(workload)
            };
            swept.push(SweepPoint {
                route,
                switching_rate,
                mean_response: exact.as_ref().map(|cost| cost.mean_response(workload)),
                weighted_response: exact.as_ref().map(|cost| cost.weighted_response(workload)),
                lower: response(|bounds| bounds.lower),
                approximation: response(|bounds| bounds.approximation),
                upper: response(|bounds| bounds.upper),
            });
        }
    }
    Ok(swept)
}

/// Work that goes into one type at one point at effort 1, roughly in nanoseconds.
const POINT: f64 = 1e9;
