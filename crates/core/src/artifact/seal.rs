//! The digest of a document detects files whose values were edited, but no attacks, because anyone
//! who can write the file can also write a digest. It is the digest of the canonical JSON without
//! this field: without white space, with sorted keys, and with numbers as serde_json writes the
//! typed field (a float 1 is `1.0`). So layout, order, and `1` instead of `1.0` do not change it.

use super::{Artifact, Content, Finding};
use crate::document::{canonical, digest};

/// Specifies if a document is accepted after it was edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Changes {
    /// It is rejected.
    #[default]
    Refused,
    /// It is accepted, and it is checked like all other documents.
    Accepted,
}

impl<K: Content> Artifact<K> {
    /// Sets the digest of the current contents.
    pub fn sealed(mut self) -> Self {
        self.digest = None;
        // `serde_json::to_value` would compile the serialization of each kind again.
        let value = K::pretty(&self).and_then(|text| serde_json::from_str(&text));
        let value = value.expect("an artifact is made of maps with keys of text");
        self.digest = Some(digest(&canonical(value)));
        self
    }

    pub(super) fn digest_mismatch(&self) -> Option<Finding> {
        let actual = self.clone().sealed().digest.unwrap_or_default();
        let problem = match &self.digest {
            Some(stored) if *stored == actual => return None,
            Some(_) => format!(
                "the file was changed after it was written: the digest of its contents is {actual}"
            ),
            None => {
                "absent: the file was changed after it was written, or not written by synth".into()
            }
        };
        let message = format!(
            "{problem}; synthesize the policy again, or accept the file with --accept-changes"
        );
        let path = "digest".into();
        Some(Finding { path, message })
    }
}

/// Writes each array without nested arrays or objects on one line of this indented JSON.
pub(super) fn flat_arrays_on_one_line(pretty: &str) -> String {
    let mut text = String::with_capacity(pretty.len());
    let mut rest = pretty;
    while let Some(start) = find_outside_strings(rest, "[") {
        let (before, array) = rest.split_at(start + 1);
        text.push_str(before);
        rest = array;
        let end = find_outside_strings(array, "[{]");
        if let Some(end) = end.filter(|end| array[*end..].starts_with(']')) {
            let values: Vec<&str> = array[..end].lines().map(str::trim).collect();
            text.push_str(values.join(" ").trim());
            rest = &array[end..];
        }
    }
    text + rest
}

fn find_outside_strings(text: &str, characters: &str) -> Option<usize> {
    let (mut in_string, mut escaped) = (false, false);
    text.char_indices().find_map(|(place, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if !in_string && characters.contains(c) => return Some(place),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn canonical_json_sorts_keys_and_drops_white_space() {
        let value = json!({"b": [1, 2.50, 1e-9, {}], "a": {"ü\n": null, "a b": "x\"y"}, "c": []});
        assert_eq!(
            canonical(value),
            r#"{"a":{"a b":"x\"y","ü\n":null},"b":[1,2.5,1e-9,{}],"c":[]}"#
        );
    }

    #[test]
    fn only_flat_arrays_are_joined_and_values_stay_the_same() {
        let value = serde_json::json!({
            "w": [[1, 2], [3.5, 4]], "empty": [], "objects": [{"a": ["x]\"[", "{"]}], "s": "[1,\n2]"
        });
        let flat = flat_arrays_on_one_line(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&flat).unwrap(),
            value
        );
        assert!(flat.contains("\n    [1, 2],\n    [3.5, 4]\n"), "{flat}");
        assert!(flat.contains(r#""a": ["x]\"[", "{"]"#), "{flat}");
    }
}
