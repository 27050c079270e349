//! Jobs that are all there at the start: what happens is exact, from one change of the division to the next.

use crate::policy::{Known, Rule, Sharing, Underway};
use crate::workload::Pool;

/// What may be left of a job that ends together with others, of its size.
const LEFT: f64 = 1e-12;

/// How a pool is divided.
#[derive(Clone, Copy, Debug)]
pub enum Dividing<'a> {
    /// By a plan.
    Plan(&'a Rule),
    /// By what is left.
    Sharing(Sharing),
}

/// What happened to a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// When each job ends \[time\]; ∞ where it never does.
    pub ends: Vec<f64>,
    /// Times in which the division did not change, if they were to be kept.
    pub stages: Vec<Stage>,
}

/// A time in which the division does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// When it begins \[time\].
    pub from: f64,
    /// When it ends.
    pub to: f64,
    /// The jobs that are there: place and servers.
    pub jobs: Vec<(usize, f64)>,
}

/// Runs a pool to its end; `keep` is whether stages are told.
pub fn execute(pool: &Pool, dividing: Dividing<'_>, keep: bool) -> Course {
    let jobs = pool.jobs();
    let mut left: Vec<f64> = jobs.iter().map(|job| job.size).collect();
    let mut ends = vec![f64::INFINITY; jobs.len()];
    let mut remaining: Vec<usize> = (0..jobs.len()).collect();
    let (mut now, mut stages, mut known) = (0.0, Vec::new(), Known::default());
    while !remaining.is_empty() {
        let (servers, changes) = match dividing {
            Dividing::Plan(rule) => (rule.servers(pool, &remaining, now), rule.changes(now)),
            Dividing::Sharing(sharing) => {
                let underway = |&i: &usize| Underway {
                    left: left[i],
                    weight: jobs[i].weight,
                    curve: &pool.curves()[jobs[i].curve],
                };
                let underway: Vec<Underway<'_>> = remaining.iter().map(underway).collect();
                let servers = sharing.servers(&underway, pool.servers(), &mut known);
                (servers, f64::INFINITY)
            }
        };
        let rate = |(i, k): (&usize, &f64)| pool.curves()[jobs[*i].curve].at(*k);
        let rates: Vec<f64> = remaining.iter().zip(&servers).map(rate).collect();
        let time = |(i, rate): (&usize, &f64)| left[*i] / rate;
        let first = remaining.iter().zip(&rates).map(time);
        let step = first.fold(changes - now, f64::min);
        if step == f64::INFINITY {
            break;
        }
        let from = now;
        now = if step == changes - now {
            changes
        } else {
            now + step
        };
        if keep {
            let each = remaining.iter().zip(&servers);
            stages.push(Stage {
                from,
                to: now,
                jobs: each.map(|(&i, k)| (i, *k)).collect(),
            });
        }
        for (i, rate) in remaining.iter().zip(&rates) {
            left[*i] -= rate * step;
        }
        remaining.retain(|&i| {
            let stays = left[i] > LEFT * jobs[i].size;
            if !stays {
                ends[i] = now;
            }
            stays
        });
    }
    Course { ends, stages }
}
