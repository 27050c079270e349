use schemars::JsonSchema;
use serde::Serialize;

/// The probabilities of the quantiles: the fraction of jobs that start before the forecast time.
pub const LEVELS: [f64; 3] = [0.1, 0.5, 0.9];

/// The number of seconds that is added to a wait before the logarithm is computed.
const GRAIN: f64 = 60.0;

/// The step size of each level in logits. A larger step is faster, but there is more noise.
const STEPS: [f64; 3] = [0.05, 0.03, 0.05];

/// The factor by which the step size is multiplied for the first outcomes.
const FIRST: f64 = 10.0;
/// The number of outcomes after which this factor is halved. It is never less than 1.
const SOON: f64 = 20.0;

/// The minimum increase of the logarithm of the wait for each logit that is beyond the draws.
const LEAST: f64 = 0.05;

/// The levels that are used to compute the quantiles of the draws, which depend on the outcomes of
/// previous forecasts.
///
/// The outcome is known when the job has started or when the forecast time has passed, whichever
/// comes first, so no outcome is missing because a job still waits. Each outcome changes the level
/// by `STEPS · (level − 1{started by then})`, so the fraction of jobs that have started converges
/// to the level (Gibbs, Candès, "Adaptive conformal inference under distribution shift", NeurIPS
/// 2021).
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The shift of each quantile in logits.
    shift: [f64; 3],
    seen: [u32; 3],
    /// For each outcome, when it is known, the quantile, and whether the job has started by then.
    open: Vec<(f64, usize, bool)>,
}

/// The 10 %, 50 % and 90 % quantiles of the time until the job starts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles(pub [f64; 3]);

impl Calibration {
    /// Updates the levels using all outcomes that are known at the given time in seconds.
    pub fn learn(&mut self, now: f64) {
        for (_, n, started) in self.open.extract_if(.., |own| own.0 <= now) {
            let first = FIRST / (1.0 + f64::from(self.seen[n]) / SOON);
            let off = LEVELS[n] - f64::from(u8::from(started));
            self.shift[n] += STEPS[n] * first.max(1.0) * off;
            self.seen[n] += 1;
        }
    }

    /// Returns the calibrated quantiles of a list of draws, which must be sorted.
    pub fn quantiles(&self, draws: &[f64]) -> Quantiles {
        let at = |n: usize| quantile(draws, logit(LEVELS[n]) + self.shift[n]);
        let [low, middle, high] = [0, 1, 2].map(at);
        Quantiles([low.min(middle), middle, high.max(middle)])
    }

    /// Records a forecast at `now` for a job with the given `wait` in seconds. Ties are ignored.
    pub fn record(&mut self, now: f64, said: Quantiles, wait: f64) {
        let outcomes = said.0.into_iter().enumerate();
        let outcomes = outcomes.filter(|(_, said)| *said != wait);
        let outcomes = outcomes.map(|(n, said)| (now + wait.min(said), n, wait < said));
        self.open.extend(outcomes);
    }
}

fn logit(level: f64) -> f64 {
    (level / (1.0 - level)).ln()
}

/// Returns the quantile of sorted draws. If the level is beyond the draws, it is extrapolated.
fn quantile(draws: &[f64], logits: f64) -> f64 {
    let count = draws.len() as f64;
    let level = 1.0 / (1.0 + (-logits).exp());
    let place = level * count - 0.5;
    let within = |place: f64| {
        let place = place.clamp(0.0, count - 1.0);
        let below = place.floor() as usize;
        let above = (below + 1).min(draws.len() - 1);
        draws[below] + (place - place.floor()) * (draws[above] - draws[below])
    };
    let log = |level: f64| (within(level * count - 0.5) + GRAIN).ln();
    let beyond = |edge: f64, [from, to]: [f64; 2]| {
        let slope = ((log(to) - log(from)) / logit(0.9)).max(LEAST);
        let edge = logits - logit((edge + 0.5) / count);
        ((within(place) + GRAIN) * (slope * edge).exp() - GRAIN).max(0.0)
    };
    match place {
        _ if place > count - 1.0 => beyond(count - 1.0, [0.5, 0.9]),
        _ if place < 0.0 => beyond(0.0, [0.1, 0.5]),
        _ => within(place),
    }
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
            calibration.record(now, said, wait);
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
        calibration.record(0.0, before, 1e6);
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
            calibration.record(now, said, 77.0);
        }
    }
}
