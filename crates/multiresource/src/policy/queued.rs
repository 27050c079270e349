//! The oldest waiting jobs of the types.

use fixedbitset::FixedBitSet;

use super::room::Room;

/// The key of a type without waiting jobs.
const EMPTY: u64 = u64::MAX;

/// Bits of a type in a key.
const TYPE_BITS: u32 = 20;

/// So few types are gone through all, without a branch for each.
const FEW: usize = 16;

/// The oldest waiting job of each type.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    /// By type: a key, the number of its oldest waiting job and in the low bits the type itself, so
    /// that the least key gives both.
    heads: Vec<u64>,
    /// Types of which jobs wait.
    pub types: FixedBitSet,
    /// Waiting jobs of all types.
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

    /// This number is now the oldest of those that wait of type i.
    #[inline]
    pub(super) fn set_oldest(&mut self, i: usize, number: Option<u64>) {
        self.heads[i] = number.map_or(EMPTY, |number| number << TYPE_BITS | i as u64);
        self.types.set(i, number.is_some());
    }

    /// The type with the oldest waiting job.
    #[inline]
    pub(super) fn oldest(&self) -> Option<usize> {
        let oldest = self.heads.iter().copied().min()?;
        (oldest != EMPTY).then(|| type_of(oldest))
    }

    /// The type with the oldest waiting job of those that are accepted.
    #[inline]
    pub(super) fn oldest_of(&self, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let accepted = self.types.ones().filter(|i| accepts(*i));
        accepted.map(|i| self.heads[i]).min().map(type_of)
    }

    /// The type with the oldest waiting job of those that fit.
    #[inline]
    pub(super) fn oldest_fitting(&self, room: &Room) -> Option<usize> {
        match self.length {
            0 => None,
            _ if self.heads.len() <= FEW => room.least_fitting(&self.heads).map(type_of),
            _ => self.oldest_of(|i| room.fits(i)),
        }
    }
}

#[inline]
fn type_of(head: u64) -> usize {
    (head & ((1 << TYPE_BITS) - 1)) as usize
}
