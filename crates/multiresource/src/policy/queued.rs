use fixedbitset::FixedBitSet;

use super::capacity::ServerCapacity;

const EMPTY: u64 = u64::MAX;

const TYPE_BITS: u32 = 20;

/// With up to this many types, a branch-free scan over all of them is fastest.
const FEW: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Queued {
    /// The number of the oldest job, with the type in the low bits.
    heads: Vec<u64>,
    pub types: FixedBitSet,
    pub length: u64,
}

impl Queued {
    pub(super) fn new(types: usize) -> Self {
        Queued {
            heads: vec![EMPTY; types],
            types: FixedBitSet::with_capacity(types),
            length: 0,
        }
    }

    #[inline]
    pub(super) fn set_oldest(&mut self, i: usize, number: Option<u64>) {
        self.heads[i] = number.map_or(EMPTY, |number| number << TYPE_BITS | i as u64);
        self.types.set(i, number.is_some());
    }

    #[inline]
    pub(super) fn oldest(&self) -> Option<usize> {
        let oldest = self.heads.iter().copied().min()?;
        (oldest != EMPTY).then(|| type_of(oldest))
    }

    #[inline]
    pub(super) fn oldest_of(&self, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let accepted = self.types.ones().filter(|i| accepts(*i));
        accepted.map(|i| self.heads[i]).min().map(type_of)
    }

    #[inline]
    pub(super) fn oldest_fitting(&self, server: &ServerCapacity) -> Option<usize> {
        match self.length {
            0 => None,
            _ if self.heads.len() <= FEW => server.least_fitting(&self.heads).map(type_of),
            _ => self.oldest_of(|i| server.fits(i)),
        }
    }
}

#[inline]
fn type_of(head: u64) -> usize {
    (head & ((1 << TYPE_BITS) - 1)) as usize
}
