//! The digest of a document detects files that were edited or truncated. It does not protect from
//! an attacker, because anyone who can write the file can also write a digest. It is the digest of
//! the canonical JSON without the digest field: without white space, with keys sorted by code
//! point, and with the shortest text of each number. Therefore, indentation, the order of the keys,
//! and `1` instead of `1.0` do not change it.

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
        // This uses the text, because `Content::pretty` is only compiled once for each kind.
        let value = K::pretty(&self).and_then(|text| serde_json::from_str(&text));
        let value = value.expect("an artifact is made of maps with keys of text");
        self.digest = Some(digest(&canonical(value)));
        self
    }

    pub(super) fn change(&self) -> Option<Finding> {
        let expected = self.clone().sealed().digest.unwrap_or_default();
        let found = match &self.digest {
            Some(found) if *found == expected => return None,
            Some(_) => format!(
                "the file was changed after it was written: the digest of its contents is {expected}"
            ),
            None => {
                "absent: the file was changed after it was written, or not written by synth".into()
            }
        };
        let message = format!(
            "{found}; synthesize the policy again, or accept the file with --accept-changes"
        );
        let path = "digest".into();
        Some(Finding { path, message })
    }
}

pub(super) fn flat_arrays(pretty: &str) -> String {
    let mut text = String::with_capacity(pretty.len());
    let mut rest = pretty;
    while let Some(start) = find_outside_strings(rest, "[") {
        let (before, array) = rest.split_at(start + 1);
        text.push_str(before);
        rest = array;
        let end = find_outside_strings(array, "[{]").unwrap_or(0);
        if array[end..].starts_with(']') {
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
    fn digest_is_independent_of_layout() {
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
        let flat = flat_arrays(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&flat).unwrap(),
            value
        );
        assert!(flat.contains("\n    [1, 2],\n    [3.5, 4]\n"), "{flat}");
        assert!(flat.contains(r#""a": ["x]\"[", "{"]"#), "{flat}");
    }
}
