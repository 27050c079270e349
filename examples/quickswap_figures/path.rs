//! Runs of MSFQ(ℓ) event by event: paths of the number in system, and lengths of phases.
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Exp1, weighted::WeightedIndex};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use rayon::prelude::*;
use synth::multiresource::policy::{
    Event, OneOrAll, Policy, StaticQuickswap, StaticQuickswapPolicy, System,
};
use synth::multiresource::simulator::Estimate;
use synth::multiresource::workload::Workload;

use crate::Result;

/// MSFQ(ℓ) as the paper words it: no light job starts once no more than ℓ are in the system, until none is in service;
/// whether or not a heavy one waits.
#[derive(Clone)]
pub struct Strict {
    of: OneOrAll,
    threshold: u64,
    turn: Turn,
}

#[derive(Clone, Copy)]
enum Turn {
    Heavy,
    Light,
    Draining,
}

impl Strict {
    pub fn new(workload: &Workload, threshold: u32) -> Result<Self> {
        Ok(Strict {
            of: OneOrAll::new(workload)?,
            threshold: threshold.into(),
            turn: Turn::Heavy,
        })
    }
}

impl Policy for Strict {
    fn react(&mut self, _: Event, system: &mut System) {
        let OneOrAll { light, heavy, .. } = self.of;
        loop {
            match self.turn {
                Turn::Heavy if system.running(heavy) > 0 => return,
                Turn::Heavy if system.waiting(heavy) > 0 => return system.start(heavy),
                Turn::Heavy => self.turn = Turn::Light,
                Turn::Light => {
                    while system.waiting(light) > 0 && system.fits(light) {
                        system.start(light);
                    }
                    let light = system.present(light);
                    if light > self.threshold || light == 0 && system.waiting(heavy) == 0 {
                        return;
                    }
                    self.turn = Turn::Draining;
                }
                Turn::Draining if system.running(light) > 0 => return,
                Turn::Draining => self.turn = Turn::Heavy,
            }
        }
    }
}

/// One server under MSFQ(ℓ); arrivals have a stream of their own, the same for each ℓ.
struct Server {
    rule: Box<dyn Policy>,
    system: System,
    rates: Vec<f64>,
    next_arrival: f64,
    kinds: WeightedIndex<f64>,
    arrivals: Random,
    services: Random,
}

impl Server {
    fn new(workload: &Workload, rule: Box<dyn Policy>, seed: u64) -> Result<Self> {
        let types = || workload.types().iter();
        let mut server = Server {
            rule,
            system: System::new(workload, 0, false),
            rates: types().map(|t| t.service_rate()).collect(),
            next_arrival: 0.0,
            kinds: WeightedIndex::new(types().map(|t| t.arrival_rate()))?,
            arrivals: Random::seed_from_u64(2 * seed),
            services: Random::seed_from_u64(2 * seed + 1),
        };
        server.wait(workload.total_arrival_rate());
        Ok(server)
    }

    fn wait(&mut self, rate: f64) {
        let unit: f64 = Exp1.sample(&mut self.arrivals);
        self.next_arrival += unit / rate;
    }

    fn jobs(&self) -> u64 {
        (0..self.rates.len()).map(|i| self.system.present(i)).sum()
    }

    /// The next event, and the time it took. Sizes have no memory: the next end is drawn anew.
    fn step(&mut self, rate: f64) -> Result<(Event, f64)> {
        let before = self.system.now();
        let of_type = |i: usize| f64::from(self.system.running(i)) * self.rates[i];
        let ends: Vec<f64> = (0..self.rates.len()).map(of_type).collect();
        let unit: f64 = Exp1.sample(&mut self.services);
        let end = before + unit / ends.iter().sum::<f64>();
        let event = if self.next_arrival <= end {
            let kind = self.kinds.sample(&mut self.arrivals);
            self.system.arrive(kind, self.next_arrival);
            self.wait(rate);
            Event::Arrival(kind)
        } else {
            let kind = WeightedIndex::new(&ends)?.sample(&mut self.services);
            self.system.complete(kind, 0, end);
            Event::Completion(kind)
        };
        self.rule.react(event, &mut self.system);
        self.system.clear_actions();
        match self.system.violation() {
            Some(violation) => Err(violation.clone().into()),
            None => Ok((event, self.system.now() - before)),
        }
    }
}

/// The number in system at `count` equidistant times up to `length`, from an empty system on.
pub fn path(
    workload: &Workload,
    threshold: u32,
    seed: u64,
    (length, count): (f64, usize),
) -> Result<Vec<(f64, f64)>> {
    let policy = StaticQuickswapPolicy::msfq(workload, Some(threshold.into()))?;
    let rule = StaticQuickswap::new(&policy, workload);
    let mut server = Server::new(workload, Box::new(rule), seed)?;
    let mut points = Vec::new();
    for n in 0..count {
        let time = length * n as f64 / count as f64;
        while server.system.now() < time {
            server.step(workload.total_arrival_rate())?;
        }
        points.push((time, server.jobs() as f64));
    }
    Ok(points)
}

#[derive(Clone, Copy)]
enum Phase {
    Idle,
    Heavy,
    Full,
    Slow,
    /// With so many light jobs in service.
    Draining(u64),
}

impl Phase {
    /// What follows phase 1, or a phase 4 after which no heavy job waits.
    fn after(light: u64, k: u64, threshold: u64) -> Phase {
        match light {
            0 => Phase::Idle,
            n if n >= k => Phase::Full,
            n if n > threshold => Phase::Slow,
            n => Phase::Draining(n),
        }
    }

    /// The phase after an event, and whether a cycle ended.
    fn next(self, event: Event, server: &Server, of: OneOrAll, threshold: u64) -> (Phase, bool) {
        let light = server.system.present(of.light);
        let k = u64::from(of.servers);
        let anew = Phase::after(light, k, threshold);
        if server.system.running(of.heavy) > 0 {
            return (Phase::Heavy, false);
        }
        match self {
            Phase::Heavy => (anew, true),
            Phase::Idle => (anew, false),
            Phase::Full if light >= k => (Phase::Full, false),
            Phase::Full | Phase::Slow if light > threshold => (Phase::Slow, false),
            // Without a threshold there is no phase 4.
            Phase::Full | Phase::Slow => (anew, light == 0),
            Phase::Draining(n) if event != Event::Completion(of.light) => {
                (Phase::Draining(n), false)
            }
            Phase::Draining(1) => (anew, true),
            Phase::Draining(n) => (Phase::Draining(n - 1), false),
        }
    }

    fn number(self) -> usize {
        match self {
            Phase::Heavy => 0,
            Phase::Full => 1,
            Phase::Slow => 2,
            Phase::Draining(_) => 3,
            Phase::Idle => 4,
        }
    }
}

/// Mean lengths of phases 1 to 4 under strict MSFQ(ℓ), from independent runs of so many events.
pub fn phases(workload: &Workload, threshold: u32, events: u64) -> Result<[Estimate; 4]> {
    let one = |seed| -> std::result::Result<[f64; 4], String> {
        mean_phases(workload, threshold, events, seed).map_err(|e| e.to_string())
    };
    let runs: Vec<_> = (1..=RUNS).into_par_iter().map(one).collect();
    let runs = runs
        .into_iter()
        .collect::<std::result::Result<Vec<_>, _>>()?;
    Ok([0, 1, 2, 3].map(|phase| {
        let mean = runs.iter().map(|run| run[phase]).sum::<f64>() / RUNS as f64;
        let square = runs.iter().map(|run| (run[phase] - mean).powi(2));
        let standard_error = (square.sum::<f64>() / (RUNS * (RUNS - 1)) as f64).sqrt();
        Estimate {
            mean,
            half_width: STUDENT * standard_error,
            standard_error,
            freedom: (RUNS - 1) as f64,
        }
    }))
}

const RUNS: u64 = 8;
/// The quantile of Student's t at .975 with 7 degrees of freedom.
const STUDENT: f64 = 2.3646;

fn mean_phases(workload: &Workload, threshold: u32, events: u64, seed: u64) -> Result<[f64; 4]> {
    let of = OneOrAll::new(workload)?;
    let rule = Strict::new(workload, threshold)?;
    let mut server = Server::new(workload, Box::new(rule), seed)?;
    let (mut phase, mut times, mut cycles) = (Phase::Idle, [0.0; 5], 0.0);
    for n in 0..events {
        let (event, time) = server.step(workload.total_arrival_rate())?;
        let (next, ended) = phase.next(event, &server, of, threshold.into());
        // The first tenth is warm-up.
        if n >= events / 10 {
            times[phase.number()] += time;
            cycles += f64::from(u8::from(ended));
        }
        phase = next;
    }
    Ok([0, 1, 2, 3].map(|n| times[n] / cycles))
}
