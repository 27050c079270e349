//! Helpers that make one random change to a text.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus as Random;

const UNUSUAL_VALUES: [&str; 14] = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "1e400",
    ".nan",
    ".inf",
    "18446744073709551616",
    "4h",
    "1024Gi",
    "0x10",
    "'3'",
    "[]",
    "true",
];

/// Returns the text with one change, which is in most cases a number of another scale.
pub(crate) fn mutated(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let n = random.random_range(0..lines.len());
    let m = random.random_range(0..lines.len());
    match random.random_range(0..10) {
        0 => lines.insert(n, lines[m].clone()),
        1 => drop(lines.remove(n)),
        2 => lines.swap(n, m),
        3 => {
            let end = lines[n].chars().count();
            lines[n] = lines[n]
                .chars()
                .take(random.random_range(0..=end))
                .collect();
        }
        4 => {
            let odd = char::from_u32(random.random_range(0..0x3000)).unwrap_or('\u{7}');
            let at = random.random_range(0..=lines[n].chars().count());
            let (before, after): (String, String) = (
                lines[n].chars().take(at).collect(),
                lines[n].chars().skip(at).collect(),
            );
            lines[n] = format!("{before}{odd}{after}");
        }
        _ => {
            let with_number = |line: &&mut String| line.contains(|c: char| c.is_ascii_digit());
            let count = lines.iter_mut().filter(with_number).count().max(1);
            let which = random.random_range(0..count);
            if let Some(line) = lines.iter_mut().filter(with_number).nth(which) {
                *line = rescaled(line, random);
            }
        }
    }
    lines.join("\n") + "\n"
}

fn rescaled(line: &str, random: &mut Random) -> String {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let starts = line.char_indices();
    let starts = starts.filter(|(at, c)| is_part(*c) && !line[..*at].ends_with(is_part));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let start = starts[random.random_range(0..starts.len())];
    let end = line[start..].find(|c| !is_part(c));
    let end = end.map_or(line.len(), |length| start + length);
    let new = match random.random_range(0..4) {
        0 => UNUSUAL_VALUES[random.random_range(0..UNUSUAL_VALUES.len())].to_owned(),
        _ => {
            let value: f64 = line[start..end].parse().unwrap_or(1.0);
            format!(
                "{:.4e}",
                value * 10_f64.powf(random.random_range(-7.0..7.0))
            )
        }
    };
    format!("{}{new}{}", &line[..start], &line[end..])
}
