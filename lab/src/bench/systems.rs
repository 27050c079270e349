//! The random systems of `bench-v1`. If any of the random numbers changes, this is a new version.

use clap::ValueEnum;
use itertools::Itertools as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth::artifact::written;
use synth::kind::VerbResult;
use synth::multiresource::report::about;
use synth::multiresource::verbs::resolve::solve_load;
use synth::multiresource::workload::Fleet;

pub(super) const NAME: &str = "bench-v1";

/// The purpose of a set of systems. The results for one set are independent of the other set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Set {
    /// The systems that are used for development and tuning
    Tuning,
    /// The systems that are used for results that are published
    Judging,
}

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    ValueEnum,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tier {
    /// Systems with two or three types on a single server, which are compared with the optimum
    Exact,
    /// Systems with 3 to 30 types on a single server, and fleets and gangs, which are compared with
    /// all rules and with a bound
    Bounded,
    /// Random logs, for which backfilling rules are selected using a walk-forward evaluation
    Logs,
}

impl Tier {
    /// Returns the number of systems `n`, and `k` such that `--short` only uses `n/k` of them.
    pub(super) const fn systems(self) -> (u64, usize) {
        match self {
            Tier::Exact => (40, 5),
            Tier::Bounded => (100, 7),
            Tier::Logs => (24, 7),
        }
    }
}

pub(super) struct System {
    pub name: String,
    pub tier: Tier,
    pub load: f64,
    pub about: String,
    pub text: String,
    pub fleet: Fleet,
}

impl System {
    pub(super) fn new(set: Set, tier: Tier, n: u64) -> VerbResult<Self> {
        let seed = seed(set, tier, n);
        let mut draw = Draw::new(seed);
        let draft = match tier {
            Tier::Exact => exact(n, &mut draw),
            _ => bounded(n, &mut draw),
        };
        let name = name(tier, n);
        let own = Fleet::parse(&draft.document("a draft", 1.0), &name)?.workload;
        // Because of the rounding, the text does not depend on the last digits of the solver.
        let factor = rounded(draft.load / solve_load(None, &own)?, 2);
        let source = format!("synth bench, {NAME}, seed {seed}, load {}", draft.load);
        let text = draft.document(&source, factor);
        let fleet = Fleet::parse(&text, &name)?.workload;
        Ok(System {
            about: format!("{}, {}, load {}", about(&fleet), draft.law.0, draft.load),
            load: draft.load,
            name,
            tier,
            text,
            fleet,
        })
    }
}

pub(super) fn name(tier: Tier, n: u64) -> String {
    format!("{}-{n:02}", written(&tier))
}

pub(super) fn seed(set: Set, tier: Tier, n: u64) -> u64 {
    1_000_000 * (1 + set as u64) + 10_000 * (1 + tier as u64) + n
}

pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Draw(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The number is in `[0, 1)`.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (-53_f64).exp2()
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.uniform() * of.len() as f64) as usize]
    }

    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + (self.uniform() * f64::from(high - low + 1)) as u32
    }

    pub(super) fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.uniform())
    }

    pub(super) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    pub(super) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.digits$e}").parse().unwrap_or(value)
}

/// The description of a size distribution, and the distribution as YAML without the mean.
type Law = (&'static str, &'static str);

const EXPONENTIAL: Law = ("exponential", "law: exponential");
const CONSTANT: Law = ("constant", "law: deterministic");
const HEAVY: [Law; 4] = [
    ("lognormal of scv 4", "law: lognormal, scv: 4"),
    ("lognormal of scv 10", "law: lognormal, scv: 10"),
    ("hyperexponential of scv 4", "law: hyperexponential, scv: 4"),
    (
        "hyperexponential of scv 10",
        "law: hyperexponential, scv: 10",
    ),
];

struct Draft {
    load: f64,
    law: Law,
    /// The number of servers of each shape, which is 0 if this is not a fleet, and the capacities.
    shapes: Vec<(u32, Vec<u32>)>,
    types: Vec<Kind>,
}

struct Kind {
    nodes: u32,
    demand: Vec<u32>,
    mean: f64,
    share: f64,
}

impl Draft {
    fn document(&self, source: &str, factor: f64) -> String {
        let server = |(count, has): &(u32, Vec<u32>)| match count {
            0 => format!("server: {{capacity: {{{}}}}}\n", amounts(has)),
            count => format!("  - {{count: {count}, capacity: {{{}}}}}\n", amounts(has)),
        };
        let is_fleet = self.shapes[0].0 > 0;
        let head = if is_fleet { "servers:\n" } else { "" };
        let servers: String = self.shapes.iter().map(server).collect();
        let count: u32 = self.shapes.iter().map(|(count, _)| count).sum();
        let has = &self.shapes[0].1;
        let kinds = self.types.iter().enumerate().map(|(i, kind)| {
            let parts = kind.demand.iter().zip(has);
            let most = parts.map(|(d, c)| f64::from(*d) / f64::from(*c));
            let most = most.fold(0.0, f64::max) * f64::from(kind.nodes) / f64::from(count.max(1));
            let raw = kind.share / (most * kind.mean * self.types.len() as f64);
            let rate = rounded(factor * rounded(raw, 3), 4);
            let nodes = match kind.nodes {
                1 => String::new(),
                nodes => format!("nodes: {nodes}, "),
            };
            let (demand, mean, law) = (amounts(&kind.demand), kind.mean, self.law.1);
            format!("  - {{name: t{i}, {nodes}demand: {{{demand}}}, arrival_rate: {rate}, size: {{{law}, mean: {mean}}}}}\n")
        });
        format!(
            "kind: multiresource\nsource: {source}\ntime_unit: s\n{head}{servers}jobs:\n{}",
            kinds.collect::<String>()
        )
    }
}

fn amounts(values: &[u32]) -> String {
    let named = values.iter().enumerate().filter(|(_, value)| **value > 0);
    named.map(|(j, value)| format!("r{j}: {value}")).join(", ")
}

fn exact(n: u64, draw: &mut Draw) -> Draft {
    let (types, most, loads): (u32, u32, &[f64]) = match n % 2 {
        0 => (2, 16, &[0.6, 0.7, 0.8, 0.9]),
        _ => (3, 6, &[0.5, 0.6, 0.7, 0.8]),
    };
    let (load, capacity) = (draw.pick(loads), draw.between(3, most));
    let widest = draw.pick(&[1.0, 3.0, 10.0]);
    let mut kind = |i: u32| Kind {
        nodes: 1,
        demand: vec![match i {
            0 => draw.between(1, capacity.div_ceil(4)),
            _ if i == types - 1 => draw.between(capacity / 2 + 1, capacity),
            _ => draw.between(1, capacity),
        }],
        mean: rounded(draw.log_uniform(1.0, widest), 2),
        share: 0.2 + draw.uniform(),
    };
    Draft {
        types: (0..types).map(&mut kind).collect(),
        load,
        law: EXPONENTIAL,
        shapes: vec![(0, vec![capacity])],
    }
}

/// Three of five systems have a single server, one is a fleet, and one has jobs that need several
/// nodes. The kind of size distribution is the same for five systems, and then it changes.
fn bounded(n: u64, draw: &mut Draw) -> Draft {
    let law = match n / 5 % 3 {
        0 => EXPONENTIAL,
        1 => CONSTANT,
        _ => draw.pick(&HEAVY),
    };
    let load = draw.pick(&[0.5, 0.6, 0.7, 0.8, 0.9, 0.95]);
    let types = draw.log_uniform(3.0, 31.0) as usize;
    let resources = draw.between(1, 4);
    let sizes = [8, 16, 32, 64, 96, 128];
    let has: Vec<u32> = (0..resources).map(|_| draw.pick(&sizes)).collect();
    let mut shapes = vec![(0, has.clone())];
    if n % 5 >= 3 {
        shapes[0].0 = draw.between(4, 16);
    }
    if n % 5 == 3 {
        let parts: Vec<u32> = has.iter().map(|c| c / draw.pick(&[1, 2, 4])).collect();
        shapes.push((draw.between(2, 8), parts));
    }
    let (servers, widest) = (shapes[0].0, draw.pick(&[1.0, 3.0, 10.0, 100.0]));
    let mut kind = |_| {
        let nodes = match n % 5 {
            4 if draw.uniform() < 0.5 => draw.between(2, servers / 2),
            _ => 1,
        };
        let large = draw.between(1, resources) - 1;
        let most = draw.log_uniform(1.0 / 64.0, 1.0);
        let demand = has.iter().zip(0..).map(|(c, j)| {
            let part = match j == large {
                true => 1.0,
                false => (1.25 * draw.uniform() - 0.25).max(0.0),
            };
            (most * part * f64::from(*c)).ceil() as u32
        });
        Kind {
            nodes,
            demand: demand.collect(),
            mean: rounded(draw.log_uniform(1.0, widest), 2),
            share: 0.2 + draw.uniform(),
        }
    };
    Draft {
        types: (0..types).map(&mut kind).collect(),
        load,
        law,
        shapes,
    }
}
