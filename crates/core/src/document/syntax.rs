//! This module parses YAML. Only this module and `node` depend on the parser.

use serde_yaml::{Error, Spanned};

use super::fault::{DocumentError, Fault, Place};
use super::node::{Node, Raw};
use super::sheet::Sheet;

pub(super) fn read(sheet: &Sheet<'_>, example: &str) -> Result<Node, DocumentError> {
    if is_blank(sheet.text) {
        let fault = Fault::new(Place::DOCUMENT, "the document is empty", example);
        return Err(sheet.refuse(vec![(fault, Some(0..0))]));
    }
    let options = serde_yaml::options! {
        // A list of demands can have many aliases, so only the expanded size is limited.
        budget: serde_yaml::budget! { enforce_alias_anchor_ratio: false },
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: 250_000 },
        reject_unsupported_tags: true,
        non_finite_float_policy: serde_yaml::options::NonFiniteFloatPolicy::PassThrough,
    };
    serde_yaml::from_str_with_options::<Spanned<Raw>>(sheet.text, options)
        .map(|raw| Raw::located(raw, sheet))
        .map_err(|error| {
            let range = error.location().and_then(|location| sheet.range(location));
            let (message, help) = describe(error.without_snippet());
            sheet.refuse(vec![(Fault::new(Place::DOCUMENT, message, help), range)])
        })
}

fn is_blank(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#') || line == "---" || line == "...")
}

fn describe(error: &Error) -> (String, &'static str) {
    let plain = |message: &str| message.to_owned();
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => describe(error),
        Error::DuplicateMappingKey { key, .. } => (
            format!(
                "the key `{}` appears twice in one map",
                key.as_deref().unwrap_or("?")
            ),
            "keep one of the two",
        ),
        Error::MultipleDocuments { .. } => (
            plain("a second YAML document begins here"),
            "a file holds one workload: move the second to a file of its own",
        ),
        Error::Unexpected { .. } => (
            plain("expected a single value here, not a list or a map"),
            "write a name before the colon",
        ),
        Error::NullIntoString { .. } => (
            plain("a name is missing here"),
            "write one before the colon; if the word null is meant, put it in quotes",
        ),
        Error::UnsupportedTag { .. } | Error::TaggedScalarCannotDeserializeIntoString { .. } => {
            (plain("YAML tags are not supported here"), "delete the tag")
        }
        Error::UnknownAnchor { .. } => (
            plain("this alias names an anchor that does not exist"),
            "mark the value first, `&name value`, then repeat it as `*name`",
        ),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => (
            plain("the document exceeds the size limits once aliases are expanded: ")
                + &bare(error),
            "use fewer aliases, or write the values out",
        ),
        _ => (
            plain("this is not valid YAML: ") + &bare(error),
            "correct the line marked, or the one before it; names with : or # need quotes",
        ),
    }
}

fn bare(error: &Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.clone(), |(message, _)| message.to_owned())
}
