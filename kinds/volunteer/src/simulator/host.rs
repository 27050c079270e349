//! A host and its client. Jobs run in the order of arrival, or by deadline if one would be missed.

use crate::policy;
use crate::workload::{Campaign, Processor};
use synth_simulation::{RandomStream, Sampler, Streams};

pub(super) const TYPES: usize = Processor::ALL.len();

#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub instance: u32,
    /// The remaining run time while the host is on \[time\].
    pub left: f64,
    pub deadline: f64,
    /// Whether it was sent with a tight deadline, and before there was an estimate for its batch.
    pub tight: bool,
    pub first: bool,
    pub order: u64,
    /// Whether it was running after the last time that the order was selected.
    pub runs: bool,
}

/// The processors of one type, and the list of their jobs. The first `count` jobs are running.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub count: u32,
    /// The speed \[work/time\].
    pub speed: f64,
    tasks: Vec<Task>,
    /// Whether the jobs are in the order of their deadlines.
    urgent: bool,
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

    /// Returns the remaining time on a single processor for all jobs, and for the tight ones.
    pub(super) fn left(&self) -> [f64; 2] {
        let mut left = [0.0; 2];
        for task in &self.tasks {
            left[0] += task.left;
            left[1] += if task.tight { task.left } else { 0.0 };
        }
        left
    }

    pub(super) fn idle(&self) -> u32 {
        self.count.saturating_sub(self.tasks.len() as u32)
    }

    pub(super) fn push(&mut self, task: Task) {
        let order = self.came;
        let task = Task { order, ..task };
        self.came += 1;
        let behind = |other: &Task| !self.urgent || other.deadline <= task.deadline;
        let at = self.tasks.iter().rposition(behind).map_or(0, |n| n + 1);
        self.tasks.insert(at, task);
    }

    fn next_end(&self) -> Option<(usize, f64)> {
        let running = self.tasks[..self.running()].iter().map(|task| task.left);
        running.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Selects the order of arrival, or of the deadlines if a job would miss its deadline. Returns
    /// the number of running jobs that are stopped.
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

    /// Returns `true` if a job would miss its deadline in the order of arrival, where the host is
    /// on for its mean fraction of the time.
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
            *next > task.deadline * (1.0 + 1e-9)
        })
    }
}

pub(super) struct Group {
    /// The time for which a host is off, and on, or `None` if it is always on.
    pub turns: Option<[Sampler; 2]>,
    pub delay: Option<Sampler>,
    /// The minimum delay \[time\]. If a report takes longer, the instance may have been replaced.
    pub least_delay: f64,
    pub error: f64,
    pub vanish: f64,
}

impl Group {
    pub(super) fn turn(&self, on: bool, stream: &mut RandomStream) -> f64 {
        let law = self.turns.as_ref().map(|laws| &laws[usize::from(on)]);
        law.map_or(f64::INFINITY, |law| law.draw(stream))
    }
}

#[derive(Clone)]
pub(super) struct Host {
    pub group: usize,
    pub pools: [Pool; TYPES],
    pub availability: f64,
    /// The amount of work that it keeps queued, and the minimum time between two requests \[time\].
    pub buffer: f64,
    pub contact: f64,
    pub on: bool,
    pub next_switch: f64,
    pub next_request: f64,
    pub last_request: f64,
    /// The time until which its jobs have been advanced.
    pub since: f64,
    pub turns: RandomStream,
    pub results: RandomStream,
}

impl Host {
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

    pub(super) fn next(&self) -> f64 {
        if !self.on {
            return self.next_switch;
        }
        let ends = self.pools.iter().filter_map(Pool::next_end);
        let left = ends.map(|(_, left)| left).fold(f64::INFINITY, f64::min);
        let end = self.since + left;
        end.min(self.next_switch).min(self.next_request)
    }

    pub(super) fn take(&mut self) -> Option<Task> {
        self.pools.iter_mut().find_map(|pool| {
            let (n, left) = pool.next_end()?;
            (left <= 1e-12 * self.since).then(|| pool.tasks.remove(n))
        })
    }

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

    pub(super) fn choose(&mut self, now: f64) -> u64 {
        let pools = self.pools.iter_mut();
        pools.map(|own| own.choose(now, self.availability)).sum()
    }

    /// Plans a request for when half of the buffer is queued or a processor is idle.
    pub(super) fn plan_request(&mut self, now: f64) {
        let half = self.buffer / 2.0 * self.availability;
        let waits = self.pools.iter().map(|pool| {
            if pool.idle() > 0 {
                return 0.0;
            }
            let beyond = pool.left()[0] - half * f64::from(pool.count);
            beyond.max(0.0) / pool.running() as f64
        });
        // If there are no processors of this type, the result is `0/0`.
        let first = waits.filter(|wait| !wait.is_nan());
        let first = first.fold(f64::INFINITY, f64::min);
        let next = (now + first).max(self.last_request + self.contact);
        self.next_request = if self.on { next } else { f64::INFINITY };
    }
}

/// By default, the time between two requests is at least the horizon divided by this number.
const CONTACTS: f64 = 1000.0;

/// Draws all hosts. Each one has its own random streams, and does not depend on the others.
pub(super) fn population(campaign: &Campaign, streams: &Streams) -> (Vec<Group>, Vec<Host>) {
    let mut stream = streams.service.clone();
    let (mut groups, mut hosts) = (Vec::new(), Vec::new());
    for (n, record) in campaign.record.hosts.iter().enumerate() {
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
