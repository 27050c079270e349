//! What is known of the past at a moment: how long jobs ran of what was promised, and which came when.

use std::collections::HashMap;

use synth_traces::replay::ReplayJob;
use synth_traces::trace::Observed;

/// Jobs that have come, of which some have ended.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// By class, the lengths of jobs that ended, the latest last.
    lengths: HashMap<Class, Vec<f64>>,
    /// All that have come, by submission; NaN for the sizes of those that have not ended.
    came: Vec<ReplayJob>,
}

/// Jobs that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Class {
    /// Of one user, with one limit and one demand.
    Same(u32, u64, u32),
    /// Of one user, with one limit.
    Promised(u32, u64),
    /// Of one user.
    User(u32, bool),
    /// Of any user, with a limit up to twice as long.
    Limit(i32),
    /// All, with limits or without.
    All(bool),
}

impl Class {
    /// Returns those of a job, the narrowest first, with how many of the latest are looked at.
    fn all(job: &ReplayJob) -> [(Class, usize); 5] {
        let (user, promised) = (job.user, job.promised);
        let has_limit = promised.is_finite();
        [
            (Class::Same(user, promised.to_bits(), job.kind), 20),
            (Class::Promised(user, promised.to_bits()), 20),
            // Nobody is not a user.
            (Class::User(user, has_limit), if user == 0 { 0 } else { 30 }),
            (Class::Limit(promised.log2().floor() as i32), 60),
            (Class::All(has_limit), 60),
        ]
    }
}

/// So many jobs of a narrow class count as much as all wider ones.
const DOUBT: f64 = 2.0;

/// What lengths are counted in: limits, or ticks where there is none.
fn unit(job: &ReplayJob) -> f64 {
    let limit = Some(job.promised).filter(|limit| limit.is_finite());
    limit.unwrap_or(1.0)
}

impl Past {
    /// A job has come; nothing is looked at of its size.
    pub fn came(&mut self, job: &ReplayJob) {
        let size = f64::NAN;
        self.comes_with(&ReplayJob { size, ..*job });
    }

    /// A job came; NaN for its size where it has not ended.
    pub fn comes_with(&mut self, job: &ReplayJob) {
        self.came.push(*job);
    }

    /// The n-th that came has ended after it ran so long \[ticks\].
    pub fn ended(&mut self, n: usize, size: f64) {
        self.came[n].size = size;
        let job = self.came[n];
        self.learn(&job);
    }

    /// Jobs may be like this one, which has ended after its size. Of one that ran when the log began only the rest is
    /// known: it says nothing.
    pub fn learn(&mut self, job: &ReplayJob) {
        if job.seen == Observed::Initial {
            return;
        }
        for (class, _) in Class::all(job) {
            let lengths = self.lengths.entry(class).or_default();
            lengths.push(job.size / unit(job));
        }
    }

    /// Returns how many have ended.
    pub fn known(&self) -> usize {
        let all = [true, false].map(|has| self.lengths.get(&Class::All(has)).map_or(0, Vec::len));
        all.iter().sum()
    }

    /// Returns all that have come.
    pub fn jobs(&self) -> &[ReplayJob] {
        &self.came
    }

    /// Returns how long a job may run that has run for so long \[ticks\].
    pub fn law(&self, job: &ReplayJob, ran: f64) -> RuntimeLaw {
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
            // Nothing is known of such: up to its limit, or as long again.
            let longest = match job.promised {
                f64::INFINITY => 2.0 * ran + 1.0,
                promised if promised > ran => promised.min(1e15),
                _ => 2.0 * ran,
            };
            lengths.push((longest, 1.0));
        }
        RuntimeLaw(lengths)
    }
}

/// How long a job may run \[ticks\]: lengths in ascending order, each with the probability of all up to it.
#[derive(Clone, Debug)]
pub struct RuntimeLaw(Vec<(f64, f64)>);

impl RuntimeLaw {
    /// Returns the length at a level in \[0, 1\].
    pub fn at(&self, level: f64) -> f64 {
        let place = self.0.partition_point(|(_, up_to)| *up_to < level);
        self.0[place.min(self.0.len() - 1)].0
    }
}
