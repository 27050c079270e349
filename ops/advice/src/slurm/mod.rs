//! Changes that a Slurm site should make, from replays of its own jobs under the rule
//! [`slurm`](synth_slurm::rule).
//!
//! Changes are selected greedily on the first half of the log by mean wait, and evaluated on the
//! second half with intervals from paired blocks of time. Each is replayed with several clock
//! offsets, since a start one second earlier shifts all later ones. Nothing is advised if the
//! replay of the current configuration is far from the recorded waits.

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

/// The advice and its basis. Times are in seconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Advice {
    /// The number of jobs in the log.
    pub jobs: u64,
    /// The fraction of the time span on which changes are selected; the rest is evaluated.
    pub past: f64,
    /// The agreement between replay and log on the evaluated jobs.
    pub likeness: Option<Likeness>,
    /// The waits of the evaluated jobs under the current configuration.
    pub today: GroupWaits,
    /// Whether the changes are advised: the replay agrees with the log, and they surely help.
    pub is_advised: bool,
    /// The combination of changes that helped most in the first half; empty if none helped.
    pub chosen: Vec<SiteChange>,
    /// The lines of slurm.conf that make these changes, replacing lines of the same names.
    pub lines: Vec<String>,
    /// The lines that revert the changes; comments for lines that are to be deleted.
    pub back: Vec<String>,
    /// The effect of all selected changes together.
    pub gain: Option<Gain>,
    /// The effect of each candidate change alone.
    pub tried: Vec<Gain>,
    /// The effect of more nodes.
    pub purchases: Vec<Gain>,
    /// Assumptions about the site that affect every result.
    pub assumed: Vec<String>,
    /// Remarks on how the log was interpreted.
    pub remarks: Vec<String>,
    /// Guarantee in the first half: the longest wait as a multiple of the current one.
    pub longest: Option<f64>,
    /// The seed of the blocks.
    pub seed: u64,
}

impl Advice {
    /// Returns whether the replay agrees with the log; true if unknown.
    pub fn is_near(&self) -> bool {
        self.likeness.is_none_or(|own| own.is_near())
    }

    /// Returns whether the replay is known to agree with the log.
    pub fn is_checked(&self) -> bool {
        self.likeness.is_some_and(|own| own.is_near())
    }

    /// Returns the effect of the selected changes, if they are advised.
    pub fn sure(&self) -> Option<&Gain> {
        let gain = self.gain.as_ref();
        gain.filter(|gain| self.is_checked() && gain.is_sure())
    }
}

/// The waits of a set of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupWaits {
    /// The number of jobs.
    pub jobs: u64,
    /// The mean wait.
    pub mean: f64,
    /// The mean of `max(1, response / max(size, 10 s))`.
    pub slowdown: f64,
    /// The longest wait.
    pub longest: f64,
}

/// The agreement between the replay of the current configuration and the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Likeness {
    /// The mean wait in the log.
    pub recorded: f64,
    /// The mean wait of the same jobs in the replay.
    pub replayed: f64,
}

impl Likeness {
    /// Returns whether the replay is close enough to give advice.
    pub fn is_near(&self) -> bool {
        let ratio = self.replayed / self.recorded;
        self.recorded == 0.0 && self.replayed == 0.0 || (0.5..=2.0).contains(&ratio)
    }
}

/// The effect of a change on the evaluated jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Gain {
    /// The change in words.
    pub what: String,
    /// The waits with the change.
    pub waits: GroupWaits,
    /// The mean wait relative to the current configuration.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub interval: Option<Interval>,
    /// The effect by job class; classes that lose most first.
    pub classes: Vec<JobGroup>,
    /// The effect by user, only for the users with the largest changes.
    pub users: Vec<JobGroup>,
}

impl Gain {
    /// Returns whether it helps significantly.
    pub fn is_sure(&self) -> bool {
        self.interval.is_some_and(|own| own.high < 1.0)
    }
}

/// The evaluated jobs of a class or user.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobGroup {
    /// Its name.
    pub name: String,
    /// The number of jobs.
    pub jobs: u64,
    /// The mean wait in the log, if known for all jobs.
    pub recorded: Option<f64>,
    /// The mean wait under the current configuration.
    pub today: f64,
    /// The mean wait with the change.
    pub changed: f64,
}

const PAST: f64 = 0.5;
/// The largest ratio of mean waits at which another change is accepted.
const WORTH: f64 = 0.98;
/// The minimum length of a block \[s\].
const DAY: f64 = 86_400.0;
/// The minimum length of a block in mean waits.
const WAITS: f64 = 10.0;
/// The minimum number of blocks; takes precedence over the lengths.
const FEWEST_BLOCKS: f64 = 10.0;
const USERS: usize = 6;

/// Advises changes from a log of a site's jobs; errors if it is too short or on interruption.
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

/// The waits of all jobs \[s\] in each of several runs.
type Runs = Vec<Vec<f64>>;

struct Advising<'a> {
    log: &'a Log,
    kinds: Kinds,
    setting: Setting,
    today: Runs,
    early: usize,
    first: usize,
    classes: Vec<String>,
    remarks: Vec<String>,
    seed: u64,
    interrupt: &'a AtomicBool,
}

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
                "the log has {past} jobs in the first half of its time span and {left} in the second, but {FEWEST} are needed in each: export more weeks{warnings}"
            ));
        }
        let sent = facts(site, log);
        let mut site = site.clone();
        // Usage at the time of the export already includes the jobs of the log.
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

    /// Selects changes greedily on the first half; returns their indices and waits.
    fn together(
        &self,
        candidates: &[SiteChange],
        each: &[Runs],
        longest: Option<f64>,
    ) -> Result<(Vec<usize>, Runs), String> {
        let today = self.past_mean(&self.today);
        // Changes that do not help alone are not combined.
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

    /// Returns the mean wait in the first half; infinite if the guarantee is broken there.
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

    /// Returns an interval of the ratio of mean waits, including the effect of the clock offset:
    /// each draw of blocks uses one run of each configuration.
    fn interval(&self, runs: &Runs, mean: f64) -> Option<Interval> {
        let jobs = self.log.jobs.iter();
        let submits: Vec<f64> = jobs.map(|job| self.seconds(job.submit)).collect();
        let span = self.seconds(self.log.span());
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

    /// Returns the effect by class or user, those that lose most first.
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
