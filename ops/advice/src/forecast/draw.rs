//! Running a queue forward, many times.

use std::collections::HashMap;

use itertools::Itertools as _;
use rayon::prelude::*;

use super::past::{Past, RuntimeLaw};
use synth_core::document::DocumentError;
use synth_multiresource::policy::Policy;
use synth_multiresource::workload::Fleet;
use synth_simulation::{RandomStream, Streams};
use synth_traces::replay::{
    Clock, DecisionState, Kinds, Log, ReplayJob, Speed, Stopped, Walk, early, gathered,
};

/// The servers, and how the jobs of a log are seen there.
#[derive(Clone, Debug)]
pub struct ForecastSite {
    /// Servers and types.
    pub fleet: Fleet,
    /// By the kind of a job: its type.
    pub types: Vec<u32>,
    /// How ticks become the policy's time.
    pub clock: Clock,
    /// Ticks in a second.
    pub per_second: f64,
}

/// A job that waits or runs.
#[derive(Clone, Debug)]
pub struct PresentJob {
    /// The job; its size is not looked at.
    pub job: ReplayJob,
    /// When it started in the policy's time, if it runs.
    pub started: Option<f64>,
    /// On which servers of a fleet; nothing where that is not known.
    pub servers: Vec<usize>,
}

/// What is there at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When it is, on the axis of submissions \[ticks\].
    pub at: f64,
    /// The jobs, by submission.
    pub jobs: Vec<PresentJob>,
    /// What others use: servers, each with units of its resources.
    pub occupied: Vec<(usize, Vec<u64>)>,
}

/// How the future is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// How many times the queue is run forward.
    pub runs: u32,
    /// Seed of all that is drawn.
    pub seed: u64,
}

impl Draws {
    /// Returns the usual number of runs with this seed.
    pub fn new(seed: u64) -> Self {
        Draws { runs: 60, seed }
    }
}

/// So many jobs that are there are run forward in all runs together…
const JOBS: u32 = 10_000;
/// …unless there are fewer runs than this.
const FEWEST: u32 = 16;

/// For a start a run has so many times as many jobs as are there, and as these; where the jobs in question do not start among
/// them it is drawn again with more…
const FIRST: usize = 8;
/// …by this factor…
const MORE: usize = 8;
/// …up to so many.
const MOST: usize = 50_000;

/// A day \[s\].
const DAY: f64 = 86_400.0;

/// Arrivals are drawn from the days before, so many of them.
const DAYS: f64 = 28.0;

/// The same where there are no limits \[d\].
const WEEK: f64 = 7.0;

/// Others come until so many times the time that limits say, and a day more: later, the jobs in question have started, or nobody knows.
const LATER: f64 = 1.5;

/// Nothing is forecast beyond \[s\].
const HORIZON: f64 = 60.0 * DAY;

/// With these probabilities a job's length stands at the level of all jobs that are the same, and at that of all of its user.
const SHARED: [f64; 2] = [0.2, 0.5];

impl ForecastSite {
    /// Returns the servers of a log.
    ///
    /// # Errors
    /// Where its jobs are out of the range of what can be counted.
    pub fn of_log(log: &Log) -> Result<Self, DocumentError> {
        let clock = Clock::whole(Speed::ONE);
        let (fleet, types) = gathered(log, &log.jobs, &Kinds::exact(log), clock, 0.0, false)?;
        Ok(ForecastSite {
            fleet,
            types,
            clock,
            per_second: log.tick.per_second() as f64,
        })
    }

    /// Returns what the policy sees of these jobs.
    pub(super) fn scene<'a>(&self, jobs: &'a [ReplayJob]) -> DecisionState<'a> {
        let (types, fleet) = (self.types.clone(), self.fleet.clone());
        DecisionState::promised(jobs, types, fleet, self.clock)
    }

    /// Returns a length of the policy's time in seconds.
    pub fn seconds(&self, time: f64) -> f64 {
        self.clock.ticks(time) / self.per_second
    }

    /// Returns when these of the jobs that are there start, after the moment \[s\]: of each so many draws in ascending order,
    /// and when it would if all ran up to their limits and no others came. What does not start within two months is
    /// taken to start then; without limits, nothing says when.
    ///
    /// # Errors
    /// When the policy makes a decision that no server could carry out.
    pub fn forecast(
        &self,
        moment: &Snapshot,
        past: &Past,
        policy: &dyn Policy,
        jobs: &[usize],
        draws: Draws,
    ) -> Result<Vec<(Vec<f64>, f64)>, Stopped> {
        let ahead = Ahead {
            site: self,
            moment,
            past,
            jobs,
            now: self.clock.submit(moment.at),
        };
        let by_limits = ahead.by_limits(policy)?;
        let known = by_limits.iter().copied().filter(|time| time.is_finite());
        let day = DAY * self.per_second;
        let until = known.reduce(f64::max).map_or(WEEK * day, |latest| {
            (LATER * self.clock.ticks(latest) + day).min(DAYS * day)
        });
        // With many jobs that wait a run takes longer, and there are fewer.
        let most = JOBS / moment.jobs.len().max(1) as u32;
        let draws = Draws {
            runs: draws.runs.min(most.max(FEWEST)),
            ..draws
        };
        let drawn = ahead.draws(policy, draws, until)?;
        let seconds = |time: f64| self.seconds(time).min(HORIZON);
        let of_job = |(draws, by_limits): (Vec<f64>, f64)| {
            let draws = draws.into_iter().map(seconds).collect();
            (draws, self.seconds(by_limits))
        };
        Ok(drawn.into_iter().zip(by_limits).map(of_job).collect())
    }
}

/// Jobs that are there at a moment, from which the queue is run forward.
struct Ahead<'a> {
    site: &'a ForecastSite,
    moment: &'a Snapshot,
    past: &'a Past,
    /// Those whose starts are asked for.
    jobs: &'a [usize],
    /// When the moment is, in the policy's time.
    now: f64,
}

impl Ahead<'_> {
    /// Returns how long a job has run \[ticks\].
    fn ran(&self, own: &PresentJob) -> f64 {
        let ran = |start| self.site.clock.ticks(self.now - start);
        own.started.map_or(0.0, ran)
    }

    /// Returns the draws in the policy's time, infinity beyond the horizon; others come for so long \[ticks\].
    fn draws(
        &self,
        policy: &dyn Policy,
        draws: Draws,
        horizon: f64,
    ) -> Result<Vec<Vec<f64>>, Stopped> {
        let moment = self.moment;
        let law = |own: &PresentJob| self.past.law(&own.job, self.ran(own));
        let laws: Vec<RuntimeLaw> = moment.jobs.iter().map(law).collect();
        let rules: Vec<_> = (0..draws.runs).map(|_| policy.clone_rule()).collect();
        let runs = rules.into_par_iter().enumerate().map(|(n, rule)| {
            let seed = draws.seed.wrapping_add(n as u64);
            let mut most = FIRST * (moment.jobs.len() + FIRST);
            loop {
                let mut levels = Levels::new(draws.seed, n as u32);
                let standing = moment.jobs.iter().zip(&laws).map(|(own, law)| {
                    let level = levels.of(&own.job);
                    let size = law.at(level).max(self.ran(own).floor() + 1.0).ceil();
                    ReplayJob { size, ..own.job }
                });
                let mut all: Vec<ReplayJob> = standing.collect();
                let until = self.come(horizon, &mut levels, most, &mut all);
                let starts = self.run(&all, rule.clone_rule(), seed)?;
                // Those that come later than all starts change nothing.
                let until = self.site.clock.submit(until) - self.now;
                let is_whole = until == f64::INFINITY || most >= MOST;
                if is_whole || starts.iter().all(|start| *start < until) {
                    return Ok::<_, Stopped>(starts);
                }
                most *= MORE;
            }
        });
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let sorted = |n| {
            let own = runs.iter().map(|run: &Vec<f64>| run[n]);
            own.sorted_unstable_by(f64::total_cmp).collect()
        };
        Ok((0..self.jobs.len()).map(sorted).collect())
    }

    /// Returns when these jobs would start if all ran up to their limits and no others came.
    fn by_limits(&self, policy: &dyn Policy) -> Result<Vec<f64>, Stopped> {
        let all = self.moment.jobs.iter().map(|own| {
            let size = own.job.own_limit().max(self.ran(own).floor() + 1.0);
            ReplayJob { size, ..own.job }
        });
        self.run(&all.collect::<Vec<_>>(), policy.clone_rule(), 0)
    }

    /// Appends jobs that come later: days of the past, drawn with replacement, up to so many jobs in all. Returns until when
    /// these are all that come.
    fn come(
        &self,
        horizon: f64,
        levels: &mut Levels,
        most: usize,
        all: &mut Vec<ReplayJob>,
    ) -> f64 {
        let (at, past) = (self.moment.at, self.past);
        let came = &past.jobs()[early(past.jobs())..];
        let Some(first) = came.first() else {
            return f64::INFINITY;
        };
        let length = (at - first.submit).min(DAY * self.site.per_second);
        if length <= 0.0 {
            return f64::INFINITY;
        }
        let days = ((at - first.submit) / length).floor().min(DAYS);
        let until = at + horizon;
        let mut begin = at;
        while begin < until {
            let back = (levels.fresh() * days).floor() + 1.0;
            let from = at - back * length;
            let place = came.partition_point(|job| job.submit < from);
            let of_day = |job: &&ReplayJob| job.submit < from + length;
            for job in came[place..].iter().take_while(of_day) {
                let submit = begin + (job.submit - from);
                let mut job = ReplayJob { submit, ..*job };
                if job.size.is_nan() {
                    job.size = past.law(&job, 0.0).at(levels.fresh()).ceil().max(1.0);
                }
                if all.len() >= most {
                    return job.submit;
                }
                all.push(job);
            }
            begin += length;
        }
        f64::INFINITY
    }

    /// Runs the queue forward once, with these jobs: those that are there, and behind them those that come.
    fn run(
        &self,
        all: &[ReplayJob],
        policy: Box<dyn Policy>,
        seed: u64,
    ) -> Result<Vec<f64>, Stopped> {
        let (site, moment, now) = (self.site, self.moment, self.now);
        let mut scene = site.scene(all);
        scene.seed = seed;
        let present = moment.jobs.iter();
        let present = present.map(|own| (own.started, &own.servers[..]));
        let present: Vec<_> = present.collect();
        let mut walk = Walk::from_present(&scene, &present, &moment.occupied, policy, now);
        let until = now + site.clock.size(HORIZON * site.per_second);
        let starts = walk.starts(self.jobs, until)?;
        Ok(starts.into_iter().map(|start| start - now).collect())
    }
}

/// Where lengths are drawn: the errors of a user's jobs are not independent, so some share their level. Every second run
/// has the opposite levels of the one before.
struct Levels {
    random: RandomStream,
    mirrored: bool,
    of_same: HashMap<(u32, u64, u32), f64>,
    of_user: HashMap<u32, f64>,
}

impl Levels {
    fn new(seed: u64, run: u32) -> Self {
        Levels {
            random: Streams::new(seed, run / 2).sizes,
            mirrored: run % 2 == 1,
            of_same: HashMap::new(),
            of_user: HashMap::new(),
        }
    }

    fn fresh(&mut self) -> f64 {
        self.random.uniform()
    }

    fn of(&mut self, job: &ReplayJob) -> f64 {
        let (which, own) = (self.fresh(), self.fresh());
        let [same, user] = SHARED;
        let key = (job.user, job.promised.to_bits(), job.kind);
        let level = match which {
            _ if job.user == 0 || which >= same + user => own,
            _ if which < same => *self.of_same.entry(key).or_insert(own),
            _ => *self.of_user.entry(job.user).or_insert(own),
        };
        if self.mirrored { 1.0 - level } else { level }
    }
}
