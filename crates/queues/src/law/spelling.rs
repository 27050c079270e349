//! The spellings of a law and of a process that only documents have, turned into those that are
//! read.

use synth_core::document::Node;
use synth_core::number::quantity::time_in;

/// `{erlang: {stages: 3, mean: 1}}` becomes `{law: erlang, stages: 3, mean: 1}`, and a
/// hyperexponential law that is given by numbers the balanced one.
pub fn respell_law(law: &mut Node) {
    law.tag("law", |_| true);
    let has = |key| law.get(key).is_some();
    let by_numbers = has("mean") || has("scv");
    let by_lists = has("probabilities") || has("means") || has("onward");
    if by_numbers
        && !by_lists
        && let Some(name) = law.get_mut("law")
        && name.text() == Some("hyperexponential")
    {
        name.set_text("balanced-hyperexponential");
    }
}

/// The same, and a number becomes the law that is always this number.
pub fn respell_law_or_number(law: &mut Node) {
    if law.text().is_some() {
        law.wrap("deterministic", "mean");
    }
    respell_law(law);
}

/// `{renewal: {interarrival: …}}` becomes `{process: renewal, interarrival: …}`, and the law in it
/// is respelt.
pub fn respell_process(process: &mut Node) {
    process.tag("process", |key| key != "interarrival");
    if let Some(law) = process.get_mut("interarrival") {
        respell_law(law);
    }
}

/// After each of these keys `4h` becomes the number that it is in the unit of the document, where it is one: as a
/// number, and in a law as a mean, a bound or a value.
pub fn respell_times_of(map: &mut Node, keys: &[&str], unit: &str) {
    const TIMES: [&str; 5] = ["mean", "means", "low", "high", "values"];
    let plain = |text: &str| time_in(text, unit).flatten().map(|time| time.to_string());
    for key in keys {
        let Some(law) = map.meant_mut(key) else {
            continue;
        };
        law.change_texts(&plain);
        for key in TIMES {
            if let Some(times) = law.get_mut(key) {
                times.change_texts(&plain);
            }
        }
    }
}
