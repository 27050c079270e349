//! This module explains the errors of the JSON parser without the names of internal types.

use serde_json::error::Category;

use super::names::controls_terminal;

/// Escapes the characters of a JSON text that could [control](controls_terminal) a terminal.
pub fn harmless(json: String) -> String {
    if json.bytes().all(|b| b.is_ascii() && b != 0x7f) {
        return json;
    }
    let escaped = |c: char| match c != '\n' && controls_terminal(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(escaped).collect()
}

/// Returns the problem, with its line and column.
pub fn fault_of_json(error: &serde_json::Error) -> String {
    let place = format!("line {}, column {}", error.line(), error.column());
    let message = match error.classify() {
        Category::Eof => "the text ends in the middle of the document".into(),
        Category::Syntax => {
            "this is not the JSON expected here, or a number beyond the range of doubles".into()
        }
        Category::Io => "the text could not be read".into(),
        Category::Data => {
            let text = error.to_string();
            let position = format!(" at line {} column {}", error.line(), error.column());
            of_value(text.strip_suffix(&position).unwrap_or(&text))
        }
    };
    // If a value was not read from a text, the line is 0.
    match error.line() {
        0 => message,
        _ => format!("{message} ({place})"),
    }
}

fn of_value(error: &str) -> String {
    let name = |head: &str| error.strip_prefix(head);
    let split = |head: &str| name(head)?.split_once(", expected ");
    if let Some((found, expected)) = split("invalid type: ").or_else(|| split("invalid value: ")) {
        let (found, expected) = (found_value(found), expected_value(expected));
        format!("{found}, expected {expected}")
    } else if let Some((length, _)) = split("invalid length ") {
        format!("{length} entries, which is the wrong number")
    } else if let Some(field) = name("missing field ") {
        format!("the field {field} is missing")
    } else if let Some(field) = name("duplicate field ") {
        format!("the field {field} appears twice")
    } else if let Some((field, known)) = split("unknown field ") {
        format!("unknown field {field}, expected {known}")
    } else if let Some(field) = name("unknown field ") {
        let field = field.split(',').next().unwrap_or(field);
        format!("unknown field {field}, expected none")
    } else if let Some((found, known)) = split("unknown variant ") {
        format!("unknown value {found}, expected {known}")
    } else if error.contains("untagged enum") {
        "the value has none of the accepted forms".into()
    } else {
        error.into()
    }
}

fn found_value(found: &str) -> String {
    let kinds = [
        ("floating point ", "the number "),
        ("integer ", "the number "),
        ("boolean ", ""),
        ("string ", "the text "),
        ("map", "a map"),
        ("sequence", "a list"),
    ];
    let named = |(kind, ours)| Some(format!("{ours}{}", found.strip_prefix(kind)?));
    let named = kinds.into_iter().find_map(named);
    named.unwrap_or_else(|| found.into())
}

fn expected_value(expected: &str) -> &'static str {
    let starts = |heads: &[&str]| heads.iter().any(|head| expected.starts_with(head));
    if starts(&["struct", "a map", "map", "internally tagged", "adjacently"]) {
        "a map: {\"field\": value, …}"
    } else if starts(&["a seq", "an array", "a tuple", "tuple"]) {
        "a list: [value, …]"
    } else if starts(&["u8", "u16", "u32", "u64", "usize"]) {
        "a whole number ≥ 0 that is not too large"
    } else if starts(&["f64", "f32", "i64", "i32"]) {
        "a number"
    } else if starts(&["a bool", "bool"]) {
        "true or false"
    } else if starts(&["a string", "str", "borrowed string", "variant", "enum"]) {
        "a text that is valid here"
    } else {
        "a value of another kind"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Shape {
        count: u32,
        names: Vec<String>,
        kind: Kind,
        part: Option<Part>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code)]
    enum Kind {
        Plain,
        #[allow(dead_code)]
        Odd(f64),
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[allow(dead_code)]
    enum Part {
        Whole(u8),
        Named { name: String },
    }

    #[test]
    fn terminal_control_characters_are_escaped() {
        let text = "{\n  \"名\": \"a\u{9e}\u{7f}\u{202e}é\"\n}";
        let shown = harmless(text.to_owned());
        assert_eq!(shown, "{\n  \"名\": \"a\\u009e\\u007f\\u202eé\"\n}");
        let [before, after] = [text, &shown].map(serde_json::from_str::<serde_json::Value>);
        assert_eq!(before.unwrap(), after.unwrap());
    }

    #[test]
    fn faults_are_reported_in_plain_words() {
        let cases = [
            (
                r#"{"count": 1, "names": [], "kind": "plain", "x": 1}"#,
                "unknown field `x`",
            ),
            (
                r#"{"count": 1, "names": []}"#,
                "the field `kind` is missing",
            ),
            (
                r#"{"count": 1, "count": 1}"#,
                "the field `count` appears twice",
            ),
            (
                r#"{"count": 1.5}"#,
                "the number `1.5`, expected a whole number",
            ),
            (
                r#"{"count": -1}"#,
                "the number `-1`, expected a whole number",
            ),
            (r#"{"count": 1e99}"#, "expected a whole number"),
            (r#"{"count": null}"#, "null, expected a whole number"),
            (r#"{"count": [1]}"#, "a list, expected a whole number"),
            (r#"{"names": 3}"#, "the number `3`, expected a list"),
            (r#"{"names": [true]}"#, "`true`, expected a text"),
            (r#"{"kind": "other"}"#, "unknown value `other`"),
            (r#"{"kind": 3}"#, "expected"),
            (
                r#"{"kind": {"odd": "x"}}"#,
                "the text \"x\", expected a number",
            ),
            (r#"{"part": -3}"#, "none of the accepted forms"),
            (r#"[1, 2]"#, "the number `2`, expected a list"),
            (r#""text""#, "the text \"text\", expected a map"),
            (r#"{"count": 1"#, "the text ends"),
            (r#"{"count": nonsense}"#, "not the JSON expected here"),
            ("", "the text ends"),
        ];
        let theirs = [
            "invalid", "struct", "variant", "untagged", "u32", "f64", "EOF", "sequence",
            "floating", "enum", "ident",
        ];
        for (text, words) in cases {
            let error = serde_json::from_str::<Shape>(text).expect_err(text);
            let reported = fault_of_json(&error);
            assert!(reported.contains(words), "{text}: {reported}, of {error}");
            let foreign = theirs.iter().find(|word| reported.contains(*word));
            assert_eq!(foreign, None, "{text}: {reported}, of {error}");
            assert!(reported.contains("(line "), "{reported}");
        }
        assert!(matches!(
            serde_json::from_str(r#"{"count": 1, "names": [], "kind": {"odd": 1}}"#),
            Ok(Shape {
                kind: Kind::Odd(_),
                ..
            })
        ));
        assert!(matches!(
            serde_json::from_str(r#""plain""#),
            Ok(Kind::Plain)
        ));
    }
}
