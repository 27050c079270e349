//! This module finds changes to the configuration of a Slurm site, by replaying the jobs of the
//! site using the rule [`slurm`](synth_slurm::rule).
//!
//! The changes with the lowest mean wait are selected one at a time on the first half of the log,
//! and evaluated on the second half. Each change is replayed with several offsets of the clock,
//! because a start that is one second earlier changes all later starts.

mod changes;
mod classes;
mod lines;
mod order;
mod twin;

use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools as _;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use changes::Kind;
pub use changes::SiteChange;
use changes::largest;
use classes::classes;
use lines::{ChangedOption, Lines};
pub use order::AdvisedOrder;
pub(crate) use order::FORMAT;
use twin::Configuration;

use crate::judge::WaitSummary;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::facts;
use synth_traces::replay::{Blocks, DemandKinds, Interval, Log, ReplayJob, early};

/// The advice, and the data that it is based on. All times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// The number of jobs in the log.
    pub jobs: u64,
    /// The fraction of the time span that is used to select changes, and not for the results.
    pub past: f64,
    /// A comparison of the replay with the log, for the jobs that are evaluated.
    pub likeness: Option<Agreement>,
    /// The waits of the jobs that are evaluated, using the current configuration.
    pub today: GroupWaits,
    /// Whether the changes are advised, since they help and the replay is close to the log.
    pub is_advised: bool,
    /// The set of changes that helped the most in the first half, which may be empty.
    pub chosen: Vec<SiteChange>,
    /// The order of the queue, if it is part of the changes that are advised.
    pub order: Option<AdvisedOrder>,
    /// The new lines of the `slurm.conf`, which replace the lines with the same names. If no
    /// changes are advised, there are no lines.
    pub lines: Vec<String>,
    /// The lines that undo the changes. If a line must be removed, this is a comment.
    pub back: Vec<String>,
    /// The names and values in the new lines.
    #[serde(skip)]
    pub(crate) settings: Vec<(String, String)>,
    /// The effect of all changes that were selected.
    pub gain: Option<Effect>,
    /// The effect of each change if it is the only one.
    pub tried: Vec<Effect>,
    /// The effect of adding more nodes.
    pub purchases: Vec<Effect>,
    /// The assumptions about the site that have an effect on the results.
    pub assumed: Vec<String>,
    /// Notes on how the log was read.
    pub remarks: Vec<String>,
    /// The maximum wait in the first half, as a multiple of the current longest wait.
    pub longest: Option<f64>,
    /// The seed for the random blocks.
    pub seed: u64,
}

impl Advice {
    /// Returns `true` if the replay is close to the log, or if this is not known.
    pub(crate) fn is_near(&self) -> bool {
        self.likeness.is_none_or(|own| own.is_near())
    }

    pub(crate) fn is_checked(&self) -> bool {
        self.likeness.is_some_and(|own| own.is_near())
    }

    /// Returns the effect of the changes if they are advised.
    pub(crate) fn significant_effect(&self) -> Option<&Effect> {
        let gain = self.gain.as_ref();
        gain.filter(|gain| self.is_checked() && gain.is_sure())
    }
}

/// The waits of a set of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupWaits {
    /// The number of jobs.
    pub jobs: u64,
    /// The mean of the waits.
    pub mean: f64,
    /// The mean of `max(1, response / max(size, 10 s))`.
    pub slowdown: f64,
    /// The longest wait of any job.
    pub longest: f64,
}

/// A comparison of the replay of the current configuration with the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Agreement {
    /// The mean wait of the jobs in the log.
    pub recorded: f64,
    /// The mean wait of the same jobs in the replay.
    pub replayed: f64,
}

impl Agreement {
    /// Returns `true` if the replay is close enough to the log to give advice.
    pub(crate) fn is_near(&self) -> bool {
        let ratio = self.replayed / self.recorded;
        self.recorded == 0.0 && self.replayed == 0.0 || (0.5..=2.0).contains(&ratio)
    }
}

/// The effect of a change on the jobs that are evaluated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Effect {
    /// A description of the change.
    pub what: String,
    /// The waits of the jobs if the change is made.
    pub waits: GroupWaits,
    /// The mean wait divided by the mean wait with the current configuration.
    pub ratio: f64,
    /// The 95 % confidence interval of the ratio.
    pub interval: Option<Interval>,
    /// The effect on each class of jobs, where the classes with the largest loss are first.
    pub classes: Vec<JobGroup>,
    /// The effect on each user. This only contains the users with the largest changes.
    pub users: Vec<JobGroup>,
}

impl Effect {
    pub(crate) fn is_sure(&self) -> bool {
        self.interval.is_some_and(|own| own.high < 1.0)
    }
}

/// The jobs of a class or of a user that are evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobGroup {
    /// The name of the class or of the user.
    pub name: String,
    /// The number of jobs.
    pub jobs: u64,
    /// The mean wait in the log, or `None` if it is not known for all jobs.
    pub recorded: Option<f64>,
    /// The mean wait with the current configuration.
    pub today: f64,
    /// The mean wait if the change is made.
    pub changed: f64,
}

const PAST: f64 = 0.5;
/// The maximum ratio of the mean waits if another change is added.
const WORTH: f64 = 0.98;
/// The minimum number of blocks, even if the blocks become too short.
const FEWEST_BLOCKS: f64 = 10.0;
const USERS: usize = 6;

/// Returns advice based on a log of jobs, or an error if it is too short or if interrupted.
pub fn advise(
    log: &Log,
    site: &SlurmSite,
    longest: Option<f64>,
    interrupt: &AtomicBool,
    listener: &mut dyn FnMut(&str),
) -> Result<Advice, String> {
    let advising = Advising::new(log, site, interrupt)?;
    let candidates = changes::candidates(site, log);
    listener("changes one by one");
    let waits = |changes: &[SiteChange]| -> Result<Vec<Runs>, String> {
        let each = changes.par_iter().map(|change| advising.waits(&[change]));
        each.collect()
    };
    let gains = |changes: &[SiteChange], each: &[Runs]| -> Vec<Effect> {
        let pairs = changes.iter().zip(each);
        let gains = pairs.map(|(change, runs)| advising.gain(change.what.clone(), runs));
        gains.collect()
    };
    let each = waits(&candidates)?;
    let tried = gains(&candidates, &each);
    listener("changes together");
    let (best, together) = advising.together(&candidates, &each, longest)?;
    let chosen: Vec<SiteChange> = best.iter().map(|n| candidates[*n].clone()).collect();
    listener("more nodes");
    let purchases = changes::purchases(site);
    let purchases = gains(&purchases, &waits(&purchases)?);
    let name = chosen.iter().map(|own| &own.what).join("; ");
    let before = Lines(site.options.clone());
    let mut after = before.clone();
    chosen.iter().for_each(|own| own.write(site, &mut after));
    let mut advice = Advice {
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
        assumed: site.assumed.clone(),
        remarks: advising.remarks.clone(),
        longest,
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

/// The wait of each job in each run in seconds.
type Runs = Vec<Vec<f64>>;

struct Advising<'a> {
    log: &'a Log,
    kinds: DemandKinds,
    setting: Configuration,
    today: Runs,
    early: usize,
    first: usize,
    classes: Vec<String>,
    remarks: Vec<String>,
    interrupt: &'a AtomicBool,
}

const FEWEST: usize = 50;

/// The seed of all random draws.
pub(crate) const SEED: u64 = 1;

impl<'a> Advising<'a> {
    fn new(log: &'a Log, site: &SlurmSite, interrupt: &'a AtomicBool) -> Result<Self, String> {
        let cut = PAST * log.span();
        let is_past = |job: &ReplayJob| job.seen.is_early() || job.submit < cut;
        let first = log.jobs.partition_point(is_past);
        let early = early(&log.jobs);
        let past = first - early;
        if past < FEWEST || log.jobs.len() - first < FEWEST {
            let (left, warnings) = (log.jobs.len() - first, log.account.warnings());
            return Err(format!(
                "the log contains {past} jobs in the first half of its time span and {left} in the second half, but at least {FEWEST} are required in each of them; export the jobs of more weeks{warnings}"
            ));
        }
        let (facts, notes) = facts(site, log);
        let mut site = site.clone();
        // The usage already includes the jobs in the log, because it was exported later.
        site.associations.iter_mut().for_each(|own| own.usage = 0.0);
        let remarks = site.remarks.iter().cloned().chain(notes).collect();
        let setting = Configuration {
            site,
            facts,
            order: None,
        };
        let kinds = DemandKinds::exact(log);
        let today = setting.waits(log, &kinds)?;
        Ok(Advising {
            log,
            kinds,
            setting,
            today,
            early,
            first,
            classes: classes(log),
            remarks,
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

    fn together(
        &self,
        candidates: &[SiteChange],
        each: &[Runs],
        longest: Option<f64>,
    ) -> Result<(Vec<usize>, Runs), String> {
        let today = self.past_mean(&self.today);
        let helps = |n: &usize| self.objective(&each[*n], longest) < today;
        let helpful = (0..candidates.len()).filter(helps).collect_vec();
        let (mut best, mut mean, mut together) = (Vec::new(), today, self.today.clone());
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
                Ok((n, self.objective(&runs, longest), runs))
            };
            let round: Vec<_> = left.into_par_iter().map(with).collect::<Result<_, _>>()?;
            match round.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((n, own, runs)) if own < WORTH * mean => {
                    best.push(n);
                    (mean, together) = (own, runs);
                }
                _ => return Ok((best, together)),
            }
        }
    }

    /// Returns the mean wait in the first half, or infinity if the guarantee is not met.
    fn objective(&self, runs: &Runs, longest: Option<f64>) -> f64 {
        let most = |runs: &Runs| self.over(runs, |waits| largest(&waits[self.early..self.first]));
        match longest {
            Some(times) if most(runs) > times * most(&self.today) => f64::INFINITY,
            _ => self.past_mean(runs),
        }
    }

    fn past_mean(&self, runs: &Runs) -> f64 {
        let past = |waits: &[f64]| mean(waits[self.early..self.first].iter().copied());
        self.over(runs, past)
    }

    fn over(&self, runs: &Runs, of: impl Fn(&[f64]) -> f64) -> f64 {
        mean(runs.iter().map(|waits| of(waits)))
    }

    fn seconds(&self, ticks: f64) -> f64 {
        ticks / self.log.tick.per_second() as f64
    }

    fn judged(&self, runs: &Runs) -> GroupWaits {
        let jobs = self.log.jobs[self.first..].iter();
        let sizes = jobs.map(|job| self.seconds(job.size));
        let outcomes = runs.iter().map(|waits| {
            let waits = waits[self.first..].iter().copied();
            WaitSummary::of(waits.zip(sizes.clone()))
        });
        let outcomes: Vec<WaitSummary> = outcomes.collect();
        let over = |of: fn(&WaitSummary) -> f64| mean(outcomes.iter().map(of));
        GroupWaits {
            jobs: outcomes[0].jobs,
            mean: over(|own| own.mean_wait),
            slowdown: over(|own| own.mean_bounded_slowdown),
            longest: over(|own| own.longest_wait),
        }
    }

    fn likeness(&self) -> Option<Agreement> {
        let recorded = |n: usize| self.seconds(self.log.jobs[n].waited);
        let known = (self.first..self.log.jobs.len()).filter(|n| !recorded(*n).is_nan());
        let known = known.collect_vec();
        let over = |of: &dyn Fn(usize) -> f64| mean(known.iter().map(|n| of(*n)));
        (!known.is_empty()).then(|| Agreement {
            recorded: over(&recorded),
            replayed: self.over(&self.today, |waits| over(&|n| waits[n])),
        })
    }

    fn gain(&self, what: String, runs: &Runs) -> Effect {
        let (own, today) = (self.judged(runs), self.judged(&self.today));
        let ratio = match today.mean > 0.0 {
            true => own.mean / today.mean,
            false => 1.0,
        };
        Effect {
            what,
            waits: own,
            ratio,
            interval: self.interval(runs, own.mean.max(today.mean)),
            classes: self.parts(runs, |n| Some(self.classes[n].clone())),
            users: self.users(runs),
        }
    }

    /// Returns the confidence interval for the ratio of the mean waits. Each draw uses one run of
    /// each configuration, so the effect of the clock offset is included.
    fn interval(&self, runs: &Runs, mean: f64) -> Option<Interval> {
        let jobs = self.log.jobs.iter();
        let submits: Vec<f64> = jobs.map(|job| self.seconds(job.submit)).collect();
        let span = self.seconds(self.log.span());
        let most = (1.0 - PAST) * span / FEWEST_BLOCKS;
        let length = Blocks::length(mean).min(most);
        let blocks = Blocks::draw(&submits, [PAST * span, span], length, SEED)?;
        let drawn = |runs: &Runs, run: fn(usize, usize) -> usize| -> Vec<Option<f64>> {
            let means = runs.iter().map(|waits| blocks.means(waits.iter().copied()));
            let means = means.collect_vec();
            let draws = 0..means[0].len();
            draws.map(|n| means[run(n, means.len())][n]).collect()
        };
        let own = drawn(runs, |n, runs| n % runs);
        let today = drawn(&self.today, |n, runs| n / runs % runs);
        Interval::of_ratio(&own, &today)
    }

    /// Returns the effect on each class or on each user, where the largest loss is first.
    fn parts(&self, runs: &Runs, name: impl Fn(usize) -> Option<String>) -> Vec<JobGroup> {
        let named = (self.first..self.log.jobs.len()).filter_map(|n| Some((name(n)?, n)));
        let part = |(name, jobs): (String, Vec<usize>)| {
            let recorded = mean(jobs.iter().map(|n| self.seconds(self.log.jobs[*n].waited)));
            let of = |runs: &Runs| {
                let waits = jobs.iter().map(|n| self.over(runs, |waits| waits[*n]));
                mean(waits)
            };
            JobGroup {
                name,
                jobs: jobs.len() as u64,
                recorded: Some(recorded).filter(|own| !own.is_nan()),
                today: of(&self.today),
                changed: of(runs),
            }
        };
        let mut parts = named.into_group_map().into_iter().map(part).collect_vec();
        let lost = |part: &JobGroup| (part.changed - part.today) * part.jobs as f64;
        parts.sort_by(|a, b| a.name.cmp(&b.name));
        parts.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
        parts
    }

    fn users(&self, runs: &Runs) -> Vec<JobGroup> {
        let names = &self.log.account.users;
        let name = |n: usize| Some(format!("user {}", names.get(&self.log.jobs[n].user)?));
        let mut users = self.parts(runs, name);
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
