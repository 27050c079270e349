//! Candidates climb a ladder of run lengths, the one whose next step takes the least work first: so all that may
//! still win get as much work, whatever an event costs them, and what is cheap has long runs early.
//!
//! A run goes on from rung to rung. The runs of one rung have the same seed and length: candidates face the same arrivals and sizes there,
//! so that the ratio of two is known better than their means
//! ([`synth_multiresource::simulator::paired_ratio`]). Two are compared on the highest rung that both have reached.

use std::cmp::Ordering;

use super::evaluator::{DONE, Evaluator, Underway, measured, ratio, slowdowns};
use crate::synthesis::log::Steadiness;
use synth_multiresource::artifact::{Family, Objective};
use synth_multiresource::simulator::{Estimate, Failure, Health, Ranking, Run};

/// How many times as long the runs of the next rung are.
const LONGER: u64 = 2;

/// What costs so many times as much as another candidate, roughly, is out of a search: by its rung, two by two; of rungs after
/// the last of these the last holds.
const SLACK: [f64; 4] = [4.0, 2.0, 1.4, 1.25];

/// A candidate behind so many others is out of a search, likewise.
const FIELD: [usize; 4] = [64, 12, 6, 4];

/// A mean with this relative half-width or more is too vague to tune by. (The differences of policies
/// are known several times better.)
const VAGUE: f64 = 0.06;

/// What costs so many times as much as the best is out of the comparison: where both have settled, and where one has not. What
/// has not is judged by how long its slowest type stays, which a few jobs of a rare type decide.
const FAR: f64 = 2.0;
const FAR_UNSETTLED: f64 = 10.0;

/// The part of the time beyond which a guard is more than a safeguard.
const UNDER_GUARD: f64 = 0.01;

/// A relative difference between policies that is not worth longer runs.
pub(super) use crate::synthesis::log::{CLOSE, USUAL};

/// A policy that may be taken, or is there for comparison.
pub(super) struct Candidate<'w> {
    pub policy: Family,
    /// Policies that were tried to find it.
    pub tried: usize,
    /// Whether it may be taken.
    pub is_eligible: bool,
    /// Its runs, by rung: each goes on where the one before ended.
    pub runs: Vec<Run>,
    pub underway: Option<Underway<'w>>,
    /// The run that its claims come from, on arrivals and sizes that decided nothing: the best of several is partly the
    /// best by chance.
    pub own: Option<Run>,
}

impl<'w> Candidate<'w> {
    /// One that may be taken, not run yet.
    pub fn new(policy: Family, tried: usize) -> Self {
        Candidate {
            policy,
            tried,
            is_eligible: true,
            runs: Vec::new(),
            underway: None,
            own: None,
        }
    }

    /// What people call it.
    pub fn name(&self) -> &'static str {
        self.policy.followed().called()
    }

    /// The longest run of a comparison.
    pub fn longest(&self) -> Option<&Run> {
        self.runs.last()
    }

    /// The run of its claims, or else, and where that tells nothing, the longest of the comparison.
    pub fn measured(&self, evaluator: &Evaluator<'_>) -> Option<&Run> {
        let own = self.own.as_ref();
        let tells = own.filter(|_| self.unclaimed(evaluator).is_none());
        tells.or(self.longest())
    }

    /// Why its own run is too short for claims; `None` where it is not.
    pub fn unclaimed(&self, evaluator: &Evaluator<'_>) -> Option<String> {
        let run = self.own.as_ref()?;
        if let Some(why) = &run.unsettled {
            return Some(why.to_string());
        }
        if evaluator.value(run).is_none() {
            return Some("the number in system grows".into());
        }
        let fewest = evaluator.fewest_done(run)?;
        (fewest.completions < DONE).then(|| {
            format!(
                "{}: {} of {DONE} jobs done",
                fewest.name, fewest.completions
            )
        })
    }

    /// Whether it ran away when it ran longest.
    pub fn runs_away(&self) -> bool {
        let run = self.longest();
        run.is_some_and(|run| run.health == Health::Unstable)
    }

    /// Whether its longest run has settled, and its own run does not say otherwise.
    pub fn is_settled(&self, evaluator: &Evaluator<'_>) -> bool {
        let run = self.longest();
        run.is_some_and(|run| evaluator.value(run).is_some()) && !self.is_refuted()
    }

    /// Whether jobs piled up in its own run, which is the longest, so that the guard was needed, or would have been.
    pub fn is_refuted(&self) -> bool {
        let own = self.own.as_ref();
        own.is_some_and(|run| run.health == Health::Unstable || run.own.guarded > UNDER_GUARD)
    }

    /// Its outcome. A policy that is known to be stable but whose queues grew was not simulated for long
    /// enough.
    pub fn outcome(&self, evaluator: &Evaluator<'_>, is_far: bool) -> Steadiness {
        let Some(run) = self.measured(evaluator) else {
            return Steadiness::Unsettled;
        };
        let proved = self.policy.is_proved_stable(evaluator.workload);
        match (evaluator.value(run), run.health) {
            (Some(_), _) => Steadiness::Steady,
            (None, Health::Unstable) if !proved => Steadiness::Unstable,
            (None, _) if is_far => Steadiness::Behind,
            (None, _) => Steadiness::Unsettled,
        }
    }
}

/// The lengths of the runs.
#[derive(Clone, Copy)]
pub(super) struct Ladder {
    /// Events of a run on the first rung.
    pub first: u64,
    /// Replications of each run.
    pub replications: u32,
    /// The work that may have been done in the end.
    pub until: f64,
}

impl Ladder {
    /// Events of a run on this rung.
    pub fn length(&self, rung: usize) -> u64 {
        let times = LONGER.saturating_pow(rung as u32);
        self.first.saturating_mul(times)
    }
}

/// The runs of two candidates on the highest rung that both have reached.
fn common<'c>(one: &'c Candidate<'_>, other: &'c Candidate<'_>) -> Option<(&'c Run, &'c Run)> {
    let rung = one.runs.len().min(other.runs.len()).checked_sub(1)?;
    Some((&one.runs[rung], &other.runs[rung]))
}

/// Whether a run says enough to turn knobs by.
fn tells(evaluator: &Evaluator<'_>, run: &Run) -> bool {
    match run.health {
        Health::Unstable => true,
        Health::Unsettled => false,
        Health::Settled => {
            evaluator.value(run).is_some_and(|v| v.relative() < VAGUE) && evaluator.all_done(run)
        }
    }
}

/// Candidates that are compared: who is the best, and who may still be.
pub(super) struct Comparison<'a, 'w> {
    pub evaluator: &'a mut Evaluator<'w>,
    pub candidates: Vec<Candidate<'w>>,
}

impl<'w> Comparison<'_, 'w> {
    /// Runs candidates, the cheapest next run first, as long as some are `open` and there is work left for them.
    pub fn climb(
        &mut self,
        ladder: Ladder,
        what: &str,
        open: impl Fn(&Self) -> Vec<usize>,
    ) -> Result<(), Failure> {
        loop {
            let mut next: Option<(f64, usize)> = None;
            for n in open(self) {
                let candidate = &self.candidates[n];
                let rung = candidate.runs.len();
                let before = rung.checked_sub(1).map_or(0, |rung| ladder.length(rung));
                let events = (ladder.length(rung) - before) as f64;
                let work = events * self.evaluator.work(&candidate.policy);
                let is_less = next.is_none_or(|(least, _)| work < least);
                if self.evaluator.spent + work <= ladder.until && is_less {
                    next = Some((work, n));
                }
            }
            let Some((_, n)) = next.filter(|_| !self.evaluator.is_over()) else {
                return Ok(());
            };
            let candidate = &mut self.candidates[n];
            self.evaluator
                .report(format!("{what} {}", candidate.name()));
            let events = ladder.length(candidate.runs.len());
            let (underway, policy) = (&mut candidate.underway, &candidate.policy);
            let (evaluator, replications) = (&mut self.evaluator, ladder.replications);
            match evaluator.run(underway, policy, events, replications)? {
                Some(run) => candidate.runs.push(run),
                None => return Ok(()),
            }
        }
    }

    /// Sorts the candidates by cost, the least first: as many are ahead of one as have less on a common rung.
    pub fn rank(&mut self) {
        // What was never run is last.
        let key = |c: &Candidate<'_>| (c.runs.is_empty(), self.ahead(c).len());
        let keys: Vec<_> = self.candidates.iter().map(key).collect();
        let mut keyed: Vec<_> = keys.into_iter().zip(self.candidates.drain(..)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        self.candidates
            .extend(keyed.into_iter().map(|(_, candidate)| candidate));
    }

    /// Returns the candidates, by index, of which this holds.
    fn all(&self, is: impl Fn(usize, &Candidate<'w>) -> bool) -> Vec<usize> {
        let each = self.candidates.iter().enumerate();
        each.filter(|(n, c)| is(*n, c)).map(|(n, _)| n).collect()
    }

    /// Returns the first that may be taken and of which this holds.
    pub fn first(&self, is: impl Fn(&Candidate<'w>) -> bool) -> Option<usize> {
        let mut each = self.candidates.iter();
        each.position(|c| c.is_eligible && is(c))
    }

    /// Returns what a candidate and each one ahead of it cost, roughly, on their highest common rung.
    fn ahead(&self, one: &Candidate<'_>) -> Vec<(f64, f64)> {
        let pairs = self.candidates.iter().filter_map(|c| common(one, c));
        let cost = |run| self.evaluator.rough_cost(run);
        let costs = pairs.map(|(own, other)| (cost(own), cost(other)));
        costs.filter(|(own, other)| other < own).collect()
    }

    /// Returns the candidates that a search goes on with: those whose runs do not tell yet how good they are, and that are
    /// not behind too many others, or too far.
    pub fn promising(&self) -> Vec<usize> {
        self.all(|_, one| {
            let Some(rung) = one.runs.len().checked_sub(1) else {
                return true;
            };
            let slack = SLACK[(rung / 2).min(SLACK.len() - 1)];
            let most = FIELD[(rung / 2).min(FIELD.len() - 1)];
            let ahead = self.ahead(one);
            let is_far = ahead.iter().any(|(own, other)| *own > slack * other);
            !tells(self.evaluator, &one.runs[rung]) && ahead.len() < most && !is_far
        })
    }

    /// The costs of two on the highest rung on which both have settled.
    fn costs(&self, one: usize, other: usize) -> Option<(f64, f64)> {
        let rung = self.settled_rung(one, other)?;
        let cost = |n: usize| self.evaluator.cost(&self.candidates[n].runs[rung]);
        Some((cost(one), cost(other)))
    }

    pub fn settled_rung(&self, one: usize, other: usize) -> Option<usize> {
        let runs = |n: usize| self.candidates[n].runs.iter();
        let pairs = runs(one).zip(runs(other));
        let has_value = |run| self.evaluator.value(run).is_some();
        let both: Vec<bool> = pairs.map(|(a, b)| has_value(a) && has_value(b)).collect();
        both.iter().rposition(|both| *both)
    }

    /// How many times as much one has of an objective as another, on the highest rung on which both have settled.
    pub fn ratio(&self, objective: Objective, one: usize, other: usize) -> Option<Estimate> {
        let rung = self.settled_rung(one, other)?;
        let run = |n: usize| &self.candidates[n].runs[rung];
        ratio(objective, run(one), run(other))
    }

    /// Returns the place of a candidate by promises: see [`Evaluator::place`].
    ///
    /// Those without a run of their own are judged by that of another, and by how the two compare on common arrivals and
    /// sizes: of several that are alike, one always looks better than it is in the comparison.
    pub fn place(&self, n: usize) -> f64 {
        let own = &self.candidates[n];
        let Some(run) = own.measured(self.evaluator) else {
            return f64::INFINITY;
        };
        let place = self.evaluator.place(run);
        let worst = |run: &Run| self.evaluator.worst(run);
        if own.own.is_some() {
            return place;
        }
        let by_other = self.candidates.iter().enumerate().filter_map(|(m, other)| {
            let measured = other.own.as_ref()?;
            let rung = self.settled_rung(n, m)?;
            let [own, other] = [own, other].map(|one| worst(&one.runs[rung]));
            // Short runs in which no job of either took too long do not tell the two apart.
            let times = if own == other { 1.0 } else { own / other };
            times
                .is_finite()
                .then(|| (measured.events, times * worst(measured)))
        });
        match by_other.max_by_key(|(events, _)| *events) {
            Some((_, worst)) if worst > 1.0 => worst,
            Some(_) => place.min(1.0),
            None => place,
        }
    }

    /// Returns the best of the candidates that may be selected, have settled and satisfy a condition: the first in the order
    /// of promises, and of equals the one that fewest are ahead of.
    pub fn best(&self, is: impl Fn(&Candidate<'w>) -> bool) -> Option<usize> {
        let settled = self.all(|_, c| c.is_eligible && c.is_settled(self.evaluator) && is(c));
        let is_ahead = |other: &usize, n: usize| {
            let costs = self.costs(n, *other);
            costs.is_some_and(|(own, others)| others < own)
        };
        let ahead = |n: usize| settled.iter().filter(|other| is_ahead(other, n)).count();
        let cost = |n: usize| {
            let run = self.candidates[n].longest();
            run.map_or(f64::INFINITY, |run| self.evaluator.cost(run))
        };
        let key = |n: &usize| (self.place(*n), ahead(*n), cost(*n));
        let all = settled.iter().copied();
        all.min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal))
    }

    /// Of those that no run shows to have more than the best, but for what is not worth longer runs, the one that slows
    /// down its most slowed type least, and how many times as much; `None` where that is the best, or not worth it.
    pub fn fairest(&self, best: usize) -> Option<(usize, f64)> {
        let evaluator = &*self.evaluator;
        let as_good = self.all(|n, c| {
            let ratio = self.ratio(evaluator.objective, n, best);
            let keeps = self.place(n) <= self.place(best).min(1.0);
            let is_sound = n != best && c.is_eligible && c.is_settled(evaluator) && keeps;
            is_sound && ratio.is_some_and(|r| r.mean < 1.0 + CLOSE)
        });
        let slowed = |n: usize| {
            let rung = self.settled_rung(n, best)?;
            let most = |n: usize| Some(slowdowns(&self.candidates[n].runs[rung])?[1]);
            Some(most(n)? / most(best)?)
        };
        let ratios = as_good.into_iter().filter_map(|n| Some((n, slowed(n)?)));
        let least = ratios.min_by(|a, b| a.1.total_cmp(&b.1));
        least.filter(|(_, slowed)| *slowed < 1.0 - CLOSE)
    }

    /// Those that run on: the best, and all that may yet be better by what is worth it.
    pub fn open(&self) -> Vec<usize> {
        let Some(best) = self.best(|_| true) else {
            // What has not settled may look good as long as jobs that it starves are few.
            return self.all(|_, c| !c.runs_away());
        };
        // Of what cannot be taken it is enough to know that it is better.
        let is_known = |n: usize, c: &Candidate<'_>| {
            !self.lags(best, n)
                && (self.is_decided(best, n) || !c.is_eligible && self.is_surely_behind(n, best))
        };
        let mut open = self.all(|n, c| n != best && !is_known(n, c));
        // It runs on as far as there is somebody to compare it with.
        let rung = |n: usize| self.candidates[n].runs.len();
        if open.iter().any(|n| rung(best) <= rung(*n)) {
            open.push(best);
        }
        open
    }

    /// Those that have not settled, and by what was there look better than the best of those that have.
    pub fn may_be_better(&self) -> Vec<usize> {
        let Some(best) = self.best(|_| true) else {
            return Vec::new();
        };
        let cost = |run: &Run| self.evaluator.rough_cost(run);
        self.all(|_, c| {
            let pair = common(c, &self.candidates[best]);
            let looks_better = |(own, of_best)| cost(own) < cost(of_best) * (1.0 - CLOSE);
            let is_open = c.is_eligible && !c.runs_away() && !c.is_settled(self.evaluator);
            is_open && pair.is_some_and(looks_better)
        })
    }

    /// Whether a candidate costs far more than another, roughly. Shorter runs tell nothing of what has not settled.
    pub fn is_far(&self, from: usize, n: usize) -> bool {
        let (near, far) = (&self.candidates[from], &self.candidates[n]);
        let Some((a, b)) = common(near, far) else {
            return false;
        };
        let cost = |run| self.evaluator.rough_cost(run);
        let has_settled = |run| self.evaluator.value(run).is_some();
        let both = has_settled(a) && has_settled(b);
        let most = if both { FAR } else { FAR_UNSETTLED };
        a.events.min(b.events) >= self.evaluator.telling() && cost(b) > most * cost(a)
    }

    /// Whether it is known that a candidate is no better than the best by what is worth longer runs. Unless the best keeps
    /// all promises with confidence, that depends on the promises alone.
    pub fn is_decided(&self, best: usize, n: usize) -> bool {
        let own = &self.candidates[n];
        let latest = own.longest();
        let ratio = self.ratio(self.evaluator.objective, n, best);
        let by_mean = || {
            ratio.is_some_and(|r| (r.mean - 1.0).abs() + r.half_width < CLOSE)
                || self.is_far(best, n)
                || self.is_surely_behind(best, n)
        };
        own.runs_away()
            || latest.is_some_and(|run| self.evaluator.surely_breaks(run))
            || (self.place(best) == 0.0 || !own.is_eligible) && by_mean()
    }

    /// Whether a rule in common use is to run on until it has run as long as the best, so that the ratio of the two is known
    /// from a run whose length did not depend on it: if a rule stops as soon as it is surely slower, that ratio is too small.
    fn lags(&self, best: usize, n: usize) -> bool {
        let own = &self.candidates[n];
        let is_shorter = own.runs.len() < self.candidates[best].runs.len();
        let ratio = self.ratio(self.evaluator.objective, n, best);
        let is_near = ratio.is_some_and(|ratio| ratio.mean < FAR);
        USUAL.contains(&own.name()) && is_shorter && !own.runs_away() && is_near
    }

    /// Returns how many times as much as another a candidate surely costs, if it stopped to run before the other since it
    /// costs more; its ratio is then too small.
    pub fn at_least(&self, first: usize, n: usize) -> Option<f64> {
        let runs = |n: usize| self.candidates[n].runs.len();
        let least = self.behind(first, n).filter(|_| runs(n) < runs(first));
        least.filter(|least| *least > 1.001)
    }

    /// Whether a candidate runs away, or surely costs more than another.
    fn is_surely_behind(&self, first: usize, n: usize) -> bool {
        self.candidates[n].runs_away() || self.behind(first, n).is_some()
    }

    /// Returns how many times as much as another a candidate costs at least: at 95 % for all on their highest common rung
    /// together. `None` if it may not cost more.
    fn behind(&self, first: usize, n: usize) -> Option<f64> {
        let rung = self.settled_rung(first, n)?;
        let settled = self.candidates.iter().filter_map(|c| {
            let (mean, values) = measured(self.evaluator.objective, c.runs.get(rung)?);
            mean.map(|_| (c.name(), values))
        });
        let values: Vec<(&str, &[Option<f64>])> = settled.collect();
        let [own, others] = [first, n].map(|n| self.candidates[n].name());
        let ranking = Ranking::new(&values);
        let pair = ranking.pair(own, others)?;
        let is_behind = pair.apart && pair.slower == others;
        let (a, b) = self.costs(first, n)?;
        (is_behind && a <= b).then_some(pair.least)
    }
}
