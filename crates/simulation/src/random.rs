//! The one door for randomness: a stream for each purpose, all from one seed.

use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Independent streams. Policies that are compared under one seed face the same arrivals, and
/// the same sizes where these are drawn as jobs arrive.
pub struct Streams {
    /// When jobs arrive, and of what type.
    pub arrivals: RandomStream,
    /// Which job or clock is next, and when.
    pub service: RandomStream,
    /// How large the jobs are, in the order of their arrivals.
    pub sizes: RandomStream,
    /// To which of several servers they are sent.
    pub routing: RandomStream,
}

impl Streams {
    /// Returns those of one of several replications, each of which is seeded by the stream of the seed.
    pub fn new(seed: u64, replication: u32) -> Self {
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        let seed = (0..replication).fold(seed, |_, _| seeds.next_u64());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // 2^128 draws apart.
        let mut next = || {
            let stream = random.clone();
            random.jump();
            RandomStream(stream)
        };
        Streams {
            arrivals: next(),
            service: next(),
            sizes: next(),
            routing: next(),
        }
    }
}

/// One stream of random numbers.
#[derive(Clone)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// Draws an exponential number of mean 1.
    #[inline(always)]
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Draws a uniform number in [0, 1).
    #[inline(always)]
    pub fn uniform(&mut self) -> f64 {
        rand::RngExt::random(&mut self.0)
    }

    /// Draws a normal number of mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Goes 2^192 draws ahead: beyond all that is drawn in between, and beyond the streams of
    /// [`Streams`], which stand 2^128 apart.
    pub fn leap(&mut self) {
        self.0.long_jump();
    }
}

/// One of several by their probabilities, in constant time: Walker's alias method, its table built
/// as in M. D. Vose, IEEE Transactions on Software Engineering 17(9), 1991. `rand_distr` has one that
/// takes two draws and a branch that cannot be predicted: with it First-Fit is simulated a tenth slower.
pub(crate) struct Alias {
    /// By cell: the part of it that is its own, in 2^-64, and who has the rest.
    cells: Vec<(u64, u32)>,
}

/// 2^64.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

impl Alias {
    /// Returns the table for weights ≥ 0 with a positive, finite sum, at most 2^32 of them.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut rest: Vec<f64> = weights.iter().map(|w| w / mean).collect();
        let mut cells: Vec<(u64, u32)> = (0..).map(|n| (u64::MAX, n)).take(rest.len()).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..rest.len()).partition(|n| rest[*n] < 1.0);
        // What remains on one side at the end is 1 but for rounding, and keeps its whole cell.
        while let (Some(poor), Some(rich)) = (small.pop(), large.pop()) {
            cells[poor] = ((rest[poor] * WHOLE) as u64, rich as u32);
            rest[rich] -= 1.0 - rest[poor];
            if rest[rich] < 1.0 {
                small.push(rich)
            } else {
                large.push(rich)
            }
        }
        Alias { cells }
    }

    /// Draws one; where there is no choice nothing is drawn.
    pub(crate) fn draw(&self, stream: &mut RandomStream) -> usize {
        if self.cells.len() == 1 {
            return 0;
        }
        // The cell, and the place in it as a fraction of 2^64.
        let point = u128::from(stream.0.next_u64()) * self.cells.len() as u128;
        let (cell, place) = ((point >> 64) as usize, point as u64);
        let (own, other) = self.cells[cell];
        // Which it is cannot be predicted: a branch would be wrong half of the time.
        std::hint::select_unpredictable(place < own, cell, other as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table holds the probabilities it was built from: exactly, but for rounding.
    #[test]
    fn an_alias_table_holds_its_weights() {
        for weights in [
            vec![3.0],
            vec![1.0, 1.0],
            vec![0.1, 0.0, 2.5, 0.7],
            (1..1000).map(f64::from).collect(),
            vec![1e-300, 1e-310, 3e-300],
        ] {
            let table = Alias::new(&weights);
            let mut held = vec![0.0; weights.len()];
            for (n, (own, other)) in table.cells.iter().enumerate() {
                let own = *own as f64 / WHOLE;
                held[n] += own / weights.len() as f64;
                held[*other as usize] += (1.0 - own) / weights.len() as f64;
            }
            let total: f64 = weights.iter().sum();
            for (found, weight) in held.iter().zip(&weights) {
                assert!((found - weight / total).abs() < 1e-13, "{found} {weight}");
            }
        }
    }

    #[test]
    fn streams_far_apart_differ_and_repeat() {
        let draw = |leaps: usize| {
            let mut stream = Streams::new(1, 0).arrivals;
            (0..leaps).for_each(|_| stream.leap());
            stream.uniform()
        };
        let first: Vec<f64> = (0..4).map(draw).collect();
        assert_eq!(first, (0..4).map(draw).collect::<Vec<_>>());
        for (n, x) in first.iter().enumerate() {
            assert!(!first[..n].contains(x));
        }
    }
}
