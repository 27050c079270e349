use std::cell::RefCell;

use synth_multiresource::policy::System;
use synth_multiresource::workload::Fleet;

use super::demand;
use fixedbitset::FixedBitSet;

/// The planned end \[s\], the type, the number and the models ([`Models::start`]) of a running job.
type Held = (f64, usize, u64, Vec<f64>);

#[derive(Clone, Debug)]
pub(super) struct Nodes {
    /// The jobs of each server, sorted by the planned end.
    running: Vec<Vec<Held>>,
    /// The planned end \[s\], the number and the server of each running job, sorted in this order.
    ends: Vec<(f64, u64, usize)>,
    weights: Vec<u32>,
    cpu: usize,
    models: Models,
    changes: Vec<u32>,
    /// The number of changes and the result of `ready` for each type and server.
    seen: RefCell<Vec<Vec<(u32, f64)>>>,
}

/// Models such as `gpu:a100`. If a job requests `gpu`, it is allocated the first free models.
#[derive(Clone, Debug, Default)]
pub(super) struct Models {
    /// The index of each model, and the index of the resource to which it belongs.
    places: Vec<(usize, usize)>,
    demand: Vec<Vec<f64>>,
    free: Vec<Vec<f64>>,
}

impl Models {
    pub(super) fn new(fleet: &Fleet) -> Self {
        let resources = fleet.envelope().resources();
        let of = |name: &str| {
            let (base, _) = name.split_once(':')?;
            resources.iter().position(|own| own.name() == base)
        };
        let models = (0..resources.len()).filter_map(|j| Some((j, of(resources[j].name())?)));
        let places: Vec<(usize, usize)> = models.collect();
        let free = fleet.shapes().iter().flat_map(|shape| {
            let amounts = places.iter().map(|own| shape.capacity()[own.0].value());
            std::iter::repeat_n(amounts.collect(), shape.count() as usize)
        });
        Models {
            free: free.collect(),
            demand: fleet.types().iter().map(demand).collect(),
            places,
        }
    }

    fn fit(&self, i: usize, free: &[f64]) -> bool {
        let mut pairs = self.places.iter().zip(free);
        pairs.all(|(own, free)| self.demand[i][own.0] <= *free)
    }

    /// Allocates models on server `n` to a job of type `i`, and returns their amounts.
    fn start(&mut self, i: usize, n: usize) -> Vec<f64> {
        let (demand, free) = (&self.demand[i], &mut self.free[n]);
        let mut held: Vec<f64> = self.places.iter().map(|own| demand[own.0]).collect();
        for (k, (_, base)) in self.places.iter().enumerate() {
            let pairs = self.places.iter().zip(&held);
            let alike = pairs.filter(|(own, _)| own.1 == *base);
            let lacking = demand[*base] - alike.map(|(_, held)| held).sum::<f64>();
            held[k] += lacking.min(free[k] - held[k]).max(0.0);
        }
        add(free, &held, -1.0);
        held
    }
}

fn add(free: &mut [f64], amounts: &[f64], sign: f64) {
    let pairs = free.iter_mut().zip(amounts);
    pairs.for_each(|(free, amount)| *free += sign * amount);
}

/// If a running job has exceeded its limit, we assume that it ends after this time \[s\].
const OVERRUN_ALLOWANCE: f64 = 1.0;
/// Slurm groups the ends of jobs into windows \[s\], whose length doubles (`_will_run_test`).
const FIRST_WINDOW: f64 = 30.0;

impl Nodes {
    pub(super) fn new(weights: Vec<u32>, cpu: usize, models: Models) -> Self {
        Nodes {
            running: vec![Vec::new(); weights.len()],
            ends: Vec::new(),
            changes: vec![1; weights.len()],
            seen: RefCell::new(vec![Vec::new(); models.demand.len()]),
            weights,
            cpu,
            models,
        }
    }

    pub(super) fn cleared(&self) -> Self {
        let mut models = self.models.clone();
        for (n, running) in self.running.iter().enumerate() {
            let free = &mut models.free[n];
            running.iter().for_each(|own| add(free, &own.3, 1.0));
        }
        Nodes::new(self.weights.clone(), self.cpu, models)
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn start(&mut self, servers: &[usize], end: f64, i: usize, number: u64) {
        for &n in servers {
            let place = self.running[n].partition_point(|own| own.0 <= end);
            let models = self.models.start(i, n);
            self.running[n].insert(place, (end, i, number, models));
            let is_before = |own: &(f64, u64, usize)| (own.0, own.1) <= (end, number);
            let place = self.ends.partition_point(is_before);
            self.ends.insert(place, (end, number, n));
            self.changes[n] += 1;
        }
    }

    pub(super) fn end(&mut self, servers: &[usize], number: u64) {
        self.ends.retain(|own| own.1 != number);
        for &n in servers {
            let ended = self.running[n].extract_if(.., |own| own.2 == number);
            ended.for_each(|own| add(&mut self.models.free[n], &own.3, 1.0));
            self.changes[n] += 1;
        }
    }

    /// Returns when a task of type `i` fits on server `n` \[s\]: −∞ if now, and ∞ if never.
    fn ready(&self, i: usize, n: usize, system: &System) -> f64 {
        let of_type = &mut self.seen.borrow_mut()[i];
        of_type.resize(self.len(), (0, 0.0));
        let (changes, ready) = &mut of_type[n];
        if *changes != self.changes[n] {
            (*changes, *ready) = (self.changes[n], self.compute_ready(i, n, system));
        }
        *ready
    }

    fn compute_ready(&self, i: usize, n: usize, system: &System) -> f64 {
        let mut free = self.models.free[n].clone();
        if system.fits_on(i, n) && self.models.fit(i, &free) {
            return f64::NEG_INFINITY;
        }
        let demand = system.demand(i);
        let lacks = |j: usize| demand[j].saturating_sub(system.free_on(n, j));
        let mut lacking: Vec<u64> = (0..demand.len()).map(lacks).collect();
        for (end, other, _, models) in &self.running[n] {
            let freed = system.demand(*other);
            let pairs = lacking.iter_mut().zip(freed);
            pairs.for_each(|(lacking, freed)| *lacking = lacking.saturating_sub(*freed));
            add(&mut free, models, 1.0);
            if lacking.iter().all(|lacking| *lacking == 0) && self.models.fit(i, &free) {
                return *end;
            }
        }
        f64::INFINITY
    }

    pub(super) fn servers_free_now(
        &self,
        i: usize,
        among: &FixedBitSet,
        system: &System,
    ) -> Option<Vec<usize>> {
        let fits = |n: &usize| system.fits_on(i, *n) && self.models.fit(i, &self.models.free[*n]);
        let free = |n| (n, system.free_on(n, self.cpu));
        let there = among.ones().filter(fits).map(free).collect();
        self.choose(system.nodes(i), system.demand(i)[self.cpu], there)
    }

    /// Returns the earliest start \[s\] and the servers of a job if jobs run until their limits.
    pub(super) fn earliest_start(
        &self,
        i: usize,
        among: &FixedBitSet,
        now: f64,
        system: &System,
    ) -> Option<(f64, Vec<usize>)> {
        let count = system.nodes(i);
        if among.count_ones(..) < count {
            return None;
        }
        let ready = among.ones().map(|n| (self.ready(i, n, system), n));
        let ready: Vec<(f64, usize)> = ready.filter(|(at, _)| *at < f64::INFINITY).collect();
        if ready.len() < count {
            return None;
        }
        let mut times: Vec<f64> = ready.iter().map(|(at, _)| *at).collect();
        let (_, at, _) = times.select_nth_unstable_by(count - 1, f64::total_cmp);
        let (start, until) = match *at {
            f64::NEG_INFINITY => (now, *at),
            at => match self.window_of(at, among) {
                until if until <= now => (now + OVERRUN_ALLOWANCE, until),
                until => (until, until),
            },
        };
        let there = ready.iter().filter(|(at, _)| *at <= until);
        let free = |(_, n): &(f64, usize)| (*n, self.free_at(*n, until, system));
        let demand = system.demand(i)[self.cpu];
        let servers = self.choose(count, demand, there.map(free).collect())?;
        Some((start, servers))
    }

    fn free_at(&self, n: usize, until: f64, system: &System) -> u64 {
        let ended = self.running[n].iter().take_while(|own| own.0 <= until);
        let freed: u64 = ended.map(|own| system.demand(own.1)[self.cpu]).sum();
        system.free_on(n, self.cpu) + freed
    }

    /// Returns the last end of a job on `among` in the window of `at`, which a later end closes.
    fn window_of(&self, at: f64, among: &FixedBitSet) -> f64 {
        let mut last: Option<f64> = None;
        let (mut base, mut window) = (0.0, FIRST_WINDOW);
        for (place, (end, _, n)) in self.ends.iter().enumerate() {
            if !among.contains(*n) {
                continue;
            }
            if last.is_none() {
                base = (end / FIRST_WINDOW).floor() * FIRST_WINDOW + FIRST_WINDOW;
            }
            last = Some(*end);
            if let Some((next, ..)) = self.ends.get(place + 1)
                && *next > base + window
            {
                if *end >= at {
                    break;
                }
                while *next > base + window {
                    window *= 2.0;
                }
            }
        }
        last.map_or(at, |last| last.max(at))
    }

    /// Selects servers from an ascending list with their free CPUs (`_eval_nodes`). Among the
    /// sequences of neighbors with the lowest weight, this is the one with the fewest CPUs that are
    /// sufficient, or else with the most CPUs. The last server is the best fit.
    fn choose(&self, count: usize, demand: u64, mut left: Vec<(usize, u64)>) -> Option<Vec<usize>> {
        if left.len() < count {
            return None;
        }
        let mut chosen = Vec::with_capacity(count);
        while chosen.len() < count {
            let needed = count - chosen.len();
            let alike = |a: &(usize, u64), b: &(usize, u64)| {
                a.0 + 1 == b.0 && self.weights[a.0] == self.weights[b.0]
            };
            let free = |run: &[(usize, u64)]| run.iter().map(|own| own.1).sum::<u64>();
            let rank = |run: &&[(usize, u64)]| {
                let is_enough = run.len() >= needed && free(run) >= demand * needed as u64;
                let free = free(run);
                let waste = if is_enough { free } else { u64::MAX - free };
                (self.weights[run[0].0], !is_enough, waste)
            };
            let run = left.chunk_by(alike).min_by_key(rank)?;
            let mut run = run.to_vec();
            if needed == 1 {
                run.sort_by_key(|own| own.1);
            }
            chosen.extend(run.iter().take(needed).map(|own| own.0));
            left.retain(|own| !chosen.contains(&own.0));
        }
        Some(chosen)
    }
}
