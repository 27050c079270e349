//! This module finds the levels between which the rate of work changes, and their durations.
//!
//! The numbers of jobs in windows of time are modeled as a hidden Markov chain with Poisson counts
//! (Zucchini, MacDonald, Hidden Markov Models for Time Series, 2009). The most likely path and the
//! parameters are estimated in turn until they do not change (Juang, Rabiner, The segmental K-means
//! algorithm, IEEE Transactions on Acoustics, Speech, and Signal Processing 38(9), 1990). A state
//! whose spells have almost the same length has several stages, because at a constant rate, it
//! would last too long too often (Ferguson, Variable duration models for speech, 1980). The factor
//! of a level is the mean *work* in its windows, relative to the largest one: bursts of short jobs
//! are detected by their number, but weighted by their work.

use itertools::Itertools as _;

use super::report::short;
use synth_core::number::Decimal;
use synth_queues::distribution::CommonModulation;

const MAX_LEVELS: usize = 4;
const MAX_STATES: usize = 20;
const MAX_STAGES: f64 = 6.0;
const MIN_SPELLS: f64 = 5.0;

/// Returns the modulation with the most levels, from the window and the work of each job, for
/// windows of this length \[s\]; `None` if no two levels have enough spells.
pub(crate) fn levels(
    jobs: impl Iterator<Item = (usize, f64)>,
    windows: usize,
    length: f64,
) -> Option<CommonModulation> {
    let mut counts = vec![0.0; windows];
    let mut works = vec![0.0; windows];
    for (window, work) in jobs.filter(|(window, _)| *window < windows) {
        counts[window] += 1.0;
        works[window] += work;
    }
    (2..=MAX_LEVELS).rev().find_map(|count| {
        let states = likeliest(&counts, count);
        let present: Vec<usize> = (0..count).filter(|s| states.contains(s)).collect();
        let place = |s: &usize| present.partition_point(|own| own < s);
        let states: Vec<usize> = states.iter().map(place).collect();
        let levels = Level::all(&states, &works, present.len()).filter(|own| own.len() > 1)?;
        Some(modulation(&levels, length))
    })
}

struct Level {
    /// The mean work in a window, and the mean length of a spell \[windows\].
    work: f64,
    mean: f64,
    stages: usize,
    /// The number of times that each level follows it (L).
    next: Vec<f64>,
}

impl Level {
    fn all(states: &[usize], works: &[f64], count: usize) -> Option<Vec<Self>> {
        let spells = states.chunk_by(|a, b| a == b);
        let spells = spells.map(|spell| (spell[0], spell.len() as f64));
        let spells: Vec<(usize, f64)> = spells.collect();
        let most = MAX_STAGES.min((MAX_STATES / count) as f64);
        let level = |state: usize| {
            // The lengths of the first and the last spell are not used, because they are truncated.
            // The last one leads to the first, so that every level is left.
            let whole = spells.get(1..spells.len().checked_sub(1)?)?;
            let lengths = || whole.iter().filter(|own| own.0 == state).map(|own| own.1);
            let number = lengths().count() as f64;
            let mean = lengths().sum::<f64>() / number;
            let variance = lengths().map(|own| (own - mean).powi(2)).sum::<f64>() / number;
            let mut next = vec![0.0; count];
            for (own, after) in spells.iter().zip(spells.iter().cycle().skip(1)) {
                next[after.0] += f64::from(u8::from(own.0 == state && after.0 != state));
            }
            let windows = || states.iter().zip(works).filter(|(own, _)| **own == state);
            (number >= MIN_SPELLS).then(|| Level {
                work: windows().map(|(_, work)| work).sum::<f64>() / windows().count() as f64,
                mean,
                stages: (mean * mean / variance).round().clamp(1.0, most) as usize,
                next,
            })
        };
        (0..count).map(level).collect()
    }
}

fn modulation(levels: &[Level], length: f64) -> CommonModulation {
    let first = |level: usize| levels[..level].iter().map(|own| own.stages).sum::<usize>();
    let states = first(levels.len());
    let most = levels.iter().map(|own| own.work).fold(0.0, f64::max);
    let mut switching = vec![vec![Decimal::ZERO; states]; states];
    for (l, own) in levels.iter().enumerate() {
        let rate = own.stages as f64 / (own.mean * length);
        let last = first(l) + own.stages - 1;
        (first(l)..last).for_each(|state| switching[state][state + 1] = short(rate));
        let left: f64 = own.next.iter().sum();
        for after in (0..levels.len()).filter(|after| own.next[*after] > 0.0) {
            switching[last][first(after)] = short(rate * own.next[after] / left);
        }
    }
    let of = |own: &Level| vec![short(own.work / most); own.stages];
    let factors = levels.iter().flat_map(of);
    CommonModulation {
        factors: factors.collect(),
        switching,
    }
}

fn likeliest(counts: &[f64], states: usize) -> Vec<usize> {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let mut sorted = counts.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let high = sorted[sorted.len() - 1 - sorted.len() / 1000].max(2.0 * mean);
    let low = 0.01 * mean;
    // A state is its mean count, and the logarithms of the probabilities to stay and to leave.
    let other = (states - 1) as f64;
    let first = |state: usize| low * (high / low).powf(state as f64 / other);
    let state = |mean: f64, leaves: f64| [mean, (1.0 - leaves).ln(), (leaves / other).ln()];
    let mut chain: Vec<[f64; 3]> = (0..states).map(|s| state(first(s), 0.1)).collect();
    let mut found = Vec::new();
    for _ in 0..20 {
        let path = path(counts, &chain);
        if path == found {
            break;
        }
        found = path;
        for (s, own) in chain.iter_mut().enumerate() {
            let windows = found.iter().filter(|other| **other == s).count() as f64;
            let pairs = found.iter().zip(counts).filter(|(other, _)| **other == s);
            let sum: f64 = pairs.map(|(_, count)| count).sum();
            let is_left = |pair: &&[usize]| pair[0] == s && pair[1] != s;
            let left = found.windows(2).filter(is_left).count() as f64;
            if windows > 0.0 {
                let mean = (sum / windows).max(0.01 * low);
                *own = state(mean, (left + 0.5) / (windows + 1.0));
            }
        }
    }
    found
}

/// Returns the most likely path through these states (Viterbi).
fn path(counts: &[f64], chain: &[[f64; 3]]) -> Vec<usize> {
    let best = |values: &[f64]| {
        let largest = values.iter().position_max_by(|a, b| a.total_cmp(b));
        largest.unwrap_or(0)
    };
    let mut value = vec![0.0; chain.len()];
    let mut from = Vec::with_capacity(counts.len());
    for count in counts {
        let gone: Vec<f64> = value.iter().zip(chain).map(|(v, own)| v + own[2]).collect();
        let other = best(&gone);
        let stays = |s: usize| value[s] + chain[s][1] >= gone[other];
        let stays: Vec<bool> = (0..chain.len()).map(stays).collect();
        for (s, [mean, stay, _]) in chain.iter().enumerate() {
            let stayed = value[s] + stay;
            let before = if stays[s] { stayed } else { gone[other] };
            value[s] = before + count * mean.ln() - mean;
        }
        from.push((stays, other));
    }
    let mut state = best(&value);
    let mut path = vec![state; counts.len()];
    for (place, (stays, other)) in path.iter_mut().zip(from).rev() {
        *place = state;
        state = if stays[state] { state } else { other };
    }
    path
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn finds_levels_with_their_rates_and_spell_lengths() {
        let mut jobs = Vec::new();
        for window in 0..96 * 40 {
            let rate = match window % 96 {
                0..40 => 1,
                60..68 => 40,
                _ => 5,
            };
            jobs.extend((0..rate).map(|_| (window, 2.0)));
        }
        let found = levels(jobs.into_iter(), 96 * 40, 10.0).unwrap();
        let factors: Vec<f64> = found.factors.iter().map(|f| f.value()).collect();
        let mut distinct = factors.clone();
        distinct.dedup();
        for (factor, expected) in distinct.iter().zip([0.025, 0.125, 1.0]) {
            assert!((factor - expected).abs() < 0.01, "{distinct:?}");
        }
        let stages = factors.iter().filter(|f| **f == 1.0).count();
        assert_eq!((distinct.len(), stages), (3, 6));
        let busy = factors.iter().position(|f| *f == 1.0).unwrap();
        let left = found.switching[busy][busy + 1].value();
        assert!((left - 6.0 / 80.0).abs() < 0.002, "{left}");
    }

    #[test]
    fn finds_no_levels_at_a_constant_rate() {
        let jobs = (0..4000).map(|n| (n / 4, 1.0));
        assert_eq!(levels(jobs, 1000, 1.0), None);
    }
}
