#![allow(clippy::unwrap_used)]

mod commands;
mod garbage;
mod recorded;

use super::{QueueRow, SlurmQueue};
use synth_simulation::RandomStream;

pub(crate) fn below(stream: &mut RandomStream, n: usize) -> usize {
    ((stream.uniform() * n as f64) as usize).min(n - 1)
}

fn titles(columns: &[(&str, &str, usize)]) -> String {
    let titles = columns.iter();
    let titles = titles.map(|(_, title, width)| format!("{title:width$}"));
    titles.collect()
}

/// Returns a line of `squeue` with these cells. The defaults describe a held job with one CPU.
fn line(cells: &[(&str, &str)]) -> Vec<u8> {
    let mut line = Vec::new();
    for (name, _, width) in SlurmQueue::columns() {
        let of_column = cells.iter().find(|(column, _)| column == name);
        let usual = match *name {
            "JobArrayID" => "17",
            "SubmitTime" => "2026-11-25T17:54:42",
            "StateCompact" => "PD",
            "PriorityLong" => "0",
            "Reason" => "JobHeldUser",
            "NumNodes" | "NumTasks" => "1",
            "tres-alloc" => "cpu=1,mem=10M,node=1,billing=1",
            "TimeLimit" => "UNLIMITED",
            "Partition" => "synth",
            "UserName" => "ann",
            "Name" => "wrap",
            "EligibleTime" => "N/A",
            name if name.starts_with("tres-per") => "N/A",
            "NodeList" => "",
            _ => "(null)",
        };
        let text = of_column.map_or(usual, |(_, text)| text).as_bytes();
        // `printf("%.*s")` truncates the text to a number of bytes.
        let cut = if *name == "NodeList" {
            text
        } else {
            &text[..text.len().min(*width)]
        };
        line.extend_from_slice(cut);
        line.resize(line.len() + width.saturating_sub(cut.len()), b' ');
    }
    line.push(b'\n');
    line
}

fn row(cells: &[(&str, &str)]) -> QueueRow {
    let queue = SlurmQueue::parse(&line(cells));
    assert_eq!(queue.unread.example, None);
    let [row] = &queue.rows[..] else {
        panic!("{} rows", queue.rows.len());
    };
    row.clone()
}

fn fault(cells: &[(&str, &str)]) -> String {
    let queue = SlurmQueue::parse(&line(cells));
    assert!(queue.rows.is_empty(), "{:?}", queue.rows);
    queue.unread.example.unwrap()
}

/// Parses a table with one row per line. In a cell, `\n` is replaced by a line feed.
pub(crate) fn cases<const N: usize>(table: &str) -> Vec<[String; N]> {
    let cells = |row: &str| {
        let cells: Vec<String> = row
            .split("=>")
            .map(|cell| cell.trim().replace("\\n", "\n"))
            .collect();
        cells
            .try_into()
            .unwrap_or_else(|_| panic!("expected {N} cells: {row}"))
    };
    table.lines().map(cells).collect()
}
