/// The times of the next and the previous passes of the schedulers \[s\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// The next pass of the main scheduler after the end of a job that is noticed immediately.
    pub main: f64,
    /// The next pass of the main scheduler after other events.
    pub queued: f64,
    /// The next pass of the main scheduler over the whole queue.
    pub full: f64,
    pub backfill: f64,
    /// The values of `queued` and `backfill` when the queue became empty.
    idle: [f64; 2],
    pub priorities: f64,
    pub last_queued: f64,
    pub last_backfill: f64,
}

impl Times {
    pub(super) const NEVER: Times = Times {
        main: f64::INFINITY,
        queued: f64::INFINITY,
        full: f64::INFINITY,
        backfill: f64::INFINITY,
        idle: [f64::INFINITY; 2],
        priorities: f64::INFINITY,
        last_queued: f64::NEG_INFINITY,
        last_backfill: f64::NEG_INFINITY,
    };

    pub(super) fn stop(&mut self) {
        *self = Times {
            idle: [self.queued, self.backfill],
            last_queued: self.last_queued,
            last_backfill: self.last_backfill,
            ..Times::NEVER
        };
    }

    /// Records the passes that were due while the queue was empty.
    pub(super) fn resume(&mut self, now: f64) {
        let [queued, backfill] = std::mem::replace(&mut self.idle, [f64::INFINITY; 2]);
        if queued <= now {
            self.last_queued = queued;
        }
        if backfill <= now {
            self.last_backfill = backfill;
        }
    }

    pub(super) fn next(&self) -> f64 {
        let first = self.main.min(self.queued).min(self.full);
        first.min(self.backfill).min(self.priorities)
    }
}
