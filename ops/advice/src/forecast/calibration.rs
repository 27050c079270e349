use schemars::JsonSchema;
use serde::Serialize;

/// The probabilities of the quantiles: the fraction of jobs that start before the forecast time.
pub const LEVELS: [f64; 3] = [0.1, 0.5, 0.9];

/// The number of seconds that is added to a wait before the logarithm is computed.
const GRAIN: f64 = 60.0;

/// The step size of each level. A larger step is faster, but there is more noise.
const STEPS: [f64; 3] = [0.05, 0.03, 0.05];

/// The factor by which the step size is multiplied for the first outcomes.
const FIRST: f64 = 10.0;
/// The number of outcomes after which this factor is halved. It is never less than 1.
const SOON: f64 = 20.0;

/// The medians of the draws in seconds that separate the groups of forecasts. If jobs seem to start
/// at once, errors have other reasons, such as limits that are not known.
const GROUPS: [f64; 2] = [600.0, 7200.0];

/// The maximum wait in seconds.
pub(super) const HORIZON: f64 = 60.0 * 86_400.0;

/// The shifts of the quantiles of the draws, which depend on the outcomes of previous forecasts.
///
/// The outcome is known when the job has started or when the forecast time has passed, whichever
/// comes first, so no outcome is missing because a job still waits. Each outcome changes the
/// logarithm of the quantile by `STEPS · (level − 1{started by then})`, so the fraction of jobs that
/// have started converges to the level (Gibbs, Candès, "Adaptive conformal inference under
/// distribution shift", NeurIPS 2021).
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    groups: [Group; GROUPS.len() + 1],
    open: Vec<Outcome>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// The shift of the logarithm of each quantile.
    shift: [f64; 3],
    seen: [u32; 3],
}

/// When an outcome is known, its group and quantile, and whether the job has started by then.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    known: f64,
    group: usize,
    n: usize,
    started: bool,
}

/// The 10 %, 50 % and 90 % quantiles of the time until the job starts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles(pub [f64; 3]);

impl Calibration {
    /// Updates the shifts using all outcomes that are known at the given time in seconds.
    pub fn learn(&mut self, now: f64) {
        for own in self.open.extract_if(.., |own| own.known <= now) {
            let (group, n) = (&mut self.groups[own.group], own.n);
            let first = FIRST / (1.0 + f64::from(group.seen[n]) / SOON);
            let off = LEVELS[n] - f64::from(u8::from(own.started));
            group.shift[n] += STEPS[n] * first.max(1.0) * off;
            group.seen[n] += 1;
        }
    }

    /// Returns the calibrated quantiles of a list of draws, which must be sorted.
    pub fn quantiles(&self, draws: &[f64]) -> Quantiles {
        let shift = self.groups[group(draws)].shift;
        let at = |n: usize| {
            let shifted = (quantile(draws, LEVELS[n]) + GRAIN) * shift[n].exp() - GRAIN;
            shifted.clamp(0.0, HORIZON)
        };
        let [low, middle, high] = [0, 1, 2].map(at);
        Quantiles([low.min(middle), middle, high.max(middle)])
    }

    /// Records a forecast at `now` that was made from these draws, for a job with the given `wait`
    /// in seconds. Ties are ignored.
    pub fn record(&mut self, now: f64, draws: &[f64], said: Quantiles, wait: f64) {
        let outcomes = said.0.into_iter().enumerate();
        let outcomes = outcomes.filter(|(_, said)| *said != wait);
        let outcomes = outcomes.map(|(n, said)| Outcome {
            known: now + wait.min(said),
            group: group(draws),
            n,
            started: wait < said,
        });
        self.open.extend(outcomes);
    }
}

fn group(draws: &[f64]) -> usize {
    let median = quantile(draws, 0.5);
    GROUPS.partition_point(|own| *own <= median)
}

fn quantile(draws: &[f64], level: f64) -> f64 {
    let last = draws.len() - 1;
    let place = (level * draws.len() as f64 - 0.5).clamp(0.0, last as f64);
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    draws[below] + place.fract() * (draws[above] - draws[below])
}

#[cfg(test)]
mod tests {
    use super::*;
    use synth_simulation::Streams;

    #[test]
    fn corrects_biased_and_overconfident_draws() {
        let (mut random, mut calibration) = (Streams::new(3, 0).sizes, Calibration::default());
        let (count, mut started) = (4000, [0; 3]);
        for n in 0..count {
            let now = 50.0 * f64::from(n);
            let usual = 1000.0 * (0.5 * random.normal()).exp();
            let mut draws: Vec<f64> = (0..60)
                .map(|_| usual * (0.5 * random.normal()).exp())
                .collect();
            draws.sort_unstable_by(f64::total_cmp);
            let wait = 1.2 * usual * (0.7 * random.normal()).exp();
            calibration.learn(now);
            let said = calibration.quantiles(&draws);
            for (started, said) in started.iter_mut().zip(said.0) {
                *started += u32::from(wait <= said);
            }
            calibration.record(now, &draws, said, wait);
        }
        for (started, level) in started.into_iter().zip(LEVELS) {
            let error = (level * (1.0 - level) / f64::from(count)).sqrt();
            let share = f64::from(started) / f64::from(count);
            assert!((share - level).abs() < 4.0 * error, "{share} of {level}");
        }
    }

    #[test]
    fn learns_from_outcomes_only_once_they_are_known() {
        let mut calibration = Calibration::default();
        let draws: Vec<f64> = (1..=60).map(|n| 10.0 * f64::from(n)).collect();
        let before = calibration.quantiles(&draws);
        calibration.record(0.0, &draws, before, 1e6);
        calibration.learn(before.0[0] - 1.0);
        assert_eq!(calibration.quantiles(&draws), before);
        calibration.learn(before.0[0]);
        let after = calibration.quantiles(&draws);
        assert!(after.0[0] > before.0[0]);
        assert_eq!(after.0[1..], before.0[1..]);
        calibration.learn(1e5);
        assert!(calibration.quantiles(&draws).0[2] > before.0[2]);
    }

    #[test]
    fn keeps_exact_forecasts() {
        let mut calibration = Calibration::default();
        for n in 0..100 {
            let now = 1000.0 * f64::from(n);
            calibration.learn(now);
            let said = calibration.quantiles(&[77.0; 60]);
            assert_eq!(said.0, [77.0; 3]);
            calibration.record(now, &[77.0; 60], said, 77.0);
        }
    }
}
