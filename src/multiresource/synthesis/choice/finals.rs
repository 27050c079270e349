//! The end of a choice: the best of each family, and rules in common use, on arrivals and sizes that
//! no policy was tuned on.

use super::course::{self, Course, DONE};
use super::{ChoiceError, Stage};
use crate::multiresource::artifact::{Family, Objective, Steadiness};
use crate::multiresource::policy::is_proved_stable;
use crate::multiresource::simulator::{Contender, Estimate, Health, Ranking, Run};

/// The first runs take this part of what is left, all together; each round after it [`LONGER`] times
/// as much.
const FIRST: f64 = 1.0 / 32.0;

/// How many times as long the runs of the next round are.
const LONGER: f64 = 8.0;

/// What costs so many times as much as the least, roughly, is not run any longer.
const FAR: f64 = 2.0;

/// The longest mean size is no more than so many replications, where these tell anything.
const LASTING: f64 = 4.0;

/// Events that a policy needs at least.
const ENOUGH: u64 = 300_000;

/// The relative precision wanted of the first for its claims, if there are as many events.
const PRECISION: f64 = 0.01;

/// A policy or rule in the final comparison.
pub(super) struct Entrant {
    pub name: &'static str,
    pub contender: Contender,
    pub policy: Family,
    /// Whether it may be taken, or is there for comparison.
    pub eligible: bool,
    /// Policies that were tried to find it.
    pub tried: usize,
    /// Whether it was left out, since its jobs stayed for so much longer.
    behind: bool,
    /// Its runs, each longer than the one before.
    runs: Vec<Run>,
    /// The run of the policy taken that its claims come from: the best of several is partly the best by
    /// chance, on the arrivals and sizes on which it was the best.
    own: Option<Run>,
}

impl Entrant {
    pub fn new(policy: Family, tried: usize) -> Self {
        Entrant {
            name: policy.followed().called(),
            contender: policy.clone().into(),
            policy,
            eligible: true,
            tried,
            behind: false,
            runs: Vec::new(),
            own: None,
        }
    }

    /// One for comparison.
    pub fn rival(policy: Family) -> Self {
        Entrant {
            eligible: false,
            ..Entrant::new(policy, 1)
        }
    }

    /// What is claimed of a rule without proof is claimed of it under guard.
    fn put_under_guard(&mut self, course: &Course<'_>) {
        let number = self.runs.last().and_then(|run| run.mean_number);
        let guarded = number.and_then(|number| course.guarded(&self.policy, number.mean));
        if let Some(guarded) = guarded {
            self.contender = guarded.clone().into();
            self.policy = guarded;
        }
    }

    /// The longest run of the comparison.
    pub fn longest(&self) -> Option<&Run> {
        self.runs.last()
    }

    /// The run that it is compared by: of its claims, or else, and where these are about other rates, the longest of
    /// the comparison.
    pub fn last(&self, course: &Course<'_>) -> Option<&Run> {
        match course.is_stressed {
            true => self.longest(),
            false => self.measured(course),
        }
    }

    /// The run of its claims, or else, and where that tells nothing, the longest of the comparison.
    pub fn measured(&self, course: &Course<'_>) -> Option<&Run> {
        let own = self.own.as_ref();
        let told = own.filter(|_| self.unclaimed(course).is_none());
        told.or(self.longest())
    }

    /// Why a run is too short for claims; `None` where it is not.
    pub fn unclaimed(&self, course: &Course<'_>) -> Option<String> {
        let run = self.own.as_ref()?;
        if let Some(why) = &run.unsettled {
            return Some(why.to_string());
        }
        if course.value(run).is_none() {
            return Some("the number in system grows".into());
        }
        let fewest = course.fewest_done(run)?;
        (fewest.completions < DONE).then(|| {
            format!(
                "{}: {} of {DONE} jobs done",
                fewest.name, fewest.completions
            )
        })
    }

    /// The cost in that run, also where it is too short for means.
    fn rough_cost(&self, course: &Course<'_>) -> f64 {
        let longest = self.longest();
        longest.map_or(f64::INFINITY, |run| course.rough_cost(run))
    }

    /// The cost in its longest run of the comparison.
    pub fn cost(&self, course: &Course<'_>) -> f64 {
        let longest = self.runs.last();
        longest.map_or(f64::INFINITY, |run| course.cost(run))
    }

    /// Its outcome. A policy that is known to be stable but whose queues grew was not simulated for long
    /// enough.
    pub fn outcome(&self, course: &Course<'_>) -> Steadiness {
        let Some(run) = self.last(course) else {
            return Steadiness::Unsettled;
        };
        let proved = is_proved_stable(&self.policy, course.workload);
        match (course.value(run), run.health) {
            (Some(_), _) => Steadiness::Steady,
            (None, Health::Unstable) if !proved => Steadiness::Unstable,
            (None, _) if self.behind => Steadiness::Behind,
            (None, _) => Steadiness::Unsettled,
        }
    }
}

/// Those behind the first ones, two at least, for which there are events enough.
pub(super) fn too_many(course: &mut Course<'_>, entrants: &mut Vec<Entrant>) -> Vec<Entrant> {
    let mut left = course.left() / ENOUGH;
    let affords = |entrant: &&Entrant| {
        let charge = course.charge(&entrant.policy);
        let affords = charge <= left;
        left = left.saturating_sub(charge);
        affords
    };
    let most = entrants.iter().take_while(affords).count().max(2);
    entrants.split_off(most.min(entrants.len()))
}

/// One more run of the first under guard, on arrivals and sizes of its own; and how many times as much it has there
/// as another policy, if there is one beside it.
pub(super) fn measure(
    course: &mut Course<'_>,
    first: &mut Entrant,
    beside: Option<&Family>,
) -> Result<Option<Estimate>, ChoiceError> {
    course.seed = course.seed.wrapping_add(2);
    let beside = beside.filter(|other| **other != first.policy);
    first.put_under_guard(course);
    let parts = if beside.is_some() { 2 } else { 1 };
    let run = course.run(
        &first.contender,
        course.left() / parts,
        course.close.max(PRECISION),
    )?;
    let ratio = match beside {
        Some(other) => {
            let other = course.run(&other.clone().into(), run.events, 0.0)?;
            course.ratio(&run, &other)
        }
        None => None,
    };
    first.own = Some(run);
    Ok(ratio)
}

/// Rounds of growing length, until a longer one can gain nothing that matters: the first, if any has a mean.
pub(super) fn rounds(
    course: &mut Course<'_>,
    entrants: &mut [Entrant],
    mut progress: impl FnMut(Stage),
) -> Result<Option<usize>, ChoiceError> {
    let mut part = FIRST;
    let mut running: Vec<usize> = (0..entrants.len()).collect();
    loop {
        let charges = running.iter().map(|n| course.charge(&entrants[*n].policy));
        let charges: u64 = charges.sum();
        let length = (course.left() as f64 * part / charges as f64) as u64;
        for &n in &running {
            progress(Stage {
                what: format!("comparing {}", entrants[n].name),
                spent: course.spent as f64 / course.budget as f64,
            });
            let run = course.run(&entrants[n].contender, length, 0.0)?;
            // None where the time is over.
            if run.events > 0 {
                entrants[n].runs.push(run);
            }
        }
        let over = part >= 1.0 || course.interrupted();
        let first = first(course, entrants);
        let eligible = running.iter().filter(|n| entrants[**n].eligible);
        let costs = eligible.map(|n| entrants[*n].rough_cost(course));
        let least = costs.fold(f64::INFINITY, f64::min);
        running.retain(|&n| {
            // Shorter runs tell nothing of what has not settled.
            let near = length < course.telling() || entrants[n].rough_cost(course) <= FAR * least;
            entrants[n].behind = !near;
            Some(n) == first || near
        });
        if let Some(first) = first {
            let open = |n: usize| !is_known(course, entrants, first, n);
            running.retain(|&n| n == first || open(n));
            if running.len() == 1 || over {
                return Ok(Some(ahead(course, entrants, first)));
            }
        } else if over {
            return Ok(None);
        }
        part = (part * LONGER).min(1.0);
    }
}

/// Of the policies with the longest runs, the one with the least cost.
fn first(course: &Course<'_>, entrants: &[Entrant]) -> Option<usize> {
    let rounds = entrants.iter().map(|e| e.runs.len()).max()?;
    let cost = |n: usize| entrants[n].cost(course);
    let eligible = (0..entrants.len()).filter(|&n| {
        entrants[n].eligible && entrants[n].runs.len() == rounds && cost(n).is_finite()
    });
    let least = |a: &usize, b: &usize| cost(*a).total_cmp(&cost(*b));
    eligible.min_by(least)
}

/// The first, or one that has not settled, but whose jobs stayed for so much less that its own run, which is longer, is
/// to tell.
fn ahead(course: &Course<'_>, entrants: &[Entrant], first: usize) -> usize {
    let rounds = entrants[first].runs.len();
    // What is settled, too, by its second half: the same arrivals and sizes.
    let late = |n: usize| {
        let run = entrants[n].longest();
        run.map_or(f64::INFINITY, |run| course.late_cost(run))
    };
    let others = (0..entrants.len()).filter(|&n| {
        let Entrant { eligible, runs, .. } = &entrants[n];
        let run = runs.last().filter(|_| *eligible && runs.len() == rounds);
        run.is_some_and(|run| run.health == Health::Unsettled) && FAR * late(n) < late(first)
    });
    let least = others.min_by(|a, b| late(*a).total_cmp(&late(*b)));
    least.unwrap_or(first)
}

/// How many times as much one has as another, where both ran as long.
fn ratio(objective: Objective, one: &Entrant, other: &Entrant) -> Option<Estimate> {
    let round = one.runs.len().min(other.runs.len()).checked_sub(1)?;
    course::ratio(objective, &one.runs[round], &other.runs[round])
}

/// Whether two surely differ by less than this, relatively.
fn are_within(limit: f64, course: &Course<'_>, one: &Entrant, other: &Entrant) -> bool {
    let ratio = ratio(course.objective, one, other);
    ratio.is_some_and(|r| (r.mean - 1.0).abs() + r.half_width < limit)
}

/// Whether an entrant is surely no better than the first by what is worth longer runs.
fn is_told(course: &Course<'_>, entrants: &[Entrant], first: usize, other: usize) -> bool {
    let latest = entrants[other].runs.last();
    are_within(course.close, course, &entrants[first], &entrants[other])
        || is_behind(course, entrants, first, other)
        || latest.is_some_and(|run| course.surely_breaks(run))
}

/// Whether it is known how an entrant stands to the first: one that cannot be taken may also be surely
/// better.
fn is_known(course: &Course<'_>, entrants: &[Entrant], first: usize, other: usize) -> bool {
    let better = || !entrants[other].eligible && is_behind(course, entrants, other, first);
    is_told(course, entrants, first, other) || better()
}

/// Whether an entrant is unstable, or surely worse than the first: at 95 % for all that ran as long
/// together.
fn is_behind(course: &Course<'_>, entrants: &[Entrant], first: usize, other: usize) -> bool {
    let rounds = entrants[other].runs.len().min(entrants[first].runs.len());
    let Some(round) = rounds.checked_sub(1) else {
        return false;
    };
    let (a, b) = (&entrants[first].runs[round], &entrants[other].runs[round]);
    if b.health == Health::Unstable {
        return true;
    }
    let values: Vec<(&str, &[Option<f64>])> = entrants
        .iter()
        .filter_map(|e| Some((e.name, e.runs.get(round)?)))
        .filter(|(_, run)| course.value(run).is_some())
        .map(|(name, run)| (name, course.values(run)))
        .collect();
    let ranking = Ranking::new(&values);
    let pair = ranking.pair(entrants[first].name, entrants[other].name);
    pair.is_some_and(|p| p.apart && p.slower == entrants[other].name)
        && course.cost(a) <= course.cost(b)
}

/// The result.
pub(super) struct Standing {
    /// The first of the policies at the front, the others by cost.
    pub order: Vec<Entrant>,
    /// Whether all others are behind the first, or as good.
    pub decided: bool,
}

impl Standing {
    /// The entrants again where no policy was seen to settle, or the first did no more when it ran for longer and
    /// there is a guard for another one.
    pub fn new(
        course: &Course<'_>,
        mut entrants: Vec<Entrant>,
        first: Option<usize>,
    ) -> Result<Self, Vec<Entrant>> {
        let Some(taken) = first else {
            return Err(entrants);
        };
        let first = &mut entrants[taken];
        let grows = |run: &mut Run| course.value(run).is_none();
        if let Some(run) = first.own.take_if(grows) {
            first.runs.push(run);
            if !course.guards.is_empty() {
                return Err(entrants);
            }
            first.own = first.runs.pop();
        }
        let mut others = (0..entrants.len()).filter(|n| *n != taken);
        let decided = others.all(|n| {
            entrants[n].outcome(course) != Steadiness::Unsettled
                && is_told(course, &entrants, taken, n)
        });
        let winner = entrants.remove(taken);
        entrants.sort_by(|a, b| a.cost(course).total_cmp(&b.cost(course)));
        entrants.insert(0, winner);
        Ok(Standing {
            order: entrants,
            decided,
        })
    }

    /// Where none settles: first the policy whose jobs stayed least as far as its longest run tells, under guard. The
    /// guard itself is none of them: it takes over where it is needed. Replications that are much shorter
    /// than the longest mean size tell nothing: all policies look alike there.
    pub fn at_a_guess(course: &Course<'_>, mut entrants: Vec<Entrant>) -> Option<Self> {
        let sizes = course.workload.types().iter().map(|t| t.mean_size());
        let longest = sizes.fold(0.0, f64::max);
        let lasts =
            |run: &&Run| LASTING * run.simulated_time > longest * run.replications.len() as f64;
        let told = entrants.iter().enumerate().filter_map(|(n, entrant)| {
            let run = entrant.longest().filter(lasts)?;
            let cost = entrant.rough_cost(course);
            let may = entrant.eligible && !entrant.behind && entrant.policy.msr().is_none();
            (may && cost.is_finite()).then_some((cost, n, course::rough_number(run)))
        });
        let (_, least, number) = told.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let mut guess = entrants.remove(least);
        if !is_proved_stable(&guess.policy, course.workload) {
            guess.policy = course.guarded(&guess.policy, number)?;
        }
        entrants.sort_by(|a, b| a.rough_cost(course).total_cmp(&b.rough_cost(course)));
        entrants.insert(0, guess);
        Some(Standing {
            order: entrants,
            decided: false,
        })
    }

    /// How many times as much of an objective an entrant has as the first, where both ran as long.
    pub fn ratio(&self, objective: Objective, other: &Entrant) -> Option<Estimate> {
        ratio(objective, other, &self.order[0])
    }
}
