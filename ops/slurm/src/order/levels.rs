//! How many points of a priority an order is.

use synth_multiresource::policy::Priority;

/// So many points are a factor of ten: of the limit or of the share, whichever counts more.
pub const A_DECADE: f64 = 600.0;

/// The longest limit that counts, a year \[min\], and the largest share \[CPUs\].
const LIMITS: f64 = 525_600.0;
const SHARES: f64 = 1e6;

/// When the age of a job is full, as Slurm has it where nothing is said \[s\].
pub(super) const FULL_AGE: f64 = 7.0 * 86_400.0;

/// Points of jobs: of limit and share a job loses so many with each factor of ten, of the wait it gets them. All orders have a
/// multiple of these numbers in common, which is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriorityLevels {
    /// Of the limit.
    pub limit: f64,
    /// Of the share.
    pub share: f64,
    /// Of the wait…
    pub wait: f64,
    /// …to which this is added \[s\].
    pub offset: f64,
    /// Those of a job of one minute and one CPU: so many that none of a year and a million CPUs has less than one.
    pub base: f64,
}

impl PriorityLevels {
    /// Returns those of an order by limits, of which one exponent is not 0.
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

    /// Returns the site factor of a job with this limit \[s\], a year where it has none, and this share \[CPUs\], as job_submit.lua
    /// writes it.
    pub fn site_factor(&self, limit: Option<f64>, share: f64) -> f64 {
        let minutes = limit.map_or(LIMITS, |limit| (limit / 60.0).clamp(1.0, LIMITS));
        let points = self.base - self.limit * minutes.log10() - self.share * share.max(1.0).log10();
        (points + 0.5).floor().clamp(1.0, 2e6)
    }

    /// Returns what a wait \[s\] is worth.
    pub fn of_wait(&self, waited: f64) -> f64 {
        match self.wait > 0.0 {
            true => self.wait * (1.0 + waited / self.offset).log10(),
            false => 0.0,
        }
    }

    /// Returns the weight of Slurm's age, whose factor is a straight line from 0 to 1 at [`FULL_AGE`], and by how many points the
    /// wait is worth more in between.
    pub fn age_weight(&self) -> (f64, f64) {
        let weight = self.of_wait(FULL_AGE);
        // Where the curve is as steep as the line.
        let farthest = FULL_AGE / (1.0 + FULL_AGE / self.offset).ln() - self.offset;
        let off = self.of_wait(farthest) - weight * farthest / FULL_AGE;
        (weight.round(), off)
    }
}
