//! A plan as areas over time, drawn with letters.

use std::fmt::Write as _;

use crate::malleable::simulator::Course;
use crate::malleable::workload::Pool;
use crate::report::number;

/// Lines of the picture.
const HEIGHT: usize = 16;

/// Jobs, or groups of jobs, that have letters of their own.
pub(super) const GROUPS: usize = 26;

/// Jobs of each letter, from the largest on: each its own while there are letters, else neighbours together.
pub(super) fn groups(pool: &Pool, most: usize) -> Vec<Vec<usize>> {
    let order = pool.by_size();
    let count = order.len().min(most);
    let part = |n: usize| n * order.len() / count;
    (0..count)
        .map(|n| order[part(n)..part(n + 1)].to_vec())
        .collect()
}

/// Servers of each group at a time.
pub(super) fn heights(course: &Course, groups: &[Vec<usize>], jobs: usize, time: f64) -> Vec<f64> {
    let mut of_job = vec![0.0; jobs];
    let stage = course
        .stages
        .iter()
        .find(|stage| stage.from <= time && time < stage.to);
    for (i, servers, _) in stage.into_iter().flat_map(|stage| &stage.jobs) {
        of_job[*i] = *servers;
    }
    let sum = |group: &Vec<usize>| group.iter().map(|i| of_job[*i]).sum();
    groups.iter().map(sum).collect()
}

fn letter(n: usize) -> char {
    char::from(b'a' + (n % GROUPS) as u8)
}

/// The picture, with its axes: servers from below, the largest job lowest.
pub(super) fn areas(pool: &Pool, course: &Course, width: usize) -> String {
    let groups = groups(pool, GROUPS);
    let end = course.ends.iter().copied().fold(0.0, f64::max);
    let margin = 8;
    let columns = width.saturating_sub(margin + 1).clamp(20, 80);
    let column = |n: usize| {
        let time = end * (n as f64 + 0.5) / columns as f64;
        let heights = heights(course, &groups, pool.jobs().len(), time);
        letters(&heights, pool.servers())
    };
    let picture: Vec<Vec<char>> = (0..columns).map(column).collect();
    let mut text = String::new();
    for row in (0..HEIGHT).rev() {
        let label = match row {
            0 => "0".into(),
            _ if row == HEIGHT - 1 => number(pool.servers()),
            _ => String::new(),
        };
        let line: String = picture.iter().map(|column| column[row]).collect();
        let _ = writeln!(text, "{label:>7} │{}", line.trim_end());
    }
    let last = number(end);
    let _ = writeln!(text, "{:>7} └{}", "", "─".repeat(columns));
    let time = format!("{} [{}]", last, pool.time_unit());
    let _ = writeln!(text, "{:>8} 0{time:>rest$}", "", rest = columns - 1);
    text + &key(pool, &groups, width)
}

/// A column, from below: a line belongs to the job that has the server in its middle.
fn letters(heights: &[f64], servers: f64) -> Vec<char> {
    let mut column = Vec::with_capacity(HEIGHT);
    let mut top = 0.0;
    for (n, k) in heights.iter().enumerate() {
        top += k;
        let up_to = (top / servers * HEIGHT as f64 + 0.5).floor() as usize;
        column.resize(up_to.clamp(column.len(), HEIGHT), letter(n));
    }
    column.resize(HEIGHT, ' ');
    column
}

/// Who has which letter.
fn key(pool: &Pool, groups: &[Vec<usize>], width: usize) -> String {
    let named = groups.iter().enumerate().map(|(n, group)| {
        let name = |i: &usize| pool.jobs()[*i].name.as_str();
        match group.as_slice() {
            [one] => format!("{} {}", letter(n), name(one)),
            [first, .., last] => format!("{} {}…{}", letter(n), name(first), name(last)),
            [] => String::new(),
        }
    });
    let named: Vec<String> = named.collect();
    crate::report::wrap(&format!("from the largest: {}", named.join(", ")), width)
}
