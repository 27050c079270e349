use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::{Arguments, Demands};
use super::busy::stretch;
use super::results::{LogSummary, Outcome, RECORDED, Ratio, ReplayResult, Replays, SpeedResults};
use super::types::Types;
use crate::kind::{self, Caller, VerbResult, refuse};
use crate::multiresource::MultiresourceKind;
use crate::multiresource::replay::{
    Blocks, Clock, DecisionState, DemandKinds, ExactDuration, Groups, Interval, Log, ReplayJob,
    Speed, Visit, Window, WindowMeasures, bounded_slowdown, replay, replay_workload, time_series,
    visits,
};
use crate::multiresource::simulator::Contender;
use crate::multiresource::verbs::resolve::check_same_types;
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::trace::Servers;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::{Facts, SlurmRule, clock_of};
use synth_slurm::{SiteLog, what_is_missing};

pub(super) struct ReplayPlan<'a> {
    args: &'a Arguments,
    interrupt: Arc<AtomicBool>,
    policies: Vec<Policy>,
    file: String,
    log: Log,
    exact: DemandKinds,
    groups: Groups,
    typed: Option<Types>,
    latency: ExactDuration,
    /// The site's configuration, and the facts about the job on each line of the log.
    site: Option<(Arc<SlurmSite>, HashMap<u32, Facts>)>,
}

/// For a policy file the kind of a job is its type, and for a rule it is its demand.
type Policy = kind::NamedPolicy<MultiresourceKind>;

const STEPS: f64 = 500.0;

impl<'a> ReplayPlan<'a> {
    pub(super) fn read(args: &'a Arguments, caller: &mut Caller<'_>) -> VerbResult<Self> {
        // Use the job types of the workload if there is one, or the ones in the first policy file.
        let fleet = args.workload.as_deref().map(Fleet::read).transpose()?;
        let mut fleet = fleet.map(|parsed| caller.known(parsed));
        let mut policies = Vec::new();
        for name in &args.policies {
            let policy = Policy::resolve(name, None, caller.changes)?;
            check_same_types(&policy, &mut fleet)?;
            policies.push(policy);
        }
        let interrupt = Arc::clone(&caller.interrupt);
        let listener = &mut caller.doing();
        let mut source = args.site.open(&args.file, listener)?;
        let servers = &mut source.options.servers;
        *servers = servers.take().or(fleet.as_ref().map(Servers::from));
        let SiteLog {
            mut log,
            name: file,
            site,
        } = source.read(listener)?;
        let site = site.map(|(site, facts)| {
            let lines = log.jobs.iter().map(|job| job.line);
            (Arc::new(site), lines.zip(facts).collect())
        });
        let latency = args.start_latency.unwrap_or(Decimal::ZERO);
        let second = log.tick.per_second();
        let parts = ExactDuration::of_seconds(latency, second).ok_or_else(|| {
            format!(
                "`--start-latency` is {latency} s, but it must be a whole multiple of 1/n of a tick of the log with n ≤ 10⁶ (there are {second} ticks in a second); use fewer digits"
            )
        })?;
        let exact = DemandKinds::exact(&log);
        let rounds = args.demands != Demands::Exact;
        let typed = if rounds || policies.iter().any(|own| own.file.is_some()) {
            let fleet = fleet.ok_or(
                "the job types of a workload are required for policy files and for `--demands rounded` or `known`; give --workload FILE with a workload, for example one that was created by `synth fit`",
            )?;
            let mut typed = Types::of(&log, &exact, fleet, args.demands == Demands::Known)?;
            let latency = Decimal::new(parts.ticks() / typed.ticks).unwrap_or(Decimal::ZERO);
            typed.fleet = typed.fleet.with_start_latency(latency)?;
            log.jobs.retain(|job| typed.holds(job));
            Some(typed)
        } else {
            None
        };
        Ok(ReplayPlan {
            args,
            interrupt,
            policies,
            file,
            groups: Groups::of(&log, &exact),
            log,
            exact,
            typed,
            latency: parts,
            site,
        })
    }

    /// Returns an error if one of the loads cannot be reached.
    pub(super) fn replayed(&self, listener: &mut dyn FnMut(&str)) -> VerbResult<Replays> {
        let mut paces = Vec::new();
        let loads = self.args.loads.iter().copied().map(Some);
        let as_typed = self.args.loads.is_empty().then_some(None);
        for load in loads.chain(as_typed) {
            let at = self.at(self.speed(load)?, listener);
            if !at.policies.is_empty() {
                paces.push(at);
            }
            if self.is_interrupted() {
                break;
            }
        }
        Ok(self.results(paces))
    }

    fn speed(&self, load: Option<f64>) -> VerbResult<Speed> {
        let own = self.log.load();
        let speed = match load {
            None => Some(self.args.speed.unwrap_or(Speed::ONE)),
            Some(load) => Speed::near(load / own),
        };
        let speed = speed.ok_or_else(|| format!(
            "the load of the log is {own:.3e}, and it is not possible to scale it to this value; choose a load nearer to it"
        ))?;
        let limits = self.log.jobs.iter().map(|job| job.limit);
        let longest = limits.fold(self.log.span(), f64::max);
        let clock = self.latency.clock(speed);
        if clock.holds(longest + self.latency.ticks()) {
            return Ok(speed);
        }
        refuse(format!(
            "if the speed is {speed}, the times in the log as fractions of a tick are larger than 2^53, so they cannot be represented exactly; use a simple value for `--speed`, such as 5/4"
        ))
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn per_second(&self) -> f64 {
        self.log.tick.per_second() as f64
    }

    fn at(&self, speed: Speed, listener: &mut dyn FnMut(&str)) -> SpeedResults {
        let span = self.log.span() / speed.ratio() / self.per_second();
        let mut first: Option<ReplayResult> = None;
        let mut policies = Vec::new();
        for policy in &self.policies {
            let typed = self.types_for(policy);
            let jobs = typed.map_or(&self.log.jobs, |typed| &typed.jobs);
            let visits = self.visits(policy, jobs, speed, listener);
            let replayed =
                visits.and_then(|visits| self.measured(visits, typed, span, first.as_ref()));
            if replayed.is_err() && self.is_interrupted() {
                break;
            }
            first = first.or_else(|| replayed.as_ref().ok().cloned());
            policies.push(self.outcome(&policy.name, policy.digest.clone(), replayed));
        }
        if let Some(visits) = self.recorded()
            && speed == Speed::ONE
            && !self.is_interrupted()
            && let Ok(own) = self.measured((visits, 0), None, span, first.as_ref())
        {
            policies.push(self.outcome(RECORDED, None, Ok(own)));
        }
        SpeedResults {
            speed,
            load: self.log.load() * speed.ratio(),
            span,
            policies,
        }
    }

    /// The visits are only kept if they should be written to a file.
    fn outcome(
        &self,
        policy: &str,
        digest: Option<String>,
        replayed: Result<ReplayResult, String>,
    ) -> Outcome {
        let failure = replayed.as_ref().err().cloned();
        let mut replayed = replayed.ok().map(Box::new);
        if self.args.jobs.is_none() {
            replayed.iter_mut().for_each(|own| own.visits.clear());
        }
        Outcome {
            policy: policy.to_owned(),
            digest,
            replayed,
            failure,
        }
    }

    fn window(&self) -> Window {
        let [from, to] = Window::MIDDLE.within(self.log.span());
        let is_within = |job: &ReplayJob| (from..=to).contains(&job.submit);
        let usual = match self.log.arrivals().iter().any(is_within) {
            true => Window::MIDDLE,
            false => Window::ALL,
        };
        self.args.measure.unwrap_or(usual)
    }

    fn types_for(&self, policy: &Policy) -> Option<&Types> {
        let rounds = policy.file.is_some() || self.args.demands != Demands::Exact;
        self.typed.as_ref().filter(|_| rounds)
    }

    fn recorded(&self) -> Option<Vec<Visit>> {
        let seconds = |ticks: f64| ticks / self.per_second();
        let visit = |job: &ReplayJob| {
            let [submit, wait, size] = [job.submit, job.waited, job.size].map(seconds);
            (!wait.is_nan()).then_some(Visit {
                submit,
                start: submit + wait,
                end: submit + wait + size,
                size,
                limit: seconds(job.limit),
                latency: 0.0,
                wait,
                line: job.line,
                kind: job.kind,
                is_early: job.seen.is_early(),
            })
        };
        self.log.jobs.iter().map(visit).collect()
    }

    fn measured(
        &self,
        (visits, events): (Vec<Visit>, u64),
        typed: Option<&Types>,
        span: f64,
        first: Option<&ReplayResult>,
    ) -> Result<ReplayResult, String> {
        let kinds = typed.map_or(&self.exact, |typed| &typed.kinds);
        let window = self.window().within(span);
        let measured = WindowMeasures::of(&visits, window, kinds);
        if measured.jobs == 0 {
            return Err("there are no jobs that were submitted in this part of the time span; use a different value for `--measure`, such as `--measure all`".into());
        }
        let block = Blocks::length(measured.mean_wait);
        let submits: Vec<f64> = visits.iter().map(|visit| visit.submit).collect();
        let drawn = |block| Blocks::draw(&submits, window, block, self.args.seed);
        let blocks = drawn(block);
        let interval = |of: fn(&Visit) -> f64| {
            let means = blocks.as_ref()?.means(visits.iter().map(of));
            Interval::of(means.into_iter().flatten())
        };
        let step = span / STEPS;
        let ratio =
            |first: &ReplayResult, mean: fn(&WindowMeasures) -> f64, of: fn(&Visit) -> f64| {
                // The same blocks are used for both policies, with the larger of the two lengths.
                let interval = drawn(block.max(first.block)).and_then(|blocks| {
                    let means = |visits: &[Visit]| blocks.means(visits.iter().map(of));
                    Interval::of_ratio(&means(&visits), &means(&first.visits))
                });
                let value = mean(&measured) / mean(&first.measured);
                Ratio { value, interval }
            };
        let response = |first| ratio(first, |own| own.mean_response, Visit::response);
        let wait = |first| ratio(first, |own| own.mean_wait, |visit| visit.wait);
        Ok(ReplayResult {
            groups: self.groups.means(&visits, window),
            wait: interval(|visit| visit.wait),
            response: interval(Visit::response),
            bounded_slowdown: interval(|own| bounded_slowdown(own.response(), own.size)),
            block,
            ratio: first.map(response),
            wait_ratio: first.map(wait),
            stretch: stretch((&self.log, &self.groups, kinds), &visits, first, &measured),
            by_types: typed.is_some(),
            events,
            series: time_series(&visits, span, step.max(f64::MIN_POSITIVE), kinds),
            kinds: kinds.demands.iter().map(|(name, _)| name.clone()).collect(),
            measured,
            visits,
        })
    }

    fn visits(
        &self,
        policy: &Policy,
        jobs: &[ReplayJob],
        speed: Speed,
        listener: &mut dyn FnMut(&str),
    ) -> Result<(Vec<Visit>, u64), String> {
        let name = &policy.name;
        listener(&format!("replaying {name}"));
        let (rule, scene) = self.decision_state(policy, jobs, speed)?;
        let replayed = replay(&rule, &scene, &mut |come| {
            let share = 100.0 * come as f64 / jobs.len() as f64;
            listener(&format!(
                "replaying {name}: {share:.0} % of the jobs have arrived"
            ));
            !self.is_interrupted()
        });
        let replayed = replayed.map_err(|why| why.to_string())?;
        let visits = visits(&scene, &replayed, self.per_second()).collect();
        Ok((visits, replayed.events))
    }

    fn decision_state<'j>(
        &self,
        policy: &Policy,
        jobs: &'j [ReplayJob],
        speed: Speed,
    ) -> Result<(Contender, DecisionState<'j>), String> {
        let typed = self.types_for(policy);
        let kinds = typed.map_or(&self.exact, |typed| &typed.kinds);
        let scene = |fleet, types, clock, latency| DecisionState {
            latency,
            seed: self.args.seed,
            ..DecisionState::new(jobs, types, fleet, clock)
        };
        if let (Some(_), Some(typed)) = (&policy.file, &self.typed) {
            let types = (0..kinds.demands.len() as u32).collect();
            let clock = Clock::in_units(speed, typed.ticks);
            let latency = self.latency.ticks() / typed.ticks;
            return Ok((
                policy.rule.clone(),
                scene(typed.fleet.clone(), types, clock, latency),
            ));
        }
        let clock = self.latency.clock(speed);
        let latency = self.latency.in_policy_time(speed);
        let seen = |sizes| {
            let workload = replay_workload(&self.log, jobs, kinds, clock, latency, sizes);
            workload.map_err(|faults| faults.to_string())
        };
        let (mut fleet, mut types) = seen(false)?;
        let rule = match &policy.rule {
            Contender::External(rule) => self
                .at_site(&policy.name, jobs, clock.size(self.per_second()))
                .unwrap_or(Contender::External(rule.clone())),
            _ => Contender::named(&policy.name, &fleet)?,
        };
        // If a rule requires the size of each job, it is available here.
        if rule.build_policy(&fleet).is_err() {
            (fleet, types) = seen(true)?;
        }
        let promised = matches!(rule, Contender::Backfilling(_) | Contender::External(_));
        let scene = scene(fleet, types, clock, latency);
        Ok((rule, DecisionState { promised, ..scene }))
    }

    fn at_site(&self, name: &str, jobs: &[ReplayJob], second: f64) -> Option<Contender> {
        let (site, facts) = self.site.as_ref()?;
        let facts = jobs.iter().map(|job| facts[&job.line]).collect();
        let rule = SlurmRule::named(name)?.ok()?;
        Some(Contender::External(Arc::new(SlurmRule {
            at: Some((site.clone(), facts)),
            clock: clock_of(&self.log),
            second: Some(second),
            ..rule
        })))
    }

    fn results(&self, paces: Vec<SpeedResults>) -> Replays {
        let log = &self.log;
        let counts = log.servers.shapes.iter().map(|shape| shape.count);
        let started = log.arrivals().iter().filter(|job| !job.waited.is_nan());
        let missing = |site: &SlurmSite| {
            let missing = what_is_missing(&site.not_modeled).into_iter();
            missing.map(|own| own.trim_end_matches('.').to_owned())
        };
        let site = self.site.as_ref();
        let assumed = site.map(|(site, _)| missing(site).chain(site.assumed.clone()).collect());
        Replays {
            trace: LogSummary {
                file: self.file.clone(),
                format: log.format.name(),
                jobs: log.arrivals().len() as u64,
                span: log.span() / self.per_second(),
                load: log.load(),
                vectors: log.vectors.len() as u64,
                resources: log.servers.resources.clone(),
                capacity: log.servers.total(),
                servers: counts.map(u64::from).sum(),
                rounded: log.rounded,
                censored: log.censored,
                has_limits: log.has_limits,
                starts: started.count() as u64,
                assumed: assumed.unwrap_or_default(),
                account: log.account.clone(),
                types: self.typed.as_ref().map(|types| types.typed.clone()),
            },
            window: self.window(),
            start_latency: self.args.start_latency.unwrap_or(Decimal::ZERO),
            seed: self.args.seed,
            paces,
            interrupted: self.is_interrupted(),
        }
    }
}
