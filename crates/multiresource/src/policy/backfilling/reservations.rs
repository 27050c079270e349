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
    /// The first `n` jobs have a reservation, where `n` is at least 1. Requires a single server.
    Few(u32),
    /// All jobs have a reservation (conservative backfilling). Requires a single server.
    All,
}

const WORDS: [(&str, Reservations); 4] = [
    ("none", Reservations::None),
    ("strict", Reservations::Strict),
    ("first", Reservations::First),
    ("all", Reservations::All),
];

const BACKFILLING: [(&str, Reservations); 4] = [
    ("easy", Reservations::First),
    ("conservative", Reservations::All),
    ("first-fit", Reservations::None),
    ("strict", Reservations::Strict),
];

impl Reservations {
    pub(super) fn of_rule(name: &str) -> Option<Self> {
        let name = name.strip_suffix("-backfill").unwrap_or(name);
        let known = BACKFILLING.iter().find(|(own, _)| *own == name);
        known.map(|(_, reservations)| *reservations)
    }

    /// Returns the name of backfilling with these reservations.
    pub fn rule(self) -> String {
        let known = BACKFILLING.iter().find(|(_, own)| *own == self);
        match (known, self) {
            (Some((name, _)), _) => (*name).to_owned(),
            (None, Reservations::Few(count)) => format!("{count} reservations"),
            (None, _) => String::new(),
        }
    }

    /// Parses a word or a positive number of jobs.
    ///
    /// # Errors
    /// Returns an error if the text is not valid. The message lists the valid words.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some((_, known)) = WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(*known);
        }
        let count = text.parse().ok().filter(|count| *count > 0);
        count.map(Reservations::Few).ok_or_else(|| {
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
            Reservations::None => return "Any job that fits starts, in this order".into(),
            Reservations::Strict => return "No job starts before the head of the queue".into(),
            Reservations::First | Reservations::Few(1) => {
                "The head of the queue has a reservation".into()
            }
            Reservations::Few(count) => {
                format!("The first {count} jobs that do not fit have a reservation")
            }
            Reservations::All => "All jobs that do not fit have a reservation".to_owned(),
        };
        format!(
            "{jobs}; other jobs can start earlier if this does not delay any reservation, based on {sizes}"
        )
    }

    /// Checks if the servers support the reservations. With several servers, only one is allowed.
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
        match (self, WORDS.iter().find(|(_, own)| own == self)) {
            (Reservations::Few(count), _) => to.serialize_u32(*count),
            (_, word) => to.serialize_str(word.map_or("", |(word, _)| word)),
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
                {"type": "string", "enum": WORDS.map(|(word, _)| word)},
                {"type": "integer", "format": "uint32", "minimum": 1, "maximum": u32::MAX}
            ]
        })
    }
}
