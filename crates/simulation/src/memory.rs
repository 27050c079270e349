//! How long the queues before bottlenecks remember, by theory: what a run that is shorter has seen of them is chance,
//! and it does not show that.

use super::sample::{Sample, Seen};

/// The relative standard error of what waits before a bottleneck is at most the root of 1 over this.
const WORTH: f64 = 100.0;

/// Relaxation times that each replication lasts.
const RELAXATIONS: f64 = 10.0;

/// Times that each replication could serve, with what the bottleneck has to spare, all that waits on average. A rule
/// that loses room while little waits keeps longer queues than those of the relaxation time.
const BACKLOGS: f64 = 10.0;

/// A run that lacks more will never be long enough.
const MOST: f64 = 1e12;

/// An interval is at least this part of what it is by theory because sizes vary more than exponential ones: one that is
/// narrower has by chance not seen the sizes that matter. All of it would be too wide: most runs are nearer the truth than
/// the fourth moment lets hope, which next to none of them sees.
const LEAST: f64 = 0.5;

/// Returns what is left of a run after the warm-up, if that is enough for batches; it knows what waits no better than theory
/// allows.
pub(super) fn sample(seen: &Seen<'_>) -> Option<Sample> {
    let mut sample = Sample::new(seen)?;
    let time = sample.length * seen.engines.len() as f64;
    let errors = bottlenecks(seen, &sample).map(|own| {
        let more = own.variance(&own.moments) - own.variance(&own.exponential);
        (LEAST * (more.max(0.0) / time).sqrt(), own.share)
    });
    let worst = errors.max_by(|a, b| (a.0 * a.1).total_cmp(&(b.0 * b.1)));
    sample.least_error = worst.unwrap_or_default();
    Some(sample)
}

/// Returns how many times as long the run would have to be for its means to be believed; at most 1 where they may be.
///
/// Of the theory, only by how much of the jobs in the system waits comes from the run: a run that by chance saw few long
/// queues is not taken for a settled one.
pub(super) fn lacks(seen: &Seen<'_>, sample: &Sample) -> f64 {
    let least = bottlenecks(seen, sample).map(|own| own.least_length(seen.engines.len()));
    let lacks = least.fold(0.0, f64::max) / sample.length;
    // Finite, as it is printed and written.
    lacks.min(MOST)
}

fn bottlenecks<'a>(
    seen: &'a Seen<'_>,
    sample: &'a Sample,
) -> impl Iterator<Item = Bottleneck> + 'a {
    let count = seen.classes.iter().map(|class| class.demands.len()).min();
    (0..count.unwrap_or(0)).map(|j| Bottleneck::new(j, seen, sample))
}

/// The work that waits before a resource, as a part of what that does in a unit of time.
#[derive(Default)]
struct Bottleneck {
    /// What it has to spare, 1 − ρ.
    spare: f64,
    /// `Σ λ_i E[(d_i S_i)^n]` for n = 2, 3, 4, d_i the part of it that a job holds; n = 2 with the index of dispersion
    /// of arrivals in place of 1.
    moments: [f64; 3],
    /// The same if sizes were exponential.
    exponential: [f64; 3],
    /// The work of all jobs that wait on average, each counted whole.
    waiting: f64,
    /// The part of this in the work of all jobs.
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

    /// Returns whether by chance anything waits that has a level: which one that cannot keep up has is for others to say, and
    /// of clockwork nothing is by chance.
    fn waits(&self) -> bool {
        self.spare > 0.0 && self.share > 0.0 && self.moments[0] > 0.0
    }

    /// Returns the squared error of what waits on average over a time, times that time, if jobs had these moments; relatively
    /// to what waits, and 0 where nothing does.
    ///
    /// The work V of M/G/1 has by Poisson's equation, solved by `v²/2θ` with θ = 1 − ρ, the mean `m = M₂/2θ`, and its
    /// mean over a time T the variance `(M₂ E[V²] + M₃ m + M₄/4)/(θ² T)`, where `E[V²] = 2m² + M₃/3θ`. In heavy
    /// traffic that is `τ m²/T` with the relaxation time `τ = 2M₂/θ²` of Brownian motion reflected at 0: Whitt,
    /// "Planning queueing simulations", Management Science 35(11), 1989.
    fn variance(&self, [second, third, fourth]: &[f64; 3]) -> f64 {
        if !self.waits() {
            return 0.0;
        }
        let (spare, waits) = (self.spare, self.moments[0] / (2.0 * self.spare));
        let mean = second / (2.0 * spare);
        let square = 2.0 * mean * mean + third / (3.0 * spare);
        (second * square + third * mean + fourth / 4.0) / (spare * waits).powi(2)
    }

    /// Returns how long each of so many replications has to be. How little is known of what waits counts as far as jobs
    /// wait.
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
