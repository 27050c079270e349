//! This benchmark measures the number of lines of a log that are read per second.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::io::Write as _;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synth::trace::{ReadOptions, Servers, Source, Trace};

const LINES: u64 = 100_000;

fn file(header: &str, line: impl Fn(&mut String, u64)) -> tempfile::NamedTempFile {
    let mut text = format!("{header}\n");
    (0..LINES).for_each(|n| line(&mut text, n));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn reading(c: &mut Criterion) {
    let swf = file("; MaxProcs: 1024", |text, n| {
        let (run, processors) = (n * 7919 % 100_000, 1 + n * 31 % 64);
        writeln!(
            text,
            "{n:8} {:10} {:7} {run:8} {processors:5} {run:10}.50 -1 {processors:5} {:8} -1 1 {:5} 1 -1 1 1 -1 -1",
            n * 9,
            n % 5000,
            run + 3600,
            n % 500
        )
        .unwrap();
    });
    let sacct = file(
        "JobIDRaw|Submit|ElapsedRaw|State|AllocTRES|TimelimitRaw|User",
        |text, n| {
            let (cpus, minute, second) = (1 + n % 32, n / 60 % 60, n % 60);
            writeln!(
                text,
                "{n}|2024-03-05T10:{minute:02}:{second:02}|600|COMPLETED|billing={cpus},cpu={cpus},mem={}G,node=1|60|u{}",
                4 * cpus,
                n % 500
            )
            .unwrap();
        },
    );
    let table = file("time,size,cpu,memory,user", |text, n| {
        writeln!(
            text,
            "{n},{},{},{}.5,u{}",
            1 + n % 900,
            1 + n % 32,
            n % 64,
            n % 500
        )
        .unwrap();
    });
    let options = ReadOptions {
        servers: Some(Servers::shapes("cpu=1024,memory=4096").unwrap()),
        ..ReadOptions::default()
    };
    let mut group = c.benchmark_group("trace");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(LINES));
    for (name, file, options) in [
        ("swf", &swf, &ReadOptions::default()),
        ("sacct", &sacct, &options),
        ("csv", &table, &options),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut trace = Trace::open(&Source::named(file.path()), options).unwrap();
                trace.jobs(|_| true).unwrap();
                trace.account.work
            });
        });
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
