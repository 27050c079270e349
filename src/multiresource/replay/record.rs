//! Recorded jobs: a table of types, arrivals and sizes, in a policy's time unit.

use csv::{Position, ReaderBuilder, StringRecord, Trim};

use super::Job;

/// Why a record cannot be read; it names the line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct RecordError {
    /// The line, from 1 on: that of the header.
    pub line: u64,
    /// What is wrong, and what was expected.
    pub why: String,
}

/// The columns that are read.
const COLUMNS: [&str; 3] = ["type", "arrival", "size"];

/// Reads `type,arrival,size` with a header, in any order and among other columns. Jobs come by arrival, those of one
/// instant in the order of the file, the first at 0; their kinds are places in `types`, and their limits their sizes.
///
/// # Errors
/// When a column is missing, a type unknown, a time negative or no finite number; when there is no job.
pub fn record(text: &[u8], types: &[&str]) -> Result<Vec<Job>, RecordError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text);
    let header = reader.headers().map_err(|why| unreadable(text, &why))?;
    let place = |column: &str| {
        let mut names = header.iter();
        names
            .position(|name| name.trim_start_matches('\u{feff}') == column)
            .ok_or_else(|| {
                let found: Vec<&str> = header.iter().collect();
                let why = format!(
                    "there is no column `{column}` among {}: the header names {} at least",
                    found.join(", "),
                    COLUMNS.join(", ")
                );
                RecordError { line: 1, why }
            })
    };
    let [kind, arrival, size] = COLUMNS.map(place);
    let (kind, arrival, size) = (kind?, arrival?, size?);
    let mut jobs = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|why| unreadable(text, &why))?;
        let wrong = |why| RecordError {
            line: line(text, row.position()),
            why,
        };
        let name = row.get(kind).unwrap_or_default();
        let known = types.iter().position(|own| *own == name);
        let kind = known.ok_or_else(|| {
            wrong(format!(
                "unknown type `{name}`; those of the policy are {}",
                types.join(", ")
            ))
        })?;
        let size = time(&row, size, "size").map_err(wrong)?;
        jobs.push(Job {
            submit: time(&row, arrival, "arrival").map_err(wrong)?,
            size,
            limit: size,
            promised: f64::INFINITY,
            line: row.position().map_or(0, |at| at.line() as u32),
            kind: kind as u32,
        });
    }
    jobs.sort_by(|a, b| a.submit.total_cmp(&b.submit));
    let Some(first) = jobs.first().map(|job| job.submit) else {
        let why = "there are no jobs: write one on each line after the header".to_owned();
        return Err(RecordError { line: 1, why });
    };
    jobs.iter_mut().for_each(|job| job.submit -= first);
    Ok(jobs)
}

/// A time ≥ 0 in this column.
fn time(row: &StringRecord, place: usize, column: &str) -> Result<f64, String> {
    let text = row.get(place).unwrap_or_default();
    match text.parse::<f64>() {
        Ok(time) if time >= 0.0 && time.is_finite() => Ok(time),
        _ => Err(format!("{column} is `{text}`, expected a number ≥ 0")),
    }
}

/// The line of the first field from this position on: empty lines before it belong to none.
fn line(text: &[u8], position: Option<&Position>) -> u64 {
    let from = position.map_or(0, |at| at.byte() as usize).min(text.len());
    let is_blank = |byte: &&u8| [b'\n', b'\r'].contains(*byte);
    let begin = from + text[from..].iter().take_while(is_blank).count();
    1 + text[..begin].iter().filter(|byte| **byte == b'\n').count() as u64
}

fn unreadable(text: &[u8], error: &csv::Error) -> RecordError {
    let line = line(text, error.position());
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("{len} fields, expected {expected_len} as in the header"),
        _ => error.to_string(),
    };
    RecordError { line, why }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TYPES: [&str; 2] = ["small", "big"];

    #[test]
    fn jobs_come_by_arrival_and_ties_in_the_order_of_the_file() {
        let text = "wait,size,type,arrival\n0,3,big,7.5\n1,2,small,5\n2,1,big,5\n,0,small,1e1\n";
        let jobs = record(text.as_bytes(), &TYPES).unwrap();
        let told = jobs
            .iter()
            .map(|job| (job.submit, job.size, job.kind, job.line));
        let expected = [
            (0.0, 2.0, 0, 3),
            (0.0, 1.0, 1, 4),
            (2.5, 3.0, 1, 2),
            (5.0, 0.0, 0, 5),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert!(jobs.iter().all(|job| job.limit == job.size));
    }

    #[test]
    fn what_is_no_record_is_told_with_its_line() {
        for (text, line, words) in [
            (
                "type,arrival\nsmall,1\n",
                1,
                "no column `size` among type, arrival",
            ),
            ("", 1, "no column `type`"),
            ("type,arrival,size\n", 1, "no jobs"),
            (
                "type,arrival,size\nsmall,1,2\nhuge,1,2\n",
                3,
                "unknown type `huge`; those of the policy are small, big",
            ),
            (
                "type,arrival,size\nsmall,-1,2\n",
                2,
                "arrival is `-1`, expected a number ≥ 0",
            ),
            ("type,arrival,size\n\nsmall,1,inf\n", 3, "size is `inf`"),
            ("type,arrival,size\nsmall,1,NaN\n", 2, "size is `NaN`"),
            ("type,arrival,size\nsmall,1,\n", 2, "size is ``"),
            ("type,arrival,size\nsmall,1\n", 2, "2 fields, expected 3"),
        ] {
            let error = record(text.as_bytes(), &TYPES).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.why.contains(words), "{text}: {error}");
        }
    }
}
