use fixedbitset::{Block, FixedBitSet};

const BITS: usize = Block::BITS as usize;

/// Returns the first type ≥ `from` in the union of sets, and sets `from` to the type after it.
#[inline]
pub(super) fn next<const N: usize>(sets: [&FixedBitSet; N], from: &mut usize) -> Option<usize> {
    let word = |w: usize| {
        let mut words = sets.iter().map(|set| set.as_slice().get(w).copied());
        words.try_fold(0, |all, own| Some(all | own?))
    };
    let mut w = *from / BITS;
    let mut left = word(w)? >> (*from % BITS) << (*from % BITS);
    while left == 0 {
        w += 1;
        left = word(w)?;
    }
    let found = BITS * w + left.trailing_zeros() as usize;
    *from = found + 1;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn next_agrees_with_a_scan() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for types in [1, 64, 65, 200] {
            let mut pair = [(); 2].map(|()| FixedBitSet::with_capacity(types));
            for step in 0..2000 {
                let i = random.random_range(0..types);
                pair[step % 2].set(i, random.random_bool(0.4));
                let from = random.random_range(0..=types);
                let [a, b] = &pair;
                let scan = |has: &dyn Fn(&usize) -> bool| (from..types).find(has);
                assert_eq!(next([a], &mut from.clone()), scan(&|i| a.contains(*i)));
                let either = scan(&|i| a.contains(*i) || b.contains(*i));
                assert_eq!(next([a, b], &mut from.clone()), either);
            }
        }
    }
}
