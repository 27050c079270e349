//! This example uses many seeds, and counts how many of the 95 % confidence intervals contain the
//! exact mean response time.
//!
//!     cargo run --release -p synth-lab --example coverage [SEEDS] [NAME] [LENGTH …]
//!
//! NAME is a part of the name of the queues to use (or `all`). If LENGTH is less than 1, it is the
//! precision at which a run ends. Otherwise, it is a multiple of the number of events that are
//! needed for a mean. The default is 1 and 4, with 200 seeds.
use std::error::Error;

use synth::multiresource::analysis::one_or_all::{MsfqQueue, OneOrAllType};
use synth::multiresource::artifact::{Backfill, EmptySlots, Family, Preemption, Quantity};
use synth::multiresource::simulator::{Contender, Estimate, Settings};
use synth::multiresource::synthesis::{SynthesisOptions, SynthesisOutcome, synthesize};
use synth::multiresource::workload::Workload;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Known {
    name: String,
    workload: Workload,
    contender: Contender,
    exact: f64,
    /// The approximate number of events that are needed for a mean.
    events: f64,
}

impl Known {
    fn single_server(name: &str, size: &str, load: f64, events: f64) -> Result<Self> {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 1}}}}\njobs:\n  - {{name: a, demand: {{cpu: 1}}, arrival_rate: {load}, {size}}}\n"
        );
        let workload = Workload::parse(&text, name)?.workload;
        let second = workload.types()[0].size().moment(2);
        Ok(Known {
            name: format!("{name} at {load}"),
            contender: Contender::parse("fcfs")?,
            // This is the Pollaczek–Khinchine formula.
            exact: 1.0 + load * second / (2.0 * (1.0 - load)),
            workload,
            events,
        })
    }

    /// If the threshold is 0, the policy is Most Servers First.
    fn msfq(threshold: usize, load: f64, events: f64) -> Result<Self> {
        let model = Workload::read("models/one_or_all.yaml".as_ref())?.workload;
        let workload = model.scaled(load / 0.76875)?;
        let stream = |i: usize| OneOrAllType {
            arrival_rate: workload.types()[i].arrival_rate(),
            service_rate: workload.types()[i].service_rate(),
        };
        let queue = MsfqQueue::new(32, threshold, stream(0), stream(1))?;
        Ok(Known {
            name: format!("one-or-all at {load}, MSFQ({threshold})"),
            contender: Contender::parse(&format!("msfq-strict:{threshold}"))?,
            exact: queue.means()?.mean_response(&queue),
            workload,
            events,
        })
    }

    fn msr(preemption: Preemption, load: f64, events: f64) -> Result<Self> {
        let model = Workload::read("models/section7.yaml".as_ref())?.workload;
        let workload = model.scaled(load / 0.9)?;
        let options = SynthesisOptions {
            backfill: Backfill::None,
            empty_slots: EmptySlots::Phantom,
            ..SynthesisOptions::new(preemption)
        };
        let SynthesisOutcome::Policy(synthesis) = synthesize(&workload, &options)? else {
            return Err("there is no policy that is stable for this workload".into());
        };
        let mut claims = synthesis.artifact.claims.iter();
        let mean = claims.find(|c| c.quantity == Quantity::MeanResponse && c.job_type.is_none());
        Ok(Known {
            name: match preemption {
                Preemption::Full => format!("section 7 at {load}, pMSR"),
                _ => format!("section 7 at {load}, nMSR"),
            },
            exact: mean.ok_or("no mean is claimed")?.value,
            contender: Family::Msr(synthesis.policy.clone()).into(),
            workload,
            events,
        })
    }

    fn estimate(&self, settings: &Settings) -> Result<Option<(Estimate, f64)>> {
        let run = self.contender.simulate(&self.workload, settings, |_| ())?;
        Ok(run.mean_response.map(|mean| (mean, run.events as f64)))
    }

    fn line(&self, seeds: u64, settings: &Settings) -> Result<String> {
        let seeded = |seed| Settings {
            seed: 5000 + seed,
            percentiles: false,
            ..settings.clone()
        };
        let found = (0..seeds).map(|seed| self.estimate(&seeded(seed)));
        let found: Vec<Option<(Estimate, f64)>> = found.collect::<Result<_>>()?;
        let found: Vec<(Estimate, f64)> = found.into_iter().flatten().collect();
        if found.is_empty() {
            return Ok(format!(
                "{:28} there is no mean for any of the {seeds} seeds",
                self.name
            ));
        }
        let count = |of: fn(&Estimate, f64) -> bool| {
            found.iter().filter(|(e, _)| of(e, self.exact)).count()
        };
        let mean = |of: &dyn Fn(&(Estimate, f64)) -> f64| {
            found.iter().map(of).sum::<f64>() / found.len() as f64
        };
        let covering = count(|e, exact| e.covers(exact, 0.95));
        Ok(format!(
            "{:28} {} of {seeds} runs have a mean, and {covering} of the intervals ({:.1} %) contain the exact value; {} are too low and {} are too high; the mean error is {:+.2} %, the mean width is ± {:.2} %, and the number of events is {:.1} million",
            self.name,
            found.len(),
            100.0 * covering as f64 / found.len() as f64,
            count(|e, exact| e.mean < exact && !e.covers(exact, 0.95)),
            count(|e, exact| e.mean > exact && !e.covers(exact, 0.95)),
            100.0 * mean(&|(e, _)| e.mean / self.exact - 1.0),
            100.0 * mean(&|(e, _)| e.relative()),
            mean(&|(_, events)| events / 1e6),
        ))
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(Ok(200), |seeds| seeds.parse())?;
    let name = arguments
        .next()
        .filter(|name| name != "all")
        .unwrap_or_default();
    let lengths: Vec<f64> = arguments
        .map(|length| length.parse())
        .collect::<std::result::Result<_, _>>()?;
    let lengths = if lengths.is_empty() {
        vec![1.0, 4.0]
    } else {
        lengths
    };
    let lognormal = |scv: u32| format!("size: {{law: lognormal, mean: 1, scv: {scv}}}");
    let weibull = |scv: u32| format!("size: {{law: weibull, mean: 1, scv: {scv}}}");
    let known = [
        Known::single_server("M/M/1", "mean_size: 1", 0.8, 1.3e5)?,
        Known::single_server("M/M/1", "mean_size: 1", 0.95, 4e5)?,
        Known::single_server("M/M/1", "mean_size: 1", 0.99, 1.1e7)?,
        Known::single_server("M/G/1, lognormal 4", &lognormal(4), 0.8, 5e5)?,
        Known::single_server("M/G/1, lognormal 16", &lognormal(16), 0.8, 2e7)?,
        Known::single_server("M/G/1, lognormal 16", &lognormal(16), 0.5, 2e7)?,
        Known::single_server("M/G/1, Weibull 16", &weibull(16), 0.8, 2e6)?,
        Known::msr(Preemption::Full, 0.9, 1e6)?,
        Known::msr(Preemption::None, 0.9, 1e7)?,
        Known::msr(Preemption::None, 0.95, 4e7)?,
        Known::msfq(31, 0.95, 2e6)?,
        Known::msfq(31, 0.98, 1e7)?,
        Known::msfq(31, 0.99, 3e7)?,
        Known::msfq(0, 0.95, 1.2e7)?,
        Known::msfq(0, 0.98, 9e7)?,
        Known::msfq(0, 0.99, 4e8)?,
    ];
    for queue in known.iter().filter(|queue| queue.name.contains(&name)) {
        for length in &lengths {
            let settings = if *length < 1.0 {
                Settings {
                    precision: *length,
                    ..Settings::default()
                }
            } else {
                Settings {
                    precision: 0.0,
                    events: (length * queue.events) as u64,
                    ..Settings::default()
                }
            };
            println!("{}", queue.line(seeds, &settings)?);
        }
    }
    Ok(())
}
