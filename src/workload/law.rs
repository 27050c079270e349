//! The law of sizes in a YAML document: `{law: erlang, stages: 3, mean: 1}`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_yaml::{Location, Spanned};

use super::Size;
use super::check_size::wrong_stages;
use super::decimal::Decimal;
use super::document::{number, range};
use super::fault::{Fault, Place, suggest};
use super::sheet::{Located, Sheet};

/// The parameters that are lists; all others are single numbers.
const LISTS: [&str; 3] = ["probabilities", "means", "onward"];
const SINGLES: [&str; 4] = ["law", "mean", "scv", "stages"];

/// The map of a law, in the order written.
pub(super) struct Law(Vec<(Spanned<String>, Value)>);

enum Value {
    Single(Spanned<String>),
    List(Spanned<Vec<Spanned<String>>>),
    /// Of a key that no law has.
    Unknown,
}

impl<'de> Deserialize<'de> for Law {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LawVisitor;

        impl<'de> Visitor<'de> for LawVisitor {
            type Value = Law;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a law of sizes and its parameters")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Law, A::Error> {
                let mut pairs = Vec::new();
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    let value = match key.value.as_str() {
                        name if LISTS.contains(&name) => Value::List(map.next_value()?),
                        name if SINGLES.contains(&name) => Value::Single(map.next_value()?),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            Value::Unknown
                        }
                    };
                    pairs.push((key, value));
                }
                Ok(Law(pairs))
            }
        }

        deserializer.deserialize_map(LawVisitor)
    }
}

impl Law {
    fn get(&self, key: &str) -> Option<&Value> {
        let pair = self.0.iter().find(|(name, _)| name.value == key);
        pair.map(|(_, value)| value)
    }

    fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.get(key).is_some())
    }

    /// Where a parameter, or an entry of one, stands.
    pub(super) fn location(&self, key: &str, entry: Option<usize>) -> Option<Location> {
        match self.get(key)? {
            Value::Single(text) => Some(text.referenced),
            Value::List(list) => {
                let entry = entry.and_then(|n| list.value.get(n));
                Some(entry.map_or(list.referenced, |text| text.referenced))
            }
            Value::Unknown => None,
        }
    }
}

/// The size of type `i`; `None` once its faults are reported. An unknown law is reported before
/// its parameters, which are right or wrong only by the law.
pub(super) fn read_law(
    law: &Spanned<Law>,
    i: usize,
    job: &str,
    sheet: &Sheet<'_>,
    faults: &mut Vec<Located>,
) -> Option<Size> {
    let mut reader = Reader {
        law,
        i,
        job,
        sheet,
        faults,
    };
    let Some(Value::Single(name)) = law.value.get("law") else {
        let message = "the size names no law".to_owned();
        reader.refuse(law.referenced, message, "add `law: exponential`");
        return None;
    };
    reader.read(name)
}

struct Reader<'a> {
    law: &'a Spanned<Law>,
    i: usize,
    job: &'a str,
    sheet: &'a Sheet<'a>,
    faults: &'a mut Vec<Located>,
}

impl Reader<'_> {
    fn read(&mut self, name: &Spanned<String>) -> Option<Size> {
        let law = name.value.as_str();
        let balanced = self.law.value.has_any(&["mean", "scv"]);
        let (keys, example): (&[&str], &str) = match law {
            "exponential" => (&["mean"], "{law: exponential, mean: 1}"),
            "erlang" => (&["stages", "mean"], "{law: erlang, stages: 3, mean: 1}"),
            "hyperexponential" if balanced && self.law.value.has_any(&LISTS) => {
                let message = format!("the law `{law}` has both numbers and lists");
                let help = "keep `mean` and `scv`, or `probabilities` and `means`";
                self.refuse(name.referenced, message, help);
                return None;
            }
            "hyperexponential" if !balanced => (
                &["probabilities", "means"],
                "{law: hyperexponential, probabilities: [.3, .7], means: [2, .5]}, \
                 or {law: hyperexponential, mean: 1, scv: 4}",
            ),
            "hyperexponential" | "balanced-hyperexponential" => {
                (&["mean", "scv"], "{law: hyperexponential, mean: 1, scv: 4}")
            }
            "coxian" => (
                &["means", "onward"],
                "{law: coxian, means: [1, 2], onward: [.5]}",
            ),
            _ => {
                let help = suggest(law, "laws known so far", Size::LAWS);
                self.refuse(
                    name.referenced,
                    format!("unknown law of sizes `{law}`"),
                    &help,
                );
                return None;
            }
        };
        self.check_keys(law, keys, example);
        match law {
            "exponential" => Some(Size::Exponential {
                mean: self.single("mean")?,
            }),
            "erlang" => {
                let (stages, mean) = (self.stages(), self.single("mean"));
                Some(Size::Erlang {
                    stages: stages?,
                    mean: mean?,
                })
            }
            "hyperexponential" if !balanced => {
                let (probabilities, means) = (self.list("probabilities"), self.list("means"));
                Some(Size::Hyperexponential {
                    probabilities: probabilities?,
                    means: means?,
                })
            }
            "coxian" => {
                let (means, onward) = (self.list("means"), self.list("onward"));
                Some(Size::Coxian {
                    means: means?,
                    onward: onward?,
                })
            }
            _ => {
                let (mean, scv) = (self.single("mean"), self.single("scv"));
                Some(Size::BalancedHyperexponential {
                    mean: mean?,
                    scv: scv?,
                })
            }
        }
    }

    fn refuse(&mut self, location: Location, message: String, help: &str) {
        let fault = Fault::new(Place::Size(self.i), message, help);
        self.faults.push((fault, range(self.sheet, location)));
    }

    /// Every parameter of the law, and no other.
    fn check_keys(&mut self, law: &str, keys: &[&str], example: &str) {
        let written = &self.law.value.0;
        let others = written.iter().map(|(key, _)| key);
        for key in others.filter(|key| key.value != "law" && !keys.contains(&key.value.as_str())) {
            let message = format!("unknown key `{}` of the law `{law}`", key.value);
            let help = suggest(&key.value, "its parameters", keys);
            self.refuse(key.referenced, message, &help);
        }
        for key in keys {
            if self.law.value.get(key).is_none() {
                let message = format!("the law `{law}` has no {key}");
                let help = format!("write it like this: `size: {example}`");
                self.refuse(self.law.referenced, message, &help);
            }
        }
    }

    fn single(&mut self, key: &'static str) -> Option<Decimal> {
        match self.law.value.get(key)? {
            Value::Single(text) => {
                let place = Place::Parameter(self.i, key, None);
                number(text, place, self.sheet, self.faults)
            }
            _ => None,
        }
    }

    /// All numbers of a list, once each has been read.
    fn list(&mut self, key: &'static str) -> Option<Vec<Decimal>> {
        let Value::List(list) = self.law.value.get(key)? else {
            return None;
        };
        let mut numbers = Vec::new();
        for (n, text) in list.value.iter().enumerate() {
            let place = Place::Parameter(self.i, key, Some(n));
            numbers.push(number(text, place, self.sheet, self.faults));
        }
        numbers.into_iter().collect()
    }

    /// A whole number; how many stages make sense is checked with the law.
    fn stages(&mut self) -> Option<u32> {
        let found = self.single("stages")?;
        let whole = found.exact().to_integer();
        match u32::try_from(&whole) {
            Ok(stages) if found.exact().is_integer() => Some(stages),
            _ => {
                let fault = wrong_stages(self.i, self.job, &found);
                let location = self.law.value.location("stages", None);
                let range = location.and_then(|location| range(self.sheet, location));
                self.faults.push((fault, range));
                None
            }
        }
    }
}
