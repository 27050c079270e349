use super::unsuitable::one_resource;
use super::{Event, Policy, System, Unsuitable};
use crate::ctmc::bisected;
use crate::multiresource::workload::Workload;

/// Balanced Splitting: type i owns `⌊ψ (k/n_i) ρ_i/ρ⌋` slots of n_i servers each, with `ρ_i = λ_i
/// E[S_i] n_i / k` and ρ their sum; the other servers are helpers. An arrival that finds a slot of
/// its type free starts there; else it joins the helpers' queue, which is served first come, first
/// served: its head starts when the free helpers suffice. A slot that comes free goes to the oldest
/// job of its type in that queue. Without preemption.
///
/// Source: Anselmi, Doncel, "Balanced Splitting: a framework for achieving zero-wait in the
/// multiserver-job model", IEEE TPDS 36, 2025 (arXiv 2409.18557), with FCFS for its policy π on the helpers. After its
/// abstract, the only part at hand; details are ours. The number of slots, and that a slot that comes free takes a
/// job from the queue, are as in another simulator of the rule (NeDS-Lab/mjqm-simulator, `BalancedSplitting.cpp` and
/// `toml_policies_loaders.cpp`), which takes ψ = 1 unless told. The scale ψ is ours: the largest in \[0, 1\]
/// that leaves helpers for the largest need, so that every job can be served. Where that leaves all k servers to the
/// helpers, it is FCFS.
///
/// One resource: a slot is a number of servers. O(K) a decision, and O(k) for a helper's end. It is
/// not throughput-optimal.
#[derive(Clone, Debug)]
pub struct BalancedSplitting {
    /// By type: servers that a job needs.
    needs: Vec<u64>,
    /// By type: own slots that are free.
    free: Vec<u64>,
    /// Helpers that are free.
    helpers: u64,
    /// The jobs that run on helpers.
    helped: Vec<u64>,
}

impl BalancedSplitting {
    /// The rule for this workload.
    ///
    /// # Errors
    /// With more than one resource.
    pub fn new(workload: &Workload) -> Result<Self, Unsuitable> {
        let (servers, needs) = one_resource(workload)?;
        let free = own_slots(workload, servers, &needs);
        Ok(BalancedSplitting {
            helpers: servers - owned(&free, &needs),
            helped: Vec::new(),
            free,
            needs,
        })
    }

    /// The free slots of each type, and the free helpers: all of them before the first arrival.
    pub fn split(&self) -> (&[u64], u64) {
        (&self.free, self.helpers)
    }

    fn start_in_slot(&mut self, i: usize, system: &mut System) {
        self.free[i] -= 1;
        system.start(i);
    }

    /// The head of the queue starts while the free helpers suffice.
    fn help(&mut self, system: &mut System) {
        while let Some(i) = system.oldest_type()
            && self.needs[i] <= self.helpers
            && let Some(job) = system.oldest(i)
        {
            self.helpers -= self.needs[i];
            self.helped.push(job.number);
            system.start(i);
        }
    }

    fn leave(&mut self, i: usize, number: u64) {
        match self.helped.iter().position(|helped| *helped == number) {
            Some(place) => {
                self.helped.swap_remove(place);
                self.helpers += self.needs[i];
            }
            None => self.free[i] += 1,
        }
    }
}

impl Policy for BalancedSplitting {
    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Completion(i) => self.leave(i, system.ended()),
            Event::Arrival(_) | Event::Clock(_) => {}
        }
        if let Event::Arrival(i) | Event::Completion(i) = event
            && self.free[i] > 0
            && system.waiting(i) > 0
        {
            self.start_in_slot(i, system);
        }
        self.help(system);
    }
}

/// What a whole number of slots may have been computed too low by.
const ROUNDING: f64 = 1e-9;

fn owned(slots: &[u64], needs: &[u64]) -> u64 {
    slots
        .iter()
        .zip(needs)
        .map(|(slots, need)| slots * need)
        .sum()
}

/// The slots of each type at the largest scale that leaves helpers enough: by bisection.
fn own_slots(workload: &Workload, servers: u64, needs: &[u64]) -> Vec<u64> {
    let largest = needs.iter().copied().max().expect("a workload has a type");
    let types = workload.types().iter().zip(needs);
    let loads: Vec<f64> = types.map(|(t, n)| t.offered_load() * *n as f64).collect();
    let total: f64 = loads.iter().sum();
    let slots = |scale: f64| -> Vec<u64> {
        let of_type = |(load, need): (&f64, &u64)| {
            let slots = scale * servers as f64 / *need as f64 * load / total;
            (slots + ROUNDING).floor() as u64
        };
        loads.iter().zip(needs).map(of_type).collect()
    };
    let leaves_enough = |scale: f64| owned(&slots(scale), needs) + largest <= servers;
    if leaves_enough(1.0) {
        return slots(1.0);
    }
    let [scale, _] = bisected([0.0, 1.0], leaves_enough);
    slots(scale)
}
