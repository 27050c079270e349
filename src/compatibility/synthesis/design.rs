//! Which servers each class should have, of at most so many: by exchange of one server of one class at a time, beside bounds
//! that no assignment passes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{additions, is_set};
use crate::compatibility::analysis;
use crate::compatibility::artifact::Design;
use crate::compatibility::workload::{Class, Cluster};
use crate::number::Decimal;

/// What an assignment is best for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The least load ρ: the most that can be added to all arrivals alike.
    Load,
    /// The least mean response time under balanced fairness.
    Response,
}

/// An assignment that was found.
#[derive(Clone, Debug)]
pub struct Designed {
    /// The cluster with it.
    pub cluster: Cluster,
    /// What it was before, and what no assignment passes.
    pub record: Design,
}

/// Additions that the search from all starts may take: some twenty seconds.
const WORK: f64 = 2.5e9;

/// Assignments that are looked at in all, at least and at most.
const LOOKS: [f64; 2] = [200.0, 20_000.0];

/// Assignments from which a search starts: the workload's own, and drawn ones.
const STARTS: usize = 8;

/// Finds an assignment of at most `degree` servers a class; servers of rate 0 are given to nobody. The same seed gives the
/// same assignment.
pub fn design(
    cluster: &Cluster,
    aim: Aim,
    degree: usize,
    seed: u64,
    interrupt: &Arc<AtomicBool>,
) -> Designed {
    let usable = cluster.servers().iter().enumerate();
    let usable: Vec<usize> = usable
        .filter(|(_, s)| s.rate > Decimal::ZERO)
        .map(|(n, _)| n)
        .collect();
    let degree = degree.min(usable.len());
    let mut search = Search {
        cluster,
        aim,
        degree,
        usable,
        random: Xoshiro256PlusPlus::seed_from_u64(seed),
        looks: looks(cluster, aim),
        interrupt,
    };
    let mut best = search.improved(search.own());
    for _ in 1..STARTS {
        if search.is_over() {
            break;
        }
        let drawn = search.drawn();
        let found = search.improved(drawn);
        if found.1 < best.1 {
            best = found;
        }
    }
    let before = analysis::load(cluster).load;
    let response = |cluster: &Cluster| {
        let load = analysis::load(cluster).load;
        let means = (load < 1.0)
            .then(|| analysis::means(cluster).ok())
            .flatten()?;
        Some(means.response(cluster))
    };
    Designed {
        record: Design {
            degree,
            load_before: before,
            response_before: response(cluster),
            least_load: search.least_load(),
            least_response: search.least_response(),
        },
        cluster: search.with(&best.0),
    }
}

/// How many assignments are looked at.
fn looks(cluster: &Cluster, aim: Aim) -> u64 {
    let work = match aim {
        Aim::Load => (cluster.servers().len() * cluster.classes().len()) as f64,
        Aim::Response => additions(cluster),
    };
    (WORK / work).clamp(LOOKS[0], LOOKS[1]) as u64
}

/// By class, its servers, ascending.
type Assignment = Vec<Vec<usize>>;

/// What an assignment is worth: of two the lesser is the better one.
type Worth = [f64; 2];

struct Search<'a> {
    cluster: &'a Cluster,
    aim: Aim,
    degree: usize,
    /// Servers with a capacity.
    usable: Vec<usize>,
    random: Xoshiro256PlusPlus,
    /// Assignments that may still be looked at.
    looks: u64,
    interrupt: &'a Arc<AtomicBool>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.looks == 0 || is_set(self.interrupt)
    }

    fn with(&self, assignment: &Assignment) -> Cluster {
        let classes = self.cluster.classes().iter().zip(assignment);
        let class = |(class, servers): (&Class, &Vec<usize>)| Class {
            servers: servers.clone(),
            ..class.clone()
        };
        self.cluster.with_classes(classes.map(class).collect())
    }

    /// The load, and where it is what counts or there is no other, the mean response time.
    fn worth(&mut self, assignment: &Assignment) -> Worth {
        self.looks = self.looks.saturating_sub(1);
        let cluster = self.with(assignment);
        let load = analysis::load(&cluster).load;
        if load >= 1.0 {
            return [f64::MAX, load];
        }
        match self.aim {
            Aim::Load => [load, self.spread(assignment)],
            Aim::Response => match analysis::means(&cluster) {
                Ok(means) => [means.response(&cluster), load],
                Err(_) => [load, self.spread(assignment)],
            },
        }
    }

    /// Where several have the same load: how unevenly it lies on the servers if each class uses its own alike.
    fn spread(&self, assignment: &Assignment) -> f64 {
        let mut loads = vec![0.0; self.cluster.servers().len()];
        let rates = self.cluster.service_rates();
        for (own, class) in assignment.iter().zip(self.cluster.classes()) {
            let all: f64 = own.iter().map(|s| rates[*s]).sum();
            own.iter()
                .for_each(|s| loads[*s] += class.arrival_rate.value() / all);
        }
        loads.iter().map(|load| load * load).sum()
    }

    /// The workload's own: the fastest of each class's servers, filled up with those that have the least to do.
    fn own(&self) -> Assignment {
        let rates = self.cluster.service_rates();
        let mut loads = vec![0.0; rates.len()];
        let classes = self.cluster.classes().iter();
        let assignment = classes.map(|class| {
            let mut own = class.servers.clone();
            own.sort_by(|a, b| rates[*b].total_cmp(&rates[*a]));
            own.truncate(self.degree);
            while own.len() < self.degree {
                let others = self.usable.iter().filter(|s| !own.contains(s));
                let lazy = others.min_by(|a, b| f64::total_cmp(&loads[**a], &loads[**b]));
                own.push(*lazy.expect("the degree is at most the number of servers"));
            }
            let all: f64 = own.iter().map(|s| rates[*s]).sum();
            own.iter()
                .for_each(|s| loads[*s] += class.arrival_rate.value() / all);
            own.sort_unstable();
            own
        });
        assignment.collect()
    }

    fn drawn(&mut self) -> Assignment {
        let classes = 0..self.cluster.classes().len();
        let draw = |_| {
            let (drawn, _) = self.usable.partial_shuffle(&mut self.random, self.degree);
            let mut own = drawn.to_vec();
            own.sort_unstable();
            own
        };
        classes.map(draw).collect()
    }

    /// Exchanges as long as one makes it better; they are tried in random order.
    fn improved(&mut self, start: Assignment) -> (Assignment, Worth) {
        let mut best = (start.clone(), self.worth(&start));
        let mut failed = 0;
        let (classes, usable) = (start.len(), self.usable.len());
        let exchanges = classes * self.degree * (usable - self.degree);
        while failed < 2 * exchanges && !self.is_over() {
            let i = self.random.random_range(0..classes);
            let place = self.random.random_range(0..self.degree);
            let server = self.usable[self.random.random_range(0..usable)];
            if best.0[i].contains(&server) {
                continue;
            }
            let mut tried = best.0.clone();
            tried[i][place] = server;
            tried[i].sort_unstable();
            let worth = self.worth(&tried);
            if worth < best.1 {
                best = (tried, worth);
                failed = 0;
            } else {
                failed += 1;
            }
        }
        best
    }

    /// `max_k Σ of the k greatest λ_i / Σ of the d k greatest μ_s`: k classes have no more than d k servers.
    fn least_load(&self) -> f64 {
        let mut arriving = self.cluster.arrival_rates();
        arriving.sort_by(|a, b| b.total_cmp(a));
        let most = self.most();
        let mut sum = 0.0;
        let loads = arriving.iter().enumerate().map(|(k, rate)| {
            sum += rate;
            sum / most[((k + 1) * self.degree).min(most.len() - 1)]
        });
        loads.fold(0.0, f64::max)
    }

    /// The most that n servers can do \[jobs/time\], n = 0 … S.
    fn most(&self) -> Vec<f64> {
        let mut rates = self.cluster.service_rates();
        rates.sort_by(|a, b| b.total_cmp(a));
        let sums = rates.iter().scan(0.0, |sum, rate| {
            *sum += rate;
            Some(*sum)
        });
        [0.0].into_iter().chain(sums).collect()
    }

    /// With x jobs at most `min(x, K)` classes have some, and these at most d servers each: the number of jobs is, in
    /// distribution, never less than that of the birth-death process with these rates of death.
    fn least_response(&self) -> f64 {
        let most = self.most();
        let arriving = self.cluster.arrival_rate();
        let classes = self.cluster.classes().len();
        let rate = |x: usize| most[(x.min(classes) * self.degree).min(most.len() - 1)];
        let (mut mass, mut sum, mut number) = (1.0, 1.0, 0.0);
        for x in 1..=classes {
            mass *= arriving / rate(x);
            sum += mass;
            number += x as f64 * mass;
        }
        // From here on geometric.
        let r = arriving / rate(classes);
        if r >= 1.0 {
            return f64::MAX;
        }
        let k = classes as f64;
        sum += mass * r / (1.0 - r);
        number += mass * (k * r / (1.0 - r) + r / (1.0 - r).powi(2));
        number / sum / arriving
    }
}
