//! The map of a law in a YAML document, `{law: erlang, stages: 3, mean: 1}`, and how its
//! parameters are read, each fault at its place.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_yaml::{Location, Spanned};

use super::decimal::Decimal;
use super::document::{number, range};
use super::fault::{Fault, Part, Place, suggest};
use super::sheet::{Located, Sheet};

type Single = Spanned<String>;
type List = Spanned<Vec<Single>>;

/// The map of a law of sizes, in the order written.
pub(super) struct Law(Parameters);

/// The map of an arrival process, in the order written.
pub(super) struct Process(Parameters);

/// Keys and values, in the order written.
pub(super) struct Parameters(Vec<(Single, Value)>);

/// What stands after a key.
pub(super) enum Value {
    Single(Single),
    List(List),
    Table(Spanned<Vec<List>>),
    Law(Box<Spanned<Law>>),
    /// Of a key that no law has.
    Unknown,
}

/// How the value of a known key is written.
#[derive(Clone, Copy)]
enum Form {
    Single,
    List,
    Table,
    Law,
}

fn form_in_law(key: &str) -> Option<Form> {
    match key {
        "law" | "mean" | "scv" | "stages" | "shape" | "low" | "high" => Some(Form::Single),
        "probabilities" | "means" | "onward" | "values" => Some(Form::List),
        _ => None,
    }
}

fn form_in_process(key: &str) -> Option<Form> {
    match key {
        "process" | "rate" => Some(Form::Single),
        "rates" | "sizes" | "probabilities" => Some(Form::List),
        "switching" => Some(Form::Table),
        "interarrival" => Some(Form::Law),
        _ => None,
    }
}

struct ParametersVisitor {
    expected: &'static str,
    form: fn(&str) -> Option<Form>,
}

impl<'de> Visitor<'de> for ParametersVisitor {
    type Value = Parameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key::<Single>()? {
            let value = match (self.form)(&key.value) {
                Some(Form::Single) => Value::Single(map.next_value()?),
                Some(Form::List) => Value::List(map.next_value()?),
                Some(Form::Table) => Value::Table(map.next_value()?),
                Some(Form::Law) => Value::Law(Box::new(map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                    Value::Unknown
                }
            };
            pairs.push((key, value));
        }
        Ok(Parameters(pairs))
    }
}

impl<'de> Deserialize<'de> for Law {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = ParametersVisitor {
            expected: "a law of sizes and its parameters",
            form: form_in_law,
        };
        deserializer.deserialize_map(visitor).map(Law)
    }
}

impl<'de> Deserialize<'de> for Process {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = ParametersVisitor {
            expected: "an arrival process and its parameters",
            form: form_in_process,
        };
        deserializer.deserialize_map(visitor).map(Process)
    }
}

impl Law {
    pub(super) fn parameters(&self) -> &Parameters {
        &self.0
    }
}

impl Process {
    pub(super) fn parameters(&self) -> &Parameters {
        &self.0
    }

    /// The law of interarrival times, if there is one.
    pub(super) fn interarrival(&self) -> Option<&Spanned<Law>> {
        match self.0.get("interarrival")? {
            Value::Law(law) => Some(law),
            _ => None,
        }
    }
}

impl Parameters {
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let pair = self.0.iter().find(|(name, _)| name.value == key);
        pair.map(|(_, value)| value)
    }

    pub(super) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.get(key).is_some())
    }

    /// Where a parameter, or an entry of one, stands.
    pub(super) fn location(&self, key: &str, entry: &[usize]) -> Option<Location> {
        let of_entry = |list: &List, entry: &[usize]| {
            let text = entry.first().and_then(|n| list.value.get(*n));
            text.map_or(list.referenced, |text| text.referenced)
        };
        match self.get(key)? {
            Value::Single(text) => Some(text.referenced),
            Value::List(list) => Some(of_entry(list, entry)),
            Value::Table(table) => {
                let row = entry.first().and_then(|s| table.value.get(*s));
                Some(row.map_or(table.referenced, |row| of_entry(row, &entry[1..])))
            }
            Value::Law(law) => Some(law.referenced),
            Value::Unknown => None,
        }
    }
}

/// The parameters that a law takes, and how it is written.
pub(super) struct Shape {
    pub required: &'static [&'static str],
    pub optional: &'static [&'static str],
    pub example: &'static str,
}

impl Shape {
    pub(super) fn of(required: &'static [&'static str], example: &'static str) -> Self {
        Shape {
            required,
            optional: &[],
            example,
        }
    }
}

/// Reads the parameters of one law of one type, and reports what cannot be read.
pub(super) struct Reader<'a> {
    pub parameters: &'a Parameters,
    /// Where the map stands.
    pub location: Location,
    pub i: usize,
    pub job: &'a str,
    pub part: Part,
    pub sheet: &'a Sheet<'a>,
    pub faults: &'a mut Vec<Located>,
}

impl Reader<'_> {
    pub(super) fn refuse(&mut self, location: Location, message: String, help: &str) {
        let fault = Fault::new(Place::Law(self.i, self.part), message, help);
        self.faults.push((fault, range(self.sheet, location)));
    }

    /// A fault of a parameter, at its place.
    pub(super) fn push(&mut self, fault: Fault, key: &str, entry: &[usize]) {
        let location = self.parameters.location(key, entry);
        let range = location.and_then(|location| range(self.sheet, location));
        self.faults.push((fault, range));
    }

    /// Every parameter of the law, and no other. `selector` is the key that names it, `what` how
    /// it is called: "the law `erlang`".
    pub(super) fn check_keys(&mut self, selector: &str, what: &str, shape: &Shape) {
        let known = [shape.required, shape.optional].concat();
        let parameters = self.parameters;
        let others = parameters.0.iter().map(|(key, _)| key);
        for key in others.filter(|key| key.value != selector && !known.contains(&&*key.value)) {
            let message = format!("unknown key `{}` of {what}", key.value);
            let help = suggest(&key.value, "its parameters", &known);
            self.refuse(key.referenced, message, &help);
        }
        for key in shape.required {
            if parameters.get(key).is_none() {
                let message = format!("{what} needs `{key}`");
                let help = format!(
                    "write it like this: `{}: {}`",
                    self.part.key(),
                    shape.example
                );
                self.refuse(self.location, message, &help);
            }
        }
    }

    fn place(&self, key: &'static str, entry: &[usize]) -> Place {
        Place::Parameter(self.i, self.part, key, entry.to_vec())
    }

    pub(super) fn single(&mut self, key: &'static str) -> Option<Decimal> {
        match self.parameters.get(key)? {
            Value::Single(text) => number(text, self.place(key, &[]), self.sheet, self.faults),
            _ => None,
        }
    }

    /// All numbers of a list, once each has been read.
    pub(super) fn list(&mut self, key: &'static str) -> Option<Vec<Decimal>> {
        match self.parameters.get(key)? {
            Value::List(list) => self.numbers(list, key, &[]),
            _ => None,
        }
    }

    /// A list that may be left out: `None` once a fault of it is reported.
    pub(super) fn optional_list(&mut self, key: &'static str) -> Option<Option<Vec<Decimal>>> {
        match self.parameters.get(key) {
            Some(_) => self.list(key).map(Some),
            None => Some(None),
        }
    }

    /// All rows of a table, once each number has been read.
    pub(super) fn table(&mut self, key: &'static str) -> Option<Vec<Vec<Decimal>>> {
        let Value::Table(table) = self.parameters.get(key)? else {
            return None;
        };
        let mut rows = Vec::new();
        for (s, row) in table.value.iter().enumerate() {
            rows.push(self.numbers(row, key, &[s]));
        }
        rows.into_iter().collect()
    }

    fn numbers(
        &mut self,
        list: &List,
        key: &'static str,
        before: &[usize],
    ) -> Option<Vec<Decimal>> {
        let mut numbers = Vec::new();
        for (n, text) in list.value.iter().enumerate() {
            let place = self.place(key, &[before, &[n]].concat());
            numbers.push(number(text, place, self.sheet, self.faults));
        }
        numbers.into_iter().collect()
    }
}

/// A whole number that fits, as it was found.
pub(super) fn whole(found: Decimal) -> Option<u32> {
    let exact = found.exact();
    let fits = u32::try_from(&exact.to_integer()).ok();
    fits.filter(|_| exact.is_integer())
}
