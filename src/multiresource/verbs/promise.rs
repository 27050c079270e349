//! This module parses a guarantee that is used as an option, such as `g8: wait 95 % < 6 h`.

use crate::document::suggest;
use crate::multiresource::artifact::{Delay, Guarantee};
use crate::multiresource::workload::Workload;
use crate::number::seconds_in;

pub(super) fn promise(text: &str, workload: &Workload) -> Result<Guarantee, String> {
    let wrong = |why: &str| format!("--slo '{text}': {why}");
    let form = || wrong("expected the form 'TYPE: wait 95 % < 6 h' or 'TYPE: p95 response < 6 h'");
    let (name, rest) = text.rsplit_once(':').ok_or_else(form)?;
    let job_type = name.trim();
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    if !names.contains(&job_type) {
        let known = suggest(job_type, "the workload's types", &names);
        return Err(wrong(&format!("no job type `{job_type}`; {known}")));
    }
    let spaced = rest.replace('%', " % ").replace("<=", "<");
    let spaced = spaced.replace(['<', '≤'], " < ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    // Monitoring systems use the notation `p95 wait < 6 h`.
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let is_percentile = |word: &&str| word.strip_prefix('p').is_some_and(is_number);
    if let Some(place) = words.iter().take(2).position(is_percentile) {
        let percent = &words.remove(place)[1..];
        let at = words.len().min(1);
        words.splice(at..at, [percent, "%"]);
    }
    let [delay, percent, "%", "<", time, unit @ ..] = words.as_slice() else {
        return Err(form());
    };
    let delay = match *delay {
        "wait" | "waiting" => Delay::Waiting,
        "response" => Delay::Response,
        _ => return Err(form()),
    };
    let percent: f64 = percent.parse().map_err(|_| form())?;
    if !(percent > 0.0 && percent < 100.0) {
        return Err(wrong("the percentage must be between 0 and 100"));
    }
    let digits: &str = time.trim_end_matches(char::is_alphabetic);
    let glued = &time[digits.len()..];
    let time: f64 = digits.parse().map_err(|_| form())?;
    let unit = match (unit, glued) {
        ([], "") => None,
        ([], unit) => Some(unit),
        ([unit], "") => Some(*unit),
        _ => return Err(form()),
    };
    let within = time * factor(unit, workload.time_unit()).map_err(|why| wrong(&why))?;
    if !(within > 0.0 && within.is_finite()) {
        return Err(wrong("the time must be positive"));
    }
    Ok(Guarantee {
        job_type: job_type.into(),
        delay,
        share: percent / 100.0,
        within,
        written: unit.map_or(String::new(), |unit| format!("{digits} {unit}")),
    })
}

/// Returns the value of a time unit, as a multiple of the time unit of the workload.
fn factor(unit: Option<&str>, own: &str) -> Result<f64, String> {
    let Some(unit) = unit.filter(|unit| *unit != own) else {
        return Ok(1.0);
    };
    let unit = if unit == "m" { "min" } else { unit };
    let ratio = seconds_in(unit).zip(seconds_in(own)).map(|(a, b)| a / b);
    ratio.ok_or_else(|| {
        format!("the time unit of the workload is `{own}`, so you have to use this unit instead of `{unit}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(unit: &str) -> Workload {
        let text = format!(
            "kind: multiresource\ntime_unit: {unit}\nserver: {{capacity: {{cpu: 2}}}}\njobs:\n  - {{name: 'a: b', demand: {{cpu: 1}}, arrival_rate: .1, mean_size: 1}}\n"
        );
        Workload::parse(&text, "text").unwrap().workload
    }

    #[test]
    fn parses_guarantees_in_the_workloads_unit() {
        for (unit, text, within) in [
            ("h", "a: b: wait 95 % < 6 h", 6.0),
            ("h", "a: b: wait 95% <= 30min", 0.5),
            ("h", "a: b: wait 95 % < 30m", 0.5),
            ("s", "a: b: wait 95%<2h", 7200.0),
            ("ticks", " a: b : wait 95 % ≤ 1e3", 1000.0),
            ("ticks", "a: b: wait 95 % < 7 ticks", 7.0),
            ("h", "a: b: p95 wait < 2h", 2.0),
            ("h", "a: b: wait p95 <= 30 min", 0.5),
        ] {
            let found = promise(text, &workload(unit)).unwrap();
            assert_eq!((found.job_type.as_str(), found.share), ("a: b", 0.95));
            assert!((found.within / within - 1.0).abs() < 1e-12, "{text}");
        }
        let found = promise("a: b: response 99.9 % < 6", &workload("h")).unwrap();
        assert_eq!(found.describe("h"), "a: b: response 99.9 % < 6 h");
        let found = promise("a: b: wait 95%<30min", &workload("h")).unwrap();
        assert_eq!(found.describe("h"), "a: b: wait 95 % < 30 min");
    }

    #[test]
    fn rejects_invalid_guarantees() {
        for (text, words) in [
            ("g8: wait 95 % < 6 h", "no job type `g8`"),
            ("a: b: wait 95 < 6 h", "expected the form"),
            ("a: b: wait 95 % < six", "expected the form"),
            ("a: b: run 95 % < 6", "expected the form"),
            ("a: b: wait 100 % < 6", "between 0 and 100"),
            ("a: b: wait 95 % < 6 weeks", "instead of `weeks`"),
            ("a: b: wait 95 % < -1", "must be positive"),
            ("wait", "expected the form"),
        ] {
            let why = promise(text, &workload("h")).unwrap_err();
            assert!(why.contains(words), "{text}: {why}");
        }
    }
}
