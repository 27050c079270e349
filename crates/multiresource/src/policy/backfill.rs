//! Who starts before a job that waits for room.

use super::backfilling::{Estimated, Estimates, Waiting};
use super::drain::Drains;
use super::room::Packed;
use super::{Event, Knows, System};
use crate::schedule::Packing;
use crate::workload::Workload;

/// Of the waiting jobs that fit, oldest first, those that fit beside what room is kept for; and those whose mean size
/// is at most κ times what would be left of the wait if all running jobs no longer than they had left: so short
/// jobs that are let in cannot keep the wait up. Where limits are known, in place of the latter those whose limit
/// is at most κ times what is left of the wait by the limits of the running jobs.
#[derive(Clone, Debug)]
pub(super) struct BackfillRule {
    /// κ.
    pub let_in: f64,
    pub drains: Drains,
    /// The jobs by their limits, where these are looked at.
    limits: Option<Estimated>,
    packed: Packed,
    empty: Vec<u64>,
    /// The room that is kept.
    used: Vec<u64>,
    /// What is free once the wait is over, of each resource.
    free: Vec<u64>,
}

impl BackfillRule {
    pub(super) fn new(let_in: f64, by_limits: bool, workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let packed = Packed::new(&packing);
        let empty: Vec<u64> = packed.nothing_of(packing.capacity());
        let limits = || Estimated::new(Estimates::Limits, workload, 1);
        BackfillRule {
            let_in,
            drains: Drains::new(workload),
            limits: by_limits.then(limits),
            used: empty.clone(),
            packed,
            empty,
            free: Vec::new(),
        }
    }

    pub(super) fn knows(&self) -> Knows {
        let limits = self.limits.as_ref();
        limits.map_or(Knows::Means, |jobs| jobs.lengths.estimates.knows())
    }

    /// What has happened.
    pub(super) fn look(&mut self, event: Event, system: &System) {
        if let Some(jobs) = &mut self.limits {
            jobs.look(event, system);
        }
    }

    /// Begins with what waits and runs now.
    pub(super) fn take_over(&mut self, system: &System) {
        if let Some(jobs) = &mut self.limits {
            jobs.running.forget();
            jobs.look_anew(system);
        }
    }

    /// Starts the oldest job of type i.
    pub(super) fn start(&mut self, i: usize, system: &mut System) {
        match &mut self.limits {
            Some(jobs) => jobs.start_oldest(i, &[0], system),
            None => system.start(i),
        }
    }

    /// Starts, oldest first, every waiting job that fits.
    pub(super) fn start_all_that_fit(&mut self, system: &mut System) {
        while let Some(i) = system.oldest_fitting_type() {
            self.start(i, system);
        }
    }

    /// Room is kept for nothing.
    pub(super) fn keep_nothing(&mut self) {
        self.used.copy_from_slice(&self.empty);
    }

    /// Room is kept for as many of these jobs of type i as there is for: how many.
    pub(super) fn keep(&mut self, i: usize, jobs: u64) -> u32 {
        let count = self.packed.most(&self.used, i, jobs);
        self.packed.take(&mut self.used, i, count);
        count as u32
    }

    /// Starts the oldest job that may pass the next one of type `lead`, for which all running jobs leave but
    /// those that are kept: whether there was one.
    pub(super) fn pass(&mut self, lead: usize, staying: &[u32], system: &mut System) -> bool {
        // How long a job may take by its limit that passes the lead.
        let within = self.limits.as_ref().map_or(0.0, |jobs| {
            let until = jobs.running.room_for(lead, 0, &mut self.free, system);
            self.let_in * (until - system.now())
        });
        let mut oldest: Option<(u64, usize, Option<Waiting>)> = None;
        for i in 0..staying.len() {
            let Some(head) = system.nth_number(i, 0).filter(|_| system.fits(i)) else {
                continue;
            };
            // No job of this type is older than its head.
            if oldest.is_some_and(|(other, ..)| other < head) {
                continue;
            }
            let first = if self.packed.fits(&self.used, i, 1) {
                Some((head, None))
            } else if let Some(jobs) = &self.limits {
                let waiting = jobs.oldest_within(i, within);
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
        match (oldest, &mut self.limits) {
            (None, _) => return false,
            (Some((.., Some(waiting))), Some(jobs)) => jobs.start(waiting, &[0], system),
            (Some((_, i, _)), _) => self.start(i, system),
        }
        true
    }
}
