use super::by_priority::JobOrderQueue;
use super::conservative::Profile;
use super::estimator::LearnedRuntimes;
use super::queue::Queue;
use super::reservations::Reservations;
use crate::policy::{Event, Information, Job, Policy, System};

/// Backfilling on one server, based on a plan that is created from scratch for each decision.
///
/// Each job, in queue order, is planned at the earliest time at which it fits next to the running
/// jobs and the plan, for its whole limit. If this is now, the job starts. Only the first `most`
/// jobs that do not start stay in the plan.
/// With one reservation, this is EASY backfilling if no job runs longer than its limit, and with
/// reservations for all, conservative backfilling (Mu'alem and Feitelson, IEEE TPDS 12(6), 2001,
/// section 2), except that reservations are not kept: a new job may be placed before a waiting job.
/// If no waiting job fits, a decision takes `O(K)`. Otherwise it takes `O(waiting · log waiting)`,
/// and `O(R · (running + planned))` for each job that is planned or fits.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    queue: JobOrderQueue,
    most: usize,
}

impl Planned {
    pub(super) fn new(reservations: Reservations, queue: JobOrderQueue) -> Self {
        let most = match reservations {
            Reservations::Few(count) => count as usize,
            _ => usize::MAX,
        };
        Planned { queue, most }
    }
}

impl Policy for Planned {
    fn information(&self) -> Information {
        self.queue.knows()
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        self.decide(system);
    }

    fn decides_on_state(&self) -> bool {
        true
    }

    fn note(&mut self, event: Event, system: &mut System) {
        self.queue.look(event, system);
    }

    fn decide(&mut self, system: &mut System) {
        let any_fits = |system: &System| system.queued().any(|i| system.fits(i));
        if !any_fits(system) {
            return;
        }
        self.queue.restore_order(system);
        let (now, mut profile) = (system.now(), Profile::ahead(self.queue.running(), system));
        let (mut planned, mut started) = (0, vec![0; system.types()]);
        for mut waiting in self.queue.in_order() {
            let i = waiting.job_type;
            let (fits, keeps) = (system.fits(i), planned < self.most);
            if !fits && !keeps {
                continue;
            }
            let start = profile.earliest(system.demand(i), waiting.estimate);
            let starts = fits && start <= now;
            if starts || keeps && start.is_finite() {
                profile.take(start, start + waiting.estimate, system.demand(i));
                planned += usize::from(!starts);
            }
            if starts {
                // The jobs of this type that have just been started were before it in the queue.
                waiting.place -= started[i];
                started[i] += 1;
                self.queue.start(waiting, &[0], system);
                if !any_fits(system) {
                    return;
                }
            }
        }
    }

    fn take_over(&mut self, system: &mut System) {
        self.queue.running().forget();
        self.changed(system);
    }

    fn changed(&mut self, system: &mut System) {
        self.queue.rebuild(system);
        self.decide(system);
    }

    fn ahead(&self, i: usize, job: Job) -> Option<usize> {
        self.queue.ahead(i, job)
    }

    fn learned(&self) -> Option<LearnedRuntimes> {
        self.queue.learned()
    }
}
