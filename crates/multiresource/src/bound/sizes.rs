//! A bound for policies that may know sizes: with prices, what is left of short jobs is at least that of one server.

use super::{CertificateError, PriceCut, costs};
use crate::artifact::Objective;
use crate::workload::Fleet;
use synth_queues::law::Size;

/// The jobs of a type that has a price.
struct Priced<'a> {
    rate: f64,
    cost: f64,
    /// The work that a running job does a unit of time, at most 1.
    speed: f64,
    size: &'a Size,
}

/// Mean values of what arrives a unit of time, with work cut off at r times the cost.
struct Arriving {
    r: f64,
    /// Of the square of the work.
    squares: f64,
    /// Of that, over the speed at which the job runs.
    alone: f64,
    /// Work of jobs of no more than that.
    load: f64,
}

/// Returns the least mean cost in the long run that these prices prove of all policies, preemptive or not, whatever they know of the sizes of
/// jobs that have come \[time\].
///
/// # Theory
/// Let a job of work `X_i = v_i S_i` cost c_i a unit of time, and `Σ_i v_i u_i ≤ 1` for all schedules. For r > 0 let W_r be what is left of the
/// jobs that have at most r c_i left. A job in the system with w left counts from r = w/c on, so `∫ W_r/r² dr = Σ w (c/w)` is the cost a unit
/// of time (the work integral number equality of Scully, Grosof and Harchol-Balter, POMACS 4, 2020). W_r grows by X when a job comes of
/// `X ≤ r c`, and by `r c` when a longer one has been worked down to that; it falls at a rate B ≤ 1. In the long run the drift of `W_r²/2` vanishes, and arrivals are Poisson
/// and independent of what is there:
///
/// ```text
/// E[W_r] ≥ E[B W_r] ≥ ½ Σ λ_i E[min(X_i, r c_i)²] + E[W_r] ρ_r,      ρ_r = Σ λ_i E[X_i; X_i ≤ r c_i].
/// ```
///
/// Also, while it runs, at speed v_i, a job alone has `E[min(X_i, r c_i)²]/(2 v_i)` in W_r. The larger of both, for each r, is integrated; of jobs
/// that take the whole system one at a time it is what shortest remaining work first reaches. A type without a price costs what it costs while it runs.
///
/// It vanishes along times without end at which the cost a unit of time is at most twice its mean, since W_r is at most r times that, for all r at
/// once; in between W_r is of the order of the square root of the time, as it falls at most at rate 1 and its mean is finite, so that the
/// martingale of the arrivals vanishes, too. If the mean cost is infinite there is nothing to prove. So the bound is one of upper limits of averages.
///
/// # Practice
/// The integral is taken from below, and halved where it is not known to this tolerance, relatively.
///
/// # Errors
/// When arrivals are not Poisson, the types are not the fleet's, or a law has no closed form. That servers are worth no more is not looked at.
pub fn least_by_sizes(
    cut: &PriceCut,
    fleet: &Fleet,
    objective: Objective,
    tolerance: f64,
) -> Result<f64, CertificateError> {
    let costs = costs(fleet.envelope(), objective)?;
    let speeds = cut.speeds(fleet)?;
    let types = fleet.types().iter().enumerate();
    let others = types.filter(|(i, _)| !cut.types.contains(i));
    let running: f64 = others.map(|(i, own)| costs[i] * own.offered_load()).sum();
    let pairs = cut
        .types
        .iter()
        .zip(speeds)
        .filter(|(i, _)| costs[**i] > 0.0);
    let priced: Vec<Priced<'_>> = pairs
        .map(|(&i, speed)| Priced {
            rate: fleet.types()[i].arrival_rate(),
            cost: costs[i],
            speed,
            size: fleet.types()[i].holding().run(),
        })
        .collect();
    let waiting = integral(&priced, tolerance);
    let waiting = waiting.ok_or_else(|| {
        CertificateError::Laws("sizes of laws other than Coxian ones of several stages".into())
    })?;
    let bound = running + waiting;
    Ok(if bound.is_finite() {
        bound * (1.0 - ROUNDING)
    } else {
        0.0
    })
}

/// Checks the prices, and returns what they prove of all policies, whatever they know of sizes \[time\].
///
/// # Errors
/// When they prove nothing.
pub fn check_sizes(
    cut: &PriceCut,
    fleet: &Fleet,
    objective: Objective,
) -> Result<f64, CertificateError> {
    cut.check(fleet)?;
    least_by_sizes(cut, fleet, objective, TOLERANCE)
}

/// How well the integral of a bound is known, relatively.
const TOLERANCE: f64 = 1e-3;

/// Rounding, and what special functions are off.
const ROUNDING: f64 = 1e-7;

/// `∫ W_r/r² dr` from below; `None` where a law has no closed form.
fn integral(priced: &[Priced<'_>], tolerance: f64) -> Option<f64> {
    let typical = priced
        .iter()
        .map(|own| own.speed * own.size.mean() / own.cost);
    let (least, most) = typical.fold((f64::INFINITY, 0.0_f64), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    if least > most {
        return Some(0.0);
    }
    let of_all = |f: &dyn Fn(&Priced<'_>) -> f64| priced.iter().map(f).sum::<f64>();
    let squares = of_all(&|own| own.rate * own.speed.powi(2) * own.size.moment(2));
    let idle = 1.0 - of_all(&|own| own.rate * own.speed * own.size.mean());
    let is_far =
        |here: &Arriving| here.squares >= TAIL * squares && TAIL * here.idle() <= idle.max(0.0);
    let narrowest = 1.0 + tolerance;
    let mut last = arriving(priced, LOW * least)?;
    // Over r² it is not less below.
    let mut sum = last.at_least(1.0) / last.r / 2.0;
    let mut ends: Vec<Arriving> = Vec::new();
    while !ends.is_empty() || (!is_far(&last) && last.r < HIGH * most) {
        let end = match ends.pop() {
            Some(end) => end,
            None => arriving(priced, last.r * WIDEST)?,
        };
        let [low, high] = last.between(&end);
        if high - low > tolerance * low && end.r > last.r * narrowest {
            let middle = arriving(priced, (last.r * end.r).sqrt())?;
            ends.extend([end, middle]);
        } else {
            sum += low;
            last = end;
        }
    }
    Some(sum + last.at_least(last.idle()) / last.r / 2.0)
}

/// Where the integral begins, in means of the shortest type, and ends at the latest, in those of the longest.
const LOW: f64 = 1e-4;
const HIGH: f64 = 1e8;

/// The part of all squares at which it ends, and of the time that the server is idle at the end.
const TAIL: f64 = 0.9999;

/// The factor between the ends of its widest intervals.
const WIDEST: f64 = 1.5;

/// Where a sum of loads may be off.
const OFF: f64 = 1e-12;

impl Arriving {
    /// The part of the server that what is short when it comes leaves, at most.
    fn idle(&self) -> f64 {
        1.0 - self.load + OFF
    }

    /// `2 E[W_r]` at least, where so much of the server is left.
    fn at_least(&self, idle: f64) -> f64 {
        let queued = if idle > 0.0 { self.squares / idle } else { 0.0 };
        queued.max(self.alone)
    }

    /// Returns what the integral from here to an end is at least and at most. Squares grow in r and over r² fall; the load grows.
    fn between(&self, end: &Self) -> [f64; 2] {
        let inverse = 1.0 / self.r - 1.0 / end.r;
        let linear = |of: &Self, idle| of.at_least(idle) / of.r.powi(2) * (end.r - self.r);
        let low = (self.at_least(self.idle()) * inverse).max(linear(end, self.idle()));
        let high = (end.at_least(end.idle()) * inverse).min(linear(self, end.idle()));
        [low / 2.0, high / 2.0]
    }
}

/// Returns what arrives, cut off at r.
fn arriving(priced: &[Priced<'_>], r: f64) -> Option<Arriving> {
    let mut sum = Arriving {
        r,
        squares: 0.0,
        alone: 0.0,
        load: 0.0,
    };
    for own in priced {
        let most = r * own.cost / own.speed;
        let [above, mean, square] = own.size.truncated(most)?;
        let longer = above * most.powi(2);
        let squares = own.rate * own.speed.powi(2) * (square + longer);
        sum.squares += squares;
        sum.alone += squares / own.speed;
        sum.load += own.rate * own.speed * mean;
    }
    Some(sum)
}
