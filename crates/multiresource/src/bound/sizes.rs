use super::certificate::unsupported;
use super::{CertificateError, PriceCut, costs};
use crate::artifact::Objective;
use crate::workload::Fleet;
use synth_queues::distribution::SizeDistribution;

struct Priced<'a> {
    rate: f64,
    cost: f64,
    /// The work per unit of time while the job is running, at most 1.
    speed: f64,
    size: &'a SizeDistribution,
}

/// The rates of the arriving work, if the work of each job is truncated at r times its cost.
#[derive(Default)]
struct Arriving {
    r: f64,
    /// The rate of the squared work.
    squares: f64,
    /// The rate of the squared work divided by the speed.
    alone: f64,
    /// The rate of the work of the jobs that are not truncated.
    load: f64,
}

/// Returns the lower bound on the long-run mean cost that these prices prove \[time\] for all
/// policies, with or without preemption, even if they know the sizes of the jobs that have arrived.
/// The value of the servers is not checked.
///
/// # Theory
/// Let a job of work `X_i = v_i S_i` cost c_i per unit of time, and `Σ_i v_i u_i ≤ 1` for all
/// schedules. For r > 0, let W_r be the remaining work of the jobs with at most r c_i remaining. A
/// job with remaining work w counts from r = w/c on, so `∫ W_r/r² dr = Σ w (c/w)` is the cost per
/// unit of time (the work integral number equality of Scully, Grosof and Harchol-Balter, POMACS 4,
/// 2020). W_r is increased by X when a job with `X ≤ r c` arrives, and by `r c` when the remaining
/// work of a longer job has decreased to that value. It is decreased at a rate B ≤ 1. The drift of
/// `W_r²/2` vanishes in the long run, and the arrivals are Poisson and independent of the state, so
/// that
///
/// ```text
/// E[W_r] ≥ E[B W_r] ≥ ½ Σ λ_i E[min(X_i, r c_i)²] + E[W_r] ρ_r,  ρ_r = Σ λ_i E[X_i; X_i ≤ r c_i].
/// ```
///
/// In addition, each job contributes at least `E[min(X_i, r c_i)²]/(2 v_i)` to the integral of W_r
/// over time, because it runs at the speed v_i. The larger of the two bounds is used for each r. If
/// each job needs the whole system, shortest remaining work first attains the result. A type
/// without a price only has the cost of its running jobs.
///
/// The drift vanishes for a sequence of times at which the cost rate is at most twice its mean,
/// since W_r is at most r times the cost rate, for all r at once. In between, W_r is of the order
/// of the square root of the time, because it decreases at most at rate 1 and has a finite mean, so
/// the martingale of the arrivals vanishes too. If the mean cost is infinite, then any bound is
/// valid. Therefore, the bound is for the upper limit of the averages.
///
/// An interval of the integral is divided until its upper and lower bounds agree to this tolerance.
///
/// # Errors
/// If the arrivals are not Poisson, the types are not in the fleet, or a size distribution has no
/// closed form.
pub fn bound_by_sizes(
    cut: &PriceCut,
    fleet: &Fleet,
    objective: Objective,
    tolerance: f64,
) -> Result<f64, CertificateError> {
    let costs = costs(fleet.envelope(), objective)?;
    let speeds = cut.value_fractions(fleet)?;
    let types = fleet.types().iter().enumerate();
    let others = types.filter(|(i, _)| !cut.types.contains(i));
    let running: f64 = others.map(|(i, own)| costs[i] * own.offered_load()).sum();
    let pairs = cut.types.iter().zip(speeds);
    let priced = pairs.map(|(&i, speed)| Priced {
        rate: fleet.types()[i].arrival_rate(),
        cost: costs[i],
        speed,
        size: fleet.types()[i].size(),
    });
    let priced: Vec<Priced<'_>> = priced.filter(|own| own.cost > 0.0).collect();
    let unknown = || unsupported("size distributions other than Coxian with several stages");
    let waiting = integral(&priced, tolerance).ok_or_else(unknown)?;
    let bound = (running + waiting) * (1.0 - ROUNDING);
    Ok(if bound.is_finite() { bound } else { 0.0 })
}

/// Checks the prices, and returns the lower bound of [`bound_by_sizes`] \[time\].
pub fn check_sizes(
    cut: &PriceCut,
    fleet: &Fleet,
    objective: Objective,
) -> Result<f64, CertificateError> {
    cut.check(fleet)?;
    bound_by_sizes(cut, fleet, objective, TOLERANCE)
}

const TOLERANCE: f64 = 1e-3;

/// The relative error of the rounding and of the special functions.
const ROUNDING: f64 = 1e-7;

/// Returns a lower bound on `∫ W_r/r² dr`; `None` if a distribution has no closed form.
fn integral(priced: &[Priced<'_>], tolerance: f64) -> Option<f64> {
    let typical = |own: &Priced<'_>| own.speed * own.size.mean() / own.cost;
    let least = priced.iter().map(typical).fold(f64::INFINITY, f64::min);
    let most = priced.iter().map(typical).fold(0.0, f64::max);
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
    // W_r/r² is not smaller below the first r.
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

/// The integral starts at this multiple of the smallest mean, and ends at the latest at this
/// multiple of the largest mean.
const LOW: f64 = 1e-4;
const HIGH: f64 = 1e8;

/// The integral ends if the squares have reached this fraction of their limit, and the limit of the
/// idle fraction is at least this fraction of the present one.
const TAIL: f64 = 0.9999;

/// The ratio between the ends of the widest intervals.
const WIDEST: f64 = 1.5;

/// The rounding error of a sum of loads.
const OFF: f64 = 1e-12;

impl Arriving {
    /// Returns an upper bound on the fraction of the server that is not used by the short jobs.
    fn idle(&self) -> f64 {
        1.0 - self.load + OFF
    }

    /// Returns a lower bound on `2 E[W_r]` given that idle fraction.
    fn at_least(&self, idle: f64) -> f64 {
        let queued = if idle > 0.0 { self.squares / idle } else { 0.0 };
        queued.max(self.alone)
    }

    /// Returns a lower and an upper bound on the integral from here to `end`. In r, the squares
    /// increase, the squares over r² decrease, and the load increases.
    fn between(&self, end: &Self) -> [f64; 2] {
        let inverse = 1.0 / self.r - 1.0 / end.r;
        let linear = |of: &Self, idle| of.at_least(idle) / of.r.powi(2) * (end.r - self.r);
        let low = (self.at_least(self.idle()) * inverse).max(linear(end, self.idle()));
        let high = (end.at_least(end.idle()) * inverse).min(linear(self, end.idle()));
        [low / 2.0, high / 2.0]
    }
}

fn arriving(priced: &[Priced<'_>], r: f64) -> Option<Arriving> {
    let mut sum = Arriving {
        r,
        ..Arriving::default()
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
