//! This module contains synonyms of keys that have a different spelling.

use super::fault::{Place, Step};

/// Lines of the form `keys = synonyms`. The first key that is allowed at a place is used.
const SYNONYMS: &str = include_str!("words.txt");

const INSTEAD: &str = include_str!("instead.txt");

const AMOUNTS: [&str; 2] = ["demand", "capacity"];
const COUNTED: [&str; 3] = ["servers", "cap", "devices"];
const RESOURCES: &str = "cpu cpus core cores vcpu vcpus processors threads memory mem ram gpu gpus \
     disk storage";

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = SYNONYMS.lines().filter_map(|line| line.split_once(" = "));
    lines.flat_map(|(keys, words)| keys.split(' ').map(move |key| (key, words)))
}

/// Returns the known name if `found` is one of its synonyms.
pub fn synonym_of<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let found = plain(found);
    let rows = rows().filter(|(_, words)| has(words, &found));
    let mut keys = rows.map(|(key, _)| key).filter(|key| plain(key) != found);
    keys.find_map(|key| known.iter().copied().find(|name| plain(name) == plain(key)))
}

/// Returns how to describe a feature that has no key, or that it is not supported.
pub(super) fn instead(found: &str) -> Option<&'static str> {
    let squeezed = |word: &str| plain(word).replace('_', "");
    let found = squeezed(found);
    let mut rows = INSTEAD.lines().filter_map(|line| line.split_once(" = "));
    let is_it = |words: &str| words.split(' ').any(|own| squeezed(own) == found);
    rows.find_map(|(words, text)| is_it(words).then_some(text))
}

pub(super) fn standing_for<'a>(
    known: &str,
    mut keys: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let rows = rows().filter(|(key, _)| *key == known);
    let words: Vec<&str> = rows.map(|(_, words)| words).collect();
    keys.find(|key| words.iter().any(|words| has(words, &plain(key))))
}

pub(super) fn is_amount(place: &Place) -> bool {
    match place.steps() {
        [.., Step::Key(above), Step::Key(_)] if AMOUNTS.contains(&above.as_str()) => true,
        [.., Step::Key(last)] => COUNTED.contains(&last.as_str()),
        _ => false,
    }
}

pub(super) fn holder<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_resource = has(RESOURCES, &plain(found));
    let mut holders = known.iter().copied().filter(|key| AMOUNTS.contains(key));
    holders.next().filter(|_| is_resource)
}

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|own| own == word)
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_map_to_the_key_allowed_here() {
        let job = [
            "name",
            "demand",
            "arrival_rate",
            "arrivals",
            "mean_size",
            "size",
        ];
        for (found, known, key) in [
            ("nodes", &["kind", "servers", "jobs"][..], Some("servers")),
            ("nodes", &["name", "count", "cores"], Some("count")),
            ("machines", &["kind", "hosts", "batches"], Some("hosts")),
            ("jobs", &["servers", "classes"], Some("classes")),
            ("Service-Time", &job, Some("mean_size")),
            ("lambda", &job, Some("arrival_rate")),
            ("rate", &job, Some("arrival_rate")),
            ("cpus", &["count", "cores", "gpus"], Some("cores")),
            ("ram", &["cpu", "memory"], Some("memory")),
            ("nodes", &job, None),
            ("colour", &job, None),
        ] {
            assert_eq!(synonym_of(found, known), key, "{found}");
        }
    }

    #[test]
    fn features_without_a_key_are_explained() {
        for (found, text) in [
            ("patience", "out of scope"),
            ("maxQueue", "queues have no limit"),
            ("anti-affinity", "no two of these jobs share a server"),
            ("preemptible", "--preemption"),
        ] {
            assert!(instead(found).unwrap().contains(text), "{found}");
        }
        assert_eq!(instead("colour"), None);
        let job = ["name", "size", "priority"];
        assert_eq!(synonym_of("importance", &job), Some("priority"));
    }

    #[test]
    fn finds_a_synonym_of_a_known_key() {
        let keys = || ["kind", "Tasks", "nodes"].into_iter();
        assert_eq!(standing_for("jobs", keys()), Some("Tasks"));
        assert_eq!(standing_for("servers", keys()), Some("nodes"));
        assert_eq!(standing_for("limit", keys()), None);
    }

    #[test]
    fn amounts_belong_under_their_key() {
        assert_eq!(holder("CPU", &["name", "demand"]), Some("demand"));
        assert_eq!(holder("memory", &["capacity"]), Some("capacity"));
        assert_eq!(holder("memory", &["name", "cores"]), None);
        assert_eq!(holder("weight", &["name", "demand"]), None);
    }
}
