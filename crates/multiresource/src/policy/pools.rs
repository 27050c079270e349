/// The running jobs in pools by the power of two of their service rates. A job drawn from a pool is
/// accepted with the probability of its rate divided by the highest rate of the pool, more than 1/2
/// (composition and rejection: Slepoy, Thompson, Plimpton, J. Chem. Phys. 128, 2008).
#[derive(Clone, Debug)]
pub(super) struct Pools {
    pools: Vec<Pool>,
    of_type: Vec<u32>,
    /// A bound on the total service rate \[1/time\], less than twice its value; a running sum.
    pub rate: f64,
    pub count: u64,
}

#[derive(Clone, Debug)]
struct Pool {
    jobs: Vec<u32>,
    /// The highest service rate of its types.
    top: f64,
    inverse: f64,
}

impl Pools {
    pub(super) fn new(rates: &[f64]) -> Self {
        let power = |rate: f64| rate.log2().floor();
        let mut powers: Vec<f64> = rates.iter().map(|r| power(*r)).collect();
        powers.sort_by(f64::total_cmp);
        powers.dedup();
        // The fastest pool is the first one, because its jobs start and end most often.
        powers.reverse();
        let pool = |p: &f64| {
            let own = rates.iter().copied().filter(|rate| power(*rate) == *p);
            let top = own.fold(0.0, f64::max);
            Pool {
                jobs: Vec::new(),
                top,
                inverse: 1.0 / top,
            }
        };
        let place = |rate: &f64| {
            let place = powers.iter().position(|p| *p == power(*rate));
            place.expect("each power is listed") as u32
        };
        Pools {
            pools: powers.iter().map(pool).collect(),
            of_type: rates.iter().map(place).collect(),
            rate: 0.0,
            count: 0,
        }
    }

    /// Returns the jobs in the pool of type `i`, which may also be of other types.
    pub(super) fn alike(&self, i: usize) -> &[u32] {
        &self.pools[self.of_type[i] as usize].jobs
    }

    #[inline]
    pub(super) fn join(&mut self, i: usize, slot: u32) -> u32 {
        let pool = &mut self.pools[self.of_type[i] as usize];
        pool.jobs.push(slot);
        self.rate += pool.top;
        self.count += 1;
        (pool.jobs.len() - 1) as u32
    }

    #[inline]
    pub(super) fn leave(&mut self, i: usize, place: u32) -> Option<u32> {
        let pool = &mut self.pools[self.of_type[i] as usize];
        pool.jobs.swap_remove(place as usize);
        self.rate -= pool.top;
        self.count -= 1;
        pool.jobs.get(place as usize).copied()
    }

    pub(super) fn recount(&mut self) {
        let rates = self.pools.iter().map(|p| p.jobs.len() as f64 * p.top);
        self.rate = rates.sum();
    }

    /// Returns the slot for a uniform point in `[0, rate)`, and a uniform number in `[0, top)`: its
    /// job ends if it is less than its rate. `None` if rounding has made the sum `rate` too large.
    #[inline]
    pub(super) fn draw(&self, mut point: f64) -> Option<(u32, f64)> {
        for pool in &self.pools {
            let rate = pool.jobs.len() as f64 * pool.top;
            if point < rate {
                let place = (point * pool.inverse) as usize;
                let slot = pool.jobs.get(place)?;
                return Some((*slot, point - place as f64 * pool.top));
            }
            point -= rate;
        }
        None
    }
}
