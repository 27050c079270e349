use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::policy::Unsuitable;
use crate::workload::Fleet;

/// The waiting jobs that must not be delayed by later jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservations {
    /// There are no reservations, so any job that fits can start.
    None,
    /// Only the head of the queue has a reservation, and no other job is allowed to pass it.
    Strict,
    /// Only the head of the queue has a reservation. This is EASY backfilling.
    First,
    /// The first `n ≥ 1` jobs have a reservation. Requires a single server.
    Few(u32),
    /// All jobs have a reservation (conservative backfilling). Requires a single server.
    All,
}

/// The word in policy files, and the name of backfilling with these reservations.
const NAMED: [(Reservations, &str, &str); 4] = [
    (Reservations::None, "none", "first-fit"),
    (Reservations::Strict, "strict", "strict"),
    (Reservations::First, "first", "easy"),
    (Reservations::All, "all", "conservative"),
];

impl Reservations {
    pub(super) fn of_rule(name: &str) -> Option<Self> {
        let name = name.strip_suffix("-backfill").unwrap_or(name);
        let known = NAMED.iter().find(|(.., own)| *own == name);
        known.map(|(reservations, ..)| *reservations)
    }

    /// Returns the name of backfilling with these reservations.
    pub fn rule(self) -> String {
        match self {
            Reservations::Few(count) => format!("{count} reservations"),
            _ => self.names().map_or("", |(_, _, rule)| rule).to_owned(),
        }
    }

    fn names(self) -> Option<&'static (Reservations, &'static str, &'static str)> {
        NAMED.iter().find(|(own, ..)| *own == self)
    }

    /// Parses a word or a positive number of jobs.
    ///
    /// # Errors
    /// Returns an error if the text is not valid. The message lists the valid words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = NAMED.iter().find(|(_, word, _)| *word == text);
        let count = || text.parse().ok().filter(|count| *count > 0);
        let found = known.map(|(own, ..)| *own);
        found.or_else(|| count().map(Reservations::Few)).ok_or_else(|| {
            format!(
                "unknown number of reservations `{text}`; use none (any job that fits starts), strict (no job passes the head), first (the head has one), all, or a whole number ≥ 1"
            )
        })
    }

    pub(super) fn words(self, by_limits: bool) -> String {
        let sizes = match by_limits {
            true => "limits",
            false => "the mean sizes of their types",
        };
        let jobs = match self {
            Reservations::None => return "any job that fits starts".into(),
            Reservations::Strict => return "no job starts before the head of the queue".into(),
            Reservations::First | Reservations::Few(1) => {
                "the head of the queue has a reservation".into()
            }
            Reservations::Few(count) => {
                format!("the first {count} jobs that do not fit have a reservation")
            }
            Reservations::All => "all jobs that do not fit have a reservation".to_owned(),
        };
        format!(
            "{jobs}; other jobs can start earlier if this does not delay any reservation, based on {sizes}"
        )
    }

    pub(super) fn suit(self, fleet: &Fleet) -> Result<(), Unsuitable> {
        match self {
            Reservations::Few(0) => Err(Unsuitable("expected at least 1".into())),
            Reservations::Few(_) | Reservations::All if fleet.servers() > 1 => {
                let why = "with several servers only the head of the queue can have a reservation; use easy, that is `first`";
                Err(Unsuitable(why.into()))
            }
            _ => Ok(()),
        }
    }
}

impl Serialize for Reservations {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Reservations::Few(count) => to.serialize_u32(*count),
            _ => to.serialize_str(self.names().map_or("", |(_, word, _)| word)),
        }
    }
}

impl<'de> Deserialize<'de> for Reservations {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(from)? {
            Value::String(word) if word.parse::<f64>().is_err() => word,
            other => other.to_string(),
        };
        Reservations::parse(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Reservations {
    fn schema_name() -> Cow<'static, str> {
        "Reservations".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The waiting jobs that later jobs must not delay: a number of jobs from the head of the queue, `none`, `strict` (the head, and no job passes it), `first` or `all`.",
            "anyOf": [
                {"type": "string", "enum": NAMED.map(|(_, word, _)| word)},
                {"type": "integer", "format": "uint32", "minimum": 1, "maximum": u32::MAX}
            ]
        })
    }
}
