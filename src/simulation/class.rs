/// A class of jobs, as far as statistics look at it: the types of a workload, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Arrival rate λ \[1/time\], > 0.
    pub arrival_rate: f64,
    /// Mean size E\[S\] \[time\], > 0.
    pub mean_size: f64,
    /// Squared coefficient of variation of its sizes, ≥ 0.
    pub scv: f64,
    /// Index of dispersion of its arrivals, `lim Var N(t) / E N(t)`: 1 for Poisson arrivals. Where
    /// other classes arrive more often at the same times, or sizes that arrive together are alike,
    /// it counts that in.
    pub dispersion: f64,
    /// Its share of the load, the weight of its mean in a weighted mean; of sum 1 over all classes.
    pub weight: f64,
}

impl Class {
    /// Offered load λ E\[S\].
    pub fn offered_load(&self) -> f64 {
        self.arrival_rate * self.mean_size
    }

    /// Whether its jobs are in service for less than one time in ten thousand: runs end that saw next to
    /// none of them, and tell nothing about the class itself.
    pub(crate) fn is_rare(&self) -> bool {
        self.offered_load() < 1e-4
    }

    /// E\[S²\]/2E\[S\] \[time\]: what is left on average of a job in service that is looked at.
    pub fn residual(&self) -> f64 {
        self.mean_size * f64::midpoint(1.0, self.scv)
    }
}

/// Σ λ_i \[1/time\].
pub fn total_arrival_rate(classes: &[Class]) -> f64 {
    classes.iter().map(|class| class.arrival_rate).sum()
}
