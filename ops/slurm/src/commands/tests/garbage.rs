use super::{below, cases, fault, line};
use crate::commands::{Nodes, SlurmQueue};
use synth_simulation::{RandomStream, Streams};

const QUEUE: &[u8] = include_bytes!("recorded/queue-22.05.txt");

#[test]
fn rejects_invalid_values() {
    for [column, text] in cases(include_str!("garbage.txt")) {
        let found = fault(&[(&column, &text)]);
        assert!(found.starts_with(&column), "{column} `{text}`: {found}");
    }
}

#[test]
fn names_cannot_imitate_rows() {
    let forged = String::from_utf8(line(&[("JobArrayID", "999")])).unwrap();
    let ids = |first: &[(&str, &str)]| {
        let queue = SlurmQueue::parse(&[line(first), line(&[("JobArrayID", "18")])].concat());
        let ids: Vec<_> = queue
            .rows
            .iter()
            .map(|row| row.key.id.to_string())
            .collect();
        (ids.join(" "), queue.unread.count)
    };
    for text in [format!("x\n{forged}"), format!("\n\n{forged}"), forged] {
        let names = [("Name", &*text), ("Comment", &*text)];
        assert_eq!(ids(&names), ("17 18".into(), 0));
        let broken = [names[0], names[1], ("TimeLimit", "?")];
        assert_eq!(ids(&broken).0, "18");
    }
}

#[test]
fn a_broken_row_does_not_affect_the_next() {
    let whole = line(&[("JobArrayID", "18")]);
    let first = line(&[("Name", "new\nline")]);
    let end = first.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let queue = SlurmQueue::parse(&[&first[..end], &whole[..]].concat());
    assert_eq!(queue.rows.len(), 1);
    assert_eq!(queue.unread.count, 1);
    assert_eq!(queue.unread.nameless(), 1);
    assert_eq!(queue.rows[0].key.id.to_string(), "18");
}

#[test]
fn rejects_second_rows_of_a_job() {
    let queue = SlurmQueue::parse(&[line(&[]), line(&[("StateCompact", "R")])].concat());
    assert_eq!(queue.rows.len(), 1);
    assert_eq!(queue.unread.count, 1);
    assert_eq!(queue.unread.nameless(), 0);
}

#[test]
fn random_bytes_contain_no_jobs() {
    let mut stream = Streams::new(1, 0).service;
    for round in 0..400 {
        let length = below(&mut stream, 4000);
        let byte = |stream: &mut RandomStream| match round % 3 {
            0 => below(stream, 256) as u8,
            1 => b" \n017_PDRcpu=,"[below(stream, 14)],
            _ => 32 + below(stream, 95) as u8,
        };
        let bytes: Vec<u8> = (0..length).map(|_| byte(&mut stream)).collect();
        let queue = SlurmQueue::parse(&bytes);
        assert!(queue.rows.is_empty());
        assert_eq!(queue.unread.count > 0, !bytes.is_empty());
        assert!(Nodes::parse(&bytes).rows.is_empty());
    }
}

#[test]
fn broken_rows_do_not_become_jobs() {
    let written = SlurmQueue::parse(QUEUE).rows;
    let mut stream = Streams::new(2, 0).service;
    for _ in 0..2000 {
        let mut bytes = QUEUE.to_vec();
        let at = below(&mut stream, bytes.len());
        let change = below(&mut stream, 4);
        match change {
            0 => {
                bytes.remove(at);
            }
            1 => bytes.insert(at, b" \nx9"[below(&mut stream, 4)]),
            2 => {
                let end = (at + 1 + below(&mut stream, 100)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => bytes.truncate(at),
        }
        let queue = SlurmQueue::parse(&bytes);
        for row in &queue.rows {
            assert!(written.contains(row), "{row:?}");
        }
        assert!(change == 3 || queue.rows.len() + 2 >= written.len());
    }
}

#[test]
fn changed_bytes_do_not_duplicate_jobs() {
    let mut stream = Streams::new(3, 0).service;
    for _ in 0..2000 {
        let mut bytes = QUEUE.to_vec();
        for _ in 0..1 + below(&mut stream, 40) {
            let at = below(&mut stream, bytes.len());
            bytes[at] = below(&mut stream, 256) as u8;
        }
        let queue = SlurmQueue::parse(&bytes);
        let mut ids: Vec<_> = queue.rows.iter().map(|row| row.key.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), queue.rows.len());
    }
}
