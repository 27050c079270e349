use super::claimed::{least, reaching};
use super::ladder::Selection;
use super::options::{Basis, Unkept};
use super::trials::{REPLICATIONS, Trial};
use crate::synthesis::log::{CandidateLog, ChoiceLog, LoggedMean, Steadiness};
use synth_multiresource::simulator::{Estimate, paired_ratio};

impl From<Estimate> for LoggedMean {
    fn from(estimate: Estimate) -> Self {
        LoggedMean {
            mean: estimate.mean,
            half_width: estimate.half_width,
        }
    }
}

impl Selection<'_> {
    pub(super) fn record(&self, basis: &Basis, decided: bool) -> ChoiceLog {
        let all = 0..self.candidates.len();
        let mut candidates: Vec<CandidateLog> = all.map(|n| self.recorded(basis, n)).collect();
        let first = candidates[0].value;
        // The order of the candidates may be from longer runs than the values that are shown.
        let value = |c: &CandidateLog| {
            let of_first = first.map_or(1.0, |value| value.mean);
            let least = c.at_least.map(|times| times * of_first);
            let value = c.value.map(|value| value.mean).or(least);
            value.unwrap_or(f64::INFINITY)
        };
        candidates[1..].sort_by(|a, b| value(a).total_cmp(&value(b)));
        let choice = self.trials.choice;
        ChoiceLog {
            objective: self.trials.objective,
            promises: choice.promises.clone(),
            seed: choice.seed,
            replications: REPLICATIONS,
            budget: choice.budget,
            events: self.trials.events,
            decided,
            candidates,
        }
    }

    fn recorded(&self, basis: &Basis, n: usize) -> CandidateLog {
        let (own, objective) = (&self.candidates[n], self.trials.objective);
        let outcome = match n {
            0 if !basis.has_converged() => Steadiness::Unsettled,
            _ => own.outcome(self.trials.workload, self.is_far(0, n)),
        };
        let steady = outcome == Steadiness::Steady;
        let run = own.measured().filter(|_| steady);
        let least = least(objective, self.trials.workload);
        let value = |run: &Trial| Some(reaching(run.value?, least));
        let of_first = self.candidates[0].measured().and_then(value);
        let is_bound = !self.trials.choice.promises.is_empty();
        let at_least = self.at_least(0, n).filter(|_| steady);
        let compared = self.converged_runs(n, 0).filter(|_| steady);
        let slowdowns = compared.and_then(|(own, _)| own.slowdowns());
        let ratio = |objective| {
            let is_known = n > 0 && at_least.is_none();
            let (own, first) = compared.filter(|_| is_known)?;
            own.ratio(objective, first)
        };
        CandidateLog {
            name: own.name().into(),
            knobs: own.policy.describe_parameters(self.trials.workload),
            tried: own.tried,
            outcome,
            value: match of_first.zip(ratio(objective)) {
                Some((first, ratio)) => Some(product(&first, &ratio)),
                None if at_least.is_some() => None,
                None => run.and_then(value).map(Into::into),
            },
            at_least,
            waits: match (n, ratio(objective)) {
                (1.., None) => Vec::new(),
                _ => self.waits(n),
            },
            ratio: ratio(objective).map(Into::into),
            other_ratio: ratio(objective.other()).map(Into::into),
            slowdown_ratio: slowdowns.map(|[least, most]| most / least),
            kept: run.filter(|_| is_bound).map(|run| run.verdict.place <= 1.0),
        }
    }

    /// Returns the mean wait of each type under a candidate; empty if one is unknown.
    fn waits(&self, n: usize) -> Vec<LoggedMean> {
        let of_first = self.candidates[0].measured();
        let types = of_first.map_or(&[][..], |first| &first.run.types);
        let compared = self.converged_runs(n, 0).filter(|_| n > 0);
        let each = types.iter().enumerate().map(|(i, of_first)| {
            let ratio = compared.and_then(|(own, first)| {
                let [a, b] = [own, first].map(|own| &*own.run.types[i].waiting_replications);
                paired_ratio(a, b)
            });
            match (ratio, compared) {
                (Some(ratio), _) => Some(product(&of_first.mean_waiting?, &ratio)),
                (None, Some((own, _))) => own.run.types[i].mean_waiting.map(Into::into),
                (None, None) => of_first.mean_waiting.map(Into::into),
            }
        });
        each.collect::<Option<_>>().unwrap_or_default()
    }

    /// Describes how the selected policy breaks the guarantees; `None` if it was seen to keep them.
    pub(super) fn unkept(&self) -> Option<Unkept> {
        let (selected, promises) = (&self.candidates[0], &self.trials.choice.promises);
        let trial = selected.measured();
        if promises.is_empty() || trial.is_some_and(|trial| trial.verdict.place <= 1.0) {
            return None;
        }
        let unit = self.trials.workload.time_unit();
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        let nearest = |trial: &Trial| {
            let lines = promises.iter().zip(&trial.verdict.seen);
            let lines = lines.map(|(promise, seen)| {
                let seen = seen.map(|place| &trial.run.watched[place]);
                let kept = match seen.and_then(|w| Some((percent(1.0 - w.rough?), w.above))) {
                    Some((_, Some(above))) => {
                        let (kept, error) = (percent(1.0 - above.mean), percent(above.half_width));
                        format!("{kept} ± {error} % of them do")
                    }
                    Some((rough, None)) => format!("{rough} % of them do, but the runs are short"),
                    None => "this is not known because the runs were too short".into(),
                };
                format!("{}: {kept}", promise.describe(unit))
            });
            format!(
                "no policy was found that keeps --slo. The closest one is {}:\n  {}\nNo policy file has been written. Use a weaker target, reduce the load, add more resources (use `synth size` to find the number), or increase --work, which is {:.0e}",
                selected.name(),
                lines.collect::<Vec<String>>().join("\n  "),
                self.trials.budget
            )
        };
        let unknown = "all runs were too short to decide whether --slo is kept, so no policy file has been written. Increase --work or --time";
        let shares = self.candidates.iter().filter_map(|own| {
            let trial = own.measured()?;
            let watched = trial.verdict.seen.iter().map(|seen| {
                let above = trial.run.watched[(*seen)?].above?;
                Some(Estimate {
                    mean: 1.0 - above.mean,
                    ..above
                })
            });
            Some((own.name().into(), watched.collect()))
        });
        Some(Unkept {
            shares: shares.collect(),
            why: trial.map_or_else(|| unknown.into(), nearest),
            policy: selected.name(),
            surely: trial.is_some_and(|trial| trial.verdict.surely_breaks),
            run: trial.map(|trial| trial.run.clone()),
        })
    }
}

/// Multiplies two values, because the values of separate runs could contradict the ratios.
fn product(first: &Estimate, ratio: &Estimate) -> LoggedMean {
    let (own, of_ratio) = (ratio.mean * first.half_width, first.mean * ratio.half_width);
    LoggedMean {
        mean: ratio.mean * first.mean,
        half_width: own.hypot(of_ratio),
    }
}
