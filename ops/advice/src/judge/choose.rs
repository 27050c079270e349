//! The choice of a rule on the past of a log.

use std::sync::atomic::{AtomicBool, Ordering};

use itertools::{Itertools as _, iproduct};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::past::{Past, PastOutcome};
use super::point::{RulePoint, between, plain};
use synth_multiresource::policy::RuntimeEstimate;
use synth_traces::replay::{Log, Stopped};

/// What is to be small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeObjective {
    /// The mean wait, with a fifth of the weight on the bounded slowdown
    #[default]
    Wait,
    /// The mean bounded slowdown, max(1, response / max(size, 10 s))
    Slowdown,
    /// Both alike
    Both,
}

/// What a rule is chosen by.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Goal {
    /// What is to be small.
    pub objective: JudgeObjective,
    /// A promise: nobody waits longer than so many times the longest wait under the rule that runs now.
    pub longest: Option<f64>,
    /// The rule that runs now.
    pub now: RulePoint,
}

/// A rule that was chosen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChosenRule {
    /// The rule.
    pub point: RulePoint,
    /// What is to be small, over that of the rule that runs now: geometric mean over the pasts.
    pub ratio: f64,
    /// The longest wait that is promised \[s\].
    pub promised: Option<f64>,
    /// Whether it kept the promise there; else it is the one that came nearest.
    pub keeps: bool,
    /// How many rules were tried.
    pub tried: usize,
}

/// What is promised where nothing else is.
const USUAL: f64 = 4.0;

/// Where hardly anybody waits, differences of so many seconds are no ratios.
const GRAIN: f64 = 10.0;

impl Goal {
    /// Returns what is promised on a log where nothing else is. A rule that is best on the mean of a past may leave wide long jobs for months, and
    /// then even the mean is worse: on the whole of SDSC SP2 choices without a promise have 1.2 to 1.5 times the mean wait of EASY, and .8
    /// with it. Where jobs have no limits nobody knows when there will be room, and to make it costs more than it brings: nothing is promised.
    pub fn usual_promise(log: &Log) -> Option<f64> {
        log.has_limits.then_some(USUAL)
    }

    /// Returns the logarithm of what is to be small, over that of the rule that runs now.
    fn against(&self, own: &PastOutcome, now: &PastOutcome) -> f64 {
        let wait = ((own.mean_wait + GRAIN) / (now.mean_wait + GRAIN)).ln();
        let slowdown = (own.mean_bounded_slowdown / now.mean_bounded_slowdown).ln();
        match self.objective {
            JudgeObjective::Wait => 0.8 * wait + 0.2 * slowdown,
            JudgeObjective::Slowdown => slowdown,
            JudgeObjective::Both => (wait + slowdown) / 2.0,
        }
    }
}

/// A rule that nobody runs has to be better than one that people run by this logarithm.
const MARGIN: f64 = 0.02;

/// Where a wait is promised, one that is e times as long counts as a mean that is larger by this logarithm.
const LONG: f64 = 0.1;

/// So many of the rules that nobody runs are tried on more than two pasts.
const FINALISTS: usize = 12;

/// Kinds, estimate and reservations, of which orders between the plain ones are tried.
const KINDS: usize = 2;

/// By parts of the longest wait that is promised: after which wait a job goes first. Less than all, since room has to
/// be made for it then.
const PROMISED: [f64; 2] = [0.25, 0.5];

/// A rule that is tried.
struct Tried {
    point: RulePoint,
    /// Logarithms of what is to be small, by past so far.
    scores: Vec<f64>,
    /// By how much the others are ahead.
    handicap: f64,
    /// Its longest wait on the first past, over the longest that is promised.
    excess: f64,
}

impl Tried {
    fn score(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    /// Returns the sort key: those that keep the promise are before the others.
    fn rank(&self) -> (bool, f64) {
        match self.excess <= 1.0 {
            true => (false, self.score() + self.handicap),
            false => (true, self.excess),
        }
    }
}

fn sort(tried: &mut [Tried]) {
    tried.sort_by(|a, b| {
        let ((breaks, own), (other_breaks, other)) = (a.rank(), b.rank());
        breaks.cmp(&other_breaks).then(own.total_cmp(&other))
    });
}

/// The pasts, and what came of the rule that runs now on each.
struct Race<'a> {
    goal: &'a Goal,
    pasts: &'a [Past<'a>],
    now: Vec<PastOutcome>,
    interrupt: &'a AtomicBool,
}

/// Chooses the rule that is best on these pasts: the first as it was, the last the busiest.
///
/// # Errors
/// When a rule makes a decision that no server could carry out, and when it is interrupted.
pub(super) fn choose(
    goal: &Goal,
    pasts: &[Past<'_>],
    estimates: &[RuntimeEstimate],
    interrupt: &AtomicBool,
) -> Result<ChosenRule, Stopped> {
    let now = pasts.par_iter().map(|past| past.replay(&goal.now));
    let race = Race {
        goal,
        pasts,
        now: now.collect::<Result<_, _>>()?,
        interrupt,
    };
    let plain = race.promised(plain(estimates), &PROMISED[1..2]);
    let mut all = race.run(plain, 0.0)?;
    // Without a narrow promise orders between those that people run are no better on what comes after.
    let is_narrow = goal.longest.is_some_and(|times| times < USUAL);
    let kinds = all.iter().map(|own| own.point).filter(|_| is_narrow);
    let kinds = kinds.unique_by(|own| (own.reservations.rule(), own.estimate.name()));
    let kinds: Vec<RulePoint> = kinds.take(KINDS).collect();
    let between = race.promised(between(&kinds), &PROMISED);
    let tried = all.len() + between.len();
    all.extend(race.run(between, MARGIN)?);
    sort(&mut all);
    let best = all.first().expect("people run some rules");
    Ok(ChosenRule {
        point: best.point,
        ratio: best.score().exp(),
        promised: race.longest(),
        keeps: best.excess <= 1.0,
        tried,
    })
}

impl Race<'_> {
    /// The longest wait that is promised \[s\].
    fn longest(&self) -> Option<f64> {
        let longest = self.goal.longest? * self.now.first()?.longest_wait;
        // Of a past in which nobody waited nothing follows.
        (longest > 0.0).then_some(longest)
    }

    /// Returns the points with each of these parts of the longest wait that is promised, if one is.
    fn promised(&self, points: Vec<RulePoint>, parts: &[f64]) -> Vec<RulePoint> {
        let Some(longest) = self.longest() else {
            return points;
        };
        let with = |(part, own): (&f64, &RulePoint)| RulePoint {
            longest_wait: Some(part * longest),
            ..*own
        };
        iproduct!(parts, &points).map(with).collect()
    }

    /// Tries rules on one past after the other, the busiest first; of those with a handicap few are left after two.
    fn run(&self, points: Vec<RulePoint>, handicap: f64) -> Result<Vec<Tried>, Stopped> {
        let entrant = |point| Tried {
            point,
            scores: Vec::new(),
            handicap,
            excess: 0.0,
        };
        let mut all: Vec<Tried> = points.into_iter().map(entrant).collect();
        let mut order: Vec<usize> = (0..self.pasts.len()).collect();
        order.rotate_right(1);
        for (round, n) in order.into_iter().enumerate() {
            if round == 2 && handicap > 0.0 {
                sort(&mut all);
                all.truncate(FINALISTS);
            }
            all.par_iter_mut().try_for_each(|own| self.try_on(n, own))?;
        }
        sort(&mut all);
        Ok(all)
    }

    /// Tries a rule on a past.
    fn try_on(&self, n: usize, tried: &mut Tried) -> Result<(), Stopped> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Stopped::Interrupted);
        }
        let own = self.pasts[n].replay(&tried.point)?;
        tried.scores.push(self.goal.against(&own, &self.now[n]));
        if let (0, Some(longest)) = (n, self.longest()) {
            tried.excess = (own.longest_wait + GRAIN) / (longest + GRAIN);
            tried.handicap += LONG * tried.excess.ln();
        }
        Ok(())
    }
}
