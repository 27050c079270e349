use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools;

use super::proof::solved;
use super::route_and_rate::{self, RateSearch};
use super::{
    PHASE_LIMIT, SynthesisError, SynthesisOptions, SynthesisOutcome, first_draft, refused,
};
use crate::analysis::{self, AnalysisError, PaperBounds, mean_response, weighted_response};
use synth_multiresource::artifact::{MsrConfig, Route};
use synth_multiresource::workload::Workload;

/// The mean response times of a policy with one route and switching rate \[time\].
#[derive(Clone, Copy, Debug)]
pub struct SweepPoint {
    /// The route.
    pub route: Route,
    /// The switching rate α of the policy \[1/time\].
    pub switching_rate: f64,
    /// Exact `E[T]`; `None` if the chain is too large.
    pub mean_response: Option<f64>,
    /// Exact `Σ w_i E[T_i]`.
    pub weighted_response: Option<f64>,
    /// `E[T]` for the corrected lower bounds of theorem 8.
    pub lower: f64,
    /// `E[T]` for the approximation of section 6.4.
    pub approximation: f64,
    /// `E[T]` for the corrected upper bounds of theorem 8.
    pub upper: f64,
}

/// Returns the cost of each possible route at `points` switching rates on a logarithmic scale
/// around the best one, and at the best one itself. The schedules are those of the program, or of
/// `own` if it is given.
///
/// The result is empty if a single schedule can serve all types. At an interrupt or the deadline,
/// the points so far are returned. The function `begun` is called before the first point is
/// computed, after the program has been solved.
///
/// # Errors
/// Same as [`super::synthesize`]; also if no policy can stabilize the workload.
pub fn sweep_switching_rates(
    workload: &Workload,
    options: &SynthesisOptions,
    own: Option<MsrConfig>,
    points: usize,
    interrupt: &AtomicBool,
    begun: impl FnOnce(),
) -> Result<Vec<SweepPoint>, SynthesisError> {
    let solution = match solved(&workload.clone().into(), options)? {
        SynthesisOutcome::Policy(solution) => solution,
        SynthesisOutcome::Overloaded(overload) => {
            return refused(format!(
                "there is no known policy that stabilizes this workload: the load ρ is {}, but it must be less than 1. Use `synth --workload FILE --preemption full` to print the proof",
                overload.certificate.load
            ));
        }
    };
    let mut draft = first_draft(workload, options, &solution);
    if let Some(own) = own {
        (draft.schedules, draft.weights) = (own.schedules, own.weights);
        (draft.order, draft.rates) = (own.order, own.rates);
    }
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
            let bounds = analysis::bounds(workload, &modulation);
            let budget = options.work(POINT);
            let exact = match analysis::exact(workload, &modulation, options.preemption, budget) {
                Ok(numbers) => Some(numbers),
                Err(error @ AnalysisError::Unstable(_)) => return Err(error.into()),
                Err(_) => None,
            };
            let response = |number: fn(&PaperBounds) -> f64| {
                mean_response(&bounds.iter().map(number).collect_vec(), workload)
            };
            swept.push(SweepPoint {
                route,
                switching_rate,
                mean_response: exact.as_ref().map(|own| mean_response(own, workload)),
                weighted_response: exact.as_ref().map(|own| weighted_response(own, workload)),
                lower: response(|bounds| bounds.lower),
                approximation: response(|bounds| bounds.approximation),
                upper: response(|bounds| bounds.upper),
            });
        }
    }
    Ok(swept)
}

/// The work for each type and point at an effort of 1, roughly in nanoseconds.
const POINT: f64 = 1e9;
