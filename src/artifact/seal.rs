//! The digest over a document: a file that was changed by hand, or cut short, is told from one that
//! was written. It protects from accidents, not from malice: whoever can write the file can write
//! another digest, and nothing is signed.
//!
//! The digest is of what the document says, not of its text: of its JSON without the digest itself,
//! without white space, the keys of each object in the order of their code points, strings and numbers as
//! this code writes them (the shortest decimals that are read back as the same numbers). So other
//! indentation, another order of keys, `1` for `1.0` change nothing.

use serde_json::Value;

use super::{Artifact, Content, Finding};
use crate::document::digest;

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
    /// The artifact with the digest of what it says now: as it is written, and as one is that was
    /// changed on purpose.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.digest = None;
        self.digest = Some(self.own_digest());
        self
    }

    /// That the digest of a document is of what it says; or what is wrong with it.
    ///
    /// # Errors
    /// When it was changed after it was written, or was never written by this code.
    pub fn intact(&self) -> Result<(), Finding> {
        let unsealed = Artifact {
            digest: None,
            ..self.clone()
        };
        let expected = unsealed.own_digest();
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

    /// The digest of an artifact that has none yet.
    fn own_digest(&self) -> String {
        let value =
            serde_json::to_value(self).expect("an artifact is made of maps with keys of text");
        let mut text = String::new();
        write(&value, &mut text);
        digest(&text)
    }
}

/// Writes a value as the digest is made of it.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (n, item) in items.iter().enumerate() {
                text.push_str(if n > 0 { "," } else { "" });
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (n, (key, field)) in fields.into_iter().enumerate() {
                text.push_str(if n > 0 { "," } else { "" });
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(field, text);
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// By hand; the keys out of order, the numbers as they are read back.
    #[test]
    fn a_digest_is_of_one_text_however_a_document_is_laid_out() {
        let value = json!({"b": [1, 2.50, 1e-9, {}], "a": {"ü\n": null, "a b": "x\"y"}, "c": []});
        let mut text = String::new();
        write(&value, &mut text);
        assert_eq!(
            text,
            r#"{"a":{"a b":"x\"y","ü\n":null},"b":[1,2.5,1e-9,{}],"c":[]}"#
        );
    }
}
