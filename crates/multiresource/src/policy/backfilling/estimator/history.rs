//! The last sizes of jobs that are alike.

use std::cmp::Reverse;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::promise::JobFacts;
use super::recent::Recent;

/// About so many of the last ones of a kind count.
const LAST: u32 = 3;

/// So many kinds stand in a policy file.
const IN_FILES: usize = 400;

/// So many kinds stay in memory; with twice as many, those that did not come for longest are forgotten.
const IN_MEMORY: usize = 4096;

/// One kind of jobs: its hash, and the mean of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Kind(u32, Recent);

/// Means by kind.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// By the kind's hash: the mean, and the number of the end that was its last.
    kinds: HashMap<u32, (Recent, u64)>,
    ends: u64,
}

impl History {
    /// Returns what stands in a file.
    pub(super) fn new(kinds: &[Kind]) -> Self {
        let with_ends = kinds.iter().rev().zip(0..);
        History {
            kinds: with_ends
                .map(|(Kind(hash, mean), end)| (*hash, (*mean, end)))
                .collect(),
            ends: kinds.len() as u64,
        }
    }

    /// Returns the kinds that came last, the last first.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let mut all: Vec<_> = self.kinds.iter().collect();
        all.sort_unstable_by_key(|(hash, (_, end))| (Reverse(*end), **hash));
        let last = all.into_iter().take(IN_FILES);
        last.map(|(hash, (mean, _))| Kind(*hash, *mean)).collect()
    }

    /// Returns the mean of those alike; where they are few, those that are alike in less count, too, the less the more
    /// there are.
    pub(super) fn mean(&self, promise: &JobFacts, usual: f64) -> f64 {
        kinds(promise).iter().fold(usual, |prior, hash| {
            let Some((Recent(count, mean), _)) = self.kinds.get(hash) else {
                return prior;
            };
            let count = f64::from(LAST.min(*count));
            (prior + count * mean) / (1.0 + count)
        })
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.kinds.len()
    }

    /// Takes in a job that has ended.
    pub(super) fn learn(&mut self, promise: &JobFacts, part: f64) {
        for hash in kinds(promise) {
            let (mean, end) = self.kinds.entry(hash).or_default();
            mean.learn(part, LAST);
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

/// The kinds that a job is of, from the widest to the narrowest: by limit and share, of its user, and both. Where users
/// are not known, all are one; so with limits.
fn kinds(promise: &JobFacts) -> [u32; 3] {
    let user = u64::from(promise.user);
    let (limit, share) = (promise.limit.to_bits(), promise.share.to_bits());
    let limited = u64::from(promise.limit.is_finite());
    [
        [1, 0, limit, share],
        [2, user, limited, 0],
        [3, user, limit, share],
    ]
    .map(hash)
}

/// A hash that is the same on each machine and in each version: the finalizer of SplitMix64, word by word.
fn hash(words: [u64; 4]) -> u32 {
    let mixed = words.iter().fold(0, |state: u64, word| {
        finalized((state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15))
    });
    (mixed >> 32) as u32
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub(crate) fn finalized(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
