use crate::schedule::Packing;

/// Free room, and what jobs of each type take of it, packed into few words so that one
/// subtraction tells whether a job fits.
///
/// Each resource has a field of as many bits as its capacity needs, and a guard bit above it that
/// is always set in the free room: a field that runs short borrows it. Nearly always all fields
/// stand in one word.
#[derive(Clone, Debug)]
pub(super) struct Room {
    first: Word,
    /// The words after the first.
    rest: Vec<Word>,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Word {
    free: u64,
    guards: u64,
    /// By type.
    demand: Vec<u64>,
}

/// Where a resource stands.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    bits: u32,
}

impl Word {
    fn new(packing: &Packing, fields: &[Field], word: usize) -> Self {
        let own = |amounts: &[u64]| {
            let pairs = fields.iter().zip(amounts).filter(|(f, _)| f.word == word);
            pairs.fold(0, |packed, (f, amount)| packed | amount << f.shift)
        };
        let guards = fields.iter().filter(|f| f.word == word);
        let guards = guards.fold(0, |packed, f| packed | 1 << (f.shift + f.bits));
        Word {
            free: own(packing.capacity()) | guards,
            guards,
            demand: (0..packing.types())
                .map(|i| own(packing.demand(i)))
                .collect(),
        }
    }

    #[inline]
    fn holds(&self, demand: u64) -> bool {
        (self.free - demand) & self.guards == self.guards
    }
}

impl Room {
    /// The empty server.
    pub fn new(packing: &Packing) -> Self {
        let (mut fields, mut word, mut shift) = (Vec::new(), 0, 0);
        for capacity in packing.capacity() {
            // At most 54: units are at most 2^53.
            let bits = u64::BITS - capacity.leading_zeros();
            if shift + bits + 1 > u64::BITS {
                (word, shift) = (word + 1, 0);
            }
            fields.push(Field { word, shift, bits });
            shift += bits + 1;
        }
        Room {
            first: Word::new(packing, &fields, 0),
            rest: (1..=word).map(|w| Word::new(packing, &fields, w)).collect(),
            fields,
        }
    }

    /// Free units of resource j.
    pub fn free(&self, j: usize) -> u64 {
        let Field { word, shift, bits } = self.fields[j];
        let free = match word {
            0 => self.first.free,
            word => self.rest[word - 1].free,
        };
        free >> shift & ((1 << bits) - 1)
    }

    /// Whether one more job of type i fits.
    #[inline]
    pub fn fits(&self, i: usize) -> bool {
        self.first.holds(self.first.demand[i]) && self.rest.iter().all(|w| w.holds(w.demand[i]))
    }

    /// The least of these keys, one a type, of the types of which one more job fits.
    #[inline]
    pub fn least_fitting(&self, keys: &[u64]) -> Option<u64> {
        let Word { free, guards, .. } = self.first;
        let mut least = u64::MAX;
        for (i, (key, demand)) in keys.iter().zip(&self.first.demand).enumerate() {
            let mut fits = (free - demand) & guards == guards;
            for word in &self.rest {
                fits &= word.holds(word.demand[i]);
            }
            // All ones where it does not fit, without a branch that cannot be foreseen.
            least = least.min(*key | u64::from(fits).wrapping_sub(1));
        }
        (least != u64::MAX).then_some(least)
    }

    /// A job of type i, which fits, takes its room.
    #[inline]
    pub fn take(&mut self, i: usize) {
        self.first.free -= self.first.demand[i];
        self.rest.iter_mut().for_each(|w| w.free -= w.demand[i]);
    }

    /// A job of type i gives its room back.
    #[inline]
    pub fn give(&mut self, i: usize) {
        self.first.free += self.first.demand[i];
        self.rest.iter_mut().for_each(|w| w.free += w.demand[i]);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::workload::Workload;
    use rand::{RngExt, SeedableRng};

    /// In one word and in several: what fits is what fits resource by resource.
    #[test]
    fn packed_room_is_room() {
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
            let mut room = Room::new(&packing);
            assert_eq!(room.rest.len(), usize::from(digits == 13));
            let (mut free, mut inside) = (packing.capacity().to_vec(), Vec::new());
            for _ in 0..2000 {
                let i = random.random_range(0..4);
                let fits = packing.demand(i).iter().zip(&free).all(|(d, f)| d <= f);
                assert_eq!(room.fits(i), fits);
                let mut keys = [u64::MAX; 4];
                keys[i] = 7;
                assert_eq!(room.least_fitting(&keys), fits.then_some(7));
                if fits {
                    room.take(i);
                    packing.take(i, 1, &mut free);
                    inside.push(i);
                } else {
                    let i = inside.swap_remove(random.random_range(0..inside.len()));
                    room.give(i);
                    free.iter_mut()
                        .zip(packing.demand(i))
                        .for_each(|(f, d)| *f += d);
                }
                assert_eq!((0..3).map(|j| room.free(j)).collect::<Vec<_>>(), free);
            }
        }
    }
}
