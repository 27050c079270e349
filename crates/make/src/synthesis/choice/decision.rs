//! The comparison of the best policies of all families, and the separate run of the selected one.

use super::guard::guarded;
use super::ladder::{Candidate, Ladder, Selection};
use super::options::{Basis, ChoiceError};
use super::trials::{DONE, REPLICATIONS, Trial};
use crate::synthesis::BUDGET;
use synth_multiresource::artifact::Family;
use synth_multiresource::simulator::{Failure, Run};

/// The fraction of budget and time until the end of the comparison. The rest is for the claims.
const COMPARISON: f64 = 0.75;

/// Up to this fraction, candidates are continued that have not converged, but seem to be better.
const LONGER: f64 = 0.9;

/// The fraction of the comparison for all first runs, and the maximum number of events of each.
const FIRST: (f64, f64) = (1.0 / 32.0, 200_000.0);

/// The relative precision of the claims for all jobs and for each common type, and the minimum
/// number of events. Larger budgets than the default have a higher precision.
const PRECISION: f64 = 0.01;
const OF_TYPE: f64 = 0.1;
const SHORTEST: f64 = 1e6;

/// A run is only conclusive if the largest mean size is at most this number of replications.
const LASTING: f64 = 4.0;

/// The fraction of the remaining work for a separate run. The rest is needed if it is a refutation.
const OWN_RUN: f64 = 0.7;

impl Selection<'_> {
    /// Compares the candidates and the `rivals`, which are rules in common use, until the best is
    /// known or there is no work left. If none has converged, only the cheapest is continued.
    pub(super) fn compare(&mut self, rivals: Vec<Family>) -> Result<(), Failure> {
        self.trials.begin(0, COMPARISON);
        for rule in rivals {
            if self.candidates.iter().all(|c| c.name() != rule.called()) {
                let mut rival = Candidate::new(rule);
                rival.is_eligible = false;
                self.candidates.push(rival);
            }
        }
        let works = self.candidates.iter().map(|c| self.trials.work(&c.policy));
        let all: f64 = works.sum();
        let budget = self.trials.budget;
        let left = budget * COMPARISON - self.trials.spent;
        let first = (FIRST.0 * left / all).clamp(1.0, FIRST.1) as u64;
        let ladder = |part: f64| Ladder {
            first,
            replications: REPLICATIONS,
            until: budget * part,
        };
        self.climb(ladder(COMPARISON), "comparing", Selection::open)?;
        self.climb(ladder(LONGER), "comparing", Selection::may_be_better)?;
        self.rank();
        let least = self.first(|_| true).unwrap_or(0);
        self.climb(ladder(1.0), "comparing", |own| {
            let none = own.candidates.iter().all(|c| !c.has_converged());
            Vec::from_iter((none && !own.candidates[least].is_unstable()).then_some(least))
        })
    }

    /// Moves the selected candidate to the front. Returns the reason, and whether it is certain
    /// that no other one is better by a relevant margin.
    pub(super) fn decide(&mut self) -> Result<(Basis, bool), ChoiceError> {
        self.trials.begin(2, 1.0);
        self.trials.limit += self.trials.deciding;
        let (n, basis) = match self.converged_best()? {
            Some(found) => found,
            None => self.best_without_convergence()?,
        };
        let mut others = (0..self.candidates.len()).filter(|other| *other != n);
        let is_decided = basis.has_converged() && others.all(|other| self.is_decided(n, other));
        let first = self.candidates.remove(n);
        if basis.has_converged() {
            self.rank();
        }
        self.candidates.insert(0, first);
        Ok((basis, is_decided))
    }

    /// Returns the run that describes the selected policy, and why no results are claimed from it.
    pub(super) fn description(&self, basis: &Basis) -> (Option<&Run>, Option<String>) {
        let selected = &self.candidates[0];
        let why = match basis {
            Basis::BestConverged | Basis::Fairest(..) if selected.own.is_none() => {
                let why = "there was no time for a separate run";
                return (selected.longest().map(|own| &own.run), Some(why.into()));
            }
            Basis::BestConverged | Basis::Fairest(..) => {
                let short = selected.why_not_claimed();
                let why = short.map(|why| format!("the separate run was too short ({why})"));
                return (selected.measured().map(|own| &own.run), why);
            }
            Basis::StaysLeast | Basis::Guarded => "none of the policies has converged",
            Basis::Unstable => "the number of jobs grew without bound",
            Basis::Inconclusive => "no run was long enough to be conclusive",
            Basis::Analysis | Basis::Given => return (None, None),
        };
        (None, Some(why.into()))
    }

    /// Returns the best candidate that has converged, if any, after a separate run has neither
    /// refuted it nor shown that another one may keep the guarantees better.
    fn converged_best(&mut self) -> Result<Option<(usize, Basis)>, Failure> {
        loop {
            let Some(best) = self.best(|_| true) else {
                return Ok(None);
            };
            let has_own = |c: &Candidate<'_>| c.own.is_some();
            // The result of a separate run that is too short would be random. In this case, a
            // candidate that has been measured is selected, unless all of these break a guarantee.
            let is_last =
                OWN_RUN * self.trials.left() < SHORTEST && self.candidates.iter().any(has_own);
            let decides =
                |n: &usize| self.guarantee_rank(*n) <= 1.0 || self.guarantee_rank(best) > 1.0;
            let last = self.best(has_own).filter(|_| is_last).filter(decides);
            let best = last.unwrap_or(best);
            let keeps = |n: usize| self.guarantee_rank(n) <= self.guarantee_rank(best).min(1.0);
            let fairest = self.fairest(best, keeps).filter(|_| last.is_none());
            let (n, basis) = match fairest {
                Some((n, slowed)) => {
                    let name = self.candidates[best].name();
                    (n, Basis::Fairest(name, 1.0 - slowed))
                }
                None => (best, Basis::BestConverged),
            };
            let is_known = has_own(&self.candidates[n]) || is_last;
            if !is_known {
                self.measure(n)?;
            }
            // If the separate run is still missing, it was stopped.
            if is_known || !has_own(&self.candidates[n]) {
                return Ok(Some((n, basis)));
            }
        }
    }

    /// Measures a candidate under a guard in a separate run that is as long as its claims need. The
    /// length is doubled until two in a row are enough to decide whether the guarantees are kept.
    fn measure(&mut self, n: usize) -> Result<(), Failure> {
        let (trials, candidate) = (&mut self.trials, &mut self.candidates[n]);
        trials.report(format!("measuring {}", candidate.name()));
        let Some(trial) = candidate.longest() else {
            return Ok(());
        };
        let value = trial.value.map_or(1.0, |value| value.relative());
        let rarest = trial.fewest_done().map_or(DONE, |t| t.completions);
        let common = trials.common.iter();
        let of_types = common.filter_map(|i| trial.run.types[*i].mean_response);
        let worst = of_types.map(|own| own.relative() / OF_TYPE);
        let worst = worst.fold(value / PRECISION, f64::max);
        let precise = worst.powi(2) * (trials.budget / BUDGET as f64).max(1.0);
        let seen = 1.5 * DONE as f64 / rarest.max(1) as f64;
        let needed = (trial.run.events as f64 * precise.max(seen)).max(SHORTEST);
        let number = trial.run.mean_number.map_or(0.0, |number| number.mean);
        let guarded = guarded(&self.guards, trials.workload, &candidate.policy, number);
        if let Some(guarded) = guarded {
            candidate.policy = guarded;
        }
        let work = trials.work(&candidate.policy);
        let affordable = OWN_RUN * trials.left() / work;
        let planned = OWN_RUN * (trials.budget - trials.spent).max(SHORTEST) / work;
        let (mut underway, mut events) = (None, needed.min(planned).min(affordable));
        let mut told = trials.choice.promises.is_empty();
        let policy = &candidate.policy;
        while let Some(own) = trials.run(&mut underway, policy, events as u64, REPLICATIONS)? {
            let tells = own.verdict.is_sure;
            candidate.own = Some(own);
            if events >= affordable || tells && told {
                break;
            }
            (told, events) = (tells, (2.0 * events).min(affordable));
        }
        Ok(())
    }

    /// Returns the policy under which the jobs stayed for the shortest time in its longest run,
    /// with a guard, if no policy has converged. If the replications are much shorter than the
    /// largest mean size, all policies look the same, so the runs are not conclusive.
    fn best_without_convergence(&mut self) -> Result<(usize, Basis), ChoiceError> {
        self.rank();
        let workload = self.trials.workload;
        let sizes = workload.types().iter().map(|t| t.mean_size());
        let longest = sizes.fold(0.0, f64::max);
        let tells = |own: &Trial| {
            let run = &own.run;
            let lasts = LASTING * run.simulated_time > longest * run.replications.len() as f64;
            lasts && own.rough_cost.is_finite()
        };
        let proved = |c: &Candidate<'_>| c.policy.is_proved_stable(workload);
        let seen = self.first(|c| c.longest().is_some_and(tells));
        let (n, basis) = if let Some(n) = seen {
            (n, Basis::StaysLeast)
        } else if let Some(n) = self.first(proved).or(self.first(|c| !c.is_unstable())) {
            (n, Basis::Inconclusive)
        } else {
            (self.first(|_| true).unwrap_or(0), Basis::Guarded)
        };
        let selected = &self.candidates[n];
        if self.trials.choice.families.are_fixed() && selected.is_unstable() {
            return Ok((n, Basis::Unstable));
        }
        let number = selected.longest().map_or(0.0, Trial::rough_number);
        match guarded(&self.guards, workload, &selected.policy, number) {
            Some(guarded) => self.candidates[n].policy = guarded,
            None if basis == Basis::Guarded => {
                let names: Vec<&str> = self.candidates.iter().map(Candidate::name).collect();
                return Err(ChoiceError::Broken(format!(
                    "the number of jobs grew without bound under all policies of these families ({}), and there is no guard that is proved to be stable. Use --family auto, add more resources, or reduce the load",
                    names.join(", ")
                )));
            }
            None => {}
        }
        Ok((n, basis))
    }
}
