//! An `M/M/1` queue, which is the simplest example of a discipline.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::queue::{Departure, Discipline, Queue, QueueIntegrals, busy_column};
use crate::run::Run;
use crate::sample::Sample;
use crate::settings::{JobClass, Settings};
use crate::statistics::Estimate;
use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;

struct Fcfs {
    jobs: VecDeque<(f64, f64)>,
    end: f64,
}

impl Fcfs {
    fn serve_first(&mut self, now: f64, gauges: &mut QueueIntegrals) {
        self.end = self.jobs.front().map_or(f64::INFINITY, |job| now + job.1);
        gauges.running(0, self.jobs.len().min(1) as u64, now);
        gauges.works(0, !self.jobs.is_empty(), now);
    }
}

impl Discipline for Fcfs {
    fn arrive(&mut self, now: f64, _: u32, size: f64, gauges: &mut QueueIntegrals) {
        self.jobs.push_back((now, size));
        if self.jobs.len() == 1 {
            self.serve_first(now, gauges);
        }
    }

    fn next(&mut self) -> f64 {
        self.end
    }

    fn happen(&mut self, now: f64, gauges: &mut QueueIntegrals) -> Option<Departure> {
        let (arrived, size) = self.jobs.pop_front()?;
        self.serve_first(now, gauges);
        Some(Departure {
            class: 0,
            arrived,
            started: now - size,
        })
    }

    fn audit(&self) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Own {
    pub busy: Option<Estimate>,
}

/// Runs a simulation of an `M/M/1` queue with this arrival rate \[1/time\] and a mean size of 1.
pub fn run(rate: f64, settings: &Settings) -> Run<Own> {
    let size = SizeDistribution::Exponential { mean: Decimal::ONE };
    let queue = Queue {
        classes: &[JobClass::poisson("a", rate, (1.0, &size), vec![1.0], 1.0)],
        rates: &[rate],
        size: &size,
        servers: 1,
    };
    let fcfs = |_| Fcfs {
        jobs: VecDeque::new(),
        end: f64::INFINITY,
    };
    let busy = |s: &Sample| s.time_average(|row| row[s.columns.extra(busy_column(0))]);
    let own = |sample: Option<&Sample>| Own {
        busy: sample.and_then(busy),
    };
    let run = queue.simulate(fcfs, settings, |_| (), own);
    run.expect("there is no invariant to violate")
}
