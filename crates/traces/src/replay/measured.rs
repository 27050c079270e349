use schemars::JsonSchema;
use serde::Serialize;

use super::engine::Replayed;
use super::log::ReplayJob;
use super::scene::{DecisionState, DemandKinds};

/// The part of the span in which a job must be submitted to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Window {
    /// Start as a fraction of the span, in [0, 1).
    pub from: f64,
    /// The end as a fraction of the span, in (0, 1].
    pub to: f64,
}

impl Window {
    /// All jobs.
    pub const ALL: Window = Window { from: 0.0, to: 1.0 };
    /// The middle 96 %, without the transients at the beginning and end.
    pub const MIDDLE: Window = Window {
        from: 0.02,
        to: 0.98,
    };

    /// Parses `all` or `.1,.9`; the error has the expected syntax.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "all" {
            return Ok(Window::ALL);
        }
        let (from, to) = text.split_once(',').unwrap_or_default();
        match (from.trim().parse(), to.trim().parse()) {
            (Ok(from), Ok(to)) if 0.0 <= from && from < to && to <= 1.0 => Ok(Window { from, to }),
            _ => Err(format!(
                "`{text}` is not a valid part of the span: write `all`, or two fractions such as .1,.9"
            )),
        }
    }

    /// Returns its start and end in a span of this length.
    pub fn within(&self, span: f64) -> [f64; 2] {
        [self.from * span, self.to * span]
    }
}

/// The results for all jobs in a window. All times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WindowMeasures {
    /// The number of jobs that are measured.
    pub jobs: u64,
    /// The mean wait, which is the time in the system without the size and the start latency.
    pub mean_wait: f64,
    /// The mean response time, which is the time between the submission and the end of a job.
    pub mean_response: f64,
    /// The mean of `max(1, response / max(size, 10 s))` (Feitelson, 2001).
    pub mean_bounded_slowdown: f64,
    /// The 50th, 95th and 99th percentile of the wait.
    pub wait_percentiles: [f64; 3],
    /// The 50th, 95th and 99th percentile of the response time.
    pub response_percentiles: [f64; 3],
    /// The sum of the waits.
    pub total_wait: f64,
    /// The number of jobs that waited.
    pub waited: u64,
    /// The longest wait.
    pub longest_wait: f64,
    /// The number of jobs that started before an earlier job. `None` if the starts are unknown.
    pub backfilled: Option<u64>,
    /// The mean share of each resource that is held by the jobs in the window. This is empty if the
    /// starts are unknown.
    pub utilization: Vec<f64>,
    /// The end of the last job, after the first submission.
    pub last_end: f64,
}

/// The slowdown of jobs with a smaller size is not meaningful \[s\].
const SHORT: f64 = 10.0;

/// The replayed times of a job, in seconds after the first submission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// The time at which the job is submitted in the replay.
    pub submit: f64,
    /// The time at which it acquires its resources, or NaN if this is unknown.
    pub start: f64,
    /// The end.
    pub end: f64,
    /// The size.
    pub size: f64,
    /// The limit.
    pub limit: f64,
    /// The latency of the start, in which the job holds its resources but does not run yet.
    pub latency: f64,
    /// The wait, which is the time in the system without the size and the latency, ≥ 0.
    pub wait: f64,
    /// The line of the file.
    pub line: u32,
    /// Its kind, as seen by the policy.
    pub kind: u32,
    /// Whether the job was already present when the log began. If it was, it is not measured.
    pub is_early: bool,
}

impl Visit {
    /// Returns the time between the submission and the end.
    pub fn response(&self) -> f64 {
        self.wait + self.latency + self.size
    }

    /// Returns `true` if the job arrived in this range of seconds.
    pub fn is_within(&self, [from, to]: [f64; 2]) -> bool {
        !self.is_early && (from..=to).contains(&self.submit)
    }
}

/// Returns `max(1, response / max(size, 10 s))`.
pub fn bounded_slowdown(response: f64, size: f64) -> f64 {
    (response / size.max(SHORT)).max(1.0)
}

/// Returns the visits of all jobs in the order of submission, for `per_second` ticks in a second.
pub fn visits<'a>(
    scene: &'a DecisionState<'_>,
    replayed: &'a Replayed,
    per_second: f64,
) -> impl Iterator<Item = Visit> + 'a {
    let clock = scene.clock;
    let seconds = move |time: f64| clock.ticks(time) / per_second;
    // A job that starts immediately must not wait because of rounding.
    let grain = clock.size(if scene.is_whole() { 0.0 } else { 1e-6 });
    let starts_known = if replayed.runs_through { 0.0 } else { f64::NAN };
    let visit = move |(n, (job, end)): (usize, (&ReplayJob, &f64))| {
        let (submit, held) = (clock.submit(job.submit), scene.held(n));
        let wait = job.observed_wait(end - submit - held, clock.submit(job.waited));
        Visit {
            submit: seconds(submit),
            start: seconds(end - held) + starts_known,
            end: seconds(*end),
            size: seconds(clock.size(job.size)),
            limit: seconds(clock.size(job.limit)),
            latency: seconds(scene.latency(n)),
            wait: if wait > grain { seconds(wait) } else { 0.0 },
            line: job.line,
            kind: job.kind,
            is_early: job.seen.is_early(),
        }
    };
    scene.jobs.iter().zip(&replayed.ends).enumerate().map(visit)
}

/// Returns, for each visit in order of submission, whether it started before an earlier one.
pub fn passes(visits: &[Visit]) -> impl Iterator<Item = bool> {
    let mut latest = f64::NEG_INFINITY;
    visits.iter().map(move |visit| {
        let passes = visit.start < latest;
        latest = latest.max(visit.start);
        passes
    })
}

impl WindowMeasures {
    /// Returns the results for the jobs submitted in this range of seconds, from all visits.
    pub fn of(visits: &[Visit], window: [f64; 2], kinds: &DemandKinds) -> Self {
        let [from, to] = window;
        let first = visits.partition_point(|visit| visit.is_early || visit.submit < from);
        let last = visits.partition_point(|visit| visit.is_early || visit.submit <= to);
        let own = &visits[first..last];
        let waits = || own.iter().map(|visit| visit.wait);
        let total_wait: f64 = waits().sum();
        let mean = |of: fn(&Visit) -> f64| own.iter().map(of).sum::<f64>() / own.len() as f64;
        let starts_known = starts_known(visits);
        let mut utilization = vec![0.0; if starts_known { kinds.resources() } else { 0 }];
        let length = (to - from).max(f64::MIN_POSITIVE);
        for visit in visits.iter().filter(|_| starts_known) {
            let within = (visit.end.min(to) - visit.start.max(from)).max(0.0);
            let pairs = utilization.iter_mut().zip(&kinds.held[visit.kind as usize]);
            pairs.for_each(|(used, held)| *used += held * within / length);
        }
        let passes = passes(visits).take(last).skip(first);
        WindowMeasures {
            jobs: own.len() as u64,
            mean_wait: total_wait / own.len() as f64,
            mean_response: mean(Visit::response),
            mean_bounded_slowdown: mean(|own| bounded_slowdown(own.response(), own.size)),
            wait_percentiles: percentiles(waits()),
            response_percentiles: percentiles(own.iter().map(Visit::response)),
            total_wait,
            waited: waits().filter(|wait| *wait > 0.0).count() as u64,
            longest_wait: waits().fold(0.0, f64::max),
            backfilled: starts_known.then(|| passes.filter(|passes| *passes).count() as u64),
            utilization,
            last_end: visits.iter().map(|visit| visit.end).fold(0.0, f64::max),
        }
    }
}

fn starts_known(visits: &[Visit]) -> bool {
    visits.first().is_some_and(|visit| !visit.start.is_nan())
}

/// Returns the 50th, 95th and 99th percentiles by nearest rank.
pub fn percentiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    [0.5, 0.95, 0.99].map(|p| {
        let rank = (p * values.len() as f64).ceil() as usize;
        values.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    })
}

/// The values of a time series, averaged over the time of a step.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SeriesStep {
    /// The start of the step \[s\].
    pub time: f64,
    /// The number of waiting jobs.
    pub waiting: f64,
    /// The share of each resource that is in use (R).
    pub used: Vec<f64>,
}

/// Returns the averages for steps of this length \[s\] from 0 to `span`, if the starts are known.
pub fn time_series(visits: &[Visit], span: f64, step: f64, kinds: &DemandKinds) -> Vec<SeriesStep> {
    if !starts_known(visits) {
        return Vec::new();
    }
    let count = (span / step).ceil().max(1.0) as usize;
    let none = Averages {
        step,
        parts: vec![0.0; count],
        changes: vec![0.0; count + 1],
    };
    let mut averages = vec![none; 1 + kinds.resources()];
    for visit in visits {
        let held = &kinds.held[visit.kind as usize];
        averages[0].add(visit.submit, visit.start, 1.0);
        let pairs = averages[1..].iter_mut().zip(held);
        pairs.for_each(|(own, held)| own.add(visit.start, visit.end, *held));
    }
    let averages: Vec<Vec<f64>> = averages.into_iter().map(Averages::by_step).collect();
    let step_at = |n: usize| SeriesStep {
        time: n as f64 * step,
        waiting: averages[0][n],
        used: averages[1..].iter().map(|own| own[n]).collect(),
    };
    (0..count).map(step_at).collect()
}

#[derive(Clone)]
struct Averages {
    step: f64,
    /// The amounts that are not present for all of a step, and the changes at its start.
    parts: Vec<f64>,
    changes: Vec<f64>,
}

impl Averages {
    fn add(&mut self, from: f64, to: f64, amount: f64) {
        let count = self.parts.len();
        let (from, to) = (from / self.step, (to / self.step).min(count as f64));
        if from >= to {
            return;
        }
        let (first, last) = (from.floor() as usize, to.floor() as usize);
        if first == last {
            self.parts[first] += amount * (to - from);
            return;
        }
        self.parts[first] += amount * (first as f64 + 1.0 - from);
        self.changes[first + 1] += amount;
        self.changes[last] -= amount;
        if last < count {
            self.parts[last] += amount * (to - last as f64);
        }
    }

    fn by_step(self) -> Vec<f64> {
        let mut all = 0.0;
        let pairs = self.parts.iter().zip(&self.changes);
        let sums = pairs.map(|(part, change)| {
            all += change;
            (all + part).max(0.0)
        });
        sums.collect()
    }
}
