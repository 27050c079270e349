//! Means by renewal and reward over cycles, with what rounding may have done to them.

use nalgebra::DVector;

use super::cycle::{Cycle, Cycles};
use super::light_left::LightLeft;
use super::queue::{MOST_SERVERS, MsfqError, MsfqMeans, MsfqQueue};

/// The largest relative error at which means are given.
pub(super) const MOST_ERROR: f64 = 1e-9;

impl MsfqQueue {
    /// Mean numbers and response times, exactly.
    ///
    /// # Errors
    /// Beyond [`MOST_SERVERS`]; so close to saturation that it takes too many steps; and where rounding
    /// may have changed more than one part in 10⁹.
    pub fn means(&self) -> Result<MsfqMeans, MsfqError> {
        if self.servers > MOST_SERVERS {
            return Err(MsfqError::Servers(self.servers, MOST_SERVERS));
        }
        let left = LightLeft::new(self).ok_or(MsfqError::Steps(self.load()))?;
        let means = self.with(&left);
        if means.error < MOST_ERROR && left.is_law() && means.is_sensible(self) {
            Ok(means)
        } else {
            Err(MsfqError::Digits)
        }
    }

    /// Returns the means, from the probabilities of fewer than k light jobs at the end of phase 1.
    fn with(&self, left: &LightLeft) -> MsfqMeans {
        let cycles = Cycles::new(self);
        let effects = cycles.effects();
        let all = over(&left.few, &effects);
        let (areas, length) = (all.areas(), all.length());
        let number = areas.map(|area| area / length);
        let size = over(&left.few.abs(), &cycles.magnitudes());
        // Of sums of positive numbers; and 1 − ρ has lost what ρ has taken.
        let rounding = (self.servers + 8) as f64 + 4.0 / (1.0 - self.load());
        let error = |n: usize| {
            let moved = |cycle: &Cycle| cycle.areas()[n] - number[n] * cycle.length();
            let many = moved(&effects[self.servers]);
            let moves = |j, _| (moved(&effects[j]) - many) / areas[n];
            let solved = left.error(&DVector::from_fn(self.servers, moves));
            solved + rounding * f64::EPSILON * (size.areas()[n] / areas[n] + size.length() / length)
        };
        let rates = [self.light, self.heavy].map(|stream| stream.arrival_rate);
        // Of these cycles those from the empty system on count as several.
        let several = (rates[0] + rates[1]) / self.filling_rate();
        let count = 1.0 + left.few[0] * (several - 1.0);
        MsfqMeans {
            response: [number[0] / rates[0], number[1] / rates[1]],
            number,
            phases: [all.heavy, all.working, all.draining].map(|time| time / count),
            idle: all.idle / count,
            error: error(0).max(error(1)),
        }
    }
}

/// Returns the mean over cycles that begin with j light jobs with probability p_j, j < k, and else with more.
fn over(few: &DVector<f64>, cycles: &[Cycle]) -> Cycle {
    let many = Cycle::default().plus((1.0 - few.sum()).max(0.0), cycles[few.len()]);
    let each = few.iter().zip(cycles);
    each.fold(many, |sum, (p, cycle)| sum.plus(*p, *cycle))
}

impl MsfqMeans {
    /// Returns whether each job is in the system for its own size at least.
    fn is_sensible(&self, queue: &MsfqQueue) -> bool {
        let sizes = [queue.light, queue.heavy].map(|stream| 1.0 / stream.service_rate);
        let mut each = self.response.iter().zip(sizes);
        each.all(|(response, size)| response.is_finite() && *response >= size * (1.0 - self.error))
    }
}
