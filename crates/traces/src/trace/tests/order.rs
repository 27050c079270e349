use std::io::{self, BufRead, Read, Write};

use flate2::{Compression, write::GzEncoder};

use super::*;

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn lines(count: u64) -> Vec<String> {
    let of = |n: u64| {
        let (submit, run) = ((n / 3).to_string(), (1 + n * 7919 % 1000).to_string());
        line(&submit, &run, &(1 + n % 64).to_string(), "-1", "1")
    };
    (0..count).map(of).collect()
}

fn reported(jobs: &[TraceJob], trace: &Trace) -> Vec<(i64, u64, u64)> {
    let demand = |job: &TraceJob| trace.demands.vectors[job.demand as usize][0] as u64;
    let reported = jobs.iter().map(|job| (job.submit, job.size, demand(job)));
    reported.collect()
}

#[test]
fn shuffled_lines_equal_sorted_ones() {
    let sorted = lines(2000);
    let mut shuffled = sorted.clone();
    for n in 0..shuffled.len() {
        shuffled.swap(n, n * 7919 % sorted.len());
    }
    let (jobs, trace) = read(&swf(&sorted), &ReadOptions::default());
    assert_eq!(trace.account.count(Reason::Unsorted), 0);
    let (others, other) = read(&swf(&shuffled), &ReadOptions::default());
    assert!(other.account.count(Reason::Unsorted) > 500);
    assert!(others.is_sorted_by_key(|job| (job.submit, job.line)));
    let sort = |mut reported: Vec<(i64, u64, u64)>| {
        reported.sort_unstable();
        reported
    };
    let found = sort(reported(&jobs, &trace));
    assert_eq!(found, sort(reported(&others, &other)));
    assert_eq!(trace.account.work, other.account.work);
    let backwards: Vec<String> = sorted.into_iter().rev().collect();
    let (others, other) = read(&swf(&backwards), &ReadOptions::default());
    let found = sort(reported(&others, &other));
    assert_eq!(found, sort(reported(&jobs, &trace)));
    assert_eq!(other.account.count(Reason::Unsorted), 666);
}

#[test]
fn simultaneous_jobs_keep_file_order() {
    let text = swf(&vec![line("7", "5", "4", "20", "1"); 100]);
    let (jobs, _) = read(&text, &ReadOptions::default());
    assert!(jobs.iter().map(|job| job.line).eq(3..103));
}

#[test]
fn reads_compressed_files() {
    let plain = swf(&lines(5000));
    let (jobs, trace) = read(&plain, &ReadOptions::default());
    let (middle, _) = plain.split_at(plain.len() / 2);
    let two = [packed(middle), packed(&plain[middle.len()..])].concat();
    for packed in [packed(&plain), two] {
        let (unpacked, other) = read(&packed, &ReadOptions::default());
        assert_eq!(jobs, unpacked);
        assert_eq!(trace.account, other.account);
    }
}

#[test]
fn reports_how_much_of_a_truncated_file_was_read() {
    let packed = packed(&swf(&lines(5000)));
    let (_, trace, ended) = read_till_it_ends(&packed[..packed.len() / 2], &ReadOptions::default());
    let why = ended.unwrap_err().to_string();
    assert!(why.contains(" after line "), "{why}");
    assert!(why.ends_with("; download it again"), "{why}");
    assert!(trace.account.lines > 100);
    let mut damaged = packed.clone();
    let middle = packed.len() / 2;
    damaged[middle..middle + 64].fill(0);
    let why = refused(&damaged, &ReadOptions::default());
    assert!(why.contains("download it again"), "{why}");
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd][..], &packed].concat();
    let why = refused(&zstd, &ReadOptions::default());
    let is_told = why.contains("decompress it first, for example with `zstd -dc FILE`");
    assert!(is_told, "{why}");
}

#[test]
fn rejects_a_line_of_two_million_bytes() {
    let text = [
        HEADER.as_bytes(),
        line("5", "10", "4", "20", "1").as_bytes(),
        &vec![b'7'; 2 << 20],
    ]
    .concat();
    let why = refused(&text, &ReadOptions::default());
    let expected = "cannot read FILE after line 3: the next line has more than a million bytes";
    assert_eq!(why, expected);
}

struct Endless {
    line: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() && self.left > 0 {
            (self.at, self.left) = (0, self.left - 1);
        }
        let count = (&self.line[self.at..]).read(into)?;
        self.at += count;
        Ok(count)
    }
}

#[test]
fn counts_ten_million_faults_and_keeps_ten() {
    let line = b"1 2 x\n".to_vec();
    let (at, left) = (line.len(), 10_000_000);
    let lines = Endless { line, at, left };
    let input: Box<dyn BufRead> = Box::new(io::BufReader::new(lines));
    let options = on("cpu=4");
    let opened = format::read(
        TraceFormat::Swf,
        "lines".into(),
        (Vec::new(), input),
        &options,
    )
    .unwrap();
    let mut trace = Trace::of(opened, &options);
    let why = drain(&mut trace).1.unwrap_err().to_string();
    assert!(why.contains("10000000 of 10000000 lines"), "{why}");
    assert!(why.contains("and 9999990 more"), "{why}");
    assert_eq!(trace.account.faults.len(), Account::FAULTS);
}
