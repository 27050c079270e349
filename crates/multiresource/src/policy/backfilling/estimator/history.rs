use std::cmp::Reverse;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JobFacts, RecentMean};

/// The effective number of recent jobs that determine the mean of a kind.
const LAST: u32 = 3;

const IN_FILES: usize = 400;

/// The number of kinds in memory. At twice this number, the least recent ones are removed.
const IN_MEMORY: usize = 4096;

/// A kind of similar jobs: its hash, and the mean of the size fractions of its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Kind(u32, RecentMean);

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    kinds: HashMap<u32, (RecentMean, u64)>,
    ends: u64,
}

impl History {
    pub(super) fn new(kinds: &[Kind]) -> Self {
        let with_ends = kinds.iter().rev().zip(0..);
        let known = with_ends.map(|(Kind(hash, mean), end)| (*hash, (*mean, end)));
        History {
            kinds: known.collect(),
            ends: kinds.len() as u64,
        }
    }

    pub(super) fn kinds(&self) -> Vec<Kind> {
        let mut all: Vec<_> = self.kinds.iter().collect();
        all.sort_unstable_by_key(|(hash, (_, end))| (Reverse(*end), **hash));
        let last = all.into_iter().take(IN_FILES);
        last.map(|(hash, (mean, _))| Kind(*hash, *mean)).collect()
    }

    /// Returns the mean of similar jobs, mixed with wider kinds and `usual` if there are few.
    pub(super) fn mean(&self, facts: &JobFacts, usual: f64) -> f64 {
        kinds(facts).iter().fold(usual, |prior, hash| {
            let Some((RecentMean(count, mean), _)) = self.kinds.get(hash) else {
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

    pub(super) fn learn(&mut self, facts: &JobFacts, part: f64) {
        for hash in kinds(facts) {
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

/// Returns the kinds of a job, from the widest to the narrowest: the same limit and share, the same
/// user, and all of these. Unknown users count as one user, and missing limits as one limit.
fn kinds(facts: &JobFacts) -> [u32; 3] {
    let user = u64::from(facts.user);
    let (limit, share) = (facts.limit.to_bits(), facts.share.to_bits());
    let limited = u64::from(facts.limit.is_finite());
    [
        [1, 0, limit, share],
        [2, user, limited, 0],
        [3, user, limit, share],
    ]
    .map(hash)
}

/// Computes a hash with SplitMix64. It is the same on all machines and in all versions.
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
