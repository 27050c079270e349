//! This module computes the relaxation times at the bottlenecks with the theory of queues, because
//! the data of a run do not show if it is too short for them.

use super::sample::{Sample, Seen};

/// The inverse of the largest squared relative standard error of the waiting work.
const WORTH: f64 = 100.0;

/// The minimum length of a replication in relaxation times.
const RELAXATIONS: f64 = 10.0;

/// The minimum length of a replication, as a multiple of the time that the spare capacity needs for
/// the mean waiting work, because some rules lose capacity if few jobs wait.
const BACKLOGS: f64 = 10.0;

/// The largest value of [`lacks`], which must be finite because it is printed.
const MAX_LACK: f64 = 1e12;

/// The minimum width of an interval, as a fraction of the additional width that theory predicts for
/// sizes that vary more than exponential sizes. A narrower interval has probably not seen the sizes
/// that matter; the full width would be too wide for nearly all runs.
const MIN_WIDTH: f64 = 0.5;

/// Returns the sample after the warm-up, with intervals as wide as the theory requires.
pub(super) fn sample(seen: &Seen<'_>) -> Option<Sample> {
    let mut sample = Sample::new(seen)?;
    let time = sample.length * seen.engines.len() as f64;
    let errors = bottlenecks(seen, &sample).map(|own| {
        let more = own.variance(&own.moments) - own.variance(&own.exponential);
        (MIN_WIDTH * (more.max(0.0) / time).sqrt(), own.share)
    });
    let worst = errors.max_by(|a, b| (a.0 * a.1).total_cmp(&(b.0 * b.1)));
    sample.least_error = worst.unwrap_or_default();
    Some(sample)
}

/// Returns the factor (> 1) by which a run is too short for reliable means. Only the share of
/// waiting jobs is measured, to reject a run that has seen few long queues by chance.
pub(super) fn lacks(seen: &Seen<'_>, sample: &Sample) -> f64 {
    let least = bottlenecks(seen, sample).map(|own| own.least_length(seen.engines.len()));
    let lacks = least.fold(0.0, f64::max) / sample.length;
    lacks.min(MAX_LACK)
}

fn bottlenecks<'a>(
    seen: &'a Seen<'_>,
    sample: &'a Sample,
) -> impl Iterator<Item = Bottleneck> + 'a {
    let count = seen.classes.iter().map(|class| class.demands.len()).min();
    (0..count.unwrap_or(0)).map(|j| Bottleneck::new(j, seen, sample))
}

/// A resource. Its work is measured in the time that the whole resource needs to do it.
#[derive(Default)]
struct Bottleneck {
    spare: f64,
    /// `Σ λ_i E[(d_i S_i)^n]` for `n = 2, 3, 4`, where `d_i` is the fraction of the resource that
    /// is held by a job. For `n = 2`, the second moment is the squared mean multiplied by the sum
    /// of the squared coefficient of variation and the index of dispersion of the arrivals.
    moments: [f64; 3],
    /// The same values if the sizes were exponential.
    exponential: [f64; 3],
    /// The mean work of the jobs that wait, where each job is counted with its full size.
    waiting: f64,
    /// `waiting` divided by the work of all jobs in the system.
    share: f64,
}

impl Bottleneck {
    fn new(j: usize, seen: &Seen<'_>, sample: &Sample) -> Self {
        let (classes, columns) = (seen.classes, sample.columns);
        let mean = |column: usize| {
            let average = sample.time_average(|row| row[column]);
            average.map_or(0.0, |e| e.mean)
        };
        let mut own = Bottleneck {
            spare: 1.0,
            ..Self::default()
        };
        let mut all = 0.0;
        for (i, class) in classes.iter().enumerate() {
            let (rate, work) = (class.arrival_rate, class.demands[j] * class.mean_size);
            own.spare -= rate * work;
            let [third, fourth] = class.higher;
            let powers = [class.scv + class.dispersion, third, fourth];
            let exponential = [1.0 + class.dispersion, 6.0, 24.0];
            for (n, (power, other)) in powers.iter().zip(exponential).enumerate() {
                let of_work = rate * work.powi(n as i32 + 2);
                own.moments[n] += power * of_work;
                own.exponential[n] += other * of_work;
            }
            let present = mean(columns.present(i));
            own.waiting += work * (present - mean(columns.busy(i))).max(0.0);
            all += work * present;
        }
        own.share = if all > 0.0 { own.waiting / all } else { 0.0 };
        own
    }

    /// Returns `true` if there is a queue with a steady state that is caused by randomness.
    fn waits(&self) -> bool {
        self.spare > 0.0 && self.share > 0.0 && self.moments[0] > 0.0
    }

    /// Returns the squared relative error of the mean waiting work, multiplied by the length of the
    /// run, for jobs with these moments; 0 if no work waits.
    ///
    /// Poisson's equation can be solved with `v²/2θ`, where `θ = 1 − ρ`. This shows that the work
    /// `V` of an `M/G/1` queue has the mean `m = M₂/2θ`, and that its average over a time `T` has
    /// the variance `(M₂ E[V²] + M₃ m + M₄/4)/(θ² T)`, where `E[V²] = 2m² + M₃/3θ`. In heavy
    /// traffic, this is equal to `τ m²/T`, where `τ = 2M₂/θ²` is the relaxation time of reflected
    /// Brownian motion (Whitt, "Planning queueing simulations", Management Science 35(11), 1989).
    fn variance(&self, [second, third, fourth]: &[f64; 3]) -> f64 {
        if !self.waits() {
            return 0.0;
        }
        let (spare, waits) = (self.spare, self.moments[0] / (2.0 * self.spare));
        let mean = second / (2.0 * spare);
        let square = 2.0 * mean * mean + third / (3.0 * spare);
        (second * square + third * mean + fourth / 4.0) / (spare * waits).powi(2)
    }

    /// Returns the minimum length of a replication \[time\], lower if only some of the work waits.
    fn least_length(&self, replications: usize) -> f64 {
        if !self.waits() {
            return 0.0;
        }
        let square = self.share.powi(2);
        let relaxation = 2.0 * self.moments[0] / self.spare.powi(2);
        (WORTH * self.variance(&self.moments) * square / replications as f64)
            .max(RELAXATIONS * relaxation * square)
            .max(BACKLOGS * self.waiting / self.spare * self.share)
    }
}
