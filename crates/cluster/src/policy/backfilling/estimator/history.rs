//! The last sizes of jobs that are alike.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Promise;

/// So many sizes are kept of each kind.
const LAST: usize = 3;

/// So many kinds stand in a policy file.
const IN_FILES: usize = 400;

/// So many kinds are kept in memory; with twice as many those that did not come for longest are forgotten.
const IN_MEMORY: usize = 4096;

/// What is expected without a history counts as so many jobs.
const PRIOR: f64 = 1.0;

/// The last sizes of one kind of jobs: its hash, and logarithms, the most recent last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remembered(u32, Vec<f64>);

/// Last sizes by kind, as logarithms.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// By the kind's hash: the last sizes, the most recent last, and which end was the last.
    kinds: HashMap<u32, (Vec<f64>, u64)>,
    ends: u64,
}

impl History {
    /// Returns a history of what stands in a file.
    pub fn new(remembered: &[Remembered]) -> Self {
        let mut history = History::default();
        for Remembered(kind, sizes) in remembered.iter().rev() {
            let last = sizes.len().saturating_sub(LAST);
            let end = history.ends;
            history.kinds.insert(*kind, (sizes[last..].to_vec(), end));
            history.ends += 1;
        }
        history
    }

    /// Returns the kinds that came most recently, the last first.
    pub fn remembered(&self) -> Vec<Remembered> {
        let mut all: Vec<_> = self.kinds.iter().collect();
        all.sort_unstable_by_key(|(kind, (_, end))| (std::cmp::Reverse(*end), **kind));
        let first = all.into_iter().take(IN_FILES);
        first
            .map(|(kind, (sizes, _))| Remembered(*kind, sizes.clone()))
            .collect()
    }

    /// Returns the mean of those alike: where few are alike in all, those that are alike in less count, too.
    pub fn mean(&self, promise: &Promise, usual: f64) -> f64 {
        kinds(promise).iter().fold(usual, |mean, kind| {
            let Some((sizes, _)) = self.kinds.get(kind) else {
                return mean;
            };
            let sum: f64 = sizes.iter().sum();
            (PRIOR * mean + sum) / (PRIOR + sizes.len() as f64)
        })
    }

    /// Takes in a job that has ended.
    pub fn learn(&mut self, promise: &Promise, ln: f64) {
        for kind in kinds(promise) {
            let (sizes, end) = self.kinds.entry(kind).or_default();
            if sizes.len() == LAST {
                sizes.remove(0);
            }
            sizes.push(ln);
            *end = self.ends;
        }
        self.ends += 1;
        if self.kinds.len() > 2 * IN_MEMORY {
            let mut ends: Vec<u64> = self.kinds.values().map(|(_, end)| *end).collect();
            ends.sort_unstable();
            let from = ends[ends.len() - IN_MEMORY];
            self.kinds.retain(|_, (_, end)| *end >= from);
        }
    }
}

/// The kinds that a job is of, from the widest to the narrowest.
fn kinds(promise: &Promise) -> Vec<u32> {
    let Promise {
        user, limit, share, ..
    } = promise;
    let (limit, share) = (limit.to_bits(), share.to_bits());
    let user = u64::from(*user);
    let all = if user == 0 {
        [[1, 0, share, 0], [2, 0, share, limit], [0; 4]]
    } else if promise.limit.is_finite() {
        [
            [3, user, 1, 0],
            [4, user, 0, limit],
            [5, user, share, limit],
        ]
    } else {
        [[3, user, 0, 0], [5, user, share, limit], [0; 4]]
    };
    let named = all.iter().filter(|kind| kind[0] > 0);
    named.map(|kind| hash(kind)).collect()
}

/// A hash that stays the same: FNV-1a by words, with the finalizer of SplitMix64.
fn hash(words: &[u64]) -> u32 {
    let mixed = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
        (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    });
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
}
