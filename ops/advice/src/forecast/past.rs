use std::collections::HashMap;

use synth_traces::replay::ReplayJob;
use synth_traces::trace::Observed;

/// The jobs that have arrived, some of which have ended.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The run times relative to the limits in each class, sorted by the time when the jobs ended.
    lengths: HashMap<Class, Vec<f64>>,
    /// Sorted by submission. If a job has not ended, its size is NaN.
    came: Vec<ReplayJob>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Class {
    Same(u32, u64, u32),
    Promised(u32, u64),
    User(u32, bool),
    /// A limit that is rounded to the same power of two.
    Limit(i32),
    All(bool),
}

impl Class {
    /// Returns the classes of a job, the smallest first, and how many of the last jobs to use.
    fn all(job: &ReplayJob) -> [(Class, usize); 5] {
        let (user, promised) = (job.user, job.promised);
        let has_limit = promised.is_finite();
        [
            (Class::Same(user, promised.to_bits(), job.kind), 20),
            (Class::Promised(user, promised.to_bits()), 20),
            (Class::User(user, has_limit), if user == 0 { 0 } else { 30 }),
            (Class::Limit(promised.log2().floor() as i32), 60),
            (Class::All(has_limit), 60),
        ]
    }
}

/// The number of jobs in a small class that have the same weight as all of the larger classes.
const DOUBT: f64 = 2.0;

fn unit(job: &ReplayJob) -> f64 {
    let limit = Some(job.promised).filter(|limit| limit.is_finite());
    limit.unwrap_or(1.0)
}

impl Past {
    /// Adds a job that has arrived. If it has not ended, its size must be NaN.
    pub fn arrive(&mut self, job: ReplayJob) {
        self.came.push(job);
    }

    /// Records that the `n`-th job has ended, after running for `size` ticks.
    pub fn ended(&mut self, n: usize, size: f64) {
        self.came[n].size = size;
        let job = self.came[n];
        self.learn(&job);
    }

    pub(super) fn learn(&mut self, job: &ReplayJob) {
        // The run time of a job that was running at the start is not known.
        if job.seen == Observed::Initial {
            return;
        }
        for (class, _) in Class::all(job) {
            let lengths = self.lengths.entry(class).or_default();
            lengths.push(job.size / unit(job));
        }
    }

    pub(crate) fn known(&self) -> usize {
        let all = [true, false].map(|has| self.lengths.get(&Class::All(has)).map_or(0, Vec::len));
        all.iter().sum()
    }

    pub(super) fn jobs(&self) -> &[ReplayJob] {
        &self.came
    }

    /// Returns the distribution of the run time of a job that has been running for `ran` ticks.
    pub(super) fn run_time_distribution(&self, job: &ReplayJob, ran: f64) -> RunTimeDistribution {
        let unit = unit(job);
        let mut lengths: Vec<(f64, f64)> = Vec::new();
        let mut rest = 1.0;
        for (class, most) in Class::all(job) {
            let Some(own) = self.lengths.get(&class).filter(|_| most > 0) else {
                continue;
            };
            let own = &own[own.len().saturating_sub(most)..];
            let count = own.len() as f64;
            let share = rest * count / (count + DOUBT);
            rest -= share;
            let longer = own.iter().map(|length| length * unit);
            let longer = longer.filter(|length| *length > ran);
            lengths.extend(longer.map(|length| (length, share / count)));
        }
        lengths.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = lengths.iter().map(|(_, share)| share).sum();
        let mut sum = 0.0;
        for (_, share) in &mut lengths {
            sum += *share / total;
            *share = sum;
        }
        if lengths.is_empty() {
            let longest = match job.promised {
                f64::INFINITY => 2.0 * ran + 1.0,
                promised if promised > ran => promised.min(1e15),
                _ => 2.0 * ran,
            };
            lengths.push((longest, 1.0));
        }
        RunTimeDistribution(lengths)
    }
}

/// The distribution of a run time in ticks: the sorted run times with cumulative probabilities.
#[derive(Clone, Debug)]
pub(super) struct RunTimeDistribution(Vec<(f64, f64)>);

impl RunTimeDistribution {
    pub(super) fn at(&self, level: f64) -> f64 {
        let place = self.0.partition_point(|(_, up_to)| *up_to < level);
        self.0[place.min(self.0.len() - 1)].0
    }
}
