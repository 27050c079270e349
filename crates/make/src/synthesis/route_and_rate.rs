//! The route and the switching rate with the lowest cost, which is exact if the effort allows.

use itertools::Itertools;

use super::claims::DISTRIBUTIONS;
use super::minimum::minimum;
use super::{PHASE_LIMIT, PHASES_OF_TYPES, SynthesisError, SynthesisOptions, mean_size, refused};
use crate::analysis::{self, AnalysisError, PaperBounds};
use crate::modulation::{Modulation, ModulationError};
use synth_multiresource::artifact::{Drain, Method, MsrConfig, Preemption, Route};
use synth_multiresource::workload::Workload;

/// The work for tuning at an effort of 1, roughly in nanoseconds.
const TUNING: f64 = 1.5e9;

/// Evaluations that need less work than this (1 ms) are not avoided.
const CHEAP: f64 = 1e6;

/// The evaluations in a search, and the precision of `ln α`. The last resort is the prediction.
const EVALUATIONS: [(f64, f64); 3] = [(40.0, 1e-6), (10.0, 1e-2), (6.0, 5e-2)];

/// The factor by which a mere prediction must be better than the best exact result of a route.
const WORTH_A_GUESS: f64 = 1.25;

/// The results for a single route.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// The route.
    pub route: Route,
    /// The supremum of the switching rates that are stable \[1/time\].
    pub largest: f64,
    /// The switching rate that was requested, or the best rate \[1/time\].
    pub rate: f64,
    /// The value of the objective at that rate \[time\]. It is infinite if the policy is unstable.
    pub value: f64,
    /// How the value was found.
    pub method: Method,
    /// Whether the effort is sufficient to compute the exact means at this rate.
    pub within_reach: bool,
    /// The best switching rate and its value, computed with the approximation of section 6.4.
    pub predicted: (f64, f64),
}

impl Outlook {
    fn is_exact(&self) -> bool {
        self.method != Method::ApproximationQueueLength
    }
}

/// Returns the policy with the best route and switching rate, and the results for all routes,
/// except those whose chains are too large or that were not tried in time.
pub(super) fn with_best_route(
    workload: &Workload,
    options: &SynthesisOptions,
    draft: MsrConfig,
) -> Result<(MsrConfig, Vec<Outlook>), SynthesisError> {
    let mut searches: Vec<RateSearch<'_>> = Vec::new();
    for route in candidates(options) {
        let limit = match route.drain {
            _ if !searches.is_empty() && options.left().is_zero() => 0,
            Drain::Sequential => PHASE_LIMIT,
            Drain::Concurrent => PHASE_LIMIT.min(PHASES_OF_TYPES / workload.types().len()),
        };
        searches.extend(RateSearch::new(workload, options, &draft, route, limit)?);
    }
    let value = |search: &RateSearch<'_>| search.outlook.value;
    let (mut budget, mut best_exact) = (options.work(TUNING), f64::INFINITY);
    let ascending = |a: &&mut _, b: &&mut _| value(a).total_cmp(&value(b));
    for search in searches.iter_mut().sorted_by(ascending) {
        budget -= search.refine(budget, best_exact)?;
        if search.outlook.is_exact() {
            best_exact = best_exact.min(search.outlook.value);
        }
    }
    // Sequential routes always have an outlook, or an error has been returned.
    let best = best_route(&mut searches)?.ok_or(ModulationError::TooLarge(PHASE_LIMIT))?;
    let outlook = &searches[best].outlook;
    if outlook.rate >= outlook.largest {
        let instead = match draft.rates {
            None => "remove --switching-rate or use a lower value",
            Some(_) => "divide all rates by the same number",
        };
        return refused(format!(
            "the policy is unstable at a switching rate of {}, because too much time is spent on routes. The rate must be less than {:.6} (route {}). To fix this, {instead}",
            outlook.rate, outlook.largest, outlook.route
        ));
    }
    let policy = MsrConfig {
        route: outlook.route,
        switching_rate: outlook.rate,
        ..draft
    };
    let routes = searches.into_iter().map(|search| search.outlook);
    Ok((policy, routes.collect()))
}

/// Returns the index of the best route. If this is only a prediction and another route has an exact
/// value, it is evaluated exactly first, as far as the effort allows.
fn best_route(searches: &mut [RateSearch<'_>]) -> Result<Option<usize>, SynthesisError> {
    loop {
        let exact = searches.iter().filter(|search| search.outlook.is_exact());
        // This is the error of the approximation for the routes with an exact value.
        let missed = exact.map(|search| search.outlook.value / search.outlook.predicted.1);
        let factor = missed.clone().fold(1.0, f64::max);
        let none_is_exact = missed.count() == 0;
        let rank = |search: &RateSearch<'_>| match &search.outlook {
            outlook if outlook.is_exact() => outlook.value,
            outlook if outlook.within_reach => factor * outlook.value,
            outlook => WORTH_A_GUESS * factor * outlook.value,
        };
        let ranks = searches.iter().map(rank).enumerate();
        let Some((best, _)) = ranks.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(None);
        };
        let outlook = &searches[best].outlook;
        let is_unseen = !outlook.is_exact() && outlook.within_reach && outlook.value.is_finite();
        if none_is_exact || !is_unseen {
            return Ok(Some(best));
        }
        searches[best].take_exact()?;
        searches[best].outlook.within_reach = searches[best].outlook.is_exact();
    }
}

pub(super) fn candidates(options: &SynthesisOptions) -> Vec<Route> {
    let all = Route::ALL.to_vec();
    let mut routes = options.route.map_or(all, |route| vec![route]);
    if options.preemption == Preemption::Full {
        routes.truncate(1);
    }
    routes
}

pub(super) struct RateSearch<'a> {
    workload: &'a Workload,
    options: &'a SynthesisOptions,
    pub modulation: Modulation,
    /// The results so far. The initial value is the prediction.
    outlook: Outlook,
}

impl<'a> RateSearch<'a> {
    /// Returns a search along a route; `None` if its chain is too large and not required.
    pub(super) fn new(
        workload: &'a Workload,
        options: &'a SynthesisOptions,
        draft: &MsrConfig,
        route: Route,
        limit: usize,
    ) -> Result<Option<Self>, ModulationError> {
        let policy = MsrConfig {
            route,
            ..draft.clone()
        };
        let modulation = match Modulation::new(workload, &policy, limit) {
            Err(ModulationError::TooLarge(_)) if options.route.is_none() => return Ok(None),
            modulation => modulation?,
        };
        let mut search = RateSearch {
            workload,
            options,
            outlook: Outlook {
                route,
                largest: modulation.largest_stable_rate(workload),
                rate: f64::NAN,
                value: f64::INFINITY,
                method: Method::ApproximationQueueLength,
                within_reach: false,
                predicted: (f64::NAN, f64::INFINITY),
            },
            modulation,
        };
        search.predict();
        Ok(Some(search))
    }

    fn predict(&mut self) {
        let start = (0.5 / mean_size(self.workload)).min(0.5 * self.outlook.largest);
        // An infinite value ends the search.
        let in_time = |rate: f64| match self.options.left().is_zero() {
            true => f64::INFINITY,
            false => self.approximation(rate),
        };
        let predicted = match self.fixed_rate().filter(|_| self.is_free()) {
            Some(rate) => (rate, self.approximation(rate)),
            None => minimum(in_time, start, self.ceiling(), 1e-4),
        };
        let rate = self.fixed_rate().unwrap_or(predicted.0);
        (self.outlook.predicted, self.outlook.rate) = (predicted, rate);
        if rate < self.outlook.largest {
            self.outlook.value = self.approximation(rate);
        }
    }

    /// Returns an upper limit for the search. It is high, because for short setups and types of
    /// very different sizes, it can be useful to switch thousands of times per job.
    fn ceiling(&self) -> f64 {
        let most = super::RATES.end() / mean_size(self.workload);
        self.outlook.largest.min(most)
    }

    pub(super) fn range(&self) -> (f64, f64) {
        let best = self.outlook.rate;
        (best / 30.0, (best * 30.0).min(0.98 * self.outlook.largest))
    }

    /// Returns the best switching rate, or `None` if switching is free.
    pub(super) fn best_rate(&mut self) -> Result<Option<f64>, SynthesisError> {
        if self.is_free() {
            return Ok(None);
        }
        self.refine(self.options.work(TUNING), f64::INFINITY)?;
        Ok(Some(self.outlook.rate))
    }

    fn value(&self, numbers: &[f64]) -> f64 {
        analysis::value(numbers, self.workload, self.options.objective)
    }

    fn approximation(&self, rate: f64) -> f64 {
        self.by_bounds(rate, |bounds| bounds.approximation)
    }

    fn by_bounds(&self, rate: f64, number: fn(&PaperBounds) -> f64) -> f64 {
        let bounds = analysis::bounds(self.workload, &self.modulation.at(rate));
        self.value(&bounds.iter().map(number).collect_vec())
    }

    fn exact(&self, rate: f64) -> Result<f64, AnalysisError> {
        let modulation = self.modulation.at(rate);
        let preemption = self.options.preemption;
        let numbers = analysis::exact(self.workload, &modulation, preemption, f64::INFINITY)?;
        Ok(self.value(&numbers))
    }

    /// Returns the switching rate if no search is needed: it is given, or switching is free.
    fn fixed_rate(&self) -> Option<f64> {
        let brisk = || super::SWITCHES_A_SIZE / mean_size(self.workload);
        let given = self.options.switching_rate;
        given.or_else(|| self.is_free().then(brisk))
    }

    /// Replaces the prediction by exact values if this is within the budget, unless this cannot be
    /// the best route. Returns the work that was done.
    fn refine(&mut self, budget: f64, best: f64) -> Result<f64, SynthesisError> {
        let chain = self.modulation.at(self.outlook.rate);
        let most = self.options.work(DISTRIBUTIONS);
        let work = analysis::work(self.workload, &chain, self.options.preemption, most);
        self.outlook.within_reach = work <= most;
        let is_fixed = self.fixed_rate().is_some();
        let efforts = match is_fixed {
            true => &[(1.0, 0.0)][..],
            false => &EVALUATIONS,
        };
        let affordable = efforts.iter().find(|(n, _)| work * n <= budget);
        let Some((evaluations, tolerance)) = affordable.filter(|_| self.outlook.value.is_finite())
        else {
            return Ok(0.0);
        };
        if is_fixed {
            self.take_exact()?;
            return Ok(work);
        }
        if work > CHEAP && best.is_finite() {
            let bound = |rate: f64| self.by_bounds(rate, |bounds| bounds.lower.max(0.0));
            let (_, least) = minimum(bound, self.outlook.rate, self.ceiling(), 1e-2);
            if least > best {
                return Ok(0.0);
            }
        }
        self.search(*tolerance)?;
        Ok(work * evaluations)
    }

    fn is_free(&self) -> bool {
        self.options.preemption == Preemption::Full || self.modulation.phases.len() == 1
    }

    fn take_exact(&mut self) -> Result<(), AnalysisError> {
        match self.exact(self.outlook.rate) {
            Ok(value) => (self.outlook.value, self.outlook.method) = (value, Method::ExactQbd),
            Err(error @ AnalysisError::Unstable(_)) => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }

    fn search(&mut self, tolerance: f64) -> Result<(), AnalysisError> {
        let exact = |rate: f64| {
            let stable = (rate < self.outlook.largest).then(|| self.exact(rate).ok());
            stable.flatten().unwrap_or(f64::INFINITY)
        };
        let (rate, value) = minimum(exact, self.outlook.predicted.0, self.ceiling(), tolerance);
        if !value.is_finite() {
            // The same error occurs at the predicted rate.
            return self.take_exact();
        }
        self.outlook.method = Method::ExactQbd;
        (self.outlook.rate, self.outlook.value) = (rate, value);
        Ok(())
    }
}
