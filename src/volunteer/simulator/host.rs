//! A host and its client: jobs run in the order in which they came, unless one would miss its
//! deadline; then the earliest deadline runs first.

use crate::simulation::Stream;
use crate::volunteer::workload::Processor;

/// Types of processors.
pub(super) const TYPES: usize = Processor::ALL.len();

/// A job that a host has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// The instance.
    pub instance: u32,
    /// How long it still runs while the host is on \[time\].
    pub left: f64,
    /// When it is to be returned \[time\].
    pub deadline: f64,
    /// Whether it was sent to be run before others.
    pub tight: bool,
    /// Whether it was sent while its batch had no estimate.
    pub first: bool,
    /// In which order it came.
    pub order: u64,
    /// Whether it ran when the order was chosen last.
    pub runs: bool,
}

/// Processors of one type, and the jobs for them; the first ones of the list run.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// How many processors.
    pub count: u32,
    /// Of each \[work/time\].
    pub speed: f64,
    tasks: Vec<Task>,
    /// Whether deadlines decide.
    urgent: bool,
    /// Jobs that came so far.
    came: u64,
}

impl Side {
    pub fn new(count: u32, speed: f64) -> Self {
        Side {
            count,
            speed,
            ..Side::default()
        }
    }

    fn running(&self) -> usize {
        self.tasks.len().min(self.count as usize)
    }

    /// Time of one processor that all its jobs still take, and those with tight deadlines \[time\].
    pub fn left(&self) -> [f64; 2] {
        let mut left = [0.0; 2];
        for task in &self.tasks {
            left[0] += task.left;
            left[1] += if task.tight { task.left } else { 0.0 };
        }
        left
    }

    /// Jobs that were sent while their batch had no estimate.
    pub fn first_jobs(&self) -> u32 {
        self.tasks.iter().filter(|task| task.first).count() as u32
    }

    /// Processors that have no job.
    pub fn idle(&self) -> u32 {
        self.count.saturating_sub(self.tasks.len() as u32)
    }

    /// One more job.
    pub fn push(&mut self, task: Task) {
        let task = Task {
            order: self.came,
            ..task
        };
        self.came += 1;
        let behind = |other: &Task| !self.urgent || other.deadline <= task.deadline;
        let at = self.tasks.iter().rposition(behind).map_or(0, |n| n + 1);
        self.tasks.insert(at, task);
    }

    /// The job that ends first, and how long it still runs.
    fn next_end(&self) -> Option<(usize, f64)> {
        let running = self.tasks[..self.running()].iter().enumerate();
        let first = running.min_by(|a, b| a.1.left.total_cmp(&b.1.left));
        first.map(|(n, task)| (n, task.left))
    }

    /// Chooses the order: that of arrival, unless by it a job would miss its deadline. Returns how many
    /// jobs are stopped that were running.
    pub fn choose(&mut self, now: f64, availability: f64) -> u64 {
        let urgent = self.misses(now, availability);
        if urgent != self.urgent {
            self.urgent = urgent;
            if urgent {
                let due = |task: &Task| task.deadline;
                let by = |a: &Task, b: &Task| due(a).total_cmp(&due(b)).then(a.order.cmp(&b.order));
                self.tasks.sort_by(by);
            } else {
                self.tasks.sort_by_key(|task| task.order);
            }
        }
        let running = self.running();
        let (run, wait) = self.tasks.split_at_mut(running);
        run.iter_mut().for_each(|task| task.runs = true);
        let stopped = wait.iter_mut().map(|task| std::mem::take(&mut task.runs));
        stopped.map(u64::from).sum()
    }

    /// Whether a job would miss its deadline in the order of arrival, at the usual availability.
    fn misses(&self, now: f64, availability: f64) -> bool {
        let (mut all, mut longest, mut earliest) = (0.0, 0.0_f64, f64::INFINITY);
        for task in &self.tasks {
            all += task.left;
            longest = longest.max(task.left);
            earliest = earliest.min(task.deadline);
        }
        let count = f64::from(self.count);
        if now + (all / count + longest) / availability <= earliest {
            return false;
        }
        let mut order: Vec<&Task> = self.tasks.iter().collect();
        if self.urgent {
            order.sort_by_key(|task| task.order);
        }
        let mut free = vec![now; self.count as usize];
        order.into_iter().any(|task| {
            let next = free.iter_mut().min_by(|a, b| a.total_cmp(b));
            let Some(next) = next else { return false };
            *next += task.left / availability;
            // What just fits does not miss.
            *next > task.deadline * (1.0 + 1e-9)
        })
    }
}

/// A host.
#[derive(Clone)]
pub(super) struct Host {
    /// Its group.
    pub group: usize,
    /// Processors by type.
    pub sides: [Side; TYPES],
    /// The fraction of time that it is on.
    pub availability: f64,
    /// Work that it keeps queued \[time\].
    pub buffer: f64,
    /// The least time between two requests \[time\].
    pub contact: f64,
    /// Whether it is on.
    pub on: bool,
    /// When it is switched on or off next.
    pub switch: f64,
    /// When it asks for work next; infinity while it wants none, or is off.
    pub asks: f64,
    /// When it asked last.
    pub asked: f64,
    /// Until when its jobs have run.
    pub since: f64,
    /// When it is on and off.
    pub life: Stream,
    /// What its results are.
    pub luck: Stream,
}

impl Host {
    /// Its jobs run until now.
    pub fn advance(&mut self, now: f64) {
        if self.on {
            let ran = now - self.since;
            for side in &mut self.sides {
                let running = side.running();
                for task in &mut side.tasks[..running] {
                    task.left = (task.left - ran).max(0.0);
                }
            }
        }
        self.since = now;
    }

    /// When something happens to it next.
    pub fn next(&self) -> f64 {
        if !self.on {
            return self.switch;
        }
        let ends = self
            .sides
            .iter()
            .filter_map(|side| Some(side.next_end()?.1));
        let end = self.since + ends.fold(f64::INFINITY, f64::min);
        end.min(self.switch).min(self.asks)
    }

    /// Takes a job that has run to its end by now.
    pub fn take(&mut self) -> Option<(Processor, Task)> {
        for (processor, side) in Processor::ALL.into_iter().zip(&mut self.sides) {
            if let Some((n, left)) = side.next_end()
                && left <= 1e-12 * self.since
            {
                return Some((processor, side.tasks.remove(n)));
            }
        }
        None
    }

    /// How long until all that it has on this side is done, and what is tight; by the clock \[time\].
    pub fn queues(&self, side: usize) -> [f64; 2] {
        let side = &self.sides[side];
        let count = f64::from(side.count.max(1));
        side.left().map(|left| left / count / self.availability)
    }

    /// Chooses the order of all its jobs. Returns how many were stopped.
    pub fn choose(&mut self, now: f64) -> u64 {
        let availability = self.availability;
        self.sides
            .iter_mut()
            .map(|side| side.choose(now, availability))
            .sum()
    }

    /// When it asks for work next, if it stays on and no job ends before: once half of what it wants is
    /// queued, or a processor has none.
    pub fn plan_to_ask(&mut self, now: f64) {
        let half = self.buffer / 2.0 * self.availability;
        let wants = self.sides.iter().map(|side| {
            if side.idle() > 0 {
                return 0.0;
            }
            let beyond = side.left()[0] - half * f64::from(side.count);
            beyond.max(0.0) / side.running() as f64
        });
        // A type of which it has no processor never asks: 0/0.
        let first = wants.filter(|wait| !wait.is_nan());
        let first = first.fold(f64::INFINITY, f64::min);
        self.asks = f64::INFINITY;
        if self.on {
            self.asks = (now + first).max(self.asked + self.contact);
        }
    }
}
