//! What one reading of a trace counts.

use std::collections::{BTreeMap, HashMap};

use num_integer::Integer;

use super::course::Course;
use super::dispersion::Windows;
use super::sizes::Sizes;
use crate::trace::{Job, Trace, TraceError};

/// Sums over all jobs of a trace; memory does not grow with their number.
#[derive(Debug)]
pub struct Tally {
    /// By vector of demands.
    pub vectors: Vec<Counted>,
    /// When the first and the last job were submitted \[ticks\].
    pub span: Option<(i64, i64)>,
    /// Work by windows of time.
    pub windows: Windows,
    /// Work over the span.
    pub course: Course,
    /// Jobs that came together.
    pub together: Together,
    /// The greatest common divisor of all times since the first submission \[ticks\]: what the clock is read to; 0 where all
    /// come at one instant.
    pub grid: u64,
    /// Work by day from the first submission on.
    pub days: BTreeMap<u64, f64>,
    by_limit: bool,
    per_second: u64,
}

/// The jobs of one vector.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// By class of limits, see [`Tally::class_of`]; all in class 0 where limits are not looked at.
    pub classes: BTreeMap<u8, Class>,
}

/// The jobs of one vector and class of limits.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Those that were seen to their end.
    pub whole: Sizes,
    /// Those that still ran at the end.
    pub censored: Sizes,
}

impl Class {
    /// Returns how many arrived.
    pub fn arrived(&self) -> u64 {
        self.whole.count() + self.censored.count()
    }
}

impl Counted {
    /// Returns how many arrived.
    pub fn arrived(&self) -> u64 {
        self.classes.values().map(Class::arrived).sum()
    }
}

/// The class of jobs with this limit \[ticks\]: the least c with limit ≤ 2^c; [`NO_LIMIT`] of those with none, 0.
fn class(limit: u64) -> u8 {
    match limit {
        0 => NO_LIMIT,
        limit => (u64::BITS - (limit - 1).leading_zeros()) as u8,
    }
}

/// The class of jobs without a limit.
pub const NO_LIMIT: u8 = u8::MAX;

/// Jobs that came at one instant with others of their user, or of their batch where batches are named.
#[derive(Clone, Debug, Default)]
pub struct Together {
    /// How many did.
    pub jobs: u64,
    /// Whether the trace names batches.
    pub is_named: bool,
    instant: Option<i64>,
    /// By user or batch: how many came at this instant.
    open: HashMap<u32, u64>,
}

impl Together {
    fn add(&mut self, job: &Job) {
        if self.instant != Some(job.submit) {
            self.close();
            self.instant = Some(job.submit);
        }
        self.is_named |= job.batch != 0;
        let who = if self.is_named { job.batch } else { job.user };
        if who != 0 {
            *self.open.entry(who).or_default() += 1;
        }
    }

    fn close(&mut self) {
        self.jobs += self.open.values().filter(|count| **count > 1).sum::<u64>();
        self.open.clear();
    }
}

/// Jobs between two calls of who hears how far it is.
pub const OFTEN: u64 = 1 << 18;

impl Tally {
    /// Reads a trace to its end, jobs told apart by their limits or not. `progress` hears now and then how many jobs were read; once it says `false`,
    /// reading ends.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn of(
        trace: &mut Trace,
        by_limit: bool,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Self, TraceError> {
        let per_second = trace.tick().per_second();
        let mut tally = Tally {
            vectors: Vec::new(),
            span: None,
            windows: Windows::new(per_second, per_second),
            course: Course::new(per_second),
            together: Together::default(),
            grid: 0,
            days: BTreeMap::new(),
            per_second,
            by_limit,
        };
        let mut read = 0;
        while let Some(job) = trace.next_job()? {
            tally.add(&job, trace.work(&job));
            read += 1;
            if read % OFTEN == 0 && !progress(read) {
                break;
            }
        }
        tally.together.close();
        Ok(tally)
    }

    fn add(&mut self, job: &Job, work: f64) {
        let (first, _) = self.span.unwrap_or((job.submit, job.submit));
        self.span = Some((first, job.submit));
        let (at, v) = (job.submit.abs_diff(first), job.demand as usize);
        if self.vectors.len() <= v {
            self.vectors.resize(v + 1, Counted::default());
        }
        let class = self.class_of(job);
        let own = self.vectors[v].classes.entry(class).or_default();
        if job.is_censored {
            own.censored.add(job.size);
        } else {
            own.whole.add(job.size);
        }
        self.grid = at.gcd(&self.grid);
        self.windows.add(at, v, work);
        self.course.add(at, work);
        self.together.add(job);
        let day = at / (86_400 * self.per_second);
        *self.days.entry(day).or_default() += work;
    }

    /// Returns the class of limits that a job is counted in.
    pub fn class_of(&self, job: &Job) -> u8 {
        if self.by_limit { class(job.limit) } else { 0 }
    }

    /// Returns how many of the jobs that arrived still ran at the end.
    pub fn censored(&self) -> u64 {
        let classes = self
            .vectors
            .iter()
            .flat_map(|counted| counted.classes.values());
        classes.map(|class| class.censored.count()).sum()
    }

    /// Returns how many jobs arrived.
    pub fn arrived(&self) -> u64 {
        self.vectors.iter().map(Counted::arrived).sum()
    }
}
