use std::sync::atomic::{AtomicBool, Ordering};

use itertools::{Itertools as _, iproduct};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::past::{TrainingPeriod, WaitSummary};
use super::point::{QueueRule, between, common_rules};
use synth_multiresource::policy::RuntimeEstimate;
use synth_traces::replay::{Log, ReplayError};

/// The metric that should be as small as possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeObjective {
    /// The mean wait, where the bounded slowdown is included with a weight of one fifth
    #[default]
    Wait,
    /// The mean of the bounded slowdown, which is max(1, response / max(size, 10 s))
    Slowdown,
    /// The mean wait and the mean of the bounded slowdown, with the same weight
    Both,
}

/// The criteria that are used to select a rule.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct SelectionCriteria {
    /// The metric that should be as small as possible.
    pub objective: JudgeObjective,
    /// The maximum wait that is guaranteed, as a multiple of the longest wait of the current rule.
    pub longest: Option<f64>,
    /// The rule that is currently used.
    pub now: QueueRule,
}

/// A rule that has been selected.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChosenRule {
    /// The rule.
    pub point: QueueRule,
    /// The metric divided by that of the current rule (the geometric mean over training periods).
    pub ratio: f64,
    /// The maximum wait that is guaranteed, in seconds.
    pub promised: Option<f64>,
    /// Whether the guarantee was met in the training period. If not, this rule came closest.
    pub keeps: bool,
    /// The number of rules that were tested.
    pub tried: usize,
}

/// The default guarantee, as a multiple of the longest wait.
const USUAL: f64 = 4.0;

/// The number of seconds that is added to each wait, so that the ratio of small waits is bounded.
const GRAIN: f64 = 10.0;

impl SelectionCriteria {
    /// Returns the default guarantee for a log, because a rule with the best mean can cause wide
    /// and long jobs to wait for months. For SDSC SP2, the mean wait is 1.2 to 1.5 times that of
    /// EASY without a guarantee, and 0.8 times with one. Without limits, this is `None`, because
    /// freeing the capacity in time costs more than the benefit.
    pub fn default_wait_bound(log: &Log) -> Option<f64> {
        log.has_limits.then_some(USUAL)
    }

    /// Returns the logarithm of the metric relative to that of the current rule.
    pub(crate) fn against(&self, own: &WaitSummary, now: &WaitSummary) -> f64 {
        let wait = ((own.mean_wait + GRAIN) / (now.mean_wait + GRAIN)).ln();
        let slowdown = (own.mean_bounded_slowdown / now.mean_bounded_slowdown).ln();
        match self.objective {
            JudgeObjective::Wait => 0.8 * wait + 0.2 * slowdown,
            JudgeObjective::Slowdown => slowdown,
            JudgeObjective::Both => (wait + slowdown) / 2.0,
        }
    }
}

/// The minimum difference between an unusual rule and the rules in common use, as a logarithm.
const MARGIN: f64 = 0.02;

/// The penalty if the longest wait is larger by a factor of `e`, in logarithms of the metric.
const LONG: f64 = 0.1;

/// The number of unusual rules that are tested on more than two training periods.
const FINALISTS: usize = 12;

/// The number of pairs of an estimate and a reservation for which intermediate orders are tested.
const KINDS: usize = 2;

/// The time after which a job moves to the front, as a fraction of the guaranteed maximum wait.
const PROMISED: [f64; 2] = [0.25, 0.5];

struct Candidate {
    point: QueueRule,
    /// The logarithm of the metric for each training period that has been used.
    scores: Vec<f64>,
    handicap: f64,
    /// The longest wait in the first period divided by the guaranteed wait.
    excess: f64,
}

impl Candidate {
    fn score(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    /// Returns the sort key, so that the candidates that meet the guarantee are first.
    fn rank(&self) -> (bool, f64) {
        match self.excess <= 1.0 {
            true => (false, self.score() + self.handicap),
            false => (true, self.excess),
        }
    }
}

fn sort(tried: &mut [Candidate]) {
    tried.sort_by(|a, b| {
        let (a, b) = (a.rank(), b.rank());
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
}

struct Selection<'a> {
    goal: &'a SelectionCriteria,
    pasts: &'a [TrainingPeriod<'a>],
    now: Vec<WaitSummary>,
    interrupt: &'a AtomicBool,
}

/// Returns the best rule for training periods, of which the first one must be the past as recorded,
/// and the last one must have the highest load.
pub(super) fn choose(
    goal: &SelectionCriteria,
    pasts: &[TrainingPeriod<'_>],
    estimates: &[RuntimeEstimate],
    interrupt: &AtomicBool,
) -> Result<ChosenRule, ReplayError> {
    let race = Selection::new(goal, pasts, interrupt)?;
    let plain = race.promised(common_rules(estimates), &PROMISED[1..2]);
    let mut all = race.run(plain, 0.0)?;
    // Without a strict guarantee, intermediate orders are not better on held-out periods.
    let is_narrow = goal.longest.is_some_and(|times| times < USUAL);
    let kinds = all.iter().map(|own| own.point).filter(|_| is_narrow);
    let kinds = kinds.unique_by(|own| (own.reservations.rule(), own.estimate.name()));
    let kinds: Vec<QueueRule> = kinds.take(KINDS).collect();
    let between = race.promised(between(&kinds), &PROMISED);
    let tried = all.len() + between.len();
    all.extend(race.run(between, MARGIN)?);
    Ok(race.best(all, tried))
}

/// Returns the best of these rules, of which there must be at least one (see [`choose`]).
pub(super) fn choose_among(
    goal: &SelectionCriteria,
    pasts: &[TrainingPeriod<'_>],
    points: Vec<QueueRule>,
    interrupt: &AtomicBool,
) -> Result<ChosenRule, ReplayError> {
    let race = Selection::new(goal, pasts, interrupt)?;
    let tried = points.len();
    Ok(race.best(race.run(points, 0.0)?, tried))
}

impl<'a> Selection<'a> {
    fn new(
        goal: &'a SelectionCriteria,
        pasts: &'a [TrainingPeriod<'a>],
        interrupt: &'a AtomicBool,
    ) -> Result<Self, ReplayError> {
        let now = pasts.par_iter().map(|past| past.replay(&goal.now));
        Ok(Selection {
            goal,
            pasts,
            now: now.collect::<Result<_, _>>()?,
            interrupt,
        })
    }

    fn best(&self, mut all: Vec<Candidate>, tried: usize) -> ChosenRule {
        sort(&mut all);
        let best = all.first().expect("there is at least one rule");
        ChosenRule {
            point: best.point,
            ratio: best.score().exp(),
            promised: self.longest(),
            keeps: best.excess <= 1.0,
            tried,
        }
    }

    fn longest(&self) -> Option<f64> {
        let longest = self.goal.longest? * self.now.first()?.longest_wait;
        // If no job had to wait in this period, there is no guarantee.
        (longest > 0.0).then_some(longest)
    }

    fn promised(&self, points: Vec<QueueRule>, parts: &[f64]) -> Vec<QueueRule> {
        let Some(longest) = self.longest() else {
            return points;
        };
        let with = |(part, own): (&f64, &QueueRule)| QueueRule {
            longest_wait: Some(part * longest),
            ..*own
        };
        iproduct!(parts, &points).map(with).collect()
    }

    /// Tests the rules on the training periods, the busiest one first. With a handicap, only the
    /// best [`FINALISTS`] are left after two periods.
    fn run(&self, points: Vec<QueueRule>, handicap: f64) -> Result<Vec<Candidate>, ReplayError> {
        let candidate = |point| Candidate {
            point,
            scores: Vec::new(),
            handicap,
            excess: 0.0,
        };
        let mut all: Vec<Candidate> = points.into_iter().map(candidate).collect();
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

    fn try_on(&self, n: usize, tried: &mut Candidate) -> Result<(), ReplayError> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(ReplayError::Interrupted);
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
