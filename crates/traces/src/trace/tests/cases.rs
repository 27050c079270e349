//! This module reads the logs in `cases/` and compares the results, or writes them again if
//! SYNTH_UPDATE_GOLDEN=1 is set.
//!
//! A line that starts with `# ` is the name of a new case, and the lines that begin with `|` are
//! the log. With `20|`, a line is repeated 20 times, and `{n}` is replaced by its number from 00.
//! If a line ends with `\`, there is no newline after it, and `\t`, `\r`, `\\` and `\xff` are
//! bytes. The result follows after each line `$ OPTIONS`. `{}` in a log is replaced by each of the
//! lines `= TEXT` before the `$`, which must all give the same result.

use clap::Parser;
use itertools::Itertools as _;

use super::*;

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Reading {
    #[arg()]
    trace: String,
    #[command(flatten)]
    options: ReadArgs,
}

fn unescaped(line: &str) -> Vec<u8> {
    let open = line.strip_suffix('\\');
    let (line, end) = open.map_or((line, "\n"), |own| (own, ""));
    let mut bytes = Vec::new();
    let mut parts = line.split('\\');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    while let Some(part) = parts.next() {
        let (byte, rest) = match part.chars().next() {
            Some('t') => (b'\t', &part[1..]),
            Some('r') => (b'\r', &part[1..]),
            Some('x') => (u8::from_str_radix(&part[1..3], 16).unwrap(), &part[3..]),
            _ => (b'\\', parts.next().unwrap_or_default()),
        };
        bytes.push(byte);
        bytes.extend(rest.bytes());
    }
    bytes.extend(end.bytes());
    bytes
}

fn result(log: &[u8], options: &ReadOptions) -> String {
    let source = Source::Text("FILE".into(), log.to_vec());
    let mut trace = match Trace::open(&source, options) {
        Ok(trace) => trace,
        Err(why) => return format!("{why}\n"),
    };
    let (jobs, ended) = drain(&mut trace);
    if ended.is_ok() {
        assert_accounted(&trace);
    }
    let (format, unit) = (trace.format().name(), trace.tick.unit());
    let mut lines = vec![format!("{format} [{unit}] on {}", trace.servers)];
    let mut batches = vec![0];
    lines.extend(jobs.iter().map(|job| {
        let kind = job.demand as usize;
        let mut words = vec![format!("{}: {} for {}", job.line, job.submit, job.size)];
        let mut word = |name: &str, value: String| words.push(format!("{name} {value}"));
        let nodes = trace.demands.nodes[kind];
        word("of", trace.demands.vectors[kind].iter().join(","));
        if nodes != 1 {
            word("on", nodes.to_string());
        }
        if job.limit > 0 {
            word("limit", job.limit.to_string());
        }
        if let Some(waited) = job.waited {
            word("waited", waited.to_string());
        }
        if let Some(user) = trace.account.users.get(&job.user) {
            word("user", user.clone());
        }
        if let Some(class) = trace.account.classes.get(job.class as usize) {
            let names = [&class.partition, &class.account, &class.qos];
            word("class", names.iter().join("/"));
        }
        if !batches.contains(&job.batch) {
            batches.push(job.batch);
        }
        let batch = batches.iter().position(|own| *own == job.batch).unwrap();
        if batch > 0 {
            word("batch", batch.to_string());
        }
        if job.seen != Observed::Whole {
            word("seen", format!("{:?}", job.seen));
        }
        let begun = job.submit + job.waited.unwrap_or(0) as i64;
        if job.end != begun + job.size as i64 {
            word("until", job.end.to_string());
        }
        words.join(" ")
    }));
    let account = &trace.account;
    let (read, count, work) = (account.rows_read(), account.lines, account.work);
    lines.push(format!("{read} rows, {count} jobs, work {work}"));
    lines.extend(account.rows.iter().map(|row| {
        let (reason, line, work) = (row.reason, row.first_line, row.work);
        format!("{reason:?} {}, line {line}, work {work}", row.lines)
    }));
    lines.extend(account.faults.iter().cloned());
    lines.extend(account.remarks.iter().chain(&account.window).cloned());
    lines.extend(ended.err().map(|why| why.to_string()));
    lines.join("\n") + "\n"
}

fn with_results(text: &str) -> String {
    let (mut written, mut log, mut each) = (String::new(), Vec::new(), Vec::new());
    let mut is_result = false;
    for line in text.lines() {
        let count = line.find('|').map(|at| line.split_at(at));
        let count =
            count.and_then(|(n, own)| Some((if n.is_empty() { 1 } else { n.parse().ok()? }, own)));
        if line.starts_with("# ") {
            (log, each, is_result) = (Vec::new(), Vec::new(), false);
            written += if written.is_empty() { "" } else { "\n" };
        } else if let (Some((count, own)), false) = (count, is_result) {
            let numbers = (0..count).map(|n: u32| own[1..].replace("{n}", &format!("{n:02}")));
            log.extend(numbers);
        } else if let (Some(own), false) = (line.strip_prefix('='), is_result) {
            each.push(own.trim().to_owned());
        } else if let Some(options) = line.strip_prefix('$') {
            is_result = true;
            let words = std::iter::once("log").chain(options.split_whitespace());
            let reading = Reading::try_parse_from(words);
            let reading = reading.unwrap_or_else(|why| panic!("{line}: {why}"));
            if each.is_empty() {
                each.push(String::new());
            }
            let results = each.iter().map(|own| {
                let lines = log.iter().map(|line| unescaped(&line.replace("{}", own)));
                match reading.options.options() {
                    Ok(options) => result(&lines.concat(), &options),
                    Err(why) => why + "\n",
                }
            });
            let results: Vec<String> = results.dedup().collect();
            assert_eq!(results.len(), 1, "{line}: {each:?}");
            written += &format!("{line}\n{}", results[0]);
            continue;
        } else if is_result || line.is_empty() {
            continue;
        }
        written += &format!("{line}\n");
    }
    written
}

#[test]
fn cases_match_expected_results() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/trace/tests/cases");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let recorded = std::fs::read_to_string(&path).unwrap();
        let found = with_results(&recorded);
        if std::env::var_os("SYNTH_UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &found).unwrap();
        } else {
            let mut pairs = found.lines().zip(recorded.lines()).enumerate();
            let differs = pairs.find(|(_, (found, recorded))| found != recorded);
            assert_eq!(differs, None, "{}", path.display());
            assert_eq!(found, recorded, "{}", path.display());
        }
    }
}
