//! Whatever the bytes, reading ends, and each line that stands for a job is accounted for.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// A good file of each format.
fn seeds() -> [(TraceFormat, String); 4] {
    let many =
        |header: &str, lines: &[&str]| format!("{header}\n{}", (lines.join("\n") + "\n").repeat(3));
    [
        (
            TraceFormat::Swf,
            many(
                "; MaxProcs: 128",
                &[
                    "1 5 0 10 4 -1 -1 4 20 -1 1 7 1 1 1 1 -1 -1",
                    "2 9 0 0 0 -1 -1 8 -1 -1 0 7 1 1 1 1 -1 -1",
                    "3 2 0 7.5 4 -1 -1 4 5 -1 3 7 1 1 1 1 -1 -1 0 0 0",
                ],
            ),
        ),
        (
            TraceFormat::Sacct,
            many(
                "JobIDRaw|Submit|Start|End|ElapsedRaw|State|ReqTRES|AllocTRES|TimelimitRaw|User",
                &[
                    "1|2024-03-05T10:00:00|2024-03-05T10:01:00|2024-03-05T10:11:00|600|COMPLETED|cpu=1,mem=4G|cpu=2,mem=4G|60|ann",
                    "1.batch|2024-03-05T10:00:00|2024-03-05T10:01:00|2024-03-05T10:11:00|600|COMPLETED||cpu=2|60|",
                    "2|2024-03-05T09:00:00|Unknown|Unknown|0|PENDING|cpu=1,mem=4000M||UNLIMITED|bob",
                ],
            ),
        ),
        (
            TraceFormat::Csv,
            many(
                "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time",
                &[
                    "a,6000,12288,1,460,,LS,Running,427061,12902960,427061",
                    "b,1,2,0,0,\"V,W\",LS,Failed,5,9,",
                ],
            ),
        ),
        (
            TraceFormat::Csv,
            many(
                "time,size,cpu,memory,limit",
                &["1,2,3,4,5", "0,7,\"1\",2,", "9,0,1,1,2"],
            ),
        ),
    ]
}

/// Bytes that mean something somewhere.
const TELLING: &[u8] = b"0123456789.,-|\"; \t\r\n=eEx\0\xff\xc3/:T";

fn mutate(text: &mut Vec<u8>, random: &mut Xoshiro256PlusPlus) {
    for _ in 0..random.random_range(1..8) {
        let at = random.random_range(0..=text.len());
        let until = (at + random.random_range(0..20)).min(text.len());
        match random.random_range(0..4) {
            0 => text.insert(at, TELLING[random.random_range(0..TELLING.len())]),
            1 => drop(text.drain(at..until)),
            2 => {
                let piece = text[at..until].to_vec();
                let to = random.random_range(0..=text.len());
                text.splice(to..to, piece);
            }
            _ => text
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte = random.random()),
        }
    }
}

/// How many jobs and faults were read.
fn read_whatever(text: &[u8], options: &ReadOptions) -> (u64, u64) {
    let file = file(text);
    let Ok(mut trace) = Trace::open(&Source::named(file.path()), options) else {
        return (0, 0);
    };
    let (jobs, _) = drain(&mut trace);
    assert_accounted(&trace);
    let account = &trace.account;
    assert_eq!(jobs.len() as u64, account.jobs);
    assert!(jobs.is_sorted_by_key(|job| job.submit));
    for job in &jobs {
        assert!(job.size > 0 && (job.limit == 0 || job.limit >= job.size));
        assert!(
            trace
                .servers
                .hold(&trace.demands.vectors[job.demand as usize], 1)
        );
    }
    (account.jobs, account.count(Reason::Fault))
}

#[test]
fn every_line_is_accounted_for() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for (format, seed) in seeds() {
        let options = ReadOptions {
            format: Some(format),
            faults: Some(1.0),
            ..on("cpu=128,memory=1024")
        };
        let (jobs, faults) = read_whatever(seed.as_bytes(), &options);
        assert!(jobs > 0 && faults == 0, "{}", format.name());
        let (mut jobs, mut faults) = (0, 0);
        for _ in 0..3000 {
            let mut text = seed.clone().into_bytes();
            mutate(&mut text, &mut random);
            let read = read_whatever(&text, &options);
            (jobs, faults) = (jobs + read.0, faults + read.1);
        }
        assert!(
            jobs > 1000 && faults > 1000,
            "{} {jobs} {faults}",
            format.name()
        );
        for _ in 0..1000 {
            let length = random.random_range(0..300);
            let noise = (0..length).map(|_| {
                if random.random_bool(0.5) {
                    random.random()
                } else {
                    TELLING[random.random_range(0..TELLING.len())]
                }
            });
            let header = seed.lines().next().unwrap_or_default().as_bytes();
            let noise: Vec<u8> = noise.collect();
            read_whatever(&noise, &options);
            read_whatever(&[header, b"\n", &noise].concat(), &options);
        }
    }
}
