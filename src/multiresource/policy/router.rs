use std::ops::Range;

use crate::multiresource::artifact::{Checked, Routing, Server};
use crate::multiresource::workload::Workload;

/// To which server of a fleet a job goes as it arrives. Servers are counted shape by shape, in the
/// workload's order.
///
/// *Probabilistic*: to a shape by the policy's fractions, there to any server alike, independently
/// of all else. Every server then is a queue of its own with Poisson arrivals, and the exact claims
/// hold.
///
/// *Least loaded*: among the servers whose shape the policy sends the type to, the one with the
/// least `(q + 1)/(π_h W_h)_i`: q jobs of the type are there, the new one makes one more, and the
/// server works on `(π_h W_h)_i` of them at a time on average. Times the mean size, which is the
/// same everywhere, that is how long the new job would be there if the server's mean service were
/// steady: the rule of shortest expected delay (Whitt, Deciding which queue to join: some
/// counterexamples, Operations Research 34(1), 1986; Selen, Adan, Kapodistria, van Leeuwaarden,
/// Steady-state analysis of shortest expected delay routing, Queueing Systems 84, 2016). Of
/// equals any, alike. It sees neither the phases of the servers' policies nor jobs of other
/// types, and has no proof of stability.
///
/// The rule draws no random numbers: its caller supplies a uniform one.
#[derive(Clone, Debug)]
pub struct Router {
    rule: Routing,
    /// By type.
    destinations: Vec<Vec<Destination>>,
}

/// The servers of one shape, as one type sees them.
#[derive(Clone, Debug)]
struct Destination {
    /// The first of them.
    first: usize,
    /// n_h ≥ 1.
    count: usize,
    /// r_ih > 0.
    fraction: f64,
    /// (π_h W_h)_i > 0.
    serves: f64,
}

impl Destination {
    fn servers(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// One shape of servers, as jobs are sent to it.
#[derive(Clone, Debug)]
pub struct ShapeShare {
    /// How many servers have it, n_h ≥ 1.
    pub count: usize,
    /// The fraction of each type that is sent to them (K), in \[0, 1\].
    pub fractions: Vec<f64>,
    /// How many jobs of each type one of them works on at a time on average (K), > 0 where jobs
    /// are sent.
    pub serves: Vec<f64>,
}

impl Router {
    /// The rule for a policy that has been checked.
    pub fn new(policy: &Checked, rule: Routing) -> Self {
        let site = policy.workload();
        let types = site.fleet().types();
        let share = |(server, sent): (Server<'_>, &Workload)| ShapeShare {
            count: server.policy.count as usize,
            fractions: server.policy.routing.clone(),
            serves: types
                .iter()
                .map(|t| serves(&server, sent, t.name()))
                .collect(),
        };
        let shares = policy.artifact().servers().zip(site.servers()).map(share);
        Router::of_shapes(&shares.collect::<Vec<_>>(), rule)
    }

    /// The rule for servers of these shapes, of which each type is sent to one at least.
    pub fn of_shapes(shapes: &[ShapeShare], rule: Routing) -> Self {
        let of_type = |i: usize| -> Vec<Destination> {
            let mut first = 0;
            let mut all = Vec::new();
            for shape in shapes {
                if shape.fractions[i] > 0.0 {
                    all.push(Destination {
                        first,
                        count: shape.count,
                        fraction: shape.fractions[i],
                        serves: shape.serves[i],
                    });
                }
                first += shape.count;
            }
            all
        };
        let types = shapes.first().map_or(0, |shape| shape.fractions.len());
        Router {
            rule,
            destinations: (0..types).map(of_type).collect(),
        }
    }

    /// The server for a job of type i that arrives, where `present` says how many jobs of type i
    /// each server has, and `draw` is uniform in [0, 1). O(servers).
    pub fn route(&self, i: usize, present: &[u32], draw: f64) -> usize {
        let found = self.route_among(i, present, draw, |_| true);
        found.expect("each type is sent to some server")
    }

    /// The same of the servers that are `open`; none where none of them is one that the type is sent to. At random a
    /// shape keeps its fraction, whatever part of it is open.
    #[inline]
    pub fn route_among(
        &self,
        i: usize,
        present: &[u32],
        draw: f64,
        open: impl Fn(usize) -> bool + Copy,
    ) -> Option<usize> {
        match self.rule {
            Routing::Probabilistic => self.at_random(i, draw, open),
            Routing::LeastLoaded => self.least_loaded(i, present, draw, open),
        }
    }

    fn at_random(&self, i: usize, draw: f64, open: impl Fn(usize) -> bool + Copy) -> Option<usize> {
        let all = || self.destinations[i].iter();
        let ready = || all().filter(|to| to.servers().any(open));
        let total: f64 = ready().map(|d| d.fraction).sum();
        let mut point = draw * total;
        let mut last = None;
        for to in ready() {
            let servers = || to.servers().filter(|n| open(*n));
            if point < to.fraction {
                let count = servers().count();
                let which = (point / to.fraction * count as f64) as usize;
                return servers().nth(which.min(count - 1));
            }
            point -= to.fraction;
            last = servers().last();
        }
        // By rounding the point was beyond the last.
        last
    }

    fn least_loaded(
        &self,
        i: usize,
        present: &[u32],
        draw: f64,
        open: impl Fn(usize) -> bool + Copy,
    ) -> Option<usize> {
        let load = |to: &Destination, n: usize| (f64::from(present[n]) + 1.0) / to.serves;
        let (mut least, mut equals) = (f64::INFINITY, 0);
        for to in &self.destinations[i] {
            for n in to.servers().filter(|n| open(*n)) {
                let load = load(to, n);
                if load < least {
                    (least, equals) = (load, 0);
                }
                equals += usize::from(load == least);
            }
        }
        let mut which = (draw * equals as f64) as usize;
        let mut last = None;
        for to in &self.destinations[i] {
            for n in to.servers().filter(|n| open(*n)) {
                if load(to, n) == least {
                    last = Some(n);
                    if which == 0 {
                        return last;
                    }
                    which -= 1;
                }
            }
        }
        last
    }
}

/// `(π_h W_h)_i`: how many jobs of this type a server serves on average, of all that is sent there, by
/// its policy's mix of schedules or, where it has none, by that of its certificate; 1 without either,
/// and where the mix does not serve it, so that the shortest queue is joined.
fn serves(server: &Server<'_>, sent: &Workload, name: &str) -> f64 {
    let place = sent.types().iter().position(|kind| kind.name() == name);
    let served = place.zip(server.mix()).map(|(k, (schedules, weights))| {
        let pairs = schedules.iter().zip(weights);
        pairs.map(|(u, p)| p * f64::from(u[k])).sum()
    });
    served.filter(|served: &f64| *served > 0.0).unwrap_or(1.0)
}
