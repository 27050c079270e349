//! Runs of candidates with increasing lengths, like the rungs of a ladder. The cheapest run is
//! always the next one. All runs of a rung have the same seed and length, so the ratio of two
//! candidates is more precise than their means ([`synth_multiresource::simulator::paired_ratio`]).
//! They are compared on the highest rung that both have reached.

use std::cmp::Ordering;

use super::guard::Guard;
use super::trials::{DONE, Trial, Trials, Underway, measured};
use crate::synthesis::log::{COMMON_RULES, RELEVANT_DIFFERENCE, Steadiness};
use synth_multiresource::artifact::Family;
use synth_multiresource::simulator::{Estimate, Failure, Ranking};
use synth_multiresource::workload::Workload;

const LONGER: u64 = 2;

/// The relative cost above which a candidate is removed from the search, for every two rungs. The
/// last value is also used for all later rungs.
const SLACK: [f64; 4] = [4.0, 2.0, 1.4, 1.25];

/// The number of better candidates at which a candidate is removed from the search, likewise.
const FIELD: [usize; 4] = [64, 12, 6, 4];

/// The maximum relative cost of a candidate in the comparison, higher if a run has not converged,
/// because the result may depend on a few rare jobs.
const FAR: f64 = 2.0;
const FAR_UNSETTLED: f64 = 10.0;

/// Above this fraction of time under the guard, the guard is more than a safeguard.
const UNDER_GUARD: f64 = 0.01;

pub(super) struct Candidate<'w> {
    pub policy: Family,
    pub tried: usize,
    pub is_eligible: bool,
    pub runs: Vec<Trial>,
    underway: Option<Underway<'w>>,
    /// A separate run for the claims, because the best of several is partly the best by chance.
    pub own: Option<Trial>,
}

impl Candidate<'_> {
    pub(super) fn new(policy: Family) -> Self {
        Candidate {
            policy,
            tried: 1,
            is_eligible: true,
            runs: Vec::new(),
            underway: None,
            own: None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.policy.followed().called()
    }

    pub(super) fn longest(&self) -> Option<&Trial> {
        self.runs.last()
    }

    /// Returns the separate run, or the longest run if that is missing or too short.
    pub(super) fn measured(&self) -> Option<&Trial> {
        let own = self.own.as_ref();
        let tells = own.filter(|_| self.why_not_claimed().is_none());
        tells.or(self.longest())
    }

    pub(super) fn why_not_claimed(&self) -> Option<String> {
        let trial = self.own.as_ref()?;
        if let Some(why) = &trial.run.unsettled {
            return Some(why.to_string());
        }
        if trial.value.is_none() {
            return Some("the number of jobs in the system grows".into());
        }
        let fewest = trial.fewest_done()?;
        (fewest.completions < DONE).then(|| {
            format!(
                "{}: {} of {DONE} jobs completed",
                fewest.name, fewest.completions
            )
        })
    }

    pub(super) fn is_unstable(&self) -> bool {
        self.longest().is_some_and(Trial::runs_away)
    }

    /// Returns whether the longest run has converged and jobs did not pile up in the separate run.
    pub(super) fn has_converged(&self) -> bool {
        let piles_up = |own: &Trial| own.runs_away() || own.run.own.guarded > UNDER_GUARD;
        let has_value = self.longest().is_some_and(|run| run.value.is_some());
        has_value && !self.own.as_ref().is_some_and(piles_up)
    }

    /// If a policy with a proof of stability has a growing number of jobs, the run was too short.
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

#[derive(Clone, Copy)]
pub(super) struct Ladder {
    pub first: u64,
    pub replications: u32,
    /// The total work since the start of the selection at which the runs end.
    pub until: f64,
}

impl Ladder {
    pub(super) fn length(&self, rung: usize) -> u64 {
        let times = LONGER.saturating_pow(rung as u32);
        self.first.saturating_mul(times)
    }
}

fn common<'c>(one: &'c Candidate<'_>, other: &'c Candidate<'_>) -> Option<(&'c Trial, &'c Trial)> {
    one.runs.iter().zip(&other.runs).next_back()
}

pub(super) struct Selection<'w> {
    pub trials: Trials<'w>,
    pub guards: Vec<Guard>,
    pub candidates: Vec<Candidate<'w>>,
}

impl<'w> Selection<'w> {
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
            let (trials, candidate) = (&mut self.trials, &mut self.candidates[n]);
            trials.report(format!("{what} {}", candidate.name()));
            let events = ladder.length(candidate.runs.len());
            let (underway, policy) = (&mut candidate.underway, &candidate.policy);
            match trials.run(underway, policy, events, ladder.replications)? {
                Some(run) => candidate.runs.push(run),
                None => return Ok(()),
            }
        }
    }

    /// Sorts the candidates by the number of cheaper ones. Candidates without a run are last.
    pub(super) fn rank(&mut self) {
        let key = |c: &Candidate<'_>| (c.runs.is_empty(), self.ahead(c).len());
        let keys: Vec<_> = self.candidates.iter().map(key).collect();
        let mut keyed: Vec<_> = keys.into_iter().zip(self.candidates.drain(..)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        let ranked = keyed.into_iter().map(|(_, candidate)| candidate);
        self.candidates.extend(ranked);
    }

    fn all(&self, is: impl Fn(usize, &Candidate<'w>) -> bool) -> Vec<usize> {
        let each = self.candidates.iter().enumerate();
        each.filter(|(n, c)| is(*n, c)).map(|(n, _)| n).collect()
    }

    pub(super) fn first(&self, is: impl Fn(&Candidate<'w>) -> bool) -> Option<usize> {
        let mut each = self.candidates.iter();
        each.position(|c| c.is_eligible && is(c))
    }

    fn ahead(&self, one: &Candidate<'_>) -> Vec<(f64, f64)> {
        let pairs = self.candidates.iter().filter_map(|c| common(one, c));
        let costs = pairs.map(|(own, other)| (own.rough_cost, other.rough_cost));
        costs.filter(|(own, other)| other < own).collect()
    }

    /// Returns the candidates whose runs are inconclusive and that are not too far behind.
    pub(super) fn promising(&self) -> Vec<usize> {
        self.all(|_, one| {
            let Some(rung) = one.runs.len().checked_sub(1) else {
                return true;
            };
            let slack = SLACK[(rung / 2).min(SLACK.len() - 1)];
            let most = FIELD[(rung / 2).min(FIELD.len() - 1)];
            let ahead = self.ahead(one);
            let is_far = ahead.iter().any(|(own, other)| *own > slack * other);
            !one.runs[rung].is_conclusive && ahead.len() < most && !is_far
        })
    }

    pub(super) fn converged_rung(&self, one: usize, other: usize) -> Option<usize> {
        let runs = |n: usize| self.candidates[n].runs.iter();
        let mut pairs = runs(one).zip(runs(other));
        pairs.rposition(|(a, b)| a.value.is_some() && b.value.is_some())
    }

    pub(super) fn converged_runs(&self, one: usize, other: usize) -> Option<(&Trial, &Trial)> {
        let rung = self.converged_rung(one, other)?;
        let run = |n: usize| &self.candidates[n].runs[rung];
        Some((run(one), run(other)))
    }

    fn ratio(&self, one: usize, other: usize) -> Option<Estimate> {
        let (own, other) = self.converged_runs(one, other)?;
        own.ratio(self.trials.objective, other)
    }

    /// Returns the sort key for the guarantees ([`super::trials::Verdict`]), relative to a
    /// candidate with a separate run if there is one, because the best of several looks too good.
    pub(super) fn guarantee_rank(&self, n: usize) -> f64 {
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
            let (a, b) = self.converged_runs(n, m)?;
            let (own, other) = (a.verdict.worst, b.verdict.worst);
            // If no job of either was late in a short run, the two are considered to be equal.
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

    /// Returns the best converged candidate: by the guarantees, then by the number of better ones.
    pub(super) fn best(&self, is: impl Fn(&Candidate<'w>) -> bool) -> Option<usize> {
        let steady = self.all(|_, c| c.is_eligible && c.has_converged() && is(c));
        let is_ahead = |other: usize, n: usize| {
            let pair = self.converged_runs(n, other);
            pair.is_some_and(|(own, other)| other.cost < own.cost)
        };
        let ahead = |n: usize| steady.iter().filter(|other| is_ahead(**other, n)).count();
        let cost = |n: usize| {
            let run = self.candidates[n].longest();
            run.map_or(f64::INFINITY, |run| run.cost)
        };
        let key = |n: &usize| (self.guarantee_rank(*n), ahead(*n), cost(*n));
        let all = steady.iter().copied();
        all.min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal))
    }

    /// Returns the candidate with the lowest slowdown of its worst type of all that are almost as
    /// good as the best, and the ratio to the best; `None` without a relevant improvement.
    pub(super) fn fairest(&self, best: usize, is: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
        let as_good = self.all(|n, c| {
            let ratio = self.ratio(n, best);
            let is_sound = n != best && c.is_eligible && c.has_converged() && is(n);
            is_sound && ratio.is_some_and(|r| r.mean < 1.0 + RELEVANT_DIFFERENCE)
        });
        let slowed = |n: usize| {
            let (own, of_best) = self.converged_runs(n, best)?;
            Some(own.slowdowns()?[1] / of_best.slowdowns()?[1])
        };
        let ratios = as_good.into_iter().filter_map(|n| Some((n, slowed(n)?)));
        let least = ratios.min_by(|a, b| a.1.total_cmp(&b.1));
        least.filter(|(_, slowed)| *slowed < 1.0 - RELEVANT_DIFFERENCE)
    }

    /// Returns the best candidate and all that may be clearly better.
    pub(super) fn open(&self) -> Vec<usize> {
        let Some(best) = self.best(|_| true) else {
            // A candidate may look good while there are only a few of the jobs that it starves.
            return self.all(|_, c| !c.is_unstable());
        };
        // For a candidate that cannot be selected, it is enough to know that the best is better.
        let is_known = |n: usize, c: &Candidate<'_>| {
            !self.lags(best, n)
                && (self.is_decided(best, n) || !c.is_eligible && self.is_surely_behind(n, best))
        };
        let mut open = self.all(|n, c| n != best && !is_known(n, c));
        let rung = |n: usize| self.candidates[n].runs.len();
        if open.iter().any(|n| rung(best) <= rung(*n)) {
            open.push(best);
        }
        open
    }

    /// Returns the candidates that have not converged, but seem to be better than the best one.
    pub(super) fn may_be_better(&self) -> Vec<usize> {
        let Some(best) = self.best(|_| true) else {
            return Vec::new();
        };
        self.all(|_, c| {
            let pair = common(c, &self.candidates[best]);
            let looks_better = pair.is_some_and(|(own, best)| {
                own.rough_cost < best.rough_cost * (1.0 - RELEVANT_DIFFERENCE)
            });
            c.is_eligible && !c.is_unstable() && !c.has_converged() && looks_better
        })
    }

    pub(super) fn is_far(&self, from: usize, n: usize) -> bool {
        let (near, far) = (&self.candidates[from], &self.candidates[n]);
        let Some((a, b)) = common(near, far) else {
            return false;
        };
        let both = a.value.is_some() && b.value.is_some();
        let most = if both { FAR } else { FAR_UNSETTLED };
        let is_long = a.run.events.min(b.run.events) >= self.trials.conclusive_events;
        is_long && b.rough_cost > most * a.rough_cost
    }

    /// Returns whether a candidate is certainly not better by a relevant margin. If it is not
    /// certain that the best one keeps all guarantees, only the guarantees are compared.
    pub(super) fn is_decided(&self, best: usize, n: usize) -> bool {
        let own = &self.candidates[n];
        let ratio = self.ratio(n, best);
        let by_mean = || {
            ratio.is_some_and(|r| (r.mean - 1.0).abs() + r.half_width < RELEVANT_DIFFERENCE)
                || self.is_far(best, n)
                || self.is_surely_behind(best, n)
        };
        own.is_unstable()
            || own.longest().is_some_and(|run| run.verdict.surely_breaks)
            || (self.guarantee_rank(best) == 0.0 || !own.is_eligible) && by_mean()
    }

    /// Returns whether a common rule must run as long as the best, because its ratio would be too
    /// small if it stopped once it is surely slower.
    fn lags(&self, best: usize, n: usize) -> bool {
        let own = &self.candidates[n];
        let is_shorter = own.runs.len() < self.candidates[best].runs.len();
        let ratio = self.ratio(n, best);
        let is_near = ratio.is_some_and(|ratio| ratio.mean < FAR);
        COMMON_RULES.contains(&own.name()) && is_shorter && !own.is_unstable() && is_near
    }

    /// Returns a lower bound on the relative cost of a candidate that stopped early.
    pub(super) fn at_least(&self, first: usize, n: usize) -> Option<f64> {
        let runs = |n: usize| self.candidates[n].runs.len();
        let least = self.behind(first, n).filter(|_| runs(n) < runs(first));
        least.filter(|least| *least > 1.001)
    }

    fn is_surely_behind(&self, first: usize, n: usize) -> bool {
        self.candidates[n].is_unstable() || self.behind(first, n).is_some()
    }

    /// Returns a lower bound > 1 on the relative cost (95 % for all together), if any.
    fn behind(&self, first: usize, n: usize) -> Option<f64> {
        let rung = self.converged_rung(first, n)?;
        let values = self.candidates.iter().filter_map(|c| {
            let (mean, values) = measured(self.trials.objective, &c.runs.get(rung)?.run);
            mean.map(|_| (c.name(), values))
        });
        let [own, others] = [first, n].map(|n| self.candidates[n].name());
        let ranking = Ranking::new(&values.collect::<Vec<_>>());
        let pair = ranking.pair(own, others)?;
        let is_behind = pair.apart && pair.slower == others;
        let (a, b) = self.converged_runs(first, n)?;
        (is_behind && a.cost <= b.cost).then_some(pair.least)
    }
}
