#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use super::*;
use crate::multiresource::simulator::Contender;
use crate::multiresource::workload::Described;
use crate::number::Decimal;
use crate::trace::{Options, Servers, Source, Trace};

/// A trace that stands beside the project; `None`, and told, where it does not.
fn beside(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/traces")
        .join(name);
    let there = path.exists();
    if !there {
        println!("skipped: {} is not there", path.display());
    }
    there.then_some(path)
}

fn log(path: &Path, options: &Options) -> Log {
    let mut trace = Trace::open(&Source::named(path), options).unwrap();
    Log::read(&mut trace, |_| ()).unwrap()
}

/// Measures of all jobs under a rule by name.
fn under(log: &Log, rule: &str, speed: Speed) -> Measured {
    let contender = Contender::parse(rule).unwrap();
    let clock = Clock::whole(speed);
    let names = log.vectors.iter().map(|demand| {
        let amounts = demand.iter().map(|d| Decimal::new(*d).unwrap());
        (format!("{demand:?}"), amounts.collect())
    });
    let names: Vec<(String, Vec<Decimal>)> = names.collect();
    let scene = [false, true].into_iter().find_map(|sizes| {
        let (described, types) = gathered(log, &log.jobs, &names, clock, sizes).unwrap();
        let Described::Server(workload) = &described else {
            panic!("one server is told")
        };
        contender.suits(workload).is_ok().then_some(Scene {
            jobs: &log.jobs,
            types,
            described,
            clock,
            seed: 1,
        })
    });
    let scene = scene.unwrap();
    let replayed = replay(&Rule::One(Box::new(contender)), &scene, &mut |_| true).unwrap();
    let visits: Vec<Visit> = visits(&scene, &replayed, log.tick.per_second() as f64).collect();
    let capacity = log.servers.total();
    let held: Vec<Vec<f64>> = log
        .vectors
        .iter()
        .map(|d| d.iter().zip(&capacity).map(|(d, c)| d / c).collect())
        .collect();
    let all = [0.0, f64::INFINITY];
    Measured::of(&visits, all, capacity.len(), |n| {
        &held[log.jobs[n].kind as usize]
    })
}

/// Σ wait, how many waited, the longest wait and the last end, by independent programs (two of them for fcfs and
/// EASY).
#[test]
fn a_log_of_the_sp2_is_replayed_to_the_second() {
    let Some(path) = beside("sdsc-sp2-1998-first5000.swf") else {
        return;
    };
    let log = log(&path, &Options::default());
    assert_eq!(log.jobs.len(), 4606);
    assert_eq!(log.work(), [387_596_226.0]);
    assert!((log.load() - 0.653_667_029).abs() < 5e-10);
    let faster = Speed::parse("5/4").unwrap();
    let expected = [
        (
            Speed::ONE,
            "fcfs",
            72_197_748.0,
            2985,
            93_158.0,
            Some(4_665_136.0),
        ),
        (
            Speed::ONE,
            "easy",
            16_967_815.0,
            1505,
            103_984.0,
            Some(4_665_136.0),
        ),
        (
            Speed::ONE,
            "easy-backfill:1",
            15_200_905.0,
            1536,
            84_545.0,
            None,
        ),
        (
            Speed::ONE,
            "first-fit",
            15_712_154.0,
            1209,
            167_824.0,
            Some(4_665_136.0),
        ),
        (
            faster,
            "fcfs",
            637_515_797.4,
            4587,
            245_653.4,
            Some(3_887_823.0),
        ),
        (
            faster,
            "easy",
            48_223_801.2,
            2680,
            126_283.8,
            Some(3_742_365.4),
        ),
        (
            faster,
            "first-fit",
            49_260_551.2,
            2255,
            1_045_110.0,
            Some(3_740_592.6),
        ),
    ];
    for (speed, rule, total, waited, longest, last) in expected {
        let found = under(&log, rule, speed);
        assert!(
            (found.total_wait - total).abs() < 1e-3,
            "{rule} {speed}: {}",
            found.total_wait
        );
        assert_eq!(found.waited, waited, "{rule} {speed}");
        assert!(
            (found.longest_wait - longest).abs() < 1e-6,
            "{rule} {speed}: {}",
            found.longest_wait
        );
        assert!(
            last.is_none_or(|last| (found.last_end - last).abs() < 1e-6),
            "{rule} {speed}: {}",
            found.last_end
        );
    }
    // Another program re-plans at every event; ours compresses.
    let conservative = under(&log, "conservative", Speed::ONE);
    println!("{conservative:?}");
    assert!((conservative.total_wait / 17_809_468.0 - 1.0).abs() < 0.01);
}

#[test]
fn requests_for_virtual_machines_are_replayed_to_the_second() {
    let Some(path) = beside("azure-2017-6h.csv") else {
        return;
    };
    let columns =
        "time=submit_s,size=held_s,cores=cores,memory=memory_gib,batch=batch,censored=censored";
    let columns = columns.split(',').map(|pair| {
        let (what, column) = pair.split_once('=').unwrap();
        (what.to_owned(), column.to_owned())
    });
    let columns: Vec<(String, String)> = columns.collect();
    for (capacity, fcfs, first_fit) in [
        (
            "cores=4096,memory=8192",
            (84_148_200.0, 10_075),
            (83_823_750.0, 10_067),
        ),
        (
            "cores=6000,memory=12000",
            (2_808_750.0, 3925),
            (2_792_250.0, 3922),
        ),
        ("cores=8000,memory=16000", (0.0, 0), (0.0, 0)),
    ] {
        let options = Options {
            servers: Some(Servers::capacity(capacity).unwrap()),
            columns: columns.clone(),
            censored_end: true,
            ..Options::default()
        };
        let log = log(&path, &options);
        assert_eq!(log.jobs.len(), 15_847);
        assert_eq!(log.work(), [506_597_400.0, 1_063_095_600.0]);
        for (rule, expected) in [("fcfs", fcfs), ("first-fit", first_fit)] {
            let found = under(&log, rule, Speed::ONE);
            assert_eq!(
                (found.total_wait, found.waited),
                expected,
                "{rule} {capacity}"
            );
        }
    }
}
