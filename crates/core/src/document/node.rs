use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::Spanned;

use super::fault::{Fault, Step};
use super::sheet::Sheet;
use super::words::standing_for;

/// A value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value, where each number is the text that was written.
    pub value: Value,
    /// The range of bytes from its start to its end, or to an earlier position.
    pub mark: Option<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_mark: Option<Range<usize>>,
    pub node: Node,
}

impl Node {
    /// Returns the value of a key, or `None` if it is missing or null.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let node = &self.entry(key)?.node;
        (node.value != Value::Null).then_some(node)
    }

    /// Returns a mutable reference to the value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Map(entries) = &mut self.value else {
            return None;
        };
        let entry = entries.iter_mut().find(|entry| entry.key == key)?;
        Some(&mut entry.node)
    }

    /// Returns the unit of time of the document, if there is one.
    pub fn time_unit(&self) -> Option<&str> {
        self.get("time_unit")?.text()
    }

    fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the keys of a map. It is empty if this is not a map.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|entry| entry.key.as_str())
    }

    fn meant_mut(&mut self, key: &str) -> Option<&mut Self> {
        let word = match self.entry(key) {
            Some(_) => key.to_owned(),
            None => standing_for(key, self.keys())?.to_owned(),
        };
        self.get_mut(&word)
    }

    /// Returns the entry of a list at this index.
    pub fn item(&self, n: usize) -> Option<&Self> {
        match &self.value {
            Value::List(entries) => entries.get(n),
            _ => None,
        }
    }

    pub(super) fn each_mut(&mut self, path: &str, change: &impl Fn(&mut Self)) {
        let (step, rest) = path.split_once('.').unwrap_or((path, ""));
        let key = step.trim_end_matches("[]");
        let Some(found) = self.meant_mut(key) else {
            return;
        };
        let change_below = |node: &mut Self| match rest {
            "" => change(node),
            rest => node.each_mut(rest, change),
        };
        match &mut found.value {
            _ if key == step => change_below(found),
            Value::List(entries) => entries.iter_mut().for_each(change_below),
            _ => {}
        }
    }

    /// Returns the text if the value is a text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn change_texts(&mut self, change: &impl Fn(&str) -> Option<String>) {
        match &mut self.value {
            Value::Text(text) => *text = change(text).unwrap_or_else(|| std::mem::take(text)),
            Value::List(list) => list.iter_mut().for_each(|entry| entry.change_texts(change)),
            Value::Null | Value::Map(_) => {}
        }
    }

    /// Converts `{name: {…}}` to `{tag: name, …}` if `is_name` returns `true` for the only key.
    pub fn tag(&mut self, tag: &str, is_name: impl Fn(&str) -> bool) {
        let Value::Map(entries) = &mut self.value else {
            return;
        };
        let [entry] = &mut entries[..] else { return };
        let Value::Map(inner) = &mut entry.node.value else {
            return;
        };
        let has_tag = inner.iter().any(|entry| entry.key == tag);
        if has_tag || entry.key == tag || !is_name(&entry.key) {
            return;
        }
        let name = Self {
            value: Value::Text(std::mem::take(&mut entry.key)),
            mark: entry.key_mark.clone(),
        };
        let tagged = Entry {
            key: tag.to_owned(),
            key_mark: entry.key_mark.clone(),
            node: name,
        };
        inner.insert(0, tagged);
        *entries = std::mem::take(inner);
    }

    /// Converts `x` to `{outer: {inner: x}}` at the same position.
    pub fn wrap(&mut self, outer: &str, inner: &str) {
        for key in [inner, outer] {
            self.value = Value::Map(vec![Entry {
                key: key.to_owned(),
                key_mark: self.mark.clone(),
                node: self.clone(),
            }]);
        }
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the bytes of the nearest known place of a fault, or of the name of an entry.
    pub(crate) fn locate(&self, fault: &Fault) -> Option<Range<usize>> {
        let (mut node, mut is_entry) = (self, false);
        let steps = fault.place.steps();
        for (n, step) in steps.iter().enumerate() {
            let next = match step {
                Step::Key(key) => match node.entry(key) {
                    Some(entry) if fault.at_key && n + 1 == steps.len() => {
                        return entry.key_mark.clone();
                    }
                    entry => entry.map(|entry| &entry.node),
                },
                Step::Index(index) => node.item(*index),
            };
            match next {
                Some(next) => (node, is_entry) = (next, matches!(step, Step::Index(_))),
                None => break,
            }
        }
        let name = node.get("name").filter(|_| is_entry);
        name.unwrap_or(node).mark.clone()
    }
}

pub(super) enum Raw {
    Null,
    Text(String),
    /// A number or a boolean, whose spelling is read from the text.
    Spelt,
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl Raw {
    pub(super) fn located(raw: Spanned<Self>, sheet: &Sheet<'_>) -> Node {
        let value = match raw.value {
            Self::Null => Value::Null,
            Self::Text(text) => Value::Text(text),
            Self::Spelt => {
                let range = sheet.range(raw.defined);
                let text = range.and_then(|range| sheet.text.get(range));
                let text = text.expect("the parser knows where a number stands");
                Value::Text(text.to_owned())
            }
            Self::List(entries) => {
                let entries = entries.into_iter();
                Value::List(entries.map(|raw| Self::located(raw, sheet)).collect())
            }
            Self::Map(entries) => {
                let entries = entries.into_iter().map(|(key, raw)| Entry {
                    key_mark: sheet.range(key.referenced),
                    key: key.value,
                    node: Self::located(raw, sheet),
                });
                Value::Map(entries.collect())
            }
        };
        Node {
            value,
            mark: sheet.range(raw.referenced),
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map, a list or a single value")
            }

            fn visit_unit<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Raw, E> {
                Ok(Raw::Spelt)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
                Ok(Raw::Spelt)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
                Ok(Raw::Spelt)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
                Ok(Raw::Spelt)
            }

            fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
                Ok(Raw::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
                let entries = std::iter::from_fn(|| list.next_element().transpose());
                Ok(Raw::List(entries.collect::<Result<_, _>>()?))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
                let entries = std::iter::from_fn(|| map.next_entry().transpose());
                Ok(Raw::Map(entries.collect::<Result<_, _>>()?))
            }
        }

        deserializer.deserialize_any(Any)
    }
}
