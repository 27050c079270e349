use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Independent streams. The same seed gives the same arrivals, and sizes if drawn on arrival.
pub struct Streams {
    /// The times and types of arrivals.
    pub arrivals: RandomStream,
    /// The next completion or clock, and its time.
    pub service: RandomStream,
    /// The sizes of the jobs, in the order of their arrivals.
    pub sizes: RandomStream,
    /// The choice between several servers.
    pub routing: RandomStream,
}

impl Streams {
    /// Creates the streams of a replication, whose seed is drawn from the stream of `seed`.
    pub fn new(seed: u64, replication: u32) -> Self {
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        let seed = (0..replication).fold(seed, |_, _| seeds.next_u64());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
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

/// A stream of random numbers.
#[derive(Clone)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// Returns a random number that has an exponential distribution with a mean of 1.
    #[inline(always)]
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Returns a random number that is uniformly distributed in `[0, 1)`.
    #[inline(always)]
    pub fn uniform(&mut self) -> f64 {
        rand::RngExt::random(&mut self.0)
    }

    /// Draws a standard normal number.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Jumps `2^192` values ahead, beyond all [`Streams`] (the distance between them is `2^128`).
    pub fn leap(&mut self) {
        self.0.long_jump();
    }
}

/// Walker's alias method with the table of M. D. Vose, IEEE Transactions on Software Engineering
/// 17(9), 1991. With the implementation of `rand_distr`, which needs two random numbers and a
/// branch that cannot be predicted, the simulation of First-Fit is 10 % slower.
pub(crate) struct Alias {
    /// The fraction that each cell keeps \[2^-64\], and the index that has the rest.
    cells: Vec<(u64, u32)>,
}

const WHOLE: f64 = 18_446_744_073_709_551_616.0;

impl Alias {
    /// There must be at most 2^32 weights ≥ 0, with a positive, finite sum.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut rest: Vec<f64> = weights.iter().map(|w| w / mean).collect();
        let mut cells: Vec<(u64, u32)> = (0..).map(|n| (u64::MAX, n)).take(rest.len()).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..rest.len()).partition(|n| rest[*n] < 1.0);
        // Cells that are left on one side are 1 except for rounding errors.
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

    /// Draws an index. If there is only one of them, no random number is used.
    pub(crate) fn draw(&self, stream: &mut RandomStream) -> usize {
        if self.cells.len() == 1 {
            return 0;
        }
        let point = u128::from(stream.0.next_u64()) * self.cells.len() as u128;
        let (cell, place) = ((point >> 64) as usize, point as u64);
        let (own, other) = self.cells[cell];
        // The outcome is random, so a branch would be mispredicted half of the time.
        std::hint::select_unpredictable(place < own, cell, other as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_table_preserves_probabilities() {
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
    fn leaped_streams_differ_and_are_reproducible() {
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
