//! How many of the 95 % intervals of many seeds hold the exact mean response time, where runs end by
//! their precision.
//!
//!     cargo run --release --example coverage [SEEDS] [NAME] [PRECISION …]
//!
//! 200 seeds of all queues (or of those whose name has NAME in it; `all`), at 5 % and at 1 %, which is
//! the default of `synth simulate`. At 1 % nMSR takes 200 million events a seed.
use std::error::Error;

use synth::multiresource::artifact::{Backfill, EmptySlots, Family, Preemption, Quantity};
use synth::multiresource::simulator::{Contender, Estimate, Settings};
use synth::multiresource::synthesis::{Options, Outcome, synthesize};
use synth::multiresource::workload::Workload;

/// A queue whose mean response time is known.
struct Known {
    name: &'static str,
    workload: Workload,
    contender: Contender,
    exact: f64,
}

impl Known {
    /// M/G/1 at ρ = .8, mean size 1: E[T] = 1 + ρ (1 + scv)/2/(1 − ρ) (Pollaczek and Khinchin).
    fn single_server(name: &'static str, size: &str, scv: f64) -> Result<Self, Box<dyn Error>> {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 1}}}}\njobs:\n  - {{name: a, demand: {{cpu: 1}}, arrival_rate: .8, {size}}}\n"
        );
        Ok(Known {
            name,
            workload: Workload::parse(&text, name)?.workload,
            contender: Contender::parse("fcfs")?,
            exact: 1.0 + 0.8 * (1.0 + scv) / 2.0 / 0.2,
        })
    }

    /// Section 7 of the MSR paper at .9, run as it is analysed.
    fn msr(name: &'static str, preemption: Preemption) -> Result<Self, Box<dyn Error>> {
        let workload = Workload::read("models/section7.yaml".as_ref())?.workload;
        let options = Options {
            backfill: Backfill::None,
            empty_slots: EmptySlots::Phantom,
            ..Options::new(preemption)
        };
        let Outcome::Policy(made) = synthesize(&workload, &options)? else {
            return Err("no policy can stabilize this workload".into());
        };
        let mut claims = made.artifact.claims.iter();
        let mean = claims.find(|c| c.quantity == Quantity::MeanResponse && c.job_type.is_none());
        let exact = mean.ok_or("no mean is claimed")?.value;
        let contender = Family::Msr(made.policy.clone()).into();
        Ok(Known {
            name,
            workload,
            contender,
            exact,
        })
    }

    fn estimate(
        &self,
        seed: u64,
        precision: f64,
    ) -> Result<Option<(Estimate, f64)>, Box<dyn Error>> {
        let settings = Settings {
            seed,
            precision,
            ..Settings::default()
        };
        let run = self.contender.simulate(&self.workload, &settings, |_| ())?;
        Ok(run.mean_response.map(|mean| (mean, run.events as f64)))
    }

    fn told(&self, seeds: u64, precision: f64) -> Result<String, Box<dyn Error>> {
        let found = (0..seeds).map(|seed| self.estimate(5000 + seed, precision));
        let found: Vec<Option<(Estimate, f64)>> = found.collect::<Result<_, _>>()?;
        let found: Vec<(Estimate, f64)> = found.into_iter().flatten().collect();
        let count = |of: fn(&Estimate, f64) -> bool| {
            found.iter().filter(|(e, _)| of(e, self.exact)).count()
        };
        let mean = |of: &dyn Fn(&(Estimate, f64)) -> f64| {
            found.iter().map(of).sum::<f64>() / found.len() as f64
        };
        Ok(format!(
            "{:26} {:>3.0} %: of {seeds} seeds {} have a mean, {} cover, {} are too low, {} too high; mean error {:+.2} %, mean width ± {:.2} %, {:.1} million events",
            self.name,
            100.0 * precision,
            found.len(),
            count(|e, exact| e.covers(exact, 0.95)),
            count(|e, exact| e.mean < exact && !e.covers(exact, 0.95)),
            count(|e, exact| e.mean > exact && !e.covers(exact, 0.95)),
            100.0 * mean(&|(e, _)| e.mean / self.exact - 1.0),
            100.0 * mean(&|(e, _)| e.relative()),
            mean(&|(_, events)| events / 1e6),
        ))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(Ok(200), |seeds| seeds.parse())?;
    let name = arguments
        .next()
        .filter(|name| name != "all")
        .unwrap_or_default();
    let given: Vec<f64> = arguments.map(|p| p.parse()).collect::<Result<_, _>>()?;
    let precisions = if given.is_empty() {
        vec![0.05, 0.01]
    } else {
        given
    };
    let known = [
        Known::single_server("M/M/1 at .8", "mean_size: 1", 1.0)?,
        Known::single_server(
            "M/G/1 at .8, lognormal",
            "size: {law: lognormal, mean: 1, scv: 4}",
            4.0,
        )?,
        Known::msr("section 7 at .9, pMSR", Preemption::Full)?,
        Known::msr("section 7 at .9, nMSR", Preemption::None)?,
    ];
    for precision in precisions {
        for queue in known.iter().filter(|queue| queue.name.contains(&name)) {
            println!("{}", queue.told(seeds, precision)?);
        }
    }
    Ok(())
}
