//! The choice of a rule on the past of a log.

use rayon::prelude::*;
use serde::Serialize;

use super::point::{Point, plain};
use super::scenario::{Outcome, Past};
use crate::replay::Stopped;
use synth_cluster::policy::{Estimate, Priority};

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
            Objective::MeanWait => (1.0 - env("SLD", 0.2)) * wait + env("SLD", 0.2) * slowdown,
            Objective::Slowdown => slowdown,
            Objective::Both => (wait + slowdown) / 2.0,
        }
    }
}

/// What came of a point on several pasts.
#[derive(Clone, Debug)]
struct Tried {
    point: Point,
    /// By past that it was tried on.
    scores: Vec<f64>,
    /// Its longest wait on the first past over the longest that is allowed.
    excess: f64,
    is_plain: bool,
}

impl Tried {
    fn score(&self) -> f64 {
        let count = self.scores.len() as f64;
        let mean = self.scores.iter().sum::<f64>() / count;
        let spread = self
            .scores
            .iter()
            .map(|own| (own - mean).powi(2))
            .sum::<f64>()
            / count;
        let extra = if self.is_plain {
            0.0
        } else {
            env("EXTRA", 0.02)
        };
        mean + env("SPREAD", 0.0) * spread.sqrt() + extra
    }

    fn rank(&self) -> (bool, f64) {
        let keeps = self.excess <= 1.0;
        (!keeps, if keeps { self.score() } else { self.excess })
    }
}

pub(super) fn env(name: &str, default: f64) -> f64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
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
    let most = goal.longest.map(|times| times * now[0].longest_wait);
    let race = |points: Vec<(Point, bool)>, halving: bool| -> Result<Vec<Tried>, Stopped> {
        let mut all: Vec<Tried> = points
            .into_iter()
            .map(|(point, is_plain)| Tried {
                point,
                scores: Vec::new(),
                excess: 0.0,
                is_plain,
            })
            .collect();
        // The first and the last past, the busiest, sort out most of them.
        let mut order: Vec<usize> = (0..pasts.len()).collect();
        order.rotate_right(1);
        for (round, n) in order.into_iter().enumerate() {
            let (past, from) = &pasts[n];
            all.par_iter_mut()
                .try_for_each(|tried| -> Result<(), Stopped> {
                    let own = past.replay(&tried.point, *from)?;
                    let mut score = goal.against(&own, &now[n]);
                    if let (0, Some(most)) = (n, most) {
                        tried.excess = own.longest_wait / most.max(1.0);
                        score += env("LONG", 0.1)
                            * pasts.len() as f64
                            * ((own.longest_wait + 60.0) / (most + 60.0)).ln();
                    }
                    tried.scores.push(score);
                    Ok(())
                })?;
            if halving && round == 1 {
                sort(&mut all);
                all.truncate(12);
            }
        }
        sort(&mut all);
        Ok(all)
    };
    let promised = |points: Vec<(Point, bool)>, shares: &[f64]| -> Vec<(Point, bool)> {
        let Some(most) = most else { return points };
        let promise = |share: &f64| {
            let longest_wait = Some(share * most);
            let with = |(point, plain): &(Point, bool)| {
                (
                    Point {
                        longest_wait,
                        ..*point
                    },
                    *plain,
                )
            };
            points.iter().map(with).collect::<Vec<_>>()
        };
        shares.iter().flat_map(promise).collect()
    };
    let plain: Vec<(Point, bool)> = plain(estimates).into_iter().map(|p| (p, true)).collect();
    let mut all = race(promised(plain, &[0.4]), false)?;
    let mut pairs: Vec<Point> = Vec::new();
    for tried in &all {
        let is_new = pairs.iter().all(|own| {
            (own.reservations, own.estimate) != (tried.point.reservations, tried.point.estimate)
        });
        if is_new && pairs.len() < 2 {
            pairs.push(tried.point);
        }
    }
    let shares = [0.25, 0.4, 0.6];
    let tuned = race(promised(around(&pairs), &shares), true)?;
    let tried = all.len() + around(&pairs).len();
    all.extend(tuned);
    sort(&mut all);
    let chosen = &all[0];
    Ok(Choice {
        point: chosen.point,
        score: chosen.score(),
        keeps: chosen.excess <= 1.0,
        tried,
    })
}

fn sort(all: &mut [Tried]) {
    all.sort_by(|a, b| {
        let (a, b) = (a.rank(), b.rank());
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
}

/// Returns orders between the plain ones, with the estimates and reservations of these points.
fn around(pairs: &[Point]) -> Vec<(Point, bool)> {
    const AGES: [(f64, f64); 4] = [
        (1.0, 3600.0),
        (1.0, 36_000.0),
        (2.0, 50_000.0),
        (3.0, 50_000.0),
    ];
    let mut points = Vec::new();
    for pair in pairs {
        for (size, share) in [(1.0, -0.5), (1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.5, -0.5)] {
            for (age, offset) in AGES {
                let order = Priority {
                    size,
                    share,
                    age,
                    offset,
                };
                points.push((
                    Point {
                        order,
                        longest_wait: None,
                        ..*pair
                    },
                    false,
                ));
            }
        }
    }
    points
}
