//! This benchmark measures the time to solve the program of a random workload with a proof, and the
//! time to choose the optimum with the smallest number of completions in each cycle without
//! preemption. Each time is the median of multiple runs, and there are three seeds.
#![allow(clippy::unwrap_used, missing_docs)]

mod instances;

use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use synth::multiresource::modulation::{drains, least_drain_order, reduce_drains};
use synth::multiresource::program::{Solution, SolveLimits, solve};
use synth::multiresource::workload::Workload;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

const PATIENCE: Duration = Duration::from_millis(500);

fn main() {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        "class",
        "K",
        "program [ms], seeds 1 2 3",
        "median",
        "rounds",
        "columns",
        "gap",
        "proven",
        "choice [ms]",
        "drains before",
        "after",
    ]);
    let plain = instances::CLASSES.map(|class| (class, &[10, 50, 100, 200][..]));
    let hard = instances::HARD.map(|class| (class, &[10, 50, 100][..]));
    for (class, sizes) in plain.into_iter().chain(hard) {
        for &types in sizes {
            let measured: Vec<Measured> = SEEDS.map(|seed| measure(class, types, seed)).collect();
            table.add_row(row(class, types, &measured));
        }
    }
    for column in 1..11 {
        let column = table.column_mut(column).unwrap();
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("peak memory: {}", peak.trim_start_matches("VmHWM:").trim());
    }
}

struct Measured {
    proof: Duration,
    settled: Duration,
    first: Solution,
    chosen: Solution,
}

fn measure(class: &str, types: usize, seed: u64) -> Measured {
    let document = instances::document(class, types, seed);
    let workload = Workload::parse(&document, "instance").unwrap().workload;
    let quick = SolveLimits {
        face: 0,
        ..SolveLimits::default()
    };
    let (proof, first) = timed(|| solve(&workload, &quick).unwrap());
    let (settled, chosen) = timed(|| {
        let mut solution = solve(&workload, &SolveLimits::default()).unwrap();
        let mix = solution.mixes.remove(0);
        solution.mixes = vec![reduce_drains(&workload, mix, &solution.face)];
        solution
    });
    Measured {
        proof,
        settled,
        first,
        chosen,
    }
}

fn timed<T>(work: impl Fn() -> T) -> (Duration, T) {
    let started = Instant::now();
    let mut times = Vec::new();
    loop {
        let begun = Instant::now();
        let result = work();
        times.push(begun.elapsed());
        if started.elapsed() > PATIENCE {
            return (median(times), result);
        }
    }
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

fn row(class: &str, types: usize, measured: &[Measured]) -> Vec<String> {
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    let proofs: Vec<Duration> = measured.iter().map(|m| m.proof).collect();
    let each: Vec<String> = proofs.iter().map(|time| ms(*time)).collect();
    let of = |f: &dyn Fn(&Measured) -> usize| median(measured.iter().map(f).collect()).to_string();
    let gap = measured
        .iter()
        .map(|m| m.first.certificate.gap())
        .fold(0.0, f64::max);
    let proven = measured
        .iter()
        .filter(|m| m.first.certificate.proven())
        .count();
    let round = |solution: &Solution| {
        let schedules = &solution.mixes[0].schedules;
        drains(schedules, &least_drain_order(schedules))
    };
    let choices = measured.iter().map(|m| m.settled.saturating_sub(m.proof));
    vec![
        class.to_string(),
        types.to_string(),
        each.join(" "),
        ms(median(proofs)),
        of(&|m| m.first.rounds),
        of(&|m| m.first.columns),
        format!("{gap:.0e}"),
        format!("{proven} of {}", measured.len()),
        ms(median(choices.collect())),
        of(&|m| round(&m.first) as usize),
        of(&|m| round(&m.chosen) as usize),
    ]
}
