//! This module finds changes to the configuration of a Slurm site, by replaying the jobs of the
//! site using the rule [`slurm`](synth_slurm::rule).
//!
//! The changes with the lowest mean wait are selected one at a time on the first half of the log,
//! and evaluated on the second half. Each change is replayed with several offsets of the clock,
//! because a start that is one second earlier changes all later starts.

mod changes;
mod drift;
mod effect;
mod lines;
mod order;
mod promises;
mod twin;
mod undo;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools as _;
use rayon::prelude::*;

use changes::Kind;
pub use changes::SiteChange;
use drift::PairedWait;
pub use effect::{Advice, Effect, GroupWaits, JobGroup};
use lines::{ChangedOption, Lines};
pub use order::AdvisedOrder;
pub(crate) use order::FORMAT;
pub use promises::{PastAdvice, Promise, Promises, compare_with_past};
use twin::Configuration;
pub use undo::ChangedSettings;

use crate::agreement::Agreement;
use crate::classes::classes;
use crate::judge::{JudgeObjective, QueueRule, SelectionCriteria, WaitSummary};
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::Facts;
use synth_traces::replay::{Blocks, DemandKinds, Interval, Log, ReplayJob, early};

const USERS: usize = 6;

/// Returns advice based on a log of jobs, or an error if it is too short or if interrupted.
pub fn advise(
    (log, site, facts): (&Log, &SlurmSite, Vec<Facts>),
    longest: Option<f64>,
    interrupt: &AtomicBool,
    listener: &mut dyn FnMut(&str),
) -> Result<Advice, String> {
    let advising = Advising::new((log, site, facts), PAST, longest, interrupt)?;
    let candidates = changes::candidates(site, log);
    listener("changes one by one");
    let gains = |changes: &[SiteChange], each: &[Runs]| -> Vec<Effect> {
        let pairs = changes.iter().zip(each);
        let gains = pairs.map(|(change, runs)| advising.gain(change.what.clone(), runs));
        gains.collect()
    };
    let each = advising.each(&candidates)?;
    let tried = gains(&candidates, &each);
    listener("changes together");
    let (best, together) = advising.together(&candidates, &each)?;
    let chosen: Vec<SiteChange> = best.iter().map(|n| candidates[*n].clone()).collect();
    listener("more nodes");
    let purchases = changes::purchases(site);
    let purchases = gains(&purchases, &advising.each(&purchases)?);
    let name = chosen.iter().map(|own| &own.what).join("; ");
    let before = Lines(site.options.clone());
    let mut after = before.clone();
    chosen.iter().for_each(|own| own.write(site, &mut after));
    let mut setting = advising.setting.clone();
    chosen.iter().for_each(|own| own.apply(&mut setting));
    let mut advice = Advice {
        cluster: site.cluster.clone(),
        changed: ChangedSettings::between(&advising.setting, &setting),
        order: None,
        lines: Vec::new(),
        back: Vec::new(),
        settings: Vec::new(),
        is_advised: false,
        jobs: log.arrivals().len() as u64,
        past: PAST,
        likeness: advising.likeness(),
        today: advising.judged(&advising.today),
        gain: (!chosen.is_empty()).then(|| advising.gain(name, &together)),
        chosen,
        tried,
        purchases,
        not_modeled: site.not_modeled.clone(),
        assumed: site.assumed.clone(),
        remarks: log.account.remarks.clone(),
        longest: advising.longest,
        seed: SEED,
    };
    advice.is_advised = advice.significant_effect().is_some();
    if advice.is_advised {
        let changed = after.changes_from(&before);
        (advice.lines, advice.back) = changed.iter().map(ChangedOption::lines).unzip();
        let settings = changed.into_iter().map(|own| (own.key, own.value));
        advice.settings = settings.collect();
        let mut kinds = advice.chosen.iter().map(|own| own.kind);
        advice.order = kinds.find_map(|kind| match kind {
            Kind::Order(priority, ..) => Some(AdvisedOrder::new(priority, site)),
            _ => None,
        });
    }
    Ok(advice)
}

/// The results of the scheduler of a site, with its current configuration and with other settings.
pub(crate) struct SiteResults {
    /// The wait of each job of the log with the current configuration \[s\].
    pub today: Vec<f64>,
    /// The changes that are selected using the first part of the log, with the waits, if any helps.
    pub best: Option<(Effect, Vec<f64>)>,
}

/// Replays the scheduler of a site, and selects changes as [`advise`] does.
pub(crate) fn best_changes(
    of: (&Log, &SlurmSite, Vec<Facts>),
    past: f64,
    longest: Option<f64>,
    interrupt: &AtomicBool,
) -> Result<SiteResults, String> {
    let (log, site) = (of.0, of.1);
    let advising = Advising::new(of, past, longest, interrupt)?;
    let candidates = changes::candidates(site, log);
    let each = advising.each(&candidates)?;
    let (best, together) = advising.together(&candidates, &each)?;
    let mean_of_runs = |runs: &Runs| -> Vec<f64> {
        let jobs = 0..log.jobs.len();
        jobs.map(|n| advising.over(runs, |own| own[n])).collect()
    };
    let name = best.iter().map(|n| &candidates[*n].what).join("; ");
    Ok(SiteResults {
        today: mean_of_runs(&advising.today),
        best: (!best.is_empty()).then(|| (advising.gain(name, &together), mean_of_runs(&together))),
    })
}

/// The wait of each job in each run in seconds.
type Runs = Vec<Vec<f64>>;

struct Advising<'a> {
    log: &'a Log,
    kinds: DemandKinds,
    setting: Configuration,
    today: Runs,
    early: usize,
    first: usize,
    /// The fraction of the time span before the first job that is evaluated.
    past: f64,
    classes: Vec<String>,
    /// The maximum of the longest wait, as a multiple of today's.
    longest: Option<f64>,
    interrupt: &'a AtomicBool,
}

const FEWEST: usize = 50;
/// The minimum number of jobs of a group for an interval of its own.
const FEWEST_OF_GROUP: usize = 20;
const DAY: f64 = 86_400.0;

/// The fraction of the time span that is used to select changes.
const PAST: f64 = 0.5;
/// The maximum score relative to the previous one if another change is added.
const WORTH: f64 = 0.98;

/// The seed of all random draws.
pub(crate) const SEED: u64 = 1;

impl<'a> Advising<'a> {
    fn new(
        (log, site, facts): (&'a Log, &SlurmSite, Vec<Facts>),
        past: f64,
        longest: Option<f64>,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, String> {
        let cut = past * log.span();
        let is_past = |job: &ReplayJob| job.seen.is_early() || job.submit < cut;
        let first = log.jobs.partition_point(is_past);
        let early = early(&log.jobs);
        let before = first - early;
        if before < FEWEST || log.jobs.len() - first < FEWEST {
            let (left, warnings) = (log.jobs.len() - first, log.account.warnings());
            let share = 100.0 * past;
            return Err(format!(
                "the log contains {before} jobs in the first {share:.0} % of its time span and {left} in the rest, but at least {FEWEST} are required in each of them; export the jobs of more weeks{warnings}"
            ));
        }
        let setting = Configuration::new(site, facts);
        let kinds = DemandKinds::exact(log);
        let today = setting.waits(log, &kinds)?;
        Ok(Advising {
            log,
            kinds,
            setting,
            today,
            early,
            first,
            past,
            classes: classes(log),
            longest: longest.or_else(|| SelectionCriteria::default_wait_bound(log)),
            interrupt,
        })
    }

    fn waits(&self, changes: &[&SiteChange]) -> Result<Runs, String> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err("interrupted".into());
        }
        let mut setting = self.setting.clone();
        changes.iter().for_each(|change| change.apply(&mut setting));
        setting.waits(self.log, &self.kinds)
    }

    /// Returns the waits if only one of these changes is made, for each of them.
    fn each(&self, changes: &[SiteChange]) -> Result<Vec<Runs>, String> {
        let changes = changes.par_iter();
        changes.map(|change| self.waits(&[change])).collect()
    }

    fn together(
        &self,
        candidates: &[SiteChange],
        each: &[Runs],
    ) -> Result<(Vec<usize>, Runs), String> {
        let helps = |n: &usize| self.objective(&each[*n]) < 1.0;
        let helpful = (0..candidates.len()).filter(helps).collect_vec();
        let (mut best, mut score, mut together) = (Vec::new(), 1.0, self.today.clone());
        loop {
            let is_out = |n: usize, m: usize| n == m || candidates[n].excludes(&candidates[m]);
            let left = helpful.iter().copied();
            let left = left.filter(|n| !best.iter().any(|m| is_out(*n, *m)));
            let left = left.collect_vec();
            let with = |n: usize| -> Result<(usize, f64, Runs), String> {
                let runs = if best.is_empty() {
                    each[n].clone()
                } else {
                    let all = best.iter().chain([&n]).map(|m| &candidates[*m]);
                    self.waits(&all.collect::<Vec<_>>())?
                };
                Ok((n, self.objective(&runs), runs))
            };
            let round: Vec<_> = left.into_par_iter().map(with).collect::<Result<_, _>>()?;
            match round.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((n, own, runs)) if own < WORTH * score => {
                    best.push(n);
                    (score, together) = (own, runs);
                }
                _ => return Ok((best, together)),
            }
        }
    }

    /// Returns the metric of `synth judge` in the first half, relative to the current configuration,
    /// or infinity if the longest wait is too long.
    fn objective(&self, runs: &Runs) -> f64 {
        let past = self.early..self.first;
        let own = self.summary(runs, past.clone());
        let now = self.summary(&self.today, past);
        match self.longest {
            Some(times) if own.longest_wait > times * now.longest_wait => f64::INFINITY,
            longest => {
                let goal = SelectionCriteria {
                    objective: JudgeObjective::Wait,
                    longest,
                    now: QueueRule::EASY,
                };
                goal.against(&own, &now).exp()
            }
        }
    }

    fn over(&self, runs: &Runs, of: impl Fn(&[f64]) -> f64) -> f64 {
        mean(runs.iter().map(|waits| of(waits)))
    }

    fn seconds(&self, ticks: f64) -> f64 {
        ticks / self.log.tick.per_second() as f64
    }

    fn judged(&self, runs: &Runs) -> GroupWaits {
        let own = self.summary(runs, self.first..self.log.jobs.len());
        GroupWaits {
            jobs: own.jobs,
            mean: own.mean_wait,
            slowdown: own.mean_bounded_slowdown,
            longest: own.longest_wait,
        }
    }

    /// Returns the means over all runs for some of the jobs.
    fn summary(&self, runs: &Runs, jobs: Range<usize>) -> WaitSummary {
        let sizes = self.log.jobs[jobs.clone()].iter();
        let sizes = sizes.map(|job| self.seconds(job.size));
        let outcomes = runs.iter().map(|waits| {
            let waits = waits[jobs.clone()].iter().copied();
            WaitSummary::of(waits.zip(sizes.clone()))
        });
        let outcomes: Vec<WaitSummary> = outcomes.collect();
        let over = |of: fn(&WaitSummary) -> f64| mean(outcomes.iter().map(of));
        WaitSummary {
            jobs: jobs.len() as u64,
            mean_wait: over(|own| own.mean_wait),
            mean_bounded_slowdown: over(|own| own.mean_bounded_slowdown),
            p99_wait: over(|own| own.p99_wait),
            longest_wait: over(|own| own.longest_wait),
        }
    }

    fn likeness(&self) -> Option<Agreement> {
        Agreement::of(self.log, self.first, |n| {
            self.over(&self.today, |waits| waits[n])
        })
    }

    fn gain(&self, what: String, runs: &Runs) -> Effect {
        let (own, today) = (self.judged(runs), self.judged(&self.today));
        let ratio = match today.mean > 0.0 {
            true => own.mean / today.mean,
            false => 1.0,
        };
        let length = Blocks::length(own.mean.max(today.mean));
        let all = (self.early..self.log.jobs.len()).collect_vec();
        let [within, interval] = self.intervals(runs, &all, length);
        Effect {
            what,
            waits: own,
            ratio,
            interval,
            within,
            classes: self.parts(runs, length, |n| Some(self.classes[n].clone())),
            users: self.users(runs, length),
        }
    }

    /// Returns the intervals of the ratio for these jobs, which are in ascending order: the interval
    /// for the jobs that are evaluated, and the one for the following period.
    fn intervals(&self, runs: &Runs, jobs: &[usize], length: f64) -> [Option<Interval>; 2] {
        let (past, judged) = jobs.split_at(jobs.partition_point(|n| *n < self.first));
        let pairs = |jobs: &[usize]| -> Vec<PairedWait> {
            let pair = |n: &usize| PairedWait {
                day: (self.seconds(self.log.jobs[*n].submit) / DAY) as u64,
                today: self.over(&self.today, |waits| waits[*n]),
                changed: self.over(runs, |waits| waits[*n]),
            };
            jobs.iter().map(pair).collect()
        };
        let within = self.interval(runs, judged, length);
        let following = within.and_then(|own| drift::following(own, &pairs(past), &pairs(judged)));
        [within, following]
    }

    /// Returns the confidence interval for the ratio of the mean waits of these jobs. Each draw uses
    /// one run of each configuration, so the effect of the clock offset is included.
    fn interval(&self, runs: &Runs, jobs: &[usize], length: f64) -> Option<Interval> {
        let submits = jobs.iter().map(|n| self.seconds(self.log.jobs[*n].submit));
        let span = self.seconds(self.log.span());
        let window = [self.past * span, span];
        let most = (window[1] - window[0]) / Blocks::FEWEST;
        let blocks = Blocks::draw(&submits.collect_vec(), window, length.min(most), SEED)?;
        let drawn = |runs: &Runs, run: fn(usize, usize) -> usize| -> Vec<Option<f64>> {
            let means = (runs.iter()).map(|waits| blocks.means(jobs.iter().map(|n| waits[*n])));
            let means = means.collect_vec();
            let draws = 0..means[0].len();
            draws.map(|n| means[run(n, means.len())][n]).collect()
        };
        let own = drawn(runs, |n, runs| n % runs);
        let today = drawn(&self.today, |n, runs| n / runs % runs);
        Interval::of_ratio(&own, &today)
    }

    /// Returns the effect on each class or on each user, where the largest loss is first.
    fn parts(
        &self,
        runs: &Runs,
        length: f64,
        name: impl Fn(usize) -> Option<String>,
    ) -> Vec<JobGroup> {
        let named = (self.early..self.log.jobs.len()).filter_map(|n| Some((name(n)?, n)));
        let part = |(name, all): (String, Vec<usize>)| {
            let jobs = &all[all.partition_point(|n| *n < self.first)..];
            let recorded = mean(jobs.iter().map(|n| self.seconds(self.log.jobs[*n].waited)));
            let of = |runs: &Runs| {
                let waits = jobs.iter().map(|n| self.over(runs, |waits| waits[*n]));
                mean(waits)
            };
            let is_large = jobs.len() >= FEWEST_OF_GROUP;
            let interval = is_large.then(|| self.intervals(runs, &all, length)[1]);
            (!jobs.is_empty()).then(|| JobGroup {
                name,
                jobs: jobs.len() as u64,
                recorded: Some(recorded).filter(|own| !own.is_nan()),
                today: of(&self.today),
                changed: of(runs),
                interval: interval.flatten(),
            })
        };
        let parts = named.into_group_map().into_iter().filter_map(part);
        let mut parts = parts.collect_vec();
        let lost = |part: &JobGroup| (part.changed - part.today) * part.jobs as f64;
        parts.sort_by(|a, b| a.name.cmp(&b.name));
        parts.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
        parts
    }

    fn users(&self, runs: &Runs, length: f64) -> Vec<JobGroup> {
        let names = &self.log.account.users;
        let name = |n: usize| Some(format!("user {}", names.get(&self.log.jobs[n].user)?));
        let mut users = self.parts(runs, length, name);
        if users.len() > USERS {
            users.drain(USERS / 2..users.len() - USERS / 2);
        }
        users
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}
