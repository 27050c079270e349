//! The choice of a rule on the past of a log.

use rayon::prelude::*;
use serde::Serialize;

use super::point::{Point, plain};
use super::scenario::{Outcome, Past};
use crate::replay::Stopped;
use synth_cluster::policy::{Estimate, Priority, Reservations};

/// What is to be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The mean wait.
    MeanWait,
    /// The mean bounded slowdown.
    Slowdown,
    /// Both.
    Both,
}

/// What a rule is chosen by.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// What is to be small.
    pub objective: Objective,
    /// Nobody may wait longer than so many times the longest wait under the rule that runs now.
    pub longest: Option<f64>,
    /// The rule that runs now.
    pub now: Point,
}

/// A rule that was chosen.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The rule.
    pub point: Point,
    /// Its score: mean logarithm of the objective over that of the rule that runs now.
    pub score: f64,
    /// Whether it keeps the promise on the past.
    pub keeps: bool,
    /// How many were tried.
    pub tried: usize,
}

impl Goal {
    /// Returns what is to be small, as a logarithm against the rule that runs now.
    fn against(&self, own: &Outcome, now: &Outcome) -> f64 {
        // Where hardly anybody waits, differences of seconds are no ratios.
        let wait = |outcome: &Outcome| outcome.mean_wait + 10.0;
        let wait = (wait(own) / wait(now)).ln();
        let slowdown = (own.mean_bounded_slowdown / now.mean_bounded_slowdown).ln();
        match self.objective {
            Objective::MeanWait => 0.8 * wait + 0.2 * slowdown,
            Objective::Slowdown => slowdown,
            Objective::Both => (wait + slowdown) / 2.0,
        }
    }
}

/// What came of a point on several pasts.
#[derive(Clone, Debug)]
struct Tried {
    point: Point,
    /// By past.
    scores: Vec<f64>,
    /// Its longest wait over the longest that is allowed.
    excess: f64,
}

impl Tried {
    fn score(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }
}

/// Chooses the point that is best on these pasts.
///
/// # Errors
/// When a rule makes a decision that no server could carry out.
pub fn choose(
    goal: &Goal,
    pasts: &[(Past<'_>, usize)],
    estimates: &[Estimate],
) -> Result<Choice, Stopped> {
    let now: Vec<Outcome> = pasts
        .par_iter()
        .map(|(past, from)| past.replay(&goal.now, *from))
        .collect::<Result<_, _>>()?;
    let limits: Vec<f64> = now
        .iter()
        .map(|now| {
            goal.longest
                .map_or(f64::INFINITY, |times| times * now.longest_wait)
        })
        .collect();
    let try_all = |points: Vec<Point>| -> Result<Vec<Tried>, Stopped> {
        points
            .into_par_iter()
            .map(|point| {
                let mut tried = Tried {
                    point,
                    scores: Vec::new(),
                    excess: 0.0,
                };
                for (n, ((past, from), now)) in pasts.iter().zip(&now).enumerate() {
                    let own = past.replay(&point, *from)?;
                    tried.scores.push(goal.against(&own, now));
                    tried.excess = tried.excess.max(own.longest_wait / limits[n].max(1.0));
                }
                Ok(tried)
            })
            .collect()
    };
    let mut all = Vec::new();
    let promise = goal.longest.map(|times| times * now[0].longest_wait * 0.6);
    let with = |points: Vec<Point>| -> Vec<Point> {
        points
            .into_iter()
            .map(|point| Point {
                longest_wait: promise,
                ..point
            })
            .collect()
    };
    all.extend(try_all(with(plain(estimates)))?);
    let best = |all: &[Tried]| -> Tried {
        let kept = all.iter().filter(|own| own.excess <= 1.0);
        let least = kept.min_by(|a, b| a.score().total_cmp(&b.score()));
        least
            .or_else(|| all.iter().min_by(|a, b| a.excess.total_cmp(&b.excess)))
            .cloned()
            .unwrap_or_else(|| Tried {
                point: goal.now,
                scores: vec![0.0],
                excess: 1.0,
            })
    };
    let first = best(&all);
    let mut tuned = Vec::new();
    for size in [0.5, 1.0] {
        for share in [-0.5, 0.0, 0.5, 1.0] {
            for age in [1.0, 2.0] {
                for offset in [3600.0, 36_000.0] {
                    tuned.push(Point {
                        order: Priority {
                            size,
                            share,
                            age,
                            offset,
                        },
                        ..first.point
                    });
                }
            }
        }
    }
    all.extend(try_all(tuned)?);
    let last = best(&all);
    let tried = all.len();
    let is_better = last.score() < first.score() - 0.02;
    let chosen = if is_better || first.excess > 1.0 {
        last
    } else {
        first
    };
    let _ = Reservations::None;
    Ok(Choice {
        point: chosen.point,
        score: chosen.score(),
        keeps: chosen.excess <= 1.0,
        tried,
    })
}
