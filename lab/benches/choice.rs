//! This benchmark compares the policy that is selected by `synth --preemption none` (or `full` with
//! `--full`) with all rules that know the mean sizes. The seed is not used for the selection.
//!
//!     cargo bench -p synth-lab --bench choice [-- [--full] WORKLOAD.yaml…]
//!
//! By default, it uses the models with a single server and five random systems. Rules that may be
//! better than the selected policy by 2 % are simulated again with more events.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use synth::multiresource::artifact::{Preemption, Quantity};
use synth::multiresource::program::{self, SolveLimits};
use synth::multiresource::simulator::{Contender, Health, Run, Settings, paired_ratio};
use synth::multiresource::synthesis::{
    ChoiceOptions, Chosen, Families, SynthesisOptions, SynthesisOutcome, choose, synthesize,
};
use synth::multiresource::workload::Workload;
use synth::simulation::sweep::Information;

const MODELS: [&str; 10] = [
    "section7",
    "vms",
    "one_or_all",
    "four_types",
    "borg_top10",
    "section7_phases",
    "bursty",
    "cloud_instances",
    "borg_cell_a",
    "borg_cell_b",
];
const GENERATED: [u64; 5] = [11, 12, 13, 14, 15];
const LOADS: [f64; 3] = [0.7, 0.9, 0.95];

const BUDGET: u64 = 400_000_000;
const EVENTS: u64 = 10_000_000;
const LONG: u64 = 40_000_000;
const SEED: u64 = 4711;

const MATTERS: f64 = 0.02;

fn main() {
    let named = std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    let mut systems: Vec<(String, Workload)> = named.map(|file| read(&file)).collect();
    if systems.is_empty() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../models");
        systems.extend(MODELS.map(|name| read(&format!("{folder}/{name}.yaml"))));
        systems.extend(GENERATED.map(|seed| (format!("generated {seed}"), generated(seed))));
    }
    let preemption = match std::env::args().any(|a| a == "--full") {
        true => Preemption::Full,
        false => Preemption::None,
    };
    println!(
        "| system | load | CPU s | selected | claimed E[T] | held-out E[T] | weighted | best rule | ratio | |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, workload) in &systems {
        for load in LOADS {
            println!(
                "| {name} | {load} {}|",
                row(&at(workload, load), preemption)
            );
        }
    }
}

fn read(file: &str) -> (String, Workload) {
    let name = Path::new(file).file_stem().unwrap().to_str().unwrap();
    (name.into(), Workload::read(file.as_ref()).unwrap().workload)
}

fn at(workload: &Workload, load: f64) -> Workload {
    let solved = program::solve(workload, &SolveLimits::default()).unwrap();
    workload.scaled(load / solved.certificate.load).unwrap()
}

fn generated(seed: u64) -> Workload {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let types = random.random_range(8..=12);
    let resources = random.random_range(2..=4);
    let jobs: String = (0..types)
        .map(|i| {
            let mean = 10f64.powf(random.random_range(-1.0..2.0));
            let most = 10f64.powf(random.random_range(-2.0..0.0));
            let demand: Vec<String> = (0..resources)
                .map(|j| {
                    let part = most * if j == i % resources { 1.0 } else { random.random::<f64>() };
                    format!("r{j}: {}", (1000.0 * part).ceil())
                })
                .collect();
            let share = 0.2 + random.random::<f64>();
            let rate = share / types as f64 / mean / most;
            format!(
                "  - {{name: t{i}, demand: {{{}}}, arrival_rate: {rate:.6e}, mean_size: {mean:.6e}}}\n",
                demand.join(", ")
            )
        })
        .collect();
    let capacity: Vec<String> = (0..resources).map(|j| format!("r{j}: 1000")).collect();
    let text = format!(
        "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{{}}}}}\njobs:\n{jobs}",
        capacity.join(", ")
    );
    Workload::parse(&text, "generated").unwrap().workload
}

fn row(workload: &Workload, preemption: Preemption) -> String {
    let options = SynthesisOptions::new(preemption);
    let begun = worked();
    let SynthesisOutcome::Policy(synthesis) = synthesize(workload, &options).unwrap() else {
        return "| overloaded ".into();
    };
    let choice = ChoiceOptions::new(Families::All, BUDGET, 1);
    let chosen = choose(
        &workload.clone().into(),
        &options,
        &choice,
        synthesis,
        |_| (),
    );
    let seconds = worked() - begun;
    match chosen {
        Ok(chosen) => format!("| {seconds:.1} {}", beside(workload, &chosen, preemption)),
        Err(why) => format!("| {seconds:.1} | {why} "),
    }
}

fn worked() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn beside(workload: &Workload, chosen: &Chosen, preemption: Preemption) -> String {
    let rule = &chosen.artifact.policy;
    let run = |contender: &Contender, events| {
        let settings = Settings {
            seed: SEED,
            events,
            precision: 0.0,
            common_sizes: true,
            ..Settings::default()
        };
        contender.simulate(workload, &settings, |_| ()).ok()
    };
    let taken: Contender = rule.clone().into();
    let own = run(&taken, LONG).unwrap();
    let first = run(&taken, EVENTS).unwrap();
    let may = |preempts: bool| !preempts || preemption == Preemption::Full;
    let rules = Contender::rules().iter();
    let rules = rules.filter(|r| may(r.preempts) && r.information == Information::Means);
    // A policy with a mean is better than any policy without a mean.
    let against = |run: &Run, own: &Run| {
        let settled = run.health == Health::Settled;
        settled.then(|| ratio_of_means(run, own).unwrap_or((0.0, 0.0)))
    };
    let compared = rules.filter_map(|r| {
        let rule = Contender::parse(r.name).ok()?;
        let short = run(&rule, EVENTS).filter(|run| run.health != Health::Unstable)?;
        let short = against(&short, &first);
        let is_open = short.is_none_or(|(mean, half_width)| mean - half_width < 1.0 - MATTERS);
        let long = is_open.then(|| run(&rule, LONG)).flatten();
        let long = long.and_then(|run| against(&run, &own));
        Some((r.name, long.or(short)?))
    });
    let best = compared.min_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let mut claims = chosen.artifact.claims.iter();
    let claim = claims.find(|c| c.quantity == Quantity::MeanResponse && c.job_type.is_none());
    let claim = claim.map(|c| (c.value, c.half_width.unwrap_or(0.0)));
    let is_off = claim
        .zip(own.mean_response)
        .is_some_and(|((value, half_width), fresh)| {
            (value - fresh.mean).abs() > half_width.hypot(fresh.half_width)
        });
    let fresh = own.mean_response.map_or("not converged".into(), |e| {
        format!("{:.4} ± {:.4}", e.mean, e.half_width)
    });
    let weighted = own
        .weighted_response
        .map_or("–".into(), |e| format!("{:.3}", e.mean));
    let (name, ratio, lost) = match best {
        Some((name, (mean, half_width))) => {
            let lost = mean + half_width < 1.0 - MATTERS;
            (
                name,
                format!("{mean:.3} ± {half_width:.3}"),
                if lost { "lost" } else { "" },
            )
        }
        None => ("none converged", "–".into(), ""),
    };
    format!(
        "| {} | {} | {fresh} | {weighted} | {name} | {ratio} | {lost}{} ",
        rule.followed().name(),
        claim.map_or("–".into(), |(value, half_width)| format!(
            "{value:.4} ± {half_width:.4}"
        )),
        if is_off { " claim off" } else { "" },
    )
}

fn ratio_of_means(run: &Run, than: &Run) -> Option<(f64, f64)> {
    let pairs = run.replications.iter().zip(&than.replications);
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?))).unzip();
    paired_ratio(&a, &b).map(|ratio| (ratio.mean, ratio.half_width))
}
