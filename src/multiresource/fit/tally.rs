//! What one reading of a trace counts.

use std::collections::HashMap;

use super::course::{Calendar, Course};
use super::dispersion::Windows;
use super::sizes::Sizes;
use crate::trace::{Job, Seen, Trace, TraceError};

/// Sums over all jobs of a trace; memory does not grow with their number.
#[derive(Debug)]
pub struct Tally {
    /// By vector of demands.
    pub vectors: Vec<Counted>,
    /// When the first and the last job were submitted \[ticks\]; those that were there before do not count.
    pub span: Option<(i64, i64)>,
    /// Work by windows of time.
    pub windows: Windows,
    /// Work over the span.
    pub course: Course,
    /// Work by hour and day.
    pub calendar: Calendar,
    /// Jobs that came together.
    pub together: Together,
    /// Sums of the times between arrivals \[ticks\] and of their squares.
    pub gaps: (f64, f64),
    /// Work of each job (Σ and Σ²): size \[ticks\] times its share of all servers.
    per_second: u64,
}

/// The jobs of one vector.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Those that were seen to their end.
    pub whole: Sizes,
    /// Those that still ran at the end.
    pub censored: Sizes,
    /// Those that were there before the start.
    pub initial: u64,
}

impl Counted {
    /// How many arrived.
    pub fn arrived(&self) -> u64 {
        self.whole.count() + self.censored.count()
    }
}

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
const OFTEN: u64 = 1 << 18;

impl Tally {
    /// Reads a trace to its end. `progress` hears now and then how many jobs were read; once it says `false`,
    /// reading ends.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn of(
        trace: &mut Trace,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Self, TraceError> {
        let per_second = trace.tick().per_second();
        let mut tally = Tally {
            vectors: Vec::new(),
            span: None,
            windows: Windows::new(per_second),
            course: Course::new(per_second),
            calendar: Calendar::default(),
            together: Together::default(),
            gaps: (0.0, 0.0),
            per_second,
        };
        let mut shares: Vec<f64> = Vec::new();
        let mut read = 0;
        while let Some(job) = trace.next_job()? {
            for demand in &trace.demands().vectors()[shares.len()..] {
                shares.push(trace.share(demand));
            }
            tally.add(&job, shares[job.demand as usize]);
            read += 1;
            if read % OFTEN == 0 && !progress(read) {
                break;
            }
        }
        tally.together.close();
        Ok(tally)
    }

    fn add(&mut self, job: &Job, share: f64) {
        let v = job.demand as usize;
        if self.vectors.len() <= v {
            self.vectors.resize(v + 1, Counted::default());
        }
        let counted = &mut self.vectors[v];
        match job.seen {
            Seen::Whole => counted.whole.add(job.size),
            Seen::Censored => counted.censored.add(job.size),
            Seen::Initial => {
                counted.initial += 1;
                return;
            }
        }
        let (first, last) = self.span.unwrap_or((job.submit, job.submit));
        let gap = (job.submit - last) as f64;
        self.gaps = (self.gaps.0 + gap, self.gaps.1 + gap * gap);
        self.span = Some((first, job.submit));
        let (at, work) = (job.submit.abs_diff(first), share * job.size as f64);
        self.windows.add(at, v, work);
        self.course.add(at, work);
        self.calendar
            .add(job.submit.div_euclid(self.per_second as i64), work);
        self.together.add(job);
    }

    /// How many jobs arrived.
    pub fn arrived(&self) -> u64 {
        self.vectors.iter().map(Counted::arrived).sum()
    }
}
