//! The queue of a type whose sizes have stages, built by following events from the empty queue. The
//! maker enumerates the states by their position instead (`synth_queues::ctmc::staged_qbd`). Both
//! use the types for levels and distributions, and the number of phases that predicts the work.
//! The oldest jobs are served first. A job that loses its slot keeps its stage, which is drawn when
//! the job is among the first β, the largest number of slots. Of the first `min c > 0` jobs, which
//! are always served together, only the number in each stage matters.

use std::cmp::Ordering;
use std::collections::HashMap;

use synth_queues::ctmc::{Level, ModulatedQueue, PhaseType, Qbd};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Phase {
    state: usize,
    together: Vec<u32>,
    /// The stage of each further job, the oldest first.
    behind: Vec<usize>,
}

struct Jobs<'a> {
    queue: &'a ModulatedQueue<'a>,
    size: &'a PhaseType,
    /// `min c > 0`.
    fewest: u32,
    most: usize,
}

/// Returns the chain on (jobs, phase), with the phases reachable from the empty queue.
pub(super) fn chain(queue: &ModulatedQueue<'_>, size: &PhaseType) -> Qbd {
    let (servers, most) = (queue.servers().iter(), queue.max_servers() as usize);
    let jobs = Jobs {
        queue,
        size,
        fewest: servers.copied().filter(|c| *c > 0).min().unwrap_or(0),
        most,
    };
    let mut places: Vec<HashMap<Phase, usize>> = vec![HashMap::new(); most + 1];
    let mut levels = vec![Level::default(); most + 2];
    let empty = Phase {
        state: 0,
        together: vec![0; size.rates.len()],
        behind: Vec::new(),
    };
    places[0].insert(empty.clone(), 0);
    let mut open = vec![(0, empty)];
    while let Some((count, phase)) = open.pop() {
        let from = places[count.min(most)][&phase];
        for (after, next, rate) in jobs.events(count, &phase) {
            let known = &mut places[after.min(most)];
            let place = known.len();
            let to = *known.entry(next.clone()).or_insert(place);
            if to == place && after < most {
                open.push((after, next));
            } else if to == place {
                open.extend([(most, next.clone()), (most + 1, next)]);
            }
            let block = match after.cmp(&count) {
                Ordering::Greater => &mut levels[count].up,
                Ordering::Less => &mut levels[count].down,
                Ordering::Equal => &mut levels[count].local,
            };
            block.push((from, to, rate));
        }
    }
    for (count, level) in levels.iter_mut().enumerate() {
        level.phases = places[count.min(most)].len();
    }
    let repeating = levels.pop().unwrap_or_default();
    Qbd {
        boundary: levels,
        repeating,
    }
}

impl Jobs<'_> {
    fn events(&self, count: usize, phase: &Phase) -> Vec<(usize, Phase, f64)> {
        let mut events = Vec::new();
        for (edge, _) in self.queue.edges() {
            if edge.from == phase.state && edge.to != phase.state {
                let mut next = phase.clone();
                next.state = edge.to;
                events.push((count, next, edge.rate));
            }
        }
        if count < self.most {
            self.begin(count + 1, phase, self.queue.arrival_rate(), &mut events);
        } else {
            events.push((count + 1, phase.clone(), self.queue.arrival_rate()));
        }
        let slots = self.queue.servers()[phase.state] as usize;
        if slots == 0 {
            return events;
        }
        for (stage, jobs) in phase.together.iter().enumerate().filter(|(_, n)| **n > 0) {
            let mut rest = phase.clone();
            rest.together[stage] -= 1;
            let mut onward = rest.clone();
            if let Some(next) = onward.together.get_mut(stage + 1) {
                *next += 1;
            }
            if !rest.behind.is_empty() {
                let oldest = rest.behind.remove(0);
                rest.together[oldest] += 1;
            }
            self.end_stage((count, stage), f64::from(*jobs), onward, rest, &mut events);
        }
        for place in 0..phase.behind.len().min(slots - self.fewest as usize) {
            let (mut onward, mut rest) = (phase.clone(), phase.clone());
            onward.behind[place] += 1;
            let stage = rest.behind.remove(place);
            self.end_stage((count, stage), 1.0, onward, rest, &mut events);
        }
        events
    }

    /// Adds the end of a stage: a job goes on, or leaves `rest`, and the next waiting job begins.
    fn end_stage(
        &self,
        (count, stage): (usize, usize),
        jobs: f64,
        onward: Phase,
        rest: Phase,
        events: &mut Vec<(usize, Phase, f64)>,
    ) {
        let (rate, goes_on) = (jobs * self.size.rates[stage], self.size.onward[stage]);
        if goes_on > 0.0 {
            events.push((count, onward, rate * goes_on));
        }
        if goes_on < 1.0 && count > self.most {
            self.begin(count - 1, &rest, rate * (1.0 - goes_on), events);
        } else if goes_on < 1.0 {
            events.push((count - 1, rest, rate * (1.0 - goes_on)));
        }
    }

    fn begin(&self, count: usize, phase: &Phase, rate: f64, events: &mut Vec<(usize, Phase, f64)>) {
        let is_together = phase.together.iter().sum::<u32>() < self.fewest;
        let stages = self.size.initial.iter().enumerate();
        for (stage, p) in stages.filter(|(_, p)| **p > 0.0) {
            let mut next = phase.clone();
            if is_together {
                next.together[stage] += 1;
            } else {
                next.behind.push(stage);
            }
            events.push((count, next, rate * p));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use synth_queues::ctmc::{Edge, Environment, staged_qbd};

    #[test]
    fn agrees_with_the_chain_of_the_maker() {
        let sizes = [
            PhaseType::sequence(vec![2.0, 2.0], vec![1.0]),
            PhaseType::sequence(vec![3.0, 1.0, 4.0], vec![0.6, 0.5]),
            PhaseType::branches(vec![0.3, 0.7], &[2.0, 0.5]),
        ];
        let slots: [&[u32]; 5] = [&[1], &[2, 0, 1], &[3, 1], &[0, 4, 2], &[2, 2]];
        for slots in slots {
            let n = slots.len();
            let step = |s: usize| Edge {
                from: s,
                to: (s + 1) % n,
                rate: 0.4 + s as f64,
            };
            let edges = (0..n).filter(|_| n > 1).map(step).collect();
            let environment = Environment::new(n, edges).unwrap();
            for size in &sizes {
                let queue =
                    ModulatedQueue::new(&environment, 0.4, 1.0, slots.to_vec(), vec![false; n]);
                let [own, other] = [chain(&queue, size), staged_qbd(&queue, size)];
                let [a, b] = [&own, &other].map(|process| process.solve().unwrap().mean());
                assert!((a / b - 1.0).abs() < 1e-10, "{slots:?} {size:?}: {a} {b}");
            }
        }
    }
}
