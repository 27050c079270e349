//! When the schedulers look at the queue.

/// When the schedulers look next, and looked last \[s\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// The main one, at the first jobs of the queue, where the end of one is seen at once.
    pub main: f64,
    /// The same, where one has come, or its end is seen later.
    pub queued: f64,
    /// The main one, at all of it.
    pub full: f64,
    /// Backfilling.
    pub backfill: f64,
    /// `queued` and `backfill` while nothing waits: what they would be counts for when these look again.
    pub idle: [f64; 2],
    /// When priorities are calculated anew.
    pub priorities: f64,
    pub last_queued: f64,
    pub last_backfill: f64,
}

impl Times {
    /// Before all jobs.
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

    /// Nothing is looked at any more.
    pub(super) fn stop(&mut self) {
        *self = Times {
            idle: [self.queued, self.backfill],
            last_queued: self.last_queued,
            last_backfill: self.last_backfill,
            ..Times::NEVER
        };
    }

    /// What was due while nothing waited has been.
    pub(super) fn go_on(&mut self, now: f64) {
        let [queued, backfill] = std::mem::replace(&mut self.idle, [f64::INFINITY; 2]);
        if queued <= now {
            self.last_queued = queued;
        }
        if backfill <= now {
            self.last_backfill = backfill;
        }
    }

    /// Returns when something is due next.
    pub(super) fn next(&self) -> f64 {
        let first = self.main.min(self.queued).min(self.full);
        first.min(self.backfill).min(self.priorities)
    }
}
