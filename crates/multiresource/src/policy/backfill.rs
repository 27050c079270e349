use super::backfilling::{Backfilling, Estimates, Queue, TypeOrderQueue, Waiting};
use super::capacity::PackedDemand;
use super::drain::DrainEstimator;
use super::{Event, Information, System};
use crate::schedule::Packing;
use crate::workload::Workload;

/// Selects the next job that can pass a blocked job (the lead): the oldest job that fits, and that
/// - also fits next to the capacity that is kept, or
/// - has a mean size of at most `κ` (`let_in`) times the remaining waiting time of the lead, as if
///   all jobs with at most this mean size had left, so that short jobs do not extend the time that
///   allows them to start. With limits, its limit must instead be at most `κ` times the time until
///   the lead fits according to the limits of the running jobs.
#[derive(Clone, Debug)]
pub(super) struct BackfillRule {
    pub let_in: f64,
    pub drains: DrainEstimator,
    queue_by_limits: Option<TypeOrderQueue>,
    packed: PackedDemand,
    empty_server: Vec<u64>,
    kept: Vec<u64>,
    free: Vec<u64>,
}

impl BackfillRule {
    pub(super) fn new(let_in: f64, by_limits: bool, workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let packed = PackedDemand::new(&packing);
        let empty_server: Vec<u64> = packed.empty(packing.capacity());
        let easy = Backfilling::easy(Estimates::Limits);
        BackfillRule {
            let_in,
            drains: DrainEstimator::new(workload),
            queue_by_limits: by_limits.then(|| TypeOrderQueue::new(&easy, workload, 1)),
            kept: empty_server.clone(),
            packed,
            empty_server,
            free: Vec::new(),
        }
    }

    pub(super) fn knows(&self) -> Information {
        let queue = self.queue_by_limits.as_ref();
        queue.map_or(Information::Means, Queue::knows)
    }

    pub(super) fn look(&mut self, event: Event, system: &System) {
        if let Some(jobs) = &mut self.queue_by_limits {
            jobs.look(event, system);
        }
    }

    pub(super) fn take_over(&mut self, system: &System) {
        if let Some(jobs) = &mut self.queue_by_limits {
            jobs.running().forget();
            jobs.rebuild(system);
        }
    }

    pub(super) fn start(&mut self, i: usize, system: &mut System) {
        match &mut self.queue_by_limits {
            Some(jobs) => jobs.start_first(i, &[0], system),
            None => system.start(i),
        }
    }

    pub(super) fn start_all_that_fit(&mut self, system: &mut System) {
        while let Some(i) = system.oldest_fitting_type() {
            self.start(i, system);
        }
    }

    pub(super) fn keep_nothing(&mut self) {
        self.kept.copy_from_slice(&self.empty_server);
    }

    /// Keeps capacity for up to `jobs` jobs of type `i`. Returns for how many it was sufficient.
    pub(super) fn keep(&mut self, i: usize, jobs: u64) -> u32 {
        let count = self.packed.most(&self.kept, i, jobs);
        self.packed.take(&mut self.kept, i, count);
        count as u32
    }

    /// Starts the oldest job that can pass the next job of type `lead`, or returns `false`. Without
    /// limits, the wait of the lead is computed as if only the jobs outside `staying` leave.
    pub(super) fn start_one_past(
        &mut self,
        lead: usize,
        staying: &[u32],
        system: &mut System,
    ) -> bool {
        let within = self.queue_by_limits.as_mut().map_or(0.0, |jobs| {
            let running = jobs.running();
            let until = running.earliest_fit(lead, 0, &mut self.free, system);
            self.let_in * (until - system.now())
        });
        let mut oldest: Option<(u64, usize, Option<Waiting>)> = None;
        for i in 0..staying.len() {
            let Some(head) = system.nth_number(i, 0).filter(|_| system.fits(i)) else {
                continue;
            };
            if oldest.is_some_and(|(other, ..)| other < head) {
                continue;
            }
            let first = if self.packed.fits(&self.kept, i, 1) {
                Some((head, None))
            } else if let Some(jobs) = &self.queue_by_limits {
                let waiting = jobs.first_within(i, within);
                waiting.map(|waiting| (waiting.job.number, Some(waiting)))
            } else {
                let mean = self.drains.means[i];
                let left = self.drains.wait(lead, staying, mean, system);
                (mean <= self.let_in * left).then_some((head, None))
            };
            if let Some((number, waiting)) = first
                && oldest.is_none_or(|(other, ..)| number < other)
            {
                oldest = Some((number, i, waiting));
            }
        }
        match (oldest, &mut self.queue_by_limits) {
            (None, _) => return false,
            (Some((.., Some(waiting))), Some(jobs)) => jobs.start(waiting, &[0], system),
            (Some((_, i, _)), _) => self.start(i, system),
        }
        true
    }
}
