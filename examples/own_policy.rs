//! This example simulates a custom policy, which is best fit, and compares it with First-Fit.
//!
//! ```text
//! cargo run --release --example own_policy
//! ```
//!
//! ```text
//! E[T] [s]                     ρ = 0.3         ρ = 0.5         ρ = 0.7        ρ = 0.85
//! first-fit              1.074 ± 0.010   1.298 ± 0.012   1.967 ± 0.019   5.102 ± 0.068
//! best-fit               1.076 ± 0.010   1.296 ± 0.012   2.048 ± 0.018   6.052 ± 0.118
//! ```
use std::{error::Error, path::Path};

use synth::multiresource::policy::{Event, FIRST_FIT, Policy, System, Violation};
use synth::multiresource::simulator::{Health, Run, Settings, simulate};
use synth::multiresource::workload::Workload;

const LOADS: [f64; 4] = [0.3, 0.5, 0.7, 0.85];

/// If several types fit, this policy starts the type with the largest dominant share, which is the
/// largest fraction of a resource that it needs. If there is a tie, the oldest job is started.
#[derive(Clone)]
struct BestFit {
    dominant_shares: Vec<f64>,
}

impl BestFit {
    fn new(workload: &Workload) -> Self {
        BestFit {
            dominant_shares: workload.dominant_shares(),
        }
    }

    fn best(&self, system: &System) -> Option<usize> {
        let waiting = (0..system.types()).filter(|&i| system.fits(i));
        let heads = waiting.filter_map(|i| system.oldest(i).map(|job| (i, job.number)));
        let best = heads.max_by(|(a, old), (b, young)| {
            let shares = self.dominant_shares[*a].total_cmp(&self.dominant_shares[*b]);
            shares.then(young.cmp(old))
        });
        best.map(|(i, _)| i)
    }
}

impl Policy for BestFit {
    fn react(&mut self, _event: Event, system: &mut System) {
        while let Some(i) = self.best(system) {
            system.start(i);
        }
    }
}

fn cell(run: &Run) -> String {
    match (run.health, run.mean_response) {
        (Health::Settled, Some(e)) => format!("{:.3} ± {:.3}", e.mean, e.half_width),
        (Health::Unstable, _) => "unstable".into(),
        _ => "unsettled".into(),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The load of the workload is 0.9.
    let workload = Workload::read(Path::new("models/section7.yaml"))?.workload;
    let settings = Settings {
        events: 20_000_000,
        ..Settings::default()
    };
    let title = |load: &f64| format!("ρ = {load}");
    row("E[T] [s]", LOADS.iter().map(title));
    let simulated = |name, run: &dyn Fn(&Workload) -> Result<Run, Violation>| {
        let at = |load: &f64| Ok(cell(&run(&workload.scaled(load / 0.9)?)?));
        let cells: Result<Vec<String>, Box<dyn Error>> = LOADS.iter().map(at).collect();
        cells.map(|cells| row(name, cells.into_iter()))
    };
    simulated("first-fit", &|workload| {
        simulate(workload, FIRST_FIT, &settings, |_| ())
    })?;
    simulated("best-fit", &|workload| {
        simulate(workload, BestFit::new(workload), &settings, |_| ())
    })?;
    println!(
        "the values are mean response times with 95 % confidence intervals, and the arrivals are the same for each load"
    );
    Ok(())
}

fn row(name: &str, cells: impl Iterator<Item = String>) {
    let cells: String = cells.map(|cell| format!("{cell:>16}")).collect();
    println!("{name:<20}{cells}");
}
