//! Sets of servers.

/// A set of servers 0 … N − 1, a bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    /// Returns the set of none of so many servers.
    pub fn none(servers: usize) -> Self {
        Set(vec![0; servers.div_ceil(64)])
    }

    /// Returns the set of all of so many servers.
    pub fn all(servers: usize) -> Self {
        Set::of(servers, 0..servers)
    }

    /// Returns the set of these, of so many servers.
    pub fn of(servers: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Set::none(servers);
        members.into_iter().for_each(|n| set.add(n));
        set
    }

    /// Takes one in.
    pub fn add(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    /// Whether one is in.
    pub fn has(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 == 1
    }

    /// How many are in.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Keeps those that are in the other, too.
    pub fn keep(&mut self, other: &Set) {
        let pairs = self.0.iter_mut().zip(&other.0);
        pairs.for_each(|(own, other)| *own &= other);
    }

    /// Takes out those that are in the other.
    pub fn remove(&mut self, other: &Set) {
        let pairs = self.0.iter_mut().zip(&other.0);
        pairs.for_each(|(own, other)| *own &= !other);
    }

    /// Whether those that are in both this one and the mask are all in the other.
    pub fn is_within(&self, mask: &Set, other: &Set) -> bool {
        let mut words = self.0.iter().zip(&mask.0).zip(&other.0);
        words.all(|((own, mask), other)| own & mask & !other == 0)
    }

    /// Those that are in, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (bit < 64).then(|| {
                    left &= left - 1;
                    64 * at + bit
                })
            })
        })
    }
}
