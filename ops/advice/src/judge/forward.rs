use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use schemars::JsonSchema;
use serde::Serialize;

use super::choose::{ChosenRule, SelectionCriteria, choose, choose_among};
use super::estimates::{EstimateAccuracy, Estimates};
use super::past::{TrainingPeriod, served};
use super::point::QueueRule;
use synth_multiresource::policy::{Estimates as Lengths, Policy};
use synth_traces::replay::{
    Clock, DecisionState, DemandKinds, Log, LogError, ReplayJob, Speed, Walk, early, resampled,
};

/// The windows that a log is divided into.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct LogWindows {
    /// The fraction of the time span that is before the first window. It must be between 0 and 1.
    pub past: f64,
    /// The length of a window in seconds, which must be positive.
    pub every: f64,
    /// The factor by which jobs arrive faster than in the log.
    pub speed: Speed,
}

/// A window of the log and the rule that was selected for it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JudgedWindow {
    /// The time between the first submission and the start of the window, in seconds.
    pub from: f64,
    /// The range of the jobs that were submitted in this window, without the end of the range.
    pub jobs: [usize; 2],
    /// The number of jobs in the past that were used to select the rule.
    pub past: usize,
    /// The rule that was selected.
    pub choice: ChosenRule,
}

/// The wait and the size of each job in all windows, in seconds, sorted by submission.
pub type WaitsAndSizes = Vec<(f64, f64)>;

/// The walk-forward evaluation of a log.
pub struct WalkForward<'a> {
    pub(crate) log: &'a Log,
    pub(crate) kinds: DemandKinds,
    scene: DecisionState<'a>,
    pub(crate) windows: LogWindows,
    pub(crate) goal: SelectionCriteria,
    /// The estimates under the current rule at the start of the first window.
    learned: Estimates,
    /// The length of a second in the time of the policy.
    second: f64,
    interrupt: &'a AtomicBool,
}

const DAY: f64 = 86_400.0;

const MOST: usize = 6000;

const FEWEST: usize = 50;

/// If the load in the past is lower than this, the rules are also tested with this load.
const BUSY: f64 = 0.85;

/// The number of jobs in all training periods.
const REPLAYED: usize = 20_000;
const PASTS: [usize; 2] = [5, 10];

/// The relative speeds of the training periods. If a time changes by one second, the mean may
/// change by several percent, so an average over different speeds is less random.
const NEAR: [f64; 5] = [1.0, 0.96, 1.04, 0.98, 1.07];

impl<'a> WalkForward<'a> {
    /// Replays a log until the first window, using the current rule. Returns an error if the log is
    /// too short or if its numbers are too large to be exact. Setting `interrupt` stops all work.
    pub fn new(
        log: &'a Log,
        windows: LogWindows,
        goal: SelectionCriteria,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, LogError> {
        let (kinds, clock) = (DemandKinds::exact(log), Clock::whole(windows.speed));
        let scene = DecisionState::of_log(log, &log.jobs, &kinds, clock)?;
        let second = clock.size(log.tick.per_second() as f64);
        let mut forward = WalkForward {
            log,
            kinds,
            scene,
            windows,
            goal,
            learned: Estimates::new(DAY * second),
            second,
            interrupt,
        };
        let past = forward.first() - early(&log.jobs);
        let judged = log.arrivals().len() - past;
        if past < FEWEST || judged == 0 {
            let odd = log.account.warnings();
            return Err(LogError::Refused(format!(
                "the log contains {past} jobs before the first window and {judged} jobs after its start, but at least {FEWEST} and 1 are required; use a different value for `--past` or a longer log{odd}"
            )));
        }
        let (ends, start) = (forward.begin()?.ends().to_vec(), forward.start());
        forward.learned.look(&forward.scene, &ends, start);
        Ok(forward)
    }

    /// Returns the index of the first job that is evaluated.
    pub fn first(&self) -> usize {
        let start = self.start();
        let is_past = |job: &ReplayJob| self.scene.clock.submit(job.submit) < start;
        self.log.jobs.partition_point(is_past)
    }

    fn start(&self) -> f64 {
        self.scene.clock.submit(self.log.span()) * self.windows.past
    }

    fn rule(&self, point: &QueueRule, sizes: bool, learned: &Estimates) -> Box<dyn Policy> {
        let mut choices = point.choices(self.second);
        if sizes {
            choices.estimates = Lengths::Inflated(1.0);
        }
        let estimator = learned.estimator(point.estimate).clone();
        let fleet = &self.scene.fleet;
        choices.by_guess(fleet.envelope(), fleet.servers(), estimator.into())
    }

    fn begin(&self) -> Result<Walk<'_>, LogError> {
        let blank = Estimates::new(DAY * self.second);
        let rule = self.rule(&self.goal.now, false, &blank);
        let mut walk = Walk::new(&self.scene, rule);
        walk.until(self.start())?;
        Ok(walk)
    }

    fn served(&self, ends: &[f64]) -> WaitsAndSizes {
        let per_second = self.log.tick.per_second() as f64;
        let places = self.first()..self.log.jobs.len();
        served(&self.scene, ends, places, per_second).collect()
    }

    /// Evaluates a rule for all windows. If `sizes` is `true`, the size of each job is known.
    pub fn evaluate_rule(&self, point: &QueueRule, sizes: bool) -> Result<WaitsAndSizes, LogError> {
        let mut walk = self.begin()?;
        walk.hand_over(self.rule(point, sizes, &self.learned), self.start());
        walk.finish()?;
        Ok(self.served(walk.ends()))
    }

    /// Evaluates the rules that are selected for each window, and the accuracy of the estimates.
    /// The `listener` is called with the number of the window and of all windows.
    pub fn evaluate_selection(
        &self,
        listener: &mut dyn FnMut(usize, usize),
    ) -> Result<(Vec<JudgedWindow>, WaitsAndSizes, Vec<EstimateAccuracy>), LogError> {
        let (mut walk, mut estimates) = (self.begin()?, self.learned.clone());
        let span = self.scene.clock.submit(self.log.span());
        let every = (self.windows.every * self.second).min(span);
        let count = ((span - self.start()) / every).ceil().max(1.0) as usize;
        let (mut windows, mut seen): (Vec<JudgedWindow>, usize) = (Vec::new(), 0);
        for n in 0..count {
            listener(n + 1, count);
            let time = self.start() + n as f64 * every;
            estimates.look(&self.scene, walk.ends(), time);
            let ended = walk.ends().iter().filter(|end| **end < time).count();
            let (past, choice) = match windows.last() {
                Some(last) if ended == seen => (last.past, last.choice.clone()),
                _ => {
                    let past = walk.ends().len().min(MOST);
                    (past, self.choose(&estimates, walk.ends(), time, &[])?)
                }
            };
            seen = ended;
            walk.hand_over(self.rule(&choice.point, false, &estimates), time);
            let first = walk.ends().len();
            if n + 1 < count {
                walk.until(time + every)?;
            } else {
                walk.finish()?;
            }
            windows.push(JudgedWindow {
                from: time / self.second,
                jobs: [first, walk.ends().len()],
                past,
                choice,
            });
        }
        estimates.look(&self.scene, walk.ends(), f64::INFINITY);
        let worth = estimates.worth(self.log, self.first());
        Ok((windows, self.served(walk.ends()), worth))
    }

    /// Returns the best rule for the whole log.
    pub fn best(&self) -> Result<ChosenRule, LogError> {
        let (mut walk, mut estimates) = (self.begin()?, self.learned.clone());
        walk.finish()?;
        estimates.look(&self.scene, walk.ends(), f64::INFINITY);
        self.choose(&estimates, walk.ends(), f64::INFINITY, &[])
    }

    /// Returns the best of these rules for the jobs before the first window.
    pub fn best_among(&self, points: &[QueueRule]) -> Result<ChosenRule, LogError> {
        let walk = self.begin()?;
        self.choose(&self.learned, walk.ends(), self.start(), points)
    }

    /// Selects one of these rules, or of all rules if the list is empty.
    fn choose(
        &self,
        estimates: &Estimates,
        ends: &[f64],
        time: f64,
        among: &[QueueRule],
    ) -> Result<ChosenRule, LogError> {
        let ended = ends.iter().filter(|end| **end < time).count();
        if ended < FEWEST {
            return Err(LogError::Refused(format!(
                "only {ended} jobs have ended before the first window, but at least {FEWEST} are required; use a larger value for `--past` or a longer log"
            )));
        }
        let past = ends.len().saturating_sub(MOST)..ends.len();
        let begin = self.log.jobs[past.start].submit;
        let jobs = past.clone().map(|n| ReplayJob {
            submit: self.log.jobs[n].submit - begin,
            ..self.as_known(n, ends[n], time, estimates)
        });
        let jobs: Vec<ReplayJob> = jobs.collect();
        let places: HashMap<u32, usize> = jobs.iter().map(|job| job.line).zip(past).collect();
        // If a job is used again, its estimate is not changed.
        let mut drawn = self.drawn(jobs);
        // The guarantee can only be evaluated for jobs with a known size.
        let has_ended = |job: &ReplayJob| ends[places[&job.line]] < time;
        drawn[0].0.retain(has_ended);
        let pasts = drawn.iter().map(|(jobs, speed)| {
            let places: Vec<usize> = jobs.iter().map(|job| places[&job.line]).collect();
            let tables = estimates.tables(&places);
            TrainingPeriod::new(self.log, &self.kinds, jobs, &tables, *speed)
        });
        let pasts = pasts.collect::<Result<Vec<_>, _>>()?;
        let (goal, interrupt) = (&self.goal, self.interrupt);
        Ok(match among.is_empty() {
            true => choose(goal, &pasts, Estimates::of(self.log), interrupt)?,
            false => choose_among(goal, &pasts, among.to_vec(), interrupt)?,
        })
    }

    /// Replaces the size of a job that has not ended by the estimate of the tree. If such jobs were
    /// ignored, a rule that does not run long jobs would look good.
    fn as_known(&self, n: usize, end: f64, time: f64, estimates: &Estimates) -> ReplayJob {
        let job = self.log.jobs[n];
        if end < time {
            return job;
        }
        let size = estimates.by_tree(n).round().max(1.0);
        let has_none = job.promised.is_infinite();
        let limit = if has_none { size } else { job.limit };
        let size = size.min(limit);
        ReplayJob { size, limit, ..job }
    }

    /// Returns the training periods. Every second one consists of random weeks of the past. If the
    /// load in the past was low, half of them have a speed with a load of [`BUSY`].
    fn drawn(&self, jobs: Vec<ReplayJob>) -> Vec<(Vec<ReplayJob>, Speed)> {
        let own = self.windows.speed;
        let span = jobs.last().map_or(1.0, |job| job.submit.max(1.0));
        let load = self.load(&jobs, span);
        let busy = Speed::near(BUSY / load).filter(|busy| busy.ratio() > 1.1 * own.ratio());
        let week = 7.0 * DAY * self.log.tick.per_second() as f64;
        let part = week.min(span / 4.0);
        let speeds: Vec<Speed> = [Some(own), busy].into_iter().flatten().collect();
        let count = (REPLAYED / jobs.len()).clamp(PASTS[0], PASTS[1]);
        let mut pasts = Vec::new();
        for (k, speed) in speeds.iter().enumerate() {
            for n in 0..(count - k).div_ceil(speeds.len()) {
                let near = Speed::near(speed.ratio() * NEAR[n % NEAR.len()]);
                let drawn = (n % 2 == 1).then(|| resampled(&jobs, part, 1, n as u32));
                let jobs = drawn.flatten().unwrap_or_else(|| jobs.clone());
                let exact = if n == 0 { None } else { near };
                pasts.push((jobs, exact.unwrap_or(*speed)));
            }
        }
        pasts
    }

    fn load(&self, jobs: &[ReplayJob], span: f64) -> f64 {
        let mut work = vec![0.0; self.log.servers.resources.len()];
        for job in &jobs[early(jobs)..] {
            let held = &self.kinds.held[job.kind as usize];
            let pairs = work.iter_mut().zip(held);
            pairs.for_each(|(work, held)| *work += job.size * held);
        }
        work.into_iter().fold(1e-9, f64::max) / span
    }
}
