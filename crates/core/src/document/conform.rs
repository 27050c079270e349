//! This module converts a tree of values to JSON and checks it against a JSON schema. An enum
//! (`oneOf`) can be tagged by a constant property, or be a string or a map with one key.

use num_rational::BigRational;
use num_traits::Zero;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::fault::{Fault, Place};
use super::names::{nearest, suggest};
use super::node::{Entry, Node, Value};
use super::words::{holder, instead, is_amount, synonym_of};
use crate::number::Decimal;
use crate::number::quantity::{explained, explained_amount};

pub(super) fn read<T: DeserializeOwned + JsonSchema>(
    root: &Node,
    example: &str,
) -> (Option<T>, Vec<Fault>) {
    let schema = schemars::schema_for!(T).to_value();
    let mut reader = Reader {
        root: &schema,
        example,
        time_unit: root.time_unit(),
        faults: Vec::new(),
    };
    let json = reader.value(root, &schema, &Place::DOCUMENT);
    let value = json.map(|json| {
        serde_json::from_str(&json)
            .expect("a value that conforms to the schema of a type deserializes as that type")
    });
    (value, reader.faults)
}

struct Reader<'a> {
    root: &'a Json,
    example: &'a str,
    time_unit: Option<&'a str>,
    faults: Vec<Fault>,
}

impl<'a> Reader<'a> {
    fn refuse(&mut self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        self.faults.push(Fault::new(place.clone(), message, help));
    }

    fn value(&mut self, node: &Node, schema: &'a Json, place: &Place) -> Option<String> {
        let schema = self.resolved(schema, Some(node));
        match (schema["oneOf"].as_array(), kind(&schema["type"])) {
            (Some(variants), _) => self.variant(node, variants, place),
            (None, "object") => self.map(node, schema, place),
            (None, "array") => self.list(node, &schema["items"], place),
            (None, kind) => self.single(node, place).and_then(|text| match kind {
                "number" => self.number(text, place),
                "integer" => self.whole(text, schema, place),
                "boolean" => self.truth(text, place),
                _ => Some(quoted(text)),
            }),
        }
    }

    /// Resolves references and alternatives, where null is ignored and a match of `node` preferred.
    fn resolved(&self, schema: &'a Json, node: Option<&Node>) -> &'a Json {
        if let Some(name) = schema["$ref"].as_str() {
            let found = self.root.pointer(name.trim_start_matches('#'));
            return self.resolved(found.expect("schemars defines every reference"), node);
        }
        let Some(either) = schema["anyOf"].as_array() else {
            return schema;
        };
        let others = || either.iter().filter(|own| kind(&own["type"]) != "null");
        let has_form = |schema: &&Json| node.is_some_and(|node| self.fits(node, schema));
        let other = others().find(has_form).or(others().next());
        self.resolved(other.expect("not null alone"), node)
    }

    fn single<'n>(&mut self, node: &'n Node, place: &Place) -> Option<&'n str> {
        let (message, help) = match &node.value {
            Value::Text(text) => return Some(text),
            Value::Null => (
                "a value is missing here",
                "write one after the colon; if the word null is meant as a name, put it in quotes",
            ),
            _ => (
                "expected a single value here, not a list or a map",
                self.example,
            ),
        };
        self.refuse(place, message, help);
        None
    }

    fn number(&mut self, text: &str, place: &Place) -> Option<String> {
        let error = match Decimal::parse(text) {
            Ok(number) => return Some(number.canonical()),
            Err(error) => error,
        };
        let explained = match is_amount(place) {
            _ if !error.is_no_number() => None,
            true => explained_amount(text),
            false => explained(text, self.time_unit),
        };
        let help = explained.unwrap_or_else(|| error.help.clone());
        self.refuse(place, format!("{place}: {error}"), help);
        None
    }

    fn whole(&mut self, text: &str, schema: &Json, place: &Place) -> Option<String> {
        let most = match schema["format"].as_str() {
            Some("uint32") => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        let exact = Decimal::parse(text).ok().map(Decimal::exact);
        let whole = exact.filter(|x| x.is_integer() && *x >= BigRational::zero());
        let (expected, help) = match whole.map(|whole| u64::try_from(whole.to_integer())) {
            Some(Ok(whole)) if whole <= most => return Some(whole.to_string()),
            Some(_) => (format!("at most {most}"), "write a smaller number"),
            None => (
                "a whole number ≥ 0".to_owned(),
                "write it without a fraction, a sign or a unit",
            ),
        };
        let message = format!("{place} is {text}, expected {expected}");
        self.refuse(place, message, help);
        None
    }

    fn truth(&mut self, text: &str, place: &Place) -> Option<String> {
        if matches!(text, "true" | "false") {
            return Some(text.to_owned());
        }
        let message = format!("{place} is {text}, expected true or false");
        self.refuse(place, message, "write true, or leave it out");
        None
    }

    fn list(&mut self, node: &Node, items: &'a Json, place: &Place) -> Option<String> {
        let Value::List(entries) = &node.value else {
            let help = "write `- ` before each entry, or [a, b]; ".to_owned() + self.example;
            self.refuse(place, expected(node, "a list"), help);
            return None;
        };
        let form = self.resolved(items, None);
        let singles = form["oneOf"].is_null() && !matches!(kind(&form["type"]), "array" | "object");
        let mut json = Some(Vec::new());
        for (n, entry) in entries.iter().enumerate() {
            push(&mut json, self.value(entry, items, &place.then(n)));
            // If one entry has the wrong form, most others do as well: report only the first.
            if json.is_none() && singles == matches!(entry.value, Value::List(_) | Value::Map(_)) {
                break;
            }
        }
        Some(format!("[{}]", json?.join(",")))
    }

    fn entries<'n>(&mut self, node: &'n Node, place: &Place) -> Option<&'n [Entry]> {
        if let Value::Map(entries) = &node.value {
            return Some(entries);
        }
        let help = "write `key: value`, or {key: value}; ".to_owned() + self.example;
        self.refuse(place, expected(node, "a map"), help);
        None
    }

    /// If all keys are allowed, a value that has a fault is replaced by null.
    fn map(&mut self, node: &Node, schema: &'a Json, place: &Place) -> Option<String> {
        let entries = self.entries(node, place)?;
        if schema["properties"].is_object() {
            return self.fields(entries, schema, place, None);
        }
        let mut json = Some(Vec::new());
        for Entry { key, node, .. } in entries {
            let value = self.value(node, &schema["additionalProperties"], &place.then(key));
            push(&mut json, field(key, value.or(Some("null".to_owned()))));
        }
        Some(format!("{{{}}}", json?.join(",")))
    }

    /// Converts a struct or a variant. A key that is not required can be null, and it is omitted if
    /// its value has a fault, so that the rest can be checked.
    fn fields(
        &mut self,
        entries: &[Entry],
        schema: &'a Json,
        place: &Place,
        variant: Option<(&str, &str)>,
    ) -> Option<String> {
        let properties = schema["properties"].as_object();
        let properties = properties.expect("the schema of a struct has properties");
        let required: Vec<&str> = texts(&schema["required"]).collect();
        let others = properties.keys().map(String::as_str);
        let others = others.filter(|key| !required.contains(key));
        let mut known: Vec<&str> = required.iter().copied().chain(others).collect();
        known.retain(|key| variant.is_none_or(|(tag, _)| *key != tag));
        let mut json = Some(Vec::new());
        let mut reported: Vec<&str> = Vec::new();
        for Entry { key, node, .. } in entries {
            let here = place.then(key);
            let Some(schema) = properties.get(key) else {
                let is_free = |known: &&str| absent(entries, known) && !reported.contains(known);
                let free: Vec<&str> = known.iter().copied().filter(is_free).collect();
                let mut fitting = free.clone();
                fitting.retain(|known| self.fits(node, &properties[*known]));
                let Some(near) = self.unknown(key, [&known, &free, &fitting], &here, variant)
                else {
                    continue;
                };
                let meant = &properties[near];
                if free.contains(&near) && self.fits(node, meant) {
                    push(&mut json, field(near, self.value(node, meant, &here)));
                    reported.push(near);
                } else if holder(key, &known).is_some() && required.contains(&near) {
                    json = None;
                    reported.push(near);
                }
                continue;
            };
            if node.value == Value::Null && !required.contains(&key.as_str()) {
                continue;
            }
            let value = self.value(node, schema, &here);
            if value.is_some() || required.contains(&key.as_str()) {
                push(&mut json, field(key, value));
            }
        }
        let missing = required.iter().filter(|key| absent(entries, key));
        for key in missing.filter(|key| !reported.contains(key)) {
            self.missing(key, schema, place, variant);
            json = None;
        }
        Some(format!("{{{}}}", json?.join(",")))
    }

    fn missing(&mut self, key: &str, schema: &Json, place: &Place, variant: Option<(&str, &str)>) {
        let (message, help) = match variant {
            Some((tag, name)) => (
                format!("the {tag} `{name}` needs `{key}`"),
                format!("write it like this: `{}`", pattern(tag, name, schema)),
            ),
            None => (
                format!("the key `{key}` is missing in this map"),
                format!("add it: {}", self.example),
            ),
        };
        self.refuse(place, message, help);
    }

    /// Reports an unknown key, and returns the key that was probably meant. A synonym can only mean
    /// a key that is `free`, preferably one that is `fitting`. A misspelling can mean any key.
    fn unknown<'k>(
        &mut self,
        key: &str,
        [known, free, fitting]: [&[&'k str]; 3],
        here: &Place,
        variant: Option<(&str, &str)>,
    ) -> Option<&'k str> {
        let (of, kind) = match variant {
            Some((tag, name)) => (format!(" of the {tag} `{name}`"), "its parameters"),
            None => (String::new(), "keys known here"),
        };
        let near = synonym_of(key, fitting).or_else(|| synonym_of(key, free));
        let instead = instead(key).filter(|_| near.is_none());
        let near = near.or_else(|| nearest(key, known).filter(|_| instead.is_none()));
        let (help, near) = match (near, holder(key, known), instead) {
            (None, None, Some(text)) => (text.to_owned(), None),
            (_, Some(above), _) => (
                format!("write it below `{above}`: `{above}: {{{key}: …}}`"),
                Some(above),
            ),
            (Some(near), None, _) => (format!("did you mean `{near}`?"), Some(near)),
            (None, None, None) => (suggest(key, kind, known), None),
        };
        let fault = Fault::new(here.clone(), format!("unknown key `{key}`{of}"), help);
        self.faults.push(fault.at_key());
        near
    }

    fn fits(&self, node: &Node, schema: &'a Json) -> bool {
        let schema = self.resolved(schema, None);
        let form = match (schema["oneOf"].as_array(), kind(&schema["type"])) {
            (Some(variants), _) if variants.iter().all(|v| constant(v).is_some()) => "object",
            (Some(_), _) => return matches!(node.value, Value::Map(_) | Value::Text(_)),
            (None, kind) => kind,
        };
        match &node.value {
            Value::Map(_) => form == "object",
            Value::List(_) => form == "array",
            Value::Text(_) => !matches!(form, "object" | "array"),
            Value::Null => false,
        }
    }

    fn variant(&mut self, node: &Node, variants: &'a [Json], place: &Place) -> Option<String> {
        let tagged: Option<Vec<_>> = variants.iter().map(constant).collect();
        let Some(tagged) = tagged else {
            return self.untagged(node, variants, place);
        };
        let entries = self.entries(node, place)?;
        let tag = tagged[0].0;
        let names: Vec<&str> = tagged.iter().map(|(_, name)| *name).collect();
        let Some(found) = entries.iter().find(|entry| entry.key == tag) else {
            let help = format!("add `{tag}: {}`", names[0]);
            self.refuse(place, format!("{place} has no {tag}"), help);
            return None;
        };
        let here = place.then(tag);
        let name = self.single(&found.node, &here)?;
        let Some(n) = names.iter().position(|known| *known == name) else {
            let help = suggest(name, "expected one of", &names);
            self.refuse(&here, format!("unknown {tag} `{name}`"), help);
            return None;
        };
        self.fields(entries, &variants[n], place, Some((tag, name)))
    }

    fn untagged(&mut self, node: &Node, variants: &'a [Json], place: &Place) -> Option<String> {
        let form = |variant: &'a Json| match variant["const"].as_str() {
            Some(word) => Some((word, None)),
            None => {
                let (key, schema) = variant["properties"].as_object()?.iter().next()?;
                Some((key.as_str(), Some(schema)))
            }
        };
        let known: Vec<(&str, Option<&Json>)> = variants.iter().filter_map(form).collect();
        let (name, value) = match &node.value {
            Value::Text(text) => (text.as_str(), None),
            Value::Map(entries) if entries.len() == 1 => {
                (entries[0].key.as_str(), Some(&entries[0].node))
            }
            _ => ("", None),
        };
        let found = known.iter().find(|(known, _)| *known == name);
        match (found, value) {
            (Some((_, None)), None) => Some(quoted(name)),
            (Some((_, Some(schema))), Some(value)) => {
                let field = field(name, self.value(value, schema, &place.then(name)))?;
                Some(format!("{{{field}}}"))
            }
            _ => {
                let written = |(name, of): &(&str, Option<_>)| match of {
                    Some(_) => format!("`{name}: …`"),
                    None => format!("`{name}`"),
                };
                let all: Vec<String> = known.iter().map(written).collect();
                let message = match name {
                    "" => expected(node, "one word, or a map of one key,"),
                    name => format!("{place} is `{name}`, which is not an allowed value"),
                };
                self.refuse(place, message, format!("write one of {}", all.join(", ")));
                None
            }
        }
    }
}

pub(super) fn kind(types: &Json) -> &str {
    let kind = types.as_str();
    let several = || texts(types).find(|kind| *kind != "null");
    kind.or_else(several).unwrap_or_default()
}

pub(super) fn constant(variant: &Json) -> Option<(&str, &str)> {
    let mut properties = variant["properties"].as_object()?.iter();
    properties.find_map(|(key, schema)| Some((key.as_str(), schema["const"].as_str()?)))
}

fn pattern(tag: &str, name: &str, schema: &Json) -> String {
    let parameters = texts(&schema["required"]).filter(|key| *key != tag);
    let parameters = parameters.map(|key| match kind(&schema["properties"][key]["type"]) {
        "array" => format!(", {key}: […]"),
        _ => format!(", {key}: …"),
    });
    format!("{{{tag}: {name}{}}}", parameters.collect::<String>())
}

fn absent(entries: &[Entry], key: &str) -> bool {
    entries.iter().all(|entry| entry.key != key)
}

fn push(all: &mut Option<Vec<String>>, one: Option<String>) {
    match (all.as_mut(), one) {
        (Some(all), Some(one)) => all.push(one),
        _ => *all = None,
    }
}

fn field(key: &str, value: Option<String>) -> Option<String> {
    Some(format!("{}:{}", quoted(key), value?))
}

fn expected(node: &Node, what: &str) -> String {
    match node.value {
        Value::Null => format!("{what} is missing here"),
        _ => format!("expected {what} here"),
    }
}

fn texts(list: &Json) -> impl Iterator<Item = &str> {
    let entries = list.as_array().into_iter().flatten();
    entries.filter_map(Json::as_str)
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

#[cfg(test)]
mod tests;
