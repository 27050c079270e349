//! Tuning: the route and the switching rate with the least cost, exactly where that is affordable.

use super::claims::LAWS;
use super::{Options, PHASE_LIMIT, PHASES_OF_TYPES, SynthesisError, mean_size, refused};
use crate::analysis::{self, AnalysisError, Cost, PaperBounds};
use crate::modulation::{Modulation, ModulationError};
use synth_cluster::artifact::{Drain, Method, MsrPolicy, Preemption, Route};
use synth_cluster::workload::Workload;

/// Work that goes into tuning at effort 1, roughly in nanoseconds. The approximation's rate is within some
/// per cent of the best, where the objective is flat: more is spent on finding it only where that is little.
const TUNING: f64 = 1.5e9;

/// Evaluations with less work than this (1 ms) are not saved.
const CHEAP: f64 = 1e6;

/// Evaluations that a search takes, and the precision of ln α that they give; where there is work for fewer, the
/// predicted rate is taken.
const EVALUATIONS: [(f64, f64); 3] = [(40.0, 1e-6), (10.0, 1e-2), (6.0, 5e-2)];

/// A route of which nothing exact can be claimed is taken only where it is predicted to be better than
/// the best one of which it can by this factor.
const WORTH_A_GUESS: f64 = 1.25;

/// The search ends where a step of 1 in ln α gains relatively less than this.
const FLAT: f64 = 1e-4;

/// A route that was considered.
#[derive(Clone, Debug)]
pub struct RouteOption {
    /// The route.
    pub route: Route,
    /// What was found of it; `None` where its chain has more phases than are listed, or there was no time left.
    pub outlook: Option<Outlook>,
}

/// What is known of a route.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// Phases of its chain.
    pub phases: usize,
    /// Supremum of the stable switching rates [1/time].
    pub largest: f64,
    /// The switching rate: as given, or else the best one found.
    pub rate: f64,
    /// The objective at that rate \[time\]; infinite where the policy is unstable.
    pub value: f64,
    /// How the value was found.
    pub method: Method,
    /// Whether there is enough effort for exact means at that rate.
    pub within_reach: bool,
    /// The switching rate that section 6.4's approximation calls best, and its value for it.
    pub predicted: (f64, f64),
}

impl Outlook {
    fn is_exact(&self) -> bool {
        self.method != Method::ApproximationQueueLength
    }
}

/// Returns the policy with the best route at its best switching rate, and all routes considered, each
/// with what was found of it. ln α is found as well as the effort allows.
pub(super) fn with_best_route(
    workload: &Workload,
    options: &Options,
    draft: MsrPolicy,
) -> Result<(MsrPolicy, Vec<RouteOption>), SynthesisError> {
    let mut searches: Vec<RateSearch<'_>> = Vec::new();
    for route in candidates(options) {
        let limit = match route.drain {
            // No time is left for another one.
            _ if !searches.is_empty() && options.left().is_zero() => 0,
            Drain::Sequential => PHASE_LIMIT,
            Drain::Concurrent => PHASE_LIMIT.min(PHASES_OF_TYPES / workload.types().len()),
        };
        searches.extend(RateSearch::new(workload, options, &draft, route, limit)?);
    }
    let value = |n: &usize| searches[*n].outlook.value;
    let mut order: Vec<usize> = (0..searches.len()).collect();
    order.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let mut budget = options.work(TUNING);
    let mut best_exact = f64::INFINITY;
    for n in order {
        let search = &mut searches[n];
        budget -= search.refine(budget, best_exact)?;
        if search.outlook.is_exact() {
            best_exact = best_exact.min(search.outlook.value);
        }
    }
    // Sequential routes always have an outlook, or the error has been returned.
    let best = best_route(&mut searches)?.ok_or(ModulationError::TooLarge(PHASE_LIMIT))?;
    let (route, outlook) = (searches[best].route, &searches[best].outlook);
    if outlook.rate >= outlook.largest {
        return refused(format!(
            "at switching rate {} too much time goes into routes and the policy is unstable; it is stable below {:.6} (route {route}): leave --switching-rate out, or give less",
            outlook.rate, outlook.largest
        ));
    }
    let policy = MsrPolicy {
        route,
        switching_rate: outlook.rate,
        ..draft
    };
    let outlook = |route| {
        let search = searches.iter().find(|search| search.route == route);
        search.map(|search| search.outlook.clone())
    };
    let routes = candidates(options).into_iter().map(|route| RouteOption {
        route,
        outlook: outlook(route),
    });
    Ok((policy, routes.collect()))
}

/// Returns the index of the best route by what is known. One that is predicted to be better than another one whose exact value is
/// known is evaluated before it is believed, where that is within reach.
fn best_route(searches: &mut [RateSearch<'_>]) -> Result<Option<usize>, SynthesisError> {
    loop {
        // By how much the approximation missed where the exact value is known.
        let exact = searches.iter().filter(|search| search.outlook.is_exact());
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

/// Returns the routes that the options leave, in the order in which equals are preferred.
pub(super) fn candidates(options: &Options) -> Vec<Route> {
    let all = Route::ALL.to_vec();
    let mut routes = options.route.map_or(all, |route| vec![route]);
    if options.preemption == Preemption::Full {
        // Without routes they are all the same.
        routes.truncate(1);
    }
    routes
}

/// The search for the best switching rate of one route.
pub(super) struct RateSearch<'a> {
    workload: &'a Workload,
    options: &'a Options,
    route: Route,
    pub modulation: Modulation,
    /// What is known so far: first the prediction.
    outlook: Outlook,
}

impl<'a> RateSearch<'a> {
    /// Returns a search along a route of the draft's loop; `None` where its chain has more phases than the limit, and
    /// other routes may be taken.
    pub fn new(
        workload: &'a Workload,
        options: &'a Options,
        draft: &MsrPolicy,
        route: Route,
        limit: usize,
    ) -> Result<Option<Self>, ModulationError> {
        let policy = MsrPolicy {
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
            route,
            outlook: Outlook {
                phases: modulation.phases.len(),
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

    /// Takes what section 6.4's approximation says.
    fn predict(&mut self) {
        let start = (0.5 / mean_size(self.workload)).min(0.5 * self.outlook.largest);
        // Infinite once the time is over, which ends a search.
        let in_time = |rate: f64| {
            let is_over = self.options.left().is_zero();
            if is_over {
                f64::INFINITY
            } else {
                self.approximation(rate)
            }
        };
        let predicted = match self.settled_rate().filter(|_| self.is_free()) {
            Some(rate) => (rate, self.approximation(rate)),
            None => minimum(in_time, start, self.ceiling(), 1e-4),
        };
        let rate = self.settled_rate().unwrap_or(predicted.0);
        (self.outlook.predicted, self.outlook.rate) = (predicted, rate);
        if rate < self.outlook.largest {
            self.outlook.value = self.approximation(rate);
        }
    }

    /// Returns a rate below which the best one is sought. How many switches a job are worth their cost is not known
    /// beforehand: where setups are short and types differ much in size, thousands are.
    fn ceiling(&self) -> f64 {
        let most = super::RATES.end() / mean_size(self.workload);
        self.outlook.largest.min(most)
    }

    /// Returns switching rates around the best that is predicted, all stable.
    pub fn range(&self) -> (f64, f64) {
        let best = self.outlook.rate;
        (best / 30.0, (best * 30.0).min(0.98 * self.outlook.largest))
    }

    fn value(&self, cost: &Cost) -> f64 {
        cost.value(self.workload, self.options.objective)
    }

    fn approximation(&self, rate: f64) -> f64 {
        let modulation = self.modulation.at(rate);
        self.value(&analysis::approximate(self.workload, &modulation))
    }

    /// Returns the objective at theorem 8's lower bounds.
    fn lower_bound(&self, rate: f64) -> f64 {
        let modulation = self.modulation.at(rate);
        let bounds = |i| PaperBounds::new(&modulation.queue(self.workload, i));
        let of_type = |i| bounds(i).lower.max(0.0);
        let numbers = (0..self.workload.types().len()).map(of_type).collect();
        self.value(&Cost { numbers })
    }

    /// Returns the exact objective.
    fn exact(&self, rate: f64) -> Result<f64, AnalysisError> {
        let modulation = self.modulation.at(rate);
        let preemption = self.options.preemption;
        let cost = analysis::exact(self.workload, &modulation, preemption, f64::INFINITY)?;
        Ok(self.value(&cost))
    }

    /// Returns the switching rate where no search is needed: given, or without cost.
    fn settled_rate(&self) -> Option<f64> {
        let brisk = || super::SWITCHES_A_SIZE / mean_size(self.workload);
        self.options
            .switching_rate
            .or_else(|| self.is_free().then(brisk))
    }

    /// Replaces the prediction by exact values within the budget; none is spent on a route whose lower
    /// bound is above the best so far. Returns the work spent.
    fn refine(&mut self, budget: f64, best: f64) -> Result<f64, SynthesisError> {
        let chain = self.modulation.at(self.outlook.rate);
        let most = self.options.work(LAWS);
        let work = analysis::work(self.workload, &chain, self.options.preemption, most);
        self.outlook.within_reach = work <= most;
        let is_settled = self.settled_rate().is_some();
        let efforts = if is_settled {
            &[(1.0, 0.0)][..]
        } else {
            &EVALUATIONS
        };
        let affordable = efforts.iter().find(|(n, _)| work * n <= budget);
        let Some((evaluations, tolerance)) = affordable.filter(|_| self.outlook.value.is_finite())
        else {
            return Ok(0.0);
        };
        if is_settled {
            self.take_exact()?;
            return Ok(work);
        }
        if work > CHEAP && best.is_finite() {
            let bound = |rate: f64| self.lower_bound(rate);
            let (_, least) = minimum(bound, self.outlook.rate, self.ceiling(), 1e-2);
            if least > best {
                return Ok(0.0);
            }
        }
        self.search(*tolerance)?;
        Ok(work * evaluations)
    }

    /// Returns whether more switching never costs, so that there is no best rate.
    fn is_free(&self) -> bool {
        self.options.preemption == Preemption::Full || self.modulation.phases.len() == 1
    }

    /// Takes the exact value at the present rate; where there is none the prediction remains.
    fn take_exact(&mut self) -> Result<(), AnalysisError> {
        match self.exact(self.outlook.rate) {
            Ok(value) => (self.outlook.value, self.outlook.method) = (value, Method::ExactQbd),
            Err(error @ AnalysisError::Unstable(_)) => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }

    fn search(&mut self, tolerance: f64) -> Result<(), AnalysisError> {
        // Infinite where it is unstable or has no digit left.
        let exact = |rate: f64| {
            let stable = (rate < self.outlook.largest).then(|| self.exact(rate).ok());
            stable.flatten().unwrap_or(f64::INFINITY)
        };
        let (rate, value) = minimum(exact, self.outlook.predicted.0, self.ceiling(), tolerance);
        if !value.is_finite() {
            // The failure occurs at the predicted rate too, where it is reported.
            return self.take_exact();
        }
        self.outlook.method = Method::ExactQbd;
        (self.outlook.rate, self.outlook.value) = (rate, value);
        Ok(())
    }
}

/// Returns the minimum of a function of a rate below `largest`, and where it is: bracketed around
/// `start` on a logarithmic scale, then by Brent's method (successive parabolas, golden section
/// where they fail) until ln(rate) is known to `tolerance`. Where the function only falls, the
/// search ends where it gains less than [`FLAT`]; where it only rises, likewise.
fn minimum(
    mut function: impl FnMut(f64) -> f64,
    start: f64,
    largest: f64,
    tolerance: f64,
) -> (f64, f64) {
    let ceiling = largest.ln();
    let mut at = |x: f64| {
        let is_below = x < ceiling;
        if is_below {
            function(x.exp())
        } else {
            f64::INFINITY
        }
    };
    let Some(bracket) = bracket(&mut at, start.ln(), ceiling) else {
        return (start, f64::INFINITY);
    };
    let (x, value) = brent(at, bracket, tolerance);
    (x.exp(), value)
}

/// A point with its value.
type Point = (f64, f64);

/// Three points of which the middle one is lowest; `None` where the function is infinite.
fn bracket(at: &mut impl FnMut(f64) -> f64, start: f64, ceiling: f64) -> Option<[Point; 3]> {
    let mut middle = (start, at(start));
    // Next to the largest stable rate the value may have lost all its digits.
    for _ in 0..40 {
        if middle.1.is_finite() {
            break;
        }
        let lower = middle.0 - 0.7;
        middle = (lower, at(lower));
    }
    let mut step = 0.35;
    let above = |x: f64, step: f64| (x + step).min(0.5 * (x + ceiling));
    let mut at = |x: f64| (x, at(x));
    let (mut low, mut high) = (at(middle.0 - step), at(above(middle.0, step)));
    for _ in 0..60 {
        if !middle.1.is_finite() {
            return None;
        }
        if low.1 < middle.1 {
            let gain = (middle.1 - low.1) / low.1 / (middle.0 - low.0);
            (high, middle) = (middle, low);
            if gain < FLAT {
                break;
            }
            step *= 1.6;
            low = at(middle.0 - step);
        } else if high.1 < middle.1 {
            let gain = (middle.1 - high.1) / high.1 / (high.0 - middle.0);
            (low, middle) = (middle, high);
            if gain < FLAT {
                break;
            }
            step *= 1.6;
            high = at(above(middle.0, step));
        } else {
            break;
        }
    }
    Some([low, middle, high])
}

fn brent(mut at: impl FnMut(f64) -> f64, bracket: [Point; 3], tolerance: f64) -> Point {
    let [(mut low, low_value), mut best, (mut high, high_value)] = bracket;
    // Second and third best; and the last two steps.
    let (mut second, mut third) = ((low, low_value), (high, high_value));
    if low_value >= high_value {
        (second, third) = (third, second);
    }
    let (mut last, mut before) = (high - low, high - low);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if (best.0 - middle).abs() + 0.5 * (high - low) <= 2.0 * tolerance {
            break;
        }
        let inner = low + tolerance..high - tolerance;
        let fits = |step: &f64| step.abs() < 0.5 * before.abs() && inner.contains(&(best.0 + step));
        let step = match vertex(best, second, third).filter(fits) {
            Some(step) => {
                before = last;
                step
            }
            None => {
                let side = if best.0 < middle { high } else { low } - best.0;
                before = side;
                0.381_966 * side
            }
        };
        last = step;
        let x = best.0 + step.abs().max(tolerance).copysign(step);
        let new = (x, at(x));
        if new.1 <= best.1 {
            if x < best.0 {
                high = best.0
            } else {
                low = best.0
            }
            (third, second, best) = (second, best, new);
        } else {
            if x < best.0 {
                low = x
            } else {
                high = x
            }
            if new.1 <= second.1 {
                (third, second) = (second, new);
            } else if new.1 <= third.1 {
                third = new;
            }
        }
    }
    best
}

/// Returns the step from a to the lowest point of the parabola through three points, if it has one.
fn vertex(a: Point, b: Point, c: Point) -> Option<f64> {
    if !(b.1.is_finite() && c.1.is_finite()) {
        return None;
    }
    let (r, s) = ((b.0 - a.0) * (a.1 - c.1), (c.0 - a.0) * (a.1 - b.1));
    let step = 0.5 * ((b.0 - a.0) * r - (c.0 - a.0) * s) / (r - s);
    step.is_finite().then_some(step)
}
#[cfg(test)]
mod minimum {
    use super::minimum;

    #[test]
    fn of_smooth_functions() {
        for best in [1e-6, 0.3, 1.0, 50.0, 1e5] {
            let function = |rate: f64| (rate / best).ln().cosh() + 0.1 * (rate / best).ln().exp();
            let (rate, _) = minimum(function, 1.0, f64::INFINITY, 1e-7);
            // sinh x + e^x / 10 = 0.
            let expected = best * (0.5_f64 / 0.6).sqrt();
            assert!(
                (rate / expected - 1.0).abs() < 1e-5,
                "{rate} for {expected}"
            );
        }
    }

    /// Next to an end beyond which the policy is unstable.
    #[test]
    fn below_a_pole() {
        let function = |rate: f64| 1.0 / (1.0 - rate) + 1e-4 / rate;
        let (rate, value) = minimum(function, 0.9, 1.0, 1e-7);
        assert!((rate - 0.01 / 1.01).abs() < 1e-6, "{rate}");
        assert!((value - function(0.01 / 1.01)).abs() < 1e-12);
    }

    #[test]
    fn of_a_function_that_only_falls_ends() {
        let (rate, value) = minimum(|rate| 1.0 + 1.0 / rate, 1.0, f64::INFINITY, 1e-6);
        assert!(rate > 100.0 && value < 1.01, "{rate}");
        let nowhere = minimum(|_| f64::INFINITY, 1.0, f64::INFINITY, 1e-6);
        assert!(nowhere.1.is_infinite());
    }
}
