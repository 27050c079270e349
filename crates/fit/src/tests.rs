#![allow(clippy::unwrap_used)]

use std::io::{BufWriter, Write};
use synth_traces::trace::TraceError;

use super::*;
use synth_multiresource::workload::Workload;
use synth_queues::distribution::ArrivalProcess;
use synth_simulation::{RandomStream, Streams};
use synth_traces::trace::{self, Servers, Source};

type Row = (u64, u64, u32, u32, u64);

fn plain() -> FitOptions {
    FitOptions {
        source: "test".into(),
        max_types: 32,
        rounding_loss: 0.0,
        arrivals: FittedArrivals::Auto,
        by_limit: false,
        kept_types: None,
    }
}

fn fitted(rows: &[Row], options: &FitOptions) -> Result<Fit, FitError> {
    fitted_with(rows, options, &mut |_| true)
}

fn fitted_with(
    rows: &[Row],
    options: &FitOptions,
    listener: FitListener<'_>,
) -> Result<Fit, FitError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut out = BufWriter::new(file.as_file_mut());
    writeln!(out, "time,size,cpu,batch,limit").unwrap();
    for (time, size, cpu, batch, limit) in rows {
        let batch = Some(batch.to_string()).filter(|_| *batch > 0);
        let batch = batch.unwrap_or_default();
        writeln!(out, "{time},{size},{cpu},{batch},{limit}").unwrap();
    }
    out.flush().unwrap();
    drop(out);
    let name = |what: &str| (what.to_owned(), what.to_owned());
    let reading = trace::ReadOptions {
        servers: Some(Servers::shapes("cpu=64").unwrap()),
        columns: ["batch", "limit"].map(name).to_vec(),
        ..trace::ReadOptions::default()
    };
    let source = Source::named(file.path());
    fit(&mut Trace::open(&source, &reading)?, options, listener)
}

fn server(fit: &Fit) -> &Workload {
    fit.workload.one_server().unwrap()
}

fn exponential(mean: f64, stream: &mut RandomStream) -> u64 {
    (stream.exponential() * mean).ceil() as u64
}

fn poisson(count: usize) -> Vec<Row> {
    let mut stream = Streams::new(5, 0).arrivals;
    let mut now = 0.0;
    let job = |_| {
        now += stream.exponential() * 400.0;
        let (cpu, mean) = if stream.uniform() < 0.8 {
            (2, 5000.0)
        } else {
            (8, 20_000.0)
        };
        (now as u64, exponential(mean, &mut stream), cpu, 0, 0)
    };
    (0..count).map(job).collect()
}

#[test]
fn recovers_a_poisson_workload() {
    let rows = poisson(100_000);
    let fit = fitted(&rows, &plain()).unwrap();
    let workload = server(&fit);
    assert_eq!(fit.report.arrivals, "as Poisson processes");
    let expected = [
        ("cpu2", 1.0 / 500.0, 5000.5),
        ("cpu8", 1.0 / 2000.0, 20_000.5),
    ];
    for (job, (name, rate, mean)) in workload.types().iter().zip(expected) {
        assert_eq!(job.name(), name);
        let error = 4.0 / (rate * 4e7_f64).sqrt();
        assert!((job.arrival_rate() / rate - 1.0).abs() < error, "{name}");
        assert!((job.mean_size() / mean - 1.0).abs() < error, "{name}");
        assert!(job.is_poisson());
        let is_near = (job.size().scv() - 1.0).abs() < 0.1;
        assert!(is_near, "{name} {}", job.size().scv());
    }
    let span = (rows[rows.len() - 1].0 - rows[0].0) as f64;
    let held: f64 = rows.iter().map(|row| f64::from(row.2) * row.1 as f64).sum();
    assert!((fit.report.fluid_load / (held / span / 64.0) - 1.0).abs() < 1e-9);
    assert!((fit.report.load / fit.report.fluid_load - 1.0).abs() < 1e-6);
}

#[test]
fn recovers_a_modulated_workload() {
    let (kappa, forgets): (f64, f64) = (40.0, 1.0 / 2000.0);
    let mut rows = Vec::new();
    for (n, (cpu, rate, mean)) in [(1, 0.05, 300.0), (4, 0.02, 250.0)].into_iter().enumerate() {
        let mut stream = Streams::new(7, n as u32).arrivals;
        let half = (0.5 * kappa * forgets * rate).sqrt();
        let (mut now, mut is_high) = (0.0, false);
        let mut until = stream.exponential() * 2.0 / forgets;
        while now < 1.4e7 {
            let pace = if is_high { rate + half } else { rate - half };
            now += stream.exponential() / pace;
            if now > until {
                now = until;
                until += stream.exponential() * 2.0 / forgets;
                is_high = !is_high;
            } else {
                rows.push((now as u64, exponential(mean, &mut stream), cpu, 0, 0));
            }
        }
    }
    rows.sort_by_key(|row| row.0);
    assert!(rows.len() > 900_000);
    let fit = fitted(&rows, &plain()).unwrap();
    let expected = "at rates that change independently for each type";
    assert_eq!(fit.report.arrivals, expected);
    for job in server(&fit).types() {
        let ArrivalProcess::MarkovModulated { switching, .. } = job.arrivals() else {
            unreachable!("{:?}", job.arrivals());
        };
        let found = switching[0][1].value() + switching[1][0].value();
        assert!((found / forgets - 1.0).abs() < 0.2, "r {found}");
        let found = job.arrivals().dispersion() - 1.0;
        assert!((found / kappa - 1.0).abs() < 0.2, "κ {found}");
    }
}

#[test]
fn recovers_batches_and_a_common_modulation() {
    let mut stream = Streams::new(11, 0).arrivals;
    let (mut now, mut is_high, mut batch) = (0.0, false, 0);
    let mut until = 0.0;
    let mut rows = Vec::new();
    while rows.len() < 300_000 {
        now += stream.exponential() * 100.0 / if is_high { 1.75 } else { 0.25 };
        if now > until {
            now = until;
            until += stream.exponential() * 20_000.0;
            is_high = !is_high;
            continue;
        }
        batch += 1;
        let cpu = if stream.uniform() < 0.5 { 1 } else { 4 };
        let jobs = 1 + (5.0 * stream.uniform()) as u64;
        let alike = (stream.uniform() < 0.7).then(|| exponential(600.0, &mut stream));
        for _ in 0..jobs {
            let size = alike.unwrap_or_else(|| exponential(600.0, &mut stream));
            rows.push((now as u64, size, cpu, batch, 0));
        }
    }
    let fit = fitted(&rows, &plain()).unwrap();
    let workload = server(&fit);
    let expected = "in batches, at a rate that changes for all types together";
    assert_eq!(fit.report.arrivals, expected);
    for job in workload.types() {
        let ArrivalProcess::Batches { sizes, alike, .. } = job.arrivals() else {
            unreachable!("{:?}", job.arrivals());
        };
        assert_eq!(sizes, &[1, 2, 3, 4, 5]);
        assert!((alike.value() - 0.7).abs() < 0.03, "{alike}");
        let is_near = (job.arrival_rate() / 0.015 - 1.0).abs() < 0.05;
        assert!(is_near, "{}", job.arrival_rate());
    }
    let modulation = workload.modulation().unwrap();
    let factors = modulation.relative_factors();
    assert!((factors[1] - 1.75).abs() < 0.2, "{factors:?}");
    let forgets = modulation.switching[0][1].value() + modulation.switching[1][0].value();
    assert!((forgets * 10_000.0 - 1.0).abs() < 0.25, "{forgets}");
}

#[test]
fn a_coarse_clock_is_not_mistaken_for_bursts() {
    let mut rows = poisson(50_000);
    rows.iter_mut().for_each(|row| row.0 = row.0 / 300 * 300);
    let fit = fitted(&rows, &plain()).unwrap();
    assert_eq!(fit.report.arrivals, "as Poisson processes");
    assert_eq!(fit.report.dispersion[0].window, 300.0);
}

#[test]
fn splits_types_by_limits_that_predict_sizes() {
    let mut rows = poisson(20_000);
    for (n, row) in rows.iter_mut().enumerate() {
        (row.1, row.4) = if n % 2 == 0 {
            (60 + row.1 % 900, 3600)
        } else {
            (9000 + row.1, 86_400)
        };
        row.4 = row.4.max(row.1);
    }
    let mut options = plain();
    options.by_limit = true;
    let fit = fitted(&rows, &options).unwrap();
    let workload = server(&fit);
    assert!(workload.has_limits(), "{:?}", workload.size_information());
    let short = workload.types().iter();
    let short: Vec<_> = short.filter(|t| t.mean_size() < 1000.0).collect();
    assert_eq!(short.len(), 2, "one for each demand");
    assert!(short.iter().all(|t| t.limit().unwrap().value() == 4096.0));
    let whole = fitted(&rows, &plain()).unwrap();
    assert!((fit.report.load / whole.report.load - 1.0).abs() < 1e-6);
    let jobs: u64 = fit.report.types.iter().map(|found| found.jobs).sum();
    assert_eq!(jobs, 20_000);
}

#[test]
fn weights_recent_jobs_more_and_keeps_types() {
    let day = 86_400;
    let early = (0..80 * 24).map(|n| (n * 3600, 1000, 2, 0, 0));
    let late = (0..40 * 48).map(|n| {
        let cpu = [2, 2, 8][n as usize % 3];
        (80 * day + n * 1800, 1000 + 4 * (n % 500), cpu, 0, 0)
    });
    let rows: Vec<Row> = early.chain(late).collect();
    let kept = [("narrow", 4.0), ("wide", 16.0), ("never", 64.0)];
    let kept = kept.map(|(name, demand)| (name.to_owned(), vec![demand]));
    let mut options = plain();
    options.kept_types = Some(kept.to_vec());
    let fit = fitted(&rows, &options).unwrap();
    let workload = server(&fit);
    let names: Vec<&str> = workload.types().iter().map(|job| job.name()).collect();
    assert_eq!(names, ["narrow", "wide"]);
    assert_eq!(workload.types()[0].demand()[0].value(), 4.0);
    let weight = |days: f64| 1.0 - (-days / 14.0_f64).exp2();
    let recent = weight(40.0) / weight(120.0);
    let narrow = (1.0 - recent) / 3600.0 + recent * (2.0 / 3.0) / 1800.0;
    assert!((workload.types()[0].arrival_rate() / narrow - 1.0).abs() < 0.01);
    let wide = recent / 3.0 / 1800.0;
    assert!((workload.types()[1].arrival_rate() / wide - 1.0).abs() < 0.01);
    assert!(fit.report.drift.unwrap().last_week > 0.0);
    assert_eq!(fit.report.of_no_type, (0, 0.0));
    let none = [("small".to_owned(), vec![1.0])];
    let mut options = plain();
    options.kept_types = Some(none.to_vec());
    let refused = fitted(&rows, &options).unwrap_err().to_string();
    assert!(refused.contains("no job fits into a type"), "{refused}");
}

#[test]
fn rejects_a_trace_without_rates() {
    for count in [1, 50] {
        let refused = fitted(&vec![(7, 10, 2, 0, 0); count], &plain());
        let refused = refused.unwrap_err().to_string();
        let expected = format!("all jobs ({count}) arrived at the same instant");
        assert!(refused.starts_with(&expected), "{refused}");
    }
    assert!(matches!(
        fitted(&[], &plain()),
        Err(FitError::Trace(TraceError::Refused(_)))
    ));
}

#[test]
fn the_search_for_types_can_be_interrupted() {
    let continues = &mut |message: &str| !message.starts_with("solving");
    let fit = fitted_with(&poisson(100), &plain(), continues);
    assert!(matches!(fit, Err(FitError::Interrupted)));
}

#[test]
fn types_dominate_their_jobs() {
    let mut stream = Streams::new(13, 0).arrivals;
    let job = |n: u64| {
        let cpu = 1 + (63.0 * stream.uniform().powi(3)) as u32;
        (n * 100, exponential(500.0, &mut stream), cpu, 0, 0)
    };
    let rows: Vec<Row> = (0..5000).map(job).collect();
    let mut options = plain();
    options.rounding_loss = 0.05;
    let fit = fitted(&rows, &options).unwrap();
    let workload = server(&fit);
    let demands = workload.types().iter().map(|t| t.demand()[0].value());
    let demands: Vec<f64> = demands.collect();
    for (type_of, (rate, work)) in demands.iter().zip(by_type(&rows, &demands)) {
        let mut found = workload.types().iter();
        let found = found.find(|t| t.demand()[0].value() == *type_of).unwrap();
        let span = (rows[rows.len() - 1].0 - rows[0].0) as f64;
        assert!((found.arrival_rate() * span / rate - 1.0).abs() < 1e-7);
        assert!((found.offered_load() * span / work - 1.0).abs() < 1e-7);
    }
    let loads = fit.report.load_by_types.iter();
    let loads: Vec<f64> = loads.map(|tried| tried.1).collect();
    let falls = loads.windows(2).all(|two| two[1] <= two[0] * (1.0 + 1e-9));
    assert!(falls, "{loads:?}");
    assert!(fit.report.load <= 1.05 * fit.report.fluid_load);
}

fn by_type(rows: &[Row], demands: &[f64]) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0); demands.len()];
    for row in rows {
        let holding = demands.iter().enumerate();
        let holding = holding.filter(|(_, d)| **d >= f64::from(row.2));
        let (i, _) = holding.min_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        sums[i].0 += 1.0;
        sums[i].1 += row.1 as f64;
    }
    sums
}

/// In a burst, jobs arrive faster than they can be served by the four slots.
#[test]
fn levels_reproduce_waits_caused_by_short_bursts() {
    let mut stream = Streams::new(21, 0).arrivals;
    let mut rows = Vec::new();
    for quarter in 0..28 * 96_u64 {
        let rate = match quarter % 96 {
            41..42 | 60..61 => 0.16,
            36..72 => 0.02,
            _ => 0.001,
        };
        let end = (quarter + 1) as f64 * 900.0;
        let mut now = quarter as f64 * 900.0 + stream.exponential() / rate;
        while now < end {
            rows.push((now as u64, exponential(30.0, &mut stream), 16, 0, 0));
            now += stream.exponential() / rate;
        }
    }
    let fit = fitted(&rows, &plain()).unwrap();
    assert!(fit.other.is_some() && fit.report.predicted.is_empty());
    let mut two_states = fit.clone();
    two_states.other = None;
    let ratio = |fit: Fit| {
        let fit = predict(fit, &mut |_| true).unwrap();
        let first = &fit.report.predicted[0];
        (first.ratio().unwrap(), first.differs(), fit.report.arrivals)
    };
    let (ratio_of_two, differs, _) = ratio(two_states);
    assert!(ratio_of_two < 0.5 && differs, "{ratio_of_two}");
    let (ratio_of_levels, _, arrivals) = ratio(fit);
    let is_near = (1.0 / 1.5..1.5).contains(&ratio_of_levels);
    assert!(is_near, "{ratio_of_levels}");
    assert!(arrivals.contains("between levels"), "{arrivals}");
}

#[test]
fn multi_node_jobs_yield_multi_node_types() {
    let mut text = String::from("time,size,cpu,on\n");
    for n in 0..400 {
        let (cpu, on) = if n % 4 == 0 { (64, 2) } else { (8, 1) };
        text += &format!("{},{},{cpu},{on}\n", n * 100, 90 + n % 7);
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let reading = trace::ReadOptions {
        servers: Some(Servers::shapes("3xcpu=32").unwrap()),
        columns: vec![("nodes".into(), "on".into())],
        ..trace::ReadOptions::default()
    };
    let mut trace = Trace::open(&Source::named(file.path()), &reading).unwrap();
    let fit = fit(&mut trace, &plain(), &mut |_| true).unwrap();
    let fit = predict(fit, &mut |_| true).unwrap();
    let types = fit.workload.types().iter();
    let types: Vec<_> = types.map(|job| (job.name(), job.nodes())).collect();
    assert_eq!(types, [("cpu8", 1), ("nodes2-cpu32", 2)]);
    let held = (0..400).map(|n| f64::from(90 + n % 7) * if n % 4 == 0 { 64.0 } else { 8.0 });
    let held: f64 = held.sum();
    assert!((fit.report.fluid_load / (held / 39_900.0 / 96.0) - 1.0).abs() < 1e-6);
    assert_eq!(fit.report.predicted.len(), 3);
}
