//! A host and its client: jobs run in the order in which they came, unless one would miss its deadline; then the earliest
//! deadline runs first.

use crate::policy;
use crate::workload::{Campaign, Processor};
use synth_simulation::{RandomStream, Sampler, Streams};

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
pub(super) struct Pool {
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

impl Pool {
    pub(super) fn new(count: u32, speed: f64) -> Self {
        Pool {
            count,
            speed,
            ..Pool::default()
        }
    }

    fn running(&self) -> usize {
        self.tasks.len().min(self.count as usize)
    }

    /// Returns the time of one processor that all its jobs still take, and those with tight deadlines \[time\].
    pub(super) fn left(&self) -> [f64; 2] {
        let mut left = [0.0; 2];
        for task in &self.tasks {
            left[0] += task.left;
            left[1] += if task.tight { task.left } else { 0.0 };
        }
        left
    }

    /// Counts processors that have no job.
    pub(super) fn idle(&self) -> u32 {
        self.count.saturating_sub(self.tasks.len() as u32)
    }

    /// Adds a job.
    pub(super) fn push(&mut self, task: Task) {
        let order = self.came;
        let task = Task { order, ..task };
        self.came += 1;
        let behind = |other: &Task| !self.urgent || other.deadline <= task.deadline;
        let at = self.tasks.iter().rposition(behind).map_or(0, |n| n + 1);
        self.tasks.insert(at, task);
    }

    /// Returns the job that ends first, and how long it still runs.
    fn next_end(&self) -> Option<(usize, f64)> {
        let running = self.tasks[..self.running()].iter().map(|task| task.left);
        running.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Chooses the order: that of arrival, unless by it a job would miss its deadline. Returns how many jobs are stopped that
    /// were running.
    pub(super) fn choose(&mut self, now: f64, availability: f64) -> u64 {
        let urgent = self.misses(now, availability);
        if urgent != self.urgent {
            self.urgent = urgent;
            self.tasks.sort_by_key(|task| task.order);
            if urgent {
                self.tasks.sort_by(|a, b| a.deadline.total_cmp(&b.deadline));
            }
        }
        let running = self.running();
        let (run, wait) = self.tasks.split_at_mut(running);
        run.iter_mut().for_each(|task| task.runs = true);
        let stopped = wait.iter_mut().map(|task| std::mem::take(&mut task.runs));
        stopped.map(u64::from).sum()
    }

    /// Returns whether a job would miss its deadline in the order of arrival, at the usual availability.
    fn misses(&self, now: f64, availability: f64) -> bool {
        let (mut all, mut longest, mut earliest) = (0.0, 0.0_f64, f64::INFINITY);
        for task in &self.tasks {
            all += task.left;
            longest = longest.max(task.left);
            earliest = earliest.min(task.deadline);
        }
        if now + (all / f64::from(self.count) + longest) / availability <= earliest {
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

/// What hosts of a group draw again and again.
pub(super) struct Group {
    /// The times that a host is off, and on; none where it always is on.
    pub turns: Option<[Sampler; 2]>,
    pub delay: Option<Sampler>,
    /// The least delay \[time\]: a report that takes longer may be replaced by another instance.
    pub least_delay: f64,
    pub error: f64,
    pub vanish: f64,
}

impl Group {
    /// Returns how long a host stays on or off \[time\]; infinity where it always is on.
    pub(super) fn turn(&self, on: bool, stream: &mut RandomStream) -> f64 {
        let law = self.turns.as_ref().map(|laws| &laws[usize::from(on)]);
        law.map_or(f64::INFINITY, |law| law.draw(stream))
    }
}

/// A host.
#[derive(Clone)]
pub(super) struct Host {
    /// Its group.
    pub group: usize,
    /// Processors by type.
    pub pools: [Pool; TYPES],
    /// The fraction of time that it is on.
    pub availability: f64,
    /// Work that it wants to have queued \[time\].
    pub buffer: f64,
    /// The least time between two requests \[time\].
    pub contact: f64,
    /// Whether it is on.
    pub on: bool,
    /// When it is switched on or off next.
    pub next_switch: f64,
    /// When it asks for work next; infinity while it wants none, or is off.
    pub next_request: f64,
    /// When it requested work last.
    pub last_request: f64,
    /// Until when its jobs have run.
    pub since: f64,
    /// Draws when it is on and off.
    pub turns: RandomStream,
    /// Draws its results.
    pub results: RandomStream,
}

impl Host {
    /// Lets its jobs run until now.
    pub(super) fn advance(&mut self, now: f64) {
        if self.on {
            let ran = now - self.since;
            for pool in &mut self.pools {
                let running = pool.running();
                for task in &mut pool.tasks[..running] {
                    task.left = (task.left - ran).max(0.0);
                }
            }
        }
        self.since = now;
    }

    /// Returns the time of its next event.
    pub(super) fn next(&self) -> f64 {
        if !self.on {
            return self.next_switch;
        }
        let ends = self.pools.iter().filter_map(Pool::next_end);
        let left = ends.map(|(_, left)| left).fold(f64::INFINITY, f64::min);
        let end = self.since + left;
        end.min(self.next_switch).min(self.next_request)
    }

    /// Takes a job that has run to its end by now.
    pub(super) fn take(&mut self) -> Option<Task> {
        self.pools.iter_mut().find_map(|pool| {
            let (n, left) = pool.next_end()?;
            (left <= 1e-12 * self.since).then(|| pool.tasks.remove(n))
        })
    }

    /// Returns what it has and wants.
    pub(super) fn processors(&self) -> [policy::Host; TYPES] {
        self.pools.each_ref().map(|pool| {
            let count = f64::from(pool.count);
            let each = |left: f64| left / count.max(1.0) / self.availability;
            let [queue, busy] = pool.left().map(each);
            policy::Host {
                count: pool.count,
                wanted: ((self.buffer - queue) * count).max(0.0),
                idle: pool.idle(),
                queue,
                busy,
                first: pool.tasks.iter().filter(|task| task.first).count() as u32,
            }
        })
    }

    /// Chooses the order of all its jobs. Returns how many were stopped.
    pub(super) fn choose(&mut self, now: f64) -> u64 {
        let pools = self.pools.iter_mut();
        pools.map(|own| own.choose(now, self.availability)).sum()
    }

    /// Sets when it asks for work next, if it stays on and no job ends before: once half of what it wants is queued, or a
    /// processor has none.
    pub(super) fn plan_request(&mut self, now: f64) {
        let half = self.buffer / 2.0 * self.availability;
        let waits = self.pools.iter().map(|pool| {
            if pool.idle() > 0 {
                return 0.0;
            }
            let beyond = pool.left()[0] - half * f64::from(pool.count);
            beyond.max(0.0) / pool.running() as f64
        });
        // A type of which it has no processor never asks: 0/0.
        let first = waits.filter(|wait| !wait.is_nan());
        let first = first.fold(f64::INFINITY, f64::min);
        let next = (now + first).max(self.last_request + self.contact);
        self.next_request = if self.on { next } else { f64::INFINITY };
    }
}

/// A thousandth of the horizon between two requests where the workload does not say how long.
const CONTACTS: f64 = 1000.0;

/// Draws all hosts. Each has streams of its own, so that what one of them does changes nothing for another.
pub(super) fn population(campaign: &Campaign, streams: &Streams) -> (Vec<Group>, Vec<Host>) {
    let mut stream = streams.service.clone();
    let (mut groups, mut hosts) = (Vec::new(), Vec::new());
    for (n, record) in campaign.record().hosts.iter().enumerate() {
        let turns = record.availability.as_ref();
        let group = Group {
            turns: turns.map(|own| [&own.off, &own.on].map(Sampler::of)),
            delay: record.delay.as_ref().map(Sampler::of),
            least_delay: record.least_delay(),
            error: record.error.value(),
            vanish: record.vanish.value(),
        };
        let usual = campaign.horizon() / CONTACTS;
        let contact = record.contact.map_or(usual, |own| own.value());
        let speeds = Processor::ALL.map(|own| record.speed_of(own).map(Sampler::of));
        let buffer = Sampler::of(&record.buffer);
        for _ in 0..record.count {
            stream.leap();
            let mut turns = stream.clone();
            stream.leap();
            let pools = Processor::ALL.map(|own| match &speeds[own as usize] {
                Some(law) => Pool::new(record.processors(own), law.draw(&mut turns)),
                None => Pool::default(),
            });
            let buffer = buffer.draw(&mut turns);
            // Hosts do not all ask at once.
            let first = contact * turns.uniform();
            let availability = record.on_fraction();
            let on = turns.uniform() < availability || group.turns.is_none();
            hosts.push(Host {
                group: n,
                pools,
                availability,
                buffer,
                contact,
                on,
                next_switch: group.turn(on, &mut turns),
                next_request: if on { first } else { f64::INFINITY },
                last_request: first - contact,
                since: 0.0,
                turns,
                results: stream.clone(),
            });
        }
        groups.push(group);
    }
    (groups, hosts)
}
