use crate::schedule::Packing;

#[derive(Clone, Debug)]
pub(super) struct ServerCapacity {
    packed: PackedDemand,
    pub used: Vec<u64>,
}

impl ServerCapacity {
    pub(super) fn new(packing: &Packing) -> Self {
        let packed = PackedDemand::new(packing);
        ServerCapacity {
            used: packed.empty(packing.capacity()),
            packed,
        }
    }

    pub(super) fn free(&self, j: usize) -> u64 {
        self.packed.free(&self.used, j)
    }

    pub(super) fn set_free(&mut self, j: usize, units: u64) {
        self.packed.set_free(&mut self.used, j, units);
    }

    #[inline]
    pub(super) fn fits(&self, i: usize) -> bool {
        self.packed.fits(&self.used, i, 1)
    }

    #[inline(always)]
    pub(super) fn least_fitting(&self, keys: &[u64]) -> Option<u64> {
        let ([used], [guards]) = (&*self.used, &*self.packed.guards) else {
            return self.least_fitting_in_all_words(keys);
        };
        let mut least = u64::MAX;
        for (key, demand) in keys.iter().zip(&self.packed.demand) {
            // Types that do not fit get the maximum, without an unpredictable branch.
            let fits = (used + demand) & guards == 0;
            let key = std::hint::select_unpredictable(fits, *key, u64::MAX);
            least = least.min(key);
        }
        (least != u64::MAX).then_some(least)
    }

    #[cold]
    fn least_fitting_in_all_words(&self, keys: &[u64]) -> Option<u64> {
        let fitting = (0..keys.len()).filter(|i| self.fits(*i));
        let least = fitting.map(|i| keys[i]).min();
        least.filter(|key| *key != u64::MAX)
    }

    #[inline(always)]
    pub(super) fn take(&mut self, i: usize) -> bool {
        let fits = self.fits(i);
        if fits {
            self.packed.take(&mut self.used, i, 1);
        }
        fits
    }

    #[inline]
    pub(super) fn give(&mut self, i: usize) {
        self.packed.give(&mut self.used, i, 1);
    }
}

pub(super) fn reduce(free: &mut [u64], demand: &[u64]) {
    free.iter_mut().zip(demand).for_each(|(free, d)| *free -= d);
}

#[inline]
pub(super) fn covers(free: &[u64], demand: &[u64]) -> bool {
    free.iter().zip(demand).all(|(free, d)| d <= free)
}

/// The demand of each type in a packed form, so that a single addition checks if a job fits. Each
/// resource has a field with the bits that its capacity needs, and a guard bit above it. A full
/// field has its largest value, so an overflow sets the guard bit. One word is usually enough.
#[derive(Clone, Debug)]
pub(super) struct PackedDemand {
    guards: Vec<u64>,
    demand: Vec<u64>,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    bits: u32,
}

impl Field {
    fn largest(&self) -> u64 {
        (1 << self.bits) - 1
    }
}

/// Used amounts: a single word, known at compile time, for most servers, or else a vector.
pub(super) trait Words: Clone + Send + AsRef<[u64]> + AsMut<[u64]> + 'static {
    fn of(words: &[u64]) -> Self;
}

impl Words for [u64; 1] {
    fn of(words: &[u64]) -> Self {
        [words[0]]
    }
}

impl Words for Vec<u64> {
    fn of(words: &[u64]) -> Self {
        words.to_vec()
    }
}

impl PackedDemand {
    pub(super) fn new(packing: &Packing) -> Self {
        let (mut fields, mut word, mut shift) = (Vec::new(), 0, 0);
        for capacity in packing.capacity() {
            // At most 54 bits: units are at most 2^53.
            let bits = u64::BITS - capacity.leading_zeros();
            if shift + bits + 1 > u64::BITS {
                (word, shift) = (word + 1, 0);
            }
            fields.push(Field { word, shift, bits });
            shift += bits + 1;
        }
        let words = word + 1;
        let mut guards = vec![0; words];
        let mut demand = vec![0; packing.types() * words];
        for (j, field) in fields.iter().enumerate() {
            guards[field.word] |= 1 << field.bits << field.shift;
            for i in 0..packing.types() {
                demand[i * words + field.word] |= packing.demand(i)[j] << field.shift;
            }
        }
        PackedDemand {
            guards,
            demand,
            fields,
        }
    }

    pub(super) fn words(&self) -> usize {
        self.guards.len()
    }

    pub(super) fn empty<U: Words>(&self, amounts: &[u64]) -> U {
        let mut words = vec![0; self.words()];
        for (field, amount) in self.fields.iter().zip(amounts) {
            words[field.word] |= (field.largest() - amount) << field.shift;
        }
        U::of(&words)
    }

    pub(super) fn free(&self, used: &[u64], j: usize) -> u64 {
        let field = self.fields[j];
        field.largest() - (used[field.word] >> field.shift & field.largest())
    }

    pub(super) fn set_free(&self, used: &mut [u64], j: usize, units: u64) {
        let field = self.fields[j];
        let (used, largest) = (&mut used[field.word], field.largest());
        *used = *used & !(largest << field.shift) | (largest - units) << field.shift;
    }

    /// Returns `true` if `count` jobs fit, which must be at most what fits on an empty server.
    #[inline(always)]
    pub(super) fn fits<U: AsRef<[u64]> + ?Sized>(&self, used: &U, i: usize, count: u64) -> bool {
        let used = used.as_ref();
        let demand = &self.demand[i * used.len()..][..used.len()];
        let mut over = 0;
        for ((used, demand), guards) in used.iter().zip(demand).zip(&self.guards) {
            over |= (used + count * demand) & guards;
        }
        over == 0
    }

    #[inline(always)]
    pub(super) fn take<U: AsMut<[u64]> + ?Sized>(&self, used: &mut U, i: usize, count: u64) {
        let used = used.as_mut();
        let demand = &self.demand[i * used.len()..][..used.len()];
        for (used, demand) in used.iter_mut().zip(demand) {
            *used += count * demand;
        }
    }

    #[inline(always)]
    pub(super) fn give<U: AsMut<[u64]> + ?Sized>(&self, used: &mut U, i: usize, count: u64) {
        let used = used.as_mut();
        let demand = &self.demand[i * used.len()..][..used.len()];
        for (used, demand) in used.iter_mut().zip(demand) {
            *used -= count * demand;
        }
    }

    #[inline(always)]
    pub(super) fn most<U: Words>(&self, used: &U, i: usize, count: u64) -> u64 {
        if self.fits(used, i, count) {
            return count;
        }
        let (mut fit, mut not) = (0, count);
        // The result is usually 0 or small, so the steps start at 1 and grow.
        let mut step = 1;
        while not - fit > 1 {
            step = step.min(not - fit - 1);
            if self.fits(used, i, fit + step) {
                (fit, step) = (fit + step, 2 * step)
            } else {
                (not, step) = (fit + step, 1)
            }
        }
        fit
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::workload::Workload;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn packed_capacity_matches_unpacked() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for digits in [0, 5, 13] {
            let scale = 10_u64.pow(digits);
            let mut text = format!(
                "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{a: {}, b: {}, c: {}}}}}\njobs:\n",
                20 * scale,
                15 * scale,
                50
            );
            for i in 0..4 {
                let a = random.random_range(1..=7 * scale);
                let b = random.random_range(0..=5 * scale);
                let c = random.random_range(0..20);
                text += &format!(
                    "  - {{name: t{i}, demand: {{a: {a}, b: {b}, c: {c}}}, arrival_rate: 1, mean_size: 1}}\n"
                );
            }
            let workload = Workload::parse(&text, "t").unwrap().workload;
            let packing = Packing::new(&workload);
            let mut server = ServerCapacity::new(&packing);
            assert_eq!(server.used.len(), 1 + usize::from(digits == 13));
            let (mut free, mut inside) = (packing.capacity().to_vec(), Vec::new());
            for _ in 0..2000 {
                let i = random.random_range(0..4);
                let fits = packing.demand(i).iter().zip(&free).all(|(d, f)| d <= f);
                assert_eq!(server.fits(i), fits);
                let mut keys = [u64::MAX; 4];
                keys[i] = 7;
                assert_eq!(server.least_fitting(&keys), fits.then_some(7));
                assert_eq!(server.take(i), fits);
                if fits {
                    packing.take(i, 1, &mut free);
                    inside.push(i);
                } else {
                    let i = inside.swap_remove(random.random_range(0..inside.len()));
                    server.give(i);
                    free.iter_mut()
                        .zip(packing.demand(i))
                        .for_each(|(f, d)| *f += d);
                }
                assert_eq!((0..3).map(|j| server.free(j)).collect::<Vec<_>>(), free);
            }
        }
    }
}
