//! This module models the scheduler of Slurm 22.05.8 as a rule for replays and simulations.
//!
//! Two schedulers share one queue, which is sorted by the tier of the partition, then by priority,
//! and then by submission. The *main* scheduler (`job_scheduler.c`) runs when a job ends, a few
//! seconds after a submission, and periodically. It starts the jobs in order. A job that does not
//! fit blocks its partition and the nodes of that partition. The *backfill* scheduler
//! (`backfill.c`) runs every `bf_interval`. It plans the earliest start of each job on nodes that
//! are not reserved for earlier jobs, and starts the job or reserves whole nodes for it. It assumes
//! that running jobs end at their limits and groups these ends into windows, so the planned starts
//! are too late. Both schedulers apply the limits of QOS and accounts.
//!
//! Preemption, manual reservations, licenses, features and constraints, dependencies, heterogeneous
//! jobs, and the time that is needed for scheduling are not modeled. If a job has several
//! partitions, only the first one is used.

mod facts;
mod fair_share;
mod limits;
mod nodes;
mod passes;
mod plan;
mod priority;
mod recorded;
mod servers;
#[cfg(test)]
mod tests;
mod times;

use std::cmp::Ordering;
use std::sync::Arc;

pub use facts::{Facts, clock_of, facts, prepare};
pub use recorded::RecordedJobs;
pub use servers::SlurmRule;

use limits::{CPUS, Limits};
use nodes::{Models, Nodes};
use priority::Factors;
use times::Times;

use crate::configuration::{SitePartition, SlurmSite, factor};
use crate::order::PriorityPoints;
use fixedbitset::FixedBitSet;
use synth_core::number::seconds_in;
use synth_multiresource::policy::{Event, Information, Job, Policy, System};
use synth_multiresource::simulator::ExternalRule as _;
use synth_multiresource::workload::{Fleet, JobType};

/// The tolerance of the times of events \[s\], because the conversion of units has rounding errors.
const TIME_TOLERANCE: f64 = 1e-6;
/// The minimum time between two passes in a forecast, relative to the time since its beginning.
const FORECAST_RESOLUTION: f64 = 0.1;
/// The time limit that is used for a job without a limit \[s\].
const YEAR: f64 = 365.0 * 86_400.0;

fn demand(job: &JobType) -> Vec<f64> {
    job.demand().iter().map(|own| own.value()).collect()
}

fn set_of(servers: usize, members: impl IntoIterator<Item = usize>) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(servers);
    set.extend(members);
    set
}

#[derive(Clone, Debug)]
struct SlurmPolicy {
    site: Arc<SlurmSite>,
    /// The facts of each job by its number, where missing facts have the default.
    jobs: Arc<[Facts]>,
    /// The beginning of a forecast \[s\], or infinity.
    forecast_from: f64,
    levels: Option<PriorityPoints>,
    second: f64,
    clock: f64,
    /// If this is [`Information::Sizes`], the sizes are used as time limits.
    knows: Information,
    members: Vec<FixedBitSet>,
    nodes: Nodes,
    limits: Limits,
    factors: Factors,
    /// Sorted by [`Waiting::order`].
    waiting: Vec<Waiting>,
    running: Vec<Running>,
    times: Times,
}

/// A waiting job. All times are in seconds.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    i: usize,
    job: Job,
    facts: Facts,
    submit: f64,
    limit: f64,
    priority: f64,
    tier: u32,
    has_started: bool,
}

impl Waiting {
    fn order(&self, other: &Waiting) -> Ordering {
        let by_tier = other.tier.cmp(&self.tier);
        by_tier
            .then_with(|| other.priority.total_cmp(&self.priority))
            .then(self.job.number.cmp(&other.job.number))
    }
}

#[derive(Clone, Copy, Debug)]
struct Running {
    number: u64,
    i: usize,
    facts: Facts,
    /// The time up to which the usage has been counted \[s\].
    counted: f64,
}

impl Running {
    fn usage(&self, now: f64, limits: &Limits) -> Option<(u32, f64)> {
        let cpus = limits.types[self.i][CPUS];
        Some((self.facts.association?, cpus * (now - self.counted)))
    }
}

impl SlurmPolicy {
    /// Creates the rule. The server of node n is `servers[n]`, if there is one.
    fn new(
        rule: &SlurmRule,
        (site, jobs): (Arc<SlurmSite>, Arc<[Facts]>),
        fleet: &Fleet,
        servers: &[Option<usize>],
    ) -> Self {
        let count = fleet.servers();
        let mut weights = vec![1; count];
        for (node, n) in site.nodes.iter().zip(servers) {
            if let Some(n) = n {
                weights[*n] = node.weight;
            }
        }
        let names = fleet.envelope().resources().iter().map(|own| own.name());
        let cpu = names.clone().position(|own| own == "cpu");
        let cpus = fleet.shapes().iter().map(|shape| {
            let each = cpu.map_or(0.0, |j| shape.capacity()[j].value());
            f64::from(shape.count()) * each
        });
        // If a node is down now, we assume that it was up when the jobs ran.
        let server = |n: &usize| servers[*n];
        let members = |own: &SitePartition| set_of(count, own.nodes.iter().filter_map(server));
        let types = fleet.types().iter().map(|job| (demand(job), job.nodes()));
        let unit = seconds_in(fleet.time_unit()).unwrap_or(1.0);
        SlurmPolicy {
            members: site.partitions.iter().map(members).collect(),
            nodes: Nodes::new(weights, cpu.unwrap_or(0), Models::new(fleet)),
            limits: Limits::new(&site, names, types),
            factors: Factors::new(&site, cpus.sum(), count),
            second: rule.second.unwrap_or(1.0 / unit),
            knows: rule.information(fleet),
            clock: rule.clock,
            levels: rule.order.map(PriorityPoints::of),
            forecast_from: f64::INFINITY,
            jobs,
            waiting: Vec::new(),
            running: Vec::new(),
            times: Times::NEVER,
            site,
        }
    }

    fn facts(&self, number: u64) -> Facts {
        self.jobs.get(number as usize).copied().unwrap_or_default()
    }

    fn now(&self, system: &System) -> f64 {
        system.now() / self.second + self.clock
    }

    fn wait(&mut self, i: usize, job: Job, system: &System) {
        if self.waiting.is_empty() && self.order_changes_with_time() {
            self.reorder(self.now(system));
        }
        let facts = self.facts(job.number);
        let partition = &self.site.partitions[facts.partition as usize];
        let own = match self.knows {
            Information::Sizes => system.work_left(job),
            _ => system.limit_of(job),
        };
        let own = Some(own / self.second).filter(|own| own.is_finite());
        let limit = own.or(partition.default_time).unwrap_or(YEAR);
        let max_wall = self.limits.max_wall(&facts);
        let limit = limit.min(max_wall.unwrap_or(YEAR));
        let mut waiting = Waiting {
            i,
            job,
            facts,
            submit: job.arrived / self.second + self.clock,
            limit: limit.min(partition.max_time.unwrap_or(YEAR)),
            priority: 0.0,
            tier: partition.tier,
            has_started: false,
        };
        if let Some(levels) = &self.levels {
            let share = self.limits.types[i][CPUS];
            waiting.facts.site_factor += levels.site_factor(own.or(partition.default_time), share);
        }
        waiting.priority = self.priority(&waiting, self.now(system));
        let is_before = |other: &Waiting| other.order(&waiting).is_lt();
        let place = self.waiting.partition_point(is_before);
        self.waiting.insert(place, waiting);
    }

    fn priority(&self, waiting: &Waiting, now: f64) -> f64 {
        if !self.priority_is_a_sum() {
            // If the priorities are all equal, the jobs are sorted by submission.
            return 0.0;
        }
        let amounts = &self.limits.types[waiting.i];
        let waited = now - waiting.submit;
        self.factors
            .priority(&waiting.facts, amounts, waited, waiting.limit)
    }

    fn count_usage(&mut self, now: f64) {
        for own in &mut self.running {
            self.factors.used(own.usage(now, &self.limits), now);
            own.counted = now;
        }
    }

    fn reorder(&mut self, now: f64) {
        self.count_usage(now);
        self.factors.settle(now);
        for n in 0..self.waiting.len() {
            self.waiting[n].priority = self.priority(&self.waiting[n], now);
        }
        self.waiting.sort_by(Waiting::order);
    }

    fn start(&mut self, place: usize, servers: &[usize], system: &mut System) {
        let now = self.now(system);
        let own = &mut self.waiting[place];
        own.has_started = true;
        // The times in Slurm are whole seconds.
        let end = (now + own.limit).floor();
        let (i, job) = (own.i, own.job);
        system.start_job_on(i, job, servers);
        self.add_running(i, job.number, servers, end, now);
    }

    fn add_running(&mut self, i: usize, number: u64, servers: &[usize], end: f64, counted: f64) {
        let facts = self.facts(number);
        self.nodes.start(servers, end, i, number);
        self.limits.count(i, &facts, 1.0);
        self.running.push(Running {
            number,
            i,
            facts,
            counted,
        });
    }

    fn ended(&mut self, system: &System) {
        let number = system.ended();
        self.nodes.end(system.freed(), number);
        let Some(place) = self.running.iter().position(|own| own.number == number) else {
            return;
        };
        let (own, now) = (self.running.swap_remove(place), self.now(system));
        self.limits.count(own.i, &own.facts, -1.0);
        self.factors.used(own.usage(now, &self.limits), now);
    }

    fn schedule_periodic_passes(&mut self, now: f64) {
        let own = &self.site;
        let next = |period: f64| {
            let period = period.max(1.0);
            ((now + TIME_TOLERANCE) / period).floor() * period + period
        };
        if self.order_changes_with_time() && self.times.priorities == f64::INFINITY {
            self.times.priorities = next(self.period(own.priority.calc_period, now));
        }
        // If the queue is shorter, this pass is the same as the previous pass.
        let is_long = self.waiting.len() > own.scheduler.default_queue_depth as usize;
        if let Some(interval) = own.scheduler.sched_interval.filter(|_| is_long) {
            let interval = self.period(interval, now);
            self.times.full = self.times.full.min(next(interval));
        }
    }

    fn priority_is_a_sum(&self) -> bool {
        self.site.priority.is_multifactor || self.levels.is_some()
    }

    fn order_changes_with_time(&self) -> bool {
        let weights = &self.site.priority.weights;
        self.priority_is_a_sum()
            && (weights[factor::AGE] > 0.0 || weights[factor::FAIR_SHARE] > 0.0)
    }

    /// Returns the time between two passes \[s\], which grows with the distance in a forecast.
    fn period(&self, own: f64, now: f64) -> f64 {
        own.max(FORECAST_RESOLUTION * (now - self.forecast_from))
    }

    fn next_backfill(&self, now: f64) -> f64 {
        let scheduler = &self.site.scheduler;
        match scheduler.backfills {
            true => {
                let interval = self.period(scheduler.bf_interval, now);
                (self.times.last_backfill + interval).max(now)
            }
            false => f64::INFINITY,
        }
    }
}

impl Policy for SlurmPolicy {
    fn information(&self) -> Information {
        self.knows
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        self.decide(system);
    }

    fn decides_on_state(&self) -> bool {
        true
    }

    fn note(&mut self, event: Event, system: &mut System) {
        let now = self.now(system);
        let scheduler = &self.site.scheduler;
        self.times.resume(now);
        let queued = (self.times.last_queued + scheduler.batch_sched_delay).max(now);
        match event {
            Event::Arrival(i) => {
                if let Some(job) = system.youngest(i) {
                    self.times.queued = self.times.queued.min(queued);
                    self.wait(i, job, system);
                }
            }
            Event::Completion(_) => {
                match scheduler.defers {
                    true => self.times.queued = self.times.queued.min(queued),
                    false => self.times.main = now,
                }
                self.ended(system);
            }
            Event::Clock(_) => return,
        }
        self.times.backfill = self.times.backfill.min(self.next_backfill(now));
    }

    fn decide(&mut self, system: &mut System) {
        let now = self.now(system);
        let is_due = |at: f64| at <= now + TIME_TOLERANCE;
        if is_due(self.times.priorities) {
            self.reorder(now);
            self.times.priorities = f64::INFINITY;
            self.times.main = now;
            self.times.backfill = self.next_backfill(now);
        }
        let (mut looked, mut started) = (false, false);
        let (is_full, is_queued) = (is_due(self.times.full), is_due(self.times.queued));
        if is_full || is_queued || is_due(self.times.main) {
            started |= self.main(is_full, system);
            looked |= !self.site.scheduler.backfills;
            self.times.main = f64::INFINITY;
            if is_full || is_queued {
                self.times.last_queued = now;
                (self.times.full, self.times.queued) = (f64::INFINITY, f64::INFINITY);
            }
        }
        if is_due(self.times.backfill) {
            let has_started = self.backfill(system);
            self.times.last_backfill = now;
            self.times.backfill = match has_started {
                true => self.next_backfill(now),
                false => f64::INFINITY,
            };
            (looked, started) = (true, started || has_started);
        }
        // If no job is running and no job was started, nothing changes until the next arrival.
        let is_over = looked && !started && self.times.queued == f64::INFINITY;
        if self.waiting.is_empty() || self.running.is_empty() && is_over {
            self.times.stop();
        } else {
            self.schedule_periodic_passes(now);
        }
        system.wake_at((self.times.next() - self.clock) * self.second);
    }

    /// Creates the state again, but keeps the time up to which usage has been counted.
    fn take_over(&mut self, system: &mut System) {
        let now = self.now(system);
        self.waiting.clear();
        self.times.stop();
        let known = std::mem::take(&mut self.running);
        self.nodes = self.nodes.cleared();
        self.limits.running.clear();
        for i in 0..system.types() {
            for job in system.running_jobs(i) {
                let end = (now + (system.limit_left(job) / self.second).min(YEAR)).floor();
                let before = known.iter().find(|own| own.number == job.number);
                let counted = before.map_or(now, |own| own.counted);
                self.add_running(i, job.number, system.places_of(job), end, counted);
            }
            for job in system.waiting_jobs(i) {
                self.wait(i, job, system);
            }
        }
        self.reorder(now);
        (self.times.main, self.times.backfill) = (now, self.next_backfill(now));
        self.decide(system);
    }

    fn foresee(&mut self, before: &[usize], now: f64) {
        self.use_jobs(before);
        self.forecast_from = now / self.second + self.clock;
    }

    fn ahead(&self, i: usize, job: Job) -> Option<usize> {
        let is_it = |own: &Waiting| (own.i, own.job.number) == (i, job.number);
        self.waiting.iter().position(is_it)
    }
}
