//! The one door for randomness: a stream for each purpose, all from one seed.

use rand::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Independent streams. Policies that are compared under one seed face the same arrivals.
pub(super) struct Streams {
    /// When jobs arrive, and of what type.
    pub arrivals: Stream,
    /// Which job or clock is next, and when.
    pub service: Stream,
}

impl Streams {
    pub fn new(seed: u64) -> Self {
        let arrivals = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut service = arrivals.clone();
        // 2^128 draws apart: the streams never meet.
        service.jump();
        Streams {
            arrivals: Stream(arrivals),
            service: Stream(service),
        }
    }
}

/// One stream of random numbers.
pub(super) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Exponential of mean 1.
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        rand::RngExt::random(&mut self.0)
    }

    /// Uniform among 0..n.
    pub fn index(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n.saturating_sub(1))
    }
}
