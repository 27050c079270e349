//! What a second reading counts, once the types and the grain of the clock are known.

use std::collections::HashMap;

use super::arrivals::Batched;
use super::dispersion::Windows;
use super::made::Made;
use super::tally::OFTEN;
use crate::trace::{Job, Trace, TraceError};

/// Windows on the grain of the clock, and the batches of each type.
#[derive(Debug)]
pub struct Again {
    /// Work by windows of time.
    pub windows: Windows,
    /// Batches by type.
    pub batches: Vec<Batched>,
    /// The instant that is read now, and its jobs by batch and type: how many, and sums of sizes and of their squares.
    instant: Option<i64>,
    open: HashMap<(u32, usize), (u32, f64, f64)>,
    first: Option<i64>,
}

impl Again {
    /// Reads a trace again to its end. `progress` hears now and then how many jobs were read; once it says `false`,
    /// reading ends.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn of(
        trace: &mut Trace,
        made: &Made<'_>,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Self, TraceError> {
        let mut again = Again {
            windows: Windows::new(made.shortest(), trace.tick().per_second()),
            batches: vec![Batched::default(); made.types()],
            instant: None,
            open: HashMap::new(),
            first: None,
        };
        let mut read = 0;
        while let Some(job) = trace.next_job()? {
            let since = job.submit.abs_diff(*again.first.get_or_insert(job.submit));
            let work = trace.work(&job);
            again.windows.add(since, job.demand as usize, work);
            if let Some(i) = made.type_of(&job) {
                again.add(&job, i, made.batch_of(&job));
            }
            read += 1;
            if read % OFTEN == 0 && !progress(read) {
                break;
            }
        }
        again.close();
        Ok(again)
    }

    /// A job of type i of this batch, or of no other job's where that is 0.
    fn add(&mut self, job: &Job, i: usize, batch: u32) {
        if self.instant != Some(job.submit) {
            self.close();
            self.instant = Some(job.submit);
        }
        let size = job.size as f64;
        if batch == 0 {
            self.batches[i].add(1, size, size * size);
            return;
        }
        let (jobs, sum, squares) = self.open.entry((batch, i)).or_default();
        *jobs += 1;
        *sum += size;
        *squares += size * size;
    }

    fn close(&mut self) {
        for ((_, i), (jobs, sum, squares)) in self.open.drain() {
            self.batches[i].add(jobs, sum, squares);
        }
    }
}
