use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn seeds() -> [(TraceFormat, String); 4] {
    let many = |format, text: &str| {
        let (header, lines) = text.split_once('\n').unwrap();
        (format, format!("{header}\n{}", lines.repeat(3)))
    };
    [
        many(TraceFormat::Swf, include_str!("seeds/swf.txt")),
        many(TraceFormat::Sacct, include_str!("seeds/sacct.txt")),
        many(TraceFormat::Csv, include_str!("seeds/pods.csv")),
        many(TraceFormat::Csv, include_str!("seeds/table.csv")),
    ]
}

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
        let fits = trace
            .servers
            .hold(&trace.demands.vectors[job.demand as usize], 1);
        assert!(fits);
    }
    (account.jobs, account.count(Reason::Fault))
}

#[test]
fn every_line_is_accounted_for() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for (format, seed) in seeds() {
        let mut options = on("cpu=128,memory=1024");
        (options.format, options.faults) = (Some(format), Some(1.0));
        let (jobs, faults) = read_whatever(seed.as_bytes(), &options);
        assert!(jobs > 0 && faults == 0, "{}", format.name());
        let (mut jobs, mut faults) = (0, 0);
        for _ in 0..3000 {
            let mut text = seed.clone().into_bytes();
            mutate(&mut text, &mut random);
            let read = read_whatever(&text, &options);
            (jobs, faults) = (jobs + read.0, faults + read.1);
        }
        assert!(jobs > 1000, "{} {jobs} {faults}", format.name());
        assert!(faults > 1000, "{} {jobs} {faults}", format.name());
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
