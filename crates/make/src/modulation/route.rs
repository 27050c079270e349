use std::collections::HashMap;

use petgraph::graph::{DiGraph, NodeIndex};

use synth_multiresource::artifact::{Admission, Drain, MsrConfig, Preemption};
use synth_multiresource::schedule::Packing;
use synth_multiresource::workload::Workload;
use synth_queues::ctmc::SolverError;

/// The reason why a modulating chain cannot be built or solved.
#[derive(Debug, thiserror::Error)]
pub enum ModulationError {
    /// The number of phases of the chain would be greater than this limit.
    #[error(
        "the modulating chain has more than {0} phases, because its routes wait for too many individual jobs. Use a sequential route to reduce the number of phases, use full preemption, which does not need a route, or use a smaller server in the model"
    )]
    TooLarge(usize),
    /// The chain has no stationary distribution.
    #[error(transparent)]
    Chain(#[from] SolverError),
}

/// A state of the modulating chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Phase {
    /// The position in the loop of the working schedule or of the destination of the route.
    pub position: usize,
    /// Whether this is a working schedule and not a stage of a route.
    pub working: bool,
    /// The number of slots of each type (K) that serve jobs.
    pub slots: Vec<u32>,
    /// The number of slots of each type (K) in setup, which use capacity but do not serve jobs.
    pub setups: Vec<u32>,
}

/// The rate, and the type whose completion this is, or `None` for a timer or a setup.
type Step = (f64, Option<usize>);

/// Builds the modulating chain of a policy. Nodes follow the order of the loop and, within a route,
/// the number of slots still to go, so that only the last edge goes backward.
pub(super) fn chain(
    workload: &Workload,
    policy: &MsrConfig,
    limit: usize,
) -> Result<DiGraph<Phase, Step>, ModulationError> {
    if least_phases(policy) > limit as f64 {
        return Err(ModulationError::TooLarge(limit));
    }
    let packing = Packing::new(workload);
    let rates: Vec<f64> = workload.types().iter().map(|t| t.service_rate()).collect();
    let mut chain = DiGraph::new();
    // In a loop, each of the other working states comes after the route that leads to it.
    let first = match policy.rates {
        None => 1,
        Some(_) => policy.order.len(),
    };
    let working = |n: usize| Phase::new(n, true, policy.schedule(n));
    let mut works: Vec<NodeIndex> = (0..first).map(|n| chain.add_node(working(n))).collect();
    for position in 0..policy.order.len() {
        for (next, rate) in policy.leaving(position) {
            let route = Leg {
                packing: &packing,
                policy,
                rates: &rates,
                position: next,
            };
            let (here, closing) = (works[position], works.get(next).copied());
            let end = route.build(&mut chain, here, rate, closing, limit)?;
            if next == works.len() {
                works.push(end);
            }
        }
    }
    Ok(chain)
}

/// Returns a lower bound on the number of phases. In a loop, a leg has at least one phase for each
/// vector of slots still to go (concurrent) or for each slot (sequential).
fn least_phases(policy: &MsrConfig) -> f64 {
    if policy.rates.is_some() {
        return policy.order.len() as f64;
    }
    let leg = |position: usize| -> f64 {
        let to = policy.schedule((position + 1) % policy.order.len());
        let pairs = policy.schedule(position).iter().zip(to);
        let excess = pairs.map(|(u, v)| f64::from(u.saturating_sub(*v)));
        match (policy.preemption, policy.route.drain) {
            (Preemption::Full, _) => 0.0,
            (_, Drain::Sequential) => excess.sum(),
            (_, Drain::Concurrent) => excess.map(|e| e + 1.0).product::<f64>() - 1.0,
        }
    };
    let legs = 0..policy.order.len();
    legs.map(|position| 1.0 + leg(position)).sum()
}

impl Phase {
    fn new(position: usize, working: bool, slots: &[u32]) -> Self {
        Phase {
            position,
            working,
            slots: slots.to_vec(),
            setups: vec![0; slots.len()],
        }
    }
}

/// The route to the schedule at `position` in the loop.
struct Leg<'a> {
    packing: &'a Packing,
    policy: &'a MsrConfig,
    rates: &'a [f64],
    position: usize,
}

impl Leg<'_> {
    /// Adds the phases of this leg in breadth-first order. Returns the working state at its end.
    fn build(
        &self,
        chain: &mut DiGraph<Phase, Step>,
        from: NodeIndex,
        leaving: f64,
        closing: Option<NodeIndex>,
        limit: usize,
    ) -> Result<NodeIndex, ModulationError> {
        let mut known: HashMap<Phase, NodeIndex> = HashMap::new();
        known.extend(closing.map(|node| (chain[node].clone(), node)));
        let slots = match self.policy.preemption {
            Preemption::Full => self.target(),
            _ => &chain[from].slots,
        };
        let mut departure = Phase::new(self.position, false, slots);
        self.settle(&mut departure);
        let mut layer = vec![(from, departure, (leaving, None))];
        while !layer.is_empty() {
            let mut following = Vec::new();
            for (source, phase, step) in layer {
                let node = known.get(&phase).copied().unwrap_or_else(|| {
                    let node = chain.add_node(phase.clone());
                    known.insert(phase.clone(), node);
                    if !phase.working {
                        following.extend(self.steps(&phase).map(|(p, s)| (node, p, s)));
                    }
                    node
                });
                chain.add_edge(source, node, step);
                if chain.node_count() > limit {
                    return Err(ModulationError::TooLarge(limit));
                }
            }
            layer = following;
        }
        let end = known.get(&Phase::new(self.position, true, self.target()));
        Ok(*end.expect("every route ends in a working schedule"))
    }

    fn target(&self) -> &[u32] {
        self.policy.schedule(self.position)
    }

    fn steps(&self, phase: &Phase) -> impl Iterator<Item = (Phase, Step)> {
        self.moving(phase).into_iter().map(|i: usize| {
            let mut next = phase.clone();
            let step = if self.policy.preemption == Preemption::Setup {
                let setup_rate = self.policy.setup_rate.expect("setups have a rate");
                next.setups[i] -= 1;
                (f64::from(phase.setups[i]) * setup_rate, None)
            } else {
                next.slots[i] -= 1;
                (f64::from(phase.slots[i]) * self.rates[i], Some(i))
            };
            self.settle(&mut next);
            (next, step)
        })
    }

    /// Returns the types with slots still to go, or only the first one if the route is sequential.
    fn moving(&self, phase: &Phase) -> Vec<usize> {
        let leaving = |i: &usize| phase.setups[*i] > 0 || phase.slots[*i] > self.target()[*i];
        let all = (0..phase.slots.len()).filter(leaving);
        match self.policy.route.drain {
            Drain::Sequential => all.take(1).collect(),
            Drain::Concurrent => all.collect(),
        }
    }

    /// Applies the immediate effects of an event: setups start, the route ends or, if admission is
    /// eager, slots that fit are admitted in the order of the types, up to the target.
    fn settle(&self, phase: &mut Phase) {
        if self.policy.preemption == Preemption::Setup {
            for i in self.moving(phase) {
                let excess = phase.slots[i].saturating_sub(self.target()[i]);
                phase.slots[i] -= excess;
                phase.setups[i] += excess;
            }
        }
        if self.moving(phase).is_empty() {
            phase.slots = self.target().to_vec();
            phase.working = true;
        } else if self.policy.route.admission == Admission::Eager {
            let pairs = phase.slots.iter().zip(&phase.setups);
            let held: Vec<u32> = pairs.map(|(c, x)| c + x).collect();
            let room = self.packing.free_capacity(&held);
            let mut room = room.expect("the slots of a phase fit");
            for (i, target) in self.target().iter().enumerate() {
                let lacking = target.saturating_sub(phase.slots[i]);
                let more = lacking.min(self.packing.max_jobs_in(i, &room));
                self.packing.take(i, more, &mut room);
                phase.slots[i] += more;
            }
        }
    }
}
