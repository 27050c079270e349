//! What a site should change, from its own jobs: the rule [`slurm`](synth_slurm::rule) replays them as they were scheduled, and
//! under changes.
//!
//! # Theory
//! Changes are chosen on the first half of the log by the mean wait, one after the other as long as one more helps;
//! what they bring is measured on the second half, beside the rule of today there, by blocks of time in pairs. Each is replayed several
//! times, with the clock at another second: a start that is a second early moves all behind it. Nothing is advised
//! where today's rule in the replay is far from the waits that the log tells.

mod changes;
mod classes;
mod lines;
mod twin;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use itertools::Itertools as _;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

pub use changes::SiteChange;
use changes::largest;
use classes::classes;
use lines::Lines;
use twin::Setting;

use crate::judge::PastOutcome;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::facts;
use synth_traces::replay::{Blocks, Interval, Kinds, Log, ReplayJob, early};

/// What is advised, and what it is based on. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// Jobs of the log.
    pub jobs: u64,
    /// The part of the span before what is judged.
    pub past: f64,
    /// Of the judged jobs: how near the replay of today's rule is to what the log tells.
    pub likeness: Option<Likeness>,
    /// Of the judged jobs, under today's rule.
    pub today: GroupWaits,
    /// Whether the chosen changes are advised: the replay is near the log, and what helped in its first half is seen to
    /// help in the second.
    pub is_advised: bool,
    /// The changes that helped most in the first half, together; none where nothing helps.
    pub chosen: Vec<SiteChange>,
    /// The lines of slurm.conf that make these changes, to replace the lines of the same names; not those that are set already.
    pub lines: Vec<String>,
    /// The lines that take the changes back: those of today, and comments for those that are not there today.
    pub back: Vec<String>,
    /// What they bring, together.
    pub gain: Option<Gain>,
    /// What each change that was tried brings alone.
    pub tried: Vec<Gain>,
    /// What more nodes would bring.
    pub purchases: Vec<Gain>,
    /// Assumptions about the site that shape every result: the answer begins with them.
    pub assumed: Vec<String>,
    /// Sentences on what was supposed.
    pub remarks: Vec<String>,
    /// The promise: on the past nobody waits longer than so many times today's longest wait there.
    pub longest: Option<f64>,
    /// Seed of the blocks.
    pub seed: u64,
}

impl Advice {
    /// Whether the replay is near the log, as far as that is known.
    pub fn is_near(&self) -> bool {
        self.likeness.is_none_or(|own| own.is_near())
    }

    /// Whether the replay was compared with what happened, and is near it.
    pub fn is_checked(&self) -> bool {
        self.likeness.is_some_and(|own| own.is_near())
    }

    /// Returns what the advised changes bring, where they are to be made: the replay is near the log, and what helped in its
    /// first half is seen to help in the second.
    pub fn sure(&self) -> Option<&Gain> {
        let gain = self.gain.as_ref();
        gain.filter(|gain| self.is_checked() && gain.is_sure())
    }
}

/// The waits of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupWaits {
    /// How many.
    pub jobs: u64,
    /// Mean.
    pub mean: f64,
    /// Mean of `max(1, response / max(size, 10 s))`.
    pub slowdown: f64,
    /// Longest.
    pub longest: f64,
}

/// Today's rule in the replay, beside the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Likeness {
    /// Mean wait that the log tells.
    pub recorded: f64,
    /// Mean wait of the same jobs in the replay.
    pub replayed: f64,
}

impl Likeness {
    /// Whether the replay is near enough for advice.
    pub fn is_near(&self) -> bool {
        let ratio = self.replayed / self.recorded;
        self.recorded == 0.0 && self.replayed == 0.0 || (0.5..=2.0).contains(&ratio)
    }
}

/// What a change brings on the judged jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Gain {
    /// What is changed, in words.
    pub what: String,
    /// Waits with it.
    pub waits: GroupWaits,
    /// Mean wait over that of today's rule.
    pub ratio: f64,
    /// A 95 % interval of that.
    pub interval: Option<Interval>,
    /// Whose waits change how, by class and by user: those that lose most first.
    pub classes: Vec<JobGroup>,
    /// The same by user, those with the largest changes alone.
    pub users: Vec<JobGroup>,
}

impl Gain {
    /// Whether it is seen to help.
    pub fn is_sure(&self) -> bool {
        self.interval.is_some_and(|own| own.high < 1.0)
    }
}

/// The judged jobs of a class or a user.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobGroup {
    /// Its name.
    pub name: String,
    /// How many jobs.
    pub jobs: u64,
    /// Mean wait that the log tells, if it tells that of all.
    pub recorded: Option<f64>,
    /// Mean wait under today's rule.
    pub today: f64,
    /// Mean wait with the change.
    pub changed: f64,
}

/// The part of the span on which changes are chosen.
const PAST: f64 = 0.5;
/// One more change has to lower the mean wait by this part on the past.
const WORTH: f64 = 0.98;
/// A day \[s\]: blocks of time are no shorter…
const DAY: f64 = 86_400.0;
/// …than that or so many mean waits.
const WAITS: f64 = 10.0;
/// Blocks of time in the judged part at least.
const FEWEST_BLOCKS: f64 = 10.0;
/// Users that are named.
const USERS: usize = 6;

/// Says what a site should change, from a log of its jobs. `listener` is called with what is tried now.
///
/// # Errors
/// Where the jobs cannot be replayed, there are too few, or it is interrupted.
pub fn advise(
    log: &Log,
    site: &SlurmSite,
    (longest, seed): (Option<f64>, u64),
    interrupt: &AtomicBool,
    listener: &mut dyn FnMut(&str),
) -> Result<Advice, String> {
    let advising = Advising::new(log, site, seed, interrupt)?;
    let candidates = changes::candidates(site, log);
    listener("changes one by one");
    let waits = |changes: &[SiteChange]| -> Result<Vec<Runs>, String> {
        let each = changes.par_iter().map(|change| advising.waits(&[change]));
        each.collect()
    };
    let gains = |changes: &[SiteChange], each: &[Runs]| -> Vec<Gain> {
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
    let (lines, back) = after.instead_of(&before);
    let mut advice = Advice {
        lines,
        back,
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
        seed,
    };
    advice.is_advised = advice.sure().is_some();
    Ok(advice)
}

/// The waits of all jobs \[s\], in each of some runs.
type Runs = Vec<Vec<f64>>;

/// A log and its site, with today's waits.
struct Advising<'a> {
    log: &'a Log,
    kinds: Kinds,
    setting: Setting,
    today: Runs,
    /// The first job that arrives, and the first that is judged.
    early: usize,
    first: usize,
    /// Of each job.
    classes: Vec<String>,
    remarks: Vec<String>,
    seed: u64,
    interrupt: &'a AtomicBool,
}

/// Fewer jobs on either side say nothing.
const FEWEST: usize = 50;

impl<'a> Advising<'a> {
    fn new(
        log: &'a Log,
        site: &SlurmSite,
        seed: u64,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, String> {
        let cut = PAST * log.span();
        let is_past = |job: &ReplayJob| job.seen.is_early() || job.submit < cut;
        let first = log.jobs.partition_point(is_past);
        let early = early(&log.jobs);
        let past = first - early;
        if past < FEWEST || log.jobs.len() - first < FEWEST {
            let (left, warnings) = (log.jobs.len() - first, log.account.warnings());
            return Err(format!(
                "the log has {past} jobs in the first half of its span and {left} in the second, where {FEWEST} are needed in each: export more weeks{warnings}"
            ));
        }
        let sent = facts(site, log);
        let mut site = site.clone();
        // What was used by the day of the export has the jobs of the log in it.
        site.associations.iter_mut().for_each(|own| own.usage = 0.0);
        let remarks = site.remarks.iter().cloned().chain(sent.remarks).collect();
        let setting = Setting {
            site,
            facts: sent.facts,
            order: None,
        };
        let kinds = Kinds::exact(log);
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
            seed,
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

    /// Chooses changes on the past, one after the other as long as one more helps; `each` has the waits of each alone. Returns
    /// their places, and the waits with all of them.
    fn together(
        &self,
        candidates: &[SiteChange],
        each: &[Runs],
        longest: Option<f64>,
    ) -> Result<(Vec<usize>, Runs), String> {
        let today = self.past_mean(&self.today);
        // What does not help alone is not tried with others.
        let helps = |n: &usize| self.objective(&each[*n], longest) < today;
        let helpful: Vec<usize> = (0..candidates.len()).filter(helps).collect();
        let (mut best, mut mean, mut together) = (Vec::new(), today, self.today.clone());
        loop {
            let is_out = |n: usize, m: usize| n == m || candidates[n].excludes(&candidates[m]);
            let left = helpful.iter().copied();
            let left = left.filter(|n| !best.iter().any(|m| is_out(*n, *m)));
            let left: Vec<usize> = left.collect();
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

    /// Returns the mean wait on the past; infinity where the promise is not kept there.
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

    /// Returns the mean of a measure over runs.
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
            PastOutcome::of(waits.zip(sizes.clone()))
        });
        let outcomes: Vec<PastOutcome> = outcomes.collect();
        let over = |of: fn(&PastOutcome) -> f64| mean(outcomes.iter().map(of));
        GroupWaits {
            jobs: outcomes[0].jobs,
            mean: over(|own| own.mean_wait),
            slowdown: over(|own| own.mean_bounded_slowdown),
            longest: over(|own| own.longest_wait),
        }
    }

    fn likeness(&self) -> Option<Likeness> {
        let recorded = |n: usize| self.seconds(self.log.jobs[n].waited);
        let known = (self.first..self.log.jobs.len()).filter(|n| !recorded(*n).is_nan());
        let known: Vec<usize> = known.collect();
        let over = |of: &dyn Fn(usize) -> f64| mean(known.iter().map(|n| of(*n)));
        (!known.is_empty()).then(|| Likeness {
            recorded: over(&recorded),
            replayed: self.over(&self.today, |waits| over(&|n| waits[n])),
        })
    }

    fn gain(&self, what: String, runs: &Runs) -> Gain {
        let (own, today) = (self.judged(runs), self.judged(&self.today));
        let ratio = match today.mean > 0.0 {
            true => own.mean / today.mean,
            false => 1.0,
        };
        Gain {
            what,
            waits: own,
            ratio,
            interval: self.interval(runs, own.mean.max(today.mean)),
            classes: self.parts(runs, |n| Some(self.classes[n].clone())),
            users: self.users(runs),
        }
    }

    /// Returns an interval of the ratio of mean waits: each draw of blocks takes one run of each, so that what a second more or
    /// less does is in it.
    fn interval(&self, runs: &Runs, mean: f64) -> Option<Interval> {
        let jobs = self.log.jobs.iter();
        let submits: Vec<f64> = jobs.map(|job| self.seconds(job.submit)).collect();
        let span = self.seconds(self.log.span());
        // Ten blocks at least say something of the spread.
        let most = (1.0 - PAST) * span / FEWEST_BLOCKS;
        let length = DAY.max(WAITS * mean).min(most);
        let blocks = Blocks::draw(&submits, [PAST * span, span], length, self.seed)?;
        let drawn = |runs: &Runs, run: fn(usize, usize) -> usize| -> Vec<Option<f64>> {
            let means = runs.iter().map(|waits| blocks.means(waits.iter().copied()));
            let means: Vec<_> = means.collect();
            let draws = 0..means[0].len();
            draws.map(|n| means[run(n, means.len())][n]).collect()
        };
        let own = drawn(runs, |n, runs| n % runs);
        let today = drawn(&self.today, |n, runs| n / runs % runs);
        Interval::of_ratio(&own, &today)
    }

    /// By class or user, what today's rule and a change mean to the judged jobs; those that lose most first.
    fn parts(&self, runs: &Runs, name: impl Fn(usize) -> Option<String>) -> Vec<JobGroup> {
        let mut sums: HashMap<String, (u64, [f64; 3])> = HashMap::new();
        for n in self.first..self.log.jobs.len() {
            if let Some(name) = name(n) {
                let of = |runs: &Runs| self.over(runs, |waits| waits[n]);
                let recorded = self.seconds(self.log.jobs[n].waited);
                let (count, sums) = sums.entry(name).or_default();
                *count += 1;
                let own = [recorded, of(&self.today), of(runs)];
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
        }
        let part = |(name, (jobs, sums)): (String, (u64, [f64; 3]))| {
            let [recorded, today, changed] = sums.map(|sum| sum / jobs as f64);
            JobGroup {
                name,
                jobs,
                recorded: Some(recorded).filter(|own| !own.is_nan()),
                today,
                changed,
            }
        };
        let mut parts: Vec<JobGroup> = sums.into_iter().map(part).collect();
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
