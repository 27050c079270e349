//! This module creates the JSON Schema (draft 7) of the documents that people write in an editor.
//! In addition to the schema of the type, numbers and names may be quoted, and optional keys null.
//! Variants are selected by their tag (`if`, `then`), so that an editor only reports faults of one.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};

use super::WorkloadDocument;
use super::conform::{constant, kind};
use super::spelling::define_spelt;
use crate::number::quantity::units_of_time;

const NUMBER: &str = r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?";
const OF_TIME: &str = "time";
/// Marks a definition whose variants can also be the only key of a map, such as `{erlang: {…}}`.
pub(super) const KEYED: &str = "keyed";

/// The schema for the documents of several kinds.
pub struct Published {
    generator: SchemaGenerator,
    kinds: Vec<(&'static str, String)>,
}

impl Default for Published {
    fn default() -> Self {
        Self {
            generator: SchemaSettings::draft07().into_generator(),
            kinds: Vec::new(),
        }
    }
}

impl Published {
    /// Adds the documents of a kind.
    pub fn add<D: WorkloadDocument>(&mut self) {
        self.generator.subschema_for::<D>();
        let name = D::schema_name().into_owned();
        let mut all = Json::Object(std::mem::take(self.generator.definitions_mut()));
        define_spelt(&mut all);
        for (path, spelling) in D::SPELLINGS {
            let schema = spelling.schema();
            let found = all.pointer_mut(&pointer(&all, &name, path));
            let place = found.expect("a spelling has a place in its document");
            let description = place["description"].take();
            *place = schema;
            if !description.is_null() {
                place["description"] = description;
            }
        }
        if let Json::Object(all) = all {
            *self.generator.definitions_mut() = all;
        }
        self.kinds.push((D::KIND, name));
    }

    /// Returns the schema for the documents of all kinds that were added.
    pub fn schema(mut self, title: &str) -> Schema {
        let mut all = self.generator.take_definitions(false);
        let kinds = self.kinds.into_iter().filter_map(|(kind, name)| {
            let mut variant = all.remove(&name)?;
            variant["properties"]["kind"] = json!({"type": "string", "const": kind});
            Some(variant)
        });
        let kinds: Vec<Json> = kinds.collect();
        let mut schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": title,
            "oneOf": kinds,
            "definitions": all,
        });
        written(&mut schema);
        while forget_unused(&mut schema) {}
        Schema::try_from(schema).unwrap_or_default()
    }
}

fn pointer(all: &Json, name: &str, path: &str) -> String {
    let mut at = format!("/{name}");
    for step in path.split('.') {
        let key = step.trim_end_matches("[]");
        at = followed(all, at) + "/properties/" + key;
        if key != step {
            at = followed(all, at) + "/items";
        }
    }
    at
}

fn followed(all: &Json, at: String) -> String {
    let Some(schema) = all.pointer(&at) else {
        return at;
    };
    if let Some(name) = schema["$ref"].as_str() {
        return followed(all, name.trim_start_matches("#/definitions").to_owned());
    }
    let either = schema["anyOf"].as_array();
    match either.and_then(|all| all.iter().position(|one| one["type"] != "null")) {
        Some(n) => followed(all, format!("{at}/anyOf/{n}")),
        None => at,
    }
}

fn forget_unused(schema: &mut Json) -> bool {
    let text = schema.to_string();
    let Some(all) = schema["definitions"].as_object_mut() else {
        return false;
    };
    let before = all.len();
    all.retain(|name, _| text.contains(&format!("\"#/definitions/{name}\"")));
    all.len() < before
}

fn written(schema: &mut Json) {
    let Json::Object(map) = schema else { return };
    for (key, value) in map.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "definitions", Json::Object(all)) => {
                all.values_mut().for_each(written);
            }
            ("oneOf" | "anyOf" | "allOf", Json::Array(all)) => {
                all.iter_mut().for_each(written);
                all.retain(|one| one["type"] != "null");
            }
            ("items" | "additionalProperties", one) => written(one),
            ("description", Json::String(text)) => {
                let plain = text.replace("\\[", "[").replace("\\]", "]");
                let paragraphs = plain.split("\n\n").map(|lines| lines.replace('\n', " "));
                *text = paragraphs.collect::<Vec<_>>().join("\n\n");
            }
            _ => {}
        }
    }
    if map.get("default") == Some(&Json::Null) {
        map.remove("default");
    }
    spell(map);
    leave_out(map);
    choose(map);
}

fn leave_out(map: &mut Map<String, Json>) {
    let required = map.get("required").cloned().unwrap_or_default();
    let properties = map.get_mut("properties").and_then(Json::as_object_mut);
    for (key, one) in properties.into_iter().flatten() {
        let is_required = |all: &Vec<Json>| all.iter().any(|one| one == key);
        if !required.as_array().is_some_and(is_required) {
            or_nothing(one);
        }
    }
}

fn spell(map: &mut Map<String, Json>) {
    let is_word = map.contains_key("const") || map.contains_key("enum");
    let kind = map.get("type").map_or("", kind).to_owned();
    if kind.is_empty() {
        return;
    }
    map.insert("type".into(), json!(kind));
    let is_time = map.remove("format").is_some_and(|format| format == OF_TIME);
    let (pattern, message) = match &*kind {
        "number" if is_time => (
            format!("({NUMBER}|{})", time()),
            "expected a time: a number of time units, or with its unit, such as 30m, 4h or 1h30m",
        ),
        "number" => (NUMBER.into(), "expected a number, without a unit"),
        "integer" => (NUMBER.into(), "expected a whole number"),
        "boolean" => ("(true|false)".into(), "expected true or false"),
        "string" if !is_word => {
            map.insert("type".into(), json!(["string", "number", "boolean"]));
            return;
        }
        _ => return,
    };
    map.insert("type".into(), json!([kind, "string"]));
    map.insert("pattern".into(), json!(format!("^{pattern}$")));
    map.insert("patternErrorMessage".into(), json!(message));
    if kind != "boolean" && !map.contains_key("minimum") {
        map.insert("minimum".into(), json!(0));
    }
    if is_time {
        map.insert("examples".into(), json!(["30m", "4h", "1h30m"]));
    }
}

fn time() -> String {
    let units: Vec<&str> = units_of_time().collect();
    format!(r"(\s*{NUMBER}\s*({}))+\s*", units.join("|"))
}

fn choose(map: &mut Map<String, Json>) {
    let keyed = map.remove(KEYED);
    let variants = map.get("oneOf").and_then(Json::as_array);
    let variants = variants.map_or(&[][..], Vec::as_slice);
    let Some((tag, _)) = variants.first().and_then(constant) else {
        return;
    };
    let tag = tag.to_owned();
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in variants.iter().filter_map(constant) {
        names.extend(Some(name).filter(|name| !names.contains(name)));
    }
    let (mut branches, mut described, mut by_key) = (Vec::new(), Vec::new(), Map::new());
    for name in &names {
        let is_own = |one: &&Json| constant(one).is_some_and(|(_, own)| own == *name);
        let own: Vec<Json> = variants.iter().filter(is_own).cloned().collect();
        described.push(own[0]["description"].clone());
        let mut then = one_of(own, &tag);
        if let Some(Json::String(definition)) = &keyed {
            by_key.insert((*name).to_owned(), then);
            then = json!({"$ref": format!("#/definitions/{definition}/else/properties/{name}")});
        }
        let is_named = json!({"required": [tag], "properties": {&tag: {"const": name}}});
        branches.push(json!({"if": is_named, "then": then}));
    }
    let word = json!({"type": "string", "enum": names, "enumDescriptions": described});
    map.remove("oneOf");
    map.insert("type".into(), json!("object"));
    map.insert("properties".into(), json!({&tag: word}));
    map.insert("allOf".into(), json!(branches));
    if keyed.is_some() {
        map.insert("if".into(), json!({"required": [tag]}));
        let otherwise = json!({
            "properties": by_key, "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
        });
        map.insert("else".into(), otherwise);
    } else {
        map.insert("required".into(), json!([tag]));
    }
}

fn one_of(mut own: Vec<Json>, tag: &str) -> Json {
    for one in &mut own {
        let required = one["required"].as_array_mut().into_iter();
        required.for_each(|keys| keys.retain(|key| key != tag));
    }
    match own.len() {
        1 => own.remove(0),
        _ => json!({"anyOf": own}),
    }
}

fn or_nothing(schema: &mut Json) {
    let Json::Object(map) = schema else { return };
    let types = match map.get("type") {
        Some(Json::Array(types)) => Some(types.clone()),
        Some(one) if !map.contains_key("if") => Some(vec![one.clone()]),
        _ => None,
    };
    if let Some(mut types) = types {
        types.push(json!("null"));
        map.insert("type".into(), Json::Array(types));
        let words = map.get_mut("enum").and_then(Json::as_array_mut);
        words.into_iter().for_each(|words| words.push(Json::Null));
        return;
    }
    let description = map.remove("description");
    let inner = std::mem::take(map);
    map.extend(description.map(|text| ("description".to_owned(), text)));
    map.insert("anyOf".into(), json!([inner, {"type": "null"}]));
}
