//! The one door for randomness: a stream for each purpose, all from one seed.

use rand::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::ctmc::PhaseType;

/// Independent streams. Policies that are compared under one seed face the same arrivals, and
/// the same sizes where these are drawn as jobs arrive.
pub(super) struct Streams {
    /// When jobs arrive, and of what type.
    pub arrivals: Stream,
    /// Which job or clock is next, and when.
    pub service: Stream,
    /// How large the jobs are, in the order of their arrivals.
    pub sizes: Stream,
}

impl Streams {
    /// Those of one of several replications, which never meet either.
    pub fn new(seed: u64, replication: u32) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // 2^192 draws apart.
        (0..replication).for_each(|_| random.long_jump());
        // 2^128 draws apart.
        let mut next = || {
            let stream = random.clone();
            random.jump();
            Stream(stream)
        };
        Streams {
            arrivals: next(),
            service: next(),
            sizes: next(),
        }
    }
}

/// One stream of random numbers.
pub(super) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Exponential of mean 1.
    #[inline(always)]
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Uniform in [0, 1).
    #[inline(always)]
    pub fn uniform(&mut self) -> f64 {
        rand::RngExt::random(&mut self.0)
    }

    /// A size of this law [time]: the sum of the stages that it goes through. Nothing is drawn
    /// where there is no choice.
    pub fn size(&mut self, law: &PhaseType) -> f64 {
        let mut stage = self.first_stage(&law.initial);
        let mut size = self.exponential() / law.rates[stage];
        while law.onward[stage] == 1.0
            || law.onward[stage] > 0.0 && self.uniform() < law.onward[stage]
        {
            stage += 1;
            size += self.exponential() / law.rates[stage];
        }
        size
    }

    fn first_stage(&mut self, initial: &[f64]) -> usize {
        if initial[0] == 1.0 {
            return 0;
        }
        let mut point = self.uniform();
        // The sum may fall short of 1 by rounding: the rest is the last stage's.
        let last = initial.len() - 1;
        let chosen = initial[..last].iter().position(|p| {
            point -= p;
            point < 0.0
        });
        chosen.unwrap_or(last)
    }
}
