use super::Field;

/// The arithmetic of a [`Room`](super::Room) for sets of jobs that do not run: what they would use of all
/// resources at once, in words. A sum that is too large sets a guard.
#[derive(Clone, Debug)]
pub(in super::super) struct Packed {
    pub(super) guards: Vec<u64>,
    /// K × words.
    pub(super) demand: Vec<u64>,
    pub(super) fields: Vec<Field>,
}

/// What is used, in words: one for most servers, known to the compiler, or as many as it takes.
pub(in super::super) trait Words: Clone + AsRef<[u64]> + AsMut<[u64]> {
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

impl Packed {
    pub fn words(&self) -> usize {
        self.guards.len()
    }

    /// Nothing used of these amounts, one a resource and at most its capacity.
    pub fn nothing_of<U: Words>(&self, amounts: &[u64]) -> U {
        let mut words = vec![0; self.words()];
        for (field, amount) in self.fields.iter().zip(amounts) {
            words[field.word] |= (field.largest() - amount) << field.shift;
        }
        U::of(&words)
    }

    /// Free units of resource j.
    pub fn free(&self, used: &[u64], j: usize) -> u64 {
        let field = self.fields[j];
        field.largest() - (used[field.word] >> field.shift & field.largest())
    }

    /// So many units of resource j are free, no more than there are.
    pub fn set_free(&self, used: &mut [u64], j: usize, units: u64) {
        let field = self.fields[j];
        field.set_free(&mut used[field.word], units);
    }

    /// Whether so many jobs of type i, no more than an empty server holds, fit beside what is used.
    #[inline(always)]
    pub fn fits<U: AsRef<[u64]> + ?Sized>(&self, used: &U, i: usize, count: u64) -> bool {
        let used = used.as_ref();
        let demand = &self.demand[i * used.len()..][..used.len()];
        let mut over = 0;
        for ((used, demand), guards) in used.iter().zip(demand).zip(&self.guards) {
            over |= (used + count * demand) & guards;
        }
        over == 0
    }

    /// So many jobs of type i more; no more than an empty server holds.
    #[inline(always)]
    pub fn take<U: AsMut<[u64]> + ?Sized>(&self, used: &mut U, i: usize, count: u64) {
        let used = used.as_mut();
        let demand = &self.demand[i * used.len()..][..used.len()];
        for (used, demand) in used.iter_mut().zip(demand) {
            *used += count * demand;
        }
    }

    /// So many jobs of type i less.
    #[inline(always)]
    pub fn give<U: AsMut<[u64]> + ?Sized>(&self, used: &mut U, i: usize, count: u64) {
        let used = used.as_mut();
        let demand = &self.demand[i * used.len()..][..used.len()];
        for (used, demand) in used.iter_mut().zip(demand) {
            *used -= count * demand;
        }
    }

    /// The most of so many jobs of type i, no more than an empty server holds, that fit.
    #[inline(always)]
    pub fn most<U: Words>(&self, used: &U, i: usize, count: u64) -> u64 {
        if self.fits(used, i, count) {
            return count;
        }
        let (mut fit, mut not) = (0, count);
        // Nearly always none or a few: the steps grow.
        let mut step = 1;
        while not - fit > 1 {
            step = step.min(not - fit - 1);
            match self.fits(used, i, fit + step) {
                true => (fit, step) = (fit + step, 2 * step),
                false => (not, step) = (fit + step, 1),
            }
        }
        fit
    }
}
