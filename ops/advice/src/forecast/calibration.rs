//! Calibration on the past: of the forecasts whose outcome is known the right share has to have started by each quantile.

use schemars::JsonSchema;
use serde::Serialize;

/// The shares of jobs that are to start by the times that are said.
pub const LEVELS: [f64; 3] = [0.1, 0.5, 0.9];

/// Differences of so many seconds between waits say little.
const GRAIN: f64 = 60.0;

/// By how much an outcome moves each level, in logits: the more, the sooner a change is followed, and the more the times
/// jump about.
const STEPS: [f64; 3] = [0.05, 0.03, 0.05];

/// The first outcomes move it by so many times that, until…
const FIRST: f64 = 10.0;
/// …about so many times as many of them are known.
const SOON: f64 = 20.0;

/// Beyond the draws a wait grows by this logarithm a logit at least.
const LEAST: f64 = 0.05;

/// Moves the levels at which quantiles of draws are taken, by what came of forecasts before.
///
/// A quantile that was said is right or wrong as soon as the job has started or the time has passed: so no outcome is missing
/// because a job still waits. After each the level is moved by `STEPS · (level − 1{started by then})`, so over a long time
/// the share that started is the level (Gibbs, Candès, "Adaptive conformal inference under distribution shift", NeurIPS
/// 2021).
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// By quantile, in logits.
    shift: [f64; 3],
    seen: [u32; 3],
    /// Outcomes: when each is known, of which quantile, and whether the job started by then.
    open: Vec<(f64, usize, bool)>,
}

/// Times by which one, five and nine of ten such jobs start: waits from the moment on \[s\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles(pub [f64; 3]);

impl Calibration {
    /// Takes in the outcomes that are known at this time \[s\].
    pub fn look(&mut self, now: f64) {
        for (_, n, started) in self.open.extract_if(.., |own| own.0 <= now) {
            let first = FIRST / (1.0 + f64::from(self.seen[n]) / SOON);
            let off = LEVELS[n] - f64::from(u8::from(started));
            self.shift[n] += STEPS[n] * first.max(1.0) * off;
            self.seen[n] += 1;
        }
    }

    /// Returns the quantiles of these draws in ascending order, as forecasts before say that they have to be taken.
    pub fn quantiles(&self, draws: &[f64]) -> Quantiles {
        let at = |n: usize| quantile(draws, logit(LEVELS[n]) + self.shift[n]);
        let [low, middle, high] = [0, 1, 2].map(at);
        Quantiles([low.min(middle), middle, high.max(middle)])
    }

    /// What was said at this time of a job that waited for so long \[s\]: the outcomes will be known later. One who starts at
    /// the very time says nothing.
    pub fn said(&mut self, now: f64, said: Quantiles, wait: f64) {
        let outcomes = said.0.into_iter().enumerate();
        let outcomes = outcomes.filter(|(_, said)| *said != wait);
        let outcomes = outcomes.map(|(n, said)| (now + wait.min(said), n, wait < said));
        self.open.extend(outcomes);
    }
}

fn logit(level: f64) -> f64 {
    (level / (1.0 - level)).ln()
}

/// Returns the quantile of these draws in ascending order at a level in logits; beyond them as their spread goes on.
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

    /// Draws that are too sure of themselves and too early: the shares come right all the same, within 4 standard errors
    /// of as many independent jobs and the steps of the levels.
    #[test]
    fn shares_come_right_whatever_the_draws() {
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
            calibration.look(now);
            let said = calibration.quantiles(&draws);
            for (started, said) in started.iter_mut().zip(said.0) {
                *started += u32::from(wait <= said);
            }
            calibration.said(now, said, wait);
        }
        for (started, level) in started.into_iter().zip(LEVELS) {
            let error = (level * (1.0 - level) / f64::from(count)).sqrt();
            let share = f64::from(started) / f64::from(count);
            assert!((share - level).abs() < 4.0 * error, "{share} of {level}");
        }
    }

    /// An outcome is known once the job has started or the time has passed, and not before.
    #[test]
    fn an_outcome_counts_once_it_is_known() {
        let mut calibration = Calibration::default();
        let draws: Vec<f64> = (1..=60).map(|n| 10.0 * f64::from(n)).collect();
        let before = calibration.quantiles(&draws);
        calibration.said(0.0, before, 1e6);
        calibration.look(before.0[0] - 1.0);
        assert_eq!(calibration.quantiles(&draws), before);
        calibration.look(before.0[0]);
        let after = calibration.quantiles(&draws);
        assert!(after.0[0] > before.0[0]);
        assert_eq!(after.0[1..], before.0[1..]);
        calibration.look(1e5);
        assert!(calibration.quantiles(&draws).0[2] > before.0[2]);
    }

    /// Draws that are all the same and right stay what they are.
    #[test]
    fn what_is_sure_and_right_stays_exact() {
        let mut calibration = Calibration::default();
        for n in 0..100 {
            let now = 1000.0 * f64::from(n);
            calibration.look(now);
            let said = calibration.quantiles(&[77.0; 60]);
            assert_eq!(said.0, [77.0; 3]);
            calibration.said(now, said, 77.0);
        }
    }
}
