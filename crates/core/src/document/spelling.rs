use serde_json::{Value as Json, json};

use super::node::{Node, Value};
use super::published::KEYED;
use crate::number::quantity::time_in;

/// The ways in which a value of a document can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// A time, which is a number or has a unit, such as `4h`.
    Time,
    /// A distribution: `{law: erlang, stages: 3, mean: 1}` or `{erlang: {stages: 3, mean: 1}}`.
    Law,
    /// A distribution of times, which can have a unit.
    LawOfTimes,
    /// A distribution, or a number if it is deterministic.
    LawOrNumber,
    /// A distribution of times, or a time if it is deterministic.
    LawOrTime,
    /// An arrival process: `{process: renewal, interarrival: …}` or `{renewal: {interarrival: …}}`.
    Process,
}

/// The places in a document, such as `jobs[].size`, and how their values can be written.
pub type Spellings = [(&'static str, Spelling)];

const TIMES: [&str; 5] = ["mean", "means", "low", "high", "values"];

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
            // A time such as `4h` is converted to a number, also within a distribution.
            let plain = |text: &str| time_in(text, unit).flatten().map(|time| time.to_string());
            node.change_texts(&plain);
            for key in TIMES {
                if let Some(times) = node.get_mut(key) {
                    times.change_texts(&plain);
                }
            }
        }
    }

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

/// A hyperexponential distribution by numbers and not by lists becomes the balanced one.
fn respell_law(law: &mut Node) {
    law.tag("law", |_| true);
    let has = |key| law.get(key).is_some();
    let by_lists = has("probabilities") || has("means") || has("onward");
    let is_balanced = (has("mean") || has("scv")) && !by_lists;
    if let Some(name) = law.get_mut("law").filter(|_| is_balanced)
        && name.text() == Some("hyperexponential")
    {
        name.value = Value::Text("balanced-hyperexponential".into());
    }
}

fn named(definition: &str) -> Json {
    json!({"$ref": format!("#/definitions/{definition}")})
}

fn time() -> Json {
    json!({"type": "number", "format": "time"})
}

pub(super) fn define_spelt(all: &mut Json) {
    if let Some(law) = all.get("SizeDistribution").cloned() {
        all["Law"] = law_as_written(law.clone(), "Law", false);
        all["LawOfTimes"] = law_as_written(law, "LawOfTimes", true);
    }
    if let Some(mut process) = all.get("ArrivalProcess").cloned() {
        process[KEYED] = json!("Process");
        for variant in process["oneOf"].as_array_mut().into_iter().flatten() {
            if let Some(law) = variant["properties"].get_mut("interarrival") {
                law["$ref"] = json!("#/definitions/LawOfTimes");
            }
        }
        all["Process"] = process;
    }
}

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
