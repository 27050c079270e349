use synth_multiresource::policy::Priority;

/// The points for each factor of ten in the quantity with the larger absolute exponent.
pub const POINTS_PER_DECADE: f64 = 600.0;

/// The maximum time limit \[min\], which is a year, and the maximum share \[CPUs\].
const LIMITS: f64 = 525_600.0;
const SHARES: f64 = 1e6;

/// The waiting time at which the age factor of Slurm reaches 1 by default \[s\].
pub(super) const FULL_AGE: f64 = 7.0 * 86_400.0;

/// The points of the priority in Slurm, which are subtracted for each factor of ten in the time
/// limit and in the share of a job, and added for each factor of ten in its wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorityPoints {
    /// The points for each factor of ten in the time limit.
    pub limit: f64,
    /// The points for each factor of ten in the share.
    pub share: f64,
    /// The points for each factor of ten in the sum of the wait and `offset`.
    pub wait: f64,
    /// The time that is added to the wait \[s\].
    pub offset: f64,
    /// The points for a minute and one CPU, so that a year and a million CPUs have at least one.
    pub base: f64,
}

impl PriorityPoints {
    /// Returns the points of an order by limits. The exponents must not both be 0.
    pub fn of(order: Priority) -> Self {
        let scale = POINTS_PER_DECADE / order.size.abs().max(order.share.abs());
        let [limit, share] = [order.size, order.share].map(|exponent| exponent * scale);
        let most = limit.max(0.0) * LIMITS.log10() + share.max(0.0) * SHARES.log10();
        PriorityPoints {
            limit,
            share,
            wait: order.age * scale,
            offset: order.offset,
            base: most.ceil() + 1.0,
        }
    }

    /// Returns the site factor of a job with this time limit \[s\] (a year if there is none) and
    /// this share \[CPUs\], as in job_submit.lua.
    pub fn site_factor(&self, limit: Option<f64>, share: f64) -> f64 {
        let minutes = limit.map_or(LIMITS, |limit| (limit / 60.0).clamp(1.0, LIMITS));
        let points = self.base - self.limit * minutes.log10() - self.share * share.max(1.0).log10();
        (points + 0.5).floor().clamp(1.0, 2e6)
    }

    /// Returns the points for this waiting time \[s\].
    pub fn of_wait(&self, waited: f64) -> f64 {
        match self.wait > 0.0 {
            true => self.wait * (1.0 + waited / self.offset).log10(),
            false => 0.0,
        }
    }

    /// Returns the weight of the age factor of Slurm, which is linear up to seven days, and the
    /// maximum of the points by which the exact value is larger.
    pub fn age_weight(&self) -> (f64, f64) {
        let weight = self.of_wait(FULL_AGE);
        // At this point the slope of the curve is equal to the slope of the line.
        let farthest = FULL_AGE / (1.0 + FULL_AGE / self.offset).ln() - self.offset;
        let off = self.of_wait(farthest) - weight * farthest / FULL_AGE;
        (weight.round(), off)
    }
}
