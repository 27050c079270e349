use csv::{ReaderBuilder, Trim};
use serde::Deserialize;

use super::ReplayJob;

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "type")]
    job_type: String,
    arrival: f64,
    size: f64,
}

/// Parses a table with the columns `type,arrival,size` in the time unit of a policy. The jobs are
/// sorted by arrival and then by their order in the file, and the first one arrives at time 0. The
/// kind of a job is an index in `types`, and its limit is its size.
///
/// # Errors
/// Returns an error with the line if a column is missing, if a type is unknown, if a time is
/// negative or not finite, or if there are no jobs.
pub fn record(text: &[u8], types: &[&str]) -> Result<Vec<ReplayJob>, String> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text);
    let header = reader.headers().map_err(|why| why.to_string())?.clone();
    let mut jobs = Vec::new();
    for found in reader.records() {
        let found = found.map_err(|why| why.to_string())?;
        let wrong = |why| format!("{why}; the columns type, arrival and size are required");
        let row: Row = found.deserialize(Some(&header)).map_err(wrong)?;
        let line = found.position().map_or(0, csv::Position::line);
        for (time, column) in [(row.arrival, "arrival"), (row.size, "size")] {
            if !(time >= 0.0 && time.is_finite()) {
                return Err(format!(
                    "line {line}: {column} is `{time}`, expected a number ≥ 0"
                ));
            }
        }
        let known = types.iter().position(|own| *own == row.job_type);
        let kind = known.ok_or_else(|| {
            let (own, types) = (&row.job_type, types.join(", "));
            format!("line {line}: unknown type `{own}`; the types of the policy are {types}")
        })?;
        jobs.push(ReplayJob {
            line: line as u32,
            ..ReplayJob::new(kind as u32, row.arrival, row.size)
        });
    }
    jobs.sort_by(|a, b| a.submit.total_cmp(&b.submit));
    let first = jobs.first().map(|job| job.submit);
    let first = first.ok_or("there are no jobs: write one per line after the header")?;
    jobs.iter_mut().for_each(|job| job.submit -= first);
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TYPES: [&str; 2] = ["small", "big"];

    #[test]
    fn sorts_jobs_by_arrival_then_file_order() {
        let text = "wait,size,type,arrival\n0,3,big,7.5\n1,2,small,5\n2,1,big,5\n,0,small,1e1\n";
        let jobs = record(text.as_bytes(), &TYPES).unwrap();
        let found = jobs.iter();
        let found = found.map(|job| (job.submit, job.size, job.kind, job.line));
        let expected = [
            (0.0, 2.0, 0, 3),
            (0.0, 1.0, 1, 4),
            (2.5, 3.0, 1, 2),
            (5.0, 0.0, 0, 5),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert!(jobs.iter().all(|job| job.limit == job.size));
    }

    #[test]
    fn rejects_invalid_records_with_the_line() {
        for (text, line, words) in [
            ("type,arrival\nsmall,1\n", "line: 2", "missing field `size`"),
            ("", "", "no jobs"),
            ("type,arrival,size\n", "", "no jobs"),
            (
                "type,arrival,size\nsmall,1,2\nhuge,1,2\n",
                "line 3",
                "unknown type `huge`; the types of the policy are small, big",
            ),
            (
                "type,arrival,size\nsmall,-1,2\n",
                "line 2",
                "arrival is `-1`, expected a number ≥ 0",
            ),
            (
                "type,arrival,size\nsmall,1,inf\n",
                "line 2",
                "size is `inf`",
            ),
            (
                "type,arrival,size\nsmall,1,NaN\n",
                "line 2",
                "size is `NaN`",
            ),
            ("type,arrival,size\nsmall,1,\n", "line: 2", "float"),
            ("type,arrival,size\nsmall,1\n", "line: 2", "2 fields"),
        ] {
            let error = record(text.as_bytes(), &TYPES).unwrap_err();
            assert!(
                error.contains(line) && error.contains(words),
                "{text}: {error}"
            );
        }
    }
}
