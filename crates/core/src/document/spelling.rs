//! The spellings of laws, processes and times that only documents have: how they are turned into those that are
//! read, and what a schema for editors says of them.

use serde_json::{Value as Json, json};

use super::node::{Node, Value};
use super::published::KEYED;
use crate::number::quantity::time_in;

/// How a value of a document may be spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// A time, as a number or with its unit: `4h`.
    Time,
    /// A law: `{law: erlang, stages: 3, mean: 1}` or `{erlang: {stages: 3, mean: 1}}`.
    Law,
    /// A law of times, which may have their units.
    LawOfTimes,
    /// A law, or the number that it always is.
    LawOrNumber,
    /// A law of times, or the time that it always is.
    LawOrTime,
    /// A process of arrivals: `{process: renewal, interarrival: …}` or `{renewal: {interarrival: …}}`.
    Process,
}

/// The places of a document whose values are spelt in such a way: `jobs[].size`.
pub type Spellings = [(&'static str, Spelling)];

/// Parameters of laws that are times.
const TIMES: [&str; 5] = ["mean", "means", "low", "high", "values"];

/// Turns what is written at these places into what is read.
pub(super) fn respell(root: &mut Node, spellings: &Spellings) {
    let unit = root.time_unit().unwrap_or_default().to_owned();
    for (path, spelling) in spellings {
        root.each_mut(path, &|node| spelling.respell(node, &unit));
    }
}

impl Spelling {
    fn respell(self, node: &mut Node, unit: &str) {
        match self {
            Self::Time => {}
            Self::Law | Self::LawOfTimes => respell_law(node),
            Self::LawOrNumber | Self::LawOrTime => {
                // The law that is always this number.
                if node.text().is_some() {
                    node.wrap("deterministic", "mean");
                }
                respell_law(node);
            }
            Self::Process => {
                node.tag("process", |key| key != "interarrival");
                if let Some(law) = node.get_mut("interarrival") {
                    Self::LawOfTimes.respell(law, unit);
                }
            }
        }
        if matches!(self, Self::Time | Self::LawOfTimes | Self::LawOrTime) {
            respell_times(node, unit);
        }
    }

    /// Returns the schema of what is written.
    pub(super) fn schema(self) -> Json {
        let number = json!({"type": "number"});
        match self {
            Self::Time => time(),
            Self::Law => named("Law"),
            Self::LawOfTimes => named("LawOfTimes"),
            Self::LawOrNumber => json!({"anyOf": [number, named("Law")]}),
            Self::LawOrTime => json!({"anyOf": [time(), named("LawOfTimes")]}),
            Self::Process => named("Process"),
        }
    }
}

/// `{erlang: {stages: 3, mean: 1}}` becomes `{law: erlang, stages: 3, mean: 1}`, and a
/// hyperexponential law that is given by numbers the balanced one.
fn respell_law(law: &mut Node) {
    law.tag("law", |_| true);
    let has = |key| law.get(key).is_some();
    let by_numbers = has("mean") || has("scv");
    let by_lists = has("probabilities") || has("means") || has("onward");
    if by_numbers
        && !by_lists
        && let Some(name) = law.get_mut("law")
        && name.text() == Some("hyperexponential")
    {
        name.value = Value::Text("balanced-hyperexponential".into());
    }
}

/// `4h` becomes the number that it is in the unit of the document, where it is one: as it stands, and in a law as a
/// mean, a bound or a value.
fn respell_times(node: &mut Node, unit: &str) {
    let plain = |text: &str| time_in(text, unit).flatten().map(|time| time.to_string());
    node.change_texts(&plain);
    for key in TIMES {
        if let Some(times) = node.get_mut(key) {
            times.change_texts(&plain);
        }
    }
}

fn named(definition: &str) -> Json {
    json!({"$ref": format!("#/definitions/{definition}")})
}

fn time() -> Json {
    json!({"type": "number", "format": "time"})
}

/// Adds the definitions of laws and processes as they are written to those of what is read.
pub(super) fn define_spelt(all: &mut Json) {
    if let Some(law) = all.get("Size").cloned() {
        all["Law"] = law_as_written(law.clone(), "Law", false);
        all["LawOfTimes"] = law_as_written(law, "LawOfTimes", true);
    }
    if let Some(process) = all.get("ArrivalProcess").cloned() {
        all["Process"] = process_as_written(process);
    }
}

/// Returns the schema of laws as they are written, from that of laws as they are read.
fn law_as_written(mut law: Json, name: &str, of_times: bool) -> Json {
    law[KEYED] = json!(name);
    for variant in law["oneOf"].as_array_mut().into_iter().flatten() {
        for key in TIMES.iter().filter(|_| of_times) {
            match variant["properties"].get_mut(*key) {
                Some(list) if list["type"] == "array" => list["items"] = time(),
                Some(one) => one["format"] = json!("time"),
                None => {}
            }
        }
    }
    let balanced = |one: &&Json| one["properties"]["law"]["const"] == "balanced-hyperexponential";
    let variants = law["oneOf"].as_array_mut();
    if let Some(variants) = variants
        && let Some(mut numbers) = variants.iter().find(balanced).cloned()
    {
        numbers["properties"]["law"]["const"] = json!("hyperexponential");
        variants.push(numbers);
    }
    law
}

/// Returns the schema of processes as they are written, from that of processes as they are read.
fn process_as_written(mut process: Json) -> Json {
    process[KEYED] = json!("Process");
    for variant in process["oneOf"].as_array_mut().into_iter().flatten() {
        if let Some(law) = variant["properties"].get_mut("interarrival") {
            law["$ref"] = json!("#/definitions/LawOfTimes");
        }
    }
    process
}
