//! A set of types, as bits.

/// A set of types, gone through in type order by words of 64.
#[derive(Clone, Debug)]
pub(super) struct TypeSet {
    words: Vec<u64>,
}

impl TypeSet {
    /// None of so many types.
    pub fn none_of(types: usize) -> Self {
        TypeSet {
            words: vec![0; types.div_ceil(64)],
        }
    }

    /// Type i is inside, or it is not.
    #[inline]
    pub fn put(&mut self, i: usize, inside: bool) {
        let word = &mut self.words[i / 64];
        *word = *word & !(1 << (i % 64)) | u64::from(inside) << (i % 64);
    }

    /// Whether type i is inside.
    #[inline]
    pub fn has(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// The first type inside, from this one on.
    #[inline]
    pub fn next(&self, from: usize) -> Option<usize> {
        next(from, self.words.len(), |w| self.words[w])
    }

    /// The first type in one of the two sets, of as many types, from this one on.
    #[inline]
    pub fn next_of_either(&self, other: &TypeSet, from: usize) -> Option<usize> {
        next(from, self.words.len(), |w| self.words[w] | other.words[w])
    }

    /// The types inside, in type order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let i = self.next(from)?;
            from = i + 1;
            Some(i)
        })
    }
}

/// The first bit that is set, from this one on.
#[inline]
fn next(from: usize, words: usize, word: impl Fn(usize) -> u64) -> Option<usize> {
    let mut w = from / 64;
    if w >= words {
        return None;
    }
    let mut left = word(w) >> (from % 64) << (from % 64);
    while left == 0 {
        w += 1;
        if w == words {
            return None;
        }
        left = word(w);
    }
    Some(64 * w + left.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for types in [1, 64, 65, 200] {
            let mut pair = [(); 2].map(|()| (TypeSet::none_of(types), BTreeSet::new()));
            for step in 0..2000 {
                let (own, set) = &mut pair[step % 2];
                let i = random.random_range(0..types);
                let inside = random.random_bool(0.4);
                own.put(i, inside);
                if inside {
                    set.insert(i);
                } else {
                    set.remove(&i);
                }
                assert_eq!(own.has(i), inside);
                assert!(own.iter().eq(set.iter().copied()));
                let [(a, of_a), (b, of_b)] = &pair;
                let from = random.random_range(0..=types);
                assert_eq!(a.next(from), of_a.range(from..).next().copied());
                let either = of_a.union(of_b).copied().find(|i| *i >= from);
                assert_eq!(a.next_of_either(b, from), either);
            }
        }
    }
}
