use std::collections::HashMap;

use itertools::Itertools as _;
use rayon::prelude::*;

use super::calibration::HORIZON;
use super::past::{Past, RunTimeDistribution};
use synth_core::document::DocumentError;
use synth_multiresource::policy::Policy;
use synth_multiresource::workload::Fleet;
use synth_simulation::{RandomStream, Streams};
use synth_traces::replay::{
    Clock, DecisionState, DemandKinds, Log, ReplayError, ReplayJob, Speed, Walk, early,
};

/// The servers of the site, and the job type of each kind of job in a log.
#[derive(Clone, Debug)]
pub struct ForecastSite {
    /// The servers.
    pub fleet: Fleet,
    /// The job type of each kind of job.
    pub types: Vec<u32>,
    /// The clock that is used to convert ticks to the time of the policy.
    pub clock: Clock,
    /// The number of ticks in one second.
    pub per_second: f64,
}

/// A job that is waiting or running at the time of the forecast.
#[derive(Clone, Debug)]
pub struct PresentJob {
    /// The job. Its size is not used.
    pub job: ReplayJob,
    /// The time when the job was started, or `None` if it is waiting.
    pub started: Option<f64>,
    /// The servers that the job is running on. This is empty if they are not known.
    pub servers: Vec<usize>,
    /// The number of the job in the log, if the rule has facts about each job of a log.
    pub number: usize,
}

/// The state of the system at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time of the snapshot, in ticks since the first submission.
    pub at: f64,
    /// The waiting and running jobs, sorted by the time of their submission.
    pub jobs: Vec<PresentJob>,
    /// The servers that are used by others, and the number of units of each resource.
    pub occupied: Vec<(usize, Vec<u64>)>,
}

/// The parameters of the simulation.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// The number of runs.
    pub runs: u32,
    /// The seed for all random numbers.
    pub seed: u64,
}

impl Draws {
    /// Creates a new set of parameters with the given seed and the default number of runs.
    pub fn new(seed: u64) -> Self {
        Draws { runs: 60, seed }
    }
}

/// The maximum number of present jobs in all runs, of which there are at least [`FEWEST`].
const JOBS: u32 = 10_000;
const FEWEST: u32 = 16;

/// The number of jobs in a run is a multiple of `FIRST` plus the present jobs. It is multiplied by
/// `MORE`, up to `MOST`, until all jobs in question start.
const FIRST: usize = 8;
const MORE: usize = 8;
const MOST: usize = 50_000;

const DAY: f64 = 86_400.0;

/// The number of days in the past that are used to generate the jobs that arrive in the future.
const DAYS: f64 = 28.0;

/// The number of days for which jobs arrive in the future if the jobs do not have a limit.
const WEEK: f64 = 7.0;

/// The time until which jobs arrive, as a multiple of the last start by limits, plus one day.
const LATER: f64 = 1.5;

/// The probabilities that a job has the level of all similar jobs, or of all jobs of the user.
const SHARED: [f64; 2] = [0.2, 0.5];

impl ForecastSite {
    /// Creates a new site for a log. Returns an error if the amounts are too large to be exact.
    pub fn of_log(log: &Log) -> Result<Self, DocumentError> {
        let clock = Clock::whole(Speed::ONE);
        let state = DecisionState::of_log(log, &log.jobs, &DemandKinds::exact(log), clock)?;
        Ok(ForecastSite {
            fleet: state.fleet,
            types: state.types,
            clock,
            per_second: log.tick.per_second() as f64,
        })
    }

    pub(super) fn scene<'a>(&self, jobs: &'a [ReplayJob]) -> DecisionState<'a> {
        let (types, fleet) = (self.types.clone(), self.fleet.clone());
        let mut state = DecisionState::new(jobs, types, fleet, self.clock);
        state.promised = true;
        state
    }

    pub(super) fn seconds(&self, time: f64) -> f64 {
        self.clock.ticks(time) / self.per_second
    }

    /// Returns the forecast for some of the present jobs in seconds: the sorted draws of the wait
    /// (at most two months), and the wait if all jobs run until their limits and no new jobs arrive
    /// (infinite without limits). An invalid decision of the policy is an error.
    pub fn forecast(
        &self,
        moment: &Snapshot,
        past: &Past,
        policy: &dyn Policy,
        jobs: &[usize],
        draws: Draws,
    ) -> Result<Vec<(Vec<f64>, f64)>, ReplayError> {
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

struct Ahead<'a> {
    site: &'a ForecastSite,
    moment: &'a Snapshot,
    past: &'a Past,
    jobs: &'a [usize],
    now: f64,
}

impl Ahead<'_> {
    fn ran(&self, own: &PresentJob) -> f64 {
        let ran = |start| self.site.clock.ticks(self.now - start);
        own.started.map_or(0.0, ran)
    }

    /// Returns the draws in the time of the policy. New jobs arrive for `horizon` ticks.
    fn draws(
        &self,
        policy: &dyn Policy,
        draws: Draws,
        horizon: f64,
    ) -> Result<Vec<Vec<f64>>, ReplayError> {
        let moment = self.moment;
        let run_time = |own: &PresentJob| self.past.run_time_distribution(&own.job, self.ran(own));
        let run_times: Vec<RunTimeDistribution> = moment.jobs.iter().map(run_time).collect();
        let rules: Vec<_> = (0..draws.runs).map(|_| policy.clone_rule()).collect();
        let runs = rules.into_par_iter().enumerate().map(|(n, rule)| {
            let seed = draws.seed.wrapping_add(n as u64);
            let mut most = FIRST * (moment.jobs.len() + FIRST);
            loop {
                let mut levels = Levels::new(draws.seed, n as u32);
                let present = moment.jobs.iter().zip(&run_times).map(|(own, run_time)| {
                    let drawn = run_time.at(levels.of(&own.job));
                    let size = drawn.max(self.ran(own).floor() + 1.0).ceil();
                    ReplayJob { size, ..own.job }
                });
                let mut all: Vec<ReplayJob> = present.collect();
                let mut numbers = self.numbers();
                let arrivals = (&mut all, &mut numbers);
                let until = self.append_arrivals(horizon, &mut levels, most, arrivals);
                let starts = self.run(&all, &numbers, rule.clone_rule(), seed)?;
                // If a job arrives after all starts, it is not relevant.
                let until = self.site.clock.submit(until) - self.now;
                let is_whole = until == f64::INFINITY || most >= MOST;
                if is_whole || starts.iter().all(|start| *start < until) {
                    return Ok::<_, ReplayError>(starts);
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

    fn by_limits(&self, policy: &dyn Policy) -> Result<Vec<f64>, ReplayError> {
        let all = self.moment.jobs.iter().map(|own| {
            let size = own.job.own_limit().max(self.ran(own).floor() + 1.0);
            ReplayJob { size, ..own.job }
        });
        let all: Vec<ReplayJob> = all.collect();
        self.run(&all, &self.numbers(), policy.clone_rule(), 0)
    }

    fn numbers(&self) -> Vec<usize> {
        self.moment.jobs.iter().map(|own| own.number).collect()
    }

    /// Adds jobs of random days in the past until `horizon`, or until there are `most` jobs.
    /// Returns the time of the first missing job, or infinity.
    fn append_arrivals(
        &self,
        horizon: f64,
        levels: &mut Levels,
        most: usize,
        (all, numbers): (&mut Vec<ReplayJob>, &mut Vec<usize>),
    ) -> f64 {
        let (at, past) = (self.moment.at, self.past);
        let early = early(past.jobs());
        let came = &past.jobs()[early..];
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
            for (job, number) in came[place..].iter().take_while(of_day).zip(early + place..) {
                let submit = begin + (job.submit - from);
                let mut job = ReplayJob { submit, ..*job };
                if job.size.is_nan() {
                    let run_time = past.run_time_distribution(&job, 0.0);
                    job.size = run_time.at(levels.fresh()).ceil().max(1.0);
                }
                if all.len() >= most {
                    return job.submit;
                }
                all.push(job);
                numbers.push(number);
            }
            begin += length;
        }
        f64::INFINITY
    }

    fn run(
        &self,
        all: &[ReplayJob],
        numbers: &[usize],
        mut policy: Box<dyn Policy>,
        seed: u64,
    ) -> Result<Vec<f64>, ReplayError> {
        let (site, moment, now) = (self.site, self.moment, self.now);
        let mut scene = site.scene(all);
        scene.seed = seed;
        let present = moment.jobs.iter();
        let present = present.map(|own| (own.started, &own.servers[..]));
        let present: Vec<_> = present.collect();
        policy.foresee(numbers, now);
        let mut walk = Walk::from_present(&scene, &present, &moment.occupied, policy, now);
        let until = now + site.clock.size(HORIZON * site.per_second);
        let starts = walk.starts(self.jobs, until)?;
        Ok(starts.into_iter().map(|start| start - now).collect())
    }
}

/// The random levels of the run times, of which every second run is antithetic to the previous one.
/// The errors of the jobs of a user are correlated, so some of them use the same level.
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
