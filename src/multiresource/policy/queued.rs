use super::room::Room;

/// The key of a type without waiting jobs.
const EMPTY: u64 = u64::MAX;

/// Bits of a type in a key.
const TYPE_BITS: u32 = 20;

/// The oldest waiting job of each type.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    /// By type: a key, the number of its oldest waiting job and in the low bits the type itself, so
    /// that the least key gives both.
    heads: Vec<u64>,
    /// Waiting jobs of all types.
    pub length: u64,
}

impl Queued {
    pub fn new(types: usize) -> Self {
        Queued {
            heads: vec![EMPTY; types],
            length: 0,
        }
    }

    /// This number is now the oldest of those that wait of type i.
    #[inline]
    pub fn set_oldest(&mut self, i: usize, number: Option<u64>) {
        self.heads[i] = number.map_or(EMPTY, |number| number << TYPE_BITS | i as u64);
    }

    /// In type order.
    pub fn types(&self) -> impl Iterator<Item = usize> + '_ {
        let heads = self.heads.iter().enumerate();
        heads.filter(|(_, head)| **head != EMPTY).map(|(i, _)| i)
    }

    /// The type with the oldest waiting job.
    #[inline]
    pub fn oldest(&self) -> Option<usize> {
        let oldest = self.heads.iter().copied().min()?;
        (oldest != EMPTY).then(|| type_of(oldest))
    }

    /// The type with the oldest waiting job of those that are wanted.
    #[inline]
    pub fn oldest_of(&self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let heads = self.heads.iter().enumerate();
        let wanted = heads.filter(|(i, head)| **head != EMPTY && wanted(*i));
        wanted.map(|(_, head)| *head).min().map(type_of)
    }

    /// The type with the oldest waiting job of those that fit.
    #[inline]
    pub fn oldest_fitting(&self, room: &Room) -> Option<usize> {
        match self.length {
            0 => None,
            _ => room.least_fitting(&self.heads).map(type_of),
        }
    }
}

#[inline]
fn type_of(head: u64) -> usize {
    (head & ((1 << TYPE_BITS) - 1)) as usize
}
