use std::ops::Range;
use std::rc::Rc;

use crate::commands::{bytes, count, seconds, whole};

use super::Tres;

/// An error of a parser, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SiteError(pub(super) String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub file: Rc<str>,
    pub line: usize,
}

impl Place {
    pub(super) fn new(file: &Rc<str>, line: usize) -> Self {
        Place {
            file: file.clone(),
            line: line + 1,
        }
    }

    pub(super) fn wrong(&self, why: impl std::fmt::Display) -> SiteError {
        SiteError(format!("{}, line {}: {why}", self.file, self.line))
    }

    pub(super) fn found(&self, found: &str, expected: &str) -> SiteError {
        self.wrong(format!("found `{}`, expected {expected}", short(found)))
    }
}

pub(super) fn short(text: &str) -> String {
    let mut short: String = text.trim().chars().take(60).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short.escape_debug().to_string()
}

#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub key: String,
    pub value: String,
    pub place: Place,
}

impl Pair {
    pub(super) fn new(key: &str, value: &str, place: &Place) -> Self {
        Pair {
            key: key.to_owned(),
            value: value.to_owned(),
            place: place.clone(),
        }
    }

    pub(super) fn read<T>(
        &self,
        expected: &str,
        of: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, SiteError> {
        of(&self.value).ok_or_else(|| {
            let found = format!("{}={}", self.key, self.value);
            self.place.found(&found, expected)
        })
    }
}

/// A list of pairs. The keys are not case-sensitive, and the last value of a key is used.
#[derive(Clone, Debug, Default)]
pub(super) struct Record(pub Vec<Pair>);

impl Record {
    pub(super) fn pair(&self, keys: &[&str]) -> Option<&Pair> {
        let of = |key: &&str| {
            let mut pairs = self.0.iter().rev();
            pairs.find(|pair| pair.key.eq_ignore_ascii_case(key))
        };
        let mut found = keys.iter().filter_map(of);
        found.find(|pair| !matches!(pair.value.as_str(), "" | "(null)" | "N/A" | "n/a"))
    }

    pub(super) fn text(&self, keys: &[&str]) -> Option<&str> {
        self.pair(keys).map(|pair| pair.value.as_str())
    }

    pub(super) fn read<T>(
        &self,
        keys: &[&str],
        expected: &str,
        of: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, SiteError> {
        let pair = self.pair(keys);
        pair.map(|pair| pair.read(expected, of)).transpose()
    }

    pub(super) fn number(&self, keys: &[&str], without: u64) -> Result<u64, SiteError> {
        let number = self.read(keys, "a whole number", whole)?;
        Ok(number.unwrap_or(without))
    }

    pub(super) fn says(&self, keys: &[&str], words: &[&str]) -> bool {
        let text = self.text(keys);
        text.is_some_and(|text| is_one_of(text, words))
    }

    /// Adds the pairs of a line such as `Key=value other="a b"`, and returns the rest.
    pub(super) fn add<'a>(&mut self, line: &'a str, place: &Place) -> &'a str {
        let mut rest = line.trim();
        while let Some((key, value, behind)) = pair(rest) {
            self.0.push(Pair::new(key, &rest[value], place));
            rest = behind.trim_start();
        }
        rest
    }
}

/// Returns the key of the first pair, the place of its value in the text, and the rest.
pub(super) fn pair(text: &str) -> Option<(&str, Range<usize>, &str)> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let end = text.find(|c| !is_key(c)).filter(|end| *end > 0)?;
    let (key, rest) = text.split_at(end);
    // The grammar of Slurm also allows `+=` and similar operators.
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(['-', '*', '+', '/']).unwrap_or(rest);
    let rest = rest.strip_prefix('=')?.trim_start();
    let quoted = || {
        let (inside, behind) = rest.strip_prefix('"')?.split_once('"')?;
        let is_end = behind.is_empty() || behind.starts_with(char::is_whitespace);
        is_end.then_some((inside, behind))
    };
    let plain = || rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
    let (start, (value, behind)) = match quoted() {
        Some(parts) => (text.len() - rest.len() + 1, parts),
        None => (text.len() - rest.len(), plain()),
    };
    (!rest.is_empty()).then_some((key, start..start + value.len(), behind))
}

pub(super) fn is_one_of(text: &str, words: impl IntoIterator<Item: AsRef<str>>) -> bool {
    let mut words = words.into_iter();
    words.any(|word| text.eq_ignore_ascii_case(word.as_ref()))
}

pub(super) fn words(text: Option<&str>) -> impl Iterator<Item = &str> + Clone {
    let words = text.unwrap_or_default().split(',').map(str::trim);
    words.filter(|word| !word.is_empty())
}

pub(super) fn number_or(words: &[&str]) -> impl Fn(&str) -> Option<Option<u64>> {
    move |text| match is_one_of(text, words) {
        true => Some(None),
        false => whole(text).map(Some),
    }
}

pub(super) const TIME: &str = "a time such as 30 (minutes), 1:30:00, 2-12, 1-00:00:00 or UNLIMITED";

/// Parses a time of slurm.conf \[s\], rounded up to whole minutes. `Some(None)` is unlimited.
pub(super) fn time(text: &str) -> Option<Option<f64>> {
    if is_one_of(text, &["-1", "INFINITE", "UNLIMITED", "NONE"]) {
        return Some(None);
    }
    // Slurm stores the number of minutes in 32 bits.
    let minutes = seconds(text)?.div_ceil(60);
    (minutes <= u64::from(u32::MAX)).then_some(Some(minutes as f64 * 60.0))
}

/// Parses amounts such as `cpu=100,mem=500G,gres/gpu=4`, and adds other names to `others`.
pub(super) fn tres(text: &str, others: &mut Vec<String>) -> Option<Tres> {
    let mut tres = Tres::default();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (name, amount) = part.split_once('=')?;
        // If a limit was removed, `sacctmgr` prints -1.
        if amount == "-1" {
            continue;
        }
        match (name, name.strip_prefix("gres/")) {
            ("mem", _) => tres.set(name, Some(bytes(amount)? >> 20)),
            ("cpu" | "node", _) => tres.set(name, Some(count(amount)?)),
            (_, Some(gres)) if !gres.contains(':') => tres.set(gres, Some(count(amount)?)),
            _ => others.push(name.to_owned()),
        }
    }
    Some(tres)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_times_of_slurm_conf() {
        for (text, seconds) in [
            ("30", Some(Some(1800.0))),
            ("0", Some(Some(0.0))),
            ("5:30", Some(Some(360.0))),
            ("1:30:00", Some(Some(5400.0))),
            ("2-12", Some(Some(216_000.0))),
            ("1-00:30", Some(Some(88_200.0))),
            ("7-00:00:00", Some(Some(604_800.0))),
            ("unlimited", Some(None)),
            ("-1", Some(None)),
            ("NONE", Some(None)),
            ("", None),
            ("1-", None),
            ("-5", None),
            ("1:2:3:4", None),
            ("ten", None),
            ("99999999999999999999", None),
            ("18446744073709551615-1", None),
        ] {
            assert_eq!(time(text), seconds, "{text}");
        }
    }

    #[test]
    fn parses_pairs_of_a_line() {
        let place = Place {
            file: "f".into(),
            line: 1,
        };
        let mut record = Record::default();
        let rest = record.add(
            "  NodeName = n1 Reason=\"a b\" a=\"b\"c CPUs= 4 what ever=3",
            &place,
        );
        assert_eq!(rest, "what ever=3");
        assert_eq!(record.text(&["nodename"]), Some("n1"));
        assert_eq!(record.text(&["reason"]), Some("a b"));
        assert_eq!(record.text(&["A"]), Some("\"b\"c"));
        assert_eq!(record.number(&["cpus"], 1), Ok(4));
        assert_eq!(record.add("x=", &place), "x=");
    }
}
