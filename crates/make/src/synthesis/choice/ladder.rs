//! Candidates climb a ladder of run lengths, the one whose next step takes the least work first: so all that may
//! still win get as much work, whatever an event costs them, and cheap ones have long runs early.
//!
//! A run goes on from rung to rung. The runs of one rung have the same seed and length: candidates face the same arrivals
//! and sizes there, so that the ratio of two is known better than their means
//! ([`synth_multiresource::simulator::paired_ratio`]). Two are compared on the highest rung that both have reached.

use std::cmp::Ordering;

use super::guard::Guard;
use super::trials::{DONE, Trial, Trials, Underway, measured};
use crate::synthesis::log::{CLOSE, Steadiness, USUAL};
use synth_multiresource::artifact::{Family, Objective};
use synth_multiresource::simulator::{Estimate, Failure, Ranking};
use synth_multiresource::workload::Workload;

/// How many times as long the runs of the next rung are.
const LONGER: u64 = 2;

/// A candidate that costs this many times as much as another, roughly, drops out of a search. There is one number for each
/// two rungs; the last one also holds for all later rungs.
const SLACK: [f64; 4] = [4.0, 2.0, 1.4, 1.25];

/// A candidate behind this many others drops out of a search, likewise.
const FIELD: [usize; 4] = [64, 12, 6, 4];

/// A candidate that costs this many times as much as the best drops out of the comparison: if both have converged, and if one
/// has not. The latter is judged by how long its slowest type stays, which a few jobs of a rare type decide.
const FAR: f64 = 2.0;
const FAR_UNSETTLED: f64 = 10.0;

/// The fraction of time beyond which a guard is more than a safeguard.
const UNDER_GUARD: f64 = 0.01;

/// A policy that may be selected, or is there for comparison.
pub(super) struct Candidate<'w> {
    pub policy: Family,
    /// Policies that were tried to find it.
    pub tried: usize,
    /// Whether it may be selected.
    pub is_eligible: bool,
    /// Its runs, by rung: each goes on where the one before ended.
    pub runs: Vec<Trial>,
    underway: Option<Underway<'w>>,
    /// The run that its claims come from, on arrivals and sizes that decided nothing: the best of several is partly the
    /// best by chance.
    pub own: Option<Trial>,
}

impl Candidate<'_> {
    /// One that may be selected, not run yet.
    pub(super) fn new(policy: Family, tried: usize) -> Self {
        Candidate {
            policy,
            tried,
            is_eligible: true,
            runs: Vec::new(),
            underway: None,
            own: None,
        }
    }

    /// The name of its rule in common use.
    pub(super) fn name(&self) -> &'static str {
        self.policy.followed().called()
    }

    /// The longest run of a comparison.
    pub(super) fn longest(&self) -> Option<&Trial> {
        self.runs.last()
    }

    /// The run of its claims, or if there is none or it is too short, the longest of the comparison.
    pub(super) fn measured(&self) -> Option<&Trial> {
        let own = self.own.as_ref();
        let tells = own.filter(|_| self.unclaimed().is_none());
        tells.or(self.longest())
    }

    /// Why its own run is too short for claims; `None` if it is not.
    pub(super) fn unclaimed(&self) -> Option<String> {
        let trial = self.own.as_ref()?;
        if let Some(why) = &trial.run.unsettled {
            return Some(why.to_string());
        }
        if trial.value.is_none() {
            return Some("the number in system grows".into());
        }
        let fewest = trial.fewest_done()?;
        (fewest.completions < DONE).then(|| {
            format!(
                "{}: {} of {DONE} jobs done",
                fewest.name, fewest.completions
            )
        })
    }

    /// Whether the number of jobs grew without end in its longest run.
    pub(super) fn runs_away(&self) -> bool {
        self.longest().is_some_and(Trial::runs_away)
    }

    /// Whether its longest run has converged, and its own run does not say otherwise.
    pub(super) fn is_settled(&self) -> bool {
        self.longest().is_some_and(|run| run.value.is_some()) && !self.is_refuted()
    }

    /// Whether jobs piled up in its own run, which is the longest, so that the guard was needed, or would have been.
    fn is_refuted(&self) -> bool {
        let own = self.own.as_ref();
        own.is_some_and(|own| own.runs_away() || own.run.own.guarded > UNDER_GUARD)
    }

    /// Its outcome. A policy that is known to be stable but whose queues grew was not simulated for long
    /// enough.
    pub(super) fn outcome(&self, workload: &Workload, is_far: bool) -> Steadiness {
        match self.measured() {
            None => Steadiness::Unsettled,
            Some(run) if run.value.is_some() => Steadiness::Steady,
            Some(run) if run.runs_away() && !self.policy.is_proved_stable(workload) => {
                Steadiness::Unstable
            }
            Some(_) if is_far => Steadiness::Behind,
            Some(_) => Steadiness::Unsettled,
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
    pub(super) fn length(&self, rung: usize) -> u64 {
        let times = LONGER.saturating_pow(rung as u32);
        self.first.saturating_mul(times)
    }
}

/// The runs of two candidates on the highest rung that both have reached.
fn common<'c>(one: &'c Candidate<'_>, other: &'c Candidate<'_>) -> Option<(&'c Trial, &'c Trial)> {
    one.runs.iter().zip(&other.runs).next_back()
}

/// A selection under way: the candidates, and what is left of the work. The stages are methods in files of their own, in this
/// order: search, decision, record.
pub(super) struct Selection<'w> {
    pub trials: Trials<'w>,
    pub guards: Vec<Guard>,
    pub candidates: Vec<Candidate<'w>>,
}

impl<'w> Selection<'w> {
    /// Runs candidates, the cheapest next run first, while some are `open` and there is work left for them.
    pub(super) fn climb(
        &mut self,
        ladder: Ladder,
        what: &str,
        open: impl Fn(&Self) -> Vec<usize>,
    ) -> Result<(), Failure> {
        loop {
            let mut steps = Vec::new();
            for n in open(self) {
                let candidate = &self.candidates[n];
                let rung = candidate.runs.len();
                let before = rung.checked_sub(1).map_or(0, |rung| ladder.length(rung));
                let events = (ladder.length(rung) - before) as f64;
                let work = events * self.trials.work(&candidate.policy);
                if self.trials.spent + work <= ladder.until {
                    steps.push((n, work));
                }
            }
            let next = steps.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((n, _)) = next.filter(|_| !self.trials.is_over()) else {
                return Ok(());
            };
            let candidate = &mut self.candidates[n];
            self.trials.report(format!("{what} {}", candidate.name()));
            let events = ladder.length(candidate.runs.len());
            let (underway, policy) = (&mut candidate.underway, &candidate.policy);
            let run = self
                .trials
                .run(underway, policy, events, ladder.replications);
            match run? {
                Some(run) => candidate.runs.push(run),
                None => return Ok(()),
            }
        }
    }

    /// Sorts the candidates by how many have less cost on a common rung, the fewest first; those without a run are last.
    pub(super) fn rank(&mut self) {
        let key = |c: &Candidate<'_>| (c.runs.is_empty(), self.ahead(c).len());
        let keys: Vec<_> = self.candidates.iter().map(key).collect();
        let mut keyed: Vec<_> = keys.into_iter().zip(self.candidates.drain(..)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        let ranked = keyed.into_iter().map(|(_, candidate)| candidate);
        self.candidates.extend(ranked);
    }

    /// Returns the candidates, by index, that satisfy a condition.
    fn all(&self, is: impl Fn(usize, &Candidate<'w>) -> bool) -> Vec<usize> {
        let each = self.candidates.iter().enumerate();
        each.filter(|(n, c)| is(*n, c)).map(|(n, _)| n).collect()
    }

    /// Returns the first that may be selected and satisfies a condition.
    pub(super) fn first(&self, is: impl Fn(&Candidate<'w>) -> bool) -> Option<usize> {
        let mut each = self.candidates.iter();
        each.position(|c| c.is_eligible && is(c))
    }

    /// Returns the rough costs of a candidate and of each one ahead of it, on their highest common rung.
    fn ahead(&self, one: &Candidate<'_>) -> Vec<(f64, f64)> {
        let pairs = self.candidates.iter().filter_map(|c| common(one, c));
        let costs = pairs.map(|(own, other)| (own.rough_cost, other.rough_cost));
        costs.filter(|(own, other)| other < own).collect()
    }

    /// Returns the candidates that a search goes on with: those whose runs do not tell yet how good they are, and that are
    /// not behind too many others, or too far.
    pub(super) fn promising(&self) -> Vec<usize> {
        self.all(|_, one| {
            let Some(rung) = one.runs.len().checked_sub(1) else {
                return true;
            };
            let slack = SLACK[(rung / 2).min(SLACK.len() - 1)];
            let most = FIELD[(rung / 2).min(FIELD.len() - 1)];
            let ahead = self.ahead(one);
            let is_far = ahead.iter().any(|(own, other)| *own > slack * other);
            !one.runs[rung].is_telling && ahead.len() < most && !is_far
        })
    }

    /// Returns the highest rung on which both have converged.
    pub(super) fn settled_rung(&self, one: usize, other: usize) -> Option<usize> {
        let runs = |n: usize| self.candidates[n].runs.iter();
        let pairs = runs(one).zip(runs(other));
        let both: Vec<bool> = pairs
            .map(|(a, b)| a.value.is_some() && b.value.is_some())
            .collect();
        both.iter().rposition(|both| *both)
    }

    /// Returns the runs of two on the highest rung on which both have converged.
    pub(super) fn settled(&self, one: usize, other: usize) -> Option<(&Trial, &Trial)> {
        let rung = self.settled_rung(one, other)?;
        let run = |n: usize| &self.candidates[n].runs[rung];
        Some((run(one), run(other)))
    }

    /// Returns the ratio of an objective to that of another, on the highest rung on which both have converged.
    pub(super) fn ratio(&self, objective: Objective, one: usize, other: usize) -> Option<Estimate> {
        let (own, other) = self.settled(one, other)?;
        own.ratio(objective, other)
    }

    /// Returns the place of a candidate by promises: see [`super::trials::Verdict`].
    ///
    /// Those without a run of their own are judged by that of another, and by how the two compare on common arrivals and
    /// sizes: of several that are alike, one always looks better than it is in the comparison.
    pub(super) fn place(&self, n: usize) -> f64 {
        let own = &self.candidates[n];
        let Some(run) = own.measured() else {
            return f64::INFINITY;
        };
        let place = run.verdict.place;
        if own.own.is_some() {
            return place;
        }
        let by_other = self.candidates.iter().enumerate().filter_map(|(m, other)| {
            let measured = other.own.as_ref()?;
            let (a, b) = self.settled(n, m)?;
            let (own, other) = (a.verdict.worst, b.verdict.worst);
            // Short runs in which no job of either took too long do not tell the two apart.
            let times = if own == other { 1.0 } else { own / other };
            let expected = times * measured.verdict.worst;
            times.is_finite().then_some((measured.run.events, expected))
        });
        match by_other.max_by_key(|(events, _)| *events) {
            Some((_, worst)) if worst > 1.0 => worst,
            Some(_) => place.min(1.0),
            None => place,
        }
    }

    /// Returns the best of the candidates that may be selected, have converged and satisfy a condition: the first in the
    /// order of promises, and of equals the one that fewest are ahead of.
    pub(super) fn best(&self, is: impl Fn(&Candidate<'w>) -> bool) -> Option<usize> {
        let settled = self.all(|_, c| c.is_eligible && c.is_settled() && is(c));
        let is_ahead = |other: usize, n: usize| {
            let pair = self.settled(n, other);
            pair.is_some_and(|(own, other)| other.cost < own.cost)
        };
        let ahead = |n: usize| settled.iter().filter(|other| is_ahead(**other, n)).count();
        let cost = |n: usize| {
            let run = self.candidates[n].longest();
            run.map_or(f64::INFINITY, |run| run.cost)
        };
        let key = |n: &usize| (self.place(*n), ahead(*n), cost(*n));
        let all = settled.iter().copied();
        all.min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal))
    }

    /// Returns, of the candidates that satisfy a condition and that no run shows to be worse than the best by what is worth
    /// longer runs, the one that slows down its most slowed type least, and the ratio to the best; `None` if that is the
    /// best, or not worth it.
    pub(super) fn fairest(&self, best: usize, is: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
        let as_good = self.all(|n, c| {
            let ratio = self.ratio(self.trials.objective, n, best);
            let is_sound = n != best && c.is_eligible && c.is_settled() && is(n);
            is_sound && ratio.is_some_and(|r| r.mean < 1.0 + CLOSE)
        });
        let slowed = |n: usize| {
            let (own, of_best) = self.settled(n, best)?;
            Some(own.slowdowns()?[1] / of_best.slowdowns()?[1])
        };
        let ratios = as_good.into_iter().filter_map(|n| Some((n, slowed(n)?)));
        let least = ratios.min_by(|a, b| a.1.total_cmp(&b.1));
        least.filter(|(_, slowed)| *slowed < 1.0 - CLOSE)
    }

    /// Returns the candidates that run on: the best, and all that may yet be better by what is worth it.
    pub(super) fn open(&self) -> Vec<usize> {
        let Some(best) = self.best(|_| true) else {
            // One that has not converged may look good while few jobs that it starves are there.
            return self.all(|_, c| !c.runs_away());
        };
        // If one cannot be selected it is enough to know that it is better.
        let is_known = |n: usize, c: &Candidate<'_>| {
            !self.lags(best, n)
                && (self.is_decided(best, n) || !c.is_eligible && self.is_surely_behind(n, best))
        };
        let mut open = self.all(|n, c| n != best && !is_known(n, c));
        // The best runs on while there is another to compare it with.
        let rung = |n: usize| self.candidates[n].runs.len();
        if open.iter().any(|n| rung(best) <= rung(*n)) {
            open.push(best);
        }
        open
    }

    /// Returns those that have not converged, and so far look better than the best of those that have.
    pub(super) fn may_be_better(&self) -> Vec<usize> {
        let Some(best) = self.best(|_| true) else {
            return Vec::new();
        };
        self.all(|_, c| {
            let pair = common(c, &self.candidates[best]);
            let looks_better =
                pair.is_some_and(|(own, best)| own.rough_cost < best.rough_cost * (1.0 - CLOSE));
            c.is_eligible && !c.runs_away() && !c.is_settled() && looks_better
        })
    }

    /// Whether a candidate costs far more than another, roughly. Without convergence short runs are not conclusive.
    pub(super) fn is_far(&self, from: usize, n: usize) -> bool {
        let (near, far) = (&self.candidates[from], &self.candidates[n]);
        let Some((a, b)) = common(near, far) else {
            return false;
        };
        let both = a.value.is_some() && b.value.is_some();
        let most = if both { FAR } else { FAR_UNSETTLED };
        let is_long = a.run.events.min(b.run.events) >= self.trials.telling;
        is_long && b.rough_cost > most * a.rough_cost
    }

    /// Whether it is known that a candidate is no better than the best by what is worth longer runs. Unless the best keeps
    /// all promises with confidence, that depends on the promises alone.
    pub(super) fn is_decided(&self, best: usize, n: usize) -> bool {
        let own = &self.candidates[n];
        let ratio = self.ratio(self.trials.objective, n, best);
        let by_mean = || {
            ratio.is_some_and(|r| (r.mean - 1.0).abs() + r.half_width < CLOSE)
                || self.is_far(best, n)
                || self.is_surely_behind(best, n)
        };
        own.runs_away()
            || own.longest().is_some_and(|run| run.verdict.surely_breaks)
            || (self.place(best) == 0.0 || !own.is_eligible) && by_mean()
    }

    /// Whether a rule in common use is to run on until it has run as long as the best, so that the ratio of the two is known
    /// from a run whose length did not depend on it: if a rule stops as soon as it is surely slower, that ratio is too small.
    fn lags(&self, best: usize, n: usize) -> bool {
        let own = &self.candidates[n];
        let is_shorter = own.runs.len() < self.candidates[best].runs.len();
        let ratio = self.ratio(self.trials.objective, n, best);
        let is_near = ratio.is_some_and(|ratio| ratio.mean < FAR);
        USUAL.contains(&own.name()) && is_shorter && !own.runs_away() && is_near
    }

    /// Returns how many times as much as another a candidate surely costs, if it stopped to run before the other since it
    /// costs more; its ratio is then too small.
    pub(super) fn at_least(&self, first: usize, n: usize) -> Option<f64> {
        let runs = |n: usize| self.candidates[n].runs.len();
        let least = self.behind(first, n).filter(|_| runs(n) < runs(first));
        least.filter(|least| *least > 1.001)
    }

    /// Whether the number of jobs grows without end under a candidate, or it surely costs more than another.
    fn is_surely_behind(&self, first: usize, n: usize) -> bool {
        self.candidates[n].runs_away() || self.behind(first, n).is_some()
    }

    /// Returns how many times as much as another a candidate costs at least: at 95 % for all on their highest common rung
    /// together. `None` if it may not cost more.
    fn behind(&self, first: usize, n: usize) -> Option<f64> {
        let rung = self.settled_rung(first, n)?;
        let settled = self.candidates.iter().filter_map(|c| {
            let (mean, values) = measured(self.trials.objective, &c.runs.get(rung)?.run);
            mean.map(|_| (c.name(), values))
        });
        let values: Vec<(&str, &[Option<f64>])> = settled.collect();
        let [own, others] = [first, n].map(|n| self.candidates[n].name());
        let ranking = Ranking::new(&values);
        let pair = ranking.pair(own, others)?;
        let is_behind = pair.apart && pair.slower == others;
        let (a, b) = self.settled(first, n)?;
        (is_behind && a.cost <= b.cost).then_some(pair.least)
    }
}
