#[derive(Clone, Debug)]
pub(in crate::policy) struct Open {
    /// A bit per server, then a bit per nonzero word of the level below, up to a single word.
    levels: Vec<Vec<u64>>,
    pub len: usize,
}

impl Open {
    pub(crate) fn none_of(servers: usize) -> Self {
        let mut levels = vec![vec![0; servers.div_ceil(64)]];
        while let Some(below) = levels.last().map(Vec::len).filter(|words| *words > 1) {
            levels.push(vec![0; below.div_ceil(64)]);
        }
        Open { levels, len: 0 }
    }

    #[inline]
    pub(crate) fn insert(&mut self, mut n: usize) {
        self.len += 1;
        for level in &mut self.levels {
            let word = &mut level[n / 64];
            let was_empty = *word == 0;
            *word |= 1 << (n % 64);
            if !was_empty {
                return;
            }
            n /= 64;
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, mut n: usize) {
        self.len -= 1;
        for level in &mut self.levels {
            let word = &mut level[n / 64];
            *word &= !(1 << (n % 64));
            if *word != 0 {
                return;
            }
            n /= 64;
        }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<usize> {
        let mut n = 0;
        for level in self.levels.iter().rev() {
            let word = level.get(n)?;
            if *word == 0 {
                return None;
            }
            n = 64 * n + word.trailing_zeros() as usize;
        }
        Some(n)
    }

    pub(crate) fn any_common(&self, other: &Open, is_last: &mut impl FnMut(usize) -> bool) -> bool {
        self.any_below(other, self.levels.len() - 1, 0, is_last)
    }

    fn any_below(
        &self,
        other: &Open,
        level: usize,
        word: usize,
        is_last: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        let both = self.levels[level][word] & other.levels[level][word];
        bits(both).any(|bit| match level {
            0 => is_last(64 * word + bit),
            _ => self.any_below(other, level - 1, 64 * word + bit, is_last),
        })
    }
}

#[derive(Clone, Debug)]
pub(in crate::policy) struct Openings {
    types: usize,
    may: Vec<u64>,
    pub open: Vec<Open>,
}

impl Openings {
    pub(crate) fn none_of(types: usize, servers: usize) -> Self {
        Openings {
            types,
            may: vec![0; servers * types.div_ceil(64)],
            open: vec![Open::none_of(servers); types],
        }
    }

    pub(crate) fn on(&self, n: usize) -> &[u64] {
        let words = self.types.div_ceil(64);
        &self.may[n * words..][..words]
    }

    #[inline]
    pub(crate) fn look(&mut self, n: usize, may_start: impl Fn(usize) -> bool) {
        let words = self.types.div_ceil(64);
        for (w, may) in self.may[n * words..][..words].iter_mut().enumerate() {
            let first = 64 * w;
            let types = first..self.types.min(first + 64);
            let now = types.fold(0, |now, i| now | u64::from(may_start(i)) << (i - first));
            for i in bits(now ^ std::mem::replace(may, now)) {
                match now >> i & 1 {
                    1 => self.open[first + i].insert(n),
                    _ => self.open[first + i].remove(n),
                }
            }
        }
    }
}

/// The servers by the level of their free capacity, and the levels in which each type fits.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    of: Vec<u8>,
    servers: Vec<Open>,
    /// Types × levels.
    fitting: Vec<u32>,
    any: Vec<[u64; 2]>,
}

impl Levels {
    pub(super) const COUNT: usize = 128;

    pub(super) fn new(types: usize, servers: usize) -> Self {
        let mut levels = Levels {
            of: vec![0; servers],
            servers: vec![Open::none_of(servers); Levels::COUNT],
            fitting: vec![0; types * Levels::COUNT],
            any: vec![[0; 2]; types],
        };
        (0..servers).for_each(|n| levels.servers[0].insert(n));
        levels
    }

    #[inline]
    pub(super) fn set(&mut self, n: usize, level: u8, now: &[u64], before: &[u64]) {
        let old = std::mem::replace(&mut self.of[n], level);
        if old != level {
            self.servers[usize::from(old)].remove(n);
            self.servers[usize::from(level)].insert(n);
        }
        for (w, (now, before)) in now.iter().zip(before).enumerate() {
            let unchanged = if old == level { now & before } else { 0 };
            for i in bits(before & !unchanged) {
                self.count(64 * w + i, old, false);
            }
            for i in bits(now & !unchanged) {
                self.count(64 * w + i, level, true);
            }
        }
    }

    #[inline]
    fn count(&mut self, i: usize, level: u8, more: bool) {
        let level = usize::from(level);
        let count = &mut self.fitting[i * Levels::COUNT + level];
        let bit = 1 << (level % 64);
        if more {
            *count += 1;
            self.any[i][level / 64] |= bit;
        } else {
            *count -= 1;
            if *count == 0 {
                self.any[i][level / 64] &= !bit;
            }
        }
    }

    #[inline]
    pub(super) fn any(
        &self,
        i: usize,
        open: &Open,
        is_last: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        let words = self.any[i].iter().enumerate();
        let mut levels = words.flat_map(|(w, word)| bits(*word).map(move |level| 64 * w + level));
        levels.any(|level| self.servers[level].any_common(open, is_last))
    }
}

#[inline]
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeSet;

    #[test]
    fn open_agrees_with_btree_set() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for servers in [1, 64, 65, 5000] {
            let mut pair = [(); 2].map(|()| (Open::none_of(servers), BTreeSet::new()));
            for step in 0..3000 {
                let (open, set) = &mut pair[step % 2];
                let n = random.random_range(0..servers);
                match set.insert(n) {
                    true => open.insert(n),
                    false => {
                        set.remove(&n);
                        open.remove(n);
                    }
                }
                assert_eq!(open.first(), set.first().copied());
                assert_eq!(open.len, set.len());
                let [(a, of_a), (b, of_b)] = &pair;
                let from = random.random_range(0..servers);
                let common = of_a.intersection(of_b).find(|n| **n >= from);
                let mut found = None;
                let is_last = &mut |n| {
                    found = Some(n).filter(|n| *n >= from);
                    found.is_some()
                };
                assert_eq!(a.any_common(b, is_last), common.is_some());
                assert_eq!(found, common.copied());
            }
        }
    }
}
