//! Selection of a rule on the past of a log.

use std::sync::atomic::{AtomicBool, Ordering};

use itertools::{Itertools as _, iproduct};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::past::{Past, PastOutcome};
use super::point::{RulePoint, between, plain};
use synth_multiresource::policy::RuntimeEstimate;
use synth_traces::replay::{Log, Stopped};

/// The metric to minimize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeObjective {
    /// The mean wait, with a weight of one fifth on the bounded slowdown
    #[default]
    Wait,
    /// The mean bounded slowdown, max(1, response / max(size, 10 s))
    Slowdown,
    /// Both with equal weight
    Both,
}

/// Criteria by which a rule is selected.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Goal {
    /// The metric to minimize.
    pub objective: JudgeObjective,
    /// Guaranteed maximum wait, as a multiple of the longest wait under the current rule.
    pub longest: Option<f64>,
    /// The current rule.
    pub now: RulePoint,
}

/// A selected rule.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChosenRule {
    /// The rule.
    pub point: RulePoint,
    /// Its metric relative to the current rule: the geometric mean over the training periods.
    pub ratio: f64,
    /// The guaranteed maximum wait \[s\].
    pub promised: Option<f64>,
    /// Whether it kept the guarantee on the training period; otherwise it came nearest.
    pub keeps: bool,
    /// The number of rules tried.
    pub tried: usize,
}

/// The default guarantee on the maximum wait, as a multiple.
const USUAL: f64 = 4.0;

/// Waits are offset by this many seconds so that ratios of near-zero waits stay bounded.
const GRAIN: f64 = 10.0;

impl Goal {
    /// Returns the default guarantee for a log, without limits `None`.
    ///
    /// A rule with the best mean may starve wide long jobs for months, which later worsens even the
    /// mean: on SDSC SP2 selections without a guarantee have 1.2 to 1.5 times the mean wait of
    /// EASY, with it 0.8 times. Without limits, freeing capacity in time costs more than it gains.
    pub fn usual_promise(log: &Log) -> Option<f64> {
        log.has_limits.then_some(USUAL)
    }

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

/// Margin, as a logarithm, by which an unusual rule has to beat the rules in common use.
const MARGIN: f64 = 0.02;

/// Penalty for an e-fold longest wait under a guarantee, in logarithms of the metric.
const LONG: f64 = 0.1;

/// The number of unusual rules that are tried on more than two training periods.
const FINALISTS: usize = 12;

/// The number of (estimate, reservation) combinations for which intermediate orders are tried.
const KINDS: usize = 2;

/// The fractions of the guaranteed maximum wait after which a job moves to the head of the queue.
const PROMISED: [f64; 2] = [0.25, 0.5];

struct Tried {
    point: RulePoint,
    /// Logarithm of the metric on each training period so far.
    scores: Vec<f64>,
    handicap: f64,
    /// Its longest wait on the first period, relative to the guarantee.
    excess: f64,
}

impl Tried {
    fn score(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    /// Sort key: candidates that keep the guarantee first.
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

struct Race<'a> {
    goal: &'a Goal,
    pasts: &'a [Past<'a>],
    now: Vec<PastOutcome>,
    interrupt: &'a AtomicBool,
}

/// Selects the best rule on training periods: the first is as recorded, the last is the busiest.
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
    // Without a tight guarantee, intermediate orders are no better on held-out periods.
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
    /// The guaranteed maximum wait \[s\].
    fn longest(&self) -> Option<f64> {
        let longest = self.goal.longest? * self.now.first()?.longest_wait;
        // A period without waits gives no guarantee.
        (longest > 0.0).then_some(longest)
    }

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

    /// Tries rules on the busiest period first; unusual rules are cut to [`FINALISTS`] after two.
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
