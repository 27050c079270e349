//! The digest over a document: a file that was changed by hand, or cut short, is distinguished from one that
//! was written. It protects from accidents, not from malice: whoever can write the file can write
//! another digest, and nothing is signed.
//!
//! The digest is of what the document says, not of its text: of its JSON without the digest itself,
//! without white space, the keys of each object in the order of their code points, strings and numbers as
//! this code writes them (the shortest decimals that are read back as the same numbers). So other
//! indentation, another order of keys, `1` for `1.0` change nothing.

use super::{Artifact, Content, Finding};
use crate::document::{canonical, digest};

/// What becomes of a document that was changed after it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Changes {
    /// It is refused.
    #[default]
    Refused,
    /// It is taken as it is, and checked like any other.
    Accepted,
}

impl<K: Content> Artifact<K> {
    /// Returns the artifact with the digest of what it says now: as it is written, and as one is that was
    /// changed on purpose.
    pub fn sealed(mut self) -> Self {
        self.digest = None;
        self.digest = Some(self.own_digest());
        self
    }

    /// That the digest of a document is of what it says; or what is wrong with it.
    ///
    /// # Errors
    /// When it was changed after it was written, or was never written by this code.
    pub(super) fn intact(&self) -> Result<(), Finding> {
        let expected = self.clone().sealed().digest.unwrap_or_default();
        let found = match &self.digest {
            Some(found) if *found == expected => return Ok(()),
            Some(_) => format!("the file was changed after it was written: it says {expected} now"),
            None => {
                "absent: the file was changed after it was written, or not written by synth".into()
            }
        };
        Err(Finding {
            path: "digest".into(),
            message: format!(
                "{found}; make the policy anew, or take it as it is with --accept-changes"
            ),
        })
    }

    /// Returns the digest of an artifact that has none yet. The value comes from the text, since [`Content::pretty`] is
    /// compiled once for each kind.
    fn own_digest(&self) -> String {
        let value = K::pretty(self).and_then(|text| serde_json::from_str(&text));
        let value = value.expect("an artifact is made of maps with keys of text");
        digest(&canonical(value))
    }
}

/// Rewrites indented JSON so that an array of numbers or strings stands on one line: a
/// schedule is read at a glance.
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

/// Returns the first place of one of these characters outside of string literals.
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

    /// By hand; the keys out of order, the numbers as they are read back.
    #[test]
    fn a_digest_is_of_one_text_however_a_document_is_laid_out() {
        let value = json!({"b": [1, 2.50, 1e-9, {}], "a": {"ü\n": null, "a b": "x\"y"}, "c": []});
        assert_eq!(
            canonical(value),
            r#"{"a":{"a b":"x\"y","ü\n":null},"b":[1,2.5,1e-9,{}],"c":[]}"#
        );
    }

    #[test]
    fn only_flat_arrays_are_joined_and_nothing_changes_its_meaning() {
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
