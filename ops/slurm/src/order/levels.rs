//! Conversion of a job order to points of a Slurm priority.

use synth_multiresource::policy::Priority;

/// The number of points for each factor of ten in the limit or the share, whichever has the larger
/// exponent.
pub const A_DECADE: f64 = 600.0;

/// The largest limit that is distinguished, a year \[min\], and the largest share \[CPUs\].
const LIMITS: f64 = 525_600.0;
const SHARES: f64 = 1e6;

/// The wait at which Slurm's age factor reaches 1 by default \[s\].
pub(super) const FULL_AGE: f64 = 7.0 * 86_400.0;

/// The points of a Slurm priority. A job loses points for its limit and share, and gains points
/// while it waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorityLevels {
    /// The number of points for each factor of ten in the limit.
    pub limit: f64,
    /// The number of points for each factor of ten in the share.
    pub share: f64,
    /// The number of points for each factor of ten in the wait plus `offset`.
    pub wait: f64,
    /// The offset that is added to the wait \[s\].
    pub offset: f64,
    /// The number of points of a job of one minute and one CPU. A job of a year and a million CPUs
    /// still has at least one point.
    pub base: f64,
}

impl PriorityLevels {
    /// Returns the points of an order by limits, at least one of whose exponents is not 0.
    pub fn of(order: Priority) -> Self {
        let scale = A_DECADE / order.size.abs().max(order.share.abs());
        let [limit, share] = [order.size, order.share].map(|exponent| exponent * scale);
        let most = limit.max(0.0) * LIMITS.log10() + share.max(0.0) * SHARES.log10();
        PriorityLevels {
            limit,
            share,
            wait: order.age * scale,
            offset: order.offset,
            base: most.ceil() + 1.0,
        }
    }

    /// Returns the site factor of a job with this limit \[s\] (a year if `None`) and share
    /// \[CPUs\].
    pub fn site_factor(&self, limit: Option<f64>, share: f64) -> f64 {
        let minutes = limit.map_or(LIMITS, |limit| (limit / 60.0).clamp(1.0, LIMITS));
        let points = self.base - self.limit * minutes.log10() - self.share * share.max(1.0).log10();
        (points + 0.5).floor().clamp(1.0, 2e6)
    }

    /// Returns the points for a wait \[s\].
    pub fn of_wait(&self, waited: f64) -> f64 {
        match self.wait > 0.0 {
            true => self.wait * (1.0 + waited / self.offset).log10(),
            false => 0.0,
        }
    }

    /// Returns the weight of Slurm's age factor, linear up to [`FULL_AGE`], and its largest error.
    pub fn age_weight(&self) -> (f64, f64) {
        let weight = self.of_wait(FULL_AGE);
        // The point where the curve has the slope of the line.
        let farthest = FULL_AGE / (1.0 + FULL_AGE / self.offset).ln() - self.offset;
        let off = self.of_wait(farthest) - weight * farthest / FULL_AGE;
        (weight.round(), off)
    }
}
