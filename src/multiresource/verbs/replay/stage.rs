//! A trace in memory, with the policies that are to be replayed on it.

use std::sync::atomic::Ordering;

use super::super::{VerbError, refuse};
use super::enter::{By, Entrant, enter};
use super::results::{AtPace, Course, Outcome, Played, Ratio, Replays, Spread, Traced, Typed};
use super::types::{Types, servers_of};
use super::{Pace, Replaying};
use crate::multiresource::replay::{
    Blocks, Clock, DecisionState, Interval, Job, Kinds, Log, Measured, Replayed, Speed,
    StartLatency, Visit, WholeParts, Window, course, gathered, replay, resampled, visits,
};
use crate::multiresource::simulator::Contender;
use crate::number::Decimal;
use crate::trace::Trace;

/// All that a replay needs.
pub struct Stage<'a> {
    asked: &'a Replaying<'a>,
    entrants: Vec<Entrant>,
    file: String,
    log: Log,
    exact: Kinds,
    typed: Option<Types>,
    latency: WholeParts,
}

/// A policy that was replayed.
struct Run {
    visits: Vec<Visit>,
    played: Played,
}

/// An interval is made of blocks of a day \[s\] at least…
const DAY: f64 = 86_400.0;
/// …and of so many mean waits.
const WAITS: f64 = 10.0;

/// Traces of parts of the trace that are drawn.
const REPLICATIONS: u32 = 8;

/// Steps of a course.
const STEPS: f64 = 500.0;

/// The same at most: steps that are asked for shorter are made longer.
const MOST_STEPS: f64 = 1e6;

impl<'a> Stage<'a> {
    /// Reads policies and trace.
    pub fn set(
        asked: &'a Replaying<'a>,
        listener: &mut dyn FnMut(&str),
    ) -> Result<Self, VerbError> {
        let (entrants, fleet) = enter(asked)?;
        let mut options = asked.options.clone();
        // The workload's servers are those of its jobs.
        if options.servers.is_none() {
            options.servers = fleet.as_ref().map(servers_of);
        }
        let file = asked.source.name();
        listener(&format!("reading {file}"));
        let mut trace = Trace::open(asked.source, &options)?;
        let log = Log::read(&mut trace, |jobs| {
            listener(&format!("reading {file}: {jobs} jobs"));
        })?;
        let latency = asked.start_latency.unwrap_or(Decimal::ZERO);
        let parts = WholeParts::of_seconds(latency, log.tick.per_second());
        let Some(parts) = parts else {
            return refuse(format!(
                "--start-latency {latency} s is no whole number of parts of the trace's tick, a second having {} ticks and a tick a million parts at most: give fewer digits",
                log.tick.per_second()
            ));
        };
        let mut stage = Stage {
            exact: Kinds::exact(&log),
            asked,
            entrants,
            file,
            log,
            typed: None,
            latency: parts,
        };
        let by_types = |entrant: &Entrant| matches!(entrant.by, By::Type(_));
        if asked.rounded || stage.entrants.iter().any(by_types) {
            let Some(fleet) = fleet else {
                return refuse(
                    "--demands rounded needs the types of a workload: give --workload FILE, such as `synth fit` makes",
                );
            };
            let typed = Types::of(&stage.log, &stage.exact, fleet, asked.unknown_out);
            let mut typed = typed.or_else(refuse)?;
            // Dead time is that which is asked for, the same for every policy.
            let latency = Decimal::new(parts.ticks() / typed.ticks).unwrap_or(Decimal::ZERO);
            typed.fleet = typed.fleet.with_start_latency(latency)?;
            // Jobs that have no type are left out, for every policy.
            stage.log.jobs.retain(|job| typed.holds(job));
            stage.typed = Some(typed);
        }
        Ok(stage)
    }

    /// The speed of a pace.
    pub fn speed(&self, pace: Pace) -> Result<Speed, VerbError> {
        let own = self.log.load();
        let speed = match pace {
            Pace::Speed(speed) => Some(speed),
            Pace::Load(load) => Speed::near(load / own),
        };
        let Some(speed) = speed else {
            return refuse(format!(
                "the trace has a load of {own:.3e}, which cannot be brought to what is asked for: choose a load nearer to it"
            ));
        };
        let jobs = self.log.jobs.iter();
        let longest = jobs.map(|job| job.limit).fold(self.log.span(), f64::max);
        let clock = self.latency.clock(speed);
        if clock.holds(longest + self.latency.ticks()) {
            return Ok(speed);
        }
        refuse(format!(
            "times of the trace in parts of a tick for the speed {speed} are beyond 2^53, and cannot be counted exactly: choose a simpler --speed, such as 5/4"
        ))
    }

    /// Whether it is to end.
    pub fn is_interrupted(&self) -> bool {
        self.asked.interrupt.load(Ordering::Relaxed)
    }

    /// Ticks in a second.
    fn per_second(&self) -> f64 {
        self.log.tick.per_second() as f64
    }

    /// Replays every policy at a speed; those before an interruption.
    pub fn at(&self, speed: Speed, listener: &mut dyn FnMut(&str)) -> AtPace {
        let span = self.log.span() / speed.ratio() / self.per_second();
        let window = self.window();
        let mut first: Option<Run> = None;
        let mut policies = Vec::new();
        for (n, entrant) in self.entrants.iter().enumerate() {
            let mut outcome = Outcome {
                policy: entrant.name.clone(),
                digest: entrant.digest.clone(),
                replayed: None,
                failure: None,
            };
            match self.run(n, speed, window.within(span), listener) {
                Err(_) if self.is_interrupted() => break,
                Err(why) => outcome.failure = Some(why),
                Ok(mut run) => {
                    let ratio = first.as_ref();
                    let ratio = ratio.map(|first| self.ratio(&run, first, window.within(span)));
                    run.played.ratio = ratio;
                    run.played.course = self.course(&run.visits, n, span);
                    outcome.replayed = Some(Box::new(run.played.clone()));
                    first.get_or_insert(run);
                }
            }
            policies.push(outcome);
        }
        AtPace {
            speed,
            load: self.log.load() * speed.ratio(),
            span,
            policies,
        }
    }

    /// Mean response times of each policy at the first pace on whole weeks of the trace that are drawn with
    /// replacement, the same for each.
    pub fn resampled(&self, listener: &mut dyn FnMut(&str)) -> Result<Spread, VerbError> {
        let speed = self.speed(self.asked.paces[0])?;
        let week = 7.0 * DAY * self.per_second();
        let mut means = vec![Vec::new(); self.entrants.len()];
        for n in 0..REPLICATIONS {
            let Some(jobs) = resampled(&self.log.jobs, week, self.asked.seed, n) else {
                return refuse(
                    "--resample draws from whole weeks, and the trace has fewer than two: leave it out",
                );
            };
            for (policy, means) in means.iter_mut().enumerate() {
                means.extend(self.mean_response(policy, &jobs, speed, listener));
            }
        }
        let names = self.entrants.iter().map(|entrant| entrant.name.as_str());
        Ok(Spread::of(names, means, speed, REPLICATIONS))
    }

    /// The mean response time \[s\] of a policy on other jobs than the trace's, all measured; none where it cannot
    /// serve them.
    fn mean_response(
        &self,
        policy: usize,
        jobs: &[Job],
        speed: Speed,
        listener: &mut dyn FnMut(&str),
    ) -> Option<f64> {
        let run = match self.by_types(policy) {
            None => self.visits(policy, (jobs, &self.exact), speed, listener),
            Some(typed) => {
                let jobs = typed.rounded(jobs);
                self.visits(policy, (&jobs, &typed.kinds), speed, listener)
            }
        };
        let (visits, _) = run.ok()?;
        let total: f64 = visits.iter().map(Visit::response).sum();
        (!visits.is_empty()).then(|| total / visits.len() as f64)
    }

    /// Of which jobs measures are: all where no job is in the middle.
    fn window(&self) -> Window {
        self.asked.window.unwrap_or_else(|| {
            let [from, to] = Window::MIDDLE.within(self.log.span());
            let within = |job: &Job| (from..=to).contains(&job.submit);
            if self.log.jobs.iter().any(within) {
                Window::MIDDLE
            } else {
                Window::ALL
            }
        })
    }

    /// The types by which a policy sees the jobs, if it does.
    fn by_types(&self, policy: usize) -> Option<&Types> {
        let by_type = matches!(self.entrants[policy].by, By::Type(_));
        self.typed
            .as_ref()
            .filter(|_| by_type || self.asked.rounded)
    }

    /// The jobs of the trace as a policy sees them.
    fn seen(&self, policy: usize) -> (&[Job], &Kinds) {
        match self.by_types(policy) {
            Some(typed) => (&typed.jobs, &typed.kinds),
            None => (&self.log.jobs, &self.exact),
        }
    }

    /// Replays a policy on the trace, and measures.
    fn run(
        &self,
        policy: usize,
        speed: Speed,
        window: [f64; 2],
        listener: &mut dyn FnMut(&str),
    ) -> Result<Run, String> {
        let (jobs, kinds) = self.seen(policy);
        let (visits, replayed) = self.visits(policy, (jobs, kinds), speed, listener)?;
        let resources = self.log.servers.resources.len();
        let held = |n: usize| kinds.held(&jobs[n]);
        let measured = Measured::of(&visits, window, resources, held);
        if measured.jobs == 0 {
            return Err("no job was submitted in the part of the span that is measured: give another --measure, or --measure all".into());
        }
        let block = block(&measured);
        let blocks = self.blocks(&visits, window, block);
        let interval = |of: fn(&Visit) -> f64| {
            let means = blocks.as_ref()?.means(visits.iter().map(of));
            Interval::of(means.into_iter().flatten())
        };
        let played = Played {
            wait: interval(|visit| visit.wait),
            response: interval(Visit::response),
            bounded_slowdown: interval(Visit::bounded_slowdown),
            block,
            ratio: None,
            by_types: self.by_types(policy).is_some(),
            events: replayed.events,
            course: Course::default(),
            measured,
        };
        Ok(Run { visits, played })
    }

    /// The ratio of mean response times, on the same blocks: the longer ones of both.
    fn ratio(&self, run: &Run, first: &Run, window: [f64; 2]) -> Ratio {
        let block = run.played.block.max(first.played.block);
        let blocks = self.blocks(&run.visits, window, block);
        let interval = blocks.and_then(|blocks| {
            let means = |run: &Run| blocks.means(run.visits.iter().map(Visit::response));
            Interval::of_ratio(&means(run), &means(first))
        });
        Ratio {
            value: run.played.measured.mean_response / first.played.measured.mean_response,
            interval,
        }
    }

    fn blocks(&self, visits: &[Visit], window: [f64; 2], block: f64) -> Option<Blocks> {
        let submits: Vec<f64> = visits.iter().map(|visit| visit.submit).collect();
        Blocks::draw(&submits, window, block, self.asked.seed)
    }

    /// What happened over time, and of each job where that is asked for.
    fn course(&self, visits: &[Visit], policy: usize, span: f64) -> Course {
        let (jobs, kinds) = self.seen(policy);
        let step = self.asked.step.unwrap_or(span / STEPS);
        let step = step.max(span / MOST_STEPS).max(f64::MIN_POSITIVE);
        let resources = self.log.servers.resources.len();
        let mut found = Course {
            steps: course(visits, span, step, resources, |n| kinds.held(&jobs[n])),
            ..Course::default()
        };
        if self.asked.keeps_visits {
            let pairs = visits.iter().zip(jobs);
            let visits = pairs.map(|(visit, job)| (*visit, job.line, job.kind));
            found.visits = visits.collect();
            found.types = kinds.demands.iter().map(|(name, _)| name.clone()).collect();
        }
        found
    }

    /// Replays a policy on jobs of these kinds.
    fn visits(
        &self,
        policy: usize,
        (jobs, kinds): (&[Job], &Kinds),
        speed: Speed,
        listener: &mut dyn FnMut(&str),
    ) -> Result<(Vec<Visit>, Replayed), String> {
        let name = &self.entrants[policy].name;
        listener(&format!("replaying {name}"));
        let (rule, scene) = self.scene(policy, (jobs, kinds), speed)?;
        let replayed = replay(&rule, &scene, &mut |come| {
            let share = 100.0 * come as f64 / jobs.len() as f64;
            listener(&format!(
                "replaying {name}: {share:.0} % of the jobs have come"
            ));
            !self.is_interrupted()
        });
        let replayed = replayed.map_err(|why| why.to_string())?;
        let found = visits(&scene, &replayed, self.per_second()).collect();
        Ok((found, replayed))
    }

    /// What a policy sees.
    fn scene<'j>(
        &self,
        policy: usize,
        (jobs, kinds): (&'j [Job], &Kinds),
        speed: Speed,
    ) -> Result<(Contender, DecisionState<'j>), String> {
        let Entrant { name, by, .. } = &self.entrants[policy];
        match (by, &self.typed) {
            (By::Demand, _) => {}
            (By::Type(rule), Some(typed)) => {
                let scene = DecisionState {
                    jobs,
                    types: (0..kinds.demands.len() as u32).collect(),
                    fleet: typed.fleet.clone(),
                    clock: Clock::in_units(speed, typed.ticks),
                    latency: StartLatency::same(self.latency.ticks() / typed.ticks),
                    seed: self.asked.seed,
                };
                return Ok((rule.clone(), scene));
            }
            (By::Type(_), None) => {
                return Err("it needs types of jobs: give --workload FILE".into());
            }
        }
        let (clock, latency) = (
            self.latency.clock(speed),
            self.latency.in_policy_time(speed),
        );
        let seen = |sizes| {
            let workload = gathered(&self.log, jobs, &kinds.demands, clock, latency, sizes);
            workload.map_err(|faults| faults.to_string())
        };
        let (mut fleet, mut types) = seen(false)?;
        let rule = Contender::named(name, &fleet)?;
        // A rule that asks for sizes is told them.
        if rule.rule(&fleet).is_err() {
            (fleet, types) = seen(true)?;
        }
        let scene = DecisionState {
            jobs,
            types,
            fleet,
            clock,
            latency: StartLatency::same(latency),
            seed: self.asked.seed,
        };
        Ok((rule, scene))
    }

    /// All results, with what is known of the trace.
    pub fn results(&self, paces: Vec<AtPace>, resampled: Option<Spread>) -> Replays {
        let log = &self.log;
        let types = self.typed.as_ref().map(|typed| Typed {
            types: typed.kinds.demands.len() as u64,
            rounding: typed.worth,
            untyped: typed.untyped,
            untyped_work: typed.untyped_work,
        });
        let counts = log.servers.shapes.iter().map(|shape| shape.count);
        Replays {
            trace: Traced {
                file: self.file.clone(),
                format: log.format.name(),
                jobs: log.jobs.len() as u64,
                span: log.span() / self.per_second(),
                load: log.load(),
                vectors: log.vectors.len() as u64,
                resources: log.servers.resources.clone(),
                capacity: log.servers.total(),
                servers: counts.map(u64::from).sum(),
                rounded: log.rounded,
                censored: log.censored,
                has_limits: log.has_limits,
                account: log.account.clone(),
                types,
            },
            window: self.window(),
            start_latency: self.asked.start_latency.unwrap_or(Decimal::ZERO),
            seed: self.asked.seed,
            paces,
            resampled,
            interrupted: self.is_interrupted(),
        }
    }
}

/// How long a block is \[s\].
fn block(measured: &Measured) -> f64 {
    DAY.max(WAITS * measured.mean_wait)
}
